//! Numbers over several pairs: passes, scores with their interval, and resource usage.

use crate::graded::VerdictChange;
use crate::run::Measures;
use serde::Serialize;
use toolmark_outcome::statistics::{TrialPairs, mean, paired_bootstrap};
use toolmark_outcome::{Printable, Verdict};

/// Numbers of one side of a pair.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SideNumbers {
    pub(crate) verdict: Verdict,
    pub(crate) score: Option<f64>,
    pub(crate) measures: Measures,
}

/// Numbers over several pairs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairGroup {
    /// Name of the target or grader; `None` for the total and for pairs without a target.
    pub name: Option<Printable>,
    /// Number of pairs.
    pub cases: u64,
    /// Number of passes in the first run.
    pub passed_before: u64,
    /// Number of passes in the second run.
    pub passed_after: u64,
    /// Number of pairs that passed and now fail.
    pub regressions: u64,
    /// Number of pairs that failed and now pass.
    pub improvements: u64,
    /// Number of pairs that are unknown on one side only.
    pub unknown: u64,
    /// Number of cases of the first run only.
    pub only_before: u64,
    /// Number of cases of the second run only.
    pub only_after: u64,
    /// Change of the scores, if any pair has a score on both sides.
    pub score: Option<ScoreChange>,
    /// Significance of the verdict changes; `None` if no pair was decided on both sides.
    pub mcnemar: Option<McNemar>,
    /// Resource usage.
    pub measures: MeasureChanges,
}

/// Change of the scores, over the pairs with a score on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ScoreChange {
    /// Number of pairs.
    pub of: u64,
    /// Mean in the first run.
    pub before: f64,
    /// Mean in the second run.
    pub after: f64,
    /// Mean difference.
    pub difference: f64,
    /// 95 % interval of the mean difference, by paired bootstrap; `None` for too few pairs.
    pub interval: Option<(f64, f64)>,
}

/// McNemar's exact test, over the pairs that passed or failed on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct McNemar {
    /// Number of pairs.
    pub of: u64,
    /// p-value: probability of an imbalance at least this large if nothing changed.
    pub p: f64,
}

/// Sums of a measure over the pairs that record it on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeasureChange {
    /// Number of pairs.
    pub of: u64,
    /// Sum in the first run.
    pub before: f64,
    /// Sum in the second run.
    pub after: f64,
    /// Increase from the first to the second run.
    pub difference: f64,
}

impl MeasureChange {
    pub(crate) fn new(of: u64, before: f64, after: f64) -> Self {
        Self { of, before, after, difference: after - before }
    }
}

/// Resource usage of both runs; `None` if no pair records it on both sides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct MeasureChanges {
    /// Tool calls.
    pub calls: Option<MeasureChange>,
    /// Tokens.
    pub tokens: Option<MeasureChange>,
    /// Duration, in milliseconds.
    pub duration_ms: Option<MeasureChange>,
    /// Cost, in US dollars.
    pub cost_usd: Option<MeasureChange>,
}

impl MeasureChanges {
    fn of(pairs: &[(SideNumbers, SideNumbers)]) -> Self {
        let [calls, tokens, duration_ms, cost_usd] = [0, 1, 2, 3].map(|which: usize| {
            let recorded: Vec<(f64, f64)> = pairs
                .iter()
                .filter_map(|(a, b)| a.measures.all()[which].zip(b.measures.all()[which]))
                .collect();
            let sum = |side: fn(&(f64, f64)) -> f64| recorded.iter().map(side).sum::<f64>();
            (!recorded.is_empty())
                .then(|| MeasureChange::new(recorded.len() as u64, sum(|p| p.0), sum(|p| p.1)))
        });
        Self { calls, tokens, duration_ms, cost_usd }
    }
}

