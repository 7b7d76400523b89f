//! The directory of kept entries: one directory per call, with its manifest and its files.

use super::refs::Refs;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the directory, beside the log.
const NAME: &str = "kept";
/// Name of the description of an entry.
const MANIFEST: &str = "manifest.json";
/// Prefix of entries that are being made.
const DRAFT: &str = ".draft-";
/// Maximum age of an entry.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Maximum size of all entries, in bytes.
const MAX_TOTAL: u64 = 2 << 30;
/// Maximum number of entries that are removed at once, to bound the time of a hook.
const MAX_REMOVED: usize = 4;

/// Directory of kept entries.
#[derive(Debug, Clone)]
pub struct KeptStore {
    root: PathBuf,
}

/// Everything kept before one call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeptEntry {
    /// Name of the entry, which begins with its time.
    #[serde(skip)]
    pub id: String,
    /// Version of this format.
    pub version: u32,
    /// Time of the call.
    pub time: String,
    /// Host that ran the call.
    pub host: String,
    /// Session of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Directory of the session.
    pub cwd: String,
    /// Tool of the call.
    pub tool: String,
    /// Beginning of its command, without secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The files.
    pub items: Vec<KeptItem>,
    /// State of the repository, if the call changes what git has checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<Git>,
    /// References of the repository, if the call deletes or moves some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refs: Option<Refs>,
    /// Sum of the sizes of the files, in bytes.
    pub bytes: u64,
}

/// One file, directory or link.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeptItem {
    /// Absolute path.
    pub path: PathBuf,
    /// Kind of the file.
    pub kind: ItemKind,
    /// Permissions.
    pub mode: u32,
    /// Modification time: seconds and nanoseconds.
    pub modified: (i64, u32),
    /// Name of the kept file in the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Whether the kept file is the deleted one itself, under a second name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_link: bool,
    /// Target of a symbolic link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<PathBuf>,
}

/// Kind of a kept file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ItemKind {
    /// Regular file.
    File,
    /// Directory; its content has items of its own.
    Directory,
    /// Symbolic link.
    Symlink,
}

/// State of a repository before a call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Git {
    /// Root of the work tree.
    pub root: PathBuf,
    /// Content of the file `HEAD`.
    pub head: String,
    /// Commit that was checked out.
    pub commit: String,
    /// Name of the kept index in the entry.
    pub index: String,
}

impl KeptEntry {
    /// Returns what is kept as words: `2 paths`, `3 references and the stashes`.
    #[must_use]
    pub fn contents(&self) -> String {
        let count = |n: usize, noun: &str| match n {
            0 => None,
            1 => Some(format!("1 {noun}")),
            n => Some(format!("{n} {noun}s")),
        };
        let refs = self.refs.as_ref();
        let parts = [
            count(self.items.len(), "path"),
            count(refs.map_or(0, |refs| refs.refs.len()), "reference"),
            refs.filter(|refs| refs.stashes).map(|_| "the stashes".to_owned()),
            self.git.as_ref().map(|_| "the state of git".to_owned()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl KeptStore {
    /// Returns the store beside a log.
    #[must_use]
    pub fn beside(log: &Path) -> Self {
        Self { root: log.with_file_name(NAME) }
    }

    /// Returns the directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the directory of an entry.
    #[must_use]
    pub fn directory(&self, id: &str) -> PathBuf {
        self.root.join(id)
    }

    /// Returns the entries, the newest first. Entries that cannot be read are left out.
    #[must_use]
    pub fn entries(&self) -> Vec<KeptEntry> {
        let mut ids = self.ids();
        ids.reverse();
        ids.iter().filter_map(|id| self.entry(id).ok()).collect()
    }

    /// Reads one entry.
    ///
    /// # Errors
    ///
    /// There is no such entry, or its manifest is unreadable.
    pub fn entry(&self, id: &str) -> io::Result<KeptEntry> {
        let text = fs::read(self.directory(id).join(MANIFEST))?;
        let entry: KeptEntry = serde_json::from_slice(&text).map_err(io::Error::other)?;
        Ok(KeptEntry { id: id.to_owned(), ..entry })
    }

    /// Removes an entry.
    ///
    /// # Errors
    ///
    /// It cannot be removed completely.
    pub fn remove(&self, id: &str) -> io::Result<()> {
        fs::remove_dir_all(self.directory(id))
    }

    /// Creates the directory of an entry that is being made.
    pub(super) fn begin(&self) -> io::Result<Draft> {
        make_private(&self.root)?;
        let now = Timestamp::now();
        let id =
            format!("{}-{:04x}", now.strftime("%Y%m%dT%H%M%S%3f"), std::process::id() & 0xffff);
        let directory = self.root.join(format!("{DRAFT}{id}"));
        make_private(&directory)?;
        Ok(Draft { id, directory, time: now, is_done: false })
    }

    /// Completes an entry: its name says how large it is.
    pub(super) fn finish(&self, mut draft: Draft, mut entry: KeptEntry) -> io::Result<KeptEntry> {
        let text = serde_json::to_vec(&entry).map_err(io::Error::other)?;
        toolmark_base::file::write_with(&draft.directory.join(MANIFEST), |file| {
            io::Write::write_all(file, &text)
        })?;
        entry.id = format!("{}-{}", draft.id, entry.bytes);
        fs::rename(&draft.directory, self.directory(&entry.id))?;
        draft.is_done = true;
        Ok(entry)
    }

    /// Removes the oldest entries beyond the limits, and drafts that were never completed.
    pub(super) fn prune(&self, now: Timestamp) {
        let mut left = MAX_REMOVED;
        let mut total = 0_u64;
        let mut ids = self.ids();
        ids.reverse();
        let oldest = Timestamp::try_from(std::time::SystemTime::from(now) - MAX_AGE)
            .map(|oldest| oldest.strftime("%Y%m%dT%H%M%S%3f").to_string())
            .unwrap_or_default();
        for id in ids {
            let size = id.rsplit('-').next().and_then(|size| size.parse().ok()).unwrap_or(0);
            total = total.saturating_add(size);
            if (total > MAX_TOTAL || id < oldest) && left > 0 {
                left -= 1;
                let _ = self.remove(&id);
            }
        }
    }

    /// Returns the names of the entries, the oldest first.
    fn ids(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut ids: Vec<String> =
            names.filter(|name| name.starts_with(|c: char| c.is_ascii_digit())).collect();
        ids.sort_unstable();
        ids
    }
}

/// An entry that is being made; removed unless it is completed.
#[derive(Debug)]
pub(super) struct Draft {
    id: String,
    pub(super) directory: PathBuf,
    pub(super) time: Timestamp,
    is_done: bool,
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_done {
            let _ = fs::remove_dir_all(&self.directory);
        }
    }
}

fn make_private(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}
