//! Grades trajectories and collects the results.

use crate::grader::ask_as;
use crate::pairing::{Pairing, Unpaired, folded};
use crate::plan::{Case, Plan, Planned};
use serde_json::{Map, Value};
use smallvec::SmallVec;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use toolmark_base::SortedMap;
use toolmark_outcome::excerpt;
use toolmark_outcome::statistics::{mean, pass_at_k, pass_hat_k, pass_rate_to_the_k, wilson};
use toolmark_outcome::{CaseContext, Environment, Subject};
use toolmark_outcome::{
    CaseResult, CaseSummary, GraderResult, RunResult, Summary, Timeline, TimelineEntry, Took,
    TrajectorySource,
};
use toolmark_outcome::{Cause, Outcome, PassRule, Profile, Verdict};
use toolmark_outcome::{IndexedCall, TrajectoryView, duration_of, prompt_of};
use toolmark_outcome::{ScoredGrader, SpecPlace, Untrusted, reaches};
use toolmark_trace::{EventKind, Gap, Trajectory};

/// Maximum number of timeline entries in a report.
const TIMELINE_ENTRIES: usize = 1000;

/// Maximum number of trials of a case with a pass@k value for each k.
const MAX_K: u64 = 100;

/// Data to keep of the trajectories in addition to the verdicts.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunSelection {
    /// Whether timelines are kept, for reports that show them.
    pub timelines: bool,
    /// Whether whole trajectories are kept as JSON.
    pub traces: bool,
}

/// Files left by a trial, for graders of files.
#[derive(Debug, Clone, Default)]
pub struct LeftBehind {
    /// Directory of its files.
    pub workspace: Option<PathBuf>,
    /// Changes to the files, as a unified diff.
    pub diff: Option<Arc<str>>,
    /// Directory of its artifacts.
    pub artifacts: Option<PathBuf>,
}

/// A plan ready for grading trajectories.
pub struct Grading<'p> {
    plan: &'p Plan,
    pairing: Pairing,
    environment: Environment,
    selection: RunSelection,
}

impl<'p> Grading<'p> {
    /// Prepares a plan for grading.
    #[must_use]
    pub fn new(
        plan: &'p Plan,
        forced: Option<usize>,
        environment: Environment,
        selection: RunSelection,
    ) -> Self {
        Self { plan, pairing: Pairing::new(plan, forced), environment, selection }
    }

    /// Grades a trajectory with the case that it matches.
    pub fn grade(&self, trajectory: &Trajectory) -> Result<CaseResult, Unpaired> {
        if let Some(every) = &self.plan.every {
            let id = name_of(trajectory);
            return Ok(self.grade_case(every, usize::MAX, &id, trajectory, &self.environment));
        }
        let index = self.pairing.find(trajectory)?;
        let case = self.plan.case(index).ok_or(Unpaired::None)?;
        Ok(self.grade_case(&case, index, &case.id, trajectory, &self.environment))
    }

    /// Grades a trial of a case, by case index. `left` describes the files that the trial
    /// left; all other settings are shared.
    #[must_use]
    pub fn grade_trial(
        &self,
        index: usize,
        trial: u32,
        trajectory: &Trajectory,
        left: LeftBehind,
    ) -> Option<CaseResult> {
        let case = self.plan.case(index)?;
        let environment = Environment {
            workspace: left.workspace.or_else(|| self.environment.workspace.clone()),
            diff: left.diff.or_else(|| self.environment.diff.clone()),
            artifacts: left.artifacts.or_else(|| self.environment.artifacts.clone()),
            ..self.environment.clone()
        };
        let mut result = self.grade_case(&case, index, &case.id, trajectory, &environment);
        result.trial = trial;
        // Whether it was asked the same as the others is known: we asked it.
        result.asked = None;
        Some(result)
    }

    /// Adds the timeline of a trajectory to its result.
    pub fn add_timeline(&self, result: &mut CaseResult, trajectory: &Trajectory) {
        result.timeline = Some(timeline(trajectory));
    }

