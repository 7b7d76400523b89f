//! The order of trials: runs the requested number concurrently, fewer while a provider rejects
//! requests, and skips trials that cannot change a decision or exceed the budget.

use crate::attempt::AttemptShared;
use crate::events::TrialEvent;
use crate::key::RunKey;
use crate::matrix::{RunMatrix, RunTarget};
use crate::store::{RunStore, TrialRecord};
use crate::trial::{Trial, TrialWatch};
use std::io;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;
use toolmark_base::lock;
use toolmark_grade::Grading;
use toolmark_outcome::{CaseResult, Cause, Verdict};

/// A run with everything that it needs.
pub struct Schedule<'a> {
    /// Plan of the run.
    pub matrix: &'a RunMatrix,
    /// Storage of the results.
    pub store: &'a RunStore,
    /// Grading of the results.
    pub grading: &'a Grading<'a>,
    /// State shared by all attempts.
    pub shared: AttemptShared<'a>,
    /// Key of the graders.
    pub grade_key: &'a str,
    /// Whether the trials are graded.
    pub grades: bool,
}

/// State of a trial.
#[derive(Debug, Clone)]
enum TrialSlot {
    Waiting,
    Running,
    Done(Verdict),
    /// The trial can no longer change the decision.
    LeftOut,
}

/// Number of concurrent trials of a target: halved when its provider rejects requests, increased by
/// one with every success.
#[derive(Debug, Clone, Copy)]
struct Jobs {
    limit: usize,
    running: usize,
    /// Maximum number of concurrent trials.
    most: usize,
}

struct ScheduleState {
    slots: Vec<Vec<TrialSlot>>,
    jobs: Vec<Jobs>,
    results: Vec<(usize, u32, Option<TrialRecord>, CaseResult)>,
    /// Reason for starting no more trials.
    ended: Option<&'static str>,
    failed: Option<io::Error>,
}

/// Results of a run.
pub struct Ran {
    /// Results of all trials, by cell and trial.
    pub results: Vec<(usize, u32, Option<TrialRecord>, CaseResult)>,
    /// Number of trials that were skipped because the rule was decided.
    pub left_out: u64,
}

struct Throttle<'a, 'b> {
    schedule: &'a Schedule<'b>,
    state: &'a Mutex<ScheduleState>,
    target: usize,
}

impl TrialWatch for Throttle<'_, '_> {
    fn throttled(&self) {
        let mut state = lock(self.state);
        if let Some(jobs) = state.jobs.get_mut(self.target) {
            jobs.limit = (jobs.limit / 2).max(1);
            let event = TrialEvent::Jobs { target: self.target, jobs: jobs.limit };
            self.schedule.shared.observer.event(&event);
        }
    }
}

