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
mod dialect;
pub mod engine;
mod grader;
pub mod graders;
mod load;
mod loading;
mod pairing;
mod plan;
mod run;
pub mod schema;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod units;
pub mod vacuity;

pub use dialect::{Dialect, DialectInfo};
pub use grader::{
    Building, Cost, Determinism, Grader, GraderInfo, Graders, Mention, Reference, Scope, Taxonomy,
    schema_of,
};
pub use load::{Dialects, Loaded, load_source};
pub use loading::{Entry, Included, LoadOptions, Loading};
pub use pairing::{Pairing, Unpaired};
pub use plan::{Aggregate, Case, Gate, Match, Plan, Planned, UsualJudge};
pub use run::{Grading, Selection};
