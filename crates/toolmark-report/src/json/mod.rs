//! The whole report as one JSON object.

mod checked;
pub(crate) mod compared;
mod graded;
mod indented;
mod issues;
mod trend;

use crate::terminal::HarmlessJson;
use crate::{Report, ReportError, ReportOptions};
use indented::Indented;
use serde::Serialize;
use serde_json::Serializer;
use std::io::{BufWriter, Write};

/// Version of the JSON of results. Adding a member keeps the version; removing, renaming or
/// redefining one increments it.
pub const SCHEMA_VERSION: u32 = 1;

/// Buffer size.
const PIECE: usize = 64 << 10;

/// Graded results with their checks and comparisons.
#[derive(Serialize)]
struct JsonGraded<'r> {
    #[serde(flatten)]
    graded: graded::JsonGradedShape<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<checked::CheckedShape<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<compared::ComparedShape<'r>>,
}

pub(crate) fn write(
    report: &Report<'_>,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    if let Some(run) = report.feed {
        return write_pretty(&issues::shape(run, options), out);
    }
    if let Some(run) = report.trend {
        return write_pretty(&trend::shape(run, options), out);
    }
    let graded = report.graded.map(|run| graded::shape(run, options));
    let check = report.checked.map(|run| checked::shape(run, options));
    let comparison = report.compared.map(|run| compared::shape(run, options));
    match (graded, check, comparison) {
        (Some(graded), check, comparison) => {
            write_pretty(&JsonGraded { graded, check, comparison }, out)
        }
        (None, None, Some(comparison)) => write_pretty(&comparison, out),
        (None, checked, _) => write_pretty(&checked, out),
    }
}

/// Writes a value as indented JSON while it is serialized.
pub(crate) fn write_pretty(value: &impl Serialize, out: &mut dyn Write) -> Result<(), ReportError> {
    let mut safe = BufWriter::with_capacity(PIECE, HarmlessJson::new(out));
    let mut serializer = Serializer::with_formatter(&mut safe, Indented::default());
    value.serialize(&mut serializer).map_err(|error| match error.is_io() {
        true => ReportError::Write(error.into()),
        false => ReportError::Json(error),
    })?;
    safe.write_all(b"\n")?;
    safe.flush()?;
    Ok(())
}
