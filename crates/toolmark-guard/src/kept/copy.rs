//! Copying of files into an entry, within limits.

use super::store::{Draft, ItemKind, KeptItem};
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
    pub(super) items: Vec<KeptItem>,
    seen: BTreeSet<PathBuf>,
    pub(super) bytes: u64,
    until: Instant,
}

/// Ways to keep a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CopyMethod {
    /// By its content.
    Copy,
    /// By a second name, because the call only deletes it: a file that stays would change under
    /// both names.
    Link,
}

/// Reason why state could not be kept.
#[derive(Debug, thiserror::Error)]
pub(super) enum KeepError {
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
    #[error("more than {0} files")]
    TooManyFiles(usize),
    #[error("more than {0} MB")]
    TooLarge(u64),
    #[error("it would take too long")]
    TooSlow,
    #[error("{} is not a regular file", .0.display())]
    NotRegular(PathBuf),
    #[error("{} changes at this moment", .0.display())]
    Changing(PathBuf),
    #[error("the index of git cannot be read")]
    NoIndex,
    #[error("the repository cannot be read")]
    NoRepository,
    #[error("comparing the files with the index takes too long")]
    SlowIndex,
    #[error("a merge or a rebase is under way")]
    Merging,
    #[error("the commit of HEAD is not known")]
    NoCommit,
    #[error("{} is a repository of its own", .0.display())]
    Nested(PathBuf),
    #[error("the repository stores its references in another format")]
    RefFormat,
    #[error("more than {0} references")]
    TooManyRefs(usize),
    #[error("failed to run git: {0}")]
    Git(io::Error),
    #[error("packing the commits takes too long")]
    SlowPack,
    #[error("git cannot read the commits")]
    NoPack,
}

impl KeepError {
    /// Returns a function that adds the path to an error.
    pub(super) fn at(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        move |error| Self::File { path: path.to_owned(), error }
    }
}

impl<'d> Copier<'d> {
    pub(super) fn new(draft: &'d Draft) -> Self {
        let until = Instant::now() + MAX_TIME;
        Self { draft, items: Vec::new(), seen: BTreeSet::new(), bytes: 0, until }
    }

    /// Keeps a path and everything below it; the error is the reason why it could not be kept.
    /// Names in `skips` are not descended into.
    pub(super) fn keep(
        &mut self,
        path: &Path,
        by: CopyMethod,
        skips: &[&str],
    ) -> Result<(), KeepError> {
        let mut pending = vec![path.to_owned()];
        while let Some(path) = pending.pop() {
            if !self.seen.insert(path.clone()) {
                continue;
            }
            let about = match fs::symlink_metadata(&path) {
                Ok(about) => about,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(KeepError::File { path, error }),
            };
            if self.items.len() >= MAX_FILES {
                return Err(KeepError::TooManyFiles(MAX_FILES));
            }
            if Instant::now() >= self.until {
                return Err(KeepError::TooSlow);
            }
            if about.is_dir() {
                for entry in fs::read_dir(&path).map_err(KeepError::at(&path))? {
                    let entry = entry.map_err(KeepError::at(&path))?;
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

    fn keep_file(
        &mut self,
        path: PathBuf,
        by: CopyMethod,
        about: &Metadata,
    ) -> Result<(), KeepError> {
        if about.is_symlink() {
            let target = fs::read_link(&path).map_err(KeepError::at(&path))?;
            self.items
                .push(KeptItem { target: Some(target), ..item(path, about, ItemKind::Symlink) });
            return Ok(());
        }
        if !about.is_file() {
            return Err(KeepError::NotRegular(path));
        }
        let name = self.items.len().to_string();
        let place = self.draft.directory.join(&name);
        let is_link = by == CopyMethod::Link && fs::hard_link(&path, &place).is_ok();
        if !is_link {
            self.bytes = self.bytes.saturating_add(about.len());
            if self.bytes > MAX_BYTES {
                return Err(KeepError::TooLarge(MAX_BYTES >> 20));
            }
            fs::copy(&path, &place).map_err(KeepError::at(&path))?;
            make_private(&place).map_err(KeepError::at(&path))?;
            // A file that grew or changed meanwhile is not kept as it was.
            let now = fs::symlink_metadata(&path).map_err(KeepError::at(&path))?;
            let is_same = now.len() == about.len() && now.modified().ok() == about.modified().ok();
            if !is_same {
                return Err(KeepError::Changing(path));
            }
        }
        self.items.push(KeptItem {
            file: Some(name),
            is_link,
            ..item(path, about, ItemKind::File)
        });
        Ok(())
    }
}

fn item(path: PathBuf, about: &Metadata, kind: ItemKind) -> KeptItem {
    let (mode, modified) = stamps(about);
    KeptItem { path, kind, mode, modified, file: None, is_link: false, target: None }
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
