//! What grading came to: the types every report is made of.

use crate::evidence::CallRef;
use crate::outcome::{Outcome, Verdict};
use crate::place::SpecPlace;
use crate::profile::Profile;
use serde::Serialize;
use serde_json::{Map, Value};
use toolmark_redact::{Json, Name, Printable, Redactor, Untrusted, printable};
use toolmark_trace::{Recorded, Trajectory};

/// The trajectory a result is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Source<T = Untrusted> {
    /// Its own id.
    pub id: Option<T>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<T>,
    /// The file it was read from.
    pub source: Name<T>,
    /// The format it was read as.
    pub format: &'static str,
    /// How long the run took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// What else the run took.
    #[serde(flatten)]
    pub took: Took,
}

/// What a run took besides time, its sub-agents included, as far as it is recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Took {
    /// Tool calls; `None` where some may be missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl Took {
    /// What a trajectory took.
    #[must_use]
    pub fn of(run: &Trajectory) -> Self {
        let mut took = Self { calls: Some(0), ..Self::default() };
        for run in run.flatten().into_iter().filter(|run| !run.relayed) {
            let is_whole = run.calls_recorded() == Recorded::Fully;
            took.calls = took.calls.filter(|_| is_whole).map(|sum| sum + run.calls.len() as u64);
            if let Some(usage) = &run.usage {
                took.tokens = Some(took.tokens.unwrap_or(0).saturating_add(usage.total()));
            }
            if let Some(cost) = run.cost {
                took.cost_usd = Some(took.cost_usd.unwrap_or(0.0) + cost.usd());
            }
        }
        took
    }
}

impl Source {
    fn redact(self, redactor: Redactor) -> Source<Printable> {
        Source {
            id: self.id.map(|id| redactor.apply(id)),
            name: self.name.map(|name| redactor.apply(name)),
            source: redactor.name(self.source),
            format: self.format,
            duration_ms: self.duration_ms,
            took: self.took,
        }
    }
}

/// One grader's answer.
#[derive(Debug, Clone)]
pub struct GraderResult<T = Untrusted> {
    /// The grader's name.
    pub name: T,
    /// Its type, in the word of the spec.
    pub type_word: T,
    /// Whose reading.
    pub profile: Profile,
    /// Its weight.
    pub weight: f64,
    /// Must it hold?
    pub required: bool,
    /// Where the spec asks it.
    pub place: SpecPlace<T>,
    /// The answer.
    pub outcome: Outcome<T>,
}

impl GraderResult {
    fn redact(self, redactor: Redactor) -> GraderResult<Printable> {
        GraderResult {
            name: redactor.apply(self.name),
            type_word: redactor.apply(self.type_word),
            profile: self.profile,
            weight: self.weight,
            required: self.required,
            place: self.place.redact(redactor),
            outcome: self.outcome.redact(redactor),
        }
    }
}

/// One thing on the way, for reports that show the whole of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimelineEntry<T = Untrusted> {
    /// `user`, `message`, `call`, `error` and so on.
    pub kind: &'static str,
    /// The step it belongs to, from 0; texts count from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// Its words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<T>,
    /// The call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallRef<T>>,
    /// What came back from the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<T>,
    /// How long the call took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
}

impl TimelineEntry {
    fn redact(self, redactor: Redactor) -> TimelineEntry<Printable> {
        TimelineEntry {
            kind: self.kind,
            step: self.step,
            text: self.text.map(|text| redactor.apply(text)),
            call: self.call.map(|call| call.redact(redactor)),
            result: self.result.map(|result| redactor.apply(result)),
            duration_ms: self.duration_ms,
        }
    }
}

/// The way of a trajectory, cut to what a page can show.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Timeline<T = Untrusted> {
    /// What happened.
    pub entries: Vec<TimelineEntry<T>>,
    /// How much more there was.
    pub elided: usize,
}

impl Timeline {
    fn redact(self, redactor: Redactor) -> Timeline<Printable> {
        let entries = self.entries.into_iter().map(|entry| entry.redact(redactor));
        Timeline { entries: entries.collect(), elided: self.elided }
    }
}

