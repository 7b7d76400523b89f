//! Puts back what was kept: file by file, never by cleaning or resetting a work tree. What was
//! changed since the call is not replaced unless the caller says so; the kept file is then put
//! beside it.

use super::after::{is_as_left, result};
use super::copy::{Copier, CopyMethod, stamps};
use super::plan::open_log;
use super::put_refs;
use super::store::{Git, ItemKind, KeptEntry, KeptItem, KeptStore};
use std::ffi::OsStr;
use std::fs::{self, File, FileTimes};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A request to restore an entry.
#[derive(Debug)]
pub struct Restoring<'a> {
    /// Store with the entry.
    pub store: &'a KeptStore,
    /// Entry to restore.
    pub entry: &'a KeptEntry,
    /// Paths to restore, with everything below them; all if there are none.
    pub only: &'a [PathBuf],
    /// Whether files that were changed since the call are replaced too.
    pub replaces: bool,
}

/// One restored path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The path.
    pub path: PathBuf,
    /// Result of restoring it.
    pub outcome: Outcome,
}

/// Result of restoring one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It is as it was before the call.
    Restored,
    /// It was as before the call already.
    Unchanged,
    /// It was changed since the call: the kept file was put beside it.
    Beside(PathBuf),
    /// It could not be restored, for this reason.
    Failed(String),
}

