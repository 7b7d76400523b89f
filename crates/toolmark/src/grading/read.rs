//! Grades the runs of a file, batch by batch.

use crate::pool::{Emit, Pool};
use crate::reading::Runs;
use serde_json::Value;
use toolmark_grade::{Grading, Unpaired};
use toolmark_outcome::CaseResult;
use toolmark_trace::{Trajectory, exporter_by_id};

/// How many runs of one file are held at a time.
const BATCH: usize = 64;

/// What a run came to; without a case, what it is called and why it has none.
pub(crate) type Graded = Result<CaseResult, (String, Unpaired)>;

/// Grades every run of a file with the help of idle threads.
pub(crate) fn grade(
    runs: &mut Runs<'_>,
    grading: &Grading<'_>,
    keeps_traces: bool,
    pool: &Pool,
    emit: &mut Emit<'_, Vec<Graded>>,
) {
    loop {
        let batch: Vec<Trajectory> = runs.take(BATCH).collect();
        let graded = pool.map(&batch, |run| grade_one(run, grading, keeps_traces));
        if graded.is_empty() || emit(graded).is_break() {
            return;
        }
    }
}

fn grade_one(run: &Trajectory, grading: &Grading<'_>, keeps_traces: bool) -> Graded {
    let mut outcome = grading.grade(run).map_err(|why| (name(run), why))?;
    if keeps_traces {
        outcome.trace = to_json(run).map(|trace| Box::new(trace.into()));
    }
    Ok(outcome)
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
