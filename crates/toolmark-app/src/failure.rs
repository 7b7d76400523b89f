//! The error type of all actions.

use std::error::Error;
use std::io;
use std::path::Path;
use toolmark_base::ReadFileError;
use toolmark_config::Problem;

/// Kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The options or a spec are invalid, or there was nothing to do.
    Usage,
    /// Something could not be read.
    Unread,
}

/// Reason why an action failed.
#[derive(Debug)]
pub struct Failure {
    /// Message, as a lower-case fragment.
    pub message: String,
    /// Causes, the nearest first.
    pub causes: Vec<String>,
    /// Hints for the user.
    pub hints: Vec<String>,
    /// Kind, which decides the exit code.
    pub kind: FailureKind,
}

impl Failure {
    fn new(message: impl Into<String>, kind: FailureKind) -> Self {
        Self { message: message.into(), causes: Vec::new(), hints: Vec::new(), kind }
    }

    /// Failure for an invalid command line, or an invalid file that it names.
    #[must_use]
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(message, FailureKind::Usage)
    }

    /// Failure for input that could not be read.
    #[must_use]
    pub fn unread(message: impl Into<String>) -> Self {
        Self::new(message, FailureKind::Unread)
    }

    /// Failure for a file that could not be written.
    #[must_use]
    pub fn write(path: &Path, error: &dyn Error) -> Self {
        Self::usage(format!("failed to write {}", path.display())).because(error)
    }

    /// Adds an error and its sources as causes.
    #[must_use]
    pub fn because(mut self, error: &dyn Error) -> Self {
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
    #[must_use]
    pub fn causes(mut self, causes: impl IntoIterator<Item = String>) -> Self {
        self.causes.extend(causes);
        self
    }

    /// Adds a problem that concerns a file as a whole.
    #[must_use]
    pub fn problem(self, problem: &Problem) -> Self {
        self.causes([problem.message.clone()]).hints(problem.help.clone())
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        self.hints([hint.into()])
    }

    /// Adds hints.
    #[must_use]
    pub fn hints(mut self, hints: impl IntoIterator<Item = String>) -> Self {
        self.hints.extend(hints);
        self
    }
}

impl From<ReadFileError> for Failure {
    fn from(error: ReadFileError) -> Self {
        Self::unread(error.to_string()).hints(error.hint().map(str::to_owned))
    }
}

/// Reason for an early end of an action.
#[derive(Debug)]
pub enum Stop {
    /// The action failed.
    Failure(Failure),
    /// The caller could not write the output.
    Output(io::Error),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<ReadFileError> for Stop {
    fn from(error: ReadFileError) -> Self {
        Self::Failure(error.into())
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt;

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
}