    /// Returns the result of a trial without anything to grade, with the reason.
    #[must_use]
    pub fn ungraded_trial(
        &self,
        index: usize,
        trial: u32,
        cause: Cause,
        why: &str,
    ) -> Option<CaseResult> {
        let case = self.plan.case(index)?;
        Some(CaseResult { trial, graders: Vec::new(), ..ungraded(&case, index, cause, why) })
    }

    fn grade_case(
        &self,
        case: &Case,
        index: usize,
        id: &str,
        trajectory: &Trajectory,
        environment: &Environment,
    ) -> CaseResult {
        let graders: Vec<GraderResult> = case
            .graders
            .iter()
            .map(|planned| {
                let outcome = planned.ask(&case.context, trajectory, environment);
                answered(planned, outcome)
            })
            .collect();
        let scored: Vec<ScoredGrader<'_>> = graders
            .iter()
            .zip(&case.graders)
            .map(|(result, planned)| ScoredGrader {
                name: result.name.raw(),
                verdict: result.outcome.verdict,
                score: result.outcome.score,
                weight: planned.weight,
                required: planned.required,
                min_score: planned.min_score,
                turn: planned.turn,
            })
            .collect();
        let mut decision = case.scoring.decide(&scored);
        if decision.verdict == Verdict::Pass
            && let Some(gap) = trajectory.gap().filter(Gap::loses_records)
            && case.graders.iter().any(|planned| planned.grader.reads_trace())
        {
            // A pass over what was not read as a whole is none.
            decision.verdict = Verdict::Unknown(Cause::MissingEvidence);
            decision.reason = format!("{gap}; by what is there: {}", decision.reason);
        }
        CaseResult {
            case: id.to_owned().into(),
            case_index: index,
            target: case.target.clone().map(Into::into),
            trajectory: Some(source(trajectory)),
            asked: asked(trajectory),
            trial: 0,
            verdict: decision.verdict,
            score: decision.score,
            reason: decision.reason.into(),
            graders,
            place: case.place.clone(),
            timeline: self.selection.timelines.then(|| timeline(trajectory)),
            trace: None,
        }
    }

    /// Sorts the results, numbers the trials, adds the cases that were not run, and
    /// summarizes.
    #[must_use]
    pub fn finish(&self, mut outcomes: Vec<CaseResult>, mut notes: Vec<Untrusted>) -> RunResult {
        let graded: Vec<usize> = outcomes.iter().map(|outcome| outcome.case_index).collect();
        outcomes.extend(self.not_run(graded));
        if self.plan.every.is_some() {
            make_cases(&mut outcomes);
        }
        // Stable: trials stay in the order of the input.
        outcomes.sort_by_key(|outcome| outcome.case_index);
        // The trials of a target have their numbers: some may have been left out.
        if self.plan.cases.iter().all(|case| case.target.is_none()) {
            number_trials(&mut outcomes);
        }
        let standings: Vec<Standing> = outcomes.iter().map(Standing::of).collect();
        let cases = self.summaries(&standings, |at| outcomes[at].case.clone(), &mut notes);
        let mut aggregates = Map::new();
        for aggregate in &self.plan.aggregates {
            let value = match aggregate.value(&outcomes) {
                Ok(value) => value,
                Err(missing) => serde_json::json!({"value": null, "unknown": missing.0}),
            };
            aggregates.insert(aggregate.name().to_owned(), value);
        }
        let mut summary = sum_up(&standings, &cases, self.plan.gate.threshold, aggregates);
        if cases.iter().any(|case| case.target.is_some()) {
            // A case on several targets is one case.
            let names: toolmark_base::SortedSet<&str> =
                cases.iter().map(|case| case.case.raw()).collect();
            summary.cases = names.len() as u64;
        }
        RunResult { cases, outcomes, ..self.result(summary, notes) }
    }

