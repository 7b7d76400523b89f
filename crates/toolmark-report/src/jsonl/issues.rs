//! One line per issue, and one per occurrence if requested.

use super::versioned;
use crate::ReportError;
use crate::model::{FeedRun, Issue, PrintableListing};
use serde::Serialize;
use std::io::Write;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum IssueRow<'r> {
    Issue(&'r Issue),
    Occurrence(&'r PrintableListing),
}

pub(super) fn write(run: &FeedRun, out: &mut dyn Write) -> Result<(), ReportError> {
    let issues = run.issues.iter().map(IssueRow::Issue);
    let occurrences = run.occurrences.iter().flatten().map(IssueRow::Occurrence);
    for row in issues.chain(occurrences) {
        versioned(row, out)?;
    }
    Ok(())
}
