//! One line per issue, and one per occurrence if requested.

use super::versioned;
use crate::ReportError;
use crate::model::{FeedRun, Issue, Listed};
use serde::Serialize;
use std::io::Write;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Row<'r> {
    Issue(&'r Issue),
    Occurrence(&'r Listed),
}

pub(super) fn write(run: &FeedRun, out: &mut dyn Write) -> Result<(), ReportError> {
    let issues = run.issues.iter().map(Row::Issue);
    let occurrences = run.occurrences.iter().flatten().map(Row::Occurrence);
    for row in issues.chain(occurrences) {
        versioned(row, out)?;
    }
    Ok(())
}