    /// Returns the outcomes of the cases that were not run; `graded` are the indices of the others.
    pub fn not_run(
        &self,
        graded: impl IntoIterator<Item = usize>,
    ) -> impl Iterator<Item = CaseResult> {
        let mut seen = vec![false; self.plan.len()];
        for index in graded {
            if let Some(seen) = seen.get_mut(index) {
                *seen = true;
            }
        }
        let unseen = seen.into_iter().enumerate().filter(|(_, seen)| !seen);
        unseen.map(|(index, _)| match self.plan.case(index) {
            Some(case) => ungraded(&case, index, Cause::NoTrajectory, NOT_RUN),
            None => unreadable(self.plan.id(index), index),
        })
    }

    /// Summarizes outcomes that were written elsewhere and of which only the
    /// standings are available, sorted by case and trial. The result contains only cases with
    /// several trials.
    #[must_use]
    pub fn sum_up(&self, standings: &[Standing], mut notes: Vec<Untrusted>) -> RunResult {
        let id = |at: usize| {
            let index = standings.get(at).map_or(usize::MAX, |standing| standing.case_index);
            self.plan.id(index).into()
        };
        let mut totals = Totals::new();
        let mut trials = Vec::new();
        let mut at = 0;
        for case in standings.chunk_by(|a, b| a.case_index == b.case_index) {
            if case.len() > 1 {
                trials.extend(self.summaries(case, |_| id(at), &mut notes));
            }
            // A case that stays in its file says nothing about how it is run.
            let held = case.first().and_then(|first| self.plan.cases.get(first.case_index));
            totals.add(score_of(case), verdict_of(case, self.rule_of(held, case)));
            at += case.len();
        }
        let threshold = self.plan.gate.threshold;
        let summary = totals.sum_up(standings, trials, threshold, Map::new());
        self.result(summary, notes)
    }

    /// Creates a result without outcomes.
    fn result(&self, summary: Summary, notes: Vec<Untrusted>) -> RunResult {
        RunResult {
            spec: Arc::clone(&self.plan.spec).into(),
            dialect: self.plan.dialect,
            name: self.plan.name.clone().map(Into::into),
            outcomes: Vec::new(),
            cases: Vec::new(),
            summary,
            notes,
        }
    }

    /// Summarizes the trials of each case; `name` returns the case name of an outcome.
    fn summaries(
        &self,
        outcomes: &[Standing],
        name: impl Fn(usize) -> Untrusted,
        notes: &mut Vec<Untrusted>,
    ) -> Vec<CaseSummary> {
        let mut all = Vec::new();
        let mut at = 0;
        for trials in outcomes.chunk_by(|a, b| a.case_index == b.case_index) {
            let name = name(at);
            at += trials.len();
            if !are_trials(trials) {
                let words = "its traces were asked different things, so they are not trials of one";
                notes.push(format!("case {}: {words}", name.raw()).into());
            }
            let case = trials.first().and_then(|first| self.plan.case(first.case_index));
            let case = case.as_deref().or(self.plan.every.as_deref());
            all.push(summary_of(trials, name, case, self.rule_of(case, trials)));
        }
        all
    }

    /// Returns how many trials of a case must pass, and the total number of trials.
    fn rule_of(&self, case: Option<&Case>, trials: &[Standing]) -> (PassRule, u64) {
        // How many there were to be is only known of those that we ran.
        let planned = case.filter(|case| case.target.is_some()).and_then(|case| case.trials);
        let rule = match case {
            Some(case) => self.plan.pass_rule(case),
            None => self.plan.run.settings.pass.unwrap_or_default(),
        };
        (rule, planned.map_or(trials.len() as u64, u64::from))
    }
}

/// The parts of an outcome needed for a summary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Index of its case.
    pub case_index: usize,
    /// Hash of the first prompt.
    pub asked: Option<u64>,
    /// The verdict.
    pub verdict: Verdict,
    /// The score.
    pub score: Option<f64>,
}

