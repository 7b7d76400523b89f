//! What a judge said.

use crate::outcome::Cause;
use serde::{Deserialize, Serialize};

/// Words of the trace that a judge gave as proof, found where they stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// The words, as the trace has them.
    pub text: String,
    /// The place of the material in the question.
    pub material: usize,
    /// The place of the piece in the material.
    pub piece: usize,
}

/// What a judge said about one criterion.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mark {
    /// The mark on the rubric's scale; none where the judge cannot tell, or
    /// where it proved nothing.
    pub mark: Option<f64>,
    /// Why, in its words.
    pub reason: String,
    /// What proves it. Only quotes that were found.
    pub quotes: Vec<Quote>,
    /// Why the mark was taken away from it.
    pub discarded: Option<String>,
}

/// What an answer took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// Tokens that were read.
    pub input_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
    /// Millionths of a US dollar, where the price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<u64>,
}

impl Spent {
    /// Both together. What has no price leaves the sum without one.
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

/// A whole answer: a mark for every criterion, in their order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// The marks.
    pub marks: Vec<Mark>,
    /// All of it in a sentence.
    pub summary: Option<String>,
    /// What it took.
    pub spent: Spent,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// The kind of reason.
    pub cause: Cause,
    /// In words, without keys and without what the trace keeps secret.
    pub reason: String,
}

/// One judge's answer to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Vote {
    /// Who was asked.
    pub model: String,
    /// What was answered.
    pub answer: Result<Answer, Unanswered>,
}

/// All that was said to one question.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ruling {
    /// The votes: model by model, in the order of the panel.
    pub votes: Vec<Vote>,
}
