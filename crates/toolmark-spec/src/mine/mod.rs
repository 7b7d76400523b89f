//! Mines expectations from runs of an agent: what all runs that passed have in common,
//! and what distinguishes them from those that failed.
//!
//! [`mine`] looks for tools that are always or never called, the order that always
//! holds, arguments that stay the same, counts and budgets. Every expectation is
//! tested with the graders before it is written, checked for whether it could fail at
//! all, and cross-validated: mined again from parts of the runs and tested on the rest.
//! [`Mined::to_yaml`] writes a spec with the support of every line.
//!
//! ```
//! use toolmark_spec::mine::{Observed, MineSettings, mine};
//! use toolmark_trace::read;
//!
//! let trace = |seat: u32| format!(r#"{{"id": "t", "output_messages": [{{"role": "assistant",
//!     "content": "done", "tool_calls": [{{"tool": "search", "input": {{"q": "Paris"}}, "output": "2"}},
//!     {{"tool": "book", "input": {{"seat": {seat}}}, "output": "ok"}}]}}]}}"#);
//! let mut runs = Vec::new();
//! for seat in 1..6 {
//!     let text = std::io::Cursor::new(trace(seat).into_bytes());
//!     let run = read(text, "trace.json", &toolmark_trace::ReadOptions::default())?.next().unwrap();
//!     runs.push(Observed { run, case: None, passed: true });
//! }
//! let spec = mine(&runs, &MineSettings::default()).to_yaml();
//! assert!(spec.contains("- {tool: search, args: {q: Paris}}  # 5 of 5 runs"));
//! # Ok::<(), toolmark_trace::ReadError>(())
//! ```
//!
//! Unrecorded facts are unknown: a run that does not record its calls supports nothing, and
//! a run that records only some of them supports no "never". This crate does not read files
//! or print.

mod atom;
mod budget;
mod check;
mod generalize;
mod group;
mod hold_out;
mod item;
mod mined;
mod order;
mod panel;
mod propose;
mod sample;
mod settle;
mod template;
#[cfg(test)]
mod testing;
mod write;

pub use check::MinedSpecResult;
pub use hold_out::{HeldOut, Share};
pub use item::ExpectationFamily;
pub use mined::{Mined, MinedCase, mine};

use toolmark_redact::Redactor;
use toolmark_trace::Trajectory;

/// A run and its result.
#[derive(Debug)]
pub struct Observed {
    /// The run.
    pub run: Trajectory,
    /// Case of the run, if known.
    pub case: Option<String>,
    /// Whether the run passed.
    pub passed: bool,
}

/// Grouping of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RunGrouping {
    /// Runs with the same case, name or prompt; all runs together if no two share one.
    #[default]
    Auto,
    /// Runs with the same case, name or prompt, even if there is only one.
    Case,
    /// All runs together.
    All,
}

/// Options for mining.
#[derive(Debug, Clone, Copy)]
pub struct MineSettings {
    /// Number of parts into which runs are divided for cross-validation.
    pub folds: usize,
    /// Grouping of runs.
    pub by: RunGrouping,
    /// Redactor for everything that is written.
    pub redactor: Redactor,
}

impl Default for MineSettings {
    fn default() -> Self {
        Self { folds: 5, by: RunGrouping::default(), redactor: Redactor::new(true) }
    }
}
