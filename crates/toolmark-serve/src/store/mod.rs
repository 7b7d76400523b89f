//! The store: one SQLite file. One thread writes, in groups, and says so only after the
//! group is on disk; any number of readers read beside it.

mod schema;

pub(crate) use schema::SCHEMA_VERSION;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// So many writes wait; more are refused, and whoever sent them tries again.
const MAX_QUEUE: usize = 128;

/// So many writes are one transaction.
const MAX_GROUP: usize = 256;

/// So many connections for reading are kept open.
const MAX_IDLE_READERS: usize = 4;

/// Another process may hold the file for so long.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Why the store could not do something.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Too much is waiting to be written.
    #[error("the store is busy: too many writes are waiting")]
    Busy,
    /// The disk is full.
    #[error("the disk is full")]
    Full,
    /// The file was written by a newer version.
    #[error("{file} was written by a newer version of toolmark (store {found}, this one reads up to {known})", known = SCHEMA_VERSION)]
    Newer {
        /// The file.
        file: String,
        /// Its version.
        found: u32,
    },
    /// The file is a database of something else.
    #[error("{0} is a database, but not a store of toolmark")]
    Foreign(String),
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Other(error.to_string()),
        }
    }
}

type Work = Box<dyn FnOnce(&Connection) -> rusqlite::Result<()> + Send>;
type Done = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

enum Job {
    Write(Work, Done),
    Close,
}

/// The store.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    jobs: SyncSender<Job>,
    writer: Mutex<Option<JoinHandle<()>>>,
    readers: Mutex<Vec<Connection>>,
    problem: Arc<Mutex<Option<StoreError>>>,
}

/// What a lock guards is always whole: nothing that holds one panics half-way.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store {
    /// Opens a store, or makes one.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        schema::migrate(&connection, path)?;
        private(path);
        let (jobs, queue) = sync_channel(MAX_QUEUE);
        let problem = Arc::default();
        let shared = Arc::clone(&problem);
        let writer = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || write_all(connection, &queue, &shared))
            .map_err(|error| StoreError::Other(error.to_string()))?;
        Ok(Self {
            path: path.to_owned(),
            jobs,
            writer: Mutex::new(Some(writer)),
            readers: Mutex::default(),
            problem,
        })
    }

    /// Writes, and returns once it is on disk. Where too much waits, it is refused at once.
    pub(crate) async fn write(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<()> + Send + 'static,
    ) -> Result<(), StoreError> {
        let (tell, told) = tokio::sync::oneshot::channel();
        let done = Box::new(move |result| drop(tell.send(result)));
        match self.jobs.try_send(Job::Write(Box::new(work), done)) {
            Ok(()) => told.await.unwrap_or(Err(StoreError::Closed)),
            Err(TrySendError::Full(_)) => Err(StoreError::Busy),
            Err(TrySendError::Disconnected(_)) => Err(StoreError::Closed),
        }
    }

    /// The same for threads that may wait.
    pub(crate) fn write_blocking(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<()> + Send + 'static,
    ) -> Result<(), StoreError> {
        let (tell, told) = sync_channel(1);
        let done = Box::new(move |result| drop(tell.send(result)));
        let job = Job::Write(Box::new(work), done);
        self.jobs.send(job).map_err(|_| StoreError::Closed)?;
        told.recv().unwrap_or(Err(StoreError::Closed))
    }

    /// Reads, beside whatever is written.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let idle = lock(&self.readers).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.reader()?,
        };
        let result = work(&connection);
        let mut idle = lock(&self.readers);
        if idle.len() < MAX_IDLE_READERS {
            idle.push(connection);
        }
        Ok(result?)
    }

    fn reader(&self) -> Result<Connection, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        Ok(connection)
    }

    /// Why the last write failed, until one succeeds.
    pub(crate) fn problem(&self) -> Option<StoreError> {
        lock(&self.problem).clone()
    }

    /// Writes what waits and closes the file.
    pub(crate) fn close(&self) {
        // Those that only read cannot put the log into the file: the writer is the last.
        lock(&self.readers).clear();
        let _ = self.jobs.send(Job::Close);
        let writer = lock(&self.writer).take();
        if let Some(writer) = writer {
            let _ = writer.join();
        }
    }
}

/// Sessions are nobody else's business.
fn private(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600));
    }
    #[cfg(not(unix))]
    let _ = path;
}

