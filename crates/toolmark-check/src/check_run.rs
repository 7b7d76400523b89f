//! Result of a run of `toolmark check`: findings, gates, and the comparison with the
//! baseline.

use crate::changes::Changes;
use crate::gate::{self, GateRow};
use crate::{CallRow, CheckedTraces, OverviewSums, Rule};
use std::borrow::Cow;
use std::io;
use toolmark_outcome::{
    Axis, Cause, Confidence, Finding, Printable, Redactor, Severity, Untrusted, Verdict,
};

/// Iterator over stored rows.
pub type StoredRows<'s, T> = Box<dyn Iterator<Item = io::Result<T>> + 's>;

/// Storage for findings and calls that are too many for a list.
pub trait RowStore {
    /// Returns the number of findings of each kind, in the order of reports. None of the
    /// findings is known from a baseline.
    fn groups(&self) -> &[FindingGroup];

    /// Returns the findings, in the order of reports.
    fn findings(&self) -> io::Result<StoredRows<'_, Finding<Printable>>>;

    /// Returns the calls, in the order in which they were read.
    fn calls(&self) -> io::Result<StoredRows<'_, CallRow<Printable>>>;
}

/// Findings of one rule with the same severity and confidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FindingGroup {
    /// Severity.
    pub severity: Severity,
    /// Confidence of the rule.
    pub confidence: Confidence,
    /// Code of the rule.
    pub code: &'static str,
    /// Number of findings.
    pub count: usize,
}

impl FindingGroup {
    /// Creates an empty group for findings like this one.
    #[must_use]
    pub fn of<T>(finding: &Finding<T>) -> Self {
        let Finding { severity, confidence, code, .. } = *finding;
        Self { severity, confidence, code, count: 0 }
    }

    /// Whether the finding belongs to the group.
    #[must_use]
    pub fn takes<T>(&self, finding: &Finding<T>) -> bool {
        (self.code, self.severity, self.confidence)
            == (finding.code, finding.severity, finding.confidence)
    }
}

/// Checked sessions and the result.
pub struct CheckRun<T: Ord = Untrusted> {
    /// Findings, worst first, and the scorecard.
    pub checked: CheckedTraces<T>,
    /// Findings and calls that are too many to be in `checked`.
    pub stored: Option<Box<dyn RowStore>>,
    /// Sums over all sessions.
    pub sums: OverviewSums<T>,
    /// Number of files read.
    pub files: u64,
    /// Additional notes for the reader.
    pub notes: Vec<T>,
    /// Rules that were run.
    pub rules: Vec<&'static Rule>,
    /// Minimum severity that fails the run.
    pub fail_on: Option<Severity>,
    /// Whether a run that failed by its own record does not fail the check.
    pub accepts_failed_runs: bool,
    /// Results of the gates.
    pub gates: Vec<GateRow<T>>,
    /// Comparison with the baseline, if there is one.
    pub changes: Option<Changes<T>>,
}

impl<T: Ord> Default for CheckRun<T> {
    fn default() -> Self {
        Self {
            checked: CheckedTraces::default(),
            stored: None,
            sums: OverviewSums::default(),
            files: 0,
            notes: Vec::new(),
            rules: Vec::new(),
            fail_on: None,
            accepts_failed_runs: false,
            gates: Vec::new(),
            changes: None,
        }
    }
}

impl CheckRun {
    /// Returns the printable run.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> CheckRun<Printable> {
        let mut checked = self.checked.redact(redactor);
        // The order of reports is that of the printed text.
        checked.findings.sort_by(Finding::order);
        CheckRun {
            checked,
            stored: self.stored,
            sums: self.sums.redact(redactor),
            files: self.files,
            notes: redactor.apply_all(self.notes),
            rules: self.rules,
            fail_on: self.fail_on,
            accepts_failed_runs: self.accepts_failed_runs,
            gates: self.gates.into_iter().map(|row| row.redact(redactor)).collect(),
            changes: self.changes.map(|changes| changes.redact(redactor)),
        }
    }
}

