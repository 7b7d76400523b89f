//! JSON Lines: one line per item.

mod checked;
mod graded;
mod issues;
mod trend;
mod writer;

pub(crate) use graded::{lines, piece, write_pieces};

use crate::json::compared;
use crate::{Report, ReportError, ReportOptions, SCHEMA_VERSION};
use serde::Serialize;
use std::io::Write;

/// A line with its schema version, for outputs without a last line that could carry it.
#[derive(Serialize)]
struct VersionedLine<R> {
    #[serde(flatten)]
    row: R,
    schema_version: u32,
}

fn versioned(row: impl Serialize, out: &mut dyn Write) -> Result<(), ReportError> {
    graded::line(&VersionedLine { row, schema_version: SCHEMA_VERSION }, out)
}

pub(crate) fn write(
    report: &Report<'_>,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    if let Some(run) = report.graded {
        graded::write(run, options, out)?;
    }
    if let Some(run) = report.checked {
        checked::write(run, options, out)?;
    }
    if let Some(run) = report.feed {
        issues::write(run, out)?;
    }
    if let Some(run) = report.trend {
        trend::write(run, out)?;
    }
    if let Some(run) = report.compared {
        graded::line(&compared::shape(run, options), out)?;
    }
    Ok(())
}
