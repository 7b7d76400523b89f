//! Answers of judges.

use crate::outcome::Cause;
use serde::{Deserialize, Serialize};

/// Text of the trace that a judge quoted as proof, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// Quoted text, as it is in the trace.
    pub text: String,
    /// Index of the material in the question.
    pub material: usize,
    /// Index of the piece in the material.
    pub piece: usize,
}

/// Answer of a judge to one criterion.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CriterionMark {
    /// Mark on the rubric's scale; `None` if the judge cannot tell or gave no proof.
    pub mark: Option<f64>,
    /// Reason that the judge gave.
    pub reason: String,
    /// Quotes that prove the mark. Only quotes that were found.
    pub quotes: Vec<Quote>,
    /// Reason for discarding the mark.
    pub discarded: Option<String>,
}

/// Usage of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AnswerUsage {
    /// Number of input tokens.
    pub input_tokens: u64,
    /// Number of output tokens.
    pub output_tokens: u64,
    /// Cost in millionths of a US dollar, if the price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
}

impl AnswerUsage {
    /// Returns the sum. Usage without a price leaves the sum without one.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            micro_usd: match (self.micro_usd, other.micro_usd) {
                (Some(a), Some(b)) => Some(a.saturating_add(b)),
                _ => None,
            },
        }
    }
}

/// A complete answer: a mark for every criterion, in their order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JudgeAnswer {
    /// The marks.
    pub marks: Vec<CriterionMark>,
    /// Summary in one sentence.
    pub summary: Option<String>,
    /// Usage of the answer.
    pub spent: AnswerUsage,
}

/// Reason for a missing answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// Category of the reason.
    pub cause: Cause,
    /// Description, without keys and without secrets of the trace.
    pub reason: String,
}

/// Answer of one judge to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Vote {
    /// Model that was asked.
    pub model: String,
    /// Answer of the model, or the reason for a missing answer.
    pub answer: Result<JudgeAnswer, Unanswered>,
}

/// All answers to one question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JudgeRuling {
    /// Votes: model by model, in the order of the panel.
    pub votes: Vec<Vote>,
}
