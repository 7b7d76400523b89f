//! Everything in one JSON object.

use super::CheckRun;
use crate::terminal::harmless_json;
use crate::{Options, ReportError};
use serde::Serialize;
use std::io::Write;
use toolmark_check::gold::Selection;
use toolmark_check::{Finding, Scorecard};

#[derive(Serialize)]
struct Report<'r> {
    files: u64,
    findings: &'r [Finding],
    left_out: u64,
    scorecard: &'r Scorecard,
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<&'r Selection>,
    notes: &'r [String],
}

pub(crate) fn write(run: &CheckRun, _: &Options, out: &mut dyn Write) -> Result<(), ReportError> {
    let report = Report {
        files: run.files,
        findings: &run.checked.findings,
        left_out: run.checked.left_out,
        scorecard: &run.checked.scorecard,
        selection: run.checked.selection.as_ref(),
        notes: &run.notes,
    };
    let text = harmless_json(serde_json::to_string_pretty(&report)?);
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    Ok(())
}