impl Restoring<'_> {
    /// Restores the entry and returns the result for every path, in order. The present state of
    /// files that are replaced is kept first, as a new entry.
    ///
    /// # Errors
    ///
    /// The present state cannot be kept; nothing was changed.
    pub fn run(&self) -> io::Result<Vec<Restored>> {
        let result = result(self.store, self.entry);
        let mut items: Vec<&KeptItem> =
            self.entry.items.iter().filter(|item| self.is_wanted(&item.path)).collect();
        items.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        self.keep_present(&items)?;
        // Moving `HEAD` changes files.
        let is_newer: Vec<bool> = items
            .iter()
            .map(|item| {
                let is_there = fs::symlink_metadata(&item.path).is_ok();
                is_there && !self.replaces && !is_as_left(&item.path, result.as_deref())
            })
            .collect();
        let mut restored = Vec::new();
        let git = self.entry.git.as_ref().filter(|_| self.only.is_empty());
        let mut is_at_commit = false;
        if let Some(git) = git {
            let outcome = move_head(git);
            is_at_commit = !matches!(outcome, Outcome::Failed(_));
            restored.push(Restored { path: git.root.join(".git/HEAD"), outcome });
        }
        for (item, is_newer) in items.iter().zip(is_newer) {
            let outcome = self.item(item, is_newer);
            let outcome = outcome.unwrap_or_else(|error| Outcome::Failed(error.to_string()));
            restored.push(Restored { path: item.path.clone(), outcome });
        }
        if let Some(refs) = self.entry.refs.as_ref().filter(|_| self.only.is_empty()) {
            restored.extend(put_refs::run(self, refs));
        }
        // Directories get their times when nothing is put into them any more.
        for item in items.iter().rev().filter(|item| item.kind == ItemKind::Directory) {
            let _ = stamp(&item.path, item);
        }
        if let Some(git) = git.filter(|_| is_at_commit) {
            let from = self.store.directory(&self.entry.id).join(&git.index);
            if let Some(outcome) = put_index(git, &from) {
                restored.push(Restored { path: git.root.join(".git/index"), outcome });
            }
        }
        Ok(restored)
    }

    fn is_wanted(&self, path: &Path) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| path.starts_with(only))
    }

    /// Keeps the files that may be replaced.
    fn keep_present(&self, items: &[&KeptItem]) -> io::Result<()> {
        let draft = self.store.begin()?;
        let mut copier = Copier::new(&draft);
        for item in items.iter().filter(|item| item.kind == ItemKind::File) {
            if !self.is_same(item) {
                copier.keep(&item.path, CopyMethod::Copy, &[]).map_err(io::Error::other)?;
            }
        }
        if copier.items.is_empty() {
            return Ok(());
        }
        let (items, bytes) = (copier.items, copier.bytes);
        let time = draft.time.to_string();
        let command = Some(format!("toolmark guard undo {}", self.entry.id));
        let tool = "undo".to_owned();
        let entry = KeptEntry {
            command,
            tool,
            items,
            bytes,
            time,
            git: None,
            refs: None,
            ..self.entry.clone()
        };
        self.store.finish(draft, entry).map(|_| ())
    }

    fn item(&self, item: &KeptItem, is_newer: bool) -> io::Result<Outcome> {
        let now = fs::symlink_metadata(&item.path).ok();
        if let Some(parent) = item.path.parent() {
            fs::create_dir_all(parent)?;
        }
        match item.kind {
            ItemKind::Directory => match now {
                Some(now) if now.is_dir() => Ok(Outcome::Unchanged),
                Some(_) => Ok(Outcome::Failed("something else has this name now".to_owned())),
                None => fs::create_dir(&item.path).map(|()| Outcome::Restored),
            },
            ItemKind::Symlink => {
                let target = item.target.as_deref().unwrap_or(Path::new(""));
                if fs::read_link(&item.path).is_ok_and(|now| now == target) {
                    return Ok(Outcome::Unchanged);
                }
                let place = place_of(item, is_newer);
                put_link(target, &place)?;
                Ok(outcome_at(&item.path, place))
            }
            ItemKind::File => {
                if self.is_same(item) {
                    stamp(&item.path, item)?;
                    return Ok(Outcome::Unchanged);
                }
                let place = place_of(item, is_newer);
                self.put_file(item, &place)?;
                Ok(outcome_at(&item.path, place))
            }
        }
    }

    fn kept_file(&self, item: &KeptItem) -> PathBuf {
        let name = item.file.as_deref().unwrap_or_default();
        self.store.directory(&self.entry.id).join(name)
    }

    /// Whether the file has the kept content.
    fn is_same(&self, item: &KeptItem) -> bool {
        let is_file = fs::symlink_metadata(&item.path).is_ok_and(|about| about.is_file());
        item.kind == ItemKind::File
            && is_file
            && has_same_content(&item.path, &self.kept_file(item)).unwrap_or(false)
    }

    fn put_file(&self, item: &KeptItem, place: &Path) -> io::Result<()> {
        // A log of newer changes would be applied to the older database.
        if let Some(log) = open_log(place) {
            return Err(io::Error::other(format!("the database is in use: {}", log.display())));
        }
        let kept = self.kept_file(item);
        let mut name = OsStr::new(".toolmark-undo-").to_owned();
        name.push(place.file_name().unwrap_or_default());
        let draft = place.with_file_name(name);
        let _ = fs::remove_file(&draft);
        let is_linked = item.is_link && fs::hard_link(&kept, &draft).is_ok();
        let made = match is_linked {
            true => Ok(()),
            false => fs::copy(&kept, &draft).and_then(|_| stamp(&draft, item)),
        };
        let made = made.and_then(|()| fs::rename(&draft, place));
        if made.is_err() {
            let _ = fs::remove_file(&draft);
        }
        made
    }
}

/// Returns the path at which a kept file is put: its own, or a free one beside it.
fn place_of(item: &KeptItem, is_newer: bool) -> PathBuf {
    if !is_newer {
        return item.path.clone();
    }
    let name = item.path.file_name().unwrap_or(OsStr::new("file"));
    let beside = |number: usize| {
        let mut name = name.to_owned();
        name.push(if number == 0 { ".kept".to_owned() } else { format!(".kept{number}") });
        item.path.with_file_name(name)
    };
    let mut places = (0..1000).map(beside);
    places.find(|place| fs::symlink_metadata(place).is_err()).unwrap_or_else(|| beside(1000))
}

