//! Files outside of a workspace that changed, where a copy does not keep an agent inside.

use crate::workspace::AttemptDirectories;
use std::path::Path;
use std::time::{Instant, SystemTime};
use toolmark_hosts::toolset::{ToolClass, Toolsets};
use toolmark_session::session::Session;
use toolmark_trace::{Status, Trajectory};

/// Maximum number of files that a note names.
const MAX_NAMED: usize = 3;

/// Directories of devices and processes, whose files change by themselves.
const EXPECTED: &[&str] = &["/dev", "/proc", "/sys"];

/// Returns a note about files outside of the directories of an attempt that its calls write or
/// name in commands, and that changed since it started.
pub(crate) fn note(
    run: Option<&Trajectory>,
    places: &AttemptDirectories,
    started: Instant,
) -> Option<String> {
    let since = SystemTime::now().checked_sub(started.elapsed())?;
    let inside = [places.root.clone(), std::fs::canonicalize(&places.root).ok()?];
    let toolsets = Toolsets::default();
    let mut found: Vec<String> = Vec::new();
    for run in run?.flatten() {
        let session = Session::new(run, &toolsets);
        for call in session.calls().iter().filter(|call| call.call.status != Status::Denied) {
            let written =
                call.path.clone().filter(|_| ToolClass::of(call.role) == Some(ToolClass::Edit));
            let command = call.command().unwrap_or_default();
            let words = command.split(|c: char| c.is_whitespace() || "'\"<>;&|()=".contains(c));
            let named = words.filter(|word| word.starts_with('/')).map(str::to_owned);
            for path in written.into_iter().chain(named) {
                let is_outside = Path::new(&path).is_absolute()
                    && !inside.iter().any(|root| Path::new(&path).starts_with(root))
                    && !EXPECTED.iter().any(|root| Path::new(&path).starts_with(root));
                if is_outside && !found.contains(&path) && is_newer(Path::new(&path), since) {
                    found.push(path);
                }
            }
        }
    }
    let first = found.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = match found.len() {
        0 => return None,
        n if n > MAX_NAMED => format!(" and {} more", n - MAX_NAMED),
        _ => String::new(),
    };
    let words =
        "files outside of its workspace changed while it ran, which `copy` does not prevent";
    Some(format!("{words}: {first}{more}"))
}

/// Whether a file was changed since a time.
fn is_newer(path: &Path, since: SystemTime) -> bool {
    let modified = std::fs::symlink_metadata(path).and_then(|about| about.modified());
    modified.is_ok_and(|modified| modified >= since)
}