/// One trial of one case.
#[derive(Debug, Clone)]
pub struct CaseResult<T = Untrusted> {
    /// The case.
    pub case: T,
    /// Its place in the plan.
    pub case_index: usize,
    /// The target it was run on, where toolmark ran it.
    pub target: Option<T>,
    /// The trajectory; `None` where there was none to grade.
    pub trajectory: Option<Source<T>>,
    /// What stands for the words that were asked first, where the trace has them:
    /// runs that were asked something else are no trials of one case.
    pub asked: Option<u64>,
    /// Which trial of the case, from 0.
    pub trial: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// The score.
    pub score: Option<f64>,
    /// Why.
    pub reason: T,
    /// The graders' answers, in the order of the spec.
    pub graders: Vec<GraderResult<T>>,
    /// Where the spec has the case.
    pub place: SpecPlace<T>,
    /// The way of the trajectory, where it was asked for.
    pub timeline: Option<Timeline<T>>,
    /// The trajectory as JSON, where it was asked for.
    pub trace: Option<Box<Json<Value, T>>>,
}

impl CaseResult {
    /// It as it may be printed.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> CaseResult<Printable> {
        CaseResult {
            case: redactor.apply(self.case),
            case_index: self.case_index,
            target: self.target.map(|target| redactor.apply(target)),
            trajectory: self.trajectory.map(|source| source.redact(redactor)),
            asked: self.asked,
            trial: self.trial,
            verdict: self.verdict,
            score: self.score,
            reason: redactor.apply(self.reason),
            graders: self.graders.into_iter().map(|grader| grader.redact(redactor)).collect(),
            place: self.place.redact(redactor),
            timeline: self.timeline.map(|timeline| timeline.redact(redactor)),
            trace: self.trace.map(|trace| Box::new(redactor.json(*trace))),
        }
    }
}

impl CaseResult<Printable> {
    /// What people call the case.
    #[must_use]
    pub fn label(&self) -> Printable {
        label(&self.case, self.target.as_ref())
    }
}

/// What the trials of one case came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseSummary<T = Untrusted> {
    /// The case.
    pub case: T,
    /// The target it was run on, where toolmark ran it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<T>,
    /// What its trials come to.
    pub verdict: Verdict,
    /// How many trials were graded.
    pub trials: u64,
    /// How many were planned, where the rest was not needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned: Option<u64>,
    /// How many of them must pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// How many passed.
    pub passed: u64,
    /// How many failed.
    pub failed: u64,
    /// How many could not be told.
    pub unknown: u64,
    /// The mean score of the trials that have one.
    pub score: Option<f64>,
    /// Did some trials pass and others fail?
    #[serde(skip_serializing_if = "is_false")]
    pub flaky: bool,
    /// The Wilson interval of the pass rate at 95 %, where there are several trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// pass@k without bias, for k from 1 to the number of trials; empty for one trial.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass_at_k: Vec<f64>,
    /// pass^k, likewise; where the case follows Vally, the pass rate to the power k.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass_hat_k: Vec<f64>,
}

impl CaseSummary {
    fn redact(self, redactor: Redactor) -> CaseSummary<Printable> {
        CaseSummary {
            case: redactor.apply(self.case),
            target: self.target.map(|target| redactor.apply(target)),
            verdict: self.verdict,
            trials: self.trials,
            planned: self.planned,
            rule: self.rule,
            passed: self.passed,
            failed: self.failed,
            unknown: self.unknown,
            score: self.score,
            flaky: self.flaky,
            interval: self.interval,
            pass_at_k: self.pass_at_k,
            pass_hat_k: self.pass_hat_k,
        }
    }
}

impl CaseSummary<Printable> {
    /// What people call it.
    #[must_use]
    pub fn label(&self) -> Printable {
        label(&self.case, self.target.as_ref())
    }
}

