//! One possible expectation, the grader that tests it alone, and its position in the spec.

use serde_json::{Value, json};
use std::fmt;

/// Kinds of expectations. Expectations of one kind hold on new runs about equally often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExpectationFamily {
    /// Tools that are always called.
    Tools,
    /// Arguments that are always the same.
    Arguments,
    /// Calls that come before others.
    Order,
    /// Tools that are never called.
    Never,
    /// Number of calls per tool.
    Counts,
    /// Calls, tokens, time and cost of the whole run.
    Budgets,
}

impl ExpectationFamily {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::Tools, Self::Arguments, Self::Order, Self::Never, Self::Counts, Self::Budgets];

    /// Returns the name of the kind as used in texts.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Arguments => "arguments",
            Self::Order => "order",
            Self::Never => "never",
            Self::Counts => "counts",
            Self::Budgets => "budgets",
        }
    }
}

impl fmt::Display for ExpectationFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Position of an expectation in the spec.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SpecPart {
    /// In the sequence that contains it, otherwise in `calls`.
    Call(Value),
    /// In `calls`, with its own bounds.
    Count {
        /// The entry.
        entry: Value,
        /// Tool that is counted.
        tool: String,
    },
    /// As `sequence`: layers of calls, by item index.
    Sequence(Vec<Vec<usize>>),
    /// As `none: true`.
    NoCalls,
    /// In `forbidden`.
    Forbidden(Value),
    /// In `never`.
    Never(Value),
    /// As a separate grader with this name.
    Budget(&'static str),
}

/// A possible expectation.
#[derive(Debug, Clone)]
pub(crate) struct MinedItem {
    pub(crate) family: ExpectationFamily,
    /// Subject of the expectation, independent of its numbers: the same in every part of the runs.
    pub(crate) slot: String,
    pub(crate) part: SpecPart,
    /// Grader that tests the expectation alone, with its configuration.
    pub(crate) grader: &'static str,
    pub(crate) config: Value,
    /// Tools a run must call for the expectation to be meaningful.
    pub(crate) tools: Vec<String>,
    /// Minimum number of supporting runs; with fewer, the expectation stays a comment.
    pub(crate) least: usize,
    /// Number of runs in which the expectation is meaningful, if not all.
    pub(crate) relevant: Option<usize>,
    /// Whether the expectation stays a comment regardless of its support.
    pub(crate) is_doubtful: bool,
    /// Additional remark.
    pub(crate) remark: Option<String>,
}

impl MinedItem {
    /// Creates an entry of an expectation.
    pub(crate) fn expect(family: ExpectationFamily, slot: String, part: SpecPart) -> Self {
        let config = match &part {
            SpecPart::Call(entry) | SpecPart::Count { entry, .. } => json!({ "calls": [entry] }),
            SpecPart::Forbidden(entry) => json!({ "forbidden": [entry] }),
            SpecPart::Never(entry) => json!({ "never": [entry] }),
            SpecPart::NoCalls => json!({ "none": true }),
            // Sequences and budgets bring their own.
            SpecPart::Sequence(_) | SpecPart::Budget(_) => Value::Null,
        };
        Self {
            family,
            slot,
            part,
            grader: "expect",
            config,
            tools: Vec::new(),
            least: 1,
            relevant: None,
            is_doubtful: false,
            remark: None,
        }
    }

    pub(crate) fn at_least(mut self, runs: usize) -> Self {
        self.least = runs;
        self
    }

    pub(crate) fn about(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools = tools.into_iter().map(Into::into).collect();
        self
    }

    pub(crate) fn in_runs(mut self, relevant: usize, of: usize) -> Self {
        self.relevant = (relevant < of).then_some(relevant);
        self
    }

    pub(crate) fn remark(mut self, words: String) -> Self {
        self.remark = Some(words);
        self
    }

    pub(crate) fn doubtful(mut self, is_doubtful: bool) -> Self {
        self.is_doubtful |= is_doubtful;
        self
    }
}
