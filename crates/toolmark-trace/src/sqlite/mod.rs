//! Reads sessions from the SQLite stores of coding agents as JSON lines.
//!
//! OpenCode, Goose, Crush and the Cursor editor keep their sessions in
//! databases. [`open`] detects the agent by the tables of the database and
//! returns a stream with one JSON document per line. Each document is a session,
//! in the format of the agent's own export if it has one.
//!
//! The agent may be running. The database is opened read-only; a database without
//! a write-ahead log is opened as immutable, so that not even a lock is taken. A
//! write-ahead log is also read, since it holds the newest messages: readers of
//! such a database do not block other programs. One session is in memory at a time.
//!
//! ```no_run
//! use std::io::Read;
//!
//! let mut lines = String::new();
//! toolmark_trace::sqlite::open("opencode.db".as_ref())?.read_to_string(&mut lines)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod stores;

use rusqlite::{Connection, OpenFlags};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;
use stores::StoreKind;

/// Error when opening a session store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be opened.
    #[error("a database that cannot be opened: {0}")]
    Open(#[source] rusqlite::Error),
    /// Not a supported session store; holds the names of the tables.
    #[error("a database but not the store of a known agent: it has the tables {0}")]
    Unknown(String),
}

/// Returns whether a file that starts with `head` is an SQLite database.
#[must_use]
pub fn is_database(head: &[u8]) -> bool {
    head.starts_with(b"SQLite format 3\0")
}

/// Opens a store and returns its sessions, oldest first, one per line.
pub fn open(path: &Path) -> Result<StoreSessions, StoreError> {
    let connection = connect(path).map_err(StoreError::Open)?;
    let tables = table_names(&connection).map_err(StoreError::Open)?;
    let Some(mut store) = StoreKind::of(&tables) else {
        return Err(StoreError::Unknown(tables.join(", ")));
    };
    let ids = store.sessions(&connection).map_err(StoreError::Open)?;
    Ok(StoreSessions { connection, store, ids: ids.into(), line: Vec::new(), sent: 0 })
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    const BUSY_TIMEOUT: Duration = Duration::from_secs(2);
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let has_log = std::fs::metadata(log).is_ok_and(|log| log.len() > 0);
    let immutable = if has_log { "" } else { "&immutable=1" };
    let uri = format!("file:{}?mode=ro{immutable}", escaped(path));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

/// Escapes a path for use in a URI.
fn escaped(path: &Path) -> String {
    let path = path.to_string_lossy();
    let mut escaped = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'?' | b'#' | b'%' => escaped.push_str(&format!("%{byte:02x}")),
            b'\\' if cfg!(windows) => escaped.push('/'),
            _ => escaped.push(char::from(byte)),
        }
    }
    escaped
}

fn table_names(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut query =
        connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")?;
    let names = query.query_map([], |row| row.get(0))?;
    names.collect()
}

/// Sessions of a store, as a stream of JSON lines.
#[derive(Debug)]
pub struct StoreSessions {
    connection: Connection,
    store: StoreKind,
    /// IDs of the sessions that have not been read yet.
    ids: VecDeque<String>,
    line: Vec<u8>,
    sent: usize,
}

impl Read for StoreSessions {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.sent >= self.line.len() {
            let Some(id) = self.ids.pop_front() else { return Ok(0) };
            let session = self.store.session(&self.connection, &id).map_err(io::Error::other)?;
            self.line.clear();
            self.sent = 0;
            serde_json::to_writer(&mut self.line, &session)?;
            self.line.push(b'\n');
        }
        let rest = &self.line[self.sent..];
        let count = rest.len().min(to.len());
        to[..count].copy_from_slice(&rest[..count]);
        self.sent += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use serde_json::{Value, json};
    use std::path::PathBuf;

