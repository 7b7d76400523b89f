//! Dataset rows from which cases are generated, and Jinja templates over them.
//!
//! JSON Lines, CSV, JSON and Parquet are recognized by the file extension or, if that is
//! unknown, by the first bytes. Every row becomes a JSON object, and
//! every error names the file and the line or row. Templates are in [`template`]; they
//! access the row as `sample`.
//!
//! ```
//! use serde_json::json;
//! use toolmark_dataset::template::render;
//!
//! let row = json!({"calls": ["search", "book"]});
//! assert_eq!(render("{{ sample.calls | reverse }}", &row)?, json!(["book", "search"]));
//! # Ok::<(), toolmark_dataset::template::TemplateError>(())
//! ```

#![forbid(unsafe_code)]

mod csv;
mod json;
mod jsonl;
mod parquet;
pub mod template;

use parquet::ParquetFault;
use serde_json::Value;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use toolmark_base::{ReadFileError, ReadFileErrorKind, read_file};

/// Maximum size of a dataset, for the file and for its parsed rows, in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// Maximum number of rows.
const MAX_ROWS: usize = 1_000_000;

/// Maximum number of reported errors.
const MAX_ERRORS: usize = 20;

/// A row of a dataset.
#[derive(Debug, Clone)]
pub struct DatasetRow {
    /// Fields of the row, as a JSON object.
    pub value: Arc<Value>,
    /// Line on which the row starts, from 1; the row number in Parquet, which has no lines.
    pub line: u64,
}

/// An error in a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetError {
    /// Path of the dataset.
    pub file: Arc<str>,
    /// Line or row, from 1, if the error concerns one.
    pub line: Option<u64>,
    /// Column in the line, from 1, if known.
    pub column: Option<u64>,
    /// Message, as a lower-case fragment.
    pub message: String,
}

impl fmt::Display for DatasetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file)?;
        for place in self.line.into_iter().chain(self.column) {
            write!(f, "{place}:")?;
        }
        write!(f, " {}", self.message)
    }
}

impl std::error::Error for DatasetError {}

/// Reason why a dataset as a whole cannot be read.
#[derive(Debug, thiserror::Error)]
enum DatasetFault {
    #[error("expected a first line with the names of the columns")]
    NoColumns,
    #[error(
        "expected a list of rows, or an object with one under {} or {}",
        json::KEYS[..3].join(", "), json::KEYS[3]
    )]
    NoRows,
    #[error("cannot be read as Parquet: {0}")]
    Parquet(#[from] ParquetFault),
}

/// Error when a dataset cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DatasetReadError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] ReadFileError),
    /// The file has errors.
    #[error("{}", messages_of(.0).join("; "))]
    Rows(Vec<DatasetError>),
}

impl DatasetReadError {
    /// Returns a message per error.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        match self {
            Self::File(error) => vec![error.to_string()],
            Self::Rows(errors) => messages_of(errors),
        }
    }
}

fn messages_of(errors: &[DatasetError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// File formats of datasets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DatasetKind {
    Jsonl,
    Csv(u8),
    Json,
    Parquet,
}

/// Reads all rows of a file.
///
/// # Errors
///
/// The file cannot be read, or has errors, of which a maximum number is returned.
pub fn read(path: &Path) -> Result<Vec<DatasetRow>, DatasetReadError> {
    let bytes = read_file::read(path, MAX_BYTES)?;
    let mut rows = DatasetRows::new(path);
    let read = match kind(path, &bytes) {
        DatasetKind::Parquet => parquet::read(read_file::open(path)?, &mut rows),
        kind => {
            let text = match read_file::decode(bytes) {
                // White space alone has no rows.
                Err(ReadFileErrorKind::Empty) => String::new(),
                text => text.map_err(|kind| ReadFileError::new(path, kind))?,
            };
            read_text(&text, kind, &mut rows)
        }
    };
    if let Err(fault) = read {
        rows.fail(None, fault.to_string());
    }
    match rows.errors.is_empty() {
        true => Ok(rows.rows),
        false => Err(DatasetReadError::Rows(rows.errors)),
    }
}

fn read_text(text: &str, kind: DatasetKind, rows: &mut DatasetRows) -> Result<(), DatasetFault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match kind {
        DatasetKind::Jsonl => {
            jsonl::read(text, rows);
            Ok(())
        }
        DatasetKind::Csv(delimiter) => csv::read(text, delimiter, rows),
        DatasetKind::Json => json::read(text, rows),
        DatasetKind::Parquet => Ok(()),
    }
}

