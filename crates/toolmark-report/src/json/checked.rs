//! The object of what was checked.

use crate::Options;
use crate::checked::overview;
use crate::model::{
    Changes, CheckRun, Decisions, DestructiveCall, GateRow, Overview, Refined, Scorecard,
    Selection, SessionProfile,
};
use serde::ser::{Error, SerializeSeq};
use serde::{Serialize, Serializer};
use toolmark_check::baseline::TrajectoryCells;
use toolmark_check::gate::shares;
use toolmark_outcome::{Printable, Verdict};

#[derive(Serialize)]
pub(super) struct Shape<'r> {
    /// The version of this shape.
    schema_version: u32,
    /// The version that made it, and when.
    toolmark: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    generated_at: Option<String>,
    verdict: Verdict,
    files: u64,
    findings: Findings<'r>,
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
    /// The counts of all sessions, and by model, agent, project and week.
    overview: Overview,
    /// What each session is and costs.
    sessions: &'r [SessionProfile],
    /// The calls that destroy something for good, and what was said before each.
    destructive: &'r [DestructiveCall],
    /// What makes the report a baseline.
    trajectories: Trajectories<'r>,
    /// What the guard would have said about the calls.
    decisions: &'r Decisions,
    notes: &'r [Printable],
}

pub(super) fn shape<'r>(run: &'r CheckRun, options: &Options) -> Shape<'r> {
    Shape {
        schema_version: super::SCHEMA_VERSION,
        toolmark: env!("CARGO_PKG_VERSION"),
        generated_at: options.generated_at.map(|time| time.to_string()),
        verdict: run.verdict(),
        files: run.files,
        findings: Findings(run),
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
        notes: &run.notes,
    }
}

/// The findings, which are read while they are written.
struct Findings<'r>(&'r CheckRun);

impl Serialize for Findings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for finding in self.0.findings().map_err(S::Error::custom)? {
            list.serialize_element(&*finding.map_err(S::Error::custom)?)?;
        }
        list.end()
    }
}

/// The numbers of the sessions, which are made while they are written.
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
