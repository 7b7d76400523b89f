//! The sessions that agents keep on this machine.
//!
//! Only names and times of files are looked at; what is in them is read for
//! those that are shown.

use std::env;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use toolmark_hosts::{HOSTS, Sessions};
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

/// Where sessions are looked for, for messages.
pub(crate) fn looked_in() -> String {
    let folders = HOSTS.iter().filter_map(|host| {
        let paths = host.paths?;
        Some(format!("~/{}/{}", paths.directory, paths.sessions.as_ref()?.folder))
    });
    let folders: Vec<String> = folders.collect();
    match folders.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => folders.concat(),
    }
}

/// All sessions, the newest first.
pub(crate) fn find() -> Vec<Session> {
    let home = env::home_dir();
    let mut sessions: Vec<Session> = Vec::new();
    for host in HOSTS {
        let Some(paths) = host.paths else { continue };
        let Some(kept) = &paths.sessions else { continue };
        let Some(directory) = paths.directory(home.as_deref(), |name| env::var_os(name)) else {
            continue;
        };
        sessions.extend(in_folder(host.id, kept, &directory.join(kept.folder)));
    }
    sessions.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    sessions
}

fn in_folder(agent: &'static str, kept: &Sessions, dir: &Path) -> Vec<Session> {
    WalkDir::new(dir)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .filter_map(|entry| {
            let id = (kept.id)(entry.path())?;
            let modified = entry.metadata().ok()?.modified().ok()?;
            Some(Session { agent, id, path: entry.into_path(), modified })
        })
        .collect()
}

/// The sessions whose id starts with `prefix`.
pub(crate) fn with_prefix<'s>(sessions: &'s [Session], prefix: &str) -> Vec<&'s Session> {
    if prefix.is_empty() {
        return Vec::new();
    }
    sessions.iter().filter(|s| s.id.starts_with(prefix)).collect()
}
