//! CSV, for spreadsheets and data frames.
//!
//! Text that a spreadsheet would interpret as a formula is prefixed with an apostrophe, because
//! traces come from untrusted authors.

use crate::model::CaseResult;
use crate::table::{self, RowTable, TableCell};
use crate::{Outcomes, Report, ReportError, ReportOptions};
use std::io::{self, Write};

pub(crate) fn write(
    report: &Report<'_>,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let table = RowTable::new(report, options)?;
    let mut writer = csv::Writer::from_writer(out);
    let failed = |error: csv::Error| io::Error::other(error);
    let columns = table.columns.clone();
    writer.write_record(columns.iter().map(|(name, _)| name)).map_err(failed)?;
    for row in table.into_rows() {
        let row = row?;
        let cell = |name: &str| table::cell_of(&row, name).map(shown).unwrap_or_default();
        writer.write_record(columns.iter().map(|(name, _)| cell(name))).map_err(failed)?;
    }
    Ok(writer.flush()?)
}

/// Writes the row of an outcome without its trial number; returns the offset at which the number is
/// inserted.
pub(crate) fn piece(outcome: &CaseResult, out: &mut Vec<u8>) -> Result<usize, ReportError> {
    let row = table::outcome(outcome);
    let cells = || row.iter().map(|(name, cell)| (*name, shown(cell)));
    let is_before = |(name, _): &(&str, String)| *name != TRIAL;
    let before = cells().take_while(is_before).map(|(_, cell)| cell);
    let after = cells().skip_while(is_before).skip(1).map(|(_, cell)| cell);
    let mut start = record(before)?;
    // A row of one empty cell is written with quotes; this is the start of a longer one.
    if start == b"\"\"" {
        start.clear();
    }
    out.extend_from_slice(&start);
    out.push(b',');
    let parted = start.len() + 1;
    out.push(b',');
    out.extend_from_slice(&record(after)?);
    out.push(b'\n');
    Ok(parted)
}

const TRIAL: &str = "trial";

/// Returns a record without its line break.
fn record(cells: impl Iterator<Item = String>) -> Result<Vec<u8>, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(cells).map_err(io::Error::other)?;
    let mut bytes = writer.into_inner().map_err(io::Error::other)?;
    bytes.pop();
    Ok(bytes)
}

/// Writes the rows of outcomes.
pub(crate) fn write_pieces(
    outcomes: &mut dyn Outcomes,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let head = table::OUTCOME.iter().map(|(name, _)| (*name).to_owned());
    out.write_all(&record(head)?)?;
    out.write_all(b"\n")?;
    let mut piece = Vec::new();
    for at in 0..outcomes.count() {
        let parted = outcomes.read(at, &mut piece)?;
        out.write_all(piece.get(..parted).unwrap_or_default())?;
        write!(out, "{}", outcomes.trial(at).saturating_add(1))?;
        out.write_all(piece.get(parted..).unwrap_or_default())?;
    }
    Ok(())
}

fn shown(cell: &TableCell) -> String {
    let cell = match cell {
        TableCell::Text(Some(text)) if text.starts_with(['=', '+', '-', '@']) => {
            Some(format!("'{text}"))
        }
        TableCell::Text(text) => text.clone(),
        TableCell::Whole(number) => number.map(|number| number.to_string()),
        TableCell::Real(number) => number.map(|number| number.to_string()),
        TableCell::Flag(flag) => flag.map(|flag| flag.to_string()),
    };
    cell.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checked::tests::{report, sample};
    use crate::{RowContent, format_by_id};

    #[test]
    fn a_row_per_finding_and_none_of_totals() {
        let text = report("csv");
        assert_eq!(text.lines().count(), 1 + sample().checked.findings.len(), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_row_per_call() {
        let options = ReportOptions { rows: RowContent::Calls, ..ReportOptions::default() };
        let text = format_by_id("csv").unwrap().to_text(&sample(), &options).unwrap();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn nothing_is_a_formula() {
        for (words, cell) in [("=1+1", "'=1+1"), ("@x", "'@x"), ("a=b", "a=b")] {
            let text = TableCell::Text(Some(words.into()));
            assert_eq!(shown(&text), cell);
        }
    }
}