    fn store(schema: &str) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a store#1.db");
        Connection::open(&path).unwrap().execute_batch(schema).unwrap();
        (dir, path)
    }

    fn lines(path: &Path) -> Vec<Value> {
        let mut text = String::new();
        open(path).unwrap().read_to_string(&mut text).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn opencode() {
        let (_dir, path) = store(
            r#"CREATE TABLE session (id TEXT, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, version TEXT, time_created INTEGER, time_updated INTEGER);
            CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
            CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
            INSERT INTO session VALUES ('s', 'p', NULL, '/w', 't', '1', 5, 6);
            INSERT INTO message VALUES ('m', 's', 5, 5, '{"role":"user"}');
            INSERT INTO part VALUES ('q2', 'm', 's', 5, 5, 'broken');
            INSERT INTO part VALUES ('q1', 'm', 's', 5, 5, '{"type":"text","text":"hi"}');"#,
        );
        assert_eq!(
            lines(&path),
            [json!({
                "info": {"id": "s", "projectID": "p", "directory": "/w", "title": "t", "version": "1", "time": {"created": 5, "updated": 6}},
                "messages": [{
                    "info": {"id": "m", "sessionID": "s", "role": "user"},
                    "parts": [
                        {"id": "q1", "messageID": "m", "sessionID": "s", "type": "text", "text": "hi"},
                        {"id": "q2", "messageID": "m", "sessionID": "s", "invalid": "broken"},
                    ],
                }],
            })]
        );
    }

    #[test]
    fn goose() {
        let (_dir, path) = store(
            r#"CREATE TABLE sessions (id TEXT, description TEXT, working_dir TEXT, created_at TEXT, accumulated_input_tokens INTEGER, user_recipe_values_json TEXT);
            CREATE TABLE messages (id INTEGER, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);
            INSERT INTO sessions VALUES ('1', 'd', '/w', '2026-01-01 00:00:00', 7, NULL);
            INSERT INTO messages VALUES (1, '1', 'user', '[{"type":"text","text":"hi"}]', 1767225600, '{"userVisible":true}');"#,
        );
        assert_eq!(
            lines(&path),
            [json!({
                "id": "1", "description": "d", "working_dir": "/w", "created_at": "2026-01-01 00:00:00", "accumulated_input_tokens": 7,
                "conversation": [{"role": "user", "created": 1_767_225_600, "content": [{"type": "text", "text": "hi"}], "metadata": {"userVisible": true}}],
            })]
        );
    }

    #[test]
    fn crush() {
        let (_dir, path) = store(
            r#"CREATE TABLE sessions (id TEXT, parent_session_id TEXT, title TEXT, message_count INTEGER, cost REAL, created_at INTEGER);
            CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INTEGER);
            INSERT INTO sessions VALUES ('b', NULL, 't', 1, 0.5, 9), ('a', NULL, 't', 0, 0.0, 5);
            INSERT INTO messages VALUES ('m', 'b', 'user', '[{"type":"text","data":{"text":"hi"}}]', NULL, 9);"#,
        );
        let found = lines(&path);
        assert_eq!(found[0]["session"]["id"], "a");
        assert_eq!(
            found[1],
            json!({
                "session": {"id": "b", "title": "t", "message_count": 1, "cost": 0.5, "created_at": 9},
                "messages": [{"id": "m", "role": "user", "parts": [{"type": "text", "data": {"text": "hi"}}], "created_at": 9}],
            })
        );
    }

    #[test]
    fn cursor() {
        let (_dir, path) = store(
            r#"CREATE TABLE ItemTable (key TEXT, value BLOB);
            CREATE TABLE cursorDiskKV (key TEXT, value BLOB);
            INSERT INTO ItemTable VALUES ('secret', 'token');
            INSERT INTO cursorDiskKV VALUES ('composerData:k', '{"composerId":"k","fullConversationHeadersOnly":[{"bubbleId":"b2"},{"bubbleId":"b1"}]}'),
                ('composerData:empty', NULL), ('composerData:none', '{"composerId":"none"}'),
                ('bubbleId:k:b1', '{"type":2}'), ('bubbleId:k:b2', CAST('{"type":1}' AS BLOB)), ('bubbleId:k:b3', '{"type":2,"text":"lost"}'), ('bubbleId:k:b4', NULL);"#,
        );
        let found = lines(&path);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["composer"]["composerId"], "k");
        assert_eq!(
            found[0]["bubbles"],
            json!([{"type": 1}, {"type": 2}, {"type": 2, "text": "lost"}])
        );
    }

    #[test]
    fn a_store_in_use_is_read_with_its_log_and_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("crush.db");
        let writer = Connection::open(&path).unwrap();
        writer
            .execute_batch(
                "PRAGMA journal_mode = WAL;
                CREATE TABLE sessions (id TEXT, message_count INTEGER, created_at INTEGER);
                CREATE TABLE messages (id TEXT, session_id TEXT, parts TEXT, created_at INTEGER);
                INSERT INTO sessions VALUES ('a', 0, 1);",
            )
            .unwrap();
        let files = || {
            let entries = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap());
            let mut files: Vec<_> =
                entries.map(|e| (e.file_name(), e.metadata().unwrap().len())).collect();
            files.sort();
            files
        };
        let before = files();
        let mut open_store = open(&path).unwrap();
        // The program keeps writing while its store is read.
        writer.execute("INSERT INTO sessions VALUES ('b', 0, 2)", []).unwrap();
        let mut text = String::new();
        open_store.read_to_string(&mut text).unwrap();
        assert!(text.contains("\"a\""), "{text}");
        drop(open_store);
        writer.execute("DELETE FROM sessions WHERE id = 'b'", []).unwrap();
        let names = |files: Vec<(std::ffi::OsString, u64)>| -> Vec<_> {
            files.into_iter().map(|(name, _)| name).collect()
        };
        assert_eq!(names(files()), names(before));
    }

    #[test]
    fn other_databases_are_refused() {
        let (_dir, path) = store("CREATE TABLE users (id TEXT)");
        let error = open(&path).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a database but not the store of a known agent: it has the tables users"
        );
        assert!(is_database(&std::fs::read(&path).unwrap()));
        std::fs::write(&path, "no database").unwrap();
        assert!(matches!(open(&path), Err(StoreError::Open(_))));
    }
}
