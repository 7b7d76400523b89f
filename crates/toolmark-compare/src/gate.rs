//! Conditions under which a comparison fails.

use crate::Comparison;
use crate::graded::{CaseChange, GradedChange};
use serde::Serialize;
use toolmark_outcome::statistics::MIN_PAIRS;
use toolmark_outcome::{Cause, Printable, Verdict, printable};

/// Condition under which a comparison fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailOn {
    /// A case that passed fails, a fault is new, or a gate that passed fails.
    Regression,
    /// The whole interval of the score difference is below zero.
    Significant,
    /// A case that passed fails, or a case fails that is not in the baseline.
    Baseline,
}

/// Result of a condition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateResult {
    /// Condition.
    pub fail_on: FailOn,
    /// Verdict.
    pub verdict: Verdict,
    /// Reason.
    pub reason: Printable,
}

fn is_unknown(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Unknown(_))
}

const UNKNOWN: Verdict = Verdict::Unknown(Cause::MissingEvidence);

impl FailOn {
    /// The command-line option of the condition.
    #[must_use]
    pub fn option(self) -> &'static str {
        match self {
            Self::Regression => "--fail-on regression",
            Self::Significant => "--fail-on significant",
            Self::Baseline => "--baseline",
        }
    }

    pub(crate) fn ask(self, comparison: &Comparison) -> GateResult {
        let (verdict, reason) = match self {
            Self::Regression | Self::Baseline => regression(self, comparison),
            Self::Significant => significant(comparison.graded.as_ref()),
        };
        GateResult { fail_on: self, verdict, reason }
    }
}

fn regression(on: FailOn, comparison: &Comparison) -> (Verdict, Printable) {
    let mut worse = Vec::new();
    let mut open = Vec::new();
    let count = |list: &mut Vec<Printable>, n: u64, one: &'static str, many: &'static str| {
        if n > 0 {
            list.push(printable!("{} {}", n, if n == 1 { one } else { many }));
        }
    };
    if let Some(graded) = &comparison.graded {
        let n = graded.total.regressions;
        count(&mut worse, n, "case that passed fails now", "cases that passed fail now");
        let became = |change: fn(Verdict, Verdict) -> bool| {
            let is = |case: &&CaseChange| change(case.before.verdict, case.after.verdict);
            graded.cases.iter().filter(is).count() as u64
        };
        let n = became(|a, b| a == Verdict::Pass && is_unknown(b));
        count(&mut open, n, "case that passed is unknown now", "cases that passed are unknown now");
        let n = became(|a, b| is_unknown(a) && b == Verdict::Fail);
        let (one, many) = ("case that was unknown fails now", "cases that were unknown fail now");
        count(&mut open, n, one, many);
        if on == FailOn::Baseline {
            // Missing cases may be intentional; cases that are not in the baseline must pass.
            let fresh = |which: fn(Verdict) -> bool| {
                graded.only_after.iter().filter(|case| which(case.verdict)).count() as u64
            };
            let n = fresh(|verdict| verdict == Verdict::Fail);
            count(&mut worse, n, "new case fails", "new cases fail");
            count(&mut open, fresh(is_unknown), "new case is unknown", "new cases are unknown");
            return answer(&worse, &open);
        }
        let missing = graded.only_before.iter().filter(|case| case.verdict == Verdict::Pass);
        let n = missing.count() as u64;
        count(&mut open, n, "case that passed is missing now", "cases that passed are missing now");
        if graded.cases.is_empty() {
            open.push("the runs have no case in common".into());
        }
    }
    if let Some(checked) = &comparison.checked {
        let n = checked.new_faults().count() as u64;
        count(&mut worse, n, "fault is new", "faults are new");
        let passed = || checked.gates.iter().filter(|gate| gate.before == Some(Verdict::Pass));
        let n = passed().filter(|gate| gate.after == Some(Verdict::Fail)).count() as u64;
        count(&mut worse, n, "gate that passed fails now", "gates that passed fail now");
        let n = passed().filter(|gate| gate.after.is_none_or(is_unknown)).count() as u64;
        let (one, many) = ("gate that passed is unknown now", "gates that passed are unknown now");
        count(&mut open, n, one, many);
    }
    answer(&worse, &open)
}

/// Returns the verdict: fail if there are regressions, otherwise unknown if there are undecided
/// items.
fn answer(worse: &[Printable], open: &[Printable]) -> (Verdict, Printable) {
    match (worse.is_empty(), open.is_empty()) {
        (false, _) => (Verdict::Fail, Printable::join(worse, ", ")),
        (true, false) => (UNKNOWN, Printable::join(open, ", ")),
        (true, true) => (Verdict::Pass, "nothing got worse".into()),
    }
}

fn significant(graded: Option<&GradedChange>) -> (Verdict, Printable) {
    let Some(graded) = graded else {
        return (UNKNOWN, "reports of checks have no scores; use --fail-on regression".into());
    };
    let Some(score) = graded.total.score else {
        return (UNKNOWN, "no case has a score in both runs".into());
    };
    match score.interval {
        _ if score.difference >= 0.0 => (Verdict::Pass, "the mean score is not lower".into()),
        Some((_, high)) if high < 0.0 => {
            (Verdict::Fail, "the mean score is lower, and its interval is below zero".into())
        }
        Some(_) => {
            (Verdict::Pass, "the mean score is lower, but its interval includes zero".into())
        }
        None => {
            let words = "the mean score is lower, and an interval needs";
            (UNKNOWN, printable!("{} {} cases with a score in both runs", words, MIN_PAIRS))
        }
    }
}
