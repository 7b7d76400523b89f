//! CSV, for spreadsheets and data frames.
//!
//! Text that a spreadsheet would take for a formula starts with an apostrophe: traces are
//! written by others.

use crate::table::{Cell, Table};
use crate::{Options, Report, ReportError};
use std::io::{self, Write};

pub(crate) fn write(
    report: &Report<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let table = Table::new(report, options);
    let mut writer = csv::Writer::from_writer(out);
    let failed = |error: csv::Error| io::Error::other(error);
    writer.write_record(table.columns.iter().map(|(name, _)| name)).map_err(failed)?;
    for row in table.rows() {
        let cells = row.into_iter().map(|cell| cell.map(shown).unwrap_or_default());
        writer.write_record(cells).map_err(failed)?;
    }
    Ok(writer.flush()?)
}

fn shown(cell: &Cell) -> String {
    let cell = match cell {
        Cell::Text(Some(text)) if text.starts_with(['=', '+', '-', '@']) => {
            Some(format!("'{text}"))
        }
        Cell::Text(text) => text.clone(),
        Cell::Whole(number) => number.map(|number| number.to_string()),
        Cell::Real(number) => number.map(|number| number.to_string()),
        Cell::Flag(flag) => flag.map(|flag| flag.to_string()),
    };
    cell.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checked::tests::{report, sample};
    use crate::{Rows, format_by_id};

    #[test]
    fn a_row_per_finding_and_none_of_totals() {
        let text = report("csv");
        assert_eq!(text.lines().count(), 1 + sample().checked.findings.len(), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_row_per_call() {
        let options = Options { rows: Rows::Calls, ..Options::default() };
        let text = format_by_id("csv").unwrap().to_text(&sample(), &options).unwrap();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn nothing_is_a_formula() {
        for (words, cell) in [("=1+1", "'=1+1"), ("@x", "'@x"), ("a=b", "a=b")] {
            let text = Cell::Text(Some(words.into()));
            assert_eq!(shown(&text), cell);
        }
    }
}
