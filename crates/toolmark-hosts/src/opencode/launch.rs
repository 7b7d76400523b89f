//! Headless launch of OpenCode.

use crate::launch::{
    Allowed, End, Launch, LaunchRequest, Printed, SessionTrace, complaint, is_type,
    records_from_end, text_at,
};
use serde_json::{Value, json};
use std::ffi::OsString;

pub(super) static LAUNCH: Launch = Launch {
    program: "opencode",
    tried: "1.18.33",
    args,
    env,
    files,
    passes: &[
        "OPENCODE_CONFIG",
        "OPENCODE_API_KEY",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_GENERATIVE_AI_API_KEY",
        "OPENROUTER_API_KEY",
    ],
    session: SessionTrace::Stream,
    end,
    resumes: false,
    remarks: "Its sessions lie in a database that cannot be followed; the trace is what it \
              prints. Retries a broken provider for ever, silently.",
};

fn args(request: &LaunchRequest<'_>) -> Vec<OsString> {
    let mut args: Vec<OsString> = ["run", "--format", "json"].map(OsString::from).to_vec();
    if let Some(model) = request.model {
        args.extend(["-m".into(), model.into()]);
    }
    args
}

fn env(request: &LaunchRequest<'_>) -> Vec<(&'static str, OsString)> {
    let Some(home) = request.home else { return Vec::new() };
    vec![
        ("XDG_CONFIG_HOME", home.join(".config").into()),
        ("XDG_DATA_HOME", home.join(".local/share").into()),
        ("XDG_CACHE_HOME", home.join(".cache").into()),
        ("XDG_STATE_HOME", home.join(".local/state").into()),
    ]
}

fn files(request: &LaunchRequest<'_>) -> Vec<(&'static str, String)> {
    let permission = match request.permissions {
        Allowed::Read => json!({"edit": "deny", "bash": "deny", "webfetch": "deny"}),
        Allowed::Workspace => json!({"edit": "allow", "bash": "allow", "webfetch": "deny"}),
        Allowed::Full => json!({"edit": "allow", "bash": "allow", "webfetch": "allow"}),
    };
    let config = json!({"permission": permission, "autoupdate": false});
    vec![(".config/opencode/opencode.json", config.to_string())]
}

fn end(printed: &Printed<'_>) -> End {
    let mut denied = 0;
    let mut finished = false;
    for record in records_from_end(printed.stdout) {
        if is_type(&record, "error") {
            let message = text_at(&record, "/error/data/message")
                .or_else(|| text_at(&record, "/error/name"))
                .unwrap_or_default();
            let status = record.pointer("/error/data/statusCode").and_then(Value::as_u64);
            return End::trouble(message, status);
        }
        let error = text_at(&record, "/part/state/error").unwrap_or_default();
        denied += u64::from(error.contains("rejected permission"));
        finished |= is_type(&record, "step_finish");
    }
    // A rejected call ends the run without another step.
    match (finished, printed.code) {
        (true, Some(0)) => End::Completed { denied },
        (true, _) => End::Unmarked,
        _ => complaint(printed),
    }
}
