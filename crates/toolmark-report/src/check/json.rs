//! Everything in one JSON object.

use crate::model::{CheckRun, Decisions, Finding, GateRow, Refined, Scorecard, Selection};
use crate::terminal::harmless_json;
use crate::{Options, ReportError};
use serde::Serialize;
use std::io::Write;
use toolmark_check::baseline::{Changes, TrajectoryCells};
use toolmark_check::gate::Cells;
use toolmark_outcome::{Printable, Verdict};

#[derive(Serialize)]
struct Report<'r> {
    verdict: Verdict,
    files: u64,
    findings: &'r [Finding],
    left_out: u64,
    scorecard: &'r Scorecard,
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<&'r Selection>,
    #[serde(skip_serializing_if = "<[GateRow]>::is_empty")]
    gates: &'r [GateRow],
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Changes>,
    /// What a judge says where the rules are not sure.
    #[serde(skip_serializing_if = "Option::is_none")]
    judged: Option<&'r [Refined]>,
    /// What makes the report a baseline.
    trajectories: Vec<TrajectoryCells<Printable>>,
    /// What the guard would have said about the calls.
    decisions: &'r Decisions,
    notes: &'r [Printable],
}

pub(crate) fn write(run: &CheckRun, _: &Options, out: &mut dyn Write) -> Result<(), ReportError> {
    let whole = &run.checked.scorecard;
    let each = run.checked.sessions.iter().map(|session| {
        TrajectoryCells::new(session.id.clone(), &Cells::of_part(&session.card, whole))
    });
    let report = Report {
        verdict: run.verdict(),
        files: run.files,
        findings: &run.checked.findings,
        left_out: run.checked.left_out,
        scorecard: whole,
        selection: run.checked.selection.as_ref(),
        gates: &run.gates,
        changes: run.changes,
        judged: run.checked.judged.as_deref(),
        trajectories: each.collect(),
        decisions: &run.checked.decisions,
        notes: &run.notes,
    };
    let text = harmless_json(serde_json::to_string_pretty(&report)?);
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    Ok(())
}
