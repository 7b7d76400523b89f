//! The trajectory: a run of one agent.

use super::{
    At, Call, Completeness, Cost, Fact, Fidelity, Payload, RecordedCalls, RunDeclaration, Text,
    Usage,
};
use jiff::{SignedDuration, Timestamp};
use std::collections::HashMap;

/// Maximum nesting of sub-agents: readers attach deeper ones beside their parents, so that a
/// tree can be walked recursively, and so that parsers of other tools accept the output.
pub(crate) const MAX_DEPTH: usize = 24;

/// One run of one agent, in chronological order.
#[derive(Debug, Clone)]
pub struct Trajectory {
    /// ID of the reader's format, such as `claude-code`.
    pub format: &'static str,
    /// File from which it was read, as named on input.
    pub file: std::sync::Arc<str>,
    /// ID of the run itself (session, thread, sample).
    pub id: Option<Text>,
    /// Display name: title, test case, stimulus.
    pub name: Option<Text>,
    /// Agent of the run.
    pub agent: Agent,
    /// Call of another trajectory that started this one.
    pub parent: Option<Parent>,
    /// Working directory.
    pub cwd: Option<Text>,
    /// Changes of the working directory, if the source records them.
    pub moves: Vec<Move>,
    /// Whether every record names the working directory, so that [`Self::moves`] has every
    /// change of it.
    pub moves_recorded: bool,
    /// First recorded time.
    pub started: Option<Timestamp>,
    /// Last recorded time.
    pub ended: Option<Timestamp>,
    /// All events, in order.
    pub events: Vec<Event>,
    /// Tool calls, in order.
    pub calls: Vec<Call>,
    /// Model responses, in order.
    pub steps: Vec<Step>,
    /// Number of user messages written by a person (or a simulated one).
    pub user_turns: u32,
    /// Number of results without a call in this trajectory.
    pub orphans: u32,
    /// Number of orphaned results that report an error.
    pub failed_orphans: u32,
    /// Number of results that repeat an earlier one.
    pub repeated_results: u32,
    /// Token usage of the run, without sub-agents.
    pub usage: Option<Usage>,
    /// Cost, if recorded.
    pub cost: Option<Cost>,
    /// Tools offered to the model, if recorded.
    pub tools: Option<Vec<ToolDefinition>>,
    /// Trajectories of sub-agents.
    pub children: Vec<Trajectory>,
    /// Outcome of the run according to the source (`success`, `error_max_turns`, an exit status).
    pub outcome: Option<Text>,
    /// Whether the source says that the run succeeded, in a reward, a score or a flag;
    /// see [`Trajectory::declared_outcome`].
    pub declared: Option<RunDeclaration>,
    /// Statements of the source about the run as a whole.
    pub stated: Stated,
    /// Whether the run of this sub-agent was read from records of its parent, because it has no
    /// file of its own. Counts of the parent's file exclude it.
    pub relayed: bool,
    /// Facts that the source did not record.
    pub fidelity: Fidelity,
    /// Known gaps of the trace, or of the run.
    pub completeness: Completeness,
}

/// Sums and answers that a source states in addition to the events. Graders of other systems
/// read these, so they are kept as written.
#[derive(Debug, Clone, Default)]
pub struct Stated {
    /// Final answer.
    pub output: Option<Payload>,
    /// Number of calls.
    pub calls: Option<u64>,
    /// Number of model responses (which some sources call turns).
    pub responses: Option<u64>,
    /// Number of errors.
    pub errors: Option<u64>,
    /// Duration of the run.
    pub duration: Option<SignedDuration>,
    /// Current location of the run's files, if any: `local`, `materialized`, `remote`.
    pub workspace: Option<Text>,
    /// Location of the run's artifacts.
    pub artifacts: Option<Text>,
    /// Changes in the workspace, as a unified diff.
    pub diff: Option<Payload>,
    /// Row from which the run was read, if runs are rows of a dataset.
    pub row: Option<Payload>,
    /// Calls and answers that the task expects.
    pub expected: Option<TaskExpectation>,
}

