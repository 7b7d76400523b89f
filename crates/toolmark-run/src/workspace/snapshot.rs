//! A snapshot of a workspace before the agent starts.
//!
//! Files identical to the source are later compared with the source. Other files (created by a
//! setup hook or by `files`) are copied beside the workspace. The snapshot does not use `git add`,
//! which fails with repositories inside a workspace.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum size of a stored text.
pub(super) const MAX_TEXT: u64 = 1 << 20;

/// Maximum total size of stored texts.
const MAX_KEPT: u64 = 64 << 20;

/// Maximum number of inspected files.
const MAX_ENTRIES: usize = 500_000;

/// Metadata that show whether a file was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// Change time and inode, on systems that report them: programs cannot set either.
    changed: (i64, i64, u64),
    pub(super) mode: u32,
}

impl Stamp {
    pub(super) fn of(path: &Path) -> Option<Self> {
        let about = fs::symlink_metadata(path).ok()?;
        #[cfg(unix)]
        let (changed, mode) = {
            use std::os::unix::fs::MetadataExt;
            ((about.ctime(), about.ctime_nsec(), about.ino()), about.mode())
        };
        #[cfg(not(unix))]
        let (changed, mode) = ((0, 0, 0), 0);
        Some(Self { size: about.len(), modified: about.modified().ok(), changed, mode })
    }
}

/// State of a file before the agent started.
#[derive(Debug, Clone)]
pub(super) enum Before {
    /// Same content as this file, which the agent cannot change.
    File(PathBuf),
    /// A link with this target.
    Link(PathBuf),
    /// A file that is too large to store.
    Unkept,
}

/// State of the files of a workspace.
#[derive(Debug, Default)]
pub(crate) struct WorkspaceSnapshot {
    /// Files identical to their source.
    copied: BTreeMap<PathBuf, (Stamp, PathBuf)>,
    pub(super) files: BTreeMap<PathBuf, (Stamp, Before)>,
}

impl WorkspaceSnapshot {
    pub(super) fn remember(&mut self, relative: PathBuf, stamp: Stamp, source: PathBuf) {
        self.copied.insert(relative, (stamp, source));
    }

    /// Records the current state of the workspace. Files that differ from the source are stored in
    /// `beside`.
    pub(crate) fn take(&mut self, workspace: &Path, beside: &Path) -> io::Result<()> {
        let mut kept = 0;
        for relative in list(workspace)? {
            let path = workspace.join(&relative);
            let Some(stamp) = Stamp::of(&path) else { continue };
            let before = match self.copied.remove(&relative) {
                Some((copied, source)) if copied == stamp => Before::File(source),
                _ if path.is_symlink() => Before::Link(fs::read_link(&path)?),
                _ if stamp.size > MAX_TEXT || kept + stamp.size > MAX_KEPT => Before::Unkept,
                _ => {
                    kept += stamp.size;
                    let to = beside.join(&relative);
                    if let Some(parent) = to.parent() {
                        fs::create_dir_all(parent)?;
                    }
                    fs::copy(&path, &to)?;
                    Before::File(to)
                }
            };
            self.files.insert(relative, (stamp, before));
        }
        self.copied.clear();
        Ok(())
    }

    /// Returns the changes since the snapshot, as a unified diff in git format.
    pub(crate) fn diff(&self, workspace: &Path) -> io::Result<String> {
        super::diff::diff(self, workspace)
    }
}

/// Paths that are not the agent's work: git's internal files, and toolmark's own runs if the agent
/// works in the source directory.
const LEFT_OUT: &[&str] = &[".git", ".toolmark"];

/// Returns the files and links below a directory, sorted.
pub(super) fn list(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut todo = vec![PathBuf::new()];
    while let Some(relative) = todo.pop() {
        let entries = match fs::read_dir(root.join(&relative)) {
            Ok(entries) => entries,
            // The agent made the directory inaccessible, so its content is unknown.
            Err(_) if !relative.as_os_str().is_empty() => continue,
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            let relative = relative.join(entry.file_name());
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                if !LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
                    todo.push(relative);
                }
            } else if kind.is_file() || kind.is_symlink() {
                found.push(relative);
            }
            if found.len() > MAX_ENTRIES {
                return Err(io::Error::other(format!("more than {MAX_ENTRIES} files")));
            }
        }
    }
    found.sort();
    Ok(found)
}
