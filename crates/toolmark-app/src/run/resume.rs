//! Selects the trials of an earlier run that are reused, and those that are run again.

use crate::Failure;
use std::path::Path;
use toolmark_grade::Grading;
use toolmark_outcome::{CaseResult, Verdict};
use toolmark_run::{Ready, RunMatrix, RunStore, TrialRecord};

/// The trials of an earlier run to run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rerun {
    /// Those that failed.
    Fail,
    /// Those whose verdict is unknown.
    Unknown,
    /// All trials.
    All,
}

/// A completed trial: its cell and number, its record and its outcome.
pub type CompletedTrial = (usize, u32, TrialRecord, CaseResult);

/// Copies the trials that earlier runs of the same directory completed with the same
/// configuration, the newest first. Returns their number.
pub fn reuse(
    store: &RunStore,
    matrix: &RunMatrix,
    ready: &Ready,
    runs: &Path,
) -> Result<usize, Failure> {
    let mut reused = 0;
    let keys: Vec<_> = (0..matrix.cells.len()).map(|at| ready.key(matrix, at)).collect();
    for earlier in RunStore::list(runs).into_iter().rev() {
        if earlier.root() == store.root() {
            continue;
        }
        for record in earlier.records() {
            let is_same = matrix.cells.iter().zip(&keys).any(|(cell, key)| {
                let target = matrix.targets.get(cell.target);
                cell.case == record.case
                    && target.is_some_and(|target| target.name == record.target)
                    && record.trial < cell.trials
                    && key.as_ref() == Some(&record.key)
            });
            if is_same && matches!(record.ended.as_str(), "completed" | "limit") {
                let adopted = store.adopt(&record);
                let adopted = adopted.map_err(|error| Failure::write(store.root(), &error))?;
                reused += usize::from(adopted);
            }
        }
    }
    Ok(reused)
}

/// Returns the completed trials of a run.
///
/// Fails if a trial was run with a different configuration, and names the difference: its result
/// would be mistaken for one of the current configuration. A trial that was graded by other graders
/// is graded again.
pub fn done(
    store: &RunStore,
    matrix: &RunMatrix,
    ready: &Ready,
    grading: &Grading<'_>,
    grade_key: &str,
    rerun: Option<Rerun>,
    grades: bool,
) -> Result<Vec<CompletedTrial>, Failure> {
    let mut done = Vec::new();
    if rerun == Some(Rerun::All) {
        return Ok(done);
    }
    let places: std::collections::BTreeMap<(&str, &str), usize> = matrix
        .cells
        .iter()
        .enumerate()
        .filter_map(|(at, cell)| {
            let target = matrix.targets.get(cell.target)?;
            Some(((target.name.as_str(), cell.case.as_str()), at))
        })
        .collect();
    let keys: Vec<_> = (0..matrix.cells.len()).map(|at| ready.key(matrix, at)).collect();
    for mut record in store.records() {
        let Some(&at) = places.get(&(record.target.as_str(), record.case.as_str())) else {
            continue;
        };
        let Some(cell) = matrix.cells.get(at).filter(|cell| record.trial < cell.trials) else {
            continue;
        };
        if let Some(Some(key)) = keys.get(at)
            && *key != record.key
        {
            let differences = record.key.differences(key).join(", ");
            let (case, target) = (&record.case, &record.target);
            let failure = Failure::usage(format!(
                "{} was run with something else: {differences} of case {case} on {target} changed",
                store.root().display()
            ));
            return Err(failure.hint("start a new run, or run all again: --rerun all"));
        }
        let has_run = matches!(record.ended.as_str(), "completed" | "limit");
        if !has_run {
            continue;
        }
        let mut result = None;
        if grades && record.grade_key != grade_key {
            result = record.regrade(grading, cell.index);
            if let Some(result) = &result {
                record.accept(result, grade_key);
                record.write().map_err(|error| Failure::write(store.root(), &error))?;
            }
        }
        let Some(mut result) = result.or_else(|| record.outcome()) else { continue };
        place(&mut result, cell.index, matrix);
        let again = match rerun {
            Some(Rerun::Fail) => result.verdict == Verdict::Fail,
            Some(Rerun::Unknown) => matches!(result.verdict, Verdict::Unknown(_)),
            _ => false,
        };
        if !again {
            done.push((at, record.trial, record, result));
        }
    }
    Ok(done)
}

/// Sets the position of a stored result in the plan.
fn place(result: &mut CaseResult, index: usize, matrix: &RunMatrix) {
    result.case_index = index;
    let Some(case) = matrix.plan.cases.get(index) else { return };
    result.place = case.place.clone();
    for grader in &mut result.graders {
        if let Some(planned) = case.graders.iter().find(|one| grader.name == one.name.as_str()) {
            grader.place = planned.place.clone();
        }
    }
}
