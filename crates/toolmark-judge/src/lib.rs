//! Judges: models that answer what no rule can decide, and the code that holds
//! them to it.
//!
//! A [`Bench`] answers the [`Question`](toolmark_grade::judging::Question)s of
//! graders. It writes the prompt, with everything from the trace fenced as data;
//! asks a [`Provider`](providers::Provider), again where the fault passes; reads
//! the answer, and looks for every quote in the trace. What is not found there
//! proves nothing, and its mark is discarded. Answers are kept by everything
//! that matters to them, so that none is paid for twice.

#![forbid(unsafe_code)]

mod answer;
mod bench;
mod cache;
pub mod calibration;
pub mod config;
mod fence;
mod http;
mod permits;
mod prompt;
pub mod providers;
mod purse;
mod retry;
mod secret;
mod shown;

pub use bench::{Bench, Mode, Objection, Tally};
pub use cache::{Cache, Kept};
pub use shown::Redact;
