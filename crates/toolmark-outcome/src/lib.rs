//! Verdicts and their explanations.
//!
//! A grader returns an [`Outcome`]: pass, fail or unknown, a score if it
//! defines one, a reason, and [`Evidence`] that names the decisive calls. A
//! rule returns [`Finding`]s. [`CaseScoring`] combines many outcomes into one decision,
//! [`statistics`] computes the confidence of rates, and [`judging`] defines the questions
//! to a judge and evaluates its answers.
//!
//! ```
//! use toolmark_outcome::statistics::pass_at_k;
//! use toolmark_outcome::{Cause, Outcome, Verdict};
//!
//! let read = Outcome::binary(true, "the file was read before it was edited");
//! let fast = Outcome::unknown(Cause::MissingEvidence, "the trace has no times");
//! // Missing evidence is neither a pass nor a zero.
//! assert_eq!(read.verdict.and(fast.verdict), Verdict::Unknown(Cause::MissingEvidence));
//! assert_eq!((read.score, fast.score), (Some(1.0), None));
//! assert_eq!(pass_at_k(4, 2, 1), Some(0.5));
//! ```
//!
//! This crate does not read files, call models or print.

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
mod restore;
mod result;
pub mod statistics;
mod subject;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod trials;
mod view;

pub use equality::{NumberRules, equal};
pub use evidence::{CallRef, Evidence, EvidenceRole};
pub use explanation::{Explanation, ExplanationRow, RowState};
pub use finding::{Axis, Confidence, Finding, SecondOpinion, Severity};
pub use gate::{CaseDecision, CaseScoring, GateRule, ScoredGrader, reaches, rounded};
pub use outcome::{Cause, Contrast, GraderMetrics, Outcome, OutcomePart, Verdict};
pub use place::{SpecPlace, TracePlace};
pub use profile::Profile;
pub use result::{
    CaseResult, CaseSummary, GraderResult, RunResult, Summary, Timeline, TimelineEntry, Took,
    TrajectorySource,
};
pub use subject::{CaseContext, Environment, FindingSource, Subject};
pub use toolmark_base::text::excerpt;
/// Text types of results.
pub use toolmark_redact::{Harmless, Printable, Redactor, SharedName, Untrusted, printable};
pub use trials::PassRule;
pub use view::{IndexedCall, Missing, TrajectoryView, duration_of, prompt_of};
