//! Markdown for the summary of a CI job.

mod checked;
mod graded;

use crate::{Options, Report, ReportError};
use std::io::Write;

pub(crate) fn write(
    report: &Report<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    if let Some(run) = report.graded {
        graded::write(run, options, out)?;
    }
    if let Some(run) = report.checked {
        if report.graded.is_some() {
            out.write_all(b"\n")?;
        }
        checked::write(run, options, out)?;
    }
    Ok(())
}
