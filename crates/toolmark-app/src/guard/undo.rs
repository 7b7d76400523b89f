//! Choice of kept entries, and what restoring them would change.

use crate::failure::Failure;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use toolmark_guard::files::{Trust, open};
use toolmark_guard::kept::{KeptEntry, KeptItem, KeptStore, Outcome};

/// Entries to restore.
#[derive(Debug)]
pub enum UndoChoice<'a> {
    /// All of a session, by the start of its ID.
    Session(&'a str),
    /// The newest of calls in a directory.
    LastIn(PathBuf),
    /// One, by the start of its ID.
    Id(&'a str),
}

impl UndoChoice<'_> {
    /// Returns the chosen entries, the newest first. What undoing has replaced is only chosen by
    /// its ID.
    ///
    /// # Errors
    ///
    /// There is no such entry, or there are several with this ID.
    pub fn entries(&self, store: &KeptStore) -> Result<Vec<KeptEntry>, Failure> {
        let entries = store.entries().into_iter();
        let is_of_call = |entry: &KeptEntry| entry.tool != "undo";
        match self {
            Self::Session(session) => {
                let is_it = |id: &str| id.starts_with(session);
                let is_of_session = |entry: &KeptEntry| entry.session.as_deref().is_some_and(is_it);
                let found: Vec<KeptEntry> =
                    entries.filter(is_of_session).filter(is_of_call).collect();
                match found.is_empty() {
                    true => Err(nothing_kept(format!("nothing is kept of the session {session}"))),
                    false => Ok(found),
                }
            }
            Self::LastIn(here) => {
                let is_here = |entry: &KeptEntry| {
                    let cwd = Path::new(&entry.cwd);
                    cwd.starts_with(here) || here.starts_with(cwd)
                };
                match entries.filter(is_of_call).find(is_here) {
                    Some(entry) => Ok(vec![entry]),
                    None => {
                        Err(nothing_kept("nothing is kept of calls in this directory".to_owned()))
                    }
                }
            }
            Self::Id(id) => {
                let found: Vec<KeptEntry> =
                    entries.filter(|entry| entry.id.starts_with(id)).collect();
                match found.len() {
                    0 => Err(nothing_kept(format!("there is no entry {id}"))),
                    1 => Ok(found),
                    n => {
                        let ids: Vec<&str> =
                            found.iter().take(3).map(|entry| entry.id.as_str()).collect();
                        let hint = format!("write more of the ID: {}", ids.join(", "));
                        Err(Failure::usage(format!("{n} entries begin with {id}")).hint(hint))
                    }
                }
            }
        }
    }
}

/// Returns the store beside the guard's log.
///
/// # Errors
///
/// There is no log.
pub fn open_store() -> Result<KeptStore, Failure> {
    match open(None, Trust::Environment, None).guard.policy().log().place() {
        Ok(Some(log)) => Ok(KeptStore::beside(&log)),
        _ => Err(Failure::usage("the directory of kept files is unknown")
            .hint("set HOME, or log the guard's decisions")),
    }
}

fn nothing_kept(words: String) -> Failure {
    Failure::usage(words).hint("`toolmark guard undo` lists what is kept")
}

/// Returns the state of a kept file, and how the file there now differs from it.
#[must_use]
pub fn difference(
    store: &KeptStore,
    entry: &KeptEntry,
    item: &KeptItem,
) -> (&'static str, Option<String>) {
    let Some(name) = &item.file else { return ("a symbolic link", None) };
    let kept = std::fs::read(store.directory(&entry.id).join(name)).ok();
    let now = std::fs::read(&item.path).ok();
    match (kept, now) {
        (None, _) => ("the kept file cannot be read", None),
        (Some(_), None) => ("deleted", None),
        (Some(kept), Some(now)) if kept == now => ("as it was", None),
        (Some(kept), Some(now)) => match (String::from_utf8(now), String::from_utf8(kept)) {
            (Ok(now), Ok(kept)) => {
                let diff = similar::TextDiff::from_lines(&now, &kept);
                ("different", Some(diff.unified_diff().context_radius(2).to_string()))
            }
            _ => ("different, and not text", None),
        },
    }
}

/// Returns the result of restoring a path as a word, with its detail.
#[must_use]
pub fn words(outcome: &Outcome) -> (&'static str, Option<String>) {
    match outcome {
        Outcome::Restored => ("restored", None),
        Outcome::Unchanged => ("unchanged", None),
        Outcome::Beside(path) => {
            ("kept beside", Some(format!("changed since the call; see {}", path.display())))
        }
        Outcome::Failed(why) => ("failed", Some(why.clone())),
    }
}

/// Returns an entry as a row of output.
#[must_use]
pub fn summary(entry: &KeptEntry) -> Value {
    json!({"id": entry.id, "time": entry.time, "host": entry.host, "session": entry.session,
        "cwd": entry.cwd, "tool": entry.tool, "command": entry.command,
        "paths": entry.items.iter().map(|item| item.path.display().to_string()).collect::<Vec<_>>(),
        "git": entry.git.as_ref().map(|git| git.commit.clone()), "bytes": entry.bytes,
        "refs": entry.refs.iter().flat_map(|refs| &refs.refs).map(|known| &known.name)
            .collect::<Vec<_>>()})
}
