//! Runs agents on the cases of a spec.
//!
//! A [`RunMatrix`] is the plan of a run: cases × targets × models × trials. [`Ready::check`] checks
//! all prerequisites before anything starts. A [`Schedule`] runs the trials: each in its own
//! workspace, under a supervisor that leaves no processes behind, watched so that limits hold, and
//! graded by the graders of the plan. A [`RunStore`] keeps the results, so that an interrupted run can
//! be resumed.
//!
//! The module [`end`] defines how the end of an agent is interpreted. The crate prints nothing.

#![forbid(unsafe_code)]

mod attempt;
mod budget;
mod dotenv;
pub mod end;
mod equipment;
mod error;
mod events;
mod key;
mod mask;
mod matrix;
mod outside;
pub mod placeholders;
mod preflight;
mod recordings;
mod regrade;
mod resolve;
mod schedule;
mod stop;
pub mod store;
mod tail;
mod trace;
mod trial;
mod usage;
mod variables;
mod workspace;

pub use attempt::{AttemptShared, Batches};
pub use budget::Ledger;
pub use dotenv::EnvFiles;
pub use error::NoRun;
pub use events::{Observer, TrialEvent};
pub use key::{RunKey, hash};
pub use matrix::{MatrixCell, MatrixError, Overrides, RunMatrix, RunTarget, agent, agents};
pub use preflight::{Ready, Sandbox};
pub use schedule::{Ran, Schedule};
pub use stop::StopSwitch;
pub use store::{RunStore, TrialRecord};
pub use trial::work_root;
pub use usage::Used;
pub use variables::{Environ, VariableLookup};
