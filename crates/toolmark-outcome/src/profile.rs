//! Profiles: the system whose semantics a grader follows.

use serde::Serialize;
use std::fmt;

macro_rules! profiles {
    ($($(#[$doc:meta])* $name:ident = $word:literal $(| $alias:literal)*;)*) => {
        /// Semantics of a named system. The default is toolmark's own; the other profiles
        /// behave like the system they are named after, including its quirks.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub enum Profile { $($(#[$doc])* $name,)* }

        impl Profile {
            /// All profiles.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns the word used in specs, options and every output.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// Returns the profile with this word or alias.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word $(| $alias)* => Some(Self::$name),)* _ => None }
            }
        }
    };
}

profiles! {
    /// Toolmark's own semantics.
    #[default]
    Toolmark = "toolmark" | "default";
    /// Microsoft Vally.
    Vally = "vally";
    /// AgentV up to 2.6.
    AgentV1 = "agentv@1";
    /// AgentV 2.7 to 4.42.
    AgentV2 = "agentv@2" | "agentv";
    /// AgentV from 5.3.
    AgentV5 = "agentv@5";
    /// LatticeFlow AI GO!.
    AiGo = "aigo" | "latticeflow";
    /// Future AGI: function-call metrics, the agents suite and the evals of its platform.
    FutureAgi = "futureagi";
    /// LangChain's agentevals.
    AgentEvals = "agentevals" | "agentevals@0.0.9";
    /// LangChain's openevals.
    OpenEvals = "openevals" | "openevals@0.2";
    /// Google's Agent Development Kit.
    Adk = "adk";
    /// DeepEval.
    DeepEval = "deepeval";
    /// Ragas.
    Ragas = "ragas";
    /// The scorers of AWS Strands evals.
    Strands = "strands";
    /// Azure AI evaluation.
    Azure = "azure";
    /// MLflow's scorers.
    Mlflow = "mlflow";
    /// Pydantic Evals.
    PydanticEvals = "pydantic-evals" | "pydantic";
    /// Mastra's scorers.
    Mastra = "mastra";
    /// UiPath's evaluators.
    UiPath = "uipath";
    /// promptfoo.
    Promptfoo = "promptfoo";
    /// The Berkeley Function Calling Leaderboard.
    Bfcl = "bfcl";
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Serialize for Profile {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_both_ways() {
        for &profile in Profile::ALL {
            assert_eq!(Profile::from_word(profile.word()), Some(profile));
        }
        assert_eq!(Profile::from_word("agentv@3"), None);
    }
}
