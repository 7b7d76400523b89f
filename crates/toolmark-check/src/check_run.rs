//! What a run of `toolmark check` came to: findings, gates, and how they compare
//! with the run before.

use crate::baseline::Changes;
use crate::gate::{self, GateRow};
use crate::{CallRow, Checked, OverviewSums, Rule};
use std::borrow::Cow;
use std::io;
use toolmark_outcome::{
    Cause, Confidence, Finding, Printable, Redactor, Severity, Untrusted, Verdict,
};

/// Rows that are read one after the other.
pub type StoredRows<'s, T> = Box<dyn Iterator<Item = io::Result<T>> + 's>;

/// Findings and calls that are too many for a list.
pub trait RowStore {
    /// How many findings there are of each kind, in the order of reports. None of them is
    /// known from a run before.
    fn groups(&self) -> &[FindingGroup];

    /// The findings, in the order of reports.
    fn findings(&self) -> io::Result<StoredRows<'_, Finding<Printable>>>;

    /// The calls, in the order they were read.
    fn calls(&self) -> io::Result<StoredRows<'_, CallRow<Printable>>>;
}

/// The findings of one rule that are equally bad and equally sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FindingGroup {
    /// How bad they are.
    pub severity: Severity,
    /// How sure the rule is.
    pub confidence: Confidence,
    /// The rule's code.
    pub code: &'static str,
    /// How many there are.
    pub count: usize,
}

impl FindingGroup {
    /// A group without a finding so far.
    #[must_use]
    pub fn of<T>(finding: &Finding<T>) -> Self {
        let Finding { severity, confidence, code, .. } = *finding;
        Self { severity, confidence, code, count: 0 }
    }

    /// Is the finding one of the group?
    #[must_use]
    pub fn takes<T>(&self, finding: &Finding<T>) -> bool {
        (self.code, self.severity, self.confidence)
            == (finding.code, finding.severity, finding.confidence)
    }
}

/// What was checked and what it came to.
pub struct CheckRun<T: Ord = Untrusted> {
    /// Findings, the worst first, and the scorecard.
    pub checked: Checked<T>,
    /// The findings and calls that are not in `checked`, because they are too many.
    pub stored: Option<Box<dyn RowStore>>,
    /// The counts of all sessions.
    pub sums: OverviewSums<T>,
    /// How many files were read.
    pub files: u64,
    /// What the reader should know besides.
    pub notes: Vec<T>,
    /// The rules that were asked.
    pub rules: Vec<&'static Rule>,
    /// The least severity that fails.
    pub fail_on: Option<Severity>,
    /// What the gates say.
    pub gates: Vec<GateRow<T>>,
    /// How the findings compare with the baseline, where there is one.
    pub changes: Option<Changes<T>>,
}

impl<T: Ord> Default for CheckRun<T> {
    fn default() -> Self {
        Self {
            checked: Checked::default(),
            stored: None,
            sums: OverviewSums::default(),
            files: 0,
            notes: Vec::new(),
            rules: Vec::new(),
            fail_on: None,
            gates: Vec::new(),
            changes: None,
        }
    }
}

impl CheckRun {
    /// It as it may be printed.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> CheckRun<Printable> {
        let mut checked = self.checked.redact(redactor);
        // The order of reports is that of what is printed.
        checked.findings.sort_by(Finding::order);
        CheckRun {
            checked,
            stored: self.stored,
            sums: self.sums.redact(redactor),
            files: self.files,
            notes: redactor.apply_all(self.notes),
            rules: self.rules,
            fail_on: self.fail_on,
            gates: self.gates.into_iter().map(|row| row.redact(redactor)).collect(),
            changes: self.changes.map(|changes| changes.redact(redactor)),
        }
    }
}

impl CheckRun<Printable> {
    /// The findings, in the order of reports.
    pub fn findings(&self) -> io::Result<impl Iterator<Item = io::Result<FoundRow<'_>>>> {
        let stored = self.stored.as_ref().map(|store| store.findings()).transpose()?;
        let stored = stored.into_iter().flatten().map(|one| one.map(Cow::Owned));
        Ok(self.checked.findings.iter().map(|one| Ok(Cow::Borrowed(one))).chain(stored))
    }

    /// The findings to act on: those the baseline does not have.
    pub fn new_findings(&self) -> io::Result<impl Iterator<Item = io::Result<FoundRow<'_>>>> {
        Ok(self.findings()?.filter(|one| one.as_ref().map_or(true, |one| one.is_new())))
    }

    /// The calls, where they are kept.
    pub fn calls(&self) -> io::Result<impl Iterator<Item = io::Result<CallRowRef<'_>>>> {
        let stored = self.stored.as_ref().map(|store| store.calls()).transpose()?;
        let stored = stored.into_iter().flatten().map(|one| one.map(Cow::Owned));
        Ok(self.checked.calls.iter().map(|one| Ok(Cow::Borrowed(one))).chain(stored))
    }

    /// How many findings to act on there are of each kind, in the order of reports.
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

    /// How many findings to act on have this severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        let groups = self.groups().into_iter().filter(|group| group.severity == severity);
        groups.map(|group| group.count).sum()
    }

    /// Does this finding fail the run?
    #[must_use]
    pub fn fails(&self, finding: &Finding<Printable>) -> bool {
        finding.is_new() && self.is_severe(finding.severity)
    }

    fn is_severe(&self, severity: Severity) -> bool {
        self.fail_on.is_some_and(|least| severity >= least)
    }

    /// Was nothing there to check, as in an empty part of a list of files?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files == 0 && self.checked.scorecard.sessions == 0
    }

    /// Findings and gates together. No finding is no pass where no call was seen.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let findings = !self.groups().iter().any(|group| self.is_severe(group.severity));
        let is_blind = self.checked.scorecard.unrecorded > 0 || self.is_empty();
        let seen = match is_blind && (self.fail_on.is_some() || !self.gates.is_empty()) {
            true => Verdict::Unknown(Cause::MissingEvidence),
            false => Verdict::Pass,
        };
        Verdict::of(findings).and(gate::verdict(&self.gates)).and(seen)
    }
}

/// A finding of a list, or one that was read.
pub type FoundRow<'r> = Cow<'r, Finding<Printable>>;

/// A call of a list, or one that was read.
pub type CallRowRef<'r> = Cow<'r, CallRow<Printable>>;
