//! The JSON object of a check.

use crate::ReportOptions;
use crate::checked::overview;
use crate::model::{
    Changes, CheckRun, DeclaredRuns, DestructiveCall, GateRow, Overview, PrintableDecisions,
    PrintableSelection, Refined, Scorecard, SessionProfile,
};
use serde::ser::{Error, SerializeSeq};
use serde::{Serialize, Serializer};
use toolmark_check::gate::TrajectoryCells;
use toolmark_check::gate::shares;
use toolmark_outcome::{Printable, Verdict};

#[derive(Serialize)]
pub(super) struct CheckedShape<'r> {
    /// Schema version.
    schema_version: u32,
    /// Version of toolmark, and creation time.
    toolmark: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    generated_at: Option<String>,
    verdict: Verdict,
    files: u64,
    findings: FindingsReader<'r>,
    left_out: u64,
    scorecard: &'r Scorecard,
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<&'r PrintableSelection>,
    #[serde(skip_serializing_if = "<[GateRow]>::is_empty")]
    gates: &'r [GateRow],
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<&'r Changes>,
    /// Answers of a judge about uncertain calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    judged: Option<&'r [Refined]>,
    /// The counts of all sessions, and by model, agent, project and week.
    overview: Overview,
    /// Profile and cost of each session.
    sessions: &'r [SessionProfile],
    /// Irreversible destructive calls, with the announcement before each.
    destructive: &'r [DestructiveCall],
    /// Numbers per session, which a baseline needs.
    trajectories: Trajectories<'r>,
    /// Decisions that the guard would have made about the calls.
    decisions: &'r PrintableDecisions,
    /// Outcomes that the runs declare.
    #[serde(skip_serializing_if = "DeclaredRuns::is_empty")]
    declared: &'r DeclaredRuns,
    notes: &'r [Printable],
}

pub(super) fn shape<'r>(run: &'r CheckRun, options: &ReportOptions) -> CheckedShape<'r> {
    CheckedShape {
        schema_version: super::SCHEMA_VERSION,
        toolmark: env!("CARGO_PKG_VERSION"),
        generated_at: options.generated_at.map(|time| time.to_string()),
        verdict: run.verdict(),
        files: run.files,
        findings: FindingsReader(run),
        left_out: run.checked.left_out,
        scorecard: &run.checked.scorecard,
        selection: run.checked.selection.as_ref(),
        gates: &run.gates,
        changes: run.changes.as_ref(),
        judged: run.checked.judged.as_deref(),
        overview: overview::of(run),
        sessions: &run.checked.profiles,
        destructive: &run.checked.destructive,
        trajectories: Trajectories(run),
        decisions: &run.checked.decisions,
        declared: &run.checked.declared,
        notes: &run.notes,
    }
}

/// The findings, read while they are written.
struct FindingsReader<'r>(&'r CheckRun);

impl Serialize for FindingsReader<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for finding in self.0.findings().map_err(S::Error::custom)? {
            list.serialize_element(&*finding.map_err(S::Error::custom)?)?;
        }
        list.end()
    }
}

/// The numbers of the sessions, computed while they are written.
struct Trajectories<'r>(&'r CheckRun);

impl Serialize for Trajectories<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let checked = &self.0.checked;
        let shares = shares(&checked.scorecard);
        serializer.collect_seq(
            checked
                .sessions
                .iter()
                .map(|session| TrajectoryCells::new(session.id.clone(), &session.cells(&shares))),
        )
    }
}
