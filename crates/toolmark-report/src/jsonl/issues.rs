//! A line per issue, and one per occurrence where somebody asks for them.

use super::graded::line;
use crate::model::{FeedRun, Issue, Listed};
use crate::{ReportError, SCHEMA_VERSION};
use serde::Serialize;
use std::io::Write;

/// A line, which says its version: there is no last one that would say it for all.
#[derive(Serialize)]
struct Line<'r> {
    #[serde(flatten)]
    row: Row<'r>,
    schema_version: u32,
}

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
        line(&Line { schema_version: SCHEMA_VERSION, row }, out)?;
    }
    Ok(())
}
