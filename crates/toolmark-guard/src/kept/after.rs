//! The state in which a call left the kept paths, so that undoing does not replace later work.

use super::copy::stamps;
use super::refs::{LeftRefs, Refs};
use super::store::{KeptEntry, KeptStore};
use serde::{Deserialize, Serialize};
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use toolmark_hosts::HookEvent;

/// Name of the file in an entry.
const RESULT: &str = "after.json";
/// Name of the file with the references.
const REFS: &str = "after-refs.json";
/// Prefix of the files that name the entry of a call without a result.
const OPEN: &str = "open-";

/// Size and modification time of a path after the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PathStamp {
    path: PathBuf,
    size: u64,
    modified: (i64, u32),
}

impl PathStamp {
    fn of(path: &Path) -> Option<Self> {
        let about = fs::symlink_metadata(path).ok()?;
        let (_, modified) = stamps(&about);
        Some(Self { path: path.to_owned(), size: about.len(), modified })
    }
}

/// Notes that the result of a call is awaited.
pub(super) fn expect_result(store: &KeptStore, entry: &KeptEntry, event: &HookEvent<'_>) {
    if let Some(path) = open_path(store, event) {
        // Without this note, undoing is only more careful.
        let _ = fs::write(path, &entry.id);
    }
}

/// Writes down in which state a call has left what was kept before it.
pub(crate) fn note_result(store: &KeptStore, event: &HookEvent<'_>) {
    let Some(open) = open_path(store, event) else { return };
    let Ok(id) = fs::read_to_string(&open) else { return };
    let _ = fs::remove_file(&open);
    if let Ok(entry) = store.entry(id.trim()) {
        let left: Vec<PathStamp> =
            entry.items.iter().filter_map(|item| PathStamp::of(&item.path)).collect();
        let text = serde_json::to_vec(&left).unwrap_or_default();
        let _ = fs::write(store.directory(&entry.id).join(RESULT), text);
        if let Some(left) = entry.refs.as_ref().and_then(Refs::now) {
            let text = serde_json::to_vec(&left).unwrap_or_default();
            let _ = fs::write(store.directory(&entry.id).join(REFS), text);
        }
    }
}

/// Returns the state in which the call left the references; `None` if it is not known.
pub(super) fn left_refs(store: &KeptStore, entry: &KeptEntry) -> Option<LeftRefs> {
    let text = fs::read(store.directory(&entry.id).join(REFS)).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Returns the state in which the call left a path; the outer `None` if it is not known.
pub(super) fn result(store: &KeptStore, entry: &KeptEntry) -> Option<Vec<PathStamp>> {
    let text = fs::read(store.directory(&entry.id).join(RESULT)).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Whether a path is as the call left it.
pub(super) fn is_as_left(path: &Path, result: Option<&[PathStamp]>) -> bool {
    let now = PathStamp::of(path);
    result.is_some_and(|left| left.iter().find(|left| left.path == path) == now.as_ref())
}

fn open_path(store: &KeptStore, event: &HookEvent<'_>) -> Option<PathBuf> {
    let id = event.call_id.as_deref()?;
    let mut hasher = DefaultHasher::new();
    (event.session.as_deref(), id).hash(&mut hasher);
    Some(store.root().join(format!("{OPEN}{:016x}", hasher.finish())))
}
