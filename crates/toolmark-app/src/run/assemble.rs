//! Assembles a run: its files, and the result for the reports.

use super::OpenSpec;
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::Path;
use toolmark_grade::Grading;
use toolmark_grade::run_plan::Runner;
use toolmark_outcome::{Printable, RunResult, Untrusted};
use toolmark_run::store::{RunInfo, RunStore, TargetInfo, TrialRecord, VERSION};
use toolmark_run::{Ran, Ready, RunMatrix, Used};

/// Parts of results that the reports need in addition to verdicts.
pub struct RequiredParts {
    /// Whether traces are needed.
    pub traces: bool,
    /// Whether timelines are needed.
    pub timelines: bool,
}

/// Writes the description of a run before it starts.
pub fn begin(
    store: &RunStore,
    spec: &OpenSpec,
    matrix: &RunMatrix,
    ready: &Ready,
    work: &Path,
) -> io::Result<()> {
    let spec_copy = store.keep_spec(&spec.files)?;
    let started = match store.info() {
        Ok(info) => info.started,
        Err(_) => jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    };
    let target = |(at, target): (usize, &toolmark_run::RunTarget)| TargetInfo {
        name: target.name.clone(),
        runner: runner(&target.target.runner).to_owned(),
        model: target.model.clone(),
        version: ready.versions.get(at).cloned().unwrap_or_default(),
    };
    store.write_info(&RunInfo {
        version: VERSION,
        id: store.id(),
        toolmark: env!("CARGO_PKG_VERSION").to_owned(),
        started,
        spec: spec.path.clone(),
        spec_absolute: std::path::absolute(&spec.path)?,
        spec_copy,
        name: matrix.plan.name.clone(),
        targets: matrix.targets.iter().enumerate().map(target).collect(),
        work: Some(work.to_owned()),
    })?;
    let line = |(at, trial): (usize, u32)| {
        let cell = matrix.cells.get(at)?;
        let target = matrix.targets.get(cell.target)?;
        let key = ready.key(matrix, at);
        Some(json!({"target": target.name, "case": cell.case, "trial": trial, "key": key}))
    };
    let lines: Vec<Value> = matrix.trials().into_iter().filter_map(line).collect();
    store.write_plan(&lines)
}

/// Removes the workspaces that a killed process left, except for those that results keep. The run
/// must be locked, so that no process uses them.
pub fn clear_work(store: &RunStore, work: &Path) {
    let Some(earlier) = store.info().ok().and_then(|info| info.work) else { return };
    if earlier == work {
        return;
    }
    let kept: Vec<_> = store.records().into_iter().filter_map(|record| record.workspace).collect();
    for entry in fs::read_dir(&earlier).into_iter().flatten().flatten() {
        let path = entry.path();
        if !kept.iter().any(|workspace| workspace.starts_with(&path)) {
            let _ = fs::remove_dir_all(path);
        }
    }
    let _ = fs::remove_dir(&earlier);
}

/// Name of the runner type of a target.
pub fn runner(runner: &Runner) -> &str {
    match runner {
        Runner::Agent { id, .. } => id,
        Runner::Command { .. } => "command",
        Runner::Replay(_) => "replay",
        Runner::Unsupported(_) => "unsupported",
    }
}

/// Combines the results of all trials.
pub fn finish(
    store: &RunStore,
    grading: &Grading<'_>,
    ran: Ran,
    wanted: &RequiredParts,
    mut notes: Vec<String>,
) -> io::Result<RunResult> {
    let records: Vec<&TrialRecord> =
        ran.results.iter().filter_map(|(_, _, record, _)| record.as_ref()).collect();
    store.write_results(&records)?;
    if ran.left_out > 0 {
        let trials = crate::human::things(ran.left_out, "trial");
        notes.push(format!("{trials} not needed: the rule was decided"));
    }
    let mut outcomes = Vec::new();
    for (_, _, record, mut result) in ran.results {
        if let Some(record) = &record {
            decorate(record, &mut result, wanted, grading);
        }
        outcomes.push(result);
    }
    Ok(grading.finish(outcomes, notes.into_iter().map(Untrusted::from).collect()))
}

/// Adds the data of a trace to its result.
pub fn decorate(
    record: &TrialRecord,
    result: &mut toolmark_outcome::CaseResult,
    wanted: &RequiredParts,
    grading: &Grading<'_>,
) {
    // What the trial took, from its start to the end of its agent, and not only what its trace has.
    if let Some(source) = &mut result.trajectory {
        source.duration_ms = Some(record.duration_ms as f64);
    }
    if wanted.traces
        && let Ok(text) = fs::read(record.directory.join("trajectory.json"))
        && let Ok(trace) = serde_json::from_slice::<Value>(&text)
    {
        result.trace = Some(Box::new(trace.into()));
    }
    if wanted.timelines
        && result.timeline.is_none()
        && let Ok(run) = record.run()
    {
        grading.add_timeline(result, &run);
    }
}

/// Writes the summary. Times are omitted, so that the same run produces the same bytes.
pub fn write_summary(
    store: &RunStore,
    result: &RunResult<Printable>,
    used: &Used,
) -> io::Result<()> {
    store.write_summary(&json!({
        "version": VERSION,
        "spec": &*result.spec,
        "summary": result.summary,
        "cases": result.cases,
        "used": used,
        "notes": result.notes,
    }))
}
