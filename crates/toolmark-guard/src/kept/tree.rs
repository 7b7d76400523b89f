//! State of a git work tree that a command discards: changed files, files that git does not know,
//! the index and the position of `HEAD`. Git is not run, because it would run the programs that a
//! repository configures.

use super::copy::{Copier, CopyMethod, KeepError};
use super::plan::Discards;
use super::store::{Draft, Git};
use crate::git_index::{GitTree, git_directory};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time limit for comparing the index with the files.
const MAX_TIME: Duration = Duration::from_millis(200);
/// Name of the kept index.
const INDEX: &str = "index";
/// Directories that tools make again from a lock file.
const REBUILT: &[&str] = &["node_modules", ".venv", "__pycache__", ".git"];

/// Keeps the state of the work tree around a directory; files that git does not know in the given
/// way.
pub(super) fn keep(
    cwd: &Path,
    (discards, by): (Discards, CopyMethod),
    copier: &mut Copier<'_>,
    draft: &Draft,
) -> Result<Git, KeepError> {
    let tree = GitTree::around(cwd).ok_or(KeepError::NoIndex)?;
    let root = tree.root().to_owned();
    let git = git_directory(&root.join(".git")).ok_or(KeepError::NoRepository)?;
    let state = state(&root, &git, draft)?;
    let files = tree.files(Instant::now() + MAX_TIME).ok_or(KeepError::SlowIndex)?;
    match discards {
        Discards::Changes => {
            for (path, _) in files.iter().filter(|(_, may_differ)| *may_differ) {
                copier.keep(&root.join(path), CopyMethod::Copy, &[])?;
            }
        }
        Discards::Untracked => {
            let known: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
            for path in untracked(&root, &known)? {
                copier.keep(&path, by, REBUILT)?;
            }
        }
    }
    Ok(state)
}

fn state(root: &Path, git: &Path, draft: &Draft) -> Result<Git, KeepError> {
    for name in ["MERGE_HEAD", "rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD"] {
        if git.join(name).exists() {
            return Err(KeepError::Merging);
        }
    }
    let head = fs::read_to_string(git.join("HEAD")).map_err(KeepError::at(git))?;
    let head = head.trim().to_owned();
    let commit = commit_of(git, &head).ok_or(KeepError::NoCommit)?;
    fs::copy(git.join("index"), draft.directory.join(INDEX)).map_err(KeepError::at(git))?;
    Ok(Git { root: root.to_owned(), head, commit, index: INDEX.to_owned() })
}

/// Returns the commit that `HEAD` names.
fn commit_of(git: &Path, head: &str) -> Option<String> {
    let Some(name) = head.strip_prefix("ref: ") else { return Some(head.to_owned()) };
    let common = fs::read_to_string(git.join("commondir")).ok();
    let common = common.map_or_else(|| git.to_owned(), |path| git.join(path.trim()));
    if let Ok(text) = fs::read_to_string(common.join(name)) {
        return Some(text.trim().to_owned());
    }
    let packed = fs::read_to_string(common.join("packed-refs")).ok()?;
    let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(_, reference)| *reference == name).map(|(commit, _)| commit.to_owned())
}

/// Returns the files that the index does not have, and the directories without any that it has.
/// Directories that can be rebuilt are left out.
fn untracked(root: &Path, known: &[&str]) -> Result<Vec<PathBuf>, KeepError> {
    /// Maximum number of names that are looked at.
    const MAX_NAMES: usize = 50_000;
    let mut found = Vec::new();
    let mut pending = vec![root.to_owned()];
    let mut names = 0;
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).map_err(KeepError::at(&directory))? {
            let entry = entry.map_err(KeepError::at(&directory))?;
            names += 1;
            if names > MAX_NAMES {
                return Err(KeepError::TooManyFiles(MAX_NAMES));
            }
            let name = entry.file_name();
            if REBUILT.iter().any(|rebuilt| name == *rebuilt) {
                continue;
            }
            let path = entry.path();
            let is_directory = entry.file_type().map_err(KeepError::at(&directory))?.is_dir();
            let relative = path.strip_prefix(root).ok().and_then(Path::to_str);
            let is_known = relative.is_some_and(|path| match is_directory {
                true => has_below(known, path),
                false => known.binary_search(&path).is_ok(),
            });
            match (is_directory, is_known) {
                (true, _) if path.join(".git").exists() => {
                    return Err(KeepError::Nested(path));
                }
                (true, true) => pending.push(path),
                (_, false) => found.push(path),
                (false, true) => {}
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Whether a sorted list has a path below a directory.
fn has_below(known: &[&str], directory: &str) -> bool {
    let start = known.partition_point(|path| *path < directory);
    let mut rest = known.get(start..).unwrap_or_default().iter();
    // Names such as `a-b` are between `a` and `a/b`.
    rest.by_ref()
        .take_while(|path| path.starts_with(directory))
        .any(|path| path.get(directory.len()..).is_some_and(|rest| rest.starts_with('/')))
}
