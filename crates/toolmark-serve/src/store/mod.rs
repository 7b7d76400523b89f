//! The store: one SQLite file. One thread writes, requests first and in groups, and acknowledges
//! them only after the group is on disk; any number of readers read concurrently.

mod checkpoint;
mod schema;
mod writer;

pub(crate) use schema::SCHEMA_VERSION;

use checkpoint::{Checkpointer, LogLimits};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
pub(crate) use toolmark_base::lock;
use writer::{Queue, write_all};

/// Maximum number of idle reader connections.
const MAX_IDLE_READERS: usize = 4;

/// Maximum time to wait for a lock of another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Error of the store.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The write queue is full.
    #[error("the store is busy: too many writes are waiting")]
    Busy,
    /// The disk is full.
    #[error("the disk is full")]
    Full,
    /// The file was written by a newer version.
    #[error("{file} was written by a newer version of toolmark (store {found}, this one reads up to {known})", known = SCHEMA_VERSION)]
    Newer {
        /// Path of the file.
        file: String,
        /// Schema version of the file.
        found: u32,
    },
    /// The file is a database of another program.
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

/// The store.
pub(crate) struct SessionStore {
    path: PathBuf,
    queue: Arc<Queue>,
    checkpointer: Arc<Checkpointer>,
    /// The writer thread and the checkpoint thread.
    threads: Mutex<Vec<JoinHandle<()>>>,
    readers: Mutex<Vec<Connection>>,
    problem: Arc<Mutex<Option<StoreError>>>,
}

impl std::fmt::Debug for SessionStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Drop for SessionStore {
    fn drop(&mut self) {
        self.checkpointer.close();
        self.queue.close();
    }
}

impl SessionStore {
    /// Opens a store, or creates it.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_with(path, LogLimits::default())
    }

    fn open_with(path: &Path, limits: LogLimits) -> Result<Self, StoreError> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        schema::migrate(&connection, path)?;
        private(path);
        let checkpointer = Checkpointer::new(&connection, limits)?;
        let (queue, problem) = (Arc::new(Queue::default()), Arc::default());
        let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
            thread.map_err(|error| StoreError::Other(error.to_string()))
        };
        let (waiting, shared) = (Arc::clone(&queue), Arc::clone(&problem));
        let copying = Arc::clone(&checkpointer);
        let writer = move || {
            write_all(&connection, &waiting, &shared, &copying);
            // The log is merged into the file, so that one file is left instead of three.
            let _ = connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
        };
        let (copying, file) = (Arc::clone(&checkpointer), path.to_owned());
        let threads = vec![
            spawn("checkpoint", Box::new(move || copying.run(&file)))?,
            spawn("store", Box::new(writer))?,
        ];
        Ok(Self {
            path: path.to_owned(),
            queue,
            checkpointer,
            threads: Mutex::new(threads),
            readers: Mutex::default(),
            problem,
        })
    }

    /// Writes the data of a request, and returns once they are on disk. Fails immediately if the
    /// queue is full.
    pub(crate) async fn write(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<()> + Send + 'static,
    ) -> Result<(), StoreError> {
        let (tell, told) = tokio::sync::oneshot::channel();
        let done = Box::new(move |result| drop(tell.send(result)));
        self.queue.request(Box::new(work), done)?;
        told.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Writes data derived from stored data or from files; requests go first. The write survives a
    /// crash of the process, but is on disk only with the next request. Callers split large writes,
    /// because requests wait for each part.
    pub(crate) fn write_derived(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<()> + Send + 'static,
    ) -> Result<(), StoreError> {
        let (tell, told) = sync_channel(1);
        let done = Box::new(move |result| drop(tell.send(result)));
        self.queue.derive(Box::new(work), done)?;
        told.recv().unwrap_or(Err(StoreError::Closed))
    }

    /// Reads, concurrently with writes.
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

    /// The error of the last write, until one succeeds.
    pub(crate) fn problem(&self) -> Option<StoreError> {
        lock(&self.problem).clone()
    }

    /// Writes the queue and closes the file.
    pub(crate) fn close(&self) {
        // Those that only read cannot put the log into the file: the writer is the last.
        lock(&self.readers).clear();
        self.checkpointer.close();
        self.queue.close();
        let threads = std::mem::take(&mut *lock(&self.threads));
        threads.into_iter().for_each(|thread| drop(thread.join()));
    }
}

