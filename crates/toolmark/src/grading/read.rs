//! Reads traces and grades them, file by file in parallel.
//!
//! Results come back in the order of the input whatever the number of threads.

use crate::diagnostics::Findings;
use crate::inputs::Input;
use crate::printer::Verbosity;
use rayon::prelude::*;
use serde_json::Value;
use std::sync::Arc;
use toolmark_grade::{Grading, Unpaired};
use toolmark_outcome::{CaseResult, Verdict};
use toolmark_trace::{Diagnostic, Options, ReadError, Trajectory, exporter_by_id};

/// So many trajectories of one file are held at a time.
const AT_A_TIME: usize = 64;

/// What one file gave.
#[derive(Default)]
pub(crate) struct Graded {
    pub(crate) outcomes: Vec<CaseResult>,
    /// Trajectories no case took: what they are called, and why.
    pub(crate) unpaired: Vec<(String, Unpaired)>,
    /// How many records could not be read, or 1 where the file could not.
    pub(crate) skipped: u64,
    /// A file of a directory that is not a trace.
    pub(crate) is_foreign: bool,
    pub(crate) findings: Findings,
}

/// How to read and what to keep.
pub(crate) struct Reading<'a> {
    pub(crate) grading: &'a Grading<'a>,
    pub(crate) options: &'a Options,
    pub(crate) verbosity: Verbosity,
    /// Keep the trajectories as JSON.
    pub(crate) keeps_traces: bool,
}

/// Grades every trajectory of the inputs. With `fails_fast`, what comes after
/// the first failure is not graded.
pub(crate) fn grade_all(
    inputs: &[Input],
    reading: &Reading<'_>,
    fails_fast: bool,
    done: impl Fn() + Sync,
) -> Vec<Graded> {
    let one = |input: &Input| {
        let graded = grade(input, reading);
        done();
        graded
    };
    if !fails_fast {
        return inputs.par_iter().map(one).collect();
    }
    let mut all = Vec::new();
    for input in inputs {
        let mut graded = one(input);
        let failed = graded.outcomes.iter().position(|o| o.verdict == Verdict::Fail);
        if let Some(failed) = failed {
            graded.outcomes.truncate(failed + 1);
        }
        all.push(graded);
        if failed.is_some() {
            break;
        }
    }
    all
}

fn grade(input: &Input, reading: &Reading<'_>) -> Graded {
    let mut graded = Graded::default();
    let mut runs = match input.read(reading.options) {
        Ok(runs) => runs,
        // Not everything in a directory is a trace.
        Err(ReadError::UnknownFormat { .. }) if !input.is_named => {
            graded.is_foreign = true;
            return graded;
        }
        Err(error) => {
            graded.findings = Findings::error(Diagnostic::from_error(&error));
            graded.skipped = 1;
            return graded;
        }
    };
    let mut diagnostics = Vec::new();
    loop {
        let mut held: Vec<Trajectory> = Vec::new();
        while held.len() < AT_A_TIME
            && let Some(mut run) = runs.next()
        {
            let joined = input.join(&mut run, &runs, reading.options);
            graded.skipped += joined.skipped;
            diagnostics.extend(joined.diagnostics);
            held.push(run);
        }
        if held.is_empty() {
            break;
        }
        let ask = |run: &Trajectory| ask(run, reading);
        let answers: Vec<_> = match held.as_slice() {
            [one] => vec![ask(one)],
            several => several.par_iter().map(ask).collect(),
        };
        for (run, answer) in held.iter().zip(answers) {
            match answer {
                Ok(outcome) => graded.outcomes.push(outcome),
                Err(why) => graded.unpaired.push((called(run), why)),
            }
        }
    }
    graded.skipped += runs.skipped();
    diagnostics.extend_from_slice(runs.diagnostics());
    graded.findings = Findings::of(&diagnostics, graded.skipped, reading.verbosity);
    graded
}

fn ask(run: &Trajectory, reading: &Reading<'_>) -> Result<CaseResult, Unpaired> {
    let mut outcome = reading.grading.grade(run)?;
    if reading.keeps_traces {
        outcome.trace = as_json(run).map(Arc::new);
    }
    Ok(outcome)
}

/// A trajectory in toolmark's own JSON.
fn as_json(run: &Trajectory) -> Option<Value> {
    let mut bytes = Vec::new();
    exporter_by_id("toolmark")?.export(run, &mut bytes).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// What to call a trajectory no case took.
fn called(run: &Trajectory) -> String {
    match run.name.as_ref().or(run.id.as_ref()) {
        Some(name) => format!("{name} ({})", run.file),
        None => run.file.to_string(),
    }
}