/// Calls and answers that a task expects of the agent. An empty list of calls says that nothing
/// is to be changed.
#[derive(Debug, Clone, Default)]
pub struct TaskExpectation {
    /// Calls.
    pub calls: Vec<ExpectedCall>,
    /// Values that a message to the user must contain.
    pub answers: Vec<Text>,
}

/// A call that a task expects of the agent.
#[derive(Debug, Clone)]
pub struct ExpectedCall {
    /// Name of the tool.
    pub name: Text,
    /// Arguments.
    pub args: Payload,
    /// Names of the arguments to compare; all if there is no such list.
    pub compared: Option<Vec<Text>>,
    /// Source position.
    pub at: At,
}

impl Stated {
    /// Returns whether the source states no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self {
            output,
            calls,
            responses,
            errors,
            duration,
            workspace,
            artifacts,
            diff,
            row,
            expected,
        } = self;
        output.is_none()
            && expected.is_none()
            && calls.or(*responses).or(*errors).is_none()
            && duration.is_none()
            && workspace.is_none()
            && artifacts.is_none()
            && diff.is_none()
            && row.is_none()
    }
}

/// The agent of a run.
#[derive(Debug, Clone, Default)]
pub struct Agent {
    /// Product or role: `claude-code`, `codex`, the name of a sub-agent.
    pub name: Option<Text>,
    /// Version of the agent.
    pub version: Option<Text>,
    /// Model, or the first of several.
    pub model: Option<Text>,
}

/// Link from a sub-agent's trajectory to the call that started it.
#[derive(Debug, Clone)]
pub struct Parent {
    /// ID of the parent's trajectory.
    pub trajectory: Option<Text>,
    /// ID of the call that started the sub-agent.
    pub call: Option<Text>,
}

/// A change of the working directory.
#[derive(Debug, Clone)]
pub struct Move {
    /// First call in the new directory, as an index into [`Trajectory::calls`].
    pub call: usize,
    /// New directory.
    pub to: Text,
}

/// A model response.
#[derive(Debug, Clone)]
pub struct Step {
    /// Response ID.
    pub id: Option<Text>,
    /// Model that answered.
    pub model: Option<Text>,
    /// Time of the response.
    pub time: Option<Timestamp>,
    /// Token usage of the response.
    pub usage: Option<Usage>,
    /// User turn of the response, from 1; 0 before the first.
    pub turn: u32,
    /// Whether the response is complete. False if the source marks the end of every response and
    /// this one has no mark: it was cut off.
    pub complete: bool,
    /// Source position of its start.
    pub at: At,
}

/// An event of a run.
#[derive(Debug, Clone)]
pub struct Event {
    /// Kind of event.
    pub kind: EventKind,
    /// Text of the event.
    pub text: Option<Payload>,
    /// The source's own label, if it is more specific than the kind: the type of a system event,
    /// [`Event::INJECTED`].
    pub label: Option<Text>,
    /// Time of the event.
    pub time: Option<Timestamp>,
    /// Step of the event.
    pub step: Option<u32>,
    /// Source position.
    pub at: At,
}

impl Event {
    /// Label of a user message whose text shows that the host wrote it, in a source that does not
    /// mark it.
    pub const INJECTED: &str = "injected";

    /// Returns whether a user turn starts with this event.
    #[must_use]
    pub fn starts_turn(&self) -> bool {
        self.kind == EventKind::User && self.label.as_ref().is_none_or(|l| l != Self::INJECTED)
    }

