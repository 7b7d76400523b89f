//! Export of the store as Parquet, for data frames and databases.

use crate::store::{Store, StoreError};
use rusqlite::types::ValueRef;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use toolmark_report::{Cell, Kind, Options, ReportError, Row, Table};

/// Maximum number of rows per file, and in memory.
const ROWS: usize = 50_000;

/// Error while exporting the store.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file could not be written.
    #[error("failed to write {file}: {source}")]
    Write {
        /// Path of the file.
        file: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The rows could not be encoded.
    #[error(transparent)]
    Report(#[from] ReportError),
}

/// A table of the export: its file name, its columns, and its query.
type Export = (&'static str, &'static [(&'static str, Kind)], &'static str);

const EXPORTS: &[Export] = &[
    (
        "sessions",
        &[
            ("session", Kind::Text),
            ("path", Kind::Text),
            ("agent", Kind::Text),
            ("version", Kind::Text),
            ("model", Kind::Text),
            ("project", Kind::Text),
            ("started_ms", Kind::Whole),
            ("ended_ms", Kind::Whole),
            ("verdict", Kind::Text),
            ("calls", Kind::Whole),
            ("failed", Kind::Whole),
            ("tokens", Kind::Whole),
            ("cost_usd", Kind::Real),
            ("findings", Kind::Whole),
        ],
        "SELECT id, path, agent, version, model, project, started, ended, verdict, calls, failed,
           tokens, cost / 1e9, findings FROM session ORDER BY key",
    ),
    (
        "calls",
        &[
            ("session", Kind::Text),
            ("number", Kind::Whole),
            ("tool", Kind::Text),
            ("status", Kind::Text),
            ("duration_ms", Kind::Whole),
            ("at_ms", Kind::Whole),
            ("class", Kind::Text),
            ("recovery", Kind::Text),
        ],
        "SELECT id, number, tool, call.status, ms, at, class, recovery
         FROM call JOIN session ON session.key = call.session ORDER BY call.session, number",
    ),
    (
        "evaluations",
        &[
            ("session", Kind::Text),
            ("call_id", Kind::Text),
            ("evaluator", Kind::Text),
            ("version", Kind::Text),
            ("verdict", Kind::Text),
            ("score", Kind::Real),
            ("reason", Kind::Text),
            ("at_ms", Kind::Whole),
        ],
        "SELECT id, call, evaluator, evaluation.version, evaluation.verdict, score, reason, at
         FROM evaluation JOIN session ON session.key = evaluation.session
         ORDER BY evaluation.session, call, evaluator, evaluation.version",
    ),
    (
        "spans",
        &[
            ("session", Kind::Text),
            ("trace", Kind::Text),
            ("span", Kind::Text),
            ("received_ms", Kind::Whole),
            ("origin", Kind::Text),
            ("body", Kind::Text),
        ],
        "SELECT unit, trace, span, received, origin.body, span.body
         FROM span LEFT JOIN origin ON origin.id = span.origin ORDER BY trace, span",
    ),
    (
        "logs",
        &[
            ("session", Kind::Text),
            ("sequence", Kind::Text),
            ("trace", Kind::Text),
            ("received_ms", Kind::Whole),
            ("origin", Kind::Text),
            ("body", Kind::Text),
        ],
        "SELECT unit, sequence, trace, received, origin.body, log.body
         FROM log LEFT JOIN origin ON origin.id = log.origin ORDER BY unit, sequence",
    ),
];

/// Writes sessions, calls, evaluations and telemetry of a store to a directory; returns the written
/// files.
pub fn export_parquet(db: &Path, to: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let store = Store::open(db)?;
    let wrote = |file: &Path, result: io::Result<()>| {
        result.map_err(|source| ExportError::Write { file: file.to_owned(), source })
    };
    wrote(to, fs::create_dir_all(to))?;
    let mut files = Vec::new();
    for (name, columns, question) in EXPORTS {
        let mut from = 0;
        loop {
            let rows = store.read(|db| rows(db, columns, question, from))?;
            // An empty table is a file too, which defines the columns.
            if rows.is_empty() && from > 0 {
                break;
            }
            let (count, part) = (rows.len(), from / ROWS);
            let suffix = if part > 0 { format!("-{part}") } else { String::new() };
            let file = to.join(format!("{name}{suffix}.parquet"));
            // `calls` are already the rows of a check, which have other columns.
            let table = Table::of(&format!("stored_{name}"), columns, rows);
            let mut bytes = Vec::new();
            table.write_parquet(&Options::default(), &mut bytes)?;
            wrote(&file, fs::write(&file, bytes))?;
            files.push(file);
            if count < ROWS {
                break;
            }
            from += ROWS;
        }
    }
    store.close();
    Ok(files)
}

fn rows(
    db: &rusqlite::Connection,
    columns: &[(&'static str, Kind)],
    question: &str,
    from: usize,
) -> rusqlite::Result<Vec<Row>> {
    let mut asked = db.prepare(&format!("{question} LIMIT {ROWS} OFFSET {from}"))?;
    let rows = asked.query_map([], |row| {
        let cell = |(at, (name, kind)): (usize, &(&'static str, Kind))| {
            let value = row.get_ref(at)?;
            let cell = match (kind, value) {
                (Kind::Text, ValueRef::Text(text)) => {
                    Cell::Text(Some(String::from_utf8_lossy(text).into_owned()))
                }
                (Kind::Whole, ValueRef::Integer(number)) => Cell::Whole(Some(number)),
                (Kind::Real, ValueRef::Real(number)) => Cell::Real(Some(number)),
                (Kind::Text, _) => Cell::Text(None),
                (Kind::Whole, _) => Cell::Whole(None),
                (Kind::Real, _) => Cell::Real(None),
                (Kind::Flag, _) => Cell::Flag(None),
            };
            Ok((*name, cell))
        };
        columns.iter().enumerate().map(cell).collect()
    })?;
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_store_is_exported_with_its_columns() {
        let dir = tempfile::tempdir().unwrap();
        let files = export_parquet(&dir.path().join("s.db"), &dir.path().join("out")).unwrap();
        assert_eq!(files.len(), EXPORTS.len());
        for file in files {
            assert!(fs::read(&file).unwrap().starts_with(b"PAR1"), "{file:?}");
        }
    }
}
