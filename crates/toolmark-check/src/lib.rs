//! Rules: checks of a session that need no spec.
//!
//! A [`Checker`] converts a trajectory to a [`Session`] (its calls with the roles
//! of their tools, and the file contents that the trace proves), runs every
//! [`Rule`] and merges the results: [`Finding`]s with the calls that prove
//! them, and a [`Scorecard`] of four axes per tool.
//!
//! ```
//! use toolmark_check::Checker;
//! use toolmark_session::notation;
//!
//! let run = notation::parse(
//!     r#"Read {"file_path":"/w/a.rs"} -> "1\tfn main() {}"
//!        Read {"file_path":"/w/a.rs"} -> "1\tfn main() {}""#,
//! )?;
//! let checked = Checker::default().check(&run);
//! assert_eq!(checked.findings[0].code, "S101");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate does not read files or print.

#![forbid(unsafe_code)]

mod awareness;
mod axis_rules;
mod call_rows;
pub mod changes;
mod check_run;
mod checker;
pub mod config;
mod decisions;
mod declared_runs;
mod destructive_calls;
mod diff;
pub mod doubts;
pub mod fingerprint;
pub mod gate;
pub mod gold;
mod offered_tools;
pub mod overview;
mod profile;
pub mod promote;
mod recorder;
pub mod rule;
mod rules;
mod scorecard;
mod second_opinion;
mod session_card;
pub mod stored;

pub use axis_rules::AxisRules;
pub use call_rows::CallRow;
pub use check_run::{CallRowRef, CheckRun, FindingGroup, FoundRow, RowStore, StoredRows};
pub use checker::{CheckedTraces, Checker};
pub use decisions::{CallDecisions, StoppedCall};
pub use declared_runs::{DeclaredRun, DeclaredRuns};
pub use destructive_calls::{DestructiveAnnouncement, DestructiveCall};
pub use doubts::Doubt;
pub use overview::{Overview, OverviewSums};
pub use profile::{Assessed, CallCost, SessionProfile, calls_by_response, week_of};
pub use recorder::{Draft, Recorder};
pub use rule::{Expectation, Rule, RuleExample};
pub use rules::{RULES, default_rules, rule_by_code};
pub use scorecard::{Destructive, Measure, RuleCount, Scale, ScoreTally, Scorecard, ToolCard};
pub use second_opinion::Refined;
pub use session_card::SessionCard;
pub use toolmark_hosts::tool_policy::{self, ToolPolicy};
pub use toolmark_hosts::toolset::Toolsets;
