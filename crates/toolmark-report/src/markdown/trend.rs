//! Measures over time in Markdown: a table, then the changes.

use super::graded::{MAX_BYTES, words};
use crate::model::TrendRun;
use crate::shown;
use crate::trends::{change, name, number, suspects};
use crate::{ReportError, ReportOptions};
use std::fmt::Write as _;
use std::io::Write;

/// Maximum number of time buckets in a sparkline.
const MAX_SIGNS: usize = 52;

pub(super) fn write(
    run: &TrendRun,
    _: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut page = String::from("## toolmark trend\n\n");
    let sessions = shown::things(run.sessions, "session");
    let buckets = shown::things(run.buckets.len() as u64, run.by.word());
    let _ = writeln!(page, "**{sessions}** in {buckets}\n");
    let changes = run.series.iter().flat_map(|one| one.changes.iter().map(move |c| (one, c)));
    for (series, one) in changes {
        let _ = write!(page, "- **{}** {}", words(&name(series)), words(&change(series, one)));
        if let Some(suspects) = suspects(one) {
            let _ = write!(page, ", with {}", words(&suspects));
        }
        page.push('\n');
    }
    page.push_str("\n| measure | over time | last | in all |\n|---|---|---|---|\n");
    let mut left_out = 0;
    for series in &run.series {
        let last = series.points.iter().rev().flatten().next();
        let last = last.map(|point| number(series.unit, point.value)).unwrap_or_default();
        let row = format!(
            "| {} | {} | {} | {} |\n",
            words(&name(series)),
            series.sparkline(MAX_SIGNS),
            last,
            number(series.unit, series.total.value)
        );
        if page.len() + row.len() > MAX_BYTES {
            left_out += 1;
        } else {
            page.push_str(&row);
        }
    }
    if left_out > 0 {
        let left_out = shown::things(left_out, "measure");
        let _ = writeln!(page, "\n_{left_out} left out: this page would be too large._");
    }
    for note in &run.notes {
        let _ = writeln!(page, "\n_{}_", words(note));
    }
    out.write_all(page.as_bytes())?;
    Ok(())
}
