//! Periodic maintenance: deletes old data, and detects changes by other programs.

use crate::live::Hub;
use crate::sessions::MAX_ROWS;
use crate::store::{SessionStore, StoreError};
use jiff::{SignedDuration, Timestamp};
use rusqlite::params_from_iter;
use rusqlite::types::Value as Sql;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use toolmark_run::RunStore as Run;

/// Interval of checks for the stop signal.
const TICK: Duration = Duration::from_millis(250);

/// Interval of checks of other programs' files.
const LOOK: Duration = Duration::from_secs(2);

/// Interval of deletions of old data.
const CLEAN: Duration = Duration::from_secs(60 * 60);

/// Maximum number of pages that are released at once, so that writes do not wait long.
const PAGES: usize = 200;

/// Tables with old data: the table, its key, the time when a row was last used, and the number of
/// rows deleted at once. The calls and answers of a session are deleted with it.
const OLD: &[(&str, &str, &str, usize)] = &[
    ("session", "key", "coalesce(ended, changed)", 5),
    ("span", "trace, span", "received", MAX_ROWS),
    ("log", "unit, sequence", "received", MAX_ROWS),
    ("metric", "hash", "received", MAX_ROWS),
    ("unit", "id", "last", MAX_ROWS),
];

/// State of the maintenance thread.
pub(crate) struct Housekeeping {
    pub(crate) store: Arc<SessionStore>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) retention: Option<SignedDuration>,
    pub(crate) guard_log: Option<PathBuf>,
    pub(crate) runs: Vec<PathBuf>,
    pub(crate) stop: Arc<AtomicBool>,
}

impl Housekeeping {
    /// Runs until it is stopped.
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
                // A failed deletion is repeated after an hour.
                let _ = self.clean();
            }
            std::thread::sleep(TICK);
        }
    }

    /// Returns the number of runs, and the time of the last change to any of them.
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
        for (table, key, age, count) in OLD {
            self.delete(table, key, age, *count, before)?;
        }
        self.give_back()
    }

    /// Deletes older rows, a few at a time. A reader finds them, so that writes do not wait for the
    /// search.
    fn delete(
        &self,
        table: &str,
        key: &str,
        age: &str,
        count: usize,
        before: i64,
    ) -> Result<(), StoreError> {
        let marks = vec!["?"; key.split(',').count()].join(", ");
        let delete = format!("DELETE FROM {table} WHERE ({key}) = ({marks}) AND {age} < ?");
        let mut after: Vec<Sql> = Vec::new();
        while !self.stop.load(Ordering::Relaxed) {
            let from = match after.is_empty() {
                true => String::new(),
                false => format!("({key}) > ({marks}) AND"),
            };
            let find = format!(
                "SELECT {key} FROM {table} WHERE {from} {age} < ? ORDER BY {key} LIMIT {count}"
            );
            let values: Vec<Sql> = after.iter().cloned().chain([before.into()]).collect();
            let keys: Vec<Vec<Sql>> = self.store.read(|db| {
                let mut rows = db.prepare_cached(&find)?;
                let columns = rows.column_count();
                let rows = rows.query_map(params_from_iter(values), |row| {
                    (0..columns).map(|at| row.get(at)).collect()
                })?;
                rows.collect()
            })?;
            let Some(last) = keys.last() else { break };
            after.clone_from(last);
            let delete = delete.clone();
            self.store.write_derived(move |db| {
                let mut delete = db.prepare_cached(&delete)?;
                for key in keys {
                    delete.execute(params_from_iter(key.into_iter().chain([before.into()])))?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Returns unused pages to the file system.
    fn give_back(&self) -> Result<(), StoreError> {
        let free: i64 =
            self.store.read(|db| db.query_row("PRAGMA freelist_count", [], |row| row.get(0)))?;
        for _ in 0..free.unsigned_abs() as usize / PAGES + 1 {
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            self.store.write_derived(|db| {
                // Each row is a page that is given back.
                let mut vacuum = db.prepare(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
                let mut rows = vacuum.query([])?;
                while rows.next()?.is_some() {}
                Ok(())
            })?;
        }
        Ok(())
    }
}

fn size(path: &Path) -> Option<u64> {
    Some(std::fs::metadata(path).ok()?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(store: &SessionStore, question: &str) -> i64 {
        store.read(|db| db.query_row(question, [], |row| row.get(0))).unwrap()
    }

    #[test]
    fn what_is_old_is_deleted_and_its_room_given_back() {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(SessionStore::open(&dir.path().join("s.db")).unwrap());
        let now = Timestamp::now().as_millisecond();
        let put = move |db: &rusqlite::Connection| {
            for n in 0..3_000_i64 {
                // Every third is new.
                let received = if n % 3 == 0 { now } else { 1000 };
                let id = format!("{n:05}");
                let row = (&id, &id, "u", 0, received, "x".repeat(800));
                db.prepare_cached("INSERT INTO span VALUES (?1,?2,?3,?4,?5,?6)")?.execute(row)?;
            }
            Ok(())
        };
        store.write_derived(put).unwrap();
        let pages = number(&store, "PRAGMA page_count");
        let housekeeping = Housekeeping {
            store: Arc::clone(&store),
            hub: Arc::new(Hub::default()),
            retention: Some(SignedDuration::from_hours(1)),
            guard_log: None,
            runs: Vec::new(),
            stop: Arc::default(),
        };
        housekeeping.clean().unwrap();
        assert_eq!(number(&store, "SELECT count(*) FROM span"), 1_000);
        assert_eq!(number(&store, "PRAGMA freelist_count"), 0);
        assert!(number(&store, "PRAGMA page_count") < pages / 2, "of {pages}");
    }
}
