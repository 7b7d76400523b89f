//! Runs that failed by their own record.

use serde::Serialize;
use toolmark_outcome::{Printable, Redactor, TracePlace, Untrusted};
use toolmark_trace::{DeclaredOutcome, Gap, RunDeclaration, Trajectory};

/// A statement in the record of a run about how the run went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeclaredRun<T = Untrusted> {
    /// Whether it succeeded: `passed` or `failed`.
    pub outcome: DeclaredOutcome,
    /// The statement: `reward 0.0`.
    pub says: T,
    /// Source position of the statement.
    pub place: TracePlace<T>,
}

impl DeclaredRun {
    /// The statement about a run, where its record has one.
    pub(crate) fn of(run: &Trajectory) -> Option<Self> {
        let RunDeclaration { outcome, says, at } = run.declared_outcome()?;
        Some(Self { outcome, says: says.get().into(), place: at.location().into() })
    }

    /// It as it may be printed.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> DeclaredRun<Printable> {
        DeclaredRun {
            outcome: self.outcome,
            says: redactor.apply(self.says),
            place: self.place.redact(redactor),
        }
    }
}

/// The statements of all runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeclaredRuns<T = Untrusted> {
    /// Number of runs that passed by their own record.
    pub passed: u64,
    /// Number of runs that failed by their own record.
    pub failed: u64,
    /// The first that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<DeclaredRun<T>>,
    /// Number of runs whose record has a gap, so that the absence of findings says little.
    #[serde(skip_serializing_if = "is_zero")]
    pub incomplete: u64,
    /// Gap of the first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<T>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl<T> Default for DeclaredRuns<T> {
    fn default() -> Self {
        Self { passed: 0, failed: 0, first: None, incomplete: 0, gap: None }
    }
}

impl DeclaredRuns {
    /// The statement about one run.
    pub(crate) fn of(run: &Trajectory) -> Self {
        let declared = DeclaredRun::of(run);
        let has = |outcome| u64::from(declared.as_ref().is_some_and(|d| d.outcome == outcome));
        let (passed, failed) = (has(DeclaredOutcome::Passed), has(DeclaredOutcome::Failed));
        let gap = gap_of(run).map(|gap| gap.to_string().into());
        let incomplete = u64::from(gap.is_some());
        Self { passed, failed, first: declared.filter(|_| failed > 0), incomplete, gap }
    }

    /// Adds those of other runs.
    pub(crate) fn merge(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.first = self.first.take().or(other.first);
        self.incomplete += other.incomplete;
        self.gap = self.gap.take().or(other.gap);
    }

    /// They as they may be printed.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> DeclaredRuns<Printable> {
        let first = self.first.map(|first| first.redact(redactor));
        let gap = self.gap.map(|gap| redactor.apply(gap));
        DeclaredRuns {
            passed: self.passed,
            failed: self.failed,
            first,
            incomplete: self.incomplete,
            gap,
        }
    }
}

impl<T> DeclaredRuns<T> {
    /// Whether no run declares anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.passed + self.failed + self.incomplete == 0
    }
}

/// Returns the lost records of a run and its sub-agents, or the error it ended with. A session that
/// its user interrupted has all calls that were made, so that is not a gap here.
fn gap_of(run: &Trajectory) -> Option<Gap> {
    let has_error = run.completeness.declared_error.is_some();
    let own = run.gap().filter(|gap| has_error || gap.loses_records());
    own.or_else(|| {
        let mut gaps = run.flatten().into_iter().skip(1).filter_map(Trajectory::gap);
        gaps.find(Gap::loses_records)
    })
}
