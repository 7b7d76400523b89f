//! Grading: trajectories in, results out.

use crate::grader::ask;
use crate::pairing::{Pairing, Unpaired, folded};
use crate::plan::{Case, Plan, Planned};
use serde_json::{Map, Value};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use toolmark_outcome::excerpt;
use toolmark_outcome::statistics::{mean, pass_at_k, pass_hat_k, pass_rate_to_the_k, wilson};
use toolmark_outcome::{
    CaseResult, CaseSummary, GraderResult, RunResult, Source, Summary, Timeline, TimelineEntry,
    Took,
};
use toolmark_outcome::{Cause, Outcome, PassRule, Profile, Verdict};
use toolmark_outcome::{Context, Environment, Subject};
use toolmark_outcome::{Scored, SpecPlace, Untrusted, reaches};
use toolmark_outcome::{Seen, View, duration_of, prompt_of};
use toolmark_trace::{EventKind, Trajectory};

/// How much of a trajectory a report shows.
const TIMELINE_ENTRIES: usize = 1000;

/// How many trials of a case get a pass@k each.
const MOST_K: u64 = 100;

/// What to keep of the trajectories besides the verdicts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Selection {
    /// Their timelines, for reports that show them.
    pub timelines: bool,
    /// All of them as JSON.
    pub traces: bool,
}

/// What a trial left behind, as graders of files see it.
#[derive(Debug, Clone, Default)]
pub struct LeftBehind {
    /// Its files.
    pub workspace: Option<PathBuf>,
    /// What changed in them, as a unified diff.
    pub diff: Option<Arc<str>>,
    /// Its artifacts.
    pub artifacts: Option<PathBuf>,
}

/// A plan ready to be applied to trajectories.
pub struct Grading<'p> {
    plan: &'p Plan,
    pairing: Pairing,
    environment: Environment,
    selection: Selection,
}

impl<'p> Grading<'p> {
    /// A plan with what it may use.
    #[must_use]
    pub fn new(
        plan: &'p Plan,
        forced: Option<usize>,
        environment: Environment,
        selection: Selection,
    ) -> Self {
        Self { plan, pairing: Pairing::new(plan, forced), environment, selection }
    }

    /// Grades a trajectory against the case it belongs to.
    pub fn grade(&self, trajectory: &Trajectory) -> Result<CaseResult, Unpaired> {
        if let Some(every) = &self.plan.every {
            let id = name_of(trajectory);
            return Ok(self.grade_case(every, usize::MAX, &id, trajectory, &self.environment));
        }
        let index = self.pairing.find(trajectory)?;
        let case = self.plan.case(index).ok_or(Unpaired::None)?;
        Ok(self.grade_case(&case, index, &case.id, trajectory, &self.environment))
    }

    /// Grades a trial of a case, by its place in the plan. `left` says what the trial
    /// left behind; everything else is as it was said for all.
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

    /// Adds the timeline of a trajectory to a result that was made of it before.
    pub fn add_timeline(&self, result: &mut CaseResult, trajectory: &Trajectory) {
        result.timeline = Some(timeline(trajectory));
    }

    /// A trial of a case of which there is nothing to grade, and why.
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
        let scored: Vec<Scored<'_>> = graders
            .iter()
            .zip(&case.graders)
            .map(|(result, planned)| Scored {
                name: result.name.raw(),
                verdict: result.outcome.verdict,
                score: result.outcome.score,
                weight: planned.weight,
                required: planned.required,
                min_score: planned.min_score,
                turn: planned.turn,
            })
            .collect();
        let decision = case.scoring.decide(&scored);
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

    /// Orders the results, numbers the trials, adds the cases nobody ran, and
    /// sums up.
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
                Err(why) => serde_json::json!({"value": null, "unknown": why}),
            };
            aggregates.insert(aggregate.name().to_owned(), value);
        }
        let summary = sum_up(&standings, &cases, self.plan.gate.threshold, aggregates);
        RunResult { cases, outcomes, ..self.result(summary, notes) }
    }

    /// The outcomes of the cases that nobody ran, where these are the places of those
    /// that somebody did.
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

    /// What outcomes come to that were written elsewhere, with nothing but their
    /// standings, by case and trial. Of cases, only those with several trials are in it.
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

    /// A result without outcomes.
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

    /// What the trials of each case come to; `name` is what the case of an outcome is
    /// called.
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

    /// How many trials of a case must pass, and of how many.
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