/// Restricts a file to its owner, because sessions are private.
fn private(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600));
    }
    #[cfg(not(unix))]
    let _ = path;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(store: &SessionStore) -> i64 {
        store.read(|db| db.query_row("SELECT count(*) FROM trace_unit", [], |r| r.get(0))).unwrap()
    }

    fn insert(store: &SessionStore, trace: &'static str) -> Result<(), StoreError> {
        store.write_derived(move |db| {
            db.execute("INSERT INTO trace_unit VALUES (?1, 'u')", [trace]).map(drop)
        })
    }

    #[test]
    fn what_is_written_is_there_after_closing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.db");
        let store = SessionStore::open(&path).unwrap();
        insert(&store, "a").unwrap();
        // A write that fails does not undo its neighbours.
        assert!(insert(&store, "a").is_err());
        assert!(store.problem().is_some());
        insert(&store, "b").unwrap();
        assert!(store.problem().is_none());
        assert_eq!(count(&store), 2);
        store.close();
        assert!(matches!(insert(&store, "c"), Err(StoreError::Closed)));
        assert_eq!(count(&SessionStore::open(&path).unwrap()), 2);
    }

    #[test]
    fn a_full_disk_refuses_and_recovers() {
        let dir = tempfile::tempdir().unwrap();
        let store = SessionStore::open(&dir.path().join("s.db")).unwrap();
        let limit = |pages: u32| {
            store
                .write_derived(move |db| {
                    db.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
                })
                .unwrap();
        };
        insert(&store, "a").unwrap();
        limit(1);
        let large = |name: String| {
            store.write_derived(move |db| {
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

    /// Size of the log in bytes.
    fn log_size(path: &Path) -> u64 {
        std::fs::metadata(path.with_extension("db-wal")).unwrap().len()
    }

    #[test]
    fn the_log_does_not_grow_with_what_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.db");
        let limits = LogLimits { behind: 20, long: 40, end: 10, longest: 200 };
        let store = SessionStore::open_with(&path, limits).unwrap();
        let text: Arc<str> = "x".repeat(4 * 4096).into();
        for n in 0..400 {
            let text = Arc::clone(&text);
            let put = move |db: &Connection| {
                db.execute("INSERT INTO trace_unit VALUES (?1, ?2)", (n.to_string(), &*text))
                    .map(drop)
            };
            store.write_derived(put).unwrap();
        }
        // 400 rows of four pages and more; the log is begun anew at 200.
        assert!(log_size(&path) < 300 * 4096 + 300 * 24, "{}", log_size(&path));
        assert_eq!(count(&store), 400);
        store.close();
        assert_eq!(count(&SessionStore::open(&path).unwrap()), 400);
    }

    #[test]
    fn stores_of_others_and_of_the_future_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let newer = dir.path().join("newer.db");
        SessionStore::open(&newer).unwrap().close();
        Connection::open(&newer)
            .unwrap()
            .pragma_update(None, "user_version", SCHEMA_VERSION + 1)
            .unwrap();
        let error = SessionStore::open(&newer).unwrap_err();
        assert!(error.to_string().contains("newer version of toolmark"), "{error}");
        let other = dir.path().join("other.db");
        Connection::open(&other).unwrap().execute_batch("CREATE TABLE t(x)").unwrap();
        assert!(matches!(SessionStore::open(&other), Err(StoreError::Foreign(_))));
        let text = dir.path().join("text.db");
        std::fs::write(&text, "not a database, but long enough to be looked at").unwrap();
        assert!(SessionStore::open(&text).is_err());
    }
}
