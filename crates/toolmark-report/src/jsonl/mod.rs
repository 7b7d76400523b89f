//! One JSON line for each thing there is to say.

mod checked;
mod graded;
mod issues;
mod trend;
mod writer;

pub(crate) use graded::{lines, piece, write_pieces};

use crate::json::compared;

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
