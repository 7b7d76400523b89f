//! What is done now and then: old data are deleted, and what other programs write is
//! noticed.

use crate::live::Hub;
use crate::store::{Store, StoreError};
use jiff::{SignedDuration, Timestamp};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use toolmark_run::Store as Run;

/// How often it is looked whether it is time to stop.
const TICK: Duration = Duration::from_millis(250);

/// How often other programs' files are looked at.
const LOOK: Duration = Duration::from_secs(2);

/// How often old data are deleted.
const CLEAN: Duration = Duration::from_secs(60 * 60);

/// So many rows are deleted at once, so that nobody waits long.
const ROWS: i64 = 2000;

/// What housekeeping needs.
pub(crate) struct Housekeeping {
    pub(crate) store: Arc<Store>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) retention: Option<SignedDuration>,
    pub(crate) guard_log: Option<PathBuf>,
    pub(crate) runs: Vec<PathBuf>,
    pub(crate) stop: Arc<AtomicBool>,
}

impl Housekeeping {
    /// Keeps house until it is stopped.
    pub(crate) fn run(self) {
        let (mut next_look, mut next_clean) = (Instant::now(), Instant::now());
        let (mut log, mut runs) = (None, None);
        while !self.stop.load(Ordering::Relaxed) {
            let now = Instant::now();
            if now >= next_look {
                next_look = now + LOOK;
                let size = self.guard_log.as_deref().and_then(size);
                if log.is_some_and(|log| log != size) {
                    self.hub.guard(1);
                }
                log = Some(size);
                let newest = self.newest_run();
                if runs.is_some_and(|runs| runs != newest) {
                    self.hub.runs(1);
                }
                runs = Some(newest);
            }
            if now >= next_clean {
                next_clean = now + CLEAN;
                // Whoever cannot write now does so in an hour.
                let _ = self.clean();
            }
            std::thread::sleep(TICK);
        }
    }

    /// When something was last written to a run, and how many there are.
    fn newest_run(&self) -> (usize, Option<SystemTime>) {
        let all: Vec<Run> = self.runs.iter().flat_map(|dir| Run::list(dir)).collect();
        let changed = |run: &Run| std::fs::metadata(run.root()).ok()?.modified().ok();
        (all.len(), all.iter().filter_map(changed).max())
    }

    fn clean(&self) -> Result<(), StoreError> {
        let Some(before) = self.retention.and_then(|age| Timestamp::now().checked_sub(age).ok())
        else {
            return Ok(());
        };
        let before = before.as_millisecond();
        for statement in [
            "DELETE FROM session WHERE key IN
               (SELECT key FROM session WHERE coalesce(ended, changed) < ?1 LIMIT ?2)",
            "DELETE FROM span WHERE (trace, span) IN
               (SELECT trace, span FROM span WHERE received < ?1 LIMIT ?2)",
            "DELETE FROM log WHERE (unit, sequence) IN
               (SELECT unit, sequence FROM log WHERE received < ?1 LIMIT ?2)",
            "DELETE FROM metric WHERE hash IN
               (SELECT hash FROM metric WHERE received < ?1 LIMIT ?2)",
            "DELETE FROM unit WHERE id IN (SELECT id FROM unit WHERE last < ?1 LIMIT ?2)",
        ] {
            while !self.stop.load(Ordering::Relaxed) && self.delete(statement, before)? {}
        }
        self.store.write_blocking(|db| db.execute_batch("PRAGMA incremental_vacuum(2000)"))
    }

    /// Deletes some rows; may there be more?
    fn delete(&self, statement: &'static str, before: i64) -> Result<bool, StoreError> {
        let (tell, told) = std::sync::mpsc::channel();
        self.store.write_blocking(move |db| {
            let count = db.prepare_cached(statement)?.execute((before, ROWS))?;
            let _ = tell.send(count as i64 == ROWS);
            Ok(())
        })?;
        Ok(told.recv().unwrap_or(false))
    }
}

fn size(path: &Path) -> Option<u64> {
    Some(std::fs::metadata(path).ok()?.len())
}
