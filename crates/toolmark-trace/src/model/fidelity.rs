//! What a source could not tell.

use std::fmt;

macro_rules! facts {
    ($($(#[$doc:meta])* $name:ident = $bit:expr, $word:literal;)*) => {
        /// Something a format may or may not record.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Fact { $($(#[$doc])* $name = $bit,)* }

        impl Fact {
            /// Every fact, in the order reports list them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word used in every output.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// The fact with this word.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|fact| fact.word() == word)
            }
        }
    };
}

facts! {
    /// Ids that tie results to calls.
    CallIds = 0, "call-ids";
    /// The arguments of calls.
    Arguments = 1, "arguments";
    /// The results of calls.
    Results = 2, "results";
    /// A mark that says whether a call failed.
    Status = 3, "status";
    /// Exit codes of commands.
    ExitCodes = 4, "exit-codes";
    /// When things happened.
    Times = 5, "times";
    /// How long calls took (stated or from two times).
    Durations = 6, "durations";
    /// Which calls came from one model response.
    Parallel = 7, "parallel";
    /// Model responses as such.
    Steps = 8, "steps";
    /// What the user said.
    UserTurns = 9, "user-turns";
    /// What the model said.
    Messages = 10, "messages";
    /// Reasoning text.
    Reasoning = 11, "reasoning";
    /// Token counts.
    Tokens = 12, "tokens";
    /// Money.
    Cost = 13, "cost";
    /// Which model answered.
    Model = 14, "model";
    /// What sub-agents did.
    SubAgents = 15, "sub-agents";
    /// The tools that were offered.
    ToolDefinitions = 16, "tool-definitions";
    /// The working directory.
    WorkingDirectory = 17, "working-directory";
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

    /// Could the source not tell this?
    #[must_use]
    pub fn lacks(self, fact: Fact) -> bool {
        self.lacks & (1 << fact as u32) != 0
    }

    /// All that both together could not tell.
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
