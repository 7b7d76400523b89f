//! The targets of one run side by side, and the resource usage of a run.

use crate::compared;
use crate::model::RunResult;
use crate::shown;
use crate::terminal::human;
use jiff::SignedDuration;
use std::collections::BTreeSet;
use toolmark_compare::{ComparedRun, Measures, PairGroup, TargetCell, TargetTable};
use toolmark_outcome::{Printable, printable};

/// Returns the targets of a run side by side, if it has several.
pub(crate) fn of(run: &RunResult) -> Option<TargetTable> {
    let has_targets = run.outcomes.iter().any(|outcome| outcome.target.is_some());
    if !has_targets {
        return None;
    }
    ComparedRun::of(Printable::default(), run).targets()
}

/// The number of cases, and of targets if there are several.
pub(crate) fn scope(run: &RunResult) -> Printable {
    let cases = shown::things(run.summary.cases, "case");
    let targets: BTreeSet<_> = run.outcomes.iter().filter_map(|o| o.target.as_ref()).collect();
    match targets.len() {
        0 | 1 => cases,
        n => printable!("{} \u{d7} {} targets", cases, n),
    }
}

/// Resource usage of the trials of a run, if toolmark ran them: the words, and the number of
/// trials that record it.
pub(crate) fn took(run: &RunResult) -> Vec<(&'static str, Printable, u64)> {
    let ran = || run.outcomes.iter().filter(|outcome| outcome.target.is_some());
    let sum = |of: &dyn Fn(&toolmark_outcome::TrajectorySource<Printable>) -> Option<f64>| {
        let recorded: Vec<f64> =
            ran().filter_map(|outcome| of(outcome.trajectory.as_ref()?)).collect();
        (recorded.iter().sum::<f64>(), recorded.len() as u64)
    };
    let all = [
        sum(&|source| source.took.calls.map(|n| n as f64)),
        sum(&|source| source.took.tokens.map(|n| n as f64)),
        sum(&|source| source.took.cost_usd),
        sum(&|source| source.duration_ms),
    ];
    NAMES
        .iter()
        .zip(all)
        .zip(WORDS)
        .filter(|((_, (_, of)), _)| *of > 0)
        .map(|((name, (sum, of)), word)| (*name, word(sum), of))
        .collect()
}

const NAMES: [&str; 4] = ["calls", "tokens", "cost", "time"];

const WORDS: [fn(f64) -> Printable; 4] = [count, count, human::usd, time];

fn count(n: f64) -> Printable {
    human::count(n.round() as u64)
}

fn time(ms: f64) -> Printable {
    human::duration(SignedDuration::from_millis(ms.round() as i64))
}

/// Resource usage of the trials of a run, in one line.
pub(crate) fn took_line(run: &RunResult) -> Option<Printable> {
    let all = run.outcomes.iter().filter(|outcome| outcome.target.is_some()).count() as u64;
    let parts = took(run).into_iter().map(|(name, sum, of)| {
        let recorded = match of == all {
            true => Printable::default(),
            false => printable!(" (recorded in {} of {} trials)", of, all),
        };
        printable!("{} {}{}", name, sum, recorded)
    });
    let parts: Vec<Printable> = parts.collect();
    (!parts.is_empty()).then(|| Printable::join(&parts, " \u{b7} "))
}

/// The rows of the table: a name, and one cell for each target.
pub(crate) fn rows(table: &TargetTable) -> Vec<(Printable, Vec<Printable>)> {
    let mut rows: Vec<(Printable, Vec<Printable>)> = table
        .cases
        .iter()
        .map(|row| (row.case.clone(), row.cells.iter().map(|c| cell(c.as_ref())).collect()))
        .collect();
    let per = |name: &'static str,
               of: &dyn Fn(&toolmark_compare::TargetSums) -> Option<Printable>| {
        let cells: Vec<Option<Printable>> = table.targets.iter().map(of).collect();
        let is_there = cells.iter().any(Option::is_some);
        let cells = cells.into_iter().map(|cell| cell.unwrap_or_else(|| "\u{2013}".into()));
        is_there.then(|| (Printable::from(name), cells.collect::<Vec<_>>()))
    };
    rows.extend(per("passed", &|sums| Some(printable!("{} of {}", sums.passed, sums.cases))));
    rows.extend(per("score", &|sums| sums.score.map(shown::score)));
    let measure = |measures: &Measures, at: usize| {
        let all = [measures.calls, measures.tokens, measures.cost_usd, measures.duration_ms];
        all[at].map(WORDS[at])
    };
    for (at, name) in NAMES.iter().enumerate() {
        rows.extend(per(name, &|sums| measure(&sums.measures, at)));
    }
    rows
}

/// A result: its sign, the passed trials if there are several, or the score.
fn cell(cell: Option<&TargetCell>) -> Printable {
    let Some(cell) = cell else { return "\u{2013}".into() };
    let mut words = Printable::from(shown::sign(cell.verdict));
    if cell.trials > 1 || cell.not_needed > 0 {
        words = printable!("{} {} of {}", words, cell.passed, cell.trials);
        if cell.not_needed > 0 {
            words = printable!("{}, {} not needed", words, cell.not_needed);
        }
    } else if let Some(score) = cell.score {
        words = printable!("{} {}", words, shown::score(score));
    }
    words
}

/// The differences between two targets each, one line per pair and measure.
pub(crate) fn differences(table: &TargetTable) -> Vec<(Printable, Vec<Printable>)> {
    let lines = |group: &PairGroup| {
        let mut lines: Vec<Printable> = compared::mcnemar_line(group).into_iter().collect();
        lines.extend(
            group.score.as_ref().map(|score| printable!("score {}", compared::score_line(score))),
        );
        (group.name.clone().unwrap_or_default(), lines)
    };
    table.pairs.iter().map(lines).collect()
}