fn outcome_at(path: &Path, place: PathBuf) -> Outcome {
    if path == place { Outcome::Restored } else { Outcome::Beside(place) }
}

fn has_same_content(one: &Path, other: &Path) -> io::Result<bool> {
    use std::io::{BufRead, BufReader};
    let (mut one, mut other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let (mut one, mut other) = (BufReader::new(&mut one), BufReader::new(&mut other));
    loop {
        let (a, b) = (one.fill_buf()?, other.fill_buf()?);
        let count = a.len().min(b.len());
        if a.get(..count) != b.get(..count) {
            return Ok(false);
        }
        if count == 0 {
            return Ok(true);
        }
        one.consume(count);
        other.consume(count);
    }
}

/// Gives a file the permissions and the modification time that it had.
fn stamp(path: &Path, item: &KeptItem) -> io::Result<()> {
    if stamps(&fs::symlink_metadata(path)?) == (item.mode, item.modified) {
        return Ok(());
    }
    let (seconds, nanos) = item.modified;
    let time = match u64::try_from(seconds) {
        Ok(seconds) => SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos),
        Err(_) => SystemTime::UNIX_EPOCH - Duration::from_secs(seconds.unsigned_abs()),
    };
    // Time first: the permissions may forbid writing.
    File::open(path)?.set_times(FileTimes::new().set_modified(time))?;
    set_mode(path, item.mode)
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn put_link(target: &Path, place: &Path) -> io::Result<()> {
    if let Err(error) = fs::remove_file(place)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    std::os::unix::fs::symlink(target, place)
}

#[cfg(not(unix))]
fn put_link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::other("symbolic links are not restored on this system"))
}

pub(super) fn git(root: &Path, words: &[&str]) -> io::Result<(bool, String)> {
    let output = super::refs::git(root).args(words).output()?;
    let text = if output.status.success() { output.stdout } else { output.stderr };
    Ok((output.status.success(), String::from_utf8_lossy(&text).trim().to_owned()))
}

/// Puts `HEAD` where it was, if no local change is in the way.
fn move_head(state: &Git) -> Outcome {
    let run = |words: &[&str]| match git(&state.root, words) {
        Ok((true, text)) => Ok(text),
        Ok((false, text)) => Err(text),
        Err(error) => Err(format!("failed to run git: {error}")),
    };
    let steps = || -> Result<bool, String> {
        let mut has_moved = false;
        let branch = state.head.strip_prefix("ref: refs/heads/");
        let now = run(&["symbolic-ref", "--quiet", "--short", "HEAD"]).ok();
        if now.as_deref() != branch {
            let to = branch.unwrap_or(&state.commit);
            run(&["checkout", "--quiet", to, "--"])?;
            has_moved = true;
        }
        if run(&["rev-parse", "HEAD"])? != state.commit {
            // Files with other times but the same content do not count. It fails if some differ.
            let _ = run(&["update-index", "-q", "--refresh"]);
            run(&["reset", "--quiet", "--keep", &state.commit])?;
            has_moved = true;
        }
        Ok(has_moved)
    };
    match steps() {
        Ok(true) => Outcome::Restored,
        Ok(false) => Outcome::Unchanged,
        Err(why) => Outcome::Failed(why),
    }
}

/// Puts back the index if nothing is staged now; `None` if it is the same.
fn put_index(state: &Git, from: &Path) -> Option<Outcome> {
    let at = crate::git_index::git_directory(&state.root.join(".git"))?.join("index");
    if has_same_content(&at, from).unwrap_or(false) {
        return None;
    }
    match git(&state.root, &["diff", "--cached", "--quiet"]) {
        Ok((true, _)) => Some(match fs::copy(from, &at) {
            Ok(_) => Outcome::Restored,
            Err(error) => Outcome::Failed(error.to_string()),
        }),
        _ => Some(Outcome::Failed("other changes are staged now".to_owned())),
    }
}
