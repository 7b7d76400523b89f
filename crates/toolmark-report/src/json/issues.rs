//! Issues as JSON.

use crate::ReportOptions;
use crate::model::{FeedRun, Issue, PrintableListing};
use serde::Serialize;
use toolmark_outcome::Printable;

/// Identifier of this format.
const FORMAT: &str = "toolmark.feed.v1";

/// All issues.
#[derive(Serialize)]
pub(super) struct IssuesShape<'r> {
    schema_version: u32,
    format: &'static str,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    generated_at: Option<String>,
    files: u64,
    sessions: u64,
    calls: u64,
    issues: &'r [Issue],
    #[serde(skip_serializing_if = "Option::is_none")]
    occurrences: Option<&'r [PrintableListing]>,
    notes: &'r [Printable],
}

pub(super) fn shape<'r>(run: &'r FeedRun, options: &ReportOptions) -> IssuesShape<'r> {
    IssuesShape {
        schema_version: super::SCHEMA_VERSION,
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION"),
        generated_at: options.generated_at.map(|time| time.to_string()),
        files: run.files,
        sessions: run.sessions,
        calls: run.calls,
        issues: &run.issues,
        occurrences: run.occurrences.as_deref(),
        notes: &run.notes,
    }
}
