//! File locations of Claude Code.

use crate::paths::{HostSessions, MovedBy, Paths, stem};
use std::path::Path;

pub(super) static PATHS: Paths = Paths {
    directory: ".claude",
    moved_by: Some(MovedBy::Directory("CLAUDE_CONFIG_DIR")),
    user_hooks: "settings.json",
    project_hooks: ".claude/settings.json",
    settings: &[".claude/settings*", ".claude/hooks/", ".claude.json"],
    lasting: &[],
    credentials: &[".claude/.credentials.json"],
    notes: &["plans", "todos", "memory"],
    sessions: Some(HostSessions { folder: "projects", id: session_id }),
};

/// Returns the session id of `<project>/<session>.jsonl`; `agent-…` and `subagents/` belong
/// to sub-agents.
fn session_id(path: &Path) -> Option<String> {
    let name = stem(path, &[".jsonl"])?;
    let inside_session = path.components().any(|c| c.as_os_str() == "subagents");
    (!name.starts_with("agent-") && !inside_session).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions() {
        for (path, id) in [
            ("p/-w-x/abc.jsonl", Some("abc")),
            ("p/-w-x/agent-1.jsonl", None),
            ("p/-w-x/abc/subagents/agent-1.jsonl", None),
            ("p/-w-x/sessions-index.json", None),
        ] {
            assert_eq!(session_id(Path::new(path)).as_deref(), id, "{path}");
        }
    }
}
