//! What the API says about one session and its calls.

use crate::model::Time;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// One call of the strip that shows a whole session.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CallTick {
    /// The number of the call.
    pub n: u64,
    /// How it ended.
    pub status: &'static str,
    /// Is there a finding about it?
    pub finding: bool,
    /// The sub-agent that made it.
    pub agent: Option<String>,
    /// The step it belongs to, from 1.
    pub step: Option<u64>,
    /// How long it took.
    pub ms: Option<u64>,
    /// Where it is in the timeline of its agent, from 1.
    pub entry: Option<u64>,
}

/// A turn of the user, or text the client put before the model.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TurnText {
    /// Its number, from 1; 0 before the first.
    pub turn: u64,
    /// The words.
    pub text: String,
    /// When.
    pub at: Option<Time>,
    /// Was it written by the client, and by nobody?
    pub context: bool,
}

/// A sub-agent.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SubAgent {
    /// What `agent=` takes.
    pub id: String,
    /// The number of the call that started it.
    pub parent_call: Option<u64>,
    /// What it was asked.
    pub title: Option<String>,
    /// How many calls it made, those of its own sub-agents left out.
    pub calls: u64,
    /// How many of them failed.
    pub failed: u64,
}

/// A finding, in short.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Flag {
    /// The rule.
    pub code: &'static str,
    /// How bad it is.
    pub severity: &'static str,
    /// The name of the rule.
    pub title: &'static str,
}

/// One line of a timeline.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
#[allow(clippy::large_enum_variant, reason = "most entries are calls")]
pub(crate) enum Entry {
    /// The user speaks.
    Turn {
        /// Its place, from 1.
        n: u64,
        /// The turn, from 1.
        turn: u64,
        /// The words.
        text: String,
        /// When.
        at: Option<Time>,
    },
    /// The model speaks or thinks.
    Text {
        /// Its place, from 1.
        n: u64,
        /// The step, from 1.
        step: Option<u64>,
        /// `said` or `thought`.
        kind: &'static str,
        /// The words.
        text: String,
        /// When.
        at: Option<Time>,
    },
    /// A call.
    Call {
        /// Its place, from 1.
        n: u64,
        /// Its number in the session, from 1.
        call: u64,
        /// The step, from 1.
        step: Option<u64>,
        /// Its place among the calls of its step: `single`, `first`, `middle`, `last`.
        parallel: &'static str,
        /// The tool.
        tool: String,
        /// What it is about.
        title: String,
        /// How it ended.
        status: &'static str,
        /// The exit code.
        exit: Option<i64>,
        /// How long it took.
        ms: Option<u64>,
        /// When.
        at: Option<Time>,
        /// What the rules say.
        findings: Vec<Flag>,
        /// The sub-agent that made it.
        agent: Option<String>,
        /// The sub-agent it started.
        sub_agent: Option<SubAgent>,
    },
}

/// A finding.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Finding {
    /// The rule.
    pub code: &'static str,
    /// How bad it is.
    pub severity: &'static str,
    /// The name of the rule.
    pub title: &'static str,
    /// What was found.
    pub message: String,
    /// What kind of fault it is.
    pub axis: &'static str,
    /// What shows it.
    pub evidence: Vec<Proof>,
    /// What to do.
    pub fix: Option<String>,
    /// How sure the rule is.
    pub confidence: &'static str,
}

/// What shows a finding.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Proof {
    /// The number of the call.
    pub call: Option<u64>,
    /// The place in the trace.
    pub place: Option<Place>,
    /// The words.
    pub excerpt: String,
}

/// A place in a trace.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Place {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// A result.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ResultText {
    /// The text, or its beginning.
    pub text: String,
    /// Is it only the beginning?
    pub truncated: bool,
    /// How long it is.
    pub bytes: u64,
}

/// What an edit changes.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EditDiff {
    /// The file.
    pub path: String,
    /// Its content before, where the trace proves it.
    pub before: Option<String>,
    /// Its content after.
    pub after: Option<String>,
    /// The change.
    pub unified: String,
}

/// What a call does.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EffectRow {
    /// What.
    pub kind: &'static str,
    /// To what.
    pub target: String,
    /// Where that lies.
    pub scope: &'static str,
    /// How far it can be undone.
    pub reversibility: &'static str,
    /// How sure that is.
    pub certainty: &'static str,
}

/// A record of the trace.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RawRecord {
    /// Where it stands.
    pub place: Place,
    /// The record, or its beginning.
    pub text: String,
}

/// An answer of an evaluator.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Evaluation {
    /// Which evaluator.
    pub evaluator: String,
    /// Which version of it.
    pub version: String,
    /// `pass`, `fail` or `unknown`.
    pub verdict: String,
    /// From 0 to 1.
    pub score: Option<f64>,
    /// Why.
    pub reason: String,
    /// When.
    pub at: Option<Time>,
}

/// What the guard says about a call.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GuardWord {
    /// `allow`, `ask` or `deny`.
    pub decision: String,
    /// The rule.
    pub rule: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// One call with all that is known about it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CallDetail {
    /// Its number in the session, from 1.
    pub call: u64,
    /// Its id.
    pub call_id: Option<String>,
    /// The tool.
    pub tool: String,
    /// What it is about.
    pub title: String,
    /// How it ended.
    pub status: &'static str,
    /// What the status was read from.
    pub status_from: &'static str,
    /// The exit code.
    pub exit: Option<i64>,
    /// How long it took.
    pub ms: Option<u64>,
    /// When it was asked for.
    pub started: Option<Time>,
    /// When the result came.
    pub ended: Option<Time>,
    /// The step, from 1.
    pub step: Option<u64>,
    /// The turn, from 1; 0 before the first.
    pub turn: u64,
    /// The sub-agent that made it.
    pub agent: Option<String>,
    /// The arguments.
    pub arguments: Value,
    /// The arguments as they are written.
    pub arguments_text: String,
    /// What came back.
    pub result: Option<ResultText>,
    /// What an edit changes.
    pub diff: Option<EditDiff>,
    /// Does the trace prove what was in the file? `known` or `unknown`; null for calls that
    /// change none.
    pub file_state: Option<&'static str>,
    /// What the rules say.
    pub findings: Vec<Finding>,
    /// What evaluators say.
    pub evaluations: Vec<Evaluation>,
    /// Where it stands in the trace.
    pub place: Option<Place>,
    /// The records it was read from.
    pub raw: Vec<RawRecord>,
    /// What it does.
    pub effects: Vec<EffectRow>,
    /// What the guard says about it.
    pub guard: Option<GuardWord>,
}

/// Where something was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Hit {
    /// The number of the call.
    pub call: Option<u64>,
    /// Its place in the timeline of its agent.
    pub n: u64,
    /// The agent.
    pub agent: Option<String>,
    /// The words around it.
    pub excerpt: String,
}

/// A call of one of two sessions.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CallRef {
    /// Its number.
    pub call: u64,
    /// The tool.
    pub tool: String,
    /// What it is about.
    pub title: String,
    /// How it ended.
    pub status: &'static str,
}

/// Two calls side by side.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DiffRow {
    /// Of the first session.
    pub left: Option<CallRef>,
    /// Of the second.
    pub right: Option<CallRef>,
    /// `equal`, `changed`, `added` or `removed`.
    pub same: &'static str,
}
