//! How a command ends: the exit codes, which scripts may rely on, and the one
//! error type that leads to them.

use std::fmt;
use std::process::ExitCode;
use toolmark_outcome::Verdict;

/// The exit codes of `toolmark`. They are part of its public interface.
///
/// Code 1 is for a verdict alone, so that a script can tell "the agent did
/// badly" from "toolmark could not do its work".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Exit {
    /// 0: everything was read, everything passed.
    Ok = 0,
    /// 1: a verdict is fail, or there is a finding.
    Failed = 1,
    /// 2: the command line or a spec makes no sense, or there was nothing to grade.
    Usage = 2,
    /// 3: something could not be read, or a verdict is unknown.
    Unread = 3,
}

/// The codes as the help prints them.
pub(crate) const HELP: &str = "\
Exit codes:
  0  everything was read, everything passed
  1  a verdict is fail, or there is a finding
  2  the command line or a spec makes no sense, or there was nothing to grade
  3  something could not be read, or a verdict is unknown";

impl Exit {
    /// What a verdict leads to; what passed and was not read as a whole is no pass.
    pub(crate) fn of(verdict: Verdict, unread: bool) -> Self {
        match verdict {
            Verdict::Fail => Self::Failed,
            Verdict::Unknown(_) => Self::Unread,
            Verdict::Pass if unread => Self::Unread,
            Verdict::Pass => Self::Ok,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command could not go on.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What happened, as a lower-case fragment.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
    /// The exit code it leads to.
    pub(crate) exit: Exit,
}

impl Failure {
    /// The command line makes no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, exit: Exit::Usage }
    }

    /// Something could not be read.
    pub(crate) fn unread(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, exit: Exit::Unread }
    }

    /// With what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
