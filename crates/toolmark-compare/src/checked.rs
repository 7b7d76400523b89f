//! Findings, gates and sessions of two reports of `toolmark check`.

use crate::baseline::{Baseline, NotACheckReport, ReportChanges};
use crate::group::{MeasureChange, MeasureChanges};
use crate::reading::VerdictWord;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use toolmark_check::changes::KindChange;
use toolmark_outcome::{Printable, Redactor, Severity, Verdict};

/// The displayed parts of a report; [`Baseline`] defines when findings are equal.
#[derive(Deserialize)]
pub(crate) struct CheckShape {
    findings: Vec<FindingShape>,
    #[serde(default)]
    gates: Vec<GateShape>,
    #[serde(default)]
    overview: Option<OverviewShape>,
    #[serde(default)]
    sessions: Option<Vec<SessionShape>>,
}

#[derive(Deserialize)]
struct FindingShape {
    code: String,
    #[serde(default)]
    name: String,
    severity: SeverityWord,
    tool: String,
    message: String,
    #[serde(default)]
    place: Option<PlaceShape>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SeverityWord {
    Info,
    Warning,
    Error,
}

#[derive(Deserialize)]
struct PlaceShape {
    file: String,
    line: u64,
}

#[derive(Deserialize)]
struct GateShape {
    gate: String,
    #[serde(default)]
    tool: Option<String>,
    #[serde(default)]
    bucket: Option<String>,
    verdict: VerdictWord,
}

#[derive(Deserialize)]
struct OverviewShape {
    total: TotalShape,
}

#[derive(Deserialize)]
struct TotalShape {
    #[serde(default)]
    faults: u64,
    #[serde(default)]
    per_100_calls: Option<f64>,
    calls: SpentShape,
}

#[derive(Deserialize)]
struct SpentShape {
    calls: u64,
    #[serde(default)]
    duration_ms: Option<f64>,
    #[serde(default)]
    tokens: Option<u64>,
}

#[derive(Deserialize)]
struct SessionShape {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    file: String,
}

/// The last line of a JSON Lines report, which contains the overview.
#[derive(Deserialize)]
struct LastLine {
    overview: OverviewShape,
}

/// A report of a check.
pub(crate) struct CheckReport {
    baseline: Baseline,
    findings: Vec<FindingRef>,
    gates: BTreeMap<GateKey, Verdict>,
    total: Option<TotalShape>,
    /// Sessions, if the report lists them.
    sessions: Option<Vec<SessionRef>>,
    /// Whether the report is JSON Lines, which do not list the sessions.
    is_lines: bool,
    redactor: Redactor,
}

impl std::fmt::Debug for CheckReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckReport").field("findings", &self.findings).finish_non_exhaustive()
    }
}

/// Gate, tool and bucket of a row.
type GateKey = (Printable, Option<Printable>, Option<Printable>);

/// A finding of one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FindingRef {
    /// Code of the rule.
    pub code: Printable,
    /// Name of the rule.
    pub name: Printable,
    /// Severity.
    pub severity: Severity,
    /// Name of the tool.
    pub tool: Printable,
    /// Message.
    pub message: Printable,
    /// File of the call, if the report names it.
    pub file: Option<Printable>,
    /// Line of the call.
    pub line: Option<u64>,
}

/// A session of one run only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SessionRef {
    /// ID of the session.
    pub id: Option<Printable>,
    /// File of the session.
    pub file: Printable,
}

/// A gate of one or both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateChange {
    /// Name of the gate.
    pub gate: Printable,
    /// Tool of the row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<Printable>,
    /// Bucket of the row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<Printable>,
    /// Verdict in the first run, if it has the gate.
    pub before: Option<Verdict>,
    /// Verdict in the second run, if it has the gate.
    pub after: Option<Verdict>,
}

/// Changes of findings, gates and sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckedChange {
    /// Findings that occur only in the second run, or whose kind is more frequent there.
    pub new: Vec<FindingRef>,
    /// Findings that occur only in the first run, or whose kind is more frequent there.
    pub gone: Vec<FindingRef>,
    /// Number of findings of the second run that are not new.
    pub known: u64,
    /// Frequency of each kind of findings, if the runs have different sessions.
    pub kinds: Vec<KindChange<Printable>>,
    /// Number of faults, if both reports count them.
    pub faults: Option<MeasureChange>,
    /// Faults per 100 calls.
    pub per_100_calls: Option<MeasureChange>,
    /// Resource usage of the calls.
    pub measures: MeasureChanges,
    /// Gates.
    pub gates: Vec<GateChange>,
    /// Sessions of the first run only; `None` where a report does not list them.
    pub only_before: Option<Vec<SessionRef>>,
    /// Sessions of the second run only.
    pub only_after: Option<Vec<SessionRef>>,
}

