//! File locations of Copilot CLI.

use crate::paths::{HostSessions, MovedBy, Paths, stem};
use std::path::Path;

pub(super) static PATHS: Paths = Paths {
    directory: ".copilot",
    moved_by: Some(MovedBy::Directory("COPILOT_HOME")),
    user_hooks: "hooks/toolmark.json",
    project_hooks: ".github/hooks/toolmark.json",
    settings: &[
        ".copilot/hooks/",
        ".copilot/settings.json",
        ".copilot/config.json",
        ".copilot/permissions-config.json",
        ".copilot/mcp-config.json",
        ".github/hooks/",
        ".github/copilot/settings*",
    ],
    lasting: &[],
    credentials: &[],
    notes: &[],
    sessions: Some(HostSessions { folder: "session-state", id: session_id }),
};

/// Returns the session id of `<id>/events.jsonl`, or of `<id>.jsonl` in older versions.
fn session_id(path: &Path) -> Option<String> {
    match stem(path, &[".jsonl"])? {
        "events" => Some(path.parent()?.file_name()?.to_str()?.to_owned()),
        name => Some(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions() {
        for path in ["s/77aa/events.jsonl", "s/77aa.jsonl"] {
            assert_eq!(session_id(Path::new(path)).as_deref(), Some("77aa"), "{path}");
        }
    }
}
