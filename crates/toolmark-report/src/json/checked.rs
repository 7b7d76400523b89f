//! The object of what was checked.

use crate::model::{Changes, CheckRun, Decisions, Finding, GateRow, Refined, Scorecard, Selection};
use serde::Serialize;
use toolmark_check::baseline::TrajectoryCells;
use toolmark_check::gate::Cells;
use toolmark_outcome::{Printable, Verdict};

#[derive(Serialize)]
pub(super) struct Shape<'r> {
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
    changes: Option<&'r Changes>,
    /// What a judge says where the rules are not sure.
    #[serde(skip_serializing_if = "Option::is_none")]
    judged: Option<&'r [Refined]>,
    /// What makes the report a baseline.
    trajectories: Vec<TrajectoryCells<Printable>>,
    /// What the guard would have said about the calls.
    decisions: &'r Decisions,
    notes: &'r [Printable],
}

pub(super) fn shape(run: &CheckRun) -> Shape<'_> {
    let whole = &run.checked.scorecard;
    let each = run.checked.sessions.iter().map(|session| {
        TrajectoryCells::new(session.id.clone(), &Cells::of_part(&session.card, whole))
    });
    Shape {
        verdict: run.verdict(),
        files: run.files,
        findings: &run.checked.findings,
        left_out: run.checked.left_out,
        scorecard: whole,
        selection: run.checked.selection.as_ref(),
        gates: &run.gates,
        changes: run.changes.as_ref(),
        judged: run.checked.judged.as_deref(),
        trajectories: each.collect(),
        decisions: &run.checked.decisions,
        notes: &run.notes,
    }
}
