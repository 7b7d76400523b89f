//! Types of the API for one session and its calls.

use crate::model::Time;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A call in short form.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CallTick {
    /// Number of the call.
    pub n: u64,
    /// Status.
    pub status: &'static str,
    /// Whether the call has a finding.
    pub finding: bool,
    /// Sub-agent that made the call.
    pub agent: Option<String>,
    /// Step, from 1.
    pub step: Option<u64>,
    /// Duration in milliseconds.
    pub ms: Option<u64>,
    /// Position in the timeline of its agent, from 1.
    pub entry: Option<u64>,
}

/// A user turn, or context that the client inserted.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TurnText {
    /// Number of the turn, from 1; 0 before the first.
    pub turn: u64,
    /// Text.
    pub text: String,
    /// Time.
    pub at: Option<Time>,
    /// Whether the client inserted the text, rather than the user.
    pub context: bool,
}

/// A sub-agent.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SubAgent {
    /// Value of `agent=`.
    pub id: String,
    /// Number of the call that started the sub-agent.
    pub parent_call: Option<u64>,
    /// Name or task.
    pub title: Option<String>,
    /// Number of calls, without those of nested sub-agents.
    pub calls: u64,
    /// Number of failed calls.
    pub failed: u64,
}

/// A finding in short form.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Flag {
    /// Code of the rule.
    pub code: &'static str,
    /// Severity.
    pub severity: &'static str,
    /// Name of the rule.
    pub title: &'static str,
}

/// An entry of a timeline.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
#[allow(clippy::large_enum_variant, reason = "most entries are calls")]
#[schemars(rename = "Entry")]
pub(crate) enum ViewTimelineEntry {
    /// A message of the user.
    Turn {
        /// Position in the timeline, from 1.
        n: u64,
        /// Turn, from 1.
        turn: u64,
        /// Text.
        text: String,
        /// Time.
        at: Option<Time>,
    },
    /// A message or the reasoning of the model.
    Text {
        /// Position in the timeline, from 1.
        n: u64,
        /// Step, from 1.
        step: Option<u64>,
        /// `said` or `thought`.
        kind: &'static str,
        /// Text.
        text: String,
        /// Time.
        at: Option<Time>,
    },
    /// A call.
    Call {
        /// Position in the timeline, from 1.
        n: u64,
        /// Number of the call in the session, from 1.
        call: u64,
        /// Step, from 1.
        step: Option<u64>,
        /// Position among the calls of its step: `single`, `first`, `middle`, `last`.
        parallel: &'static str,
        /// Name of the tool.
        tool: String,
        /// Summary of the call.
        title: String,
        /// Status.
        status: &'static str,
        /// Exit code.
        exit: Option<i64>,
        /// Duration in milliseconds.
        ms: Option<u64>,
        /// Time.
        at: Option<Time>,
        /// Findings of the rules.
        findings: Vec<Flag>,
        /// Sub-agent that made the call.
        agent: Option<String>,
        /// Sub-agent that the call started.
        sub_agent: Option<SubAgent>,
    },
}

/// A finding.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Finding")]
pub(crate) struct FindingRow {
    /// Code of the rule.
    pub code: &'static str,
    /// Severity.
    pub severity: &'static str,
    /// Name of the rule.
    pub title: &'static str,
    /// Message.
    pub message: String,
    /// Axis of the scorecard.
    pub axis: &'static str,
    /// Evidence.
    pub evidence: Vec<Proof>,
    /// Suggested fix.
    pub fix: Option<String>,
    /// Confidence.
    pub confidence: &'static str,
}

/// Evidence of a finding.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Proof {
    /// Number of the call.
    pub call: Option<u64>,
    /// Source position in the trace.
    pub place: Option<TracePosition>,
    /// Excerpt.
    pub excerpt: String,
}

/// A source position in a trace.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Place")]
pub(crate) struct TracePosition {
    /// File name.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// Result of a call.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ResultText {
    /// Text, or its beginning.
    pub text: String,
    /// Whether the text is truncated.
    pub truncated: bool,
    /// Full length in bytes.
    pub bytes: u64,
}