impl Standing {
    /// Extracts the standing of an outcome.
    #[must_use]
    pub fn of(outcome: &CaseResult) -> Self {
        Self {
            case_index: outcome.case_index,
            asked: outcome.asked,
            verdict: outcome.verdict,
            score: outcome.score,
        }
    }
}

/// Scores and verdicts of cases.
struct Totals {
    cases: usize,
    scores: Vec<f64>,
    verdict: Verdict,
}

impl Totals {
    fn new() -> Self {
        Self { cases: 0, scores: Vec::new(), verdict: Verdict::Pass }
    }

    fn add(&mut self, score: Option<f64>, verdict: Verdict) {
        self.cases += 1;
        self.scores.extend(score);
        self.verdict = self.verdict.and(verdict);
    }

    /// Summarizes the outcomes of these cases; `trials` are the cases with several trials.
    fn sum_up(
        &self,
        outcomes: &[Standing],
        trials: Vec<CaseSummary>,
        threshold: Option<f64>,
        aggregates: Map<String, Value>,
    ) -> Summary {
        let count = |which: fn(Verdict) -> bool| {
            outcomes.iter().filter(|outcome| which(outcome.verdict)).count() as u64
        };
        let score = if self.scores.len() == self.cases { mean(&self.scores) } else { None };
        let gate = match (threshold, score) {
            (None, _) => Verdict::Pass,
            (Some(threshold), Some(score)) => Verdict::of(reaches(score, threshold)),
            (Some(_), None) => Verdict::Unknown(Cause::MissingEvidence),
        };
        Summary {
            cases: self.cases as u64,
            outcomes: outcomes.len() as u64,
            passed: count(|v| v == Verdict::Pass),
            failed: count(|v| v == Verdict::Fail),
            unknown: count(|v| matches!(v, Verdict::Unknown(_))),
            score,
            threshold,
            verdict: self.verdict.and(gate),
            aggregates: aggregates.into(),
            trials,
        }
    }
}

/// Summarizes the outcomes of a spec.
pub(crate) fn sum_up(
    outcomes: &[Standing],
    cases: &[CaseSummary],
    threshold: Option<f64>,
    aggregates: Map<String, Value>,
) -> Summary {
    let mut totals = Totals::new();
    cases.iter().for_each(|case| totals.add(case.score, case.verdict));
    let trials = cases.iter().filter(|case| case.trials > 1).cloned().collect();
    totals.sum_up(outcomes, trials, threshold, aggregates)
}

impl Planned {
    /// Runs the grader on a trajectory, or on the turn to which it is restricted.
    #[must_use]
    pub fn ask(
        &self,
        context: &CaseContext,
        trajectory: &Trajectory,
        environment: &Environment,
    ) -> Outcome {
        let view = match self.turn {
            None => TrajectoryView::whole(trajectory),
            Some(turn) => match TrajectoryView::turn(trajectory, turn) {
                Ok(view) => view,
                Err(missing) => return Outcome::unknown(Cause::MissingEvidence, missing.0),
            },
        };
        self.answer(Subject { view, context, environment })
    }

    /// Runs the grader on one call of a trajectory, by call index.
    #[must_use]
    pub fn ask_call(
        &self,
        context: &CaseContext,
        trajectory: &Trajectory,
        call: usize,
        environment: &Environment,
    ) -> Outcome {
        match TrajectoryView::call(trajectory, call) {
            Some(view) => self.answer(Subject { view, context, environment }),
            None => Outcome::unknown(Cause::MissingEvidence, "there is no such call"),
        }
    }

    fn answer(&self, subject: Subject<'_>) -> Outcome {
        ask_as(&*self.grader, &subject, self.profile, self.negate)
    }
}

fn answered(planned: &Planned, outcome: Outcome) -> GraderResult {
    GraderResult {
        name: planned.name.clone().into(),
        type_word: planned.type_word.clone().into(),
        profile: planned.profile,
        weight: planned.weight,
        required: planned.required,
        place: planned.place.clone(),
        outcome,
    }
}

