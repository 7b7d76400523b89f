//! Loaded sessions: a few are cached, the others are read from their file or from the telemetry in
//! the store.

use crate::otlp::records;
use crate::sessions::StoredSession;
use crate::store::{SessionStore, StoreError, lock};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::SystemTime;
use toolmark_check::Checker;
use toolmark_outcome::Finding;
use toolmark_trace::{ReadError, ReadOptions, Trajectory, load_path, read};

/// Maximum number of cached sessions.
const MAX_KEPT: usize = 6;

/// Maximum number of calls in the cached sessions, not counting the most recent session.
const MAX_KEPT_CALLS: usize = 1000;

/// A loaded session.
pub(crate) struct Book {
    run: Trajectory,
    findings: OnceLock<Vec<Vec<Finding>>>,
}

/// Reason for failing to load a session.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("{0}")]
    Trace(#[from] ReadError),
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("the session is no longer in {0}")]
    Gone(String),
}

impl Book {
    pub(crate) fn new(run: Trajectory) -> Self {
        Self { run, findings: OnceLock::new() }
    }

    /// The run of the session.
    pub(crate) fn run(&self) -> &Trajectory {
        &self.run
    }

    /// The findings of the run and of each of its sub-agents.
    pub(crate) fn findings(&self) -> &[Vec<Finding>] {
        self.findings.get_or_init(|| {
            let checker = Checker::default();
            self.run.flatten().into_iter().map(|one| checker.check_alone(one).findings).collect()
        })
    }
}

/// State of a session, to detect changes.
#[derive(PartialEq, Eq)]
struct Stamp {
    id: String,
    changed: i64,
    modified: Option<SystemTime>,
    size: u64,
}

/// The cache of recently loaded sessions.
#[derive(Default)]
pub(crate) struct Library {
    kept: Mutex<Vec<(Stamp, Arc<Book>)>>,
}

impl Library {
    /// Returns a session, reading it unless it is unchanged since the last time.
    pub(crate) fn open(
        &self,
        store: &SessionStore,
        found: &StoredSession,
    ) -> Result<Arc<Book>, Unreadable> {
        let data = found.row.path.as_ref().and_then(|path| std::fs::metadata(path).ok());
        let stamp = Stamp {
            id: found.row.id.clone(),
            changed: found.changed,
            modified: data.as_ref().and_then(|data| data.modified().ok()),
            size: data.map_or(0, |data| data.len()),
        };
        if let Some(book) = self.take(&stamp) {
            return Ok(book);
        }
        let book = Arc::new(Book::new(read_session(store, found)?));
        let mut kept = lock(&self.kept);
        kept.retain(|(other, _)| other.id != stamp.id);
        kept.insert(0, (stamp, Arc::clone(&book)));
        let mut calls = 0;
        let fits = kept.iter().skip(1).take_while(|(_, book)| {
            calls += book.run.flatten().iter().map(|one| one.calls.len()).sum::<usize>();
            calls <= MAX_KEPT_CALLS
        });
        let fits = 1 + fits.take(MAX_KEPT - 1).count();
        kept.truncate(fits);
        Ok(book)
    }

    fn take(&self, stamp: &Stamp) -> Option<Arc<Book>> {
        let mut kept = lock(&self.kept);
        let at = kept.iter().position(|(other, _)| other == stamp)?;
        let one = kept.remove(at);
        let book = Arc::clone(&one.1);
        kept.insert(0, one);
        Some(book)
    }
}

/// Reads a session from its file, or from the telemetry in the store.
pub(crate) fn read_session(
    store: &SessionStore,
    found: &StoredSession,
) -> Result<Trajectory, Unreadable> {
    match &found.row.path {
        Some(path) => {
            let runs = load_path(Path::new(path), &ReadOptions::default())?.runs;
            runs.into_iter().nth(found.run).ok_or_else(|| Unreadable::Gone(path.clone()))
        }
        None => of_telemetry(store, &found.row.id)?
            .ok_or_else(|| Unreadable::Gone("the store".to_owned())),
    }
}

/// Returns the run recorded by the telemetry of a session.
pub(crate) fn of_telemetry(
    store: &SessionStore,
    unit: &str,
) -> Result<Option<Trajectory>, Unreadable> {
    let text = store.read(|db| records::of_unit(db, unit))?;
    if text.is_empty() {
        return Ok(None);
    }
    let name = format!("otlp/{unit}");
    let bytes = std::io::Cursor::new(text.into_bytes());
    let runs = read(bytes, &name, &ReadOptions::default())?;
    // One session may have many traces, of which some are only parts.
    Ok(runs.max_by_key(|run| {
        let is_named = run.id.as_ref().is_some_and(|id| id.get() == unit);
        (is_named, run.calls.len(), run.events.len())
    }))
}
