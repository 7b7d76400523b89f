//! Headless launch of Claude Code.

use super::paths::PATHS;
use crate::launch::{
    Allowed, End, Launch, LaunchRequest, Printed, SessionTrace, complaint, is_type,
    records_from_end, text_at,
};
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;

pub(super) static LAUNCH: Launch = Launch {
    program: "claude",
    tried: "2.1.325",
    args,
    env,
    files: |_| Vec::new(),
    passes: &[
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_MODEL",
        "ANTHROPIC_SMALL_FAST_MODEL",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "CLAUDE_CODE_MAX_RETRIES",
        "AWS_REGION",
        "AWS_BEARER_TOKEN_BEDROCK",
    ],
    session: SessionTrace::File { folder: ".claude/projects", is_session },
    end,
    resumes: true,
    remarks: "Says `subtype: success` for API errors; retries for minutes before it says so. \
              Runs every command in a session of its own.",
};

fn args(request: &LaunchRequest<'_>) -> Vec<OsString> {
    let mut args: Vec<OsString> =
        ["-p", "--output-format", "stream-json", "--verbose"].map(OsString::from).to_vec();
    let mut add = |name: &str, value: &str| args.extend([name.into(), value.into()]);
    match request.resume {
        Some(session) => add("--resume", session),
        None => add("--session-id", request.session),
    }
    match request.permissions {
        Allowed::Read => add("--permission-mode", "default"),
        Allowed::Workspace => {
            add("--permission-mode", "acceptEdits");
            add("--allowedTools", "Bash Edit Write NotebookEdit Read Glob Grep");
        }
        Allowed::Full => add("--permission-mode", "bypassPermissions"),
    }
    if let Some(model) = request.model {
        add("--model", model);
    }
    if let Some(turns) = request.turns {
        add("--max-turns", &turns.to_string());
    }
    if let Some(usd) = request.usd {
        add("--max-budget-usd", &usd.to_string());
    }
    if request.home.is_some() {
        args.push("--strict-mcp-config".into());
    }
    args
}

fn env(request: &LaunchRequest<'_>) -> Vec<(&'static str, OsString)> {
    let mut env = vec![("DISABLE_AUTOUPDATER", "1".into()), ("DISABLE_TELEMETRY", "1".into())];
    if let Some(home) = request.home {
        env.push(("CLAUDE_CONFIG_DIR", home.join(".claude").into()));
    }
    if request.permissions == Allowed::Full {
        // It refuses to run as root otherwise; here the workspace is a copy.
        env.push(("IS_SANDBOX", "1".into()));
    }
    env
}

fn is_session(path: &Path) -> bool {
    PATHS.sessions.as_ref().is_some_and(|sessions| (sessions.id)(path).is_some())
}

fn end(printed: &Printed<'_>) -> End {
    let Some(result) = records_from_end(printed.stdout).find(|record| is_type(record, "result"))
    else {
        return complaint(printed);
    };
    let is_error = result.get("is_error").and_then(Value::as_bool).unwrap_or(false);
    let message = text_at(&result, "/errors/0").or_else(|| text_at(&result, "/result"));
    let message = message.unwrap_or_default();
    match text_at(&result, "/terminal_reason").or_else(|| text_at(&result, "/subtype")) {
        Some("max_turns" | "budget_exhausted" | "error_max_turns" | "error_max_budget_usd") => {
            End::Limit(message.to_owned())
        }
        _ if is_error => {
            End::trouble(message, result.get("api_error_status").and_then(Value::as_u64))
        }
        _ => {
            let denied = result.get("permission_denials").and_then(Value::as_array);
            End::Completed { denied: denied.map_or(0, |denied| denied.len() as u64) }
        }
    }
}
