//! Verdicts and what explains them.
//!
//! A grader answers with an [`Outcome`]: pass, fail or unknown, a score where it
//! defines one, a reason, and [`Evidence`] that names the calls that decided. A
//! rule answers with [`Finding`]s. [`Scoring`] makes one decision of many outcomes,
//! [`statistics`] says how certain a rate is, and [`judging`] holds what a judge is
//! asked and what becomes of its answers.
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
mod restore;
mod result;
pub mod statistics;
mod subject;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod trials;
mod view;

pub use equality::{Numbers, equal};
pub use evidence::{CallRef, Evidence, Role};
pub use explanation::{Explanation, Row, RowState};
pub use finding::{Axis, Confidence, Finding, SecondOpinion, Severity};
pub use gate::{Decision, Rule, Scored, Scoring, reaches, rounded};
pub use outcome::{Cause, Contrast, Metrics, Outcome, Part, Verdict};
pub use place::{SpecPlace, TracePlace};
pub use profile::Profile;
pub use result::{
    CaseResult, CaseSummary, GraderResult, RunResult, Source, Summary, Timeline, TimelineEntry,
    Took,
};
pub use subject::{Context, Environment, Findings, Subject};
pub use toolmark_base::text::excerpt;
/// The text results are made of.
pub use toolmark_redact::{Harmless, Name, Printable, Redactor, Untrusted, printable};
pub use trials::PassRule;
pub use view::{Missing, Seen, View, duration_of, prompt_of};
