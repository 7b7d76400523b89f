//! Events of a run, for observers.

use crate::usage::Used;
use std::time::Duration;
use toolmark_outcome::{CaseResult, Cause};

/// An event of a run.
#[derive(Debug)]
pub enum TrialEvent<'a> {
    /// An attempt at a trial started.
    Started {
        /// Index of the cell.
        cell: usize,
        /// Index of the trial, from 0.
        trial: u32,
        /// Number of the attempt, from 1.
        attempt: u32,
    },
    /// The usage of a running trial changed.
    Progress {
        /// Index of the cell.
        cell: usize,
        /// Index of the trial.
        trial: u32,
        /// Usage so far.
        used: &'a Used,
    },
    /// An attempt could not run and is retried.
    Retry {
        /// Index of the cell.
        cell: usize,
        /// Index of the trial.
        trial: u32,
        /// Cause.
        cause: Cause,
        /// Explanation.
        why: &'a str,
        /// Delay before the next attempt.
        wait: Duration,
    },
    /// The number of concurrent trials of a target changed.
    Jobs {
        /// Index of the target.
        target: usize,
        /// Number of concurrent trials.
        jobs: usize,
    },
    /// A trial finished.
    Finished {
        /// Index of the cell.
        cell: usize,
        /// Index of the trial.
        trial: u32,
        /// Result.
        result: &'a CaseResult,
        /// Usage.
        used: &'a Used,
        /// Duration.
        took: Duration,
    },
    /// Trials of a cell are skipped because they are no longer needed.
    LeftOut {
        /// Index of the cell.
        cell: usize,
        /// Number of skipped trials.
        trials: u32,
    },
    /// The user stopped the run, and running trials are terminated.
    Stopping,
}

/// Receiver of events.
pub trait Observer: Sync {
    /// Handles an event.
    fn event(&self, event: &TrialEvent<'_>);
}

/// Ignores all events.
impl Observer for () {
    fn event(&self, _: &TrialEvent<'_>) {}
}