    /// Returns whether the event is of an unknown kind and may be what the model said or called: it
    /// is a part of a response, or a message of an unknown author.
    pub(super) fn may_be_of_model(&self) -> bool {
        let EventKind::Unknown(kind) = &self.kind else { return false };
        let kind = kind.get();
        let has_author = kind.starts_with("role/") || kind.starts_with("message");
        let is_response = (kind.contains("assistant") || kind.contains("response"))
            && !kind.to_ascii_lowercase().contains("delta");
        has_author || is_response || self.may_be_call()
    }

    /// Returns whether the event is of an unknown kind and may be a call.
    fn may_be_call(&self) -> bool {
        let EventKind::Unknown(kind) = &self.kind else { return false };
        self.step.is_some() || names_call(&kind.get())
    }
}

/// Returns whether the name of an unknown kind or key suggests a tool call.
pub(crate) fn names_call(word: &str) -> bool {
    const SIGNS: [&str; 10] = [
        "toolcall",
        "tooluse",
        "toolexec",
        "toolinvo",
        "toolrequest",
        "toolstart",
        "functioncall",
        "commandexec",
        "execcommand",
        "executetool",
    ];
    // Nearly every word is none, which must be cheap to see.
    if !["ool", "OOL", "unction", "UNCTION", "xec", "XEC"].iter().any(|part| word.contains(part)) {
        return false;
    }
    // Words of traces are short; a long one is not the name of anything.
    let letters = word.bytes().take(64).filter(u8::is_ascii_alphanumeric);
    let letters: String = letters.map(|b| char::from(b.to_ascii_lowercase())).collect();
    SIGNS.iter().any(|sign| letters.contains(sign))
}

/// The kinds of [`Event`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// A user message that starts a turn.
    User,
    /// Text given to the model that was not typed by a user: system prompt, injected context.
    Context,
    /// Text of the model.
    Message,
    /// Reasoning of the model.
    Reasoning,
    /// A tool call, by index.
    Call(u32),
    /// The result of a call, by index.
    Result(u32),
    /// A result without a call.
    OrphanResult,
    /// Activation of a skill.
    Skill,
    /// Compaction of the context.
    Compaction,
    /// An error reported by the agent or the API that is not the result of a call.
    Error,
    /// A record of a kind that this version does not know; kept and counted.
    Unknown(Text),
    /// A known record that contains nothing about the run.
    Note(Text),
}

impl EventKind {
    /// Returns the word used in every output.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Context => "context",
            Self::Message => "message",
            Self::Reasoning => "reasoning",
            Self::Call(_) => "call",
            Self::Result(_) => "result",
            Self::OrphanResult => "orphan_result",
            Self::Skill => "skill",
            Self::Compaction => "compaction",
            Self::Error => "error",
            Self::Unknown(_) => "unknown",
            Self::Note(_) => "note",
        }
    }
}

/// A tool offered to the model.
#[derive(Debug, Clone)]
pub struct ToolDefinition {
    /// Tool name.
    pub name: Text,
    /// Description of the tool.
    pub description: Option<Text>,
    /// JSON Schema of the arguments.
    pub schema: Option<Payload>,
}

impl Trajectory {
    /// Creates an empty run.
    #[must_use]
    pub(crate) fn empty(
        format: &'static str,
        file: std::sync::Arc<str>,
        fidelity: Fidelity,
    ) -> Self {
        Self {
            format,
            file,
            id: None,
            name: None,
            agent: Agent::default(),
            parent: None,
            cwd: None,
            moves: Vec::new(),
            moves_recorded: false,
            started: None,
            ended: None,
            events: Vec::new(),
            calls: Vec::new(),
            steps: Vec::new(),
            user_turns: 0,
            orphans: 0,
            failed_orphans: 0,
            repeated_results: 0,
            usage: None,
            cost: None,
            tools: None,
            children: Vec::new(),
            outcome: None,
            declared: None,
            stated: Stated::default(),
            relayed: false,
            fidelity,
            completeness: Completeness::default(),
        }
    }

