//! Rows for other programs: JSON, CSV, and Parquet with the types of the columns.

use crate::Stop;
use crate::args::now;
use crate::exit::Failure;
use crate::printer::{Layout, Printer, to_json};
use serde::Serialize;
use std::io::{self, IsTerminal, Write};
use toolmark_redact::Printable;
use toolmark_report::{Cell, Kind, Options, ReportError, SCHEMA_VERSION, Table};

/// A row, which says its version: there is nothing around the rows that would say it for all.
#[derive(Serialize)]
struct Versioned<'r, R> {
    #[serde(flatten)]
    row: &'r R,
    schema_version: u32,
}

fn json_of(row: &impl Serialize) -> io::Result<String> {
    to_json(&Versioned { row, schema_version: SCHEMA_VERSION }, Layout::Compact)
}

pub(super) fn print_json(printer: &mut Printer, rows: &[impl Serialize]) -> io::Result<()> {
    printer.raw("[")?;
    for (at, row) in rows.iter().enumerate() {
        printer.raw(if at == 0 { "\n" } else { ",\n" })?;
        printer.raw(&json_of(row)?)?;
    }
    printer.raw("\n]\n")
}

pub(super) fn print_jsonl(printer: &mut Printer, rows: &[impl Serialize]) -> io::Result<()> {
    for row in rows {
        printer.raw(&(json_of(row)? + "\n"))?;
    }
    Ok(())
}

/// The words of rows with the columns they are in; a word that is not known is empty.
pub(super) struct Records<'c> {
    /// What the rows are.
    pub(super) name: &'static str,
    pub(super) columns: &'c [(&'static str, Kind)],
    pub(super) rows: Vec<Vec<Printable>>,
}

impl Records<'_> {
    pub(super) fn print_csv(&self, printer: &mut Printer) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(self.columns.iter().map(|(name, _)| name))?;
        for row in &self.rows {
            writer.write_record(row.iter().map(|cell| cell.as_bytes()))?;
        }
        let text = writer.into_inner().map_err(|e| io::Error::other(e.to_string()))?;
        printer.raw(&String::from_utf8_lossy(&text))
    }

    pub(super) fn print_parquet(&self, printer: &mut Printer) -> Result<(), Stop> {
        if io::stdout().is_terminal() {
            let failure = Failure::usage("parquet is not text");
            return Err(failure.hint("write it to a file: > stats.parquet").into());
        }
        let row = |row: &Vec<Printable>| self.columns.iter().zip(row).map(cell).collect();
        let table = Table::of(self.name, self.columns, self.rows.iter().map(row).collect());
        let options = Options { generated_at: now(), ..Options::default() };
        let mut out = printer.sink()?;
        table.write_parquet(&options, &mut out).map_err(|error| match error {
            ReportError::Write(error) => error,
            error => io::Error::other(error),
        })?;
        Ok(out.flush()?)
    }
}

fn cell((column, word): (&(&'static str, Kind), &Printable)) -> (&'static str, Cell) {
    let word = Some(word).filter(|word| !word.is_empty());
    let cell = match column.1 {
        Kind::Text => Cell::printable(word),
        Kind::Whole => Cell::count(word.and_then(|word| word.parse().ok())),
        Kind::Real => Cell::Real(word.and_then(|word| word.parse().ok())),
        Kind::Flag => Cell::Flag(word.and_then(|word| word.parse().ok())),
    };
    (column.0, cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_the_type_of_its_column_or_nothing() {
        for (kind, word, expected) in [
            (Kind::Text, "a", Cell::Text(Some("a".to_owned()))),
            (Kind::Text, "", Cell::Text(None)),
            (Kind::Whole, "0", Cell::Whole(Some(0))),
            (Kind::Whole, "", Cell::Whole(None)),
            (Kind::Real, "0.250000", Cell::Real(Some(0.25))),
            (Kind::Real, "", Cell::Real(None)),
        ] {
            assert_eq!(cell((&("n", kind), &word.into())), ("n", expected));
        }
    }
}
