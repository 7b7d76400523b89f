//! Pairs of cases of two runs.
//!
//! A case on a target is one pair, whatever its number of trials: trials of one case are not
//! independent of each other, and the third trial of one run has no relation to the third trial of
//! the other. The verdict of a pair is the combined verdict of its trials, its score their mean.

use crate::Grouping;
use crate::group::{PairGroup, SideNumbers};
use crate::run::{CaseKey, ComparedTrial, ComparedTrials, GraderAnswer, Measures};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use toolmark_outcome::statistics::mean;
use toolmark_outcome::{Printable, Verdict, printable};

/// Change of the verdict of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictChange {
    /// The case passed and now fails.
    Regression,
    /// The verdict is unknown on one side only.
    Unknown,
    /// The case failed and now passes.
    Improvement,
    /// The verdict is the same.
    Same,
}

impl VerdictChange {
    /// Returns the change between two verdicts.
    #[must_use]
    pub fn between(before: Verdict, after: Verdict) -> Self {
        match (before, after) {
            (Verdict::Pass, Verdict::Fail) => Self::Regression,
            (Verdict::Fail, Verdict::Pass) => Self::Improvement,
            (Verdict::Unknown(_), Verdict::Unknown(_)) => Self::Same,
            (Verdict::Unknown(_), _) | (_, Verdict::Unknown(_)) => Self::Unknown,
            _ => Self::Same,
        }
    }

    /// Name in every output.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::Unknown => "unknown",
            Self::Improvement => "improvement",
            Self::Same => "same",
        }
    }
}

/// Combined result of the trials of a case in one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseSide {
    /// Combined verdict.
    pub verdict: Verdict,
    /// Mean score; `None` if a trial has no score.
    pub score: Option<f64>,
    /// Number of trials.
    pub trials: u64,
    /// Number of passed trials.
    pub passed: u64,
    /// Reason of the first trial with the combined verdict.
    pub reason: Printable,
    /// Mean resource usage per trial; `None` if a trial does not record it.
    pub measures: Measures,
}

impl CaseSide {
    pub(crate) fn new(trials: &[&ComparedTrial], given: Option<Verdict>) -> Self {
        let sum = trials.iter().fold(Verdict::Pass, |sum, trial| sum.and(trial.verdict));
        let verdict = given.unwrap_or(sum);
        let decisive = trials.iter().find(|trial| trial.verdict.word() == verdict.word());
        let all = |of: &dyn Fn(&ComparedTrial) -> Option<f64>| {
            let values: Option<Vec<f64>> = trials.iter().map(|trial| of(trial)).collect();
            values.and_then(|values| mean(&values))
        };
        Self {
            verdict,
            score: all(&|trial| trial.score),
            trials: trials.len() as u64,
            passed: trials.iter().filter(|trial| trial.verdict == Verdict::Pass).count() as u64,
            reason: decisive.or(trials.first()).map(|t| t.reason.clone()).unwrap_or_default(),
            measures: Measures::of([0, 1, 2, 3].map(|at: usize| all(&|t| t.measures.all()[at]))),
        }
    }

    pub(crate) fn numbers(&self) -> SideNumbers {
        SideNumbers { verdict: self.verdict, score: self.score, measures: self.measures }
    }
}

/// A case of both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseChange {
    /// ID of the case.
    pub case: Printable,
    /// Name of the target, if both runs have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Printable>,
    /// Change of the verdict.
    pub change: VerdictChange,
    /// Result in the first run.
    pub before: CaseSide,
    /// Result in the second run.
    pub after: CaseSide,
    /// Increase of the score, if both runs have one.
    pub difference: Option<f64>,
}

impl CaseChange {
    /// Whether verdict and score are equal.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.change == VerdictChange::Same && self.difference.unwrap_or(0.0) == 0.0
    }

    /// Display name.
    #[must_use]
    pub fn label(&self) -> Printable {
        label(&self.case, self.target.as_ref())
    }
}

/// A case of only one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseRef {
    /// ID of the case.
    pub case: Printable,
    /// Name of the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Printable>,
    /// Verdict in that run.
    pub verdict: Verdict,
    /// Score in that run.
    pub score: Option<f64>,
}

impl CaseRef {
    /// Display name.
    #[must_use]
    pub fn label(&self) -> Printable {
        label(&self.case, self.target.as_ref())
    }
}

fn label(case: &Printable, target: Option<&Printable>) -> Printable {
    match target {
        Some(target) => printable!("{} [{}]", case, target),
        None => case.clone(),
    }
}

