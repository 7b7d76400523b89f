//! Known gaps of a trace, or of the run it records.

use super::Text;
use std::fmt;

/// Known gaps of a trace, or of the run it records. Readers and runners fill them in;
/// [`Trajectory::gap`](super::Trajectory::gap) is the question to ask.
#[derive(Debug, Clone, Default)]
pub struct Completeness {
    /// Whether the trace stops before its end: its last record could not be read.
    pub truncated: bool,
    /// Records of this run, or parts of them, that could not be read.
    pub skipped_records: u64,
    /// The error that the run ended with, as its source states it.
    pub declared_error: Option<Text>,
}

/// Reason why something that a trace does not show may nevertheless have happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gap {
    /// The last record of the trace could not be read.
    Truncated,
    /// Records of the trace could not be read.
    Skipped(u64),
    /// The run ended with this error, before it was done.
    DeclaredError(String),
    /// The model has not answered once.
    NoResponse,
}

impl Gap {
    /// Whether a part of the trace was lost. Otherwise the trace is complete, but the
    /// run is not.
    #[must_use]
    pub fn loses_records(&self) -> bool {
        matches!(self, Self::Truncated | Self::Skipped(_))
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the trace is cut off: its last record cannot be read"),
            Self::Skipped(1) => f.write_str("1 record of the trace cannot be read"),
            Self::Skipped(records) => write!(f, "{records} records of the trace cannot be read"),
            Self::DeclaredError(error) => write!(f, "the run ended with an error: {error}"),
            Self::NoResponse => f.write_str("the trace has no response of the model"),
        }
    }
}

/// Whether the word with which a source says how a run ended means an error:
/// `error_max_turns`, `agent_timeout`, `cancelled`.
pub(super) fn is_error(word: &str) -> bool {
    const ERRORS: [&str; 14] = [
        "error",
        "errors",
        "errored",
        "exception",
        "crash",
        "crashed",
        "timeout",
        "timedout",
        "aborted",
        "cancelled",
        "canceled",
        "interrupted",
        "killed",
        "terminated",
    ];
    let word = word.to_ascii_lowercase().replace("timed_out", "timeout");
    word.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| ERRORS.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::is_error;

    #[test]
    fn words_for_an_end_with_an_error() {
        for (word, expected) in [
            ("success", false),
            ("completed", false),
            ("quality_failure", false),
            ("end_turn", false),
            ("execution_error", true),
            ("error_max_turns", true),
            ("agent_timeout", true),
            ("TIMED_OUT", true),
            ("Cancelled", true),
            ("terror", false),
        ] {
            assert_eq!(is_error(word), expected, "{word}");
        }
    }
}
