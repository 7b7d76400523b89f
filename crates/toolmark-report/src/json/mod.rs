//! Everything in one JSON object.

mod checked;
mod graded;
mod issues;

use crate::terminal::harmless_json;
use crate::{Options, Report, ReportError};
use serde::Serialize;
use std::io::Write;

/// What was graded, and what was checked besides.
#[derive(Serialize)]
struct Both<'r> {
    #[serde(flatten)]
    graded: graded::Shape<'r>,
    check: checked::Shape<'r>,
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
    let graded = report.graded.map(|run| graded::shape(run, options));
    let text = match (graded, report.checked.map(|run| checked::shape(run, options))) {
        (Some(graded), Some(check)) => serde_json::to_string_pretty(&Both { graded, check }),
        (Some(graded), None) => serde_json::to_string_pretty(&graded),
        (None, checked) => serde_json::to_string_pretty(&checked),
    };
    out.write_all(harmless_json(text?).as_bytes())?;
    out.write_all(b"\n")?;
    Ok(())
}