/// Changes of the graded cases.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GradedChange {
    /// Numbers over all pairs.
    pub total: PairGroup,
    /// Kind of the groups.
    pub by: Grouping,
    /// Numbers by target or grader; empty if each case is listed separately.
    pub groups: Vec<PairGroup>,
    /// The cases of both runs, by name.
    pub cases: Vec<CaseChange>,
    /// Cases of the first run only.
    pub only_before: Vec<CaseRef>,
    /// Cases of the second run only.
    pub only_after: Vec<CaseRef>,
}

/// The trials of each case on each target.
type Units<'r> = BTreeMap<CaseKey, Vec<&'r ComparedTrial>>;

impl GradedChange {
    pub(crate) fn new(
        before: &ComparedTrials,
        after: &ComparedTrials,
        names: (&Printable, &Printable),
        by: Grouping,
        notes: &mut Vec<Printable>,
    ) -> Self {
        let targets = only_targets(before, after);
        if let Some((a, b)) = &targets {
            let word = |target: &Option<Printable>| match target {
                Some(target) => printable!("target {}", target),
                None => "no target".into(),
            };
            notes.push(printable!("{} is compared with {}", word(a), word(b)));
        }
        let by_case_alone = targets.is_some();
        let (a, b) = (units(before, by_case_alone), units(after, by_case_alone));
        for (name, units) in [(names.0, &a), (names.1, &b)] {
            notes.extend(repeated(name, units));
        }
        let side = |graded: &ComparedTrials, trials: &[&ComparedTrial]| {
            let given = trials.first().and_then(|trial| graded.verdicts.get(&key(trial, false)));
            CaseSide::new(trials, given.copied())
        };
        let pair = |(key, trials): (&CaseKey, &Vec<&ComparedTrial>)| {
            let (before, after) = (side(before, trials), side(after, b.get(key)?));
            let difference = before.score.zip(after.score).map(|(a, b)| b - a);
            let change = VerdictChange::between(before.verdict, after.verdict);
            let (case, target) = key.clone();
            Some(CaseChange { case, target, change, before, after, difference })
        };
        let cases: Vec<CaseChange> = a.iter().filter_map(pair).collect();
        let only = |graded: &ComparedTrials, these: &Units<'_>, those: &Units<'_>| {
            let these = these.iter().filter(|(key, _)| !those.contains_key(key));
            let these = these.map(|((case, target), trials)| {
                let CaseSide { verdict, score, .. } = side(graded, trials);
                CaseRef { case: case.clone(), target: target.clone(), verdict, score }
            });
            these.collect::<Vec<_>>()
        };
        let (only_before, only_after) = (only(before, &a, &b), only(after, &b, &a));
        let pairs: Vec<(SideNumbers, SideNumbers)> =
            cases.iter().map(|case| (case.before.numbers(), case.after.numbers())).collect();
        let count = (only_before.len() as u64, only_after.len() as u64);
        let groups = match by {
            Grouping::Case => Vec::new(),
            Grouping::Target => by_target(&cases, &only_before, &only_after, targets.as_ref()),
            Grouping::Grader => by_grader(&a, &b),
        };
        let total = PairGroup::new(None, &pairs, count);
        Self { total, by, groups, cases, only_before, only_after }
    }

    /// Whether there is no difference.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.only_before.is_empty()
            && self.only_after.is_empty()
            && self.cases.iter().all(CaseChange::is_same)
    }

    /// Returns the cases with this change, those with the largest difference first.
    pub fn changed(&self, change: VerdictChange) -> Vec<&CaseChange> {
        let these = self.cases.iter().filter(|case| case.change == change && !case.is_same());
        let mut these: Vec<&CaseChange> = these.collect();
        these.sort_by(|a, b| {
            let size = |case: &CaseChange| case.difference.unwrap_or(0.0).abs();
            size(b).total_cmp(&size(a))
        });
        these
    }
}

/// Returns the target of each run if each has exactly one and they differ: two agents on the same
/// cases, which are paired by case alone.
fn only_targets(
    before: &ComparedTrials,
    after: &ComparedTrials,
) -> Option<(Option<Printable>, Option<Printable>)> {
    let only = |graded: &ComparedTrials| {
        let targets: BTreeSet<&Option<Printable>> =
            graded.trials.iter().map(|trial| &trial.target).collect();
        let mut targets = targets.into_iter();
        let first = targets.next()?;
        targets.next().is_none().then(|| first.clone())
    };
    let (a, b) = (only(before)?, only(after)?);
    (a != b).then_some((a, b))
}

fn key(trial: &ComparedTrial, by_case_alone: bool) -> CaseKey {
    (trial.case.clone(), trial.target.clone().filter(|_| !by_case_alone))
}

fn units(graded: &ComparedTrials, by_case_alone: bool) -> Units<'_> {
    let mut units = Units::new();
    for trial in &graded.trials {
        units.entry(key(trial, by_case_alone)).or_default().push(trial);
    }
    units
}

