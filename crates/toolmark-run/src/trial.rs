//! One trial: attempts until one is conclusive, grading, and storing of the result.

use crate::attempt::{Attempt, AttemptResult, AttemptShared, Unprepared};
use crate::budget::Reservation;
use crate::end::{AttemptFacts, Conclusion, Marker, conclude};
use crate::error::NoRun;
use crate::events::TrialEvent;
use crate::key::RunKey;
use crate::matrix::{MatrixCell, RunTarget};
use crate::outside;
use crate::store::{AttemptRecord, RunStore, TrialRecord, VERSION};
use crate::trace;
use crate::usage::Used;
use crate::workspace::{HookContext, keep_artifacts, run_hooks};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use toolmark_grade::run_plan::{Isolation, KeepFiles, Runner, TraceSource};
use toolmark_grade::{Grading, LeftBehind};
use toolmark_outcome::{CaseResult, Cause, Outcome, Redactor, Verdict};
use toolmark_trace::Trajectory;

/// Delay before the first retry; doubled for every further one.
const WAIT: Duration = Duration::from_secs(1);

/// Maximum delay before a retry.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Directory of kept files, in the directory of a trial.
pub(crate) const ARTIFACTS: &str = "artifacts";

/// Trace created from an answer that is not one, in the directory of an attempt.
const ANSWER: &str = "answer.json";

/// A trial to run.
pub(crate) struct Trial<'a> {
    /// Cell of the trial.
    pub cell: &'a MatrixCell,
    /// Index of the cell.
    pub at: usize,
    /// Target of the trial.
    pub target: &'a RunTarget,
    /// Index of the trial, from 0.
    pub number: u32,
    /// Configuration key.
    pub key: RunKey,
    /// Key of the graders.
    pub grade_key: &'a str,
    /// Reserved budget.
    pub reservation: Reservation,
}

/// Receiver of notifications during a trial.
pub(crate) trait TrialWatch {
    /// The provider temporarily rejects requests.
    fn throttled(&self);
}

/// A finished attempt.
struct Finished {
    conclusion: Conclusion,
    run: Option<Trajectory>,
    left: Option<AttemptResult>,
}

