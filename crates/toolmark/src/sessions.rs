//! The sessions that agents keep on this machine.
//!
//! Only names and times of files are looked at; what is in them is read for
//! those that are shown.

use std::env;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use walkdir::WalkDir;

/// A session file.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    /// The agent whose folder it is in.
    pub(crate) agent: &'static str,
    /// Its id, as its file name gives it.
    pub(crate) id: String,
    /// The file.
    pub(crate) path: PathBuf,
    /// When it was last written.
    pub(crate) modified: SystemTime,
}

/// Where an agent keeps its sessions.
struct Place {
    agent: &'static str,
    /// The variable that moves the folder, if there is one.
    variable: Option<&'static str>,
    /// The folder below the home directory.
    home: &'static str,
    /// The folder of the sessions inside it.
    inside: &'static str,
    /// The id of the session a file holds; `None` for any other file.
    id: fn(&Path) -> Option<String>,
}

const PLACES: &[Place] = &[
    Place {
        agent: "claude-code",
        variable: Some("CLAUDE_CONFIG_DIR"),
        home: ".claude",
        inside: "projects",
        id: claude_id,
    },
    Place {
        agent: "codex",
        variable: Some("CODEX_HOME"),
        home: ".codex",
        inside: "sessions",
        id: codex_id,
    },
    Place {
        agent: "copilot",
        variable: None,
        home: ".copilot",
        inside: "session-state",
        id: copilot_id,
    },
    Place { agent: "gemini", variable: None, home: ".gemini", inside: "tmp", id: gemini_id },
];

/// Where sessions are looked for, for messages.
pub(crate) const LOOKED_IN: &str =
    "~/.claude/projects, ~/.codex/sessions, ~/.copilot/session-state and ~/.gemini/tmp";

/// All sessions, the newest first.
pub(crate) fn find() -> Vec<Session> {
    let home = env::home_dir();
    let mut sessions: Vec<Session> = Vec::new();
    for place in PLACES {
        let moved = place.variable.and_then(env::var_os).filter(|v| !v.is_empty());
        let root = match (moved, &home) {
            (Some(dir), _) => PathBuf::from(dir),
            (None, Some(home)) => home.join(place.home),
            (None, None) => continue,
        };
        sessions.extend(in_place(place, &root.join(place.inside)));
    }
    sessions.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    sessions
}

fn in_place(place: &Place, dir: &Path) -> Vec<Session> {
    WalkDir::new(dir)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .filter_map(|entry| {
            let id = (place.id)(entry.path())?;
            let modified = entry.metadata().ok()?.modified().ok()?;
            Some(Session { agent: place.agent, id, path: entry.into_path(), modified })
        })
        .collect()
}

/// The name of a file without these endings.
fn stem<'p>(path: &'p Path, endings: &[&str]) -> Option<&'p str> {
    let name = path.file_name()?.to_str()?;
    endings.iter().find_map(|ending| name.strip_suffix(ending))
}

/// `<project>/<session>.jsonl`; `agent-…` and `subagents/` are its sub-agents.
fn claude_id(path: &Path) -> Option<String> {
    let name = stem(path, &[".jsonl"])?;
    let inside_session = path.components().any(|c| c.as_os_str() == "subagents");
    (!name.starts_with("agent-") && !inside_session).then(|| name.to_owned())
}

/// `YYYY/MM/DD/rollout-<time>-<uuid>.jsonl`
fn codex_id(path: &Path) -> Option<String> {
    const UUID: usize = 36;
    let name = stem(path, &[".jsonl", ".jsonl.zst"])?.strip_prefix("rollout-")?;
    let uuid = name.len().checked_sub(UUID).and_then(|at| name.get(at..));
    Some(uuid.unwrap_or(name).to_owned())
}

/// `<id>/events.jsonl`, before that `<id>.jsonl`
fn copilot_id(path: &Path) -> Option<String> {
    match stem(path, &[".jsonl"])? {
        "events" => Some(path.parent()?.file_name()?.to_str()?.to_owned()),
        name => Some(name.to_owned()),
    }
}

/// `<hash>/chats/session-<time>-<id>.json`
fn gemini_id(path: &Path) -> Option<String> {
    let is_chat = path.components().any(|c| c.as_os_str() == "chats");
    let name = stem(path, &[".json", ".jsonl"])?.strip_prefix("session-")?;
    is_chat.then(|| name.rsplit('-').next().unwrap_or(name).to_owned())
}

/// The sessions whose id starts with `prefix`.
pub(crate) fn with_prefix<'s>(sessions: &'s [Session], prefix: &str) -> Vec<&'s Session> {
    if prefix.is_empty() {
        return Vec::new();
    }
    sessions.iter().filter(|s| s.id.starts_with(prefix)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_from_names() {
        let uuid = "0199aa11-2b3c-7d4e-8f50-617283940a1b";
        for (id, path, want) in [
            (claude_id as fn(&Path) -> Option<String>, "p/-w-x/abc.jsonl", Some("abc")),
            (claude_id, "p/-w-x/agent-1.jsonl", None),
            (claude_id, "p/-w-x/abc/subagents/agent-1.jsonl", None),
            (claude_id, "p/-w-x/sessions-index.json", None),
            (codex_id, &format!("2026/03/14/rollout-2026-03-14T09-12-04-{uuid}.jsonl"), Some(uuid)),
            (codex_id, "2026/03/14/rollout-x.jsonl.zst", Some("x")),
            (codex_id, "2026/history.jsonl", None),
            (copilot_id, "s/77aa/events.jsonl", Some("77aa")),
            (copilot_id, "s/77aa.jsonl", Some("77aa")),
            (gemini_id, "h/chats/session-2026-03-14T09-12-1a2b3c4d.json", Some("1a2b3c4d")),
            (gemini_id, "h/logs.json", None),
        ] {
            assert_eq!(id(Path::new(path)).as_deref(), want, "{path}");
        }
    }
}
