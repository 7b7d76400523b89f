//! What a run of `toolmark check` came to: findings, gates, and how they compare
//! with the run before.

use crate::baseline::Changes;
use crate::gate::{self, GateRow};
use crate::{Checked, Rule};
use toolmark_outcome::{Cause, Finding, Printable, Redactor, Severity, Untrusted, Verdict};

/// What was checked and what it came to.
pub struct CheckRun<T: Ord = Untrusted> {
    /// Findings, the worst first, and the scorecard.
    pub checked: Checked<T>,
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
        CheckRun {
            checked: self.checked.redact(redactor),
            files: self.files,
            notes: redactor.apply_all(self.notes),
            rules: self.rules,
            fail_on: self.fail_on,
            gates: self.gates.into_iter().map(|row| row.redact(redactor)).collect(),
            changes: self.changes.map(|changes| changes.redact(redactor)),
        }
    }
}

impl<T: Ord> CheckRun<T> {
    /// The findings to act on: those the baseline does not have.
    pub fn new_findings(&self) -> impl Iterator<Item = &Finding<T>> {
        self.checked.findings.iter().filter(|finding| finding.is_new())
    }

    /// How many of them have this severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.new_findings().filter(|finding| finding.severity == severity).count()
    }

    /// Does this finding fail the run?
    #[must_use]
    pub fn fails(&self, finding: &Finding<T>) -> bool {
        finding.is_new() && self.fail_on.is_some_and(|least| finding.severity >= least)
    }

    /// Findings and gates together. No finding is no pass where no call was seen.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let findings = !self.checked.findings.iter().any(|finding| self.fails(finding));
        let is_blind = self.checked.scorecard.unrecorded > 0;
        let seen = match is_blind && (self.fail_on.is_some() || !self.gates.is_empty()) {
            true => Verdict::Unknown(Cause::MissingEvidence),
            false => Verdict::Pass,
        };
        Verdict::of(findings).and(gate::verdict(&self.gates)).and(seen)
    }
}
