//! Settings files on disk: read as a whole and replaced atomically, so that a crash leaves
//! either the old text or the new one.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Maximum size of a settings file.
const LARGEST: u64 = 16 << 20;

/// Returns the text of a file, or `None` if the file does not exist.
pub(super) fn read(path: &Path) -> io::Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    file.take(LARGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST {
        return Err(io::Error::other("too large for a settings file"));
    }
    Ok(Some(text))
}

/// Returns the path of the backup copy with the previous text.
pub(super) fn backup_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(crate::own::BACKUP);
    path.with_file_name(name)
}

/// Replaces the text of a file atomically. A symbolic link keeps its target; the file gets
/// the permissions of `like`, usually the file itself.
pub(super) fn write(path: &Path, text: &str, like: &Path) -> io::Result<()> {
    let target = match fs::canonicalize(path) {
        Ok(target) => target,
        Err(error) if error.kind() == io::ErrorKind::NotFound => aim(path),
        Err(error) => return Err(error),
    };
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent)?;
    }
    let permissions = fs::metadata(like).ok().map(|metadata| metadata.permissions());
    let (mut file, temporary) = beside(&target)?;
    let written = fill(&mut file, text, permissions);
    drop(file);
    let written = written.and_then(|()| fs::rename(&temporary, &target));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Resolves a path that may be a dangling symbolic link.
fn aim(path: &Path) -> PathBuf {
    match (fs::read_link(path), path.parent()) {
        (Ok(link), Some(parent)) => parent.join(link),
        _ => path.to_owned(),
    }
}

fn fill(file: &mut File, text: &str, permissions: Option<Permissions>) -> io::Result<()> {
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Creates a new file in the same directory.
fn beside(target: &Path) -> io::Result<(File, PathBuf)> {
    let mut last = io::Error::other("no free name");
    for number in 0..64 {
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(format!(".toolmark-{}-{number}", std::process::id()));
        let path = target.with_file_name(name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}
