//! What changed, for pages that are open.

use tokio::sync::watch;

/// How much changed since the server started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) sessions: u64,
    pub(crate) issues: u64,
    pub(crate) runs: u64,
    pub(crate) guard: u64,
    pub(crate) seq: u64,
}

/// Where changes are told.
#[derive(Debug)]
pub(crate) struct Hub {
    counts: watch::Sender<Counts>,
}

impl Default for Hub {
    fn default() -> Self {
        Self { counts: watch::Sender::new(Counts::default()) }
    }
}

impl Hub {
    fn change(&self, change: impl FnOnce(&mut Counts)) {
        self.counts.send_modify(|counts| {
            change(counts);
            counts.seq += 1;
        });
    }

    /// So many sessions changed, and the issues with them.
    pub(crate) fn sessions(&self, count: u64) {
        self.change(|counts| {
            counts.sessions += count;
            counts.issues += 1;
        });
    }

    /// A decision about an issue was made.
    pub(crate) fn issue(&self) {
        self.change(|counts| counts.issues += 1);
    }

    /// The log of the guard grew.
    pub(crate) fn guard(&self, count: u64) {
        self.change(|counts| counts.guard += count);
    }

    /// A run was made or went on.
    pub(crate) fn runs(&self, count: u64) {
        self.change(|counts| counts.runs += count);
    }

    /// How many changes there were.
    pub(crate) fn seq(&self) -> u64 {
        self.counts.borrow().seq
    }

    /// Changes from now on.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Counts> {
        self.counts.subscribe()
    }
}
