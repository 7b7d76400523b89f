//! What a span says about an agent, in one vocabulary.

use super::messages;
use crate::format::Record;
use crate::model::{Actor, Cost, Fidelity, Level, Payload, Status, Text, ToolDefinition, Usage};
use jiff::{SignedDuration, Timestamp};
use toolmark_scan::Value;

/// What a span is in the life of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A model response.
    Llm,
    /// The execution of a tool.
    Tool,
    /// The run of an agent.
    Agent,
    /// A known part of an agent that is not one of these (a chain, an embedding).
    Part,
    /// An operation of the GenAI vocabulary that this version does not know.
    Unknown,
}

/// What the dialects found out about a span. A slot that is filled stays.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) kind: Option<Kind>,
    pub(crate) conversation: Option<Text>,
    pub(crate) agent: Option<Text>,
    pub(crate) agent_version: Option<Text>,
    pub(crate) model: Option<Text>,
    pub(crate) response: Option<Text>,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost: Option<Cost>,
    pub(crate) input: Vec<Message>,
    pub(crate) output: Vec<Message>,
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
    /// Does a span without a mark of failure say nothing about how the call ended?
    pub(crate) unmarked: bool,
    /// Was the call refused?
    pub(crate) denied: bool,
    /// What its sender never sends.
    pub(crate) lacks: Fidelity,
    pub(crate) marks: Vec<Mark>,
    pub(crate) own: Option<Box<Own>>,
}

impl Facts {
    /// The span ran the tool `name` with `input` and got `output`.
    pub(crate) fn of_call(
        &mut self,
        record: &Record<'_>,
        name: &Text,
        input: Option<Value<'_>>,
        output: Option<Value<'_>>,
    ) -> Kind {
        self.tool = Some(name.clone());
        self.args = input.map(|v| record.payload(v));
        self.result = output.map(|v| record.payload(v));
        Kind::Tool
    }

    /// The span is a model's response `output` to the messages in `input`.
    pub(crate) fn of_response(
        &mut self,
        input: Option<Value<'_>>,
        output: Option<Value<'_>>,
    ) -> Kind {
        self.input = input.map(|v| messages::all(v, Role::User)).unwrap_or_default();
        self.output = output.map(|v| messages::all(v, Role::Assistant)).unwrap_or_default();
        Kind::Llm
    }
}

/// What toolmark's exporter adds to its spans, so that nothing has to be
/// inferred from them. Spans with it are in the order they happened, and their
/// messages are only those that are new.
#[derive(Debug, Default)]
pub(crate) struct Own {
    /// The run's own id, unlike the conversation never inherited.
    pub(crate) id: Option<Text>,
    pub(crate) name: Option<Text>,
    pub(crate) outcome: Option<Text>,
    pub(crate) parent_trajectory: Option<Text>,
    pub(crate) parent_call: Option<Text>,
    pub(crate) fidelity: Option<Fidelity>,
    /// How a call ended.
    pub(crate) status: Option<(Status, Level)>,
    /// Did a call have a result?
    pub(crate) is_answered: bool,
    pub(crate) actor: Option<Actor>,
    pub(crate) namespace: Option<Text>,
    pub(crate) spawned: Option<Text>,
}

/// Something that happened during a span and is an event of the run.
#[derive(Debug)]
pub(crate) struct Mark {
    pub(crate) kind: MarkKind,
    pub(crate) text: Option<Payload>,
    pub(crate) time: Option<Timestamp>,
}

/// The kinds of [`Mark`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MarkKind {
    User,
    Context,
    Message,
    Skill,
    Compaction,
    Error,
    Orphan,
    /// A record that says nothing about the run, by its kind.
    Note(Text),
    /// A record of an unknown kind.
    Unknown(Text),
}

/// One message of a conversation.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) role: Role,
    pub(crate) parts: Vec<Part>,
}

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    System,
    User,
    Assistant,
    Tool,
}

/// A piece of a message.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    Text(Payload),
    /// Without text where it is withheld.
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

/// Fills a slot that is still empty.
pub(crate) fn fill<T>(slot: &mut Option<T>, value: impl FnOnce() -> Option<T>) {
    if slot.is_none() {
        *slot = value();
    }
}

/// Fills a list that is still empty.
pub(crate) fn fill_list<T>(list: &mut Vec<T>, values: impl FnOnce() -> Vec<T>) {
    if list.is_empty() {
        *list = values();
    }
}

impl Facts {
    /// Is it a span that takes part in the run's tree?
    pub(crate) fn is_node(&self) -> bool {
        matches!(self.kind, Some(Kind::Llm | Kind::Tool | Kind::Agent))
    }

    /// Adds what a second span about the same thing knows.
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
