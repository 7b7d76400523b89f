//! What grading came to: the types every report is made of.

use crate::evidence::CallRef;
use crate::outcome::{Outcome, Verdict};
use crate::profile::Profile;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// A place in the spec.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SpecPlace {
    /// The file.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// The trajectory a result is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Source {
    /// Its own id.
    pub id: Option<String>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The file it was read from.
    pub source: Arc<str>,
    /// The format it was read as.
    pub format: &'static str,
    /// How long the run took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
}

/// One grader's answer.
#[derive(Debug, Clone)]
pub struct GraderResult {
    /// The grader's name.
    pub name: String,
    /// Its type, in the word of the spec.
    pub type_word: String,
    /// Whose reading.
    pub profile: Profile,
    /// Its weight.
    pub weight: f64,
    /// Must it hold?
    pub required: bool,
    /// Where the spec asks it.
    pub place: SpecPlace,
    /// The answer.
    pub outcome: Outcome,
}

/// One thing on the way, for reports that show the whole of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimelineEntry {
    /// `user`, `message`, `call`, `error` and so on.
    pub kind: &'static str,
    /// The step it belongs to, from 0; texts count from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// Its words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallRef>,
    /// What came back from the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// How long the call took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
}

/// The way of a trajectory, cut to what a page can show.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Timeline {
    /// What happened.
    pub entries: Vec<TimelineEntry>,
    /// How much more there was.
    pub elided: usize,
}

/// One trial of one case.
#[derive(Debug, Clone)]
pub struct CaseResult {
    /// The case.
    pub case: String,
    /// Its place in the plan.
    pub case_index: usize,
    /// The trajectory; `None` where there was none to grade.
    pub trajectory: Option<Source>,
    /// Which trial of the case, from 0.
    pub trial: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// The score.
    pub score: Option<f64>,
    /// Why.
    pub reason: String,
    /// The graders' answers, in the order of the spec.
    pub graders: Vec<GraderResult>,
    /// Where the spec has the case.
    pub place: SpecPlace,
    /// The way of the trajectory, where it was asked for.
    pub timeline: Option<Timeline>,
    /// The trajectory as JSON, where it was asked for.
    pub trace: Option<Arc<Value>>,
}

/// What the trials of one case came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CaseSummary {
    /// The case.
    pub case: String,
    /// How many trials were graded.
    pub trials: u64,
    /// How many passed.
    pub passed: u64,
    /// How many failed.
    pub failed: u64,
    /// How many could not be told.
    pub unknown: u64,
    /// The mean score of the trials that have one.
    pub score: Option<f64>,
    /// pass@k without bias, for k from 1 to the number of trials; empty for one trial.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass_at_k: Vec<f64>,
    /// pass^k, likewise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pass_hat_k: Vec<f64>,
}

/// What it all came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
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
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub aggregates: serde_json::Map<String, Value>,
    /// Per case, where a case has several trials.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<CaseSummary>,
}

/// Everything a run of grading gave.
#[derive(Debug, Clone)]
pub struct RunResult {
    /// The spec.
    pub spec: Arc<str>,
    /// Its dialect.
    pub dialect: &'static str,
    /// Its name.
    pub name: Option<String>,
    /// The outcomes, by case and trial.
    pub outcomes: Vec<CaseResult>,
    /// Per case.
    pub cases: Vec<CaseSummary>,
    /// What it all came to.
    pub summary: Summary,
    /// What a reader should know besides: traces that belong to no case and the like.
    pub notes: Vec<String>,
}

impl Serialize for GraderResult {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let o = &self.outcome;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("type", &self.type_word)?;
        map.serialize_entry("profile", &self.profile)?;
        map.serialize_entry("verdict", &o.verdict)?;
        if let Some(cause) = o.verdict.cause() {
            map.serialize_entry("cause", &cause)?;
        }
        map.serialize_entry("score", &o.score)?;
        map.serialize_entry("weight", &self.weight)?;
        if self.required {
            map.serialize_entry("required", &true)?;
        }
        map.serialize_entry("reason", &o.reason)?;
        map.serialize_entry("evidence", &o.evidence)?;
        map.serialize_entry("metrics", &o.metrics)?;
        if !o.parts.is_empty() {
            map.serialize_entry("parts", &o.parts)?;
        }
        if let Some(explanation) = &o.explanation {
            map.serialize_entry("explanation", explanation)?;
        }
        if let Some(contrast) = &o.contrast {
            map.serialize_entry("contrast", contrast)?;
        }
        if !o.notes.is_empty() {
            map.serialize_entry("notes", &o.notes)?;
        }
        map.end()
    }
}

impl Serialize for CaseResult {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "outcome")?;
        map.serialize_entry("case", &self.case)?;
        map.serialize_entry("trajectory", &self.trajectory)?;
        map.serialize_entry("trial", &self.trial)?;
        map.serialize_entry("verdict", &self.verdict)?;
        if let Some(cause) = self.verdict.cause() {
            map.serialize_entry("cause", &cause)?;
        }
        map.serialize_entry("score", &self.score)?;
        map.serialize_entry("reason", &self.reason)?;
        map.serialize_entry("graders", &self.graders)?;
        if let Some(trace) = &self.trace {
            map.serialize_entry("trace", trace)?;
        }
        map.end()
    }
}