/// What has to be known of an outcome to sum it up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// The place of its case.
    pub case_index: usize,
    /// What stands for the words that were asked first.
    pub asked: Option<u64>,
    /// The verdict.
    pub verdict: Verdict,
    /// The score.
    pub score: Option<f64>,
}

impl Standing {
    /// Of an outcome.
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

/// The scores and verdicts of cases.
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

    /// What the outcomes of these cases come to; `trials` are the cases with several.
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

/// What the outcomes of a spec come to.
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
    /// Asks the grader about a trajectory, or the turn it is restricted to.
    #[must_use]
    pub fn ask(
        &self,
        context: &Context,
        trajectory: &Trajectory,
        environment: &Environment,
    ) -> Outcome {
        let view = match self.turn {
            None => View::whole(trajectory),
            Some(turn) => match View::turn(trajectory, turn) {
                Ok(view) => view,
                Err(missing) => return Outcome::unknown(Cause::MissingEvidence, missing.0),
            },
        };
        self.answer(Subject { view, context, environment })
    }

    /// Asks the grader about one call of a trajectory, by its place among the calls.
    #[must_use]
    pub fn ask_call(
        &self,
        context: &Context,
        trajectory: &Trajectory,
        call: usize,
        environment: &Environment,
    ) -> Outcome {
        match View::call(trajectory, call) {
            Some(view) => self.answer(Subject { view, context, environment }),
            None => Outcome::unknown(Cause::MissingEvidence, "there is no such call"),
        }
    }

    fn answer(&self, subject: Subject<'_>) -> Outcome {
        let outcome = ask(&*self.grader, &subject);
        if self.negate { outcome.negated() } else { outcome }
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

/// The outcome of a case whose file changed while it was in use.
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

/// A case without a trajectory.
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

/// Without cases in the spec, trajectories of one name that were asked the same are
/// trials of one; one that was asked something else is a case of its own.
fn make_cases(outcomes: &mut [CaseResult]) {
    let mut places: BTreeMap<(Untrusted, Option<u64>), usize> = BTreeMap::new();
    let mut names: BTreeMap<Untrusted, Option<u64>> = BTreeMap::new();
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

/// What stands for the words a trajectory was asked first.
fn asked(trajectory: &Trajectory) -> Option<u64> {
    let prompt = prompt_of(trajectory)?;
    let mut hasher = DefaultHasher::new();
    folded(&prompt).hash(&mut hasher);
    Some(hasher.finish())
}

/// Were all of these asked the same, as far as their traces say?
fn are_trials(outcomes: &[Standing]) -> bool {
    let mut asked = outcomes.iter().filter_map(|outcome| outcome.asked);
    let first = asked.next();
    asked.all(|one| Some(one) == first)
}

/// The mean score of the trials of a case, where all have one.
fn score_of(trials: &[Standing]) -> Option<f64> {
    let scores: SmallVec<[f64; 4]> = trials.iter().filter_map(|trial| trial.score).collect();
    if scores.len() == trials.len() { mean(&scores) } else { None }
}

/// What the trials of a case come to.
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
    // What could not be told is neither a pass nor a failure: it is not counted.
    let told = passed + failed;
    // Where trials were left out because the rest did not matter any more, those that
    // were made are not a sample: they ended with what decided.
    let is_sample = trials.len() as u64 == planned && are_trials(trials);
    let most = if told > 1 && is_sample { told.min(MOST_K) } else { 0 };
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

/// What a trajectory is called where no case gives it a name.
fn name_of(trajectory: &Trajectory) -> String {
    match trajectory.name.as_ref().or(trajectory.id.as_ref()) {
        Some(name) => name.get().into_owned(),
        None => trajectory.file.to_string(),
    }
}

fn source(trajectory: &Trajectory) -> Source {
    let text = |text: &Option<toolmark_trace::Text>| text.as_ref().map(|text| text.get().into());
    Source {
        id: text(&trajectory.id),
        name: text(&trajectory.name),
        source: Arc::clone(&trajectory.file).into(),
        format: trajectory.format,
        duration_ms: duration_of(trajectory).map(|took| (took.as_secs_f64() * 1000.0).max(0.0)),
        took: Took::of(trajectory),
    }
}

fn timeline(trajectory: &Trajectory) -> Timeline {
    let view = View::whole(trajectory);
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
                    .map(|call| Seen { index: index as usize, call }),
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