fn write_all(connection: Connection, queue: &Receiver<Job>, problem: &Mutex<Option<StoreError>>) {
    let mut is_open = true;
    while is_open {
        let Ok(first) = queue.recv() else { break };
        let mut next = Some(first);
        let mut waiting: Vec<(Done, Result<(), StoreError>)> = Vec::new();
        let mut begun = connection.execute_batch("BEGIN IMMEDIATE").map_err(StoreError::from);
        while let Some(job) = next.take() {
            match job {
                Job::Close => is_open = false,
                Job::Write(work, done) => {
                    let result = match &begun {
                        Ok(()) => alone(&connection, work),
                        Err(error) => Err(error.clone()),
                    };
                    // A full disk ends the transaction by itself.
                    if result.is_err() && connection.is_autocommit() {
                        begun = begun.and(Err(StoreError::Full));
                    }
                    waiting.push((done, result));
                }
            }
            if is_open && waiting.len() < MAX_GROUP {
                next = queue.try_recv().ok();
            }
        }
        let end = begun.and_then(|()| Ok(connection.execute_batch("COMMIT")?));
        if end.is_err() && !connection.is_autocommit() {
            let _ = connection.execute_batch("ROLLBACK");
        }
        if !waiting.is_empty() {
            let failed = waiting.iter().find_map(|(_, result)| result.clone().err());
            *lock(problem) = end.clone().err().or(failed);
        }
        for (done, result) in waiting {
            done(end.clone().and(result));
        }
    }
    // Whoever opens the file next finds one file and not three.
    let _ = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
}

/// Does one write; one that fails takes none of the others with it.
fn alone(connection: &Connection, work: Work) -> Result<(), StoreError> {
    connection.execute_batch("SAVEPOINT one")?;
    match work(connection) {
        Ok(()) => Ok(connection.execute_batch("RELEASE one")?),
        Err(error) => {
            let _ = connection.execute_batch("ROLLBACK TO one; RELEASE one");
            Err(error.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(store: &Store) -> i64 {
        store.read(|db| db.query_row("SELECT count(*) FROM trace_unit", [], |r| r.get(0))).unwrap()
    }

    fn insert(store: &Store, trace: &'static str) -> Result<(), StoreError> {
        store.write_blocking(move |db| {
            db.execute("INSERT INTO trace_unit VALUES (?1, 'u')", [trace]).map(drop)
        })
    }

    #[test]
    fn what_is_written_is_there_after_closing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.db");
        let store = Store::open(&path).unwrap();
        insert(&store, "a").unwrap();
        // A write that fails does not undo its neighbours.
        assert!(insert(&store, "a").is_err());
        assert!(store.problem().is_some());
        insert(&store, "b").unwrap();
        assert!(store.problem().is_none());
        assert_eq!(count(&store), 2);
        store.close();
        assert!(matches!(insert(&store, "c"), Err(StoreError::Closed)));
        assert_eq!(count(&Store::open(&path).unwrap()), 2);
    }

    #[test]
    fn a_full_disk_refuses_and_recovers() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("s.db")).unwrap();
        let limit = |pages: u32| {
            store
                .write_blocking(move |db| {
                    db.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
                })
                .unwrap();
        };
        insert(&store, "a").unwrap();
        limit(1);
        let large = |name: String| {
            store.write_blocking(move |db| {
                let text = "x".repeat(100_000);
                db.execute("INSERT INTO trace_unit VALUES (?1, ?2)", [&name, &text]).map(drop)
            })
        };
        let full = (0..100).find_map(|n| large(format!("t{n}")).err());
        assert!(matches!(full, Some(StoreError::Full)), "{full:?}");
        assert!(matches!(store.problem(), Some(StoreError::Full)));
        limit(1_000_000);
        large("after".to_owned()).unwrap();
        assert!(store.problem().is_none());
        insert(&store, "b").unwrap();
    }

    #[test]
    fn stores_of_others_and_of_the_future_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let newer = dir.path().join("newer.db");
        Store::open(&newer).unwrap().close();
        Connection::open(&newer)
            .unwrap()
            .pragma_update(None, "user_version", SCHEMA_VERSION + 1)
            .unwrap();
        let error = Store::open(&newer).unwrap_err();
        assert!(error.to_string().contains("newer version of toolmark"), "{error}");
        let other = dir.path().join("other.db");
        Connection::open(&other).unwrap().execute_batch("CREATE TABLE t(x)").unwrap();
        assert!(matches!(Store::open(&other), Err(StoreError::Foreign(_))));
        let text = dir.path().join("text.db");
        std::fs::write(&text, "not a database, but long enough to be looked at").unwrap();
        assert!(Store::open(&text).is_err());
    }
}