fn kind(path: &Path, bytes: &[u8]) -> DatasetKind {
    if bytes.starts_with(b"PAR1") {
        return DatasetKind::Parquet;
    }
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_lowercase();
    match extension.as_str() {
        "jsonl" | "ndjson" => DatasetKind::Jsonl,
        "csv" => DatasetKind::Csv(b','),
        "tsv" => DatasetKind::Csv(b'\t'),
        "parquet" | "pq" => DatasetKind::Parquet,
        _ => {
            let first = bytes.iter().find(|b| !b.is_ascii_whitespace());
            match first {
                Some(b'[') => DatasetKind::Json,
                Some(b'{') => {
                    // Several objects, one per line, or a single one that contains the rows.
                    let whole = serde_json::from_slice::<serde::de::IgnoredAny>(bytes);
                    if whole.is_ok() { DatasetKind::Json } else { DatasetKind::Jsonl }
                }
                _ if extension == "json" => DatasetKind::Json,
                _ => DatasetKind::Csv(b','),
            }
        }
    }
}

/// Rows read so far, within the limits.
struct DatasetRows {
    file: Arc<str>,
    rows: Vec<DatasetRow>,
    errors: Vec<DatasetError>,
}

impl DatasetRows {
    fn new(path: &Path) -> Self {
        let file = path.to_string_lossy().into_owned().into();
        Self { file, rows: Vec::new(), errors: Vec::new() }
    }

    /// Records an error. Returns `false` once the maximum number of errors is reached.
    fn fail(&mut self, line: Option<u64>, message: impl Into<String>) -> bool {
        let (file, message) = (Arc::clone(&self.file), message.into());
        self.errors.push(DatasetError { file, line, column: None, message });
        self.errors.len() < MAX_ERRORS
    }

    /// Records a JSON syntax error in text that starts on line `first`. Returns `false` once
    /// the maximum number of errors is reached.
    fn fail_at(&mut self, error: &serde_json::Error, first: u64) -> bool {
        let words = error.to_string();
        let message = match words.split(" at line").next().unwrap_or_default() {
            _ if error.is_eof() => "not JSON: unexpected end".to_owned(),
            "expected ident" => "not JSON: expected a value".to_owned(),
            words => format!("not JSON: {words}"),
        };
        let line = Some(first + (error.line() as u64).saturating_sub(1));
        let column = Some(error.column() as u64);
        self.errors.push(DatasetError { file: Arc::clone(&self.file), line, column, message });
        self.errors.len() < MAX_ERRORS
    }

    /// Adds a row, which must be an object. Returns `false` if reading should stop.
    fn push(&mut self, line: u64, value: Value) -> bool {
        if !value.is_object() {
            return self.fail(Some(line), format!("expected an object, found {}", word(&value)));
        }
        if self.rows.len() >= MAX_ROWS {
            self.fail(Some(line), format!("the file has more than {MAX_ROWS} rows"));
            return false;
        }
        self.rows.push(DatasetRow { value: Arc::new(value), line });
        true
    }
}

