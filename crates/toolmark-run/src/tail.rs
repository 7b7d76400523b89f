//! Follows the trace of a running agent, so that limits hold although the agent has none of its
//! own.
//!
//! Agents write their sessions continuously. When the file has grown, it is read again with the
//! same readers as at the end; the interval depends on the duration of reading.

use crate::usage::Used;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use toolmark_grade::run_plan::TokenPrice;
use toolmark_trace::{ReadOptions, read_path};

/// Reciprocal of the maximum share of time for reading.
const SHARE: u32 = 8;

/// A growing trace.
#[derive(Debug)]
pub(crate) struct Tail {
    size: u64,
    next: Instant,
    /// Interval between two checks.
    interval: Duration,
    price: Option<TokenPrice>,
}

impl Tail {
    /// Returns a tail with this interval.
    #[must_use]
    pub(crate) fn new(interval: Duration, price: Option<TokenPrice>) -> Self {
        Self { size: 0, next: Instant::now(), interval, price }
    }

    /// Whether the next check is due.
    #[must_use]
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        now >= self.next
    }

    /// Returns the usage so far, if it changed.
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

/// Returns the usage of the first run of a file.
fn read(file: &Path, price: Option<TokenPrice>) -> Option<Used> {
    let runs = read_path(file, &ReadOptions::default()).ok()?;
    runs.map(|run| Used::of(&run, price)).reduce(|mut all, one| {
        all.add(&one);
        all
    })
}
