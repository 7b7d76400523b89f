//! What a source did not record.

use std::fmt;
use toolmark_base::word_enum;

word_enum! {
    /// Something a format may or may not record, in the order reports list them.
    pub enum Fact {
        /// Which tools were called: without it, no call seen is not no call made.
        Calls = "calls",
        /// Ids that tie results to calls.
        CallIds = "call-ids",
        /// The arguments of calls.
        Arguments = "arguments",
        /// The results of calls.
        Results = "results",
        /// A mark that says whether a call failed.
        Status = "status",
        /// Exit codes of commands.
        ExitCodes = "exit-codes",
        /// When things happened.
        Times = "times",
        /// How long calls took (stated or from two times).
        Durations = "durations",
        /// Which calls came from one model response.
        Parallel = "parallel",
        /// Model responses as such.
        Steps = "steps",
        /// What the user said.
        UserTurns = "user-turns",
        /// What the model said.
        Messages = "messages",
        /// Reasoning text.
        Reasoning = "reasoning",
        /// Token counts.
        Tokens = "tokens",
        /// Money.
        Cost = "cost",
        /// Which model answered.
        Model = "model",
        /// What sub-agents did.
        SubAgents = "sub-agents",
        /// The tools that were offered.
        ToolDefinitions = "tool-definitions",
        /// The working directory.
        WorkingDirectory = "working-directory",
    }
}

word_enum! {
    /// How many of the calls that were made a trace records, as
    /// [`Trajectory::calls_recorded`](crate::Trajectory::calls_recorded) says.
    pub enum Recorded {
        /// All of them: a call that is not there was not made.
        Fully = "recorded",
        /// Some: the calls that are there were made, and perhaps others.
        Partly = "partly-recorded",
        /// None: nothing says whether any call was made.
        Not = "not-recorded",
    }
}

/// A set of [`Fact`]s that a source did not record.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Fidelity {
    lacks: u32,
}

impl Fidelity {
    /// Nothing is missing.
    pub const FULL: Self = Self { lacks: 0 };

    /// A source that lacks exactly these facts.
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

    /// Did the source not record this?
    #[must_use]
    pub fn lacks(self, fact: Fact) -> bool {
        self.lacks & (1 << fact as u32) != 0
    }

    /// Everything that one of the two did not record.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { lacks: self.lacks | other.lacks }
    }

    /// The missing facts.
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
