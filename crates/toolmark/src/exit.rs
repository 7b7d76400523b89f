//! Exit codes, which scripts may rely on.

use std::process::ExitCode;
pub(crate) use toolmark_app::Failure;
use toolmark_app::FailureKind;
use toolmark_outcome::Verdict;

/// The exit codes of `toolmark`. They are part of its public interface.
///
/// Code 1 is used for a verdict only, so that a script can distinguish a failed agent from a
/// failure of toolmark itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Everything was read, and everything passed.
    Ok = 0,
    /// A verdict is fail, or there is a finding.
    Failed = 1,
    /// The command line or a spec is invalid, or there was nothing to grade.
    Usage = 2,
    /// Something could not be read, or a verdict is unknown.
    Unread = 3,
}

impl Exit {
    /// Every code, in ascending order.
    const ALL: [Self; 4] = [Self::Ok, Self::Failed, Self::Usage, Self::Unread];

    /// Description for the help.
    fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "everything was read, everything passed",
            Self::Failed => "a verdict is fail, or there is a finding",
            Self::Usage => "the command line or a spec is invalid, or there was nothing to grade",
            Self::Unread => "something could not be read, or a verdict is unknown",
        }
    }

    /// Formats the codes for the help.
    pub(crate) fn help() -> String {
        let codes = Self::ALL.map(|exit| format!("\n  {}  {}", exit as u8, exit.meaning()));
        format!("Exit codes:{}", codes.concat())
    }

    /// Returns the code of a verdict. A pass does not count if a part of the input was not read.
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

impl From<FailureKind> for Exit {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Usage => Self::Usage,
            FailureKind::Unread => Self::Unread,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_code() {
        let page = include_str!("../../../docs/exit-codes.md");
        for exit in Exit::ALL {
            assert!(page.contains(&format!("\n| {} | {}", exit as u8, exit.meaning())), "{exit:?}");
        }
    }
}
