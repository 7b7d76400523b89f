//! Files that are watched for changes.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Time between two looks at the files.
const INTERVAL: Duration = Duration::from_millis(300);

/// Maximum number of files that are watched.
const MAX_FILES: usize = 20_000;

/// Directories that are not watched: those of toolmark itself, of version control and of builds.
const LEFT_OUT: &[&str] = &[".toolmark", ".git", "node_modules", "target"];

/// Runs this program with these arguments, at once and after every change of these files or
/// directories, and reports the number of files each time. Ends only when it is stopped.
///
/// # Errors
///
/// If the program cannot be started, or the report fails.
pub fn watch(
    paths: &[PathBuf],
    arguments: &[OsString],
    mut report: impl FnMut(usize) -> io::Result<()>,
) -> io::Result<()> {
    let program = std::env::current_exe()?;
    loop {
        let seen = state(paths);
        Command::new(&program).args(arguments).status()?;
        report(seen.len())?;
        while state(paths) == seen {
            std::thread::sleep(INTERVAL);
        }
    }
}

/// The files below the paths, with their sizes and times.
fn state(paths: &[PathBuf]) -> Vec<(PathBuf, u64, Option<SystemTime>)> {
    let is_left_out = |path: &Path| {
        path.file_name().is_some_and(|name| LEFT_OUT.iter().any(|left| name == *left))
    };
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> = paths.to_vec();
    while let Some(path) = waiting.pop() {
        let Ok(about) = std::fs::metadata(&path) else { continue };
        if about.is_dir() && !is_left_out(&path) {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            waiting.extend(entries.map(|entry| entry.path()));
        } else if about.is_file() && found.len() < MAX_FILES {
            found.push((path, about.len(), about.modified().ok()));
        }
    }
    found.sort();
    found
}
