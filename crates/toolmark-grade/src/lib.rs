//! Graders: questions about what an agent did, and their answers.
//!
//! A [`Plan`] holds cases, a case holds graders, and a [`Grader`] looks at one
//! [`Subject`] (a trajectory, or one turn of it, with what the case knows) and
//! answers with an [`Outcome`]: pass, fail or unknown, a score where the grader
//! defines one, a reason, and evidence that names the calls that decided.
//!
//! Nothing here reads specs, opens trace files or prints.

#![forbid(unsafe_code)]

pub mod call_match;
pub mod config;
pub mod engine;
mod equality;
mod evidence;
mod explanation;
mod gate;
mod grader;
pub mod graders;
pub mod judging;
mod outcome;
mod pairing;
pub mod pattern;
mod plan;
mod profile;
pub mod program {
    //! Running programs: with a limit for everything, and nothing left running.
    pub use crate::graders::program::{Finished, OUTPUT_LIMIT, Program, run};
}
mod result;
mod run;
pub mod statistics;
mod subject;
#[cfg(test)]
mod testing;
pub mod vacuity;
mod view;

pub use equality::{Numbers, equal};
pub use evidence::{CallRef, Evidence, Role, excerpt};
pub use explanation::{Explanation, Row, RowState};
pub use gate::{Decision, Rule, Scored, Scoring, reaches, rounded};
pub use grader::{
    Building, Cost, Determinism, Grader, GraderInfo, Mention, Reference, Scope, Taxonomy, schema_of,
};
pub use outcome::{Cause, Contrast, Metrics, Outcome, Part, Verdict};
pub use pairing::{Pairing, Unpaired};
pub use plan::{Aggregate, Case, Gate, Match, Plan, Planned, SpecPlace, UsualJudge};
pub use profile::Profile;
pub use result::{
    CaseResult, CaseSummary, GraderResult, RunResult, Source, Summary, Timeline, TimelineEntry,
};
pub use run::{Grading, Selection};
pub use subject::{Context, Environment, Findings, Subject};
pub use view::{Missing, Seen, View};
