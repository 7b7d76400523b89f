//! Issues as JSON.

use crate::Options;
use crate::model::{FeedRun, Issue, Listed};
use serde::Serialize;
use toolmark_outcome::Printable;

/// Identifier of this format.
const FORMAT: &str = "toolmark.feed.v1";

/// All issues.
#[derive(Serialize)]
pub(super) struct Shape<'r> {
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
    occurrences: Option<&'r [Listed]>,
    notes: &'r [Printable],
}

pub(super) fn shape<'r>(run: &'r FeedRun, options: &Options) -> Shape<'r> {
    Shape {
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
