//! Headless launch of Gemini CLI.

use super::paths::PATHS;
use crate::launch::{
    Allowed, End, Launch, LaunchRequest, Printed, SessionTrace, complaint, is_type,
    records_from_end, text_at,
};
use serde_json::json;
use std::ffi::OsString;
use std::path::Path;

pub(super) static LAUNCH: Launch = Launch {
    program: "gemini",
    tried: "0.61.0",
    args,
    env,
    files,
    passes: &[
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_CLOUD_LOCATION",
    ],
    session: SessionTrace::File { folder: ".gemini/tmp", is_session },
    end,
    resumes: false,
    remarks: "Its exit code for an error is the HTTP status modulo 256. Tools it may not use \
              are not offered to the model. Retries a broken provider for minutes.",
};

fn args(request: &LaunchRequest<'_>) -> Vec<OsString> {
    let mut args: Vec<OsString> =
        ["-o", "stream-json", "--skip-trust"].map(OsString::from).to_vec();
    let mode = match request.permissions {
        Allowed::Read => "default",
        Allowed::Workspace | Allowed::Full => "yolo",
    };
    args.extend(["--approval-mode".into(), mode.into()]);
    if let Some(model) = request.model {
        args.extend(["-m".into(), model.into()]);
    }
    args
}

fn env(request: &LaunchRequest<'_>) -> Vec<(&'static str, OsString)> {
    request.home.map(|home| ("GEMINI_CLI_HOME", home.into())).into_iter().collect()
}

/// Returns the settings without which Gemini CLI asks for the login method.
fn files(request: &LaunchRequest<'_>) -> Vec<(&'static str, String)> {
    let mut settings = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}});
    if let Some(turns) = request.turns {
        settings["model"] = json!({"maxSessionTurns": turns});
    }
    vec![(".gemini/settings.json", settings.to_string())]
}

fn is_session(path: &Path) -> bool {
    PATHS.sessions.as_ref().is_some_and(|sessions| (sessions.id)(path).is_some())
}

fn end(printed: &Printed<'_>) -> End {
    let Some(result) = records_from_end(printed.stdout).find(|record| is_type(record, "result"))
    else {
        return complaint(printed);
    };
    if text_at(&result, "/status") == Some("success") {
        return End::COMPLETED;
    }
    let message = text_at(&result, "/error/message").unwrap_or_default();
    match text_at(&result, "/error/type") {
        Some("FatalTurnLimitedError") => End::Limit(message.to_owned()),
        _ => End::trouble(message, None),
    }
}
