//! One of two compared runs: its trials and its findings.

use crate::checked::CheckReport;
use std::collections::BTreeMap;
use toolmark_outcome::{Printable, RunResult, Verdict};

/// A run, from a report or from memory.
#[derive(Debug)]
pub struct ComparedRun {
    /// Display name.
    pub name: Printable,
    /// Grading results.
    pub(crate) graded: Option<ComparedTrials>,
    /// Check results.
    pub(crate) checked: Option<CheckReport>,
    /// Whether the final line with the sums is missing.
    pub may_be_cut_off: bool,
    /// Notes for the reader.
    pub(crate) notes: Vec<Printable>,
}

impl ComparedRun {
    /// Returns a run from a grading result in memory.
    #[must_use]
    pub fn of(name: Printable, result: &RunResult<Printable>) -> Self {
        let trials = result.outcomes.iter().map(|outcome| {
            let measures = outcome.trajectory.as_ref().map(|source| Measures {
                calls: source.took.calls.map(|calls| calls as f64),
                tokens: source.took.tokens.map(|tokens| tokens as f64),
                duration_ms: source.duration_ms,
                cost_usd: source.took.cost_usd,
            });
            let answers = outcome.graders.iter().map(|grader| GraderAnswer {
                grader: grader.name.clone(),
                verdict: grader.outcome.verdict,
                score: grader.outcome.score,
            });
            ComparedTrial {
                case: outcome.case.clone(),
                target: outcome.target.clone(),
                trial: outcome.trial,
                verdict: outcome.verdict,
                score: outcome.score,
                reason: outcome.reason.clone(),
                measures: measures.unwrap_or_default(),
                answers: answers.collect(),
            }
        });
        let cases = result.cases.iter();
        let verdicts = cases.map(|case| ((case.case.clone(), case.target.clone()), case.verdict));
        let planned = result
            .cases
            .iter()
            .filter_map(|case| Some(((case.case.clone(), case.target.clone()), case.planned?)));
        let graded = ComparedTrials {
            trials: trials.collect(),
            verdicts: verdicts.collect(),
            planned: planned.collect(),
        };
        Self { name, graded: Some(graded), checked: None, may_be_cut_off: false, notes: Vec::new() }
    }

    /// Whether the run was graded.
    #[must_use]
    pub fn is_graded(&self) -> bool {
        self.graded.is_some()
    }

    /// Appends another report of the same run.
    pub fn append(&mut self, other: Self) {
        match (&mut self.graded, other.graded) {
            (Some(graded), Some(more)) => {
                graded.trials.extend(more.trials);
                graded.verdicts.extend(more.verdicts);
                graded.planned.extend(more.planned);
            }
            (graded @ None, more) => *graded = more,
            (Some(_), None) => {}
        }
        match (&mut self.checked, other.checked) {
            (checked @ None, more) => *checked = more,
            (Some(_), None) => {}
            (Some(_), Some(_)) => {
                let note = "several reports of checks: only the first is compared";
                self.notes.push(note.into());
            }
        }
        self.may_be_cut_off |= other.may_be_cut_off;
        self.notes.extend(other.notes);
    }
}

/// The trials of a run.
#[derive(Debug, Default)]
pub(crate) struct ComparedTrials {
    pub(crate) trials: Vec<ComparedTrial>,
    /// Combined verdicts of cases, if the report contains them.
    pub(crate) verdicts: BTreeMap<CaseKey, Verdict>,
    /// Number of planned trials of cases, if the remaining ones were not needed.
    pub(crate) planned: BTreeMap<CaseKey, u64>,
}

/// A case and its target.
pub(crate) type CaseKey = (Printable, Option<Printable>);

/// One trial of one case.
#[derive(Debug)]
pub(crate) struct ComparedTrial {
    pub(crate) case: Printable,
    pub(crate) target: Option<Printable>,
    pub(crate) trial: u32,
    pub(crate) verdict: Verdict,
    pub(crate) score: Option<f64>,
    pub(crate) reason: Printable,
    pub(crate) measures: Measures,
    pub(crate) answers: Vec<GraderAnswer>,
}

/// Result of a grader.
#[derive(Debug)]
pub(crate) struct GraderAnswer {
    pub(crate) grader: Printable,
    pub(crate) verdict: Verdict,
    pub(crate) score: Option<f64>,
}

/// Resource usage of a trial, as far as it is recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Measures {
    /// Tool calls.
    pub calls: Option<f64>,
    /// Tokens.
    pub tokens: Option<f64>,
    /// Duration, in milliseconds.
    pub duration_ms: Option<f64>,
    /// Cost, in US dollars.
    pub cost_usd: Option<f64>,
}

impl Measures {
    /// The four measures, in report order.
    #[must_use]
    pub fn all(self) -> [Option<f64>; 4] {
        [self.calls, self.tokens, self.duration_ms, self.cost_usd]
    }

    pub(crate) fn of([calls, tokens, duration_ms, cost_usd]: [Option<f64>; 4]) -> Self {
        Self { calls, tokens, duration_ms, cost_usd }
    }
}
