//! Commands that the user has allowed by hand although the guard stops them: once or always, in one
//! directory and everything below it.
//!
//! They are stored one per line beside the user's policy, where no agent may write. The file is
//! read only when a call would be stopped.

use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use toolmark_session::path::resolve;

/// File name, beside the policy.
const NAME: &str = "allowed.jsonl";
/// Maximum size of the file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// One allowed command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowed {
    /// Exact command.
    pub command: String,
    /// Directory in which the command may run, including those below it.
    pub directory: String,
    /// Whether the next call uses up the permission.
    pub once: bool,
}

impl Allowed {
    fn fits(&self, command: &str, cwd: Option<&str>) -> bool {
        let directory = resolve(None, &self.directory);
        let inside = cwd.map(|cwd| resolve(None, cwd)).is_some_and(|cwd| {
            let below = cwd.strip_prefix(directory.trim_end_matches('/'));
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        inside && self.command.trim() == command.trim()
    }
}

/// Returns the path of the file, given the path of the policy.
#[must_use]
pub fn beside(policy: &Path) -> PathBuf {
    policy.with_file_name(NAME)
}

/// Adds a command.
///
/// # Errors
///
/// The file cannot be written.
pub fn add(path: &Path, allowed: &Allowed) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.lock()?;
    let line = serde_json::to_string(allowed).map_err(io::Error::other)? + "\n";
    file.write_all(line.as_bytes())
}

/// Returns the allowed commands, the oldest first; none if there is no file.
#[must_use]
pub fn list(path: &Path) -> Vec<Allowed> {
    let text = File::open(path).and_then(|file| {
        let mut text = String::new();
        file.take(LARGEST).read_to_string(&mut text).map(|_| text)
    });
    let text = text.unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Removes the allowed command with this number, counted from 1, or all entries of a command;
/// returns what was removed.
///
/// # Errors
///
/// The file cannot be read or written.
pub fn revoke(path: &Path, which: &str) -> io::Result<Vec<Allowed>> {
    let mut file = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    file.lock()?;
    let number = which.parse::<usize>().ok();
    let all = list(path).into_iter().enumerate();
    let (removed, left): (Vec<_>, Vec<_>) = all.partition(|(at, allowed)| match number {
        Some(number) => at + 1 == number,
        None => allowed.command.trim() == which.trim(),
    });
    let plain = |all: Vec<(usize, Allowed)>| all.into_iter().map(|(_, allowed)| allowed).collect();
    let (removed, left): (Vec<Allowed>, Vec<Allowed>) = (plain(removed), plain(left));
    if !removed.is_empty() {
        write(&mut file, &left)?;
    }
    Ok(removed)
}

/// Returns the entry that allows a command. An entry allowed once is used up by this; if that
/// cannot be written to the file, the command is not allowed.
#[must_use]
pub fn take(path: &Path, command: &str, cwd: Option<&str>) -> Option<Allowed> {
    let mut file = OpenOptions::new().read(true).write(true).open(path).ok()?;
    file.lock().ok()?;
    let mut text = String::new();
    Read::by_ref(&mut file).take(LARGEST).read_to_string(&mut text).ok()?;
    let mut all: Vec<Allowed> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let fits = |allowed: &Allowed| allowed.fits(command, cwd);
    // An entry that is always allowed is not used up.
    let at = all.iter().position(|allowed| fits(allowed) && !allowed.once);
    let at = at.or_else(|| all.iter().position(fits))?;
    if !all.get(at)?.once {
        return Some(all.swap_remove(at));
    }
    let taken = all.remove(at);
    write(&mut file, &all).ok()?;
    Some(taken)
}

fn write(file: &mut File, all: &[Allowed]) -> io::Result<()> {
    let mut text = String::new();
    for allowed in all {
        text.push_str(&serde_json::to_string(allowed).map_err(io::Error::other)?);
        text.push('\n');
    }
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allow(path: &Path, command: &str, once: bool) {
        let (command, directory) = (command.to_owned(), "/w/app".to_owned());
        add(path, &Allowed { command, directory, once }).unwrap();
    }

    #[test]
    fn once_is_used_up_and_always_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = beside(&dir.path().join("toolmark/toolmark.yaml"));
        let taken = |command: &str, cwd: &str| take(&path, command, Some(cwd)).is_some();
        assert!(!taken("git push --force", "/w/app"), "there is no file");
        allow(&path, "git push --force", true);
        allow(&path, "rm -rf ../cache", false);
        for (command, cwd) in [
            ("git push --force origin", "/w/app"),
            ("git push --force", "/w/application"),
            ("git push --force", "/w"),
            ("git push --force; rm -rf /", "/w/app"),
        ] {
            assert!(!taken(command, cwd), "{command} in {cwd}");
        }
        assert!(take(&path, "git push --force", None).is_none());
        assert!(taken("git push --force", "/w/app/src"));
        assert!(!taken("git push --force", "/w/app"), "it was allowed once");
        for _ in 0..2 {
            assert!(taken(" rm -rf ../cache\n", "/w/app"));
        }
        assert_eq!(list(&path).len(), 1);
        allow(&path, "make x", true);
        let commands =
            |all: Vec<Allowed>| all.into_iter().map(|one| one.command).collect::<Vec<_>>();
        assert_eq!(commands(revoke(&path, "3").unwrap()), [""; 0]);
        assert_eq!(commands(revoke(&path, "1").unwrap()), ["rm -rf ../cache"]);
        assert_eq!(commands(revoke(&path, "make x").unwrap()), ["make x"]);
        assert_eq!(list(&path), []);
        std::fs::write(&path, "not JSON\n{}\n").unwrap();
        assert!(!taken("git push --force", "/w/app"));
    }
}
