//! One trial: attempts until one says something about the agent, grading, what is kept.

use crate::attempt::{Attempt, Left, Shared, Unprepared};
use crate::budget::Reservation;
use crate::end::{Conclusion, Facts, Marker, conclude};
use crate::events::Event;
use crate::key::RunKey;
use crate::matrix::{Cell, RunTarget};
use crate::store::{AttemptRecord, Store, TrialRecord, VERSION};
use crate::trace;
use crate::usage::Used;
use crate::workspace::{HookContext, keep_artifacts, run_hooks};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use toolmark_grade::run_plan::{Isolation, Keep, Runner, TraceSource};
use toolmark_grade::{Grading, LeftBehind};
use toolmark_outcome::{CaseResult, Cause, Outcome, Redactor, Verdict};
use toolmark_trace::Trajectory;

/// How long is waited before an attempt is made again; doubled every time.
const WAIT: Duration = Duration::from_secs(1);

/// It is never waited longer than this.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Where files that are kept lie, in the directory of a trial.
pub(crate) const ARTIFACTS: &str = "artifacts";

/// A trace made of an answer that is none, in the directory of an attempt.
const ANSWER: &str = "answer.json";

/// A trial to make.
pub(crate) struct Trial<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// Its place.
    pub at: usize,
    /// Its target.
    pub target: &'a RunTarget,
    /// The trial, from 0.
    pub number: u32,
    /// What it is run with.
    pub key: RunKey,
    /// What it is graded by.
    pub grade_key: &'a str,
    /// What is reserved for it.
    pub reservation: Reservation,
}

/// What is told while a trial goes on.
pub(crate) trait Watch {
    /// The provider refuses more requests for now.
    fn throttled(&self);
}

/// An attempt that is over.
struct Finished {
    conclusion: Conclusion,
    run: Option<Trajectory>,
    left: Option<Left>,
}

impl Trial<'_> {
    /// Makes the trial and keeps what it came to; not where it was stopped, so that
    /// `--resume` runs it.
    pub(crate) fn make(
        &self,
        shared: &Shared<'_>,
        store: &Store,
        grading: &Grading<'_>,
        grades: bool,
        watch: &dyn Watch,
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
            shared.observer.event(&Event::Started { cell, trial, attempt: number });
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
            if !retry || is_last || shared.stop.pressed() > 0 {
                break finished;
            }
            shared.observer.event(&Event::Retry { cell, trial, cause: *cause, why, wait });
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

    /// Makes one attempt and says what became of it.
    fn attempt(
        &self,
        number: u32,
        round: usize,
        directory: &Path,
        used: &Used,
        shared: &Shared<'_>,
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
        let read = self.read(&left, &attempt.directory);
        let turns = read.as_ref().map_or(0, |run| Used::of(run, None).turns);
        let conclusion = conclude(&Facts {
            stopped: left.stopped.as_ref(),
            process: &left.process,
            marker: left.marker.clone(),
            turns,
            no_trace: read.as_ref().err().map(String::as_str),
        });
        Finished { conclusion, run: read.ok(), left: Some(left) }
    }

    /// Reads the trace of an attempt.
    fn read(&self, left: &Left, directory: &Path) -> Result<Trajectory, String> {
        if let Some(why) = &left.no_trace {
            return Err(why.clone());
        }
        let Some(path) = &left.trace else { return Err("it left no trace".to_owned()) };
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

    /// Grades what there is, keeps it, and cleans up.
    #[expect(clippy::too_many_arguments, reason = "everything an attempt came to")]
    fn settle(
        &self,
        finished: Finished,
        used: Used,
        attempts: Vec<AttemptRecord>,
        started: Instant,
        directory: &Path,
        shared: &Shared<'_>,
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
                // What cannot be looked at again is no result: a disk may be full.
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
        // Somebody stopped the run: the trial is not done, and what there is of it is
        // kept as an attempt, without its files.
        let is_run = !matches!(conclusion, Conclusion::Unknown { cause: Cause::NotRun, .. });
        let keeps = match self.cell.keep {
            Keep::Never => false,
            Keep::Failure => is_run && result.verdict != Verdict::Pass,
            Keep::Always => is_run,
        };
        let attempt = attempts.last().map_or(1, |attempt| attempt.number);
        let mut notes = match &conclusion {
            Conclusion::Grade { notes } => notes.clone(),
            _ => Vec::new(),
        };
        notes.extend(left_out);
        let mut workspace = None;
        if let Some(left) = &left {
            if left.process.left > 0 {
                notes.push(format!("{} processes could not be killed", left.process.left));
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

    /// Keeps what an attempt left, for graders and for whoever looks at it later. What
    /// was left out, in words.
    fn keep(
        &self,
        left: &Left,
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

    /// Runs what cleans up. What it complains of is noted: the trial is over.
    fn tear_down(
        &self,
        left: &Left,
        result: &CaseResult,
        attempt: u32,
        shared: &Shared<'_>,
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
        run_hooks(&self.cell.workspace.teardown, &context, &left.env).err()
    }
}

/// What a trial comes to: graded where there is something to grade.
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
                Conclusion::Grade { notes } if !notes.is_empty() => {
                    let notes = notes.join("; ");
                    result.reason = format!("{} ({notes})", result.reason.raw()).into();
                }
                _ => {}
            }
            Some(result)
        }
    }
}

/// A run that had to be stopped has not done what it was asked, whatever the part of it
/// looks like that there is.
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

/// Where workspaces are made: outside of the project, so that an agent does not find
/// the instructions and the repository of the project above its own.
#[must_use]
pub fn work_root(lookup: crate::variables::Lookup<'_>, id: &str) -> PathBuf {
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
