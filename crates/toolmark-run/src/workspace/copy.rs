//! Copies directories: by reflink if the file system supports it, otherwise as plain copies.

use super::snapshot::{Stamp, WorkspaceSnapshot};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Maximum number of entries of a source: a larger number is an error in the spec (`from: /`).
const MAX_ENTRIES: usize = 500_000;

/// Names that are never copied: toolmark's own runs.
const LEFT_OUT: &[&str] = &[".toolmark"];

/// Error of a copy.
#[derive(Debug, thiserror::Error)]
#[error("{}: {error}", path.display())]
pub(crate) struct CopyError {
    path: PathBuf,
    error: io::Error,
}

impl CopyError {
    pub(super) fn at(path: &Path, error: io::Error) -> Self {
        Self { path: path.to_owned(), error }
    }
}

/// An entry of a directory.
struct CopyEntry {
    from: PathBuf,
    /// Path relative to the root, with the separators of the system.
    relative: PathBuf,
    kind: fs::FileType,
}

/// Returns everything below a directory, parents first, sorted by name.
fn walk(root: &Path) -> Result<Vec<CopyEntry>, CopyError> {
    let mut found = Vec::new();
    let mut todo = vec![PathBuf::new()];
    while let Some(relative) = todo.pop() {
        let directory = root.join(&relative);
        let failed = |error| CopyError::at(&directory, error);
        let mut entries: Vec<fs::DirEntry> =
            fs::read_dir(&directory).and_then(Iterator::collect).map_err(failed)?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            if relative.as_os_str().is_empty() && LEFT_OUT.iter().any(|left| name == *left) {
                continue;
            }
            let kind = entry.file_type().map_err(failed)?;
            let relative = relative.join(name);
            if kind.is_dir() {
                todo.push(relative.clone());
            }
            found.push(CopyEntry { from: entry.path(), relative, kind });
            if found.len() > MAX_ENTRIES {
                let why = format!("has more than {MAX_ENTRIES} files and directories");
                return Err(CopyError::at(root, io::Error::other(why)));
            }
        }
    }
    Ok(found)
}

/// Copies the content of `from` into `to`, and records in the snapshot the files that are identical
/// to the source. Links stay links; sockets and devices are skipped.
pub(crate) fn copy_tree(
    from: &Path,
    to: &Path,
    snapshot: &mut WorkspaceSnapshot,
) -> Result<(), CopyError> {
    fs::create_dir_all(to).map_err(|error| CopyError::at(to, error))?;
    let mut directories = Vec::new();
    for CopyEntry { from, relative, kind } in walk(from)? {
        let target = to.join(&relative);
        let failed = |error| CopyError::at(&from, error);
        if kind.is_dir() {
            fs::create_dir_all(&target).map_err(failed)?;
            directories.push((from, target));
        } else if kind.is_symlink() {
            let _ = fs::remove_file(&target);
            fs::read_link(&from).and_then(|link| symlink(&link, &target)).map_err(failed)?;
        } else if kind.is_file() {
            copy_file(&from, &target).map_err(failed)?;
            if let Some(stamp) = Stamp::of(&target) {
                snapshot.remember(relative, stamp, from);
            }
        }
    }
    // Permissions are set last, so that read-only directories can be filled.
    for (from, target) in directories.into_iter().rev() {
        if let Ok(about) = fs::metadata(&from) {
            let _ = fs::set_permissions(&target, about.permissions());
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        fs::remove_file(to)?;
    }
    let about = fs::metadata(from)?;
    reflink_copy::reflink_or_copy(from, to)?;
    fs::set_permissions(to, about.permissions())?;
    // Build tools compare times.
    let times = fs::FileTimes::new().set_modified(about.modified()?);
    // A read-only file keeps the time of the copy.
    if let Ok(file) = fs::File::options().write(true).open(to) {
        file.set_times(times)?;
    }
    Ok(())
}

#[cfg(unix)]
fn symlink(link: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(link, to)
}

#[cfg(not(unix))]
fn symlink(link: &Path, to: &Path) -> io::Result<()> {
    fs::copy(link, to).map(drop)
}

/// Returns a hash of the content of a file or directory: names, contents and executable flags,
/// without times.
pub(crate) fn content_hash(root: &Path) -> Result<String, CopyError> {
    let mut hash = Sha256::new();
    if root.is_file() {
        hash_file(root, &mut hash)?;
        return Ok(hex(&hash.finalize()));
    }
    if let Err(error) = fs::metadata(root) {
        return Err(CopyError::at(root, error));
    }
    let mut all = walk(root)?;
    all.sort_by(|a, b| a.relative.cmp(&b.relative));
    for CopyEntry { from, relative, kind } in all {
        hash.update(relative.as_os_str().as_encoded_bytes());
        if kind.is_file() {
            hash.update(b"\0file\0");
            hash_file(&from, &mut hash)?;
        } else if kind.is_symlink() {
            let link = fs::read_link(&from).map_err(|error| CopyError::at(&from, error))?;
            hash.update(b"\0link\0");
            hash.update(link.as_os_str().as_encoded_bytes());
        } else {
            hash.update(b"\0other\0");
        }
    }
    Ok(hex(&hash.finalize()))
}

fn hash_file(path: &Path, hash: &mut Sha256) -> Result<(), CopyError> {
    let failed = |error| CopyError::at(path, error);
    let mut file = fs::File::open(path).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    hash.update(about.len().to_le_bytes());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        hash.update([u8::from(about.permissions().mode() & 0o111 != 0)]);
    }
    let mut chunk = vec![0; 64 << 10];
    loop {
        let read = file.read(&mut chunk).map_err(failed)?;
        if read == 0 {
            return Ok(());
        }
        hash.update(chunk.get(..read).unwrap_or_default());
    }
}

/// Formats bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_copy_is_like_its_source_and_apart_from_it() {
        let source = tempfile::tempdir().unwrap();
        let at = |name: &str| source.path().join(name);
        fs::create_dir_all(at("src/deep")).unwrap();
        fs::create_dir_all(at(".toolmark/runs")).unwrap();
        fs::write(at("src/deep/a.txt"), "a").unwrap();
        fs::write(at("run.sh"), "#!/bin/sh").unwrap();
        fs::set_permissions(at("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(at("src/deep"), fs::Permissions::from_mode(0o555)).unwrap();
        symlink("run.sh", at("link")).unwrap();
        let hash = content_hash(source.path()).unwrap();
        let copy = tempfile::tempdir().unwrap();
        let to = copy.path().join("ws");
        copy_tree(source.path(), &to, &mut WorkspaceSnapshot::default()).unwrap();
        assert_eq!(content_hash(&to).unwrap(), hash);
        assert!(!to.join(".toolmark").exists());
        assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("run.sh"));
        assert_eq!(to.join("run.sh").metadata().unwrap().permissions().mode() & 0o777, 0o755);
        let time = |path: PathBuf| path.metadata().unwrap().modified().unwrap();
        assert_eq!(time(to.join("src/deep/a.txt")), time(at("src/deep/a.txt")));
        fs::write(to.join("src/deep/a.txt"), "changed").unwrap();
        assert_eq!(fs::read_to_string(at("src/deep/a.txt")).unwrap(), "a");
        assert_ne!(content_hash(&to).unwrap(), hash);
        assert!(content_hash(&at("nowhere")).is_err());
    }
}
