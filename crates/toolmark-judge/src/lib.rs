//! Judges: models that answer questions no rule can decide, and the code that checks
//! their answers.
//!
//! A [`JudgeClient`] answers the [`Question`](toolmark_outcome::judging::Question)s of
//! graders. It writes the prompt, with everything from the trace fenced as data;
//! asks a [`Provider`](providers::Provider), and retries temporary faults; reads the
//! answer, and looks up every quote in the trace. A mark whose quotes are not found
//! is discarded. Answers are cached by everything that affects them, so that no answer
//! is paid for twice.
//!
//! ```
//! use std::path::Path;
//! use toolmark_config::Node;
//! use toolmark_judge::config::{ProviderKind, read_settings};
//!
//! let part = Node::from_json(&serde_json::json!({"model": "claude-sonnet-4-6", "retries": 2}));
//! let mut problems = Vec::new();
//! let settings = read_settings(&part.unwrap(), Path::new("."), &mut problems);
//! assert!(problems.is_empty());
//! // The provider follows from the name of the model.
//! assert_eq!(settings.default_model.unwrap().kind, ProviderKind::Anthropic);
//! ```

#![forbid(unsafe_code)]

mod answer;
mod budget;
mod cache;
pub mod calibration;
mod client;
pub mod config;
mod fence;
mod http;
mod materials;
mod prompt;
pub mod providers;
mod retry;
mod secret;
mod semaphore;

pub use cache::{Cache, CachedAnswer};
pub use client::{ExplainedQuestion, JudgeClient, JudgeMode, JudgeTally, Objection, Watcher};
pub use materials::Redact;
