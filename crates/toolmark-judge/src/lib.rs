//! Judges: models that answer what no rule can decide, and the code that holds
//! them to it.
//!
//! A [`Bench`] answers the [`Question`](toolmark_outcome::judging::Question)s of
//! graders. It writes the prompt, with everything from the trace fenced as data;
//! asks a [`Provider`](providers::Provider), again where the fault passes; reads
//! the answer, and looks for every quote in the trace. What is not found there
//! proves nothing, and its mark is discarded. Answers are kept by everything
//! that matters to them, so that none is paid for twice.
//!
//! ```
//! use std::path::Path;
//! use toolmark_config::Node;
//! use toolmark_judge::config::{Kind, read_settings};
//!
//! let part = Node::from_json(&serde_json::json!({"model": "claude-sonnet-4-6", "retries": 2}));
//! let mut problems = Vec::new();
//! let settings = read_settings(&part.unwrap(), Path::new("."), &mut problems);
//! assert!(problems.is_empty());
//! // The provider follows from the name of the model.
//! assert_eq!(settings.usual.unwrap().kind, Kind::Anthropic);
//! ```

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
mod sse;

pub use bench::{Bench, Mode, Objection, Tally};
pub use cache::{Cache, Kept};
pub use shown::Redact;
