//! Questions and the judges to ask.

use super::{Material, Rubric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Reasoning effort of a judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Low effort.
    Low,
    /// Medium effort.
    Medium,
    /// High effort.
    High,
    /// Maximum effort.
    Xhigh,
}

impl Effort {
    /// Returns the word used in every output and by the providers.
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

/// Method of combining the answers of several judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Aggregation {
    /// Decision of the majority.
    #[default]
    Majority,
    /// Mean of the scores.
    Mean,
    /// Median of the scores.
    Median,
    /// Lowest score.
    Min,
}

impl Aggregation {
    /// Returns the word used in every output.
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

/// Judges to ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Models; empty for the configured one.
    pub models: Vec<String>,
    /// Number of votes per model.
    pub votes: u32,
    /// Reasoning effort, if set.
    pub effort: Option<Effort>,
    /// Method of combining the answers.
    pub aggregation: Aggregation,
    /// Minimum number of votes that must decide, otherwise the verdict is unknown; more than
    /// half by default.
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
pub struct JudgeQuestion {
    /// Rubric of the question.
    pub rubric: Arc<Rubric>,
    /// Material that the question is about.
    pub materials: Vec<Material>,
    /// Judges to ask.
    pub panel: Panel,
    /// Minimum score to pass, from 0 to 1. Not shown to the judge.
    pub threshold: f64,
}
