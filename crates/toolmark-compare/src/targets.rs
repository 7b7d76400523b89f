//! The targets of one run side by side: cases × targets, and the differences between targets.

use crate::graded::CaseSide;
use crate::group::{PairGroup, SideNumbers};
use crate::run::{CaseKey, ComparedRun, ComparedTrial, ComparedTrials, Measures};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use toolmark_outcome::statistics::mean;
use toolmark_outcome::{Printable, Verdict, printable};

/// Maximum number of targets of which every pair is compared; more are compared with the first.
const MAX_PAIRED: usize = 4;

/// The targets of one run on the same cases.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetTable {
    /// Sums per target, in the order of the run.
    pub targets: Vec<TargetSums>,
    /// Results per case, in the order of the targets.
    pub cases: Vec<TargetRow>,
    /// Differences between two targets each, over the cases that both ran.
    pub pairs: Vec<PairGroup>,
}

/// Sums over the cases of a target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetSums {
    /// Name of the target.
    pub target: Printable,
    /// Number of cases.
    pub cases: u64,
    /// Number of cases that passed.
    pub passed: u64,
    /// Number of cases with an unknown verdict.
    pub unknown: u64,
    /// Mean score of the cases; `None` if a case has none.
    pub score: Option<f64>,
    /// Resource usage of all trials; `None` if no trial records it.
    pub measures: Measures,
}

/// Results of a case, by target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetRow {
    /// ID of the case.
    pub case: Printable,
    /// Result of each target; `None` if it did not run the case.
    pub cells: Vec<Option<TargetCell>>,
}

/// Result of a case on a target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetCell {
    /// Combined verdict of the trials.
    pub verdict: Verdict,
    /// Mean score.
    pub score: Option<f64>,
    /// Number of trials.
    pub trials: u64,
    /// Number of passed trials.
    pub passed: u64,
    /// Number of planned trials that were not needed, because the rule was decided.
    pub not_needed: u64,
}

impl ComparedRun {
    /// Returns the targets side by side; `None` if there are not several.
    #[must_use]
    pub fn targets(&self) -> Option<TargetTable> {
        self.graded.as_ref().and_then(TargetTable::of)
    }
}

impl TargetTable {
    fn of(graded: &ComparedTrials) -> Option<Self> {
        let mut targets: Vec<&Printable> = Vec::new();
        let mut cases: Vec<&Printable> = Vec::new();
        let mut units: BTreeMap<(&Printable, &Printable), Vec<&ComparedTrial>> = BTreeMap::new();
        for trial in &graded.trials {
            let Some(target) = &trial.target else { continue };
            if !targets.contains(&target) {
                targets.push(target);
            }
            units.entry((&trial.case, target)).or_insert_with(|| {
                cases.push(&trial.case);
                Vec::new()
            });
            units.entry((&trial.case, target)).or_default().push(trial);
        }
        if targets.len() < 2 {
            return None;
        }
        let mut seen = BTreeSet::new();
        cases.retain(|case| seen.insert(*case));
        let key = |case: &Printable, target: &Printable| -> CaseKey {
            (case.clone(), Some(target.clone()))
        };
        let side = |case: &Printable, target: &Printable| {
            let trials = units.get(&(case, target))?;
            let given = graded.verdicts.get(&key(case, target)).copied();
            Some(CaseSide::new(trials, given))
        };
        let sides: Vec<Vec<Option<CaseSide>>> = cases
            .iter()
            .map(|case| targets.iter().map(|target| side(case, target)).collect())
            .collect();
        let rows = cases.iter().zip(&sides).map(|(case, sides)| TargetRow {
            case: (*case).clone(),
            cells: targets
                .iter()
                .zip(sides)
                .map(|(target, side)| {
                    let side = side.as_ref()?;
                    let planned = graded.planned.get(&key(case, target)).copied().unwrap_or(0);
                    Some(TargetCell {
                        verdict: side.verdict,
                        score: side.score,
                        trials: side.trials,
                        passed: side.passed,
                        not_needed: planned.saturating_sub(side.trials),
                    })
                })
                .collect(),
        });
        let sums = targets.iter().enumerate().map(|(at, target)| {
            let own: Vec<&CaseSide> = sides.iter().filter_map(|row| row[at].as_ref()).collect();
            let trials = graded.trials.iter().filter(|trial| trial.target.as_ref() == Some(target));
            TargetSums::new(target, &own, &trials.collect::<Vec<_>>())
        });
        let pair = |(a, b): (usize, usize)| {
            let pairs: Vec<(SideNumbers, SideNumbers)> = sides
                .iter()
                .filter_map(|row| Some((row[a].as_ref()?.numbers(), row[b].as_ref()?.numbers())))
                .collect();
            let only = |one: usize, other: usize| {
                sides.iter().filter(|row| row[one].is_some() && row[other].is_none()).count() as u64
            };
            let name = printable!("{} \u{2192} {}", targets[a], targets[b]);
            PairGroup::new(Some(name), &pairs, (only(a, b), only(b, a)))
        };
        let firsts = if targets.len() <= MAX_PAIRED { targets.len() } else { 1 };
        let pairs = (0..firsts).flat_map(|a| (a + 1..targets.len()).map(move |b| (a, b)));
        Some(Self {
            targets: sums.collect(),
            cases: rows.collect(),
            pairs: pairs.map(pair).collect(),
        })
    }
}

impl TargetSums {
    fn new(target: &Printable, cases: &[&CaseSide], trials: &[&ComparedTrial]) -> Self {
        let count = |which: fn(Verdict) -> bool| {
            cases.iter().filter(|case| which(case.verdict)).count() as u64
        };
        let scores: Option<Vec<f64>> = cases.iter().map(|case| case.score).collect();
        let sum = |at: usize| {
            let recorded = trials.iter().filter_map(|trial| trial.measures.all()[at]);
            recorded.fold(None, |sum: Option<f64>, one| Some(sum.unwrap_or(0.0) + one))
        };
        Self {
            target: target.clone(),
            cases: cases.len() as u64,
            passed: count(|verdict| verdict == Verdict::Pass),
            unknown: count(|verdict| matches!(verdict, Verdict::Unknown(_))),
            score: scores.and_then(|scores| mean(&scores)),
            measures: Measures::of([0, 1, 2, 3].map(sum)),
        }
    }
}
