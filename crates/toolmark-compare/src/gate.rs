//! What shall make a comparison fail.

use crate::Comparison;
use crate::graded::{CaseChange, Change, GradedChange};
use serde::Serialize;
use toolmark_outcome::statistics::MIN_PAIRS;
use toolmark_outcome::{Cause, Printable, Verdict, printable};

/// What a comparison fails on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FailOn {
    /// A case that passed fails now, a fault is new, or a gate that passed fails now.
    Regression,
    /// The interval of the score difference is wholly below zero.
    Significant,
}

/// The answer to one of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateResult {
    /// What was asked.
    pub fail_on: FailOn,
    /// The answer.
    pub verdict: Verdict,
    /// Why.
    pub reason: Printable,
}

const UNKNOWN: Verdict = Verdict::Unknown(Cause::MissingEvidence);

impl FailOn {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Significant => "significant",
        }
    }

    pub(crate) fn ask(self, comparison: &Comparison) -> GateResult {
        let (verdict, reason) = match self {
            Self::Regression => regression(comparison),
            Self::Significant => significant(comparison.graded.as_ref()),
        };
        GateResult { fail_on: self, verdict, reason }
    }
}

fn regression(comparison: &Comparison) -> (Verdict, Printable) {
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
        let lost = |case: &&CaseChange| {
            case.change == Change::Unknown && case.before.verdict == Verdict::Pass
        };
        let n = graded.cases.iter().filter(lost).count() as u64;
        count(&mut open, n, "case that passed is unknown now", "cases that passed are unknown now");
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
        let is_open = |verdict| matches!(verdict, None | Some(Verdict::Unknown(_)));
        let n = passed().filter(|gate| is_open(gate.after)).count() as u64;
        let (one, many) = ("gate that passed is unknown now", "gates that passed are unknown now");
        count(&mut open, n, one, many);
    }
    match (worse.is_empty(), open.is_empty()) {
        (false, _) => (Verdict::Fail, Printable::join(&worse, ", ")),
        (true, false) => (UNKNOWN, Printable::join(&open, ", ")),
        (true, true) => (Verdict::Pass, "nothing that passed fails now".into()),
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
