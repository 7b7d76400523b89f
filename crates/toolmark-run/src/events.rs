//! What happens during a run, told one way: to whoever shows it.

use crate::usage::Used;
use std::time::Duration;
use toolmark_outcome::{CaseResult, Cause};

/// Something that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// An attempt at a trial started.
    Started {
        /// The cell, by its place.
        cell: usize,
        /// The trial, from 0.
        trial: u32,
        /// The attempt, from 1.
        attempt: u32,
    },
    /// A trial under way has used so much.
    Progress {
        /// The cell.
        cell: usize,
        /// The trial.
        trial: u32,
        /// What it has used.
        used: &'a Used,
    },
    /// An attempt could not run, and another is made.
    Retry {
        /// The cell.
        cell: usize,
        /// The trial.
        trial: u32,
        /// Why.
        cause: Cause,
        /// In words.
        why: &'a str,
        /// After how long.
        wait: Duration,
    },
    /// A target runs fewer trials at once, or more again.
    Jobs {
        /// The target, by its place.
        target: usize,
        /// How many.
        jobs: usize,
    },
    /// A trial is over.
    Finished {
        /// The cell.
        cell: usize,
        /// The trial.
        trial: u32,
        /// What it came to.
        result: &'a CaseResult,
        /// What it has used.
        used: &'a Used,
        /// How long it took.
        took: Duration,
    },
    /// Trials of a cell are not needed any more.
    LeftOut {
        /// The cell.
        cell: usize,
        /// How many.
        trials: u32,
    },
    /// Somebody stopped the run, and what runs is asked to end.
    Stopping,
}

/// Whoever shows what happens.
pub trait Observer: Sync {
    /// Something happened.
    fn event(&self, event: &Event<'_>);
}

/// Nobody.
impl Observer for () {
    fn event(&self, _: &Event<'_>) {}
}
