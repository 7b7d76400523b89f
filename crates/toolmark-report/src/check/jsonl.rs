//! One JSON line per finding, one with what gold labels say where there are any,
//! then one with the scorecard.

use super::CheckRun;
use crate::jsonl::line;
use crate::{Options, ReportError};
use serde::Serialize;
use std::io::Write;
use toolmark_check::gold::Selection;
use toolmark_check::{Finding, Scorecard};

#[derive(Serialize)]
struct Found<'r> {
    r#type: &'static str,
    #[serde(flatten)]
    finding: &'r Finding,
}

#[derive(Serialize)]
struct Chosen<'r> {
    r#type: &'static str,
    #[serde(flatten)]
    selection: &'r Selection,
}

#[derive(Serialize)]
struct Last<'r> {
    r#type: &'static str,
    files: u64,
    left_out: u64,
    #[serde(flatten)]
    scorecard: &'r Scorecard,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'r [String],
}

pub(crate) fn write(run: &CheckRun, _: &Options, out: &mut dyn Write) -> Result<(), ReportError> {
    for finding in &run.checked.findings {
        line(&Found { r#type: "finding", finding }, out)?;
    }
    if let Some(selection) = &run.checked.selection {
        line(&Chosen { r#type: "selection", selection }, out)?;
    }
    let last = Last {
        r#type: "scorecard",
        files: run.files,
        left_out: run.checked.left_out,
        scorecard: &run.checked.scorecard,
        notes: &run.notes,
    };
    line(&last, out)
}
