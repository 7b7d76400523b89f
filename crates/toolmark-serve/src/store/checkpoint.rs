//! Checkpoints of the store's write-ahead log. Copying and syncing the file takes long, and SQLite
//! would do it within the commit that exceeds the limit of the log. A separate thread does it
//! instead, so that no acknowledgement waits for it.

use super::{StoreError, lock};
use rusqlite::Connection;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Size limits of the log, in pages.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogLimits {
    /// Number of pages not yet in the file that starts a copy, concurrently with writes.
    pub(super) behind: i64,
    /// Length at which the log is restarted as soon as only its end is left to copy; writes pause
    /// for that moment.
    pub(super) long: i64,
    /// Number of pages that count as the end of a log.
    pub(super) end: i64,
    /// Length at which the log is copied completely, even if writes have to wait.
    pub(super) longest: i64,
}

impl Default for LogLimits {
    fn default() -> Self {
        Self { behind: 1_000, long: 16_000, end: 100, longest: 64_000 }
    }
}

#[derive(Default)]
struct CheckpointState {
    /// Whether a requested copy is not finished yet.
    is_copying: bool,
    is_closed: bool,
}

/// Thread that copies the log on request.
pub(super) struct Checkpointer {
    limits: LogLimits,
    state: Mutex<CheckpointState>,
    changed: Condvar,
}

/// Number of pages in the log, and number of those that are in the file.
fn frames(db: &Connection, mode: &str) -> rusqlite::Result<(i64, i64)> {
    db.prepare_cached(&format!("PRAGMA wal_checkpoint({mode})"))?
        .query_row([], |row| Ok((row.get(1)?, row.get(2)?)))
}

impl Checkpointer {
    /// Takes over checkpoints from the writing connection.
    pub(super) fn new(writer: &Connection, limits: LogLimits) -> Result<Arc<Self>, StoreError> {
        writer.pragma_update(None, "wal_autocheckpoint", 0)?;
        Ok(Arc::new(Self { limits, state: Mutex::default(), changed: Condvar::new() }))
    }

    /// Copies on request until it is closed.
    pub(super) fn run(&self, path: &Path) {
        // Where it cannot copy, the one that writes does.
        let Ok(db) = Connection::open(path) else { return self.close() };
        let mut state = lock(&self.state);
        while !state.is_closed {
            if !state.is_copying {
                state = self.wait(state);
                continue;
            }
            drop(state);
            // What cannot be copied now is still in the log.
            let _ = frames(&db, "PASSIVE");
            state = lock(&self.state);
            state.is_copying = false;
            self.changed.notify_all();
        }
    }

    fn wait<'s>(&self, state: MutexGuard<'s, CheckpointState>) -> MutexGuard<'s, CheckpointState> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks the length of the log.
    pub(super) fn after_commit(&self, writer: &Connection) {
        let Ok((log, copied)) = frames(writer, "NOOP") else { return };
        let LogLimits { behind, long, end, longest } = self.limits;
        let mut state = lock(&self.state);
        while log >= longest && state.is_copying && !state.is_closed {
            state = self.wait(state);
        }
        let is_alone = state.is_closed || !state.is_copying;
        let left = log - copied;
        let wants_copy = left > behind || log >= long;
        let is_short = log >= long && left <= end;
        if log >= longest || is_alone && is_short || wants_copy && state.is_closed {
            drop(state);
            let _ = frames(writer, "PASSIVE");
        } else if is_alone && wants_copy {
            state.is_copying = true;
            self.changed.notify_all();
        }
    }

    /// Stops [`Checkpointer::run`].
    pub(super) fn close(&self) {
        let mut state = lock(&self.state);
        state.is_closed = true;
        state.is_copying = false;
        self.changed.notify_all();
    }
}