const NOT_RUN: &str = "no trajectory belongs to this case";

/// Returns the outcome of a case whose file changed while it was in use.
fn unreadable(id: &str, index: usize) -> CaseResult {
    CaseResult {
        case: id.into(),
        case_index: index,
        target: None,
        trajectory: None,
        asked: None,
        trial: 0,
        verdict: Verdict::Unknown(Cause::Configuration),
        score: None,
        reason: "the file of the case changed after it was opened".into(),
        graders: Vec::new(),
        place: SpecPlace::default(),
        timeline: None,
        trace: None,
    }
}

/// Returns the outcome of a case without a trajectory.
fn ungraded(case: &Case, index: usize, cause: Cause, why: &str) -> CaseResult {
    let graders = case
        .graders
        .iter()
        .map(|planned| answered(planned, Outcome::unknown(cause, why)))
        .collect();
    CaseResult {
        case: case.id.clone().into(),
        case_index: index,
        target: case.target.clone().map(Into::into),
        trajectory: None,
        asked: None,
        trial: 0,
        verdict: Verdict::Unknown(cause),
        score: None,
        reason: why.into(),
        graders,
        place: case.place.clone(),
        timeline: None,
        trace: None,
    }
}

fn number_trials(outcomes: &mut [CaseResult]) {
    let mut last = None;
    let mut trial = 0;
    for outcome in outcomes {
        trial = if last == Some(outcome.case_index) { trial + 1 } else { 0 };
        last = Some(outcome.case_index);
        outcome.trial = trial;
    }
}

/// Groups trajectories into cases if the spec has none: trajectories with the same name and
/// prompt are trials of one case; a trajectory with another prompt is a case of its own.
fn make_cases(outcomes: &mut [CaseResult]) {
    let mut places: SortedMap<(Untrusted, Option<u64>), usize> = SortedMap::new();
    let mut names: SortedMap<Untrusted, Option<u64>> = SortedMap::new();
    for outcome in outcomes {
        let next = places.len();
        let key = (outcome.case.clone(), outcome.asked);
        outcome.case_index = *places.entry(key).or_insert(next);
        let first = *names.entry(outcome.case.clone()).or_insert(outcome.asked);
        if first != outcome.asked
            && let Some(source) = &outcome.trajectory
        {
            let name = format!("{} ({})", outcome.case.raw(), source.source.raw());
            outcome.case = name.into();
        }
    }
}

/// Returns a hash of the first prompt of a trajectory.
fn asked(trajectory: &Trajectory) -> Option<u64> {
    let prompt = prompt_of(trajectory)?;
    let mut hasher = DefaultHasher::new();
    folded(&prompt).hash(&mut hasher);
    Some(hasher.finish())
}

/// Whether all outcomes have the same prompt, as far as recorded.
fn are_trials(outcomes: &[Standing]) -> bool {
    let mut asked = outcomes.iter().filter_map(|outcome| outcome.asked);
    let first = asked.next();
    asked.all(|one| Some(one) == first)
}

/// Returns the mean score of the trials of a case, if all have one.
fn score_of(trials: &[Standing]) -> Option<f64> {
    let scores: SmallVec<[f64; 4]> = trials.iter().filter_map(|trial| trial.score).collect();
    if scores.len() == trials.len() { mean(&scores) } else { None }
}

/// Returns the combined verdict of the trials of a case.
fn verdict_of(trials: &[Standing], (rule, planned): (PassRule, u64)) -> Verdict {
    let count = |wanted| trials.iter().filter(|trial| trial.verdict == wanted).count() as u64;
    rule.decided(planned, count(Verdict::Pass), count(Verdict::Fail)).unwrap_or_else(|| {
        let mut verdicts = trials.iter().map(|trial| trial.verdict);
        let unknown = verdicts.find(|verdict| matches!(verdict, Verdict::Unknown(_)));
        unknown.unwrap_or(Verdict::Unknown(Cause::NotRun))
    })
}

