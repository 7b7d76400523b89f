//! Machine-readable rows: JSON, CSV, and Parquet with typed columns.

use crate::Stop;
use jiff::Timestamp;
use serde::Serialize;
use std::io::{self, Write};
use toolmark_redact::Printable;
use toolmark_report::terminal::harmless_json;
use toolmark_report::{
    ColumnKind, ParquetWriter, ReportError, ReportOptions, SCHEMA_VERSION, TableCell,
};

/// A row with its schema version: no enclosing object could carry the version for all rows.
#[derive(Serialize)]
struct VersionedRow<'r, R> {
    #[serde(flatten)]
    row: &'r R,
    schema_version: u32,
}

fn json_of(row: &impl Serialize) -> io::Result<String> {
    Ok(harmless_json(serde_json::to_string(&VersionedRow { row, schema_version: SCHEMA_VERSION })?))
}

/// Machine-readable formats of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// One list.
    Json,
    /// One object per line.
    Jsonl,
    /// Comma-separated values.
    Csv,
    /// Columns.
    Parquet,
}

/// Writes rows as they arrive, so that memory does not grow with their number.
pub struct RowWriter<'c> {
    columns: &'c [(&'static str, ColumnKind)],
    encoder: Encoder,
    count: u64,
    out: Box<dyn Write>,
}

enum Encoder {
    Json,
    Jsonl,
    Csv,
    Parquet(Box<ParquetWriter>),
}

impl<'c> RowWriter<'c> {
    /// Returns a writer of this format with these columns.
    pub fn new(
        format: RowFormat,
        name: &str,
        columns: &'c [(&'static str, ColumnKind)],
        generated_at: Option<Timestamp>,
        mut out: Box<dyn Write>,
    ) -> Result<Self, Stop> {
        let encoder = match format {
            RowFormat::Json => Encoder::Json,
            RowFormat::Jsonl => Encoder::Jsonl,
            RowFormat::Csv => Encoder::Csv,
            RowFormat::Parquet => {
                let options = ReportOptions { generated_at, ..ReportOptions::default() };
                let writer = ParquetWriter::new(name, columns, &options).map_err(as_io)?;
                Encoder::Parquet(Box::new(writer))
            }
        };
        match encoder {
            Encoder::Json => out.write_all(b"[")?,
            Encoder::Csv => write_csv(&mut out, columns.iter().map(|(name, _)| *name))?,
            Encoder::Jsonl | Encoder::Parquet(_) => {}
        }
        Ok(Self { columns, encoder, count: 0, out })
    }

    /// Writes a row: as JSON, or as the cells of its columns.
    pub fn push(
        &mut self,
        row: &impl Serialize,
        cells: impl FnOnce() -> Vec<Printable>,
    ) -> io::Result<()> {
        match &mut self.encoder {
            Encoder::Json => {
                let before = if self.count == 0 { "\n" } else { ",\n" };
                write!(self.out, "{before}{}", json_of(row)?)?;
            }
            Encoder::Jsonl => writeln!(self.out, "{}", json_of(row)?)?,
            Encoder::Csv => write_csv(&mut self.out, cells().iter().map(|cell| &**cell))?,
            Encoder::Parquet(writer) => {
                let row = self.columns.iter().zip(&cells()).map(cell).collect();
                writer.push(row, &mut self.out).map_err(as_io)?;
            }
        }
        self.count += 1;
        Ok(())
    }

    /// Writes buffered rows.
    pub fn finish(mut self) -> io::Result<()> {
        match self.encoder {
            Encoder::Json => self.out.write_all(b"\n]\n")?,
            Encoder::Jsonl | Encoder::Csv => {}
            Encoder::Parquet(writer) => writer.finish(&mut self.out).map_err(as_io)?,
        }
        self.out.flush()
    }
}

fn as_io(error: ReportError) -> io::Error {
    match error {
        ReportError::Write(error) => error,
        error => io::Error::other(error),
    }
}

fn write_csv<'c>(out: &mut dyn Write, cells: impl Iterator<Item = &'c str>) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(cells)?;
    writer.flush()
}

fn cell((column, word): (&(&'static str, ColumnKind), &Printable)) -> (&'static str, TableCell) {
    let word = Some(word).filter(|word| !word.is_empty());
    let cell = match column.1 {
        ColumnKind::Text => TableCell::printable(word),
        ColumnKind::Whole => TableCell::count(word.and_then(|word| word.parse().ok())),
        ColumnKind::Real => TableCell::Real(word.and_then(|word| word.parse().ok())),
        ColumnKind::Flag => TableCell::Flag(word.and_then(|word| word.parse().ok())),
    };
    (column.0, cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_the_type_of_its_column_or_nothing() {
        for (kind, word, expected) in [
            (ColumnKind::Text, "a", TableCell::Text(Some("a".to_owned()))),
            (ColumnKind::Text, "", TableCell::Text(None)),
            (ColumnKind::Whole, "0", TableCell::Whole(Some(0))),
            (ColumnKind::Whole, "", TableCell::Whole(None)),
            (ColumnKind::Real, "0.250000", TableCell::Real(Some(0.25))),
            (ColumnKind::Real, "", TableCell::Real(None)),
        ] {
            assert_eq!(cell((&("n", kind), &word.into())), ("n", expected));
        }
    }
}
