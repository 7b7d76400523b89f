//! File locations of Codex.

use crate::paths::{HostSessions, MovedBy, Paths, stem};
use std::path::Path;

pub(super) static PATHS: Paths = Paths {
    directory: ".codex",
    moved_by: Some(MovedBy::Directory("CODEX_HOME")),
    user_hooks: "hooks.json",
    project_hooks: ".codex/hooks.json",
    settings: &[
        ".codex/hooks*",
        ".codex/config.toml*",
        ".codex/*.config.toml",
        ".codex/rules/",
        ".codex/requirements.toml",
    ],
    lasting: &[".codex/"],
    credentials: &[".codex/auth.json", ".codex/.credentials.json"],
    notes: &["memories"],
    sessions: Some(HostSessions { folder: "sessions", id: session_id }),
};

/// Returns the session id of `YYYY/MM/DD/rollout-<time>-<uuid>.jsonl`.
fn session_id(path: &Path) -> Option<String> {
    const UUID: usize = 36;
    let name = stem(path, &[".jsonl", ".jsonl.zst"])?.strip_prefix("rollout-")?;
    let uuid = name.len().checked_sub(UUID).and_then(|at| name.get(at..));
    Some(uuid.unwrap_or(name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions() {
        let uuid = "0199aa11-2b3c-7d4e-8f50-617283940a1b";
        for (path, id) in [
            (&*format!("2026/03/14/rollout-2026-03-14T09-12-04-{uuid}.jsonl"), Some(uuid)),
            ("2026/03/14/rollout-x.jsonl.zst", Some("x")),
            ("2026/history.jsonl", None),
        ] {
            assert_eq!(session_id(Path::new(path)).as_deref(), id, "{path}");
        }
    }
}
