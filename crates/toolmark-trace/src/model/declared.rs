//! The outcome that the record of a run declares.

use super::{At, Text, Trajectory};
use toolmark_base::word_enum;

word_enum! {
    /// The outcome that the source of a run declares.
    pub enum DeclaredOutcome {
        /// It succeeded: full reward, a success flag.
        Passed = "passed",
        /// It failed: no reward, an error, a limit that was reached.
        Failed = "failed",
    }
}

/// A statement of the source about how the run as a whole went.
#[derive(Debug, Clone)]
pub struct RunDeclaration {
    /// Whether it succeeded.
    pub outcome: DeclaredOutcome,
    /// The statement, short: `reward 0.0`, `success false`, `max_turns`.
    pub says: Text,
    /// Source position of the statement.
    pub at: At,
}

impl Trajectory {
    /// Adds a statement about the run. The first statement that it failed is the one
    /// that is kept.
    pub(crate) fn declare(&mut self, declared: RunDeclaration) {
        let known = self.declared.as_ref().map(|known| known.outcome);
        let is_worse =
            known != Some(DeclaredOutcome::Failed) && known.is_none_or(|k| declared.outcome > k);
        if is_worse {
            self.declared = Some(declared);
        }
    }

    /// Returns the outcome that the source declares. A reward, a score or a flag decides; without
    /// one, an end reason that names an error or a limit is a failure.
    #[must_use]
    pub fn declared_outcome(&self) -> Option<RunDeclaration> {
        if self.declared.is_some() {
            return self.declared.clone();
        }
        let word = self.outcome.as_ref().filter(|word| names_failure(&word.get()))?;
        let at = match self.events.last() {
            // A word that is not of the file has no place of its own.
            Some(last) if word.at().location().line == 0 => last.at.clone(),
            _ => word.at(),
        };
        Some(RunDeclaration { outcome: DeclaredOutcome::Failed, says: word.clone(), at })
    }
}

/// End reasons that name a failure, in lower case without anything but letters.
const FAILED: [&str; 41] = [
    "aborteddueerror",
    "contentfilter",
    "contentfiltered",
    "crash",
    "crashed",
    "error",
    "errored",
    "exitapi",
    "exitcommandtimeout",
    "exitcontext",
    "exitcost",
    "exitenvironmenterror",
    "exiterror",
    "exitforfeit",
    "exitformat",
    "exittotalexecutiontime",
    "fail",
    "failed",
    "failing",
    "incomplete",
    "infinitelooping",
    "length",
    "maxerrors",
    "maxiterations",
    "maxiterationsreached",
    "maxmessages",
    "maxsteps",
    "maxstepsreached",
    "maxtokens",
    "maxturns",
    "maxturnsreached",
    "modelcontextwindowexceeded",
    "modellength",
    "outofmemory",
    "retriesexhausted",
    "timedout",
    "timeout",
    "timeoutexpired",
    "toomanyerrors",
    "unsuccessful",
    "stuck",
];

/// Returns whether an end reason names a failure. An end that the user or the host chose
/// (cancelled, interrupted, logged out) is not a failure.
fn names_failure(reason: &str) -> bool {
    const MAX_BYTES: usize = 200;
    let letters: String = reason
        .bytes()
        .take(MAX_BYTES)
        .filter(u8::is_ascii_alphabetic)
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect();
    let starts = ["errormax", "errorduring", "maximumnumberof", "tokenusagelimit"];
    let ends = ["error", "failure", "failed", "exceeded", "timeout", "exception", "limit"];
    // A patch that was handed in at a limit is still graded.
    if letters.starts_with("submitted") || letters.starts_with("no") && letters.ends_with("error") {
        return false;
    }
    // One word, or a few of a name; a sentence may end with anything.
    let is_name = reason.split_whitespace().count() <= 3;
    FAILED.contains(&letters.as_str())
        || starts.iter().any(|start| letters.starts_with(start))
        || is_name && ends.iter().any(|end| letters.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::names_failure;

    #[test]
    fn end_reasons_that_name_a_failure() {
        for reason in [
            "error",
            "Failed",
            "timeout",
            "timed_out",
            "max_turns",
            "error_max_turns",
            "error_during_execution",
            "message limit",
            "LimitsExceeded",
            "RetryError",
            "exit_cost",
            "too_many_errors",
            "execution_error",
            "quality_failure",
            "max_tokens",
            "Maximum number of messages 10 reached, current message count: 10",
        ] {
            assert!(names_failure(reason), "{reason}");
        }
        for reason in [
            "success",
            "completed",
            "end_turn",
            "stop",
            "user_stop",
            "agent_stop",
            "interrupted",
            "cancelled",
            "routine",
            "clear",
            "exit",
            "logout",
            "submitted",
            "Submitted",
            "submitted (exit_cost)",
            "tool_use",
            "no_error",
            "",
            "the user asked to stop after the last error",
        ] {
            assert!(!names_failure(reason), "{reason}");
        }
    }
}
