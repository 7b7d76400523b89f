//! Grades the runs of a file, batch by batch.

use crate::pool::{Emit, Pool};
use crate::reading::Runs;
use serde_json::Value;
use toolmark_grade::{Grading, Unpaired};
use toolmark_outcome::CaseResult;
use toolmark_trace::{Trajectory, exporter_by_id};

/// How many runs of one file are held at a time, for several threads.
const BATCH: usize = 64;

/// How many results of one file are handed on at a time, where it has one thread.
const MAX_RESULTS: usize = 8;

/// What a run came to, by the specs that have a case for it: which of the specs, and
/// the result. Without a case, what it is called and why it has none.
pub(crate) type Graded<T> = Result<Vec<(usize, T)>, Homeless>;

/// A run that no case took.
pub(crate) struct Homeless {
    /// What it is called.
    pub(crate) name: String,
    /// Which spec says why.
    pub(crate) spec: usize,
    /// Why.
    pub(crate) why: Unpaired,
}

/// Grades every run of a file with the help of idle threads, and makes something of
/// each outcome.
pub(crate) fn grade<T: Send>(
    runs: &mut Runs<'_>,
    gradings: &[Grading<'_>],
    keeps_traces: bool,
    pool: &Pool,
    make: impl Fn(CaseResult) -> T + Sync,
    emit: &mut Emit<'_, Vec<Graded<T>>>,
) {
    loop {
        let one = |run: &Trajectory| grade_one(run, gradings, keeps_traces, &make);
        let graded: Vec<Graded<T>> = if pool.has_idle() {
            let batch: Vec<Trajectory> = runs.take(BATCH).collect();
            pool.map(&batch, one)
        } else {
            // Nobody to share them with: each is graded while it is still in the cache.
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
) -> Graded<T> {
    let mut results = Vec::new();
    let mut homeless = None;
    for (spec, grading) in gradings.iter().enumerate() {
        match grading.grade(run) {
            Ok(mut outcome) => {
                if keeps_traces {
                    outcome.trace = to_json(run).map(|trace| Box::new(trace.into()));
                }
                results.push((spec, make(outcome)));
            }
            // That several cases would take it is more to say than that none does.
            Err(why) if homeless.is_none() || why != Unpaired::None => {
                homeless = Some((spec, why));
            }
            Err(_) => {}
        }
    }
    match homeless {
        Some((spec, why)) if results.is_empty() => Err(Homeless { name: name(run), spec, why }),
        _ => Ok(results),
    }
}

/// A trajectory in toolmark's own JSON.
fn to_json(run: &Trajectory) -> Option<Value> {
    let mut bytes = Vec::new();
    exporter_by_id("toolmark")?.export(run, &mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// What to call a trajectory no case took.
fn name(run: &Trajectory) -> String {
    match run.name.as_ref().or(run.id.as_ref()) {
        Some(name) => format!("{name} ({})", run.file),
        None => run.file.to_string(),
    }
}
