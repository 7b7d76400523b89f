//! Headless launch of Copilot CLI.

use super::paths::PATHS;
use crate::launch::{
    Allowed, End, Launch, LaunchRequest, Printed, SessionTrace, complaint, is_type,
    records_from_end, text_at,
};
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;

pub(super) static LAUNCH: Launch = Launch {
    program: "copilot",
    tried: "1.0.102",
    args,
    env,
    files: |_| Vec::new(),
    passes: &[
        "GH_TOKEN",
        "GITHUB_TOKEN",
        "COPILOT_GITHUB_TOKEN",
        "COPILOT_PROVIDER_BASE_URL",
        "COPILOT_PROVIDER_API_KEY",
        "COPILOT_PROVIDER_BEARER_TOKEN",
        "COPILOT_PROVIDER_TYPE",
        "COPILOT_PROVIDER_WIRE_API",
        "COPILOT_OFFLINE",
        "COPILOT_MODEL",
    ],
    session: SessionTrace::File { folder: ".copilot/session-state", is_session },
    end,
    resumes: false,
    remarks: "Masks the value of its key wherever it occurs in its own stream.",
};

fn args(request: &LaunchRequest<'_>) -> Vec<OsString> {
    let mut args: Vec<OsString> = [
        "--output-format",
        "json",
        "--no-ask-user",
        "--no-color",
        "--no-auto-update",
        "--session-id",
        request.session,
    ]
    .map(OsString::from)
    .to_vec();
    match request.permissions {
        Allowed::Read => {
            args.extend(["--deny-tool", "shell", "--deny-tool", "write"].map(Into::into))
        }
        Allowed::Workspace => args.push("--allow-all-tools".into()),
        Allowed::Full => args.extend(["--allow-all-tools", "--allow-all-paths"].map(Into::into)),
    }
    if let Some(model) = request.model {
        args.extend(["--model".into(), model.into()]);
    }
    args
}

fn env(request: &LaunchRequest<'_>) -> Vec<(&'static str, OsString)> {
    request.home.map(|home| ("COPILOT_HOME", home.join(".copilot").into())).into_iter().collect()
}

fn is_session(path: &Path) -> bool {
    PATHS.sessions.as_ref().is_some_and(|sessions| (sessions.id)(path).is_some())
}

fn end(printed: &Printed<'_>) -> End {
    let mut result = None;
    let mut denied = 0;
    for record in records_from_end(printed.stdout) {
        if is_type(&record, "session.error") {
            let status = record.pointer("/data/statusCode").and_then(Value::as_u64);
            return End::trouble(text_at(&record, "/data/message").unwrap_or_default(), status);
        }
        denied += u64::from(text_at(&record, "/data/error/code") == Some("denied"));
        if is_type(&record, "result") && result.is_none() {
            result = record.get("exitCode").and_then(Value::as_i64);
        }
    }
    match result {
        Some(0) => End::Completed { denied },
        Some(_) => End::trouble(printed.stderr.lines().last().unwrap_or_default(), None),
        None => complaint(printed),
    }
}
