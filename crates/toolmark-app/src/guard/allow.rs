//! Commands that the user allows by hand: the one stopped last, the list, and taking them back.

use super::last::stopped;
use crate::Failure;
use std::path::Path;
use toolmark_guard::allowed;

/// Returns the command that was stopped last in a project.
///
/// # Errors
///
/// There is none, or the log does not have all of it.
pub fn last_stopped(root: &Path) -> Result<String, Failure> {
    let opened = super::here();
    let log = opened.guard.policy().log().place().ok().flatten();
    let Some(found) = log.and_then(|log| stopped(&opened.guard, &log, root)) else {
        let words = format!("no command was stopped in {}", root.display());
        return Err(Failure::usage(words).hint("run it in the project of the session"));
    };
    if !found.is_whole {
        let words = "the log does not have all of the last command: it is long, or has a secret";
        return Err(Failure::usage(words).hint("write it out: `guard allow --once COMMAND`"));
    }
    Ok(found.command)
}

/// Returns the allowed commands as numbered lines.
#[must_use]
pub fn listed(path: &Path) -> Vec<String> {
    let all = allowed::list(path);
    let lines = all.iter().enumerate().map(|(at, allowed)| {
        let how = if allowed.once { "once" } else { "always" };
        let command = allowed.command.replace('\n', " ⏎ ");
        format!("{:3}  {how:6}  {command}  in {}", at + 1, allowed.directory)
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() { vec!["no command is allowed by hand".to_owned()] } else { lines }
}

/// Takes permissions back; returns a line for each.
///
/// # Errors
///
/// The file cannot be written.
pub fn revoked(path: &Path, which: &str) -> Result<Vec<String>, Failure> {
    let removed = allowed::revoke(path, which).map_err(|error| {
        Failure::unread(format!("failed to write {}", path.display())).because(&error)
    })?;
    Ok(removed.iter().map(|allowed| format!("no longer allowed: {}", allowed.command)).collect())
}
