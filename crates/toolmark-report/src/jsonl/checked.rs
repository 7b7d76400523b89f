//! One JSON line per finding, one for gold labels if there are any, one per answer of a judge, one
//! per gate, then one with the scorecard.

use super::graded::line;
use crate::checked::overview;
use crate::model::{
    Changes, CheckRun, DeclaredRuns, GateRow, Overview, PrintableFinding, PrintableSelection,
    Refined, Scorecard,
};
use crate::{ReportError, ReportOptions, SCHEMA_VERSION};
use serde::Serialize;
use std::io::Write;
use toolmark_outcome::{Printable, Verdict};

#[derive(Serialize)]
struct CheckedRecord<'r> {
    r#type: &'static str,
    #[serde(flatten)]
    finding: &'r PrintableFinding,
}

#[derive(Serialize)]
struct CheckedChoice<'r> {
    r#type: &'static str,
    #[serde(flatten)]
    selection: &'r PrintableSelection,
}

#[derive(Serialize)]
struct JudgedLine<'r> {
    r#type: &'static str,
    #[serde(flatten)]
    refined: &'r Refined,
}

#[derive(Serialize)]
struct Gated<'r> {
    r#type: &'static str,
    #[serde(flatten)]
    row: &'r GateRow,
}

#[derive(Serialize)]
struct CheckedLastLine<'r> {
    r#type: &'static str,
    schema_version: u32,
    toolmark: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    generated_at: Option<String>,
    verdict: Verdict,
    files: u64,
    left_out: u64,
    #[serde(flatten)]
    scorecard: &'r Scorecard,
    overview: Overview,
    #[serde(skip_serializing_if = "DeclaredRuns::is_empty")]
    declared: &'r DeclaredRuns,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<&'r Changes>,
    #[serde(skip_serializing_if = "<[Printable]>::is_empty")]
    notes: &'r [Printable],
}

pub(super) fn write(
    run: &CheckRun,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    for finding in run.findings()? {
        line(&CheckedRecord { r#type: "finding", finding: &*finding? }, out)?;
    }
    if let Some(selection) = &run.checked.selection {
        line(&CheckedChoice { r#type: "selection", selection }, out)?;
    }
    for refined in run.checked.judged.iter().flatten() {
        line(&JudgedLine { r#type: "judged", refined }, out)?;
    }
    for row in &run.gates {
        line(&Gated { r#type: "gate", row }, out)?;
    }
    let last = CheckedLastLine {
        r#type: "scorecard",
        schema_version: SCHEMA_VERSION,
        toolmark: env!("CARGO_PKG_VERSION"),
        generated_at: options.generated_at.map(|time| time.to_string()),
        verdict: run.verdict(),
        files: run.files,
        left_out: run.checked.left_out,
        scorecard: &run.checked.scorecard,
        overview: overview::of(run),
        declared: &run.checked.declared,
        changes: run.changes.as_ref(),
        notes: &run.notes,
    };
    line(&last, out)
}