fn summary_of(
    trials: &[Standing],
    name: Untrusted,
    case: Option<&Case>,
    (rule, planned): (PassRule, u64),
) -> CaseSummary {
    let count = |which: fn(Verdict) -> bool| {
        trials.iter().filter(|trial| which(trial.verdict)).count() as u64
    };
    let passed = count(|v| v == Verdict::Pass);
    let failed = count(|v| v == Verdict::Fail);
    // An unknown outcome is neither a pass nor a failure, and is not counted.
    let told = passed + failed;
    // Where trials were left out because the rest did not matter any more, those that
    // were made are not a sample: they ended with what decided.
    let is_sample = trials.len() as u64 == planned && are_trials(trials);
    let most = if told > 1 && is_sample { told.min(MAX_K) } else { 0 };
    let profile = case.map_or(Profile::Toolmark, |case| case.scoring.profile);
    let hat = if profile == Profile::Vally { pass_rate_to_the_k } else { pass_hat_k };
    let ks = 1..=most;
    CaseSummary {
        case: name,
        target: case.and_then(|case| case.target.clone()).map(Into::into),
        verdict: verdict_of(trials, (rule, planned)),
        trials: trials.len() as u64,
        planned: (planned != trials.len() as u64).then_some(planned),
        rule: (rule != PassRule::All).then(|| rule.to_string()),
        passed,
        failed,
        unknown: count(|v| matches!(v, Verdict::Unknown(_))),
        score: score_of(trials),
        flaky: passed > 0 && failed > 0,
        interval: if planned > 1 { wilson(told, passed) } else { None },
        pass_at_k: ks.clone().filter_map(|k| pass_at_k(told, passed, k)).collect(),
        pass_hat_k: ks.filter_map(|k| hat(told, passed, k)).collect(),
    }
}

/// Returns the name of a trajectory that matches no named case.
fn name_of(trajectory: &Trajectory) -> String {
    match trajectory.name.as_ref().or(trajectory.id.as_ref()) {
        Some(name) => name.get().into_owned(),
        None => trajectory.file.to_string(),
    }
}

fn source(trajectory: &Trajectory) -> TrajectorySource {
    let text = |text: &Option<toolmark_trace::Text>| text.as_ref().map(|text| text.get().into());
    TrajectorySource {
        id: text(&trajectory.id),
        name: text(&trajectory.name),
        source: Arc::clone(&trajectory.file).into(),
        format: trajectory.format,
        duration_ms: duration_of(trajectory).map(|took| (took.as_secs_f64() * 1000.0).max(0.0)),
        took: Took::of(trajectory),
    }
}

fn timeline(trajectory: &Trajectory) -> Timeline {
    let view = TrajectoryView::whole(trajectory);
    let shown = trajectory.events.iter().filter(|event| {
        !matches!(event.kind, EventKind::Note(_) | EventKind::Result(_) | EventKind::Context)
    });
    let total = shown.clone().count();
    let entries: Vec<TimelineEntry> = shown
        .take(TIMELINE_ENTRIES)
        .map(|event| {
            let call = match event.kind {
                EventKind::Call(index) => trajectory
                    .calls
                    .get(index as usize)
                    .map(|call| IndexedCall { index: index as usize, call }),
                _ => None,
            };
            let result = call.and_then(|seen| seen.call.result.as_ref()?.payload.as_ref());
            TimelineEntry {
                kind: event.kind.word(),
                step: event.step,
                text: event.text.as_ref().map(|text| excerpt(&text.plain()).into()),
                call: call.map(|seen| view.call_ref(seen)),
                result: result.map(|payload| excerpt(&payload.plain()).into()),
                duration_ms: call
                    .and_then(|seen| seen.call.duration)
                    .map(|duration| duration.as_secs_f64() * 1000.0),
            }
        })
        .collect();
    Timeline { elided: total - entries.len(), entries }
}
