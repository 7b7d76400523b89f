//! How a system answers: the table of its modes, and what each is asked and answers.

use super::calls::{Expected, Made};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use toolmark_match::engine::TooLarge;
use toolmark_outcome::{Cause, Profile};

/// A system that compares a trajectory with a reference.
pub(crate) struct System {
    /// The profile that names it.
    pub(crate) profile: Profile,
    /// The version whose answers are given.
    pub(crate) version: &'static str,
    /// The score that passes, unless the configuration says otherwise.
    pub(crate) threshold: f64,
    /// The keys of the configuration it looks at, besides `mode`, `reference` and `threshold`.
    pub(crate) options: &'static [&'static str],
    /// Its modes; the first is the default.
    pub(crate) modes: &'static [Mode],
}

/// One way to compare.
pub(crate) struct Mode {
    /// The system's own word for it.
    pub(crate) word: &'static str,
    /// Other words for it.
    pub(crate) aliases: &'static [&'static str],
    /// The mode of toolmark that asks the same question.
    pub(crate) own: Option<&'static str>,
    /// The answer.
    pub(crate) score: fn(&Asked<'_>) -> Answered,
}

impl System {
    /// The mode with this word.
    pub(crate) fn mode(&self, word: &str) -> Option<&'static Mode> {
        self.modes.iter().find(|mode| mode.word == word || mode.aliases.contains(&word))
    }
}

/// What a mode is asked.
pub(crate) struct Asked<'a> {
    /// The configuration.
    pub(crate) options: &'a Options,
    /// The calls that are expected.
    pub(crate) expected: &'a [Expected],
    /// The calls that were made.
    pub(crate) made: &'a [Made<'a>],
    /// How many turns of the user there were.
    pub(crate) turns: usize,
    /// Does the trace record arguments?
    pub(crate) has_arguments: bool,
    /// The row the trajectory was read from, for systems that look at rows.
    pub(crate) row: Option<&'a Map<String, Value>>,
}

/// How arguments are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgsMatch {
    /// They are the same.
    Exact,
    /// They do not matter.
    Ignore,
    /// The call has all that are expected.
    Superset,
    /// All that the call has are expected.
    Subset,
}

/// How the arguments of one tool are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Override {
    /// As a whole.
    Mode(ArgsMatch),
    /// At these dotted paths.
    Paths(Vec<String>),
}

/// The configuration, as far as any system looks at it.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) threshold: Option<f64>,
    pub(crate) args_match: ArgsMatch,
    pub(crate) overrides: BTreeMap<String, Override>,
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

/// What a mode answers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// The score.
    pub(crate) score: f64,
    /// Does it pass, where the system says so without a threshold?
    pub(crate) passed: Option<bool>,
    /// What the system says besides.
    pub(crate) metrics: Vec<(&'static str, Value)>,
    /// For every expected call the one that was made for it, where calls are paired.
    pub(crate) pairs: Option<Vec<Option<usize>>>,
}

impl Answer {
    /// A score.
    pub(crate) fn of(score: f64) -> Self {
        Self { score, passed: None, metrics: Vec::new(), pairs: None }
    }

    /// Yes or no.
    pub(crate) fn binary(holds: bool) -> Self {
        Self { passed: Some(holds), ..Self::of(f64::from(u8::from(holds))) }
    }

    /// With what the system says besides.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.metrics.push((name, value.into()));
        self
    }

    /// With the calls that were paired.
    pub(crate) fn paired(mut self, pairs: Vec<Option<usize>>) -> Self {
        self.pairs = Some(pairs);
        self
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stop {
    /// The system raises an error.
    Raised(String),
    /// It cannot be told.
    Unknown(Cause, String),
}

impl Stop {
    /// The system raises this error.
    pub(crate) fn raised(what: impl Into<String>) -> Self {
        Self::Raised(what.into())
    }
}

impl From<TooLarge> for Stop {
    fn from(_: TooLarge) -> Self {
        Self::Unknown(Cause::Limit, "there are too many calls to compare".to_owned())
    }
}

/// An answer, or why there is none.
pub(crate) type Answered = Result<Answer, Stop>;
