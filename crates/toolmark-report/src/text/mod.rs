//! Reports for people at a terminal.

mod checked;
mod compared;
mod graded;
mod issues;
mod page;
mod trend;

pub(crate) use graded::{details, piece, write_pieces};

use crate::{Report, ReportError, ReportOptions};
use std::io::Write;

pub(crate) fn write(
    report: &Report<'_>,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    report.write_parts(
        options,
        out,
        graded::write,
        checked::write,
        issues::write,
        trend::write,
        compared::write,
    )
}