impl Schedule<'_> {
    /// Runs all trials that are not done yet.
    pub fn run(&self, done: Vec<(usize, u32, TrialRecord, CaseResult)>) -> io::Result<Ran> {
        let cells = &self.matrix.cells;
        let mut slots: Vec<Vec<TrialSlot>> =
            cells.iter().map(|cell| vec![TrialSlot::Waiting; cell.trials as usize]).collect();
        let mut results = Vec::new();
        for (cell, trial, record, result) in done {
            if let Some(slot) = slots.get_mut(cell).and_then(|of| of.get_mut(trial as usize)) {
                *slot = TrialSlot::Done(result.verdict);
                results.push((cell, trial, Some(record), result));
            }
        }
        let jobs = |target: &RunTarget| {
            let most = target.target.jobs.map_or(usize::MAX, |jobs| jobs as usize);
            let most = most.min(self.matrix.jobs).max(1);
            Jobs { limit: most, running: 0, most }
        };
        let state = Mutex::new(ScheduleState {
            slots,
            jobs: self.matrix.targets.iter().map(jobs).collect(),
            results,
            ended: None,
            failed: None,
        });
        let changed = Condvar::new();
        let order = self.matrix.trials();
        let workers = self.matrix.jobs.min(order.len()).max(1);
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| self.work(&order, &state, &changed));
            }
        });
        let mut state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = state.failed.take() {
            return Err(error);
        }
        self.add_not_run(&mut state);
        let mut results = state.results;
        results.sort_by_key(|(cell, trial, _, _)| (*cell, *trial));
        let left_out =
            state.slots.iter().flatten().filter(|slot| matches!(slot, TrialSlot::LeftOut));
        Ok(Ran { results, left_out: left_out.count() as u64 })
    }

    /// Runs one trial after another until none is left.
    fn work(&self, order: &[(usize, u32)], state: &Mutex<ScheduleState>, changed: &Condvar) {
        loop {
            let mut held = lock(state);
            let (cell, trial) = loop {
                if held.failed.is_some() {
                    return;
                }
                if self.shared.stop.pressed() > 0 {
                    held.ended.get_or_insert("the run was stopped");
                }
                match self.next(order, &mut held) {
                    NextAction::Run(cell, trial) => break (cell, trial),
                    NextAction::Nothing => {
                        changed.notify_all();
                        return;
                    }
                    NextAction::Later => {
                        let wait = Duration::from_millis(100);
                        let waited = changed.wait_timeout(held, wait);
                        held = waited.map_or_else(|error| error.into_inner().0, |(held, _)| held);
                    }
                }
            };
            let Some(target) = self.matrix.cells.get(cell).map(|cell| cell.target) else { return };
            set(&mut held, cell, trial, TrialSlot::Running);
            if let Some(jobs) = held.jobs.get_mut(target) {
                jobs.running += 1;
            }
            drop(held);
            let made = self.make(cell, trial, state);
            let mut held = lock(state);
            if let Some(jobs) = held.jobs.get_mut(target) {
                jobs.running = jobs.running.saturating_sub(1);
            }
            match made {
                Ok(Some((record, result))) => {
                    let cause = result.verdict.cause();
                    if cause == Some(Cause::NotRun) {
                        // It goes with those that did not start.
                        set(&mut held, cell, trial, TrialSlot::Waiting);
                        held.ended.get_or_insert(if self.shared.stop.pressed() > 0 {
                            "the run was stopped"
                        } else {
                            "the budget was spent"
                        });
                    } else {
                        set(&mut held, cell, trial, TrialSlot::Done(result.verdict));
                        held.results.push((cell, trial, Some(record), result));
                        if cause != Some(Cause::RateLimit) {
                            self.recover(target, &mut held);
                        }
                    }
                }
                Ok(None) => {
                    set(&mut held, cell, trial, TrialSlot::Waiting);
                    held.ended.get_or_insert("the budget was spent");
                }
                Err(error) => held.failed = Some(error),
            }
            drop(held);
            changed.notify_all();
        }
    }

    /// Increases the number of concurrent trials, after a trial without rejected requests.
    fn recover(&self, target: usize, state: &mut ScheduleState) {
        if let Some(jobs) = state.jobs.get_mut(target)
            && jobs.limit < jobs.most
        {
            jobs.limit += 1;
            self.shared.observer.event(&TrialEvent::Jobs { target, jobs: jobs.limit });
        }
    }

    /// Returns the next trial that may start.
    fn next(&self, order: &[(usize, u32)], state: &mut ScheduleState) -> NextAction {
        let mut waits = false;
        for &(at, trial) in order {
            let Some(cell) = self.matrix.cells.get(at) else { continue };
            let Some(slots) = state.slots.get(at) else { continue };
            if !matches!(slots.get(trial as usize), Some(TrialSlot::Waiting)) {
                continue;
            }
            if cell.early_stop && cell.trials > 1 {
                // One trial of a cell after the other: which are left out must not
                // depend on how many run at once.
                let before = slots.get(..trial as usize).unwrap_or_default();
                let count = |which: Verdict| {
                    before
                        .iter()
                        .filter(|slot| matches!(slot, TrialSlot::Done(v) if *v == which))
                        .count() as u64
                };
                let (passed, failed) = (count(Verdict::Pass), count(Verdict::Fail));
                if cell.rule.decided(u64::from(cell.trials), passed, failed).is_some() {
                    let mut trials = 0;
                    for slot in state.slots.get_mut(at).into_iter().flatten() {
                        if matches!(slot, TrialSlot::Waiting) {
                            *slot = TrialSlot::LeftOut;
                            trials += 1;
                        }
                    }
                    self.shared.observer.event(&TrialEvent::LeftOut { cell: at, trials });
                    continue;
                }
                if before.iter().any(|slot| matches!(slot, TrialSlot::Waiting | TrialSlot::Running))
                {
                    waits = true;
                    continue;
                }
            }
            if state.ended.is_some() {
                continue;
            }
            let Some(jobs) = state.jobs.get(cell.target) else { continue };
            if jobs.running >= jobs.limit {
                waits = true;
                continue;
            }
            return NextAction::Run(at, trial);
        }
        let is_running =
            state.slots.iter().flatten().any(|slot| matches!(slot, TrialSlot::Running));
        if waits && is_running { NextAction::Later } else { NextAction::Nothing }
    }

    /// Runs a trial; `None` if the budget is too small.
    fn make(
        &self,
        at: usize,
        trial: u32,
        state: &Mutex<ScheduleState>,
    ) -> io::Result<Option<(TrialRecord, CaseResult)>> {
        let cell = self.matrix.cells.get(at).ok_or(io::ErrorKind::NotFound)?;
        let target = self.matrix.targets.get(cell.target).ok_or(io::ErrorKind::NotFound)?;
        let Some(reservation) = self.shared.ledger.reserve(&cell.limits) else { return Ok(None) };
        let key: RunKey = self.shared.ready.key(self.matrix, at).ok_or(io::ErrorKind::NotFound)?;
        let throttle = Throttle { schedule: self, state, target: cell.target };
        let made =
            Trial { cell, at, target, number: trial, key, grade_key: self.grade_key, reservation };
        let (record, result) =
            made.make(&self.shared, self.store, self.grading, self.grades, &throttle)?;
        self.shared.observer.event(&TrialEvent::Finished {
            cell: at,
            trial,
            result: &result,
            used: &record.used,
            took: Duration::from_millis(record.duration_ms),
        });
        Ok(Some((record, result)))
    }

    /// Adds unknown results for trials that were not run.
    fn add_not_run(&self, state: &mut ScheduleState) {
        let why = state.ended.unwrap_or("it was not run");
        for (at, slots) in state.slots.iter().enumerate() {
            for (trial, slot) in slots.iter().enumerate() {
                let trial = u32::try_from(trial).unwrap_or(u32::MAX);
                if matches!(slot, TrialSlot::Waiting | TrialSlot::Running) {
                    let index = self.matrix.cells.get(at).map_or(usize::MAX, |cell| cell.index);
                    let result = self.grading.ungraded_trial(index, trial, Cause::NotRun, why);
                    state.results.extend(result.map(|result| (at, trial, None, result)));
                }
            }
        }
    }
}

/// Next action of a worker.
enum NextAction {
    Run(usize, u32),
    /// The waiting trials depend on running ones.
    Later,
    Nothing,
}

fn set(state: &mut ScheduleState, cell: usize, trial: u32, slot: TrialSlot) {
    if let Some(place) = state.slots.get_mut(cell).and_then(|of| of.get_mut(trial as usize)) {
        *place = slot;
    }
}
