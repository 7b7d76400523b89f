//! Recurring problems across sessions: failures and findings grouped into issues.
//!
//! A [`Collector`] takes the failed calls and the findings of a trajectory, each with the
//! [`IssueKey`] of its issue; a [`Feed`] groups those of many files. A key is a pure function of
//! one call or one finding, so neither the order of files nor their number changes an
//! issue or its ID.
//!
//! ```
//! use toolmark_check::Checker;
//! use toolmark_session::notation;
//! use toolmark_feed::{Batch, Collector, IssueDecisions, Feed};
//!
//! let run = notation::parse(r#"Read {"file_path":"/w/a.rs"} !> "File does not exist.""#)?;
//! let mut batch = Batch::default();
//! Collector::new(Checker::default(), None).collect(&run, &mut batch);
//! let mut feed = Feed::default();
//! feed.add(batch);
//! let now = "2026-03-01T00:00:00Z".parse().map_err(|_| "no time")?;
//! let issues = feed.issues(&IssueDecisions::default(), now);
//! assert_eq!(issues[0].subtype, "missing-path");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate neither reads files nor prints.

#![forbid(unsafe_code)]

mod checks;
pub mod class;
mod collect;
mod facts;
mod feed;
mod feed_run;
pub mod fix;
mod issue;
pub mod key;
mod language;
mod occurrence;
mod pack;
mod promote;
pub mod role;
mod salient;
mod similar;
mod sparkline;
mod state;
mod stored;
mod subject;
pub mod template;
mod time;
mod title;
pub mod trend;
pub mod usage;

pub use class::{FailedCall, FailureClass};
pub use collect::{Collector, failure_keys};
pub use feed::Feed;
pub use feed_run::{FeedRun, ListedOccurrence};
pub use fix::{Fix, FixTarget};
pub use issue::{Category, Issue, Lost, NameTally, Recoveries, Representative, Similar, Week};
pub use key::{IssueId, IssueKey};
pub use language::Language;
pub use occurrence::{Batch, Occurrence, OccurrenceKind, Recovery, SessionOrigin};
pub use role::KeyRole;
pub use salient::Salient;
pub use sparkline::sparkline;
pub use state::{DecisionEvent, IssueDecision, IssueDecisions, IssueState, StateError};
pub use stored::NotABatch;
pub use subject::Subject;
