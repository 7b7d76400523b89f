//! Export of the store as Parquet, for data frames and databases.

use crate::store::{SessionStore, StoreError};
use rusqlite::types::ValueRef;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use toolmark_report::{ColumnKind, ReportError, ReportOptions, RowTable, TableCell, TableRow};

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
type Export = (&'static str, &'static [(&'static str, ColumnKind)], &'static str);

const EXPORTS: &[Export] = &[
    (
        "sessions",
        &[
            ("session", ColumnKind::Text),
            ("path", ColumnKind::Text),
            ("agent", ColumnKind::Text),
            ("version", ColumnKind::Text),
            ("model", ColumnKind::Text),
            ("project", ColumnKind::Text),
            ("started_ms", ColumnKind::Whole),
            ("ended_ms", ColumnKind::Whole),
            ("verdict", ColumnKind::Text),
            ("calls", ColumnKind::Whole),
            ("failed", ColumnKind::Whole),
            ("tokens", ColumnKind::Whole),
            ("cost_usd", ColumnKind::Real),
            ("findings", ColumnKind::Whole),
        ],
        "SELECT id, path, agent, version, model, project, started, ended, verdict, calls, failed,
           tokens, cost / 1e9, findings FROM session ORDER BY key",
    ),
    (
        "calls",
        &[
            ("session", ColumnKind::Text),
            ("number", ColumnKind::Whole),
            ("tool", ColumnKind::Text),
            ("status", ColumnKind::Text),
            ("duration_ms", ColumnKind::Whole),
            ("at_ms", ColumnKind::Whole),
            ("class", ColumnKind::Text),
            ("recovery", ColumnKind::Text),
        ],
        "SELECT id, number, tool, call.status, ms, at, class, recovery
         FROM call JOIN session ON session.key = call.session ORDER BY call.session, number",
    ),
    (
        "evaluations",
        &[
            ("session", ColumnKind::Text),
            ("call_id", ColumnKind::Text),
            ("evaluator", ColumnKind::Text),
            ("version", ColumnKind::Text),
            ("verdict", ColumnKind::Text),
            ("score", ColumnKind::Real),
            ("reason", ColumnKind::Text),
            ("at_ms", ColumnKind::Whole),
        ],
        "SELECT id, call, evaluator, evaluation.version, evaluation.verdict, score, reason, at
         FROM evaluation JOIN session ON session.key = evaluation.session
         ORDER BY evaluation.session, call, evaluator, evaluation.version",
    ),
    (
        "spans",
        &[
            ("session", ColumnKind::Text),
            ("trace", ColumnKind::Text),
            ("span", ColumnKind::Text),
            ("received_ms", ColumnKind::Whole),
            ("origin", ColumnKind::Text),
            ("body", ColumnKind::Text),
        ],
        "SELECT unit, trace, span, received, origin.body, span.body
         FROM span LEFT JOIN origin ON origin.id = span.origin ORDER BY trace, span",
    ),
    (
        "logs",
        &[
            ("session", ColumnKind::Text),
            ("sequence", ColumnKind::Text),
            ("trace", ColumnKind::Text),
            ("received_ms", ColumnKind::Whole),
            ("origin", ColumnKind::Text),
            ("body", ColumnKind::Text),
        ],
        "SELECT unit, sequence, trace, received, origin.body, log.body
         FROM log LEFT JOIN origin ON origin.id = log.origin ORDER BY unit, sequence",
    ),
];

/// Writes sessions, calls, evaluations and telemetry of a store to a directory; returns the written
/// files.
pub fn export_parquet(db: &Path, to: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let store = SessionStore::open(db)?;
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
            let table = RowTable::of(&format!("stored_{name}"), columns, rows);
            let mut bytes = Vec::new();
            table.write_parquet(&ReportOptions::default(), &mut bytes)?;
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
    columns: &[(&'static str, ColumnKind)],
    question: &str,
    from: usize,
) -> rusqlite::Result<Vec<TableRow>> {
    let mut asked = db.prepare(&format!("{question} LIMIT {ROWS} OFFSET {from}"))?;
    let rows = asked.query_map([], |row| {
        let cell = |(at, (name, kind)): (usize, &(&'static str, ColumnKind))| {
            let value = row.get_ref(at)?;
            let cell = match (kind, value) {
                (ColumnKind::Text, ValueRef::Text(text)) => {
                    TableCell::Text(Some(String::from_utf8_lossy(text).into_owned()))
                }
                (ColumnKind::Whole, ValueRef::Integer(number)) => TableCell::Whole(Some(number)),
                (ColumnKind::Real, ValueRef::Real(number)) => TableCell::Real(Some(number)),
                (ColumnKind::Text, _) => TableCell::Text(None),
                (ColumnKind::Whole, _) => TableCell::Whole(None),
                (ColumnKind::Real, _) => TableCell::Real(None),
                (ColumnKind::Flag, _) => TableCell::Flag(None),
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
