//! The audit log: one line of JSON for every decision.
//!
//! Many hooks write at once and any of them may be killed: a record is one `write` to a file opened
//! for appending, so that lines stay whole despite other writers. Secrets are masked and long texts
//! are cut before anything is written. Logging never changes a decision: a failure is returned for
//! the caller to mention.

mod chain;
mod file;
mod json;
mod past;
mod record;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

pub use chain::{Verified, files, verify};
pub use past::past;
pub(crate) use past::{history, tail};
pub use record::AuditRecord;
use toolmark_hosts::own::AUDIT_LOG;

/// Environment variable with the path of the log; `off` disables it.
pub const VARIABLE: &str = "TOOLMARK_GUARD_LOG";

/// Limits on the size of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditLimits {
    /// Size in bytes from which the log is rotated.
    pub size: u64,
    /// Maximum number of rotated logs kept: `guard.jsonl.1`, the newest, …
    pub kept: u32,
}

impl Default for AuditLimits {
    fn default() -> Self {
        Self { size: 10 << 20, kept: 3 }
    }
}

/// Appends a record to the log, which is created if it does not exist.
///
/// # Errors
///
/// The record could not be written completely; the next one begins on a line of its own. A log that
/// is a symbolic link is refused.
pub fn append(path: &Path, limits: AuditLimits, record: &AuditRecord<'_>) -> io::Result<()> {
    append_line(path, limits, &record.line())
}

/// Appends the line of a [`AuditRecord`] to the log.
///
/// # Errors
///
/// As [`append`].
pub fn append_line(path: &Path, limits: AuditLimits, line: &[u8]) -> io::Result<()> {
    file::append(path, limits, line)
}

/// Returns the path of the log from the environment variables: `None` if logging is disabled.
///
/// # Errors
///
/// No variable contains the home directory.
pub fn place(variable: impl Fn(&str) -> Option<OsString>) -> io::Result<Option<PathBuf>> {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    if let Some(path) = set(VARIABLE) {
        return Ok((path != "off").then(|| path.into()));
    }
    let state = set("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || set("HOME").map(|home| Path::new(&home).join(".local/state"));
    match state.or_else(home) {
        Some(state) => Ok(Some(state.join(AUDIT_LOG))),
        None => Err(io::Error::other("neither XDG_STATE_HOME nor HOME is set")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_log_is() {
        let log = |path: &str| Some(PathBuf::from(path));
        for (variables, want) in [
            (&[("TOOLMARK_GUARD_LOG", "off"), ("HOME", "/h")][..], None),
            (&[("TOOLMARK_GUARD_LOG", "/l/x"), ("HOME", "/h")], log("/l/x")),
            (&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")], log("/s/toolmark/guard.jsonl")),
            (
                &[("TOOLMARK_GUARD_LOG", ""), ("XDG_STATE_HOME", "rel"), ("HOME", "/h")],
                log("/h/.local/state/toolmark/guard.jsonl"),
            ),
        ] {
            let variable = |name: &str| {
                let set = variables.iter().find(|(key, _)| *key == name);
                set.map(|(_, value)| OsString::from(value))
            };
            assert_eq!(place(variable).unwrap(), want, "{variables:?}");
        }
        assert!(place(|_| None).is_err());
    }
}
