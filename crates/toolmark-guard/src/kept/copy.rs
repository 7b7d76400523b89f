//! Copying of files into an entry, within limits.

use super::store::{Draft, Item, ItemKind};
use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Maximum number of files of one call.
const MAX_FILES: usize = 2_000;
/// Maximum number of bytes copied for one call.
const MAX_BYTES: u64 = 200 << 20;
/// Maximum time spent on one call.
const MAX_TIME: Duration = Duration::from_millis(400);

/// The copier of one entry.
#[derive(Debug)]
pub(super) struct Copier<'d> {
    draft: &'d Draft,
    pub(super) items: Vec<Item>,
    seen: BTreeSet<PathBuf>,
    pub(super) bytes: u64,
    until: Instant,
}

/// Ways to keep a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// By its content.
    Copy,
    /// By a second name, because the call only deletes it: a file that stays would change under
    /// both names.
    Link,
}

impl<'d> Copier<'d> {
    pub(super) fn new(draft: &'d Draft) -> Self {
        let until = Instant::now() + MAX_TIME;
        Self { draft, items: Vec::new(), seen: BTreeSet::new(), bytes: 0, until }
    }

    /// Keeps a path and everything below it; the error is the reason why it could not be kept.
    /// Names in `skips` are not descended into.
    pub(super) fn keep(&mut self, path: &Path, by: By, skips: &[&str]) -> Result<(), String> {
        let mut pending = vec![path.to_owned()];
        while let Some(path) = pending.pop() {
            if !self.seen.insert(path.clone()) {
                continue;
            }
            let about = match fs::symlink_metadata(&path) {
                Ok(about) => about,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(format!("{}: {error}", path.display())),
            };
            if self.items.len() >= MAX_FILES {
                return Err(format!("more than {MAX_FILES} files"));
            }
            if Instant::now() >= self.until {
                return Err("it would take too long".to_owned());
            }
            if about.is_dir() {
                let list = fs::read_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
                for entry in list {
                    let entry = entry.map_err(|e| format!("{}: {e}", path.display()))?;
                    let is_skipped = skips.iter().any(|skip| entry.file_name() == *skip);
                    if !is_skipped {
                        pending.push(entry.path());
                    }
                }
                self.items.push(item(path, &about, ItemKind::Directory));
            } else {
                self.keep_file(path, by, &about)?;
            }
        }
        Ok(())
    }

    fn keep_file(&mut self, path: PathBuf, by: By, about: &Metadata) -> Result<(), String> {
        let why = |error: io::Error| format!("{}: {error}", path.display());
        if about.is_symlink() {
            let target = fs::read_link(&path).map_err(why)?;
            self.items.push(Item { target: Some(target), ..item(path, about, ItemKind::Symlink) });
            return Ok(());
        }
        if !about.is_file() {
            return Err(format!("{} is not a regular file", path.display()));
        }
        let name = self.items.len().to_string();
        let place = self.draft.directory.join(&name);
        let is_link = by == By::Link && fs::hard_link(&path, &place).is_ok();
        if !is_link {
            self.bytes = self.bytes.saturating_add(about.len());
            if self.bytes > MAX_BYTES {
                return Err(format!("more than {} MB", MAX_BYTES >> 20));
            }
            fs::copy(&path, &place).map_err(why)?;
            make_private(&place).map_err(why)?;
            // A file that grew or changed meanwhile is not kept as it was.
            let now = fs::symlink_metadata(&path).map_err(why)?;
            let is_same = now.len() == about.len() && now.modified().ok() == about.modified().ok();
            if !is_same {
                return Err(format!("{} changes at this moment", path.display()));
            }
        }
        self.items.push(Item { file: Some(name), is_link, ..item(path, about, ItemKind::File) });
        Ok(())
    }
}

fn item(path: PathBuf, about: &Metadata, kind: ItemKind) -> Item {
    let (mode, modified) = stamps(about);
    Item { path, kind, mode, modified, file: None, is_link: false, target: None }
}

/// Returns the permissions and the modification time of a file.
#[cfg(unix)]
pub(super) fn stamps(about: &Metadata) -> (u32, (i64, u32)) {
    use std::os::unix::fs::MetadataExt;
    (about.mode() & 0o7777, (about.mtime(), u32::try_from(about.mtime_nsec()).unwrap_or(0)))
}

/// Returns the permissions and the modification time of a file.
#[cfg(not(unix))]
pub(super) fn stamps(about: &Metadata) -> (u32, (i64, u32)) {
    let since = about.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let since = since.unwrap_or_default();
    let mode = if about.permissions().readonly() { 0o444 } else { 0o644 };
    (mode, (i64::try_from(since.as_secs()).unwrap_or(0), since.subsec_nanos()))
}

/// Makes a kept file readable by its owner only.
#[cfg(unix)]
fn make_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    File::open(path)?.set_permissions(fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn make_private(path: &Path) -> io::Result<()> {
    File::open(path).map(|_| ())
}
