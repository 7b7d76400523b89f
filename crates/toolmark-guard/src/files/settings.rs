//! The settings files of Claude Code whose permission rules a policy imports.

use super::home;
use crate::permissions::{PermissionRules, PermissionSettings};
use crate::policy::Whose;
use std::path::{Path, PathBuf};
use toolmark_base::{ReadFileError, read_file};
use toolmark_hosts::Paths;

/// Maximum size of a settings file, in bytes.
const LARGEST: u64 = 4 << 20;

/// Returns the settings files that apply to a directory, whether they exist or not: the user's
/// first, then the project's.
#[must_use]
pub fn all(cwd: Option<&Path>) -> Vec<PathBuf> {
    let Some(paths) = paths() else { return Vec::new() };
    let user = paths.directory(home().as_deref().map(Path::new), |name| std::env::var_os(name));
    let user = user.map(|directory| directory.join(paths.user_hooks));
    let names = ["settings.json", "settings.local.json"];
    let names = names.map(|name| Path::new(paths.directory).join(name));
    let project = cwd.into_iter().flat_map(|cwd| names.each_ref().map(|name| cwd.join(name)));
    user.into_iter().chain(project).collect()
}

/// Returns the paths of Claude Code's files.
fn paths() -> Option<&'static Paths> {
    toolmark_hosts::by_id("claude-code")?.paths
}

/// Returns the base of the paths in a settings file.
#[must_use]
pub fn located(path: &Path) -> PermissionSettings {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let home = home();
    let directory = absolute.parent();
    let own = paths().map_or("", |paths| paths.directory);
    let users = home.as_ref().is_some_and(|home| directory == Some(&Path::new(home).join(own)));
    // The user's rules start from the directory of the settings, those of a
    // project from the project.
    let root = match directory {
        Some(directory) if !users && directory.ends_with(own) => directory.parent(),
        directory => directory,
    };
    let root = root.map(|root| root.to_string_lossy().into_owned());
    PermissionSettings { file: path.display().to_string(), root, home, tightens_only: false }
}

/// Returns the rules that apply to a session: for the user's policy all of them, but only the
/// stricter ones of those that came with the project; for a project's policy its own.
pub(super) fn of_session(whose: Whose, cwd: Option<&str>) -> (PermissionRules, Vec<String>) {
    let mut permissions = PermissionRules::default();
    let mut faults = Vec::new();
    let files = all(cwd.map(Path::new));
    let own = usize::from(whose == Whose::Project);
    for (at, path) in files.iter().enumerate().skip(own) {
        match read(path) {
            Ok(None) => {}
            Ok(Some(text)) => {
                let tightens_only = whose == Whose::User && at > 0;
                let settings = PermissionSettings { tightens_only, ..located(path) };
                if let Err(why) = permissions.add(&text, &settings) {
                    faults.push(format!("failed to read {}: {why}", path.display()));
                }
            }
            Err(error) => faults.push(error.to_string()),
        }
    }
    (permissions, faults)
}

/// Returns the text of a settings file; `None` if it does not exist.
///
/// # Errors
///
/// It is not a regular file, is empty, too large, not UTF-8, or cannot be read.
pub fn read(path: &Path) -> Result<Option<String>, ReadFileError> {
    let read = read_file::check_regular(path).and_then(|()| read_file::read_text(path, LARGEST));
    match read {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.is_missing() => Ok(None),
        Err(error) => Err(error),
    }
}
