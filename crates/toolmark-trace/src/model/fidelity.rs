//! Facts that a source does not record.

use std::fmt;
use toolmark_base::word_enum;

word_enum! {
    /// A fact that a format may record, in the order of reports.
    pub enum Fact {
        /// Names of the called tools: if missing, the absence of a call does not mean that none was
        /// made.
        Calls = "calls",
        /// IDs that connect results with calls.
        CallIds = "call-ids",
        /// Arguments of calls.
        Arguments = "arguments",
        /// Results of calls.
        Results = "results",
        /// Whether a call failed.
        Status = "status",
        /// Exit codes of commands.
        ExitCodes = "exit-codes",
        /// Times of events.
        Times = "times",
        /// Durations of calls (stated, or from two times).
        Durations = "durations",
        /// Grouping of calls into model responses.
        Parallel = "parallel",
        /// Single model responses.
        Steps = "steps",
        /// User messages.
        UserTurns = "user-turns",
        /// Messages of the model.
        Messages = "messages",
        /// Reasoning text.
        Reasoning = "reasoning",
        /// Token counts.
        Tokens = "tokens",
        /// Costs.
        Cost = "cost",
        /// Model names.
        Model = "model",
        /// Actions of sub-agents.
        SubAgents = "sub-agents",
        /// Tools offered to the model.
        ToolDefinitions = "tool-definitions",
        /// Working directory.
        WorkingDirectory = "working-directory",
    }
}

word_enum! {
    /// Completeness of the recorded calls, as returned by
    /// [`Trajectory::calls_recorded`](crate::Trajectory::calls_recorded).
    pub enum RecordedCalls {
        /// All calls are recorded: an absent call was not made.
        Fully = "recorded",
        /// Some calls are recorded: those were made, and possibly others.
        Partly = "partly-recorded",
        /// No calls are recorded: it is unknown whether any were made.
        Not = "not-recorded",
    }
}

/// A set of [`Fact`]s that a source did not record.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Fidelity {
    lacks: u32,
}

impl Fidelity {
    /// The empty set: all facts are recorded.
    pub const FULL: Self = Self { lacks: 0 };

    /// Creates the set of exactly these facts.
    #[must_use]
    pub const fn lacking(facts: &[Fact]) -> Self {
        let mut lacks = 0;
        let mut i = 0;
        while i < facts.len() {
            lacks |= 1 << facts[i] as u32;
            i += 1;
        }
        Self { lacks }
    }

    /// Marks a fact as not recorded.
    pub fn lose(&mut self, fact: Fact) {
        self.lacks |= 1 << fact as u32;
    }

    /// Marks a fact as recorded after all.
    pub fn gain(&mut self, fact: Fact) {
        self.lacks &= !(1 << fact as u32);
    }

    /// Returns whether the source did not record this fact.
    #[must_use]
    pub fn lacks(self, fact: Fact) -> bool {
        self.lacks & (1 << fact as u32) != 0
    }

    /// Returns the facts that at least one of the two did not record.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { lacks: self.lacks | other.lacks }
    }

    /// Iterates over the missing facts.
    pub fn missing(self) -> impl Iterator<Item = Fact> {
        Fact::ALL.iter().copied().filter(move |f| self.lacks(*f))
    }
}

impl fmt::Debug for Fidelity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.missing().map(Fact::word)).finish()
    }
}

impl serde::Serialize for Fidelity {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.missing().map(Fact::word))
    }
}