impl CheckReport {
    /// Returns a report from its displayed parts, and from its text, which the baseline is read
    /// from.
    pub(crate) fn new(
        shape: CheckShape,
        text: &str,
        redactor: Redactor,
    ) -> Result<Self, NotACheckReport> {
        let finding = |finding: FindingShape| FindingRef {
            code: redactor.apply(finding.code),
            name: redactor.apply(finding.name),
            severity: match finding.severity {
                SeverityWord::Info => Severity::Info,
                SeverityWord::Warning => Severity::Warning,
                SeverityWord::Error => Severity::Error,
            },
            tool: redactor.apply(finding.tool),
            message: redactor.apply(finding.message),
            line: finding.place.as_ref().map(|place| place.line),
            file: finding.place.map(|place| redactor.apply(place.file)),
        };
        let gate = |gate: GateShape| {
            let key = (
                redactor.apply(gate.gate),
                gate.tool.map(|tool| redactor.apply(tool)),
                gate.bucket.map(|bucket| redactor.apply(bucket)),
            );
            (key, gate.verdict.into())
        };
        let session = |session: SessionShape| SessionRef {
            id: session.id.map(|id| redactor.apply(id)),
            file: redactor.apply(session.file),
        };
        Ok(Self {
            baseline: Baseline::parse(text)?,
            findings: shape.findings.into_iter().map(finding).collect(),
            gates: shape.gates.into_iter().map(gate).collect(),
            total: shape.overview.map(|overview| overview.total),
            sessions: shape.sessions.map(|all| all.into_iter().map(session).collect()),
            is_lines: false,
            redactor,
        })
    }

    /// Marks the report as JSON Lines, which do not list the sessions.
    pub(crate) fn of_lines(mut self, card: &str) -> Self {
        self.is_lines = true;
        self.total = serde_json::from_str(card).ok().map(|last: LastLine| last.overview.total);
        self
    }
}

impl CheckedChange {
    pub(crate) fn new(
        before: &CheckReport,
        after: &CheckReport,
        notes: &mut Vec<Printable>,
    ) -> Self {
        let (only_before, only_after) = match (&before.sessions, &after.sessions) {
            (Some(a), Some(b)) => (Some(only(a, b)), Some(only(b, a))),
            _ => (None, None),
        };
        let (a, b) = (&before.baseline, &after.baseline);
        let ReportChanges { new, gone, kinds } = if before.is_lines || after.is_lines {
            let note = "a report in the format jsonl does not list its sessions: findings are \
                compared by their fingerprints alone";
            notes.push(note.into());
            a.compare_fingerprints(b)
        } else {
            a.compare(b)
        };
        let pick = |findings: &[FindingRef], places: &[usize]| {
            places.iter().filter_map(|at| findings.get(*at).cloned()).collect::<Vec<_>>()
        };
        let totals = before.total.as_ref().zip(after.total.as_ref());
        let change = |of: &dyn Fn(&TotalShape) -> Option<f64>| {
            let (a, b) = totals.and_then(|(a, b)| of(a).zip(of(b)))?;
            Some(MeasureChange::new(1, a, b))
        };
        let keys: BTreeSet<&GateKey> = before.gates.keys().chain(after.gates.keys()).collect();
        let gates = keys.into_iter().map(|key @ (gate, tool, bucket)| GateChange {
            gate: gate.clone(),
            tool: tool.clone(),
            bucket: bucket.clone(),
            before: before.gates.get(key).copied(),
            after: after.gates.get(key).copied(),
        });
        Self {
            known: (after.findings.len() - new.len()) as u64,
            new: pick(&after.findings, &new),
            gone: pick(&before.findings, &gone),
            kinds: kinds.into_iter().map(|kind| kind.redact(after.redactor)).collect(),
            faults: change(&|total| Some(total.faults as f64)),
            per_100_calls: change(&|total| total.per_100_calls),
            measures: MeasureChanges {
                calls: change(&|total| Some(total.calls.calls as f64)),
                tokens: change(&|total| total.calls.tokens.map(|tokens| tokens as f64)),
                duration_ms: change(&|total| total.calls.duration_ms),
                cost_usd: None,
            },
            gates: gates.collect(),
            only_before,
            only_after,
        }
    }

    /// Returns the new findings that are errors or warnings.
    pub fn new_faults(&self) -> impl Iterator<Item = &FindingRef> {
        self.new.iter().filter(|finding| finding.severity >= Severity::Warning)
    }

    /// Returns the gates whose verdict changed.
    pub fn changed_gates(&self) -> impl Iterator<Item = &GateChange> {
        self.gates
            .iter()
            .filter(|gate| gate.before.map(Verdict::word) != gate.after.map(Verdict::word))
    }

    /// Whether there is no difference.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let none = |sessions: &Option<Vec<SessionRef>>| sessions.as_ref().is_none_or(Vec::is_empty);
        self.new.is_empty()
            && self.gone.is_empty()
            && self.changed_gates().next().is_none()
            && none(&self.only_before)
            && none(&self.only_after)
    }
}

/// Returns the sessions of the first list that are missing from the second: by ID, or by file
/// without an ID.
fn only(these: &[SessionRef], those: &[SessionRef]) -> Vec<SessionRef> {
    fn key(session: &SessionRef) -> &Printable {
        session.id.as_ref().unwrap_or(&session.file)
    }
    let known: BTreeSet<&Printable> = those.iter().map(key).collect();
    these.iter().filter(|session| !known.contains(key(session))).cloned().collect()
}