impl PairGroup {
    pub(crate) fn new(
        name: Option<Printable>,
        pairs: &[(SideNumbers, SideNumbers)],
        (only_before, only_after): (u64, u64),
    ) -> Self {
        let count = |which: &dyn Fn(&SideNumbers, &SideNumbers) -> bool| {
            pairs.iter().filter(|(a, b)| which(a, b)).count() as u64
        };
        let changed = |change: VerdictChange| {
            count(&|a, b| VerdictChange::between(a.verdict, b.verdict) == change)
        };
        let mut decided = TrialPairs::default();
        for (a, b) in pairs {
            if let (Some(a), Some(b)) = (passed(a.verdict), passed(b.verdict)) {
                decided.add(a, b);
            }
        }
        let mcnemar =
            (decided.count() > 0).then(|| McNemar { of: decided.count(), p: decided.p_value() });
        Self {
            name,
            cases: pairs.len() as u64,
            passed_before: count(&|a, _| a.verdict == Verdict::Pass),
            passed_after: count(&|_, b| b.verdict == Verdict::Pass),
            regressions: changed(VerdictChange::Regression),
            improvements: changed(VerdictChange::Improvement),
            unknown: changed(VerdictChange::Unknown),
            only_before,
            only_after,
            score: ScoreChange::of(pairs),
            mcnemar,
            measures: MeasureChanges::of(pairs),
        }
    }
}

/// Whether the verdict is a pass; `None` for an unknown one.
fn passed(verdict: Verdict) -> Option<bool> {
    match verdict {
        Verdict::Pass => Some(true),
        Verdict::Fail => Some(false),
        Verdict::Unknown(_) => None,
    }
}

impl ScoreChange {
    fn of(pairs: &[(SideNumbers, SideNumbers)]) -> Option<Self> {
        let scored: Vec<(f64, f64)> =
            pairs.iter().filter_map(|(a, b)| a.score.zip(b.score)).collect();
        let before: Vec<f64> = scored.iter().map(|(a, _)| *a).collect();
        let after: Vec<f64> = scored.iter().map(|(_, b)| *b).collect();
        let differences: Vec<f64> = scored.iter().map(|(a, b)| b - a).collect();
        Some(Self {
            of: scored.len() as u64,
            before: mean(&before)?,
            after: mean(&after)?,
            difference: mean(&differences)?,
            interval: paired_bootstrap(&differences),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_outcome::Cause;

    const UNKNOWN: Verdict = Verdict::Unknown(Cause::MissingEvidence);

    fn numbers(verdict: Verdict, score: Option<f64>, calls: Option<f64>) -> SideNumbers {
        SideNumbers { verdict, score, measures: Measures { calls, ..Measures::default() } }
    }

    #[test]
    fn unknown_is_neither_better_nor_worse() {
        let pairs = [
            (numbers(Verdict::Pass, Some(1.0), Some(3.0)), numbers(UNKNOWN, None, Some(5.0))),
            (numbers(UNKNOWN, None, None), numbers(Verdict::Fail, Some(0.0), Some(9.0))),
            (
                numbers(Verdict::Fail, Some(0.5), Some(1.0)),
                numbers(Verdict::Fail, Some(0.25), Some(4.0)),
            ),
        ];
        let group = PairGroup::new(None, &pairs, (0, 0));
        assert_eq!((group.regressions, group.improvements, group.unknown), (0, 0, 2));
        assert_eq!((group.passed_before, group.passed_after), (1, 0));
        let score = group.score.unwrap();
        assert_eq!((score.of, score.difference, score.interval), (1, -0.25, None));
        let calls = group.measures.calls.unwrap();
        assert_eq!((calls.of, calls.before, calls.after, calls.difference), (2, 4.0, 9.0, 5.0));
        assert_eq!(group.measures.tokens, None);
        assert_eq!(group.mcnemar, Some(McNemar { of: 1, p: 1.0 }));
    }

    #[test]
    fn mcnemar_has_the_published_value() {
        // 9 against 2 of 44 pairs (Fay 2010).
        let side = |pass: bool| numbers(Verdict::of(pass), None, None);
        let rows = [(21, true, true), (9, true, false), (2, false, true), (12, false, false)];
        let pairs: Vec<_> = rows
            .into_iter()
            .flat_map(|(n, a, b)| std::iter::repeat_n((side(a), side(b)), n))
            .collect();
        let group = PairGroup::new(None, &pairs, (0, 0));
        assert_eq!((group.regressions, group.improvements), (9, 2));
        let test = group.mcnemar.unwrap();
        assert!(test.of == 44 && (test.p - 0.065_43).abs() < 1e-5, "{test:?}");
        assert_eq!((group.score, group.measures), (None, MeasureChanges::default()));
    }
}
