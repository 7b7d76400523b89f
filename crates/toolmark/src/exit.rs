//! Exit codes, which scripts may rely on, and the error type that leads to them.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use toolmark_base::ReadFileError;
use toolmark_config::Problem;
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

/// The reason why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Message, as a lower-case fragment.
    pub(crate) message: String,
    /// Causes, the nearest first.
    pub(crate) causes: Vec<String>,
    /// Hints for the user.
    pub(crate) hints: Vec<String>,
    /// Exit code.
    pub(crate) exit: Exit,
}

impl Failure {
    fn new(message: impl Into<String>, exit: Exit) -> Self {
        Self { message: message.into(), causes: Vec::new(), hints: Vec::new(), exit }
    }

    /// Failure for an invalid command line, or an invalid file that it names.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(message, Exit::Usage)
    }

    /// Failure for input that could not be read.
    pub(crate) fn unread(message: impl Into<String>) -> Self {
        Self::new(message, Exit::Unread)
    }

    /// Failure for a file that could not be written.
    pub(crate) fn write(path: &Path, error: &dyn Error) -> Self {
        Self::usage(format!("failed to write {}", path.display())).because(error)
    }

    /// Adds an error and its sources as causes.
    pub(crate) fn because(mut self, error: &dyn Error) -> Self {
        let mut next = Some(error);
        while let Some(error) = next {
            let words = error.to_string();
            // Some errors name their source themselves.
            if !self.causes.last().is_some_and(|last| last.contains(&words)) {
                self.causes.push(words);
            }
            next = error.source();
        }
        self
    }

    /// Adds causes as text.
    pub(crate) fn causes(mut self, causes: impl IntoIterator<Item = String>) -> Self {
        self.causes.extend(causes);
        self
    }

    /// Adds a problem that concerns a file as a whole.
    pub(crate) fn problem(self, problem: &Problem) -> Self {
        self.causes([problem.message.clone()]).hints(problem.help.clone())
    }

    /// Adds a hint.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        self.hints([hint.into()])
    }

    /// Adds hints.
    pub(crate) fn hints(mut self, hints: impl IntoIterator<Item = String>) -> Self {
        self.hints.extend(hints);
        self
    }
}

impl From<ReadFileError> for Failure {
    fn from(error: ReadFileError) -> Self {
        Self::unread(error.to_string()).hints(error.hint().map(str::to_owned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt;
    use std::io;

    #[derive(Debug)]
    struct Wrapped(&'static str, io::Error);

    impl fmt::Display for Wrapped {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Wrapped {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.1)
        }
    }

    #[test]
    fn every_cause_and_hint_is_kept_and_said_once() {
        let disk = || io::Error::other("disk full");
        let failure = Failure::usage("failed").because(&Wrapped("the cache is gone", disk()));
        assert_eq!(failure.causes, ["the cache is gone", "disk full"]);
        let failure = Failure::usage("failed").because(&Wrapped("no cache: disk full", disk()));
        assert_eq!(failure.causes, ["no cache: disk full"]);
        let failure = failure.hint("one").hints(None).hint("two");
        assert_eq!(failure.hints, ["one", "two"]);
    }

    #[test]
    fn the_page_has_every_code() {
        let page = include_str!("../../../docs/exit-codes.md");
        for exit in Exit::ALL {
            assert!(page.contains(&format!("\n| {} | {}", exit as u8, exit.meaning())), "{exit:?}");
        }
    }
}
