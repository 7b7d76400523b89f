//! What the files of a workspace were before the agent came.
//!
//! Files that are just as in the source are compared with the source. Others (made by
//! a program that prepared the workspace, or by `files`) are kept beside it. Our own
//! walk and not `git add`: that stumbles over repositories inside a workspace.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A text that is kept is at most this long.
pub(super) const MAX_TEXT: u64 = 1 << 20;

/// All texts that are kept are at most this long.
const MAX_KEPT: u64 = 64 << 20;

/// How many files are looked at.
const MAX_ENTRIES: usize = 500_000;

/// What tells whether a file was touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    /// When anything about it changed, and which file it is, where the system says so:
    /// neither can be set by a program.
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

/// What a file was.
#[derive(Debug, Clone)]
pub(super) enum Before {
    /// As this file, which is not the agent's.
    File(PathBuf),
    /// A link to this.
    Link(PathBuf),
    /// Too long to be kept.
    Unkept,
}

/// What the files of a workspace were.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// Files that are just as in the source.
    copied: BTreeMap<PathBuf, (Stamp, PathBuf)>,
    pub(super) files: BTreeMap<PathBuf, (Stamp, Before)>,
}

impl Snapshot {
    pub(super) fn remember(&mut self, relative: PathBuf, stamp: Stamp, source: PathBuf) {
        self.copied.insert(relative, (stamp, source));
    }

    /// Looks at the workspace as it is now. Files that are not as in the source are
    /// kept in `beside`.
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

    /// What changed since, as a unified diff in the manner of git.
    pub(crate) fn diff(&self, workspace: &Path) -> io::Result<String> {
        super::diff::diff(self, workspace)
    }
}

/// What is no work of the agent: what git keeps for itself, and our own runs where the
/// agent works in the source.
const LEFT_OUT: &[&str] = &[".git", ".toolmark"];

/// The files and links below a directory, in order.
pub(super) fn list(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut todo = vec![PathBuf::new()];
    while let Some(relative) = todo.pop() {
        let entries = match fs::read_dir(root.join(&relative)) {
            Ok(entries) => entries,
            // A directory the agent closed: what is in it cannot be told.
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