/// A note about duplicate trials, which occur if two reports contain the same file.
fn repeated(name: &Printable, units: &Units<'_>) -> Option<Printable> {
    let is_repeated = |trials: &[&ComparedTrial]| {
        let mut seen = BTreeSet::new();
        !trials.iter().all(|trial| seen.insert(trial.trial))
    };
    let mut repeated = units.iter().filter(|(_, trials)| is_repeated(trials));
    let ((case, target), _) = repeated.next()?;
    let first = label(case, target.as_ref());
    let more = match repeated.count() {
        0 => Printable::default(),
        n => printable!(" and {} more", n),
    };
    let what = "has a trial more than once, all of which count:";
    Some(printable!("{} {} {}{}", name, what, first, more))
}

fn by_target(
    cases: &[CaseChange],
    only_before: &[CaseRef],
    only_after: &[CaseRef],
    targets: Option<&(Option<Printable>, Option<Printable>)>,
) -> Vec<PairGroup> {
    #[derive(Default)]
    struct GradedPart {
        pairs: Vec<(SideNumbers, SideNumbers)>,
        only: (u64, u64),
    }
    let mut parts: BTreeMap<Option<&Printable>, GradedPart> = BTreeMap::new();
    for case in cases {
        let part = parts.entry(case.target.as_ref()).or_default();
        part.pairs.push((case.before.numbers(), case.after.numbers()));
    }
    for case in only_before {
        parts.entry(case.target.as_ref()).or_default().only.0 += 1;
    }
    for case in only_after {
        parts.entry(case.target.as_ref()).or_default().only.1 += 1;
    }
    let name = |target: Option<&Printable>| match (target, targets) {
        (None, Some((a, b))) => {
            let word = |target: &Option<Printable>| target.clone().unwrap_or("none".into());
            Some(printable!("{} \u{2192} {}", word(a), word(b)))
        }
        (target, _) => target.cloned(),
    };
    let group =
        |(target, part): (_, GradedPart)| PairGroup::new(name(target), &part.pairs, part.only);
    parts.into_iter().map(group).collect()
}

/// Results of each grader of a case: its verdict over the trials and its mean score.
fn answers<'r>(trials: &[&'r ComparedTrial]) -> BTreeMap<(&'r Printable, usize), SideNumbers> {
    let mut of: BTreeMap<(&Printable, usize), Vec<&GraderAnswer>> = BTreeMap::new();
    for trial in trials {
        // Graders with the same name are matched by their order.
        let mut seen: BTreeMap<&Printable, usize> = BTreeMap::new();
        for answer in &trial.answers {
            let nth = seen.entry(&answer.grader).or_default();
            of.entry((&answer.grader, *nth)).or_default().push(answer);
            *nth += 1;
        }
    }
    let numbers = |said: Vec<&GraderAnswer>| {
        let scores: Option<Vec<f64>> = said.iter().map(|answer| answer.score).collect();
        SideNumbers {
            verdict: said.iter().fold(Verdict::Pass, |sum, answer| sum.and(answer.verdict)),
            score: scores.and_then(|scores| mean(&scores)),
            measures: Measures::default(),
        }
    };
    of.into_iter().map(|(key, said)| (key, numbers(said))).collect()
}

fn by_grader(before: &Units<'_>, after: &Units<'_>) -> Vec<PairGroup> {
    let mut pairs: BTreeMap<&Printable, Vec<(SideNumbers, SideNumbers)>> = BTreeMap::new();
    let mut only: BTreeMap<&Printable, (u64, u64)> = BTreeMap::new();
    let none: Vec<&ComparedTrial> = Vec::new();
    let keys: BTreeSet<&CaseKey> = before.keys().chain(after.keys()).collect();
    for key in keys {
        let (a, b) = (before.get(key).unwrap_or(&none), after.get(key).unwrap_or(&none));
        let (a, b) = (answers(a), answers(b));
        for (key, numbers) in &a {
            match b.get(key) {
                Some(after) => pairs.entry(key.0).or_default().push((*numbers, *after)),
                None => only.entry(key.0).or_default().0 += 1,
            }
        }
        for (key, _) in b.iter().filter(|(key, _)| !a.contains_key(key)) {
            only.entry(key.0).or_default().1 += 1;
        }
    }
    let names: BTreeSet<&Printable> = pairs.keys().chain(only.keys()).copied().collect();
    let group = |name: &Printable| {
        let pairs = pairs.get(name).map_or(&[][..], Vec::as_slice);
        PairGroup::new(Some(name.clone()), pairs, only.get(name).copied().unwrap_or_default())
    };
    names.into_iter().map(group).collect()
}
