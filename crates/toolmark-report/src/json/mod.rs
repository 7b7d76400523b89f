//! Everything in one JSON object.

mod checked;
pub(crate) mod compared;
mod graded;
mod issues;
mod trend;

use crate::terminal::harmless_json;
use crate::{Options, Report, ReportError};
use serde::Serialize;
use std::io::Write;

/// The version of the JSON of results. A member may be added without a new version; one
/// that is removed, renamed or means something else makes one.
pub const SCHEMA_VERSION: u32 = 1;

/// What was graded, and what was checked and compared besides.
#[derive(Serialize)]
struct Graded<'r> {
    #[serde(flatten)]
    graded: graded::Shape<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<checked::Shape<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<compared::Shape<'r>>,
}

pub(crate) fn write(
    report: &Report<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    if let Some(run) = report.feed {
        let text = serde_json::to_string_pretty(&issues::shape(run, options))?;
        out.write_all(harmless_json(text).as_bytes())?;
        return Ok(out.write_all(b"\n")?);
    }
    if let Some(run) = report.trend {
        let text = serde_json::to_string_pretty(&trend::shape(run, options))?;
        out.write_all(harmless_json(text).as_bytes())?;
        return Ok(out.write_all(b"\n")?);
    }
    let graded = report.graded.map(|run| graded::shape(run, options));
    let check = report.checked.map(|run| checked::shape(run, options));
    let comparison = report.compared.map(|run| compared::shape(run, options));
    let text = match (graded, check, comparison) {
        (Some(graded), check, comparison) => {
            serde_json::to_string_pretty(&Graded { graded, check, comparison })
        }
        (None, None, Some(comparison)) => serde_json::to_string_pretty(&comparison),
        (None, checked, _) => serde_json::to_string_pretty(&checked),
    };
    out.write_all(harmless_json(text?).as_bytes())?;
    out.write_all(b"\n")?;
    Ok(())
}
