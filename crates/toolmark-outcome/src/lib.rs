//! Answers: what graders and rules say, and what it comes to.
//!
//! A grader answers with an [`Outcome`]: pass, fail or unknown, a score where it
//! defines one, a reason, and [`Evidence`] that names the calls that decided. A
//! rule answers with [`Finding`]s. [`Scoring`] makes one decision of many
//! outcomes, [`statistics`] says how sure a rate is, and [`judging`] holds what a
//! judge is asked and what becomes of its answers.
//!
//! Nothing here reads files, asks a model or prints.

#![forbid(unsafe_code)]

mod equality;
mod evidence;
mod explanation;
mod finding;
mod gate;
pub mod judging;
mod outcome;
mod place;
mod profile;
mod result;
pub mod statistics;
mod subject;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod view;

pub use equality::{Numbers, equal};
pub use evidence::{CallRef, Evidence, Role, excerpt};
pub use explanation::{Explanation, Row, RowState};
pub use finding::{Axis, Confidence, Finding, SecondOpinion, Severity};
pub use gate::{Decision, Rule, Scored, Scoring, reaches, rounded};
pub use outcome::{Cause, Contrast, Metrics, Outcome, Part, Verdict};
pub use place::{SpecPlace, TracePlace};
pub use profile::Profile;
pub use result::{
    CaseResult, CaseSummary, GraderResult, RunResult, Source, Summary, Timeline, TimelineEntry,
};
pub use subject::{Context, Environment, Findings, Subject};
/// The text results are made of.
pub use toolmark_redact::{Harmless, Name, Printable, Redactor, Untrusted, printable};
pub use view::{Missing, Seen, View, duration_of};