impl Trial<'_> {
    /// Runs the trial and stores its result; an interrupted trial is not stored, so that `--resume`
    /// runs it.
    pub(crate) fn make(
        &self,
        shared: &AttemptShared<'_>,
        store: &RunStore,
        grading: &Grading<'_>,
        grades: bool,
        watch: &dyn TrialWatch,
    ) -> io::Result<(TrialRecord, CaseResult)> {
        let started = Instant::now();
        let directory = store.trial(&self.target.name, &self.cell.case, self.number);
        fs::create_dir_all(&directory)?;
        // A result of an earlier run of this trial does not count any more.
        let _ = fs::remove_file(directory.join("result.json"));
        let mut attempts = Vec::new();
        let mut used = Used::default();
        let mut wait = WAIT;
        let finished = loop {
            let number = store.next_attempt(&directory);
            let begun = Instant::now();
            let (cell, trial) = (self.at, self.number);
            shared.observer.event(&TrialEvent::Started { cell, trial, attempt: number });
            let finished = self.attempt(number, attempts.len(), &directory, &used, shared);
            if let Some(left) = &finished.left {
                let seen = finished.run.as_ref().map(|run| Used::of(run, self.target.target.price));
                used.add(&seen.unwrap_or_else(|| left.used.clone()));
            }
            let (ended, why) = match &finished.conclusion {
                Conclusion::Grade { .. } => ("completed", None),
                Conclusion::Limit(limit) => ("limit", Some(limit.clone())),
                Conclusion::Unknown { cause, why, .. } => (cause.word(), Some(why.clone())),
            };
            attempts.push(AttemptRecord {
                number,
                ended: ended.to_owned(),
                why,
                duration_ms: millis(begun.elapsed()),
            });
            let Conclusion::Unknown { cause, why, retry } = &finished.conclusion else {
                break finished;
            };
            if *cause == Cause::RateLimit {
                watch.throttled();
            }
            let is_last = attempts.len() as u32 > self.cell.retries;
            let retry = match &self.cell.retry_on {
                Some(causes) => causes.contains(cause),
                None => *retry,
            };
            if !retry || is_last || shared.stop.pressed() > 0 {
                break finished;
            }
            shared.observer.event(&TrialEvent::Retry { cell, trial, cause: *cause, why, wait });
            if let Some(left) = &finished.left {
                left.places.remove();
            }
            if !shared.stop.sleep(wait) {
                break finished;
            }
            wait = (wait * 2).min(MAX_WAIT);
        };
        self.settle(finished, used, attempts, started, &directory, shared, grading, grades)
    }

    /// Makes one attempt and returns its conclusion.
    fn attempt(
        &self,
        number: u32,
        round: usize,
        directory: &Path,
        used: &Used,
        shared: &AttemptShared<'_>,
    ) -> Finished {
        let attempt = Attempt {
            cell: self.cell,
            at: self.at,
            target: self.target,
            trial: self.number,
            number,
            round,
            directory: directory.join(format!("attempt-{number}")),
            reservation: self.reservation,
            before: used.clone(),
        };
        let left = match attempt.make(shared) {
            Ok(left) => left,
            Err(unprepared) => {
                let (cause, why) = match unprepared {
                    Unprepared::Setup(why) => (Cause::Setup, why),
                    Unprepared::Unsupported(why) => (Cause::Unsupported, why),
                };
                let conclusion = Conclusion::Unknown { cause, why, retry: false };
                return Finished { conclusion, run: None, left: None };
            }
        };
        let mut read = self.read(&left, &attempt.directory);
        let turns = read.as_ref().map_or(0, |run| Used::of(run, None).turns);
        let no_trace = read.as_ref().err().map(ToString::to_string);
        let conclusion = conclude(&AttemptFacts {
            stopped: left.stopped.as_ref(),
            process: &left.process,
            marker: left.marker.clone(),
            turns,
            no_trace: no_trace.as_deref(),
        });
        if let Ok(run) = &mut read {
            conclusion.declare(run);
        }
        Finished { conclusion, run: read.ok(), left: Some(left) }
    }

    /// Reads the trace of an attempt.
    fn read(&self, left: &AttemptResult, directory: &Path) -> Result<Trajectory, NoRun> {
        if let Some(why) = &left.no_trace {
            return Err(NoRun::NotCollected(why.clone()));
        }
        let Some(path) = &left.trace else { return Err(NoRun::NoTrace) };
        let case = &self.cell.case;
        let prompt = self.cell.prompts.first().map_or("", String::as_str);
        let answer = directory.join(ANSWER);
        if let Runner::Command { trace: TraceSource::OutputFile, .. } = &self.target.target.runner {
            return trace::output_file(path, prompt, case, &answer);
        }
        let is_wanted = |run: &Trajectory| {
            let names = [&run.name, &run.id];
            names.into_iter().flatten().any(|name| name == case.as_str())
        };
        let read = trace::read_run(path, is_wanted);
        match read {
            Err(_) if left.may_be_text && matches!(left.marker, Marker::Exit { .. }) => {
                trace::plain_answer(path, prompt, &answer)
            }
            read => read,
        }
    }

    /// Grades the result, stores it, and cleans up.
    #[expect(clippy::too_many_arguments, reason = "everything an attempt came to")]
    fn settle(
        &self,
        finished: Finished,
        used: Used,
        attempts: Vec<AttemptRecord>,
        started: Instant,
        directory: &Path,
        shared: &AttemptShared<'_>,
        grading: &Grading<'_>,
        grades: bool,
    ) -> io::Result<(TrialRecord, CaseResult)> {
        let Finished { mut conclusion, run, left } = finished;
        let mask = left.as_ref().map(|left| left.mask.clone()).unwrap_or_default();
        let mut behind = LeftBehind::default();
        let mut left_out = None;
        if let Some(left) = &left {
            match self.keep(left, run.as_ref(), directory) {
                Ok((kept, note)) => (behind, left_out) = (kept, note),
                // A trial whose files cannot be kept has no result, for example on a full disk.
                Err(error) => {
                    let why = format!("what it left could not be kept: {error}");
                    conclusion = Conclusion::Unknown { cause: Cause::NoTrace, why, retry: false };
                }
            }
        }
        let result = graded(
            grading,
            self.cell.index,
            self.number,
            &conclusion,
            run.as_ref(),
            behind,
            grades,
        );
        let result = result.ok_or_else(|| io::Error::other("the plan has no such case"))?;
        // The run was stopped: the trial is not done, and what there is of it is
        // kept as an attempt, without its files.
        let is_run = !matches!(conclusion, Conclusion::Unknown { cause: Cause::NotRun, .. });
        let keeps = match self.cell.keep {
            KeepFiles::Never => false,
            KeepFiles::Failure => is_run && result.verdict != Verdict::Pass,
            KeepFiles::Always => is_run,
        };
        let attempt = attempts.last().map_or(1, |attempt| attempt.number);
        let mut notes = match &conclusion {
            Conclusion::Grade { notes, .. } => notes.clone(),
            _ => Vec::new(),
        };
        notes.extend(left_out);
        let mut workspace = None;
        if let Some(left) = &left {
            if left.process.left > 0 {
                notes.push(format!("{} processes could not be killed", left.process.left));
            }
            if self.cell.isolate == Isolation::Copy {
                notes.extend(outside::note(run.as_ref(), &left.places, started));
            }
            notes.extend(self.tear_down(left, &result, attempt, shared));
            if self.cell.isolate == Isolation::None {
                left.places.remove();
            } else if keeps {
                workspace = Some(left.workspace.clone());
            } else {
                left.places.remove();
            }
        }
        let trace = left.as_ref().and_then(|left| left.trace.clone()).map(|trace| {
            // Where an answer had to be made a trace, that is the trace.
            let answer = directory.join(format!("attempt-{attempt}")).join(ANSWER);
            let trace = if answer.is_file() { answer } else { trace };
            trace.strip_prefix(directory).map(Path::to_path_buf).unwrap_or(trace)
        });
        let outcome = result.clone().redact(Redactor::new(true));
        let record = TrialRecord {
            version: VERSION,
            target: self.target.name.clone(),
            case: self.cell.case.clone(),
            trial: self.number,
            key: self.key.clone(),
            grade_key: self.grade_key.to_owned(),
            ended: match &conclusion {
                Conclusion::Grade { .. } => "completed".to_owned(),
                Conclusion::Limit(_) => "limit".to_owned(),
                Conclusion::Unknown { cause, .. } => cause.word().to_owned(),
            },
            limit: match &conclusion {
                Conclusion::Limit(limit) => Some(limit.clone()),
                _ => None,
            },
            error: match &conclusion {
                Conclusion::Grade { error, .. } => error.clone(),
                _ => None,
            },
            notes: notes.iter().map(|note| mask.apply_text(note)).collect(),
            used,
            duration_ms: millis(started.elapsed()),
            attempts,
            trace,
            workspace,
            outcome: serde_json::to_value(outcome)?,
            directory: directory.to_owned(),
        };
        if is_run {
            record.write()?;
        }
        shared.ledger.settle(self.reservation, &record.used);
        Ok((record, result))
    }

    /// Keeps the files of an attempt for graders and for later inspection. Returns a note about
    /// skipped files.
    fn keep(
        &self,
        left: &AttemptResult,
        run: Option<&Trajectory>,
        directory: &Path,
    ) -> io::Result<(LeftBehind, Option<String>)> {
        if let Some(diff) = left.diff.as_deref() {
            fs::write(directory.join("workspace.patch"), diff)?;
        }
        if let Some(run) = run {
            trace::write_trajectory(run, &directory.join("trajectory.json"), &left.mask)?;
        }
        let mut left_out = None;
        let mut artifacts = None;
        if let Some(rules) = &self.cell.workspace.artifacts {
            let to = directory.join(ARTIFACTS);
            left_out = keep_artifacts(rules, &left.workspace, &to, &left.mask)?;
            artifacts = Some(to);
        }
        let diff = left.diff.as_deref().map(Arc::from);
        let workspace = Some(left.workspace.clone());
        Ok((LeftBehind { workspace, diff, artifacts }, left_out))
    }

    /// Runs the teardown hooks. Their errors become notes, because the trial is over.
    fn tear_down(
        &self,
        left: &AttemptResult,
        result: &CaseResult,
        attempt: u32,
        shared: &AttemptShared<'_>,
    ) -> Option<String> {
        let context = HookContext {
            moment: "teardown",
            run: shared.run,
            cell: self.cell,
            target: &self.target.name,
            trial: self.number + 1,
            attempt,
            workspace: &left.workspace,
            verdict: Some(result.verdict.word()),
        };
        let ran = run_hooks(&self.cell.workspace.teardown, &context, &left.env);
        ran.err().map(|error| error.to_string())
    }
}

