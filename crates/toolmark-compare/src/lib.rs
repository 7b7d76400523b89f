//! Compares two runs: reads the JSON reports of `toolmark grade` and `toolmark check` and computes
//! the changes.
//!
//! A [`ComparedRun`] is one report, read from text or taken from a result in memory.
//! [`Comparison::new`] pairs the cases of two runs: their verdicts, their scores with a
//! paired bootstrap interval, an exact McNemar test, and the findings that are new or
//! gone. Cases of only one run are listed.
//!
//! ```
//! use toolmark_compare::{Comparison, Grouping, ComparedRun};
//! use toolmark_outcome::Redactor;
//!
//! let report = |verdict: &str| {
//!     format!(r#"{{"type":"outcome","case":"refund","verdict":"{verdict}","score":null}}"#)
//! };
//! let read = |text: &str| ComparedRun::parse("run.jsonl".into(), text, Redactor::new(true));
//! let (before, after) = (read(&report("pass"))?, read(&report("fail"))?);
//! let comparison = Comparison::new(&before, &after, Grouping::Case)?;
//! assert_eq!(comparison.graded.map(|graded| graded.total.regressions), Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate neither reads files nor prints.

#![forbid(unsafe_code)]

mod baseline;
mod checked;
mod gate;
mod graded;
mod group;
mod reading;
mod run;
mod targets;

pub use baseline::{Baseline, NotACheckReport, ReportChanges};
pub use checked::{CheckedChange, FindingRef, GateChange, SessionRef};
pub use gate::{FailOn, GateResult};
pub use graded::{CaseChange, CaseRef, CaseSide, GradedChange, VerdictChange};
pub use group::{McNemar, MeasureChange, MeasureChanges, PairGroup, ScoreChange};
pub use reading::ReportReadError;
pub use run::{ComparedRun, Measures};
pub use targets::{TargetCell, TargetRow, TargetSums, TargetTable};

use serde::Serialize;
use toolmark_outcome::{Printable, Verdict, printable};

/// Grouping of the numbers, in addition to the totals over all cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// By case.
    #[default]
    Case,
    /// By target.
    Target,
    /// By grader.
    Grader,
}

impl Grouping {
    /// Name in every output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Case => "case",
            Self::Target => "target",
            Self::Grader => "grader",
        }
    }
}

/// Changes between two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the first run.
    pub before: Printable,
    /// Name of the second run.
    pub after: Printable,
    /// Results of the failure conditions.
    pub gates: Vec<GateResult>,
    /// Changes of the cases, if both runs were graded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graded: Option<GradedChange>,
    /// Changes of the findings, if both runs were checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<CheckedChange>,
    /// The targets of one run, if it is not compared with another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub targets: Option<TargetTable>,
    /// Notes for the reader.
    pub notes: Vec<Printable>,
}

/// Error: the two runs cannot be compared.
#[derive(Debug, thiserror::Error)]
#[error("{before} is a report of `toolmark {}`, {after} one of `toolmark {}`", kinds.0, kinds.1)]
pub struct NotComparable {
    before: Printable,
    after: Printable,
    kinds: (&'static str, &'static str),
}

impl Comparison {
    /// Compares two runs.
    pub fn new(
        before: &ComparedRun,
        after: &ComparedRun,
        by: Grouping,
    ) -> Result<Self, NotComparable> {
        let mut notes: Vec<Printable> = before.notes.iter().chain(&after.notes).cloned().collect();
        for run in [before, after].into_iter().filter(|run| run.may_be_cut_off) {
            notes.push(printable!("{} has no summary line; it may be cut off", run.name));
        }
        let graded = before.graded.as_ref().zip(after.graded.as_ref());
        let graded = graded.map(|(a, b)| {
            let names = (&before.name, &after.name);
            GradedChange::new(a, b, names, by, &mut notes)
        });
        let checked = before.checked.as_ref().zip(after.checked.as_ref());
        let checked = checked.map(|(a, b)| CheckedChange::new(a, b, &mut notes));
        if graded.is_none() && checked.is_none() {
            let kind = |run: &ComparedRun| if run.graded.is_some() { "grade" } else { "check" };
            return Err(NotComparable {
                before: before.name.clone(),
                after: after.name.clone(),
                kinds: (kind(before), kind(after)),
            });
        }
        Ok(Self {
            before: before.name.clone(),
            after: after.name.clone(),
            gates: Vec::new(),
            graded,
            checked,
            targets: None,
            notes,
        })
    }

    /// Compares the targets of one run; `None` if it has not several.
    #[must_use]
    pub fn of_targets(run: &ComparedRun) -> Option<Self> {
        Some(Self {
            before: run.name.clone(),
            after: run.name.clone(),
            gates: Vec::new(),
            graded: None,
            checked: None,
            targets: Some(run.targets()?),
            notes: run.notes.clone(),
        })
    }

    /// Adds the results of the failure conditions.
    #[must_use]
    pub fn with_gates(mut self, fail_on: &[FailOn]) -> Self {
        self.gates = fail_on.iter().map(|fail_on| fail_on.ask(&self)).collect();
        self
    }

    /// Combined verdict of the conditions; a pass if there are none.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.gates.iter().fold(Verdict::Pass, |sum, gate| sum.and(gate.verdict))
    }

    /// Whether there is no difference.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.graded.as_ref().is_none_or(GradedChange::is_empty)
            && self.checked.as_ref().is_none_or(CheckedChange::is_empty)
    }
}
