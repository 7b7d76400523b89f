//! Finds the sessions that agents store on this machine.
//!
//! Only names and modification times of files are read; contents are read for the sessions that are
//! printed.

use std::env;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use toolmark_hosts::HOSTS;
use walkdir::WalkDir;

/// The session storage of an agent for which the guard has no host.
struct AgentStorage {
    agent: &'static str,
    /// A folder or file below the home directory; below the current directory if the agent stores
    /// sessions with the project.
    path: &'static str,
    in_project: bool,
    /// Returns the ID of the session in a file; `None` for other files.
    id: fn(&Path) -> Option<String>,
}

const fn at_home(
    agent: &'static str,
    path: &'static str,
    id: fn(&Path) -> Option<String>,
) -> AgentStorage {
    AgentStorage { agent, path, in_project: false, id }
}

const fn in_project(
    agent: &'static str,
    path: &'static str,
    id: fn(&Path) -> Option<String>,
) -> AgentStorage {
    AgentStorage { agent, path, in_project: true, id }
}

/// Storage of other agents. Missing folders cost nothing, so the list has those of all systems.
#[rustfmt::skip]
const OTHERS: &[AgentStorage] = &[
    at_home("pi", ".pi/agent/sessions", json_lines),
    at_home("openclaw", ".openclaw/agents", json_lines),
    at_home("goose", ".local/share/goose/sessions", json_lines),
    at_home("goose", ".local/share/goose/sessions/sessions.db", any_file),
    at_home("opencode", ".local/share/opencode/opencode.db", any_file),
    at_home("amp", ".local/share/amp/threads", json),
    at_home("continue", ".continue/sessions", json),
    at_home("cline", ".cline/data/tasks", task),
    at_home("cline", ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks", task),
    at_home("cline", "Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/tasks", task),
    at_home("roo", ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks", task),
    at_home("roo", "Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks", task),
    at_home("kilo", ".config/Code/User/globalStorage/kilocode.kilo-code/tasks", task),
    at_home("kilo", "Library/Application Support/Code/User/globalStorage/kilocode.kilo-code/tasks", task),
    at_home("cursor", ".config/Cursor/User/globalStorage/state.vscdb", any_file),
    at_home("cursor", "Library/Application Support/Cursor/User/globalStorage/state.vscdb", any_file),
    in_project("crush", ".crush/crush.db", any_file),
    in_project("aider", ".aider.chat.history.md", any_file),
    in_project("specstory", ".specstory/history", markdown),
];

fn stem(path: &Path, ending: &str) -> Option<String> {
    Some(path.file_name()?.to_str()?.strip_suffix(ending)?.to_owned())
}

fn json_lines(path: &Path) -> Option<String> {
    stem(path, ".jsonl")
}

fn json(path: &Path) -> Option<String> {
    // Continue keeps its index beside the sessions.
    stem(path, ".json").filter(|name| name != "sessions")
}

fn markdown(path: &Path) -> Option<String> {
    stem(path, ".md")
}

fn any_file(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.trim_start_matches('.').to_owned())
}

/// Returns the ID of a task. A task is a folder of files, one of which is the conversation.
fn task(path: &Path) -> Option<String> {
    let folder = path.parent()?.file_name()?.to_str()?;
    path.ends_with("api_conversation_history.json").then(|| folder.to_owned())
}

/// A session file.
#[derive(Debug, Clone)]
pub struct SessionFile {
    /// The agent whose folder it is in.
    pub agent: &'static str,
    /// ID, from the file name.
    pub id: String,
    /// Path of the file.
    pub path: PathBuf,
    /// Time of the last modification.
    pub modified: SystemTime,
}

/// The folders that are searched for sessions, for messages.
pub fn looked_in() -> String {
    let folders = HOSTS.iter().filter_map(|host| {
        let paths = host.paths?;
        Some(format!("~/{}/{}", paths.directory, paths.sessions.as_ref()?.folder))
    });
    let folders: Vec<String> = folders.collect();
    match folders.split_last() {
        Some((last, rest)) if !rest.is_empty() => {
            format!("{}, {last} and the folders of other agents", rest.join(", "))
        }
        _ => folders.concat(),
    }
}

/// A location of sessions of an agent.
#[derive(Debug, Clone)]
pub struct SessionLocation {
    /// Name of the agent.
    pub agent: &'static str,
    /// Path of the folder or file.
    pub path: PathBuf,
    /// Returns the ID of the session in a file; `None` for other files.
    pub id: fn(&Path) -> Option<String>,
}

/// All possible locations of sessions, whether or not they exist.
pub fn places() -> Vec<SessionLocation> {
    let home = env::home_dir();
    let of_hosts = HOSTS.iter().filter_map(|host| {
        let paths = host.paths?;
        let kept = paths.sessions.as_ref()?;
        let directory = paths.directory(home.as_deref(), |name| env::var_os(name))?;
        Some(SessionLocation { agent: host.id, path: directory.join(kept.folder), id: kept.id })
    });
    let of_others = OTHERS.iter().filter_map(|kept| {
        let base = if kept.in_project { env::current_dir().ok() } else { home.clone() };
        Some(SessionLocation { agent: kept.agent, path: base?.join(kept.path), id: kept.id })
    });
    of_hosts.chain(of_others).collect()
}

/// Returns all sessions, the newest first.
pub fn find() -> Vec<SessionFile> {
    let mut sessions: Vec<SessionFile> =
        places().iter().flat_map(|place| in_folder(place.agent, place.id, &place.path)).collect();
    sessions.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    sessions
}

fn in_folder(agent: &'static str, id: fn(&Path) -> Option<String>, dir: &Path) -> Vec<SessionFile> {
    WalkDir::new(dir)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .filter_map(|entry| {
            let id = id(entry.path())?;
            let modified = entry.metadata().ok()?.modified().ok()?;
            Some(SessionFile { agent, id, path: entry.into_path(), modified })
        })
        .collect()
}

/// Returns the sessions whose ID starts with `prefix`.
pub fn with_prefix<'s>(sessions: &'s [SessionFile], prefix: &str) -> Vec<&'s SessionFile> {
    if prefix.is_empty() {
        return Vec::new();
    }
    sessions.iter().filter(|s| s.id.starts_with(prefix)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_files() {
        for (id, path, want) in [
            (json_lines as fn(&Path) -> Option<String>, "a/20260101.jsonl", Some("20260101")),
            (json_lines, "a/sessions.db", None),
            (json, "a/T-1.json", Some("T-1")),
            (json, "a/sessions.json", None),
            (task, "tasks/17/api_conversation_history.json", Some("17")),
            (task, "tasks/17/ui_messages.json", None),
            (any_file, ".aider.chat.history.md", Some("aider.chat.history.md")),
        ] {
            assert_eq!(id(Path::new(path)).as_deref(), want, "{path}");
        }
    }
}