fn word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows_of(name: &str, content: &str) -> Result<Vec<(u64, Value)>, Vec<String>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        let place = format!("{}", dir.path().join("").display());
        match read(&path) {
            Ok(rows) => Ok(rows.iter().map(|row| (row.line, (*row.value).clone())).collect()),
            Err(errors) => {
                Err(errors.messages().iter().map(|message| message.replace(&place, "")).collect())
            }
        }
    }

    #[test]
    fn every_kind() {
        let (a, b) = (json!({"id": 1, "q": "x"}), json!({"id": 2, "q": "y"}));
        let text = |id: &str, q: &str| json!({"id": id, "q": q});
        for (name, content, want) in [
            (
                "d.jsonl",
                "{\"id\":1,\"q\":\"x\"}\n\n{\"id\":2,\"q\":\"y\"}\n",
                vec![(1, &a), (3, &b)],
            ),
            ("d", "{\"id\":1,\"q\":\"x\"}\n{\"id\":2,\"q\":\"y\"}", vec![(1, &a), (2, &b)]),
            (
                "d.json",
                "[{\"id\":1,\"q\":\"x\"},\n {\"id\":2,\"q\":\"y\"}]",
                vec![(1, &a), (2, &b)],
            ),
            ("d.json", "{\"data\":[{\"id\":1,\"q\":\"x\"}]}", vec![(1, &a)]),
            ("d.json", "{\"version\":1,\"samples\":[{\"id\":1,\"q\":\"x\"}]}", vec![(1, &a)]),
            ("d.json", "{\"rows\":[]}", vec![]),
            ("d.csv", "\u{feff}id,q\n1,x\n2,y\n", vec![(2, &text("1", "x")), (3, &text("2", "y"))]),
            (
                "d.tsv",
                "id\tq\n1\t\"a\nb\"\n2\ty\n",
                vec![(2, &text("1", "a\nb")), (4, &text("2", "y"))],
            ),
            ("d.jsonl", "\n", vec![]),
        ] {
            let want: Vec<(u64, Value)> = want.into_iter().map(|(n, v)| (n, v.clone())).collect();
            assert_eq!(rows_of(name, content), Ok(want), "{name} {content}");
        }
    }

    #[test]
    fn bad_rows_are_named() {
        for (name, content, said) in [
            (
                "d.jsonl",
                "{\"a\":1}\nnope\n[1]\n{\"a\":",
                vec![
                    "d.jsonl:2:2: not JSON: expected a value",
                    "d.jsonl:3: expected an object, found a list",
                    "d.jsonl:4:5: not JSON: unexpected end",
                ],
            ),
            ("d.json", "[1", vec!["d.json:1:2: not JSON: unexpected end"]),
            ("d.json", "[{},\n\n3]", vec!["d.json:3: expected an object, found a number"]),
            (
                "d.json",
                "{\"a\": 1,\n\"rows\": [{\"b\": [\n]},\n7, {}]}",
                vec!["d.json:4: expected an object, found a number"],
            ),
            (
                "d.json",
                "{\"things\": []}",
                vec![
                    "d.json: expected a list of rows, or an object with one under data, rows, samples or examples",
                ],
            ),
            ("d.csv", "a,b\n1\n", vec!["d.csv:2: expected 2 fields as in the first line, found 1"]),
            ("d.csv", "a,a\n1,2\n", vec!["d.csv:1: the column a occurs twice"]),
            ("d.csv", "\n", vec!["d.csv: expected a first line with the names of the columns"]),
        ] {
            assert_eq!(
                rows_of(name, content),
                Err(said.into_iter().map(str::to_owned).collect()),
                "{name} {content}"
            );
        }
        let gone = read(Path::new("/nonexistent/d.jsonl")).unwrap_err();
        assert_eq!(gone.to_string(), "failed to read /nonexistent/d.jsonl: no such file");
        let empty = rows_of("d.jsonl", "").unwrap_err();
        assert_eq!(empty, ["failed to read d.jsonl: it is empty"]);
        let many = rows_of("d.jsonl", &"x\n".repeat(1000)).unwrap_err();
        assert_eq!(many.len(), MAX_ERRORS);
    }
}
