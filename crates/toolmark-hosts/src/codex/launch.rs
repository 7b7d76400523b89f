//! Headless launch of Codex.

use super::paths::PATHS;
use crate::launch::{
    Allowed, End, Launch, LaunchRequest, Printed, SessionTrace, complaint, is_type,
    records_from_end, text_at,
};
use std::ffi::OsString;
use std::path::Path;

pub(super) static LAUNCH: Launch = Launch {
    program: "codex",
    tried: "0.166.0",
    args,
    env,
    files: |_| Vec::new(),
    passes: &["OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY"],
    session: SessionTrace::File { folder: ".codex/sessions", is_session },
    end,
    resumes: true,
    remarks: "Its stream leaves out calls that its sandbox denies; the rollout has them. \
              Has no limit of turns or money of its own.",
};

fn args(request: &LaunchRequest<'_>) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec!["exec".into()];
    let sandbox = match request.permissions {
        Allowed::Read => "read-only",
        Allowed::Workspace => "workspace-write",
        Allowed::Full => "danger-full-access",
    };
    args.extend(["-s".into(), sandbox.into()]);
    if let Some(model) = request.model {
        args.extend(["-m".into(), model.into()]);
    }
    args.extend(["--json", "--skip-git-repo-check"].map(OsString::from));
    if let Some(session) = request.resume {
        args.extend(["resume".into(), session.into()]);
    }
    args.push("-".into());
    args
}

fn env(request: &LaunchRequest<'_>) -> Vec<(&'static str, OsString)> {
    request.home.map(|home| ("CODEX_HOME", home.join(".codex").into())).into_iter().collect()
}

fn is_session(path: &Path) -> bool {
    PATHS.sessions.as_ref().is_some_and(|sessions| (sessions.id)(path).is_some())
}

fn end(printed: &Printed<'_>) -> End {
    for record in records_from_end(printed.stdout) {
        if is_type(&record, "turn.completed") {
            return End::COMPLETED;
        }
        if is_type(&record, "turn.failed") {
            let message = text_at(&record, "/error/message").unwrap_or_default();
            return End::trouble(message, None);
        }
    }
    complaint(printed)
}
