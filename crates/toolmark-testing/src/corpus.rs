//! Access to the shared corpus: traces, vectors and labelled commands in `../shared`, which is not
//! part of the project.

use crate::{skip, switch, workspace};
use std::path::{Path, PathBuf};

/// Returns a file or directory of `../shared`.
///
/// If it is missing, the test is reported as skipped and should return; with
/// `TOOLMARK_SHARED=required` it fails.
#[track_caller]
#[must_use]
pub fn find_shared(path: &str) -> Option<PathBuf> {
    let is_required = switch("TOOLMARK_SHARED", &["required"]).is_some();
    match find(&workspace(), path, is_required) {
        Ok(found) => Some(found),
        Err(why) => {
            skip(&why);
            None
        }
    }
}

fn find(root: &Path, path: &str, is_required: bool) -> Result<PathBuf, String> {
    let found = root.join("../shared").join(path);
    if found.exists() {
        return Ok(found);
    }
    let why = format!("../shared/{path} does not exist");
    assert!(!is_required, "{why}, and TOOLMARK_SHARED=required is set");
    Err(why)
}

/// Returns the files of `../shared/traces` selected by `TOOLMARK_TRUTH`. Missing files are handled
/// as in [`find_shared`].
#[track_caller]
#[must_use]
pub fn find_traces() -> Option<Vec<PathBuf>> {
    let mut files = files_below(&find_shared("traces")?);
    let only = only();
    files.retain(|path| path.to_string_lossy().contains(&only));
    Some(files)
}

fn only() -> String {
    std::env::var("TOOLMARK_TRUTH").unwrap_or_default()
}

/// Fails a test that compared fewer items than the corpus contains. With `TOOLMARK_TRUTH`, one is
/// enough.
#[track_caller]
pub fn assert_compared(count: usize, at_least: usize, what: &str) {
    let at_least = if only().is_empty() { at_least } else { 1 };
    assert!(count >= at_least, "only {count} {what} compared, at least {at_least} expected");
}

/// Returns all files below a directory, sorted.
#[must_use]
pub fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let list = if path.is_dir() { &mut directories } else { &mut files };
            list.push(path);
        }
    }
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_data_is_an_error_or_a_failure() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().join("project");
        std::fs::create_dir_all(root.join("../shared/a/b")).unwrap();
        std::fs::write(root.join("../shared/a/b/c"), "").unwrap();
        std::fs::create_dir_all(&root).unwrap();
        let found = find(&root, "a", true).unwrap();
        assert_eq!(files_below(&found), [found.join("b/c")]);
        assert_eq!(find(&root, "x", false).unwrap_err(), "../shared/x does not exist");
        assert!(std::panic::catch_unwind(|| find(&root, "x", true)).is_err());
    }
}
