//! Whose reading a grader follows.

use serde::Serialize;
use std::fmt;

macro_rules! profiles {
    ($($(#[$doc:meta])* $name:ident = $word:literal $(| $alias:literal)*;)*) => {
        /// A named reading. The default is toolmark's own; the others answer as
        /// the system they are named after does, quirks included.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub enum Profile { $($(#[$doc])* $name,)* }

        impl Profile {
            /// Every profile.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word used in specs, options and every output.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// The profile with this word, or one of its other names.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word $(| $alias)* => Some(Self::$name),)* _ => None }
            }
        }
    };
}

profiles! {
    /// The reading a careful person would defend.
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
    /// Future AGI: function-call metrics, the agents suite, the evals of its platform.
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
