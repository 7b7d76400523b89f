//! Questions that need a judge, and their answers.
//!
//! A grader that needs a judge creates a [`JudgeQuestion`]: a [`Rubric`], the relevant parts of
//! the trace ([`Material`]) and the judges to ask ([`Panel`]). The caller of the grading
//! provides the [`Judge`]; this module only defines questions and evaluates answers. A judge
//! without an answer, or with an answer that it cannot prove, leaves the verdict unknown.

mod ask;
mod decide;
mod elide;
mod fields;
mod material;
mod outcome;
mod question;
mod rubric;
mod rubrics;
mod ruling;
mod scale;
mod transcript;
mod words;
mod written;

pub use ask::{ask, drop_repeats, materials, usual_inputs};
pub use decide::{JudgeDecision, decide, decide_vote};
pub use fields::{FIELDS, Field, Focus, material_of};
pub use material::{Material, TextPiece};
pub use outcome::{answered, unanswered};
pub use question::{Aggregation, Effort, JudgeQuestion, Panel};
pub use rubric::{Criterion, Rubric, RubricExample};
pub use rubrics::{BUILT_IN, BuiltIn, built_in};
pub use ruling::{AnswerUsage, CriterionMark, JudgeAnswer, JudgeRuling, Quote, Unanswered, Vote};
pub use scale::Scale;
pub use transcript::{steps, transcript};
pub use words::scale_of_words;
pub use written::{read_examples, read_rubric};

use std::fmt::Debug;

/// Answers questions.
pub trait Judge: Send + Sync + Debug {
    /// Answers every question, in order. A question that could not be answered has a ruling
    /// too, with the reason.
    fn judge(&self, questions: &[JudgeQuestion]) -> Vec<JudgeRuling>;
}