impl CheckRun<Printable> {
    /// Returns the findings, in the order of reports.
    pub fn findings(&self) -> io::Result<impl Iterator<Item = io::Result<FoundRow<'_>>>> {
        let stored = self.stored.as_ref().map(|store| store.findings()).transpose()?;
        let stored = stored.into_iter().flatten().map(|one| one.map(Cow::Owned));
        Ok(self.checked.findings.iter().map(|one| Ok(Cow::Borrowed(one))).chain(stored))
    }

    /// Returns the findings that are not in the baseline.
    pub fn new_findings(&self) -> io::Result<impl Iterator<Item = io::Result<FoundRow<'_>>>> {
        Ok(self.findings()?.filter(|one| one.as_ref().map_or(true, |one| one.is_new())))
    }

    /// Returns the calls, if they were kept.
    pub fn calls(&self) -> io::Result<impl Iterator<Item = io::Result<CallRowRef<'_>>>> {
        let stored = self.stored.as_ref().map(|store| store.calls()).transpose()?;
        let stored = stored.into_iter().flatten().map(|one| one.map(Cow::Owned));
        Ok(self.checked.calls.iter().map(|one| Ok(Cow::Borrowed(one))).chain(stored))
    }

    /// Returns the number of findings of each kind that are not in the baseline, in the order
    /// of reports.
    #[must_use]
    pub fn groups(&self) -> Vec<FindingGroup> {
        let mut groups: Vec<FindingGroup> = Vec::new();
        for finding in self.checked.findings.iter().filter(|finding| finding.is_new()) {
            match groups.last_mut() {
                Some(group) if group.takes(finding) => group.count += 1,
                _ => groups.push(FindingGroup { count: 1, ..FindingGroup::of(finding) }),
            }
        }
        groups.extend(self.stored.iter().flat_map(|store| store.groups()));
        groups
    }

    /// Returns the number of findings with this severity that are not in the baseline.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        let groups = self.groups().into_iter().filter(|group| group.severity == severity);
        groups.map(|group| group.count).sum()
    }

    /// Whether this finding fails the run.
    #[must_use]
    pub fn fails(&self, finding: &Finding<Printable>) -> bool {
        finding.is_new() && self.is_severe(finding.severity)
    }

    fn is_severe(&self, severity: Severity) -> bool {
        self.fail_on.is_some_and(|least| severity >= least)
    }

    /// Whether there was nothing to check, such as in an empty part of a list of files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files == 0 && self.checked.scorecard.sessions == 0
    }

    /// Whether no rule could judge any call, so that the absence of findings says nothing.
    #[must_use]
    pub fn is_unassessed(&self) -> bool {
        let total = self.checked.scorecard.total();
        let is_judged = Axis::ALL.iter().any(|axis| total.axis(*axis).of > 0);
        // Rules about rare calls have looked at all calls, and found none of theirs.
        let every_call_counts = |axis| self.rules.iter().any(|rule| rule.axis == axis);
        let looks_everywhere =
            every_call_counts(Axis::Selection) && every_call_counts(Axis::Arguments);
        total.calls == 0 || !is_judged && looks_everywhere
    }

    /// Returns the verdict over findings, gates and declared outcomes. Without findings, the run
    /// passes only if at least one call was judged.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let findings = !self.groups().iter().any(|group| self.is_severe(group.severity));
        let declared = self.accepts_failed_runs || self.checked.declared.failed == 0;
        let wants = self.fail_on.is_some() || !self.gates.is_empty();
        let lacks = self.checked.scorecard.unrecorded + self.checked.declared.incomplete;
        let is_blind = lacks > 0 && wants;
        let seen = match is_blind || self.is_unassessed() {
            true => Verdict::Unknown(Cause::MissingEvidence),
            false => Verdict::Pass,
        };
        Verdict::of(findings && declared).and(gate::verdict(&self.gates)).and(seen)
    }
}

/// A finding, borrowed from a list or read from storage.
pub type FoundRow<'r> = Cow<'r, Finding<Printable>>;

/// A call, borrowed from a list or read from storage.
pub type CallRowRef<'r> = Cow<'r, CallRow<Printable>>;