/// A case, and the target it was run on.
fn label(case: &Printable, target: Option<&Printable>) -> Printable {
    match target {
        Some(target) => printable!("{} [{}]", case, target),
        None => case.clone(),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// What it all came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary<T = Untrusted> {
    /// How many cases there are.
    pub cases: u64,
    /// How many outcomes (trials) there are.
    pub outcomes: u64,
    /// How many of them passed.
    pub passed: u64,
    /// How many failed.
    pub failed: u64,
    /// How many could not be told.
    pub unknown: u64,
    /// The mean over cases of their scores.
    pub score: Option<f64>,
    /// The threshold on that mean, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// All of it in one verdict.
    pub verdict: Verdict,
    /// Sums over cases that the spec asks for.
    #[serde(skip_serializing_if = "is_empty")]
    pub aggregates: Json<Map<String, Value>, T>,
    /// Per case, where a case has several trials.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<CaseSummary<T>>,
}

fn is_empty<T>(map: &Json<Map<String, Value>, T>) -> bool {
    map.is_empty()
}

impl Summary {
    fn redact(self, redactor: Redactor) -> Summary<Printable> {
        Summary {
            cases: self.cases,
            outcomes: self.outcomes,
            passed: self.passed,
            failed: self.failed,
            unknown: self.unknown,
            score: self.score,
            threshold: self.threshold,
            verdict: self.verdict,
            aggregates: redactor.object(self.aggregates),
            trials: self.trials.into_iter().map(|case| case.redact(redactor)).collect(),
        }
    }
}

/// Everything a run of grading gave.
#[derive(Debug, Clone)]
pub struct RunResult<T = Untrusted> {
    /// The spec.
    pub spec: Name<T>,
    /// Its dialect.
    pub dialect: &'static str,
    /// Its name.
    pub name: Option<T>,
    /// The outcomes, by case and trial.
    pub outcomes: Vec<CaseResult<T>>,
    /// Per case.
    pub cases: Vec<CaseSummary<T>>,
    /// What it all came to.
    pub summary: Summary<T>,
    /// What a reader should know besides: traces that belong to no case and the like.
    pub notes: Vec<T>,
}

impl RunResult {
    /// It as it may be printed.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> RunResult<Printable> {
        RunResult {
            spec: redactor.name(self.spec),
            dialect: self.dialect,
            name: self.name.map(|name| redactor.apply(name)),
            outcomes: self.outcomes.into_iter().map(|one| one.redact(redactor)).collect(),
            cases: self.cases.into_iter().map(|case| case.redact(redactor)).collect(),
            summary: self.summary.redact(redactor),
            notes: redactor.apply_all(self.notes),
        }
    }
}

impl<T: Serialize> Serialize for GraderResult<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let o = &self.outcome;
        let mut all = serializer.serialize_struct("GraderResult", 15)?;
        all.serialize_field("name", &self.name)?;
        all.serialize_field("type", &self.type_word)?;
        all.serialize_field("profile", &self.profile)?;
        all.serialize_field("verdict", &o.verdict)?;
        if let Some(cause) = o.verdict.cause() {
            all.serialize_field("cause", &cause)?;
        }
        all.serialize_field("score", &o.score)?;
        all.serialize_field("weight", &self.weight)?;
        if self.required {
            all.serialize_field("required", &true)?;
        }
        all.serialize_field("reason", &o.reason)?;
        all.serialize_field("evidence", &o.evidence)?;
        all.serialize_field("metrics", &o.metrics)?;
        if !o.parts.is_empty() {
            all.serialize_field("parts", &o.parts)?;
        }
        if let Some(explanation) = &o.explanation {
            all.serialize_field("explanation", explanation)?;
        }
        if let Some(contrast) = &o.contrast {
            all.serialize_field("contrast", contrast)?;
        }
        if !o.notes.is_empty() {
            all.serialize_field("notes", &o.notes)?;
        }
        all.end()
    }
}

impl<T: Serialize> Serialize for CaseResult<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut all = serializer.serialize_struct("CaseResult", 11)?;
        all.serialize_field("type", "outcome")?;
        all.serialize_field("case", &self.case)?;
        if let Some(target) = &self.target {
            all.serialize_field("target", target)?;
        }
        all.serialize_field("trajectory", &self.trajectory)?;
        all.serialize_field("trial", &self.trial)?;
        all.serialize_field("verdict", &self.verdict)?;
        if let Some(cause) = self.verdict.cause() {
            all.serialize_field("cause", &cause)?;
        }
        all.serialize_field("score", &self.score)?;
        all.serialize_field("reason", &self.reason)?;
        all.serialize_field("graders", &self.graders)?;
        if let Some(trace) = &self.trace {
            all.serialize_field("trace", trace)?;
        }
        all.end()
    }
}
