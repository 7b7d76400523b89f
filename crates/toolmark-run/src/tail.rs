//! Follows the trace of an agent that is still at work, so that limits hold although
//! the agent has none of its own.
//!
//! Agents write their sessions as they go. Whenever the file has grown it is read again
//! with the same readers that read it at the end; how often depends on how long that
//! takes.

use crate::usage::Used;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use toolmark_grade::run_plan::TokenPrice;
use toolmark_trace::{Options, read_path};

/// Reading may take this part of the time.
const SHARE: u32 = 8;

/// A trace that grows.
#[derive(Debug)]
pub(crate) struct Tail {
    size: u64,
    next: Instant,
    /// How long a change may go unnoticed.
    interval: Duration,
    price: Option<TokenPrice>,
}

impl Tail {
    /// A tail that looks this often.
    #[must_use]
    pub(crate) fn new(interval: Duration, price: Option<TokenPrice>) -> Self {
        Self { size: 0, next: Instant::now(), interval, price }
    }

    /// Is it time to look again?
    #[must_use]
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        now >= self.next
    }

    /// What was used so far, where that has changed.
    pub(crate) fn look(&mut self, file: Option<PathBuf>) -> Option<Used> {
        let started = Instant::now();
        self.next = started + self.interval;
        let file = file?;
        let size = fs::metadata(&file).ok()?.len();
        if size == self.size {
            return None;
        }
        self.size = size;
        let used = read(&file, self.price);
        self.next = self.next.max(Instant::now() + started.elapsed() * SHARE);
        used
    }
}

/// What the first run of a file used.
fn read(file: &Path, price: Option<TokenPrice>) -> Option<Used> {
    let runs = read_path(file, &Options::default()).ok()?;
    runs.map(|run| Used::of(&run, price)).reduce(|mut all, one| {
        all.add(&one);
        all
    })
}
