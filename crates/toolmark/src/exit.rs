//! How a command ends: the exit codes, which scripts may rely on, and the one
//! error type that leads to them.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use toolmark_config::{FAILED_TO_READ, Problem};
use toolmark_outcome::Verdict;

/// The exit codes of `toolmark`. They are part of its public interface.
///
/// Code 1 is for a verdict alone, so that a script can tell "the agent did
/// badly" from "toolmark could not do its work".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Everything was read, everything passed.
    Ok = 0,
    /// A verdict is fail, or there is a finding.
    Failed = 1,
    /// The command line or a spec is invalid, or there was nothing to grade.
    Usage = 2,
    /// Something could not be read, or a verdict is unknown.
    Unread = 3,
}

impl Exit {
    /// Every code, in their order.
    const ALL: [Self; 4] = [Self::Ok, Self::Failed, Self::Usage, Self::Unread];

    /// What it means.
    fn meaning(self) -> &'static str {
        match self {
            Self::Ok => "everything was read, everything passed",
            Self::Failed => "a verdict is fail, or there is a finding",
            Self::Usage => "the command line or a spec is invalid, or there was nothing to grade",
            Self::Unread => "something could not be read, or a verdict is unknown",
        }
    }

    /// The codes as the help prints them.
    pub(crate) fn help() -> String {
        let codes = Self::ALL.map(|exit| format!("\n  {}  {}", exit as u8, exit.meaning()));
        format!("Exit codes:{}", codes.concat())
    }

    /// What a verdict leads to. A pass over what was not read as a whole is none.
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
    /// What led to it, the nearest first.
    pub(crate) causes: Vec<String>,
    /// What to do about it.
    pub(crate) hints: Vec<String>,
    /// The exit code it leads to.
    pub(crate) exit: Exit,
}

impl Failure {
    fn new(message: impl Into<String>, exit: Exit) -> Self {
        Self { message: message.into(), causes: Vec::new(), hints: Vec::new(), exit }
    }

    /// The command line, or a file it names, is invalid.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(message, Exit::Usage)
    }

    /// Something could not be read.
    pub(crate) fn unread(message: impl Into<String>) -> Self {
        Self::new(message, Exit::Unread)
    }

    /// A file could not be written.
    pub(crate) fn write(path: &Path, error: &dyn Error) -> Self {
        Self::usage(format!("failed to write {}", path.display())).because(error)
    }

    /// With the error that led to it, and what led to that.
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

    /// With words for what led to it.
    pub(crate) fn causes(mut self, causes: impl IntoIterator<Item = String>) -> Self {
        self.causes.extend(causes);
        self
    }

    /// A file that the command line names cannot be read at all.
    pub(crate) fn of_file(path: &Path, problem: &Problem) -> Self {
        Self::usage(format!("failed to read {}", path.display())).problem(problem)
    }

    /// With what is wrong with a file as a whole.
    pub(crate) fn problem(self, problem: &Problem) -> Self {
        // The file is named already.
        let words = problem.message.strip_prefix(FAILED_TO_READ).unwrap_or(&problem.message);
        self.causes([words.to_owned()]).hints(problem.help.clone())
    }

    /// With something to do about it.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        self.hints([hint.into()])
    }

    /// With things to do about it.
    pub(crate) fn hints(mut self, hints: impl IntoIterator<Item = String>) -> Self {
        self.hints.extend(hints);
        self
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
