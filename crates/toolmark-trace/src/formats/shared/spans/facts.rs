//! Agent-related data of a span, in one vocabulary.

use super::messages;
use crate::format::Record;
use crate::model::{
    Actor, Cost, Fidelity, Payload, Status, StatusLevel, Text, ToolDefinition, Usage,
};
use jiff::{SignedDuration, Timestamp};
use toolmark_scan::Value;

/// Role of a span in an agent run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpanRole {
    /// A model response.
    Llm,
    /// A tool execution.
    Tool,
    /// An agent run.
    Agent,
    /// Another known part of an agent (a chain, an embedding).
    Part,
    /// An operation of the GenAI vocabulary that this version does not know.
    Unknown,
}

/// Data about a span found by the dialects. The first value of each field is kept.
#[derive(Debug, Default)]
pub(crate) struct SpanFacts {
    pub(crate) kind: Option<SpanRole>,
    pub(crate) conversation: Option<Text>,
    pub(crate) agent: Option<Text>,
    pub(crate) agent_version: Option<Text>,
    pub(crate) model: Option<Text>,
    pub(crate) response: Option<Text>,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost: Option<Cost>,
    pub(crate) input: Vec<SpanMessage>,
    pub(crate) output: Vec<SpanMessage>,
    pub(crate) tools: Vec<ToolDefinition>,
    pub(crate) tool: Option<Text>,
    pub(crate) call: Option<Text>,
    pub(crate) args: Option<Payload>,
    pub(crate) result: Option<Payload>,
    pub(crate) failed: Option<bool>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) duration: Option<SignedDuration>,
    pub(crate) error: Option<Payload>,
    pub(crate) cwd: Option<Text>,
    /// Whether an agent inside another one is a run of its own, and not its wrapper.
    pub(crate) is_sub_agent: bool,
    /// Whether a span without an error status has unknown status.
    pub(crate) unmarked: bool,
    /// Whether the call was refused.
    pub(crate) denied: bool,
    /// Facts that its sender never sends.
    pub(crate) lacks: Fidelity,
    pub(crate) marks: Vec<SpanMark>,
    pub(crate) own: Option<Box<Own>>,
}

impl SpanFacts {
    /// Sets the data of a call of the tool `name` with `input` and `output`.
    pub(crate) fn of_call(
        &mut self,
        record: &Record<'_>,
        name: &Text,
        input: Option<Value<'_>>,
        output: Option<Value<'_>>,
    ) -> SpanRole {
        self.tool = Some(name.clone());
        self.args = input.map(|v| record.payload(v));
        self.result = output.map(|v| record.payload(v));
        SpanRole::Tool
    }

    /// Sets the data of a model response `output` to the messages in `input`.
    pub(crate) fn of_response(
        &mut self,
        input: Option<Value<'_>>,
        output: Option<Value<'_>>,
    ) -> SpanRole {
        self.input = input.map(|v| messages::all(v, MessageAuthor::User)).unwrap_or_default();
        self.output =
            output.map(|v| messages::all(v, MessageAuthor::Assistant)).unwrap_or_default();
        SpanRole::Llm
    }
}

/// Data added by toolmark's exporter to its spans, so that nothing has to be inferred. Spans
/// with this data are in chronological order, and contain only new messages.
#[derive(Debug, Default)]
pub(crate) struct Own {
    /// ID of the run itself; unlike the conversation ID, never inherited.
    pub(crate) id: Option<Text>,
    pub(crate) name: Option<Text>,
    pub(crate) outcome: Option<Text>,
    pub(crate) parent_trajectory: Option<Text>,
    pub(crate) parent_call: Option<Text>,
    pub(crate) fidelity: Option<Fidelity>,
    /// Status of a call.
    pub(crate) status: Option<(Status, StatusLevel)>,
    /// Whether a call had a result.
    pub(crate) is_answered: bool,
    pub(crate) actor: Option<Actor>,
    pub(crate) namespace: Option<Text>,
    pub(crate) spawned: Option<Text>,
}

/// An event of the run that occurred during a span.
#[derive(Debug)]
pub(crate) struct SpanMark {
    pub(crate) kind: MarkKind,
    pub(crate) text: Option<Payload>,
    pub(crate) time: Option<Timestamp>,
}

/// The kinds of [`SpanMark`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MarkKind {
    User,
    Context,
    Message,
    Skill,
    Compaction,
    Error,
    Orphan,
    /// A record of this kind that contains nothing about the run.
    Note(Text),
    /// A record of an unknown kind.
    Unknown(Text),
}

/// A message of a conversation.
#[derive(Debug, Clone)]
pub(crate) struct SpanMessage {
    pub(crate) role: MessageAuthor,
    pub(crate) parts: Vec<MessagePart>,
}

/// Author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageAuthor {
    System,
    User,
    Assistant,
    Tool,
}

/// A part of a message.
#[derive(Debug, Clone)]
pub(crate) enum MessagePart {
    Text(Payload),
    /// Reasoning, without text if it is withheld.
    Reasoning(Option<Payload>),
    Call {
        id: Option<Text>,
        name: Text,
        args: Option<Payload>,
    },
    Response {
        id: Option<Text>,
        payload: Option<Payload>,
        failed: Option<bool>,
    },
    /// An image, a file, an unknown block.
    Other(Payload),
}

/// Sets a field that is still empty.
pub(crate) fn fill<T>(slot: &mut Option<T>, value: impl FnOnce() -> Option<T>) {
    if slot.is_none() {
        *slot = value();
    }
}

/// Sets a list that is still empty.
pub(crate) fn fill_list<T>(list: &mut Vec<T>, values: impl FnOnce() -> Vec<T>) {
    if list.is_empty() {
        *list = values();
    }
}

impl SpanFacts {
    /// Returns whether the span is part of the run's tree.
    pub(crate) fn is_node(&self) -> bool {
        matches!(self.kind, Some(SpanRole::Llm | SpanRole::Tool | SpanRole::Agent))
    }

    /// Adds the data of a second span about the same operation.
    pub(crate) fn absorb(&mut self, other: Self) {
        fill(&mut self.conversation, || other.conversation);
        fill(&mut self.agent, || other.agent);
        fill(&mut self.agent_version, || other.agent_version);
        fill(&mut self.model, || other.model);
        fill(&mut self.response, || other.response);
        fill(&mut self.usage, || other.usage);
        fill(&mut self.cost, || other.cost);
        fill_list(&mut self.input, || other.input);
        fill_list(&mut self.output, || other.output);
        fill_list(&mut self.tools, || other.tools);
        fill(&mut self.tool, || other.tool);
        fill(&mut self.call, || other.call);
        fill(&mut self.args, || other.args);
        fill(&mut self.result, || other.result);
        fill(&mut self.failed, || other.failed);
        fill(&mut self.exit_code, || other.exit_code);
        fill(&mut self.duration, || other.duration);
        fill(&mut self.error, || other.error);
        fill(&mut self.cwd, || other.cwd);
        fill(&mut self.own, || other.own);
        self.unmarked |= other.unmarked;
        self.denied |= other.denied;
        self.lacks = self.lacks.union(other.lacks);
        self.marks.extend(other.marks);
    }
}
