//! File locations of Gemini CLI.

use crate::paths::{HostSessions, MovedBy, Paths, stem};
use std::path::Path;

pub(super) static PATHS: Paths = Paths {
    directory: ".gemini",
    moved_by: Some(MovedBy::Home("GEMINI_CLI_HOME")),
    user_hooks: "settings.json",
    project_hooks: ".gemini/settings.json",
    settings: &[
        ".gemini/settings*",
        ".gemini/hooks/",
        ".gemini/policies/",
        ".gemini/trustedFolders.json",
    ],
    lasting: &[".gemini/"],
    credentials: &[".gemini/oauth_creds.json", ".gemini/mcp-oauth-tokens.json"],
    notes: &["memory"],
    sessions: Some(HostSessions { folder: "tmp", id: session_id }),
};

/// Returns the session id of `<hash>/chats/session-<time>-<id>.json`.
fn session_id(path: &Path) -> Option<String> {
    let is_chat = path.components().any(|c| c.as_os_str() == "chats");
    let name = stem(path, &[".json", ".jsonl"])?.strip_prefix("session-")?;
    is_chat.then(|| name.rsplit('-').next().unwrap_or(name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions() {
        for (path, id) in [
            ("h/chats/session-2026-03-14T09-12-1a2b3c4d.json", Some("1a2b3c4d")),
            ("h/logs.json", None),
        ] {
            assert_eq!(session_id(Path::new(path)).as_deref(), id, "{path}");
        }
    }
}