/// The change made by an edit.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EditDiff {
    /// Path of the file.
    pub path: String,
    /// Content before the edit, if the trace proves it.
    pub before: Option<String>,
    /// Content after the edit.
    pub after: Option<String>,
    /// Unified diff.
    pub unified: String,
}

/// An effect of a call.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EffectRow {
    /// Kind of effect.
    pub kind: &'static str,
    /// Target.
    pub target: String,
    /// Scope of the target.
    pub scope: &'static str,
    /// Reversibility.
    pub reversibility: &'static str,
    /// Certainty.
    pub certainty: &'static str,
}

/// A record of the trace.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RawRecord {
    /// Source position.
    pub place: TracePosition,
    /// Text of the record, or its beginning.
    pub text: String,
}

/// An answer of an evaluator.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Evaluation {
    /// Name of the evaluator.
    pub evaluator: String,
    /// Version of the evaluator.
    pub version: String,
    /// `pass`, `fail` or `unknown`.
    pub verdict: String,
    /// Score, from 0 to 1.
    pub score: Option<f64>,
    /// Reason.
    pub reason: String,
    /// Time of the answer.
    pub at: Option<Time>,
}

/// The guard's decision about a call.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GuardWord {
    /// `allow`, `ask` or `deny`.
    pub decision: String,
    /// Rule that decided.
    pub rule: Option<String>,
    /// Reason.
    pub reason: Option<String>,
}

/// All details of a call.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CallDetail {
    /// Number in the session, from 1.
    pub call: u64,
    /// ID of the call.
    pub call_id: Option<String>,
    /// Name of the tool.
    pub tool: String,
    /// Summary of the call.
    pub title: String,
    /// Status.
    pub status: &'static str,
    /// Source of the status.
    pub status_from: &'static str,
    /// Exit code.
    pub exit: Option<i64>,
    /// Duration in milliseconds.
    pub ms: Option<u64>,
    /// Time of the request.
    pub started: Option<Time>,
    /// Time of the result.
    pub ended: Option<Time>,
    /// Step, from 1.
    pub step: Option<u64>,
    /// Turn, from 1; 0 before the first.
    pub turn: u64,
    /// Sub-agent that made the call.
    pub agent: Option<String>,
    /// Arguments.
    pub arguments: Value,
    /// Arguments as recorded.
    pub arguments_text: String,
    /// Result.
    pub result: Option<ResultText>,
    /// Change made by an edit.
    pub diff: Option<EditDiff>,
    /// Whether the trace proves the content of the file: `known` or `unknown`; null for calls that
    /// change no file.
    pub file_state: Option<&'static str>,
    /// Findings of the rules.
    pub findings: Vec<FindingRow>,
    /// Answers of evaluators.
    pub evaluations: Vec<Evaluation>,
    /// Source position in the trace.
    pub place: Option<TracePosition>,
    /// Source records.
    pub raw: Vec<RawRecord>,
    /// Effects.
    pub effects: Vec<EffectRow>,
    /// Decision of the guard.
    pub guard: Option<GuardWord>,
}

/// A search result.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Hit {
    /// Number of the call.
    pub call: Option<u64>,
    /// Position in the timeline of its agent.
    pub n: u64,
    /// ID of the sub-agent.
    pub agent: Option<String>,
    /// Excerpt around the match.
    pub excerpt: String,
}

/// A call of one of two sessions.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "CallRef")]
pub(crate) struct PairedCall {
    /// Number of the call.
    pub call: u64,
    /// Name of the tool.
    pub tool: String,
    /// Summary of the call.
    pub title: String,
    /// Status.
    pub status: &'static str,
}

/// Two aligned calls.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DiffRow {
    /// Call of the first session.
    pub left: Option<PairedCall>,
    /// Call of the second session.
    pub right: Option<PairedCall>,
    /// `equal`, `changed`, `added` or `removed`.
    pub same: &'static str,
}
