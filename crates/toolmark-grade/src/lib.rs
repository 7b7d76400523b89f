//! Graders, which check what an agent did.
//!
//! A [`Plan`] holds cases, a case holds graders, and a [`Grader`] checks one
//! [`Subject`](toolmark_outcome::Subject) (a trajectory or one turn of it, with the
//! context of the case) and returns an [`Outcome`](toolmark_outcome::Outcome): pass,
//! fail or unknown, with evidence. [`Grading`] applies a plan to trajectories.
//!
//! ```
//! use std::path::Path;
//! use toolmark_config::Node;
//! use toolmark_grade::graders::EXPECT;
//! use toolmark_match::Building;
//! use toolmark_outcome::{CaseContext, Environment, Profile, Subject, Verdict, TrajectoryView};
//! use toolmark_trace::{ReadOptions, read};
//!
//! let config = Node::from_json(&serde_json::json!({"sequence": ["search", "book"]})).unwrap();
//! let grader = (EXPECT.build)(&mut Building {
//!     config: &config,
//!     profile: Profile::Toolmark,
//!     contrast: None,
//!     directory: Path::new("."),
//!     schemas: toolmark_match::call_match::compile_schema,
//!     problems: &mut Vec::new(),
//! });
//!
//! let trace = r#"{"id": "t1", "output_messages": [{"role": "assistant", "content": "done",
//!     "tool_calls": [{"tool": "search", "output": "2 flights"}]}]}"#;
//! let run = read(trace.as_bytes(), "trace.json", &ReadOptions::default())?.next().unwrap();
//! let outcome = grader.unwrap().grade(&Subject {
//!     view: TrajectoryView::whole(&run),
//!     context: &CaseContext::default(),
//!     environment: &Environment::default(),
//! });
//! assert_eq!(outcome.verdict, Verdict::Fail);
//! assert!(outcome.reason.raw().contains("`book`: not made"));
//! # Ok::<(), toolmark_trace::ReadError>(())
//! ```
//!
//! This crate does not print.

#![forbid(unsafe_code)]

mod declared;
mod dialect;
mod facts;
mod grader;
pub mod graders;
mod load;
mod loading;
mod merge;
mod pairing;
mod plan;
mod run;
pub mod run_plan;
pub mod schema;
mod stored;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod vacuity;

pub use declared::{DECLARED, declared};
pub use dialect::{Dialect, DialectInfo};
pub use grader::{
    AnswerCost, Determinism, GradeScope, Grader, GraderInfo, Graders, Reference, Taxonomy,
    TaxonomyWords, ask, schema_of,
};
pub use load::{Dialects, LoadedSpec, load_source};
pub use loading::{Included, ListedGrader, LoadOptions, Loading, is_lines, unknown_type};
pub use merge::merge;
pub use pairing::{Pairing, Unpaired, folded};
pub use plan::{Aggregate, Case, CaseRef, Gate, Match, Plan, Planned, UsualJudge};
pub use run::{Grading, LeftBehind, RunSelection, Standing};
pub use run_plan::RunPlan;
pub use stored::{CaseFacts, CaseReader, StoredCases};
