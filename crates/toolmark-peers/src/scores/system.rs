//! Description of a system: the table of its modes, and their inputs and answers.

use super::calls::{ActualCall, ScoredCall};
use serde_json::{Map, Value};
use toolmark_base::SortedMap;
use toolmark_match::engine::TooLarge;
use toolmark_outcome::{Cause, Profile};

/// A system that compares a trajectory with a reference.
pub(crate) struct System {
    /// Profile that selects the system.
    pub(crate) profile: Profile,
    /// Version whose answers are reproduced.
    pub(crate) version: &'static str,
    /// Default minimum score.
    pub(crate) threshold: f64,
    /// Supported configuration keys, besides `mode`, `reference` and `threshold`.
    pub(crate) options: &'static [&'static str],
    /// Supported modes; the first is the default.
    pub(crate) modes: &'static [ComparisonMode],
}

/// A comparison mode.
pub(crate) struct ComparisonMode {
    /// Name of the mode in the system.
    pub(crate) word: &'static str,
    /// Other names of the mode.
    pub(crate) aliases: &'static [&'static str],
    /// Equivalent mode of toolmark.
    pub(crate) own: Option<&'static str>,
    /// Computes the answer.
    pub(crate) score: fn(&ModeInput<'_>) -> Answered,
}

impl System {
    /// Returns the mode with this name.
    pub(crate) fn mode(&self, word: &str) -> Option<&'static ComparisonMode> {
        self.modes.iter().find(|mode| mode.word == word || mode.aliases.contains(&word))
    }
}

/// Input of a mode.
pub(crate) struct ModeInput<'a> {
    /// Configuration of the grader.
    pub(crate) options: &'a SystemOptions,
    /// The calls that are expected.
    pub(crate) expected: &'a [ScoredCall],
    /// The calls that were made.
    pub(crate) made: &'a [ActualCall<'a>],
    /// Number of user turns.
    pub(crate) turns: usize,
    /// Whether the trace records arguments.
    pub(crate) has_arguments: bool,
    /// Row from which the trajectory was read, for systems that inspect rows.
    pub(crate) row: Option<&'a Map<String, Value>>,
}

/// Comparison mode for arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgsMatch {
    /// The arguments are the same.
    Exact,
    /// Arguments are ignored.
    Ignore,
    /// The call has all expected arguments.
    Superset,
    /// All arguments of the call are expected.
    Subset,
}

/// Comparison mode for the arguments of one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Override {
    /// All arguments, in this mode.
    Mode(ArgsMatch),
    /// Only the values at these dotted paths.
    Paths(Vec<String>),
}

/// Configuration keys that any system uses.
#[derive(Debug, Clone)]
pub(crate) struct SystemOptions {
    pub(crate) threshold: Option<f64>,
    pub(crate) args_match: ArgsMatch,
    pub(crate) overrides: SortedMap<String, Override>,
    pub(crate) invocations: bool,
    pub(crate) compare_args: bool,
    pub(crate) compare_output: bool,
    pub(crate) strict: bool,
    pub(crate) params: Option<Map<String, Value>>,
    pub(crate) allow_extra: bool,
    pub(crate) include_failed: bool,
    pub(crate) allow_repeated: bool,
    pub(crate) functions: Vec<Value>,
    pub(crate) underscore_to_dot: bool,
}

/// Answer of a mode.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModeAnswer {
    /// Score of the run.
    pub(crate) score: f64,
    /// Whether the run passes, if the system decides without a threshold.
    pub(crate) passed: Option<bool>,
    /// Additional results of the system.
    pub(crate) metrics: Vec<(&'static str, Value)>,
    /// Call assigned to each expected call, if calls are paired.
    pub(crate) pairs: Option<Vec<Option<usize>>>,
}

impl ModeAnswer {
    /// Creates an answer with a score.
    pub(crate) fn of(score: f64) -> Self {
        Self { score, passed: None, metrics: Vec::new(), pairs: None }
    }

    /// Creates an answer with a score of 1 or 0.
    pub(crate) fn binary(holds: bool) -> Self {
        Self { passed: Some(holds), ..Self::of(f64::from(u8::from(holds))) }
    }

    /// Adds an additional result of the system.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.metrics.push((name, value.into()));
        self
    }

    /// Adds the paired calls.
    pub(crate) fn paired(mut self, pairs: Vec<Option<usize>>) -> Self {
        self.pairs = Some(pairs);
        self
    }
}

/// Reason for a missing answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NoAnswer {
    /// The system raises an error.
    Raised(String),
    /// The result is unknown.
    Unknown(Cause, String),
}

impl NoAnswer {
    /// Creates an error raised by the system.
    pub(crate) fn raised(what: impl Into<String>) -> Self {
        Self::Raised(what.into())
    }
}

impl From<TooLarge> for NoAnswer {
    fn from(_: TooLarge) -> Self {
        Self::Unknown(Cause::Limit, "there are too many calls to compare".to_owned())
    }
}

/// An answer, or the reason why there is none.
pub(crate) type Answered = Result<ModeAnswer, NoAnswer>;
