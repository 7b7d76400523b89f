//! Change notifications for open pages.

use tokio::sync::watch;

/// Numbers of changes since the start of the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ChangeCounts {
    pub(crate) sessions: u64,
    pub(crate) issues: u64,
    pub(crate) runs: u64,
    pub(crate) guard: u64,
    pub(crate) seq: u64,
}

/// Publisher of changes.
#[derive(Debug)]
pub(crate) struct Hub {
    counts: watch::Sender<ChangeCounts>,
}

impl Default for Hub {
    fn default() -> Self {
        Self { counts: watch::Sender::new(ChangeCounts::default()) }
    }
}

impl Hub {
    fn change(&self, change: impl FnOnce(&mut ChangeCounts)) {
        self.counts.send_modify(|counts| {
            change(counts);
            counts.seq += 1;
        });
    }

    /// Announces changed sessions, and the issues with them.
    pub(crate) fn sessions(&self, count: u64) {
        self.change(|counts| {
            counts.sessions += count;
            counts.issues += 1;
        });
    }

    /// Announces a decision about an issue.
    pub(crate) fn issue(&self) {
        self.change(|counts| counts.issues += 1);
    }

    /// Announces new entries in the log of the guard.
    pub(crate) fn guard(&self, count: u64) {
        self.change(|counts| counts.guard += count);
    }

    /// Announces new or changed runs.
    pub(crate) fn runs(&self, count: u64) {
        self.change(|counts| counts.runs += count);
    }

    /// Total number of changes.
    pub(crate) fn seq(&self) -> u64 {
        self.counts.borrow().seq
    }

    /// Subscribes to future changes.
    pub(crate) fn subscribe(&self) -> watch::Receiver<ChangeCounts> {
        self.counts.subscribe()
    }
}
