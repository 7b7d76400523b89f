//! A question, and who is asked it.

use super::{Material, Rubric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How hard a judge thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Hard.
    High,
    /// As hard as it can.
    Xhigh,
}

impl Effort {
    /// The word used in every output, and by the providers.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
        }
    }
}

/// How the answers of several judges make one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Aggregation {
    /// What most of them say.
    #[default]
    Majority,
    /// Their mean.
    Mean,
    /// Their median.
    Median,
    /// The lowest.
    Min,
}

impl Aggregation {
    /// The word used in every output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Majority => "majority",
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Min => "min",
        }
    }
}

/// Who is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// The models; empty for the one that is configured.
    pub models: Vec<String>,
    /// How often each of them is asked.
    pub votes: u32,
    /// How hard they think, where it is said.
    pub effort: Option<Effort>,
    /// How their answers make one.
    pub aggregation: Aggregation,
    /// How many of the votes must decide, or the verdict is unknown; more than half
    /// where it is not said.
    pub quorum: Option<u32>,
}

impl Default for Panel {
    fn default() -> Self {
        Self {
            models: Vec::new(),
            votes: 1,
            effort: None,
            aggregation: Aggregation::default(),
            quorum: None,
        }
    }
}

/// A question to a judge.
#[derive(Debug, Clone)]
pub struct Question {
    /// What is asked.
    pub rubric: Arc<Rubric>,
    /// What it is about.
    pub materials: Vec<Material>,
    /// Who is asked.
    pub panel: Panel,
    /// The score that passes, from 0 to 1. Not shown to the judge.
    pub threshold: f64,
}
