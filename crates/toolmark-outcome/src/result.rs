//! Results of grading: the types behind every report.

use crate::evidence::CallRef;
use crate::outcome::{Outcome, Verdict};
use crate::place::SpecPlace;
use crate::profile::Profile;
use serde::Serialize;
use serde_json::{Map, Value};
use toolmark_redact::{Json, Printable, Redactor, SharedName, Untrusted, printable};
use toolmark_trace::{RecordedCalls, Trajectory};

/// The trajectory that a result is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrajectorySource<T = Untrusted> {
    /// Id of the trajectory.
    pub id: Option<T>,
    /// Display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<T>,
    /// File from which the trajectory was read.
    pub source: SharedName<T>,
    /// Trace format.
    pub format: &'static str,
    /// Duration of the run, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// Resource usage of the run.
    #[serde(flatten)]
    pub took: Took,
}

/// Resource usage of a run besides time, including sub-agents, as far as it is recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Took {
    /// Number of tool calls; `None` if some may be missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Number of tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Cost in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl Took {
    /// Returns the resource usage of a trajectory.
    #[must_use]
    pub fn of(run: &Trajectory) -> Self {
        let mut took = Self { calls: Some(0), ..Self::default() };
        for run in run.flatten().into_iter().filter(|run| !run.relayed) {
            let is_whole = run.calls_recorded() == RecordedCalls::Fully;
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

impl TrajectorySource {
    fn redact(self, redactor: Redactor) -> TrajectorySource<Printable> {
        TrajectorySource {
            id: self.id.map(|id| redactor.apply(id)),
            name: self.name.map(|name| redactor.apply(name)),
            source: redactor.name(self.source),
            format: self.format,
            duration_ms: self.duration_ms,
            took: self.took,
        }
    }
}

/// Result of one grader in a case.
#[derive(Debug, Clone)]
pub struct GraderResult<T = Untrusted> {
    /// Name of the grader.
    pub name: T,
    /// Type of the grader, as written in the spec.
    pub type_word: T,
    /// Profile of the grader.
    pub profile: Profile,
    /// Weight of the grader.
    pub weight: f64,
    /// Whether the grader must pass.
    pub required: bool,
    /// Position of the grader in the spec.
    pub place: SpecPlace<T>,
    /// Outcome of the grader.
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

/// An entry of the timeline, for reports that show the whole trajectory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimelineEntry<T = Untrusted> {
    /// Kind of entry: `user`, `message`, `call`, `error` and others.
    pub kind: &'static str,
    /// Step of the entry, from 0; messages count from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// Text of the entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<T>,
    /// The call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallRef<T>>,
    /// Result of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<T>,
    /// Duration of the call, in milliseconds.
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

/// Timeline of a trajectory, limited to what a page can show.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Timeline<T = Untrusted> {
    /// Entries, in order.
    pub entries: Vec<TimelineEntry<T>>,
    /// Number of omitted entries.
    pub elided: usize,
}

impl Timeline {
    fn redact(self, redactor: Redactor) -> Timeline<Printable> {
        let entries = self.entries.into_iter().map(|entry| entry.redact(redactor));
        Timeline { entries: entries.collect(), elided: self.elided }
    }
}

/// Result of one trial of one case.
#[derive(Debug, Clone)]
pub struct CaseResult<T = Untrusted> {
    /// Id of the case.
    pub case: T,
    /// Index of the case in the plan.
    pub case_index: usize,
    /// Target of the case, if toolmark ran it.
    pub target: Option<T>,
    /// The trajectory; `None` if there was none to grade.
    pub trajectory: Option<TrajectorySource<T>>,
    /// Hash of the first prompt, if the trace records it: runs with different prompts are not
    /// trials of the same case.
    pub asked: Option<u64>,
    /// Number of the trial, from 0.
    pub trial: u32,
    /// Verdict of the trial.
    pub verdict: Verdict,
    /// Score of the trial.
    pub score: Option<f64>,
    /// Reason for the verdict.
    pub reason: T,
    /// Results of the graders, in the order of the spec.
    pub graders: Vec<GraderResult<T>>,
    /// Position of the case in the spec.
    pub place: SpecPlace<T>,
    /// Timeline of the trajectory, if requested.
    pub timeline: Option<Timeline<T>>,
    /// The trajectory as JSON, if requested.
    pub trace: Option<Box<Json<Value, T>>>,
}

impl CaseResult {
    /// Returns the printable result.
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
    /// Returns the display name of the case.
    #[must_use]
    pub fn label(&self) -> Printable {
        label(&self.case, self.target.as_ref())
    }
}

/// Summary of the trials of one case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseSummary<T = Untrusted> {
    /// Id of the case.
    pub case: T,
    /// Target of the case, if toolmark ran it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<T>,
    /// Combined verdict of the trials.
    pub verdict: Verdict,
    /// Number of graded trials.
    pub trials: u64,
    /// Number of planned trials, if the remaining ones were not needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned: Option<u64>,
    /// Number of trials that must pass, as a rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Number of passed trials.
    pub passed: u64,
    /// Number of failed trials.
    pub failed: u64,
    /// Number of trials with an unknown verdict.
    pub unknown: u64,
    /// Mean score of the trials that have one.
    pub score: Option<f64>,
    /// Whether some trials passed and others failed.
    #[serde(skip_serializing_if = "is_false")]
    pub flaky: bool,
    /// Wilson interval of the pass rate at 95 %, if there are several trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// Unbiased pass@k for k from 1 to the number of trials; empty for one trial.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass_at_k: Vec<f64>,
    /// Unbiased pass^k for the same k; for cases that follow Vally, the pass rate to the
    /// power k.
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
    /// Returns the display name of the case.
    #[must_use]
    pub fn label(&self) -> Printable {
        label(&self.case, self.target.as_ref())
    }
}

/// Formats a case with its target.
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

/// Summary of a whole run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary<T = Untrusted> {
    /// Number of cases.
    pub cases: u64,
    /// Number of outcomes (trials).
    pub outcomes: u64,
    /// Number of passed outcomes.
    pub passed: u64,
    /// Number of failed outcomes.
    pub failed: u64,
    /// Number of outcomes with an unknown verdict.
    pub unknown: u64,
    /// Mean of the scores of the cases.
    pub score: Option<f64>,
    /// Threshold for the mean score, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Overall verdict.
    pub verdict: Verdict,
    /// Aggregates over cases that the spec requests.
    #[serde(skip_serializing_if = "is_empty")]
    pub aggregates: Json<Map<String, Value>, T>,
    /// Summary per case, for cases with several trials.
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

/// Complete result of grading.
#[derive(Debug, Clone)]
pub struct RunResult<T = Untrusted> {
    /// Path of the spec.
    pub spec: SharedName<T>,
    /// Dialect of the spec.
    pub dialect: &'static str,
    /// Name of the spec.
    pub name: Option<T>,
    /// Outcomes, by case and trial.
    pub outcomes: Vec<CaseResult<T>>,
    /// Summary per case.
    pub cases: Vec<CaseSummary<T>>,
    /// Summary of the run.
    pub summary: Summary<T>,
    /// Additional notes, such as traces that belong to no case.
    pub notes: Vec<T>,
}

impl RunResult {
    /// Returns the printable result.
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
