//! Mines expectations from runs of an agent: what all runs that passed have in common,
//! and what tells them from those that failed.
//!
//! [`mine`] looks for tools that are always or never called, the order that always
//! holds, arguments that stay the same, counts and budgets. Every expectation is asked
//! of the graders themselves before it is written, probed for whether it could fail at
//! all, and mined again from parts of the runs to see whether it holds on the rest.
//! [`Mined::to_yaml`] writes a spec with the support of every line.
//!
//! ```
//! use toolmark_spec::mine::{Observed, Options, mine};
//! use toolmark_trace::read;
//!
//! let trace = |seat: u32| format!(r#"{{"id": "t", "output_messages": [{{"role": "assistant",
//!     "content": "done", "tool_calls": [{{"tool": "search", "input": {{"q": "Paris"}}, "output": "2"}},
//!     {{"tool": "book", "input": {{"seat": {seat}}}, "output": "ok"}}]}}]}}"#);
//! let mut runs = Vec::new();
//! for seat in 1..6 {
//!     let text = std::io::Cursor::new(trace(seat).into_bytes());
//!     let run = read(text, "trace.json", &toolmark_trace::Options::default())?.next().unwrap();
//!     runs.push(Observed { run, case: None, passed: true });
//! }
//! let spec = mine(&runs, &Options::default()).to_yaml();
//! assert!(spec.contains("- {tool: search, args: {q: Paris}}  # 5 of 5 runs"));
//! # Ok::<(), toolmark_trace::ReadError>(())
//! ```
//!
//! Unrecorded is unknown: a run that does not record its calls supports nothing, and
//! one that records some of them no "never". Nothing here reads files or prints.

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

pub use check::Checked;
pub use hold_out::{HeldOut, Share};
pub use item::Family;
pub use mined::{Mined, MinedCase, mine};

use toolmark_redact::Redactor;
use toolmark_trace::Trajectory;

/// A run, and what it came to.
#[derive(Debug)]
pub struct Observed {
    /// The run.
    pub run: Trajectory,
    /// The case it is of, where that is known.
    pub case: Option<String>,
    /// Did it pass?
    pub passed: bool,
}

/// Which runs belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// Runs with the same case, name or prompt; all together where no two have one.
    #[default]
    Auto,
    /// Runs with the same case, name or prompt, also where there is only one.
    Case,
    /// All together.
    All,
}

/// How runs are mined.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// In how many parts runs are divided to see whether what is mined holds on others.
    pub folds: usize,
    /// Which runs belong together.
    pub by: By,
    /// What may be written.
    pub redactor: Redactor,
}

impl Default for Options {
    fn default() -> Self {
        Self { folds: 5, by: By::default(), redactor: Redactor::new(true) }
    }
}
