//! Grades the runs of a file, batch by batch.

use crate::pool::{Emit, Pool};
use crate::reading::Runs;
use serde_json::Value;
use toolmark_grade::{Grading, Unpaired};
use toolmark_outcome::CaseResult;
use toolmark_trace::{Trajectory, exporter_by_id};

/// Maximum number of runs of one file in memory at a time, for several threads.
const BATCH: usize = 64;

/// Maximum number of results of one file that are sent at a time, with one thread.
const MAX_RESULTS: usize = 8;

/// The results of a run for each spec with a matching case: index of the spec and result. Without a
/// matching case, the name of the run and the reason.
pub type GradedRuns<T> = Result<Vec<(usize, T)>, UnmatchedRun>;

/// A run without a matching case.
pub struct UnmatchedRun {
    /// Name of the run.
    pub name: String,
    /// Index of the spec with the reason.
    pub spec: usize,
    /// Reason.
    pub why: Unpaired,
}

/// Grades every run of a file with the help of idle threads, and converts each outcome.
pub fn grade<T: Send>(
    runs: &mut Runs<'_>,
    gradings: &[Grading<'_>],
    keeps_traces: bool,
    pool: &Pool,
    make: impl Fn(CaseResult) -> T + Sync,
    emit: &mut Emit<'_, Vec<GradedRuns<T>>>,
) {
    loop {
        let one = |run: &Trajectory| grade_one(run, gradings, keeps_traces, &make);
        let graded: Vec<GradedRuns<T>> = if pool.has_idle() {
            let batch: Vec<Trajectory> = runs.take(BATCH).collect();
            pool.map(&batch, one)
        } else {
            // No idle threads: each run is graded while it is still in the CPU cache.
            runs.take(MAX_RESULTS).map(|run| one(&run)).collect()
        };
        if graded.is_empty() || emit(graded).is_break() {
            return;
        }
    }
}

fn grade_one<T>(
    run: &Trajectory,
    gradings: &[Grading<'_>],
    keeps_traces: bool,
    make: impl Fn(CaseResult) -> T,
) -> GradedRuns<T> {
    let mut results = Vec::new();
    let mut unmatched = None;
    for (spec, grading) in gradings.iter().enumerate() {
        match grading.grade(run) {
            Ok(mut outcome) => {
                if keeps_traces {
                    outcome.trace = to_json(run).map(|trace| Box::new(trace.into()));
                }
                results.push((spec, make(outcome)));
            }
            // "Several cases match" is more informative than "no case matches".
            Err(why) if unmatched.is_none() || why != Unpaired::None => {
                unmatched = Some((spec, why));
            }
            Err(_) => {}
        }
    }
    match unmatched {
        Some((spec, why)) if results.is_empty() => Err(UnmatchedRun { name: name(run), spec, why }),
        _ => Ok(results),
    }
}

/// Converts a trajectory to toolmark's own JSON.
fn to_json(run: &Trajectory) -> Option<Value> {
    let mut bytes = Vec::new();
    exporter_by_id("toolmark")?.export(run, &mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Name of a trajectory without a matching case.
fn name(run: &Trajectory) -> String {
    match run.name.as_ref().or(run.id.as_ref()) {
        Some(name) => format!("{name} ({})", run.file),
        None => run.file.to_string(),
    }
}
