//! Questions that only a reader can answer, and what a judge said to them.
//!
//! A grader that needs a judge makes a [`Question`]: a [`Rubric`], the parts of
//! the trace it is about ([`Material`]), and who is to be asked ([`Panel`]).
//! Whoever runs the grading provides the [`Judge`]; here is only what is asked
//! and what becomes of the answers. A judge that gives no answer, or one it
//! cannot prove, leaves the verdict unknown.

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
pub use decide::{Decided, decide, decide_vote};
pub use fields::{FIELDS, Field, Focus, material_of};
pub use material::{Material, Piece};
pub use outcome::{answered, unanswered};
pub use question::{Aggregation, Effort, Panel, Question};
pub use rubric::{Criterion, Example, Rubric};
pub use rubrics::{BUILT_IN, BuiltIn, built_in};
pub use ruling::{Answer, Mark, Quote, Ruling, Spent, Unanswered, Vote};
pub use scale::Scale;
pub use transcript::{steps, transcript};
pub use words::scale_of_words;
pub use written::{read_examples, read_rubric};

use std::fmt::Debug;

/// Who answers questions.
pub trait Judge: Send + Sync + Debug {
    /// Answers every question, in the order they are asked. A question that
    /// could not be answered has a ruling too, which says why.
    fn judge(&self, questions: &[Question]) -> Vec<Ruling>;
}