    /// Returns the calls of one step.
    pub fn calls_of(&self, step: u32) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(move |c| c.step == Some(step))
    }

    /// Returns the sub-agents by the call that started each, and those without a known call.
    #[must_use]
    pub fn children_by_call(&self) -> (HashMap<u32, Vec<&Self>>, Vec<&Self>) {
        let mut placed: HashMap<u32, Vec<&Self>> = HashMap::new();
        let mut strays = Vec::new();
        if self.children.is_empty() {
            return (placed, strays);
        }
        let mut by_id: HashMap<String, u32> = HashMap::new();
        for (index, call) in self.calls.iter().enumerate() {
            for id in call.spawned.iter().chain(&call.id) {
                by_id.entry(id.get().into_owned()).or_insert(index as u32);
            }
        }
        for child in &self.children {
            let named = child.id.iter().chain(child.parent.iter().flat_map(|p| &p.call));
            let by_name = named.filter_map(|id| by_id.get(&*id.get())).next().copied();
            let by_time = || {
                let start = child.started?;
                let before = |c: &Call| c.started.is_some_and(|t| t <= start);
                self.calls.iter().rposition(before).map(|i| i as u32)
            };
            match by_name.or_else(by_time) {
                Some(call) => placed.entry(call).or_default().push(child),
                None => strays.push(child),
            }
        }
        (placed, strays)
    }

    /// Returns this trajectory and all its sub-agents' trajectories, parents first.
    #[must_use]
    pub fn flatten(&self) -> Vec<&Self> {
        let mut all = vec![self];
        let mut at = 0;
        while let Some(trajectory) = all.get(at).copied() {
            all.extend(&trajectory.children);
            at += 1;
        }
        all
    }

    /// Returns the number of records of unknown kinds.
    #[must_use]
    pub fn unknown_records(&self) -> usize {
        self.events.iter().filter(|e| matches!(e.kind, EventKind::Unknown(_))).count()
    }

    /// Returns whether there are records of the agent's actions, but none was understood.
    #[must_use]
    pub fn is_not_understood(&self) -> bool {
        let is_of_agent = |e: &Event| {
            !matches!(
                e.kind,
                EventKind::User | EventKind::Context | EventKind::Unknown(_) | EventKind::Note(_)
            )
        };
        self.calls.is_empty() && self.unknown_records() > 0 && !self.events.iter().any(is_of_agent)
    }

    /// Whether the model answered at all, as far as such a source can say so.
    pub(super) fn has_response(&self) -> bool {
        let is_of_model = |event: &Event| {
            matches!(
                event.kind,
                EventKind::Message | EventKind::Reasoning | EventKind::Call(_) | EventKind::Skill
            )
        };
        let stated = &self.stated;
        !self.steps.is_empty()
            || !self.calls.is_empty()
            || stated.output.is_some()
            || stated.responses.or(stated.calls).is_some_and(|count| count > 0)
            || self.events.iter().any(is_of_model)
    }

    /// Returns how completely the calls of this run are recorded. Sub-agents must be checked
    /// separately ([`Trajectory::flatten`]).
    ///
    /// The source may not record calls ([`Fact::Calls`]) or state that there were
    /// more; a record that cannot be read, a result without its call, a part of a response that is not
    /// understood and an unknown record that names a tool may each be a call.
    /// Other unknown records are not: every agent adds kinds of them all the time.
    /// Where no call is there but one may have been, nothing can be said about any.
    #[must_use]
    pub fn calls_recorded(&self) -> RecordedCalls {
        let lacks = self.fidelity.lacks(Fact::Calls)
            || self.lost_records().is_some()
            || self.orphans > 0
            || self.events.iter().any(Event::may_be_call);
        if self.calls.is_empty() {
            let some_made = self.stated.calls.is_some_and(|stated| stated > 0);
            return match lacks || some_made || self.is_not_understood() {
                true => RecordedCalls::Not,
                false => RecordedCalls::Fully,
            };
        }
        match lacks {
            true => RecordedCalls::Partly,
            false => RecordedCalls::Fully,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RecordedCalls;
    use crate::testing::read_text;

    #[test]
    fn unrecorded_calls_are_not_zero_calls() {
        let claude = |lines: &[&str]| {
            let head = r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"content":"go"}}"#;
            format!("{head}\n{}\n", lines.join("\n"))
        };
        let said = r#"{"type":"assistant","uuid":"a","parentUuid":"u","sessionId":"s","message":{"id":"m","content":[{"type":"text","text":"hi"}]}}"#;
        let called = r#"{"type":"assistant","uuid":"f","parentUuid":"u","sessionId":"s","message":{"id":"n","content":[{"type":"tool_use","id":"t","name":"Read","input":{}}]}}"#;
        let odd_block = r#"{"type":"assistant","uuid":"b","parentUuid":"u","sessionId":"s","message":{"id":"m","content":[{"type":"brand_new"}]}}"#;
        let odd_line = r#"{"type":"brand-new","uuid":"c","parentUuid":"u","sessionId":"s"}"#;
        let odd_tool =
            r#"{"type":"tool_call.brand-new","uuid":"d","parentUuid":"u","sessionId":"s"}"#;
        let orphan = r#"{"type":"user","uuid":"e","parentUuid":"u","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"x","content":"?"}]}}"#;
        for (lines, expected, unknown) in [
            (&[][..], RecordedCalls::Fully, 0),
            (&[said], RecordedCalls::Fully, 0),
            (&[said, odd_line], RecordedCalls::Fully, 1),
            (&[odd_line, odd_line], RecordedCalls::Not, 1),
            // Calls that may have been made, and none that is there.
            (&[said, odd_tool], RecordedCalls::Not, 1),
            (&[said, odd_block], RecordedCalls::Not, 1),
            (&[said, orphan], RecordedCalls::Not, 0),
            (&[called, odd_tool], RecordedCalls::Partly, 1),
            (&[called, orphan], RecordedCalls::Partly, 0),
            (&[called, odd_line], RecordedCalls::Fully, 1),
        ] {
            let read = read_text(&claude(lines));
            let run = &read.runs[0];
            assert_eq!(run.calls_recorded(), expected, "{lines:?}");
            assert_eq!(run.unknown_records(), unknown, "{lines:?}");
            assert_eq!(read.messages.len(), usize::from(run.is_not_understood()), "{lines:?}");
        }
    }

    #[test]
    fn sources_without_calls_say_so() {
        for (text, expected) in [
            // A row of AgentV's index, with and without what the agent did.
            (r#"{"test_id":"a","target":"t","score":1}"#, RecordedCalls::Not),
            (r#"{"test_id":"a","target":"t","score":1,"output":"done"}"#, RecordedCalls::Not),
            (
                r#"{"test_id":"a","target":"t","score":1,"output":[{"role":"assistant","content":"done"}]}"#,
                RecordedCalls::Fully,
            ),
            // A trial of Vally, without events and with none.
            (
                r#"{"trajectory":{"stimulus":{"name":"n"},"output":"x"},"gradeResult":{}}"#,
                RecordedCalls::Not,
            ),
            (
                r#"{"trajectory":{"stimulus":{"name":"n"},"events":[]},"gradeResult":{}}"#,
                RecordedCalls::Fully,
            ),
            // `claude -p --output-format json` prints only the end.
            (
                r#"{"type":"result","subtype":"success","result":"done","num_turns":4,"total_cost_usd":0.1,"session_id":"s"}"#,
                RecordedCalls::Not,
            ),
            // Spans of a web server.
            (
                r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"aa","spanId":"bb","name":"GET /"}]}]}]}"#,
                RecordedCalls::Not,
            ),
        ] {
            let read = read_text(text);
            assert_eq!(read.runs[0].calls_recorded(), expected, "{text}");
        }
    }
}
