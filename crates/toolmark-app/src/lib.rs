//! The actions of the `toolmark` commands as functions: finding and reading traces, checking,
//! grading, running, comparing.
//!
//! An action takes its options and an [`ActionEvents`], which receives remarks, problems of files and
//! progress, and returns a result of the libraries below or a [`Failure`]. The crate reads files
//! and prints nothing: the binary, the server and tests decide how an event is shown.

#![forbid(unsafe_code)]

pub mod check;
pub mod compare;
mod diagnostics;
mod events;
mod failure;
pub mod feed;
pub mod grade;
pub mod guard;
pub mod inputs;
pub mod judge;
pub mod lint;
pub mod mine;
pub mod pool;
pub mod prices;
pub mod reading;
pub mod run;
pub mod select;
pub mod sessions;
pub mod show;
mod spool;
pub mod stats;
pub mod watch;
pub mod when;

pub use diagnostics::FileDiagnostics;
pub use events::{ActionEvents, NoProgress, Progress, ProgressStatus, Tone};
pub use failure::{Failure, FailureKind, Stop};

use toolmark_report::Verbosity;
use toolmark_report::terminal::human;
