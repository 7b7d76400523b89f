//! One thing that may be expected, how it is asked alone, and where it is written.

use serde_json::{Value, json};
use std::fmt;

/// Kinds of expectations. Those of one kind hold on new runs about equally often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Tools that are always called.
    Tools,
    /// Arguments that are always the same.
    Arguments,
    /// Calls that come before others.
    Order,
    /// Tools that are never called.
    Never,
    /// How often tools are called.
    Counts,
    /// Calls, tokens, time and money of the whole run.
    Budgets,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Tools, Self::Arguments, Self::Order, Self::Never, Self::Counts, Self::Budgets];

    /// Its name in texts.
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

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Where an expectation is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    /// In the sequence that has it, else in `calls`.
    Call(Value),
    /// In `calls`, with bounds of its own.
    Count {
        /// The entry.
        entry: Value,
        /// The tool that is counted.
        tool: String,
    },
    /// As `sequence`: layers of the calls, by the places of their items.
    Sequence(Vec<Vec<usize>>),
    /// As `none: true`.
    NoCalls,
    /// In `forbidden`.
    Forbidden(Value),
    /// In `never`.
    Never(Value),
    /// As a grader of its own, by its name.
    Budget(&'static str),
}

/// Something that may be expected.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) family: Family,
    /// What it is about, whatever numbers it has: the same in every part of the runs.
    pub(crate) slot: String,
    pub(crate) part: Part,
    /// The grader that asks it alone, and its configuration.
    pub(crate) grader: &'static str,
    pub(crate) config: Value,
    /// The tools a run must call for the expectation to mean something there.
    pub(crate) tools: Vec<String>,
    /// So many runs must support it before it is expected; fewer leave it a comment.
    pub(crate) least: usize,
    /// The runs in which it says something, where that is not all of them.
    pub(crate) relevant: Option<usize>,
    /// Is it a comment however well it is supported?
    pub(crate) is_doubtful: bool,
    /// What else there is to say about it.
    pub(crate) remark: Option<String>,
}

impl Item {
    /// An entry of an expectation.
    pub(crate) fn expect(family: Family, slot: String, part: Part) -> Self {
        let config = match &part {
            Part::Call(entry) | Part::Count { entry, .. } => json!({ "calls": [entry] }),
            Part::Forbidden(entry) => json!({ "forbidden": [entry] }),
            Part::Never(entry) => json!({ "never": [entry] }),
            Part::NoCalls => json!({ "none": true }),
            // Sequences and budgets bring their own.
            Part::Sequence(_) | Part::Budget(_) => Value::Null,
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
