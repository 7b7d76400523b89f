//! The tables of the store, and the migrations from older versions.

use super::StoreError;
use rusqlite::Connection;
use std::path::Path;

/// Schema version. A change adds a step to [`STEPS`].
pub(crate) const SCHEMA_VERSION: u32 = STEPS.len() as u32;

/// Application ID of the database: "tmrk".
const APPLICATION: u32 = 0x746d_726b;

/// Migrations, each to the next version.
const STEPS: &[&str] = &[V1, V2, V3];

const V1: &str = "
-- A file of sessions, as it was when it was read.
CREATE TABLE source_file(
  path TEXT PRIMARY KEY,
  inode INTEGER NOT NULL,
  size INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  -- How many bytes from the start were complete lines, and a hash of the first of them.
  offset INTEGER NOT NULL,
  prefix BLOB NOT NULL,
  problem TEXT
) WITHOUT ROWID;

-- One session, however it came here. `body` is the row of the API; the columns are what
-- it is filtered and sorted by.
CREATE TABLE session(
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  path TEXT,
  run INTEGER NOT NULL DEFAULT 0,
  agent TEXT, version TEXT, model TEXT, project TEXT,
  started INTEGER, ended INTEGER,
  changed INTEGER NOT NULL,
  -- Another number each time the session was evaluated.
  evaluated INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  calls INTEGER, failed INTEGER, tokens INTEGER, cost INTEGER,
  findings INTEGER NOT NULL,
  words TEXT NOT NULL,
  body TEXT NOT NULL,
  batch TEXT NOT NULL,
  -- What telemetry says of the same session, where there is any.
  telemetry TEXT
);
CREATE INDEX session_changed ON session(changed);
CREATE INDEX session_started ON session(started);
CREATE INDEX session_path ON session(path);
CREATE INDEX session_evaluated ON session(evaluated);

CREATE TABLE call(
  session INTEGER NOT NULL REFERENCES session(key) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  tool TEXT NOT NULL,
  status TEXT NOT NULL,
  ms INTEGER,
  at INTEGER,
  byte INTEGER NOT NULL,
  class TEXT,
  recovery TEXT,
  PRIMARY KEY(session, number)
) WITHOUT ROWID;
CREATE INDEX call_tool ON call(tool, ms);

-- Resource and scope, which many spans share.
CREATE TABLE origin(
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  body TEXT NOT NULL
);
CREATE TABLE span(
  trace TEXT NOT NULL,
  span TEXT NOT NULL,
  unit TEXT NOT NULL,
  origin INTEGER NOT NULL,
  received INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY(trace, span)
) WITHOUT ROWID;
CREATE INDEX span_unit ON span(unit);
CREATE TABLE log(
  unit TEXT NOT NULL,
  -- `event.sequence` where there is one, else a hash of the record.
  sequence TEXT NOT NULL,
  trace TEXT NOT NULL,
  origin INTEGER NOT NULL,
  received INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY(unit, sequence)
) WITHOUT ROWID;
CREATE INDEX log_trace ON log(trace);
CREATE TABLE metric(
  hash BLOB PRIMARY KEY,
  received INTEGER NOT NULL,
  body TEXT NOT NULL
) WITHOUT ROWID;
-- Spans that do not name their session belong to that of their trace.
CREATE TABLE trace_unit(
  trace TEXT PRIMARY KEY,
  unit TEXT NOT NULL
) WITHOUT ROWID;
-- What telemetry came for, and when it is to be evaluated.
CREATE TABLE unit(
  id TEXT PRIMARY KEY,
  ingest_key TEXT,
  last INTEGER NOT NULL,
  -- A moment after its root came.
  root_due INTEGER,
  -- After it has been silent for long.
  quiet_due INTEGER
) WITHOUT ROWID;
CREATE INDEX unit_root_due ON unit(root_due) WHERE root_due IS NOT NULL;
CREATE INDEX unit_quiet_due ON unit(quiet_due) WHERE quiet_due IS NOT NULL;

CREATE TABLE evaluation(
  session INTEGER NOT NULL REFERENCES session(key) ON DELETE CASCADE,
  call INTEGER NOT NULL,
  evaluator TEXT NOT NULL,
  version TEXT NOT NULL,
  verdict TEXT NOT NULL,
  score REAL,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY(session, call, evaluator, version)
) WITHOUT ROWID;
";

/// Answers are stored by the ID of the call, because its number changes while a session with
/// sub-agents grows. Answers of version 1 are created again when their session is evaluated.
const V2: &str = "
DROP TABLE evaluation;
CREATE TABLE evaluation(
  session INTEGER NOT NULL REFERENCES session(key) ON DELETE CASCADE,
  -- The id of the call, or its place in the file; empty for the session as a whole.
  call TEXT NOT NULL,
  evaluator TEXT NOT NULL,
  version TEXT NOT NULL,
  verdict TEXT NOT NULL,
  score REAL,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY(session, call, evaluator, version)
) WITHOUT ROWID;
CREATE INDEX evaluation_evaluator ON evaluation(evaluator, version, verdict);
-- Sums over all sessions, without reading them.
CREATE INDEX session_sums ON session(calls, failed, findings);
";

/// Occurrences are read at every start. They are separate from the rest of a session and have a
/// number that is never reused, which identifies the changed ones. Data of version 2 are derived
/// again from files and telemetry.
const V3: &str = "
CREATE TABLE session_feed(
  session INTEGER PRIMARY KEY REFERENCES session(key) ON DELETE CASCADE,
  id TEXT NOT NULL,
  evaluated INTEGER NOT NULL,
  batch BLOB NOT NULL
);
CREATE INDEX session_feed_evaluated ON session_feed(evaluated);
CREATE TABLE sequence(value INTEGER NOT NULL);
INSERT INTO sequence VALUES (0);
DROP INDEX session_evaluated;
ALTER TABLE session DROP COLUMN evaluated;
ALTER TABLE session DROP COLUMN batch;
DELETE FROM source_file;
UPDATE unit SET quiet_due = 0;
";

/// Creates the tables, or migrates those of an older version.
pub(super) fn migrate(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let number = |name: &str| db.pragma_query_value(None, name, |row| row.get::<_, u32>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let file = || path.display().to_string();
    let tables: u32 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application != APPLICATION && tables > 0 {
        return Err(StoreError::Foreign(file()));
    }
    if version > SCHEMA_VERSION {
        return Err(StoreError::Newer { file: file(), found: version });
    }
    // Only a database without tables can still be told to give space back.
    if tables == 0 {
        db.execute_batch("PRAGMA auto_vacuum=INCREMENTAL")?;
    }
    db.execute_batch(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;
         PRAGMA cache_size=-8000; PRAGMA journal_size_limit=67108864;",
    )?;
    if version < SCHEMA_VERSION {
        db.execute_batch("BEGIN IMMEDIATE")?;
        for step in &STEPS[version as usize..] {
            db.execute_batch(step)?;
        }
        db.pragma_update(None, "application_id", APPLICATION)?;
        db.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        db.execute_batch("COMMIT")?;
    }
    Ok(())
}