/// Returns the result of a trial; it is graded if there is a trace.
#[must_use]
pub(crate) fn graded(
    grading: &Grading<'_>,
    index: usize,
    trial: u32,
    conclusion: &Conclusion,
    run: Option<&Trajectory>,
    left: LeftBehind,
    grades: bool,
) -> Option<CaseResult> {
    match (conclusion, run) {
        (Conclusion::Unknown { cause, why, .. }, _) => {
            grading.ungraded_trial(index, trial, *cause, why)
        }
        (_, None) => grading.ungraded_trial(index, trial, Cause::NoTrace, "it left no trace"),
        (_, Some(_)) if !grades => {
            grading.ungraded_trial(index, trial, Cause::NoGraders, "it was not graded (--no-grade)")
        }
        (conclusion, Some(run)) => {
            let mut result = grading.grade_trial(index, trial, run, left)?;
            match conclusion {
                Conclusion::Limit(limit) => fail_for_limit(&mut result, limit),
                Conclusion::Grade { notes, .. } if !notes.is_empty() => {
                    let notes = notes.join("; ");
                    result.reason = format!("{} ({notes})", result.reason.raw()).into();
                }
                _ => {}
            }
            Some(result)
        }
    }
}

/// Turns a result into a failure: a run that had to be stopped did not complete its task, whatever
/// its partial trace shows.
fn fail_for_limit(result: &mut CaseResult, limit: &str) {
    let graders = result.reason.raw().to_owned();
    result.verdict = Verdict::Fail;
    result.score = Some(0.0);
    result.reason = format!("limit: {limit}; so far: {graders}").into();
    // Reports show the first grader that failed: here it is the limit.
    if let Some(first) = result.graders.first() {
        let mut grader = first.clone();
        grader.name = "limit".into();
        grader.type_word = "limit".into();
        grader.required = true;
        grader.outcome = Outcome::binary(false, limit);
        result.graders.insert(0, grader);
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the directory for workspaces. It is outside the project, so that an agent does not find
/// the instructions and the repository of the project above its own.
#[must_use]
pub fn work_root(lookup: crate::variables::VariableLookup<'_>, id: &str) -> PathBuf {
    let cache = lookup("XDG_CACHE_HOME").map(PathBuf::from);
    let home = lookup("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let tried = [cache, home].into_iter().flatten().filter(|path| path.is_absolute());
    for base in tried {
        let root = base.join("toolmark/work").join(id);
        if fs::create_dir_all(&root).is_ok() {
            return root;
        }
    }
    std::env::temp_dir().join("toolmark-work").join(id)
}
