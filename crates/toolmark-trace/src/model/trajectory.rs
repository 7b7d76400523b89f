//! One run of one agent.

use super::{At, Call, Cost, Fact, Fidelity, Payload, Recorded, Text, Usage};
use jiff::{SignedDuration, Timestamp};
use std::collections::HashMap;

/// Sub-agents are nested no deeper than this: readers put deeper ones beside
/// their parents, so that a tree can be walked recursively, and so
/// that parsers of other tools do not give up on what is written.
pub(crate) const MAX_DEPTH: usize = 24;

/// One run of one agent, in the order it happened.
#[derive(Debug, Clone)]
pub struct Trajectory {
    /// Id of the reader's format, such as `claude-code`.
    pub format: &'static str,
    /// The file it was read from, as it was named on input.
    pub file: std::sync::Arc<str>,
    /// The run's own id (session, thread, sample).
    pub id: Option<Text>,
    /// A name a person would use: title, test case, stimulus.
    pub name: Option<Text>,
    /// The agent.
    pub agent: Agent,
    /// The call of another trajectory that started this one.
    pub parent: Option<Parent>,
    /// Working directory.
    pub cwd: Option<Text>,
    /// Where the working directory became another, where the source says so.
    pub moves: Vec<Move>,
    /// First time seen.
    pub started: Option<Timestamp>,
    /// Last time seen.
    pub ended: Option<Timestamp>,
    /// Everything that happened, in order.
    pub events: Vec<Event>,
    /// The tool calls, in order.
    pub calls: Vec<Call>,
    /// The model responses, in order.
    pub steps: Vec<Step>,
    /// How many user messages there were that a person (or a simulated one) wrote.
    pub user_turns: u32,
    /// Results that answer no call of this trajectory.
    pub orphans: u32,
    /// How many of them report an error.
    pub failed_orphans: u32,
    /// Results that repeat one already seen.
    pub repeated_results: u32,
    /// Token usage of the run, sub-agents left out.
    pub usage: Option<Usage>,
    /// Money spent, where recorded.
    pub cost: Option<Cost>,
    /// The tools that were offered, where recorded.
    pub tools: Option<Vec<ToolDefinition>>,
    /// Trajectories of sub-agents.
    pub children: Vec<Trajectory>,
    /// How the source says the run ended (`success`, `error_max_turns`, an exit status).
    pub outcome: Option<Text>,
    /// What the source itself says about the run as a whole.
    pub stated: Stated,
    /// Was the run of this sub-agent read from records of its parent that report
    /// on it, for want of its own file? Counts of the parent's file leave it out.
    pub relayed: bool,
    /// What the source did not record.
    pub fidelity: Fidelity,
}

/// Sums and answers a source states beside the events they could be made of.
/// Graders of other systems read these, so they are kept as written.
#[derive(Debug, Clone, Default)]
pub struct Stated {
    /// The final answer.
    pub output: Option<Payload>,
    /// How many calls.
    pub calls: Option<u64>,
    /// How many model responses (what some call turns).
    pub responses: Option<u64>,
    /// How many errors.
    pub errors: Option<u64>,
    /// How long it took.
    pub duration: Option<SignedDuration>,
    /// Where the files of the run are now, if anywhere: `local`, `materialized`, `remote`.
    pub workspace: Option<Text>,
    /// Where its artifacts were kept.
    pub artifacts: Option<Text>,
    /// What changed in the workspace, as a unified diff.
    pub diff: Option<Payload>,
    /// The row the run was read from, where runs come as rows of a dataset.
    pub row: Option<Payload>,
}

impl Stated {
    /// Does the source state nothing?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { output, calls, responses, errors, duration, workspace, artifacts, diff, row } =
            self;
        output.is_none()
            && calls.or(*responses).or(*errors).is_none()
            && duration.is_none()
            && workspace.is_none()
            && artifacts.is_none()
            && diff.is_none()
            && row.is_none()
    }
}

/// The agent.
#[derive(Debug, Clone, Default)]
pub struct Agent {
    /// Product or role: `claude-code`, `codex`, the name of a sub-agent.
    pub name: Option<Text>,
    /// Its version.
    pub version: Option<Text>,
    /// The (first) model.
    pub model: Option<Text>,
}

/// The link from a sub-agent's trajectory to what started it.
#[derive(Debug, Clone)]
pub struct Parent {
    /// The id of the parent's trajectory.
    pub trajectory: Option<Text>,
    /// The id of the call that started it.
    pub call: Option<Text>,
}

/// A change of the working directory.
#[derive(Debug, Clone)]
pub struct Move {
    /// The first call, as an index into [`Trajectory::calls`], that starts there.
    pub call: usize,
    /// The directory.
    pub to: Text,
}

/// One model response.
#[derive(Debug, Clone)]
pub struct Step {
    /// The response's id.
    pub id: Option<Text>,
    /// The model that answered.
    pub model: Option<Text>,
    /// When.
    pub time: Option<Timestamp>,
    /// Its own token usage.
    pub usage: Option<Usage>,
    /// The user turn it belongs to, from 1; 0 before the first.
    pub turn: u32,
    /// Is it complete? False where the source marks the end of every
    /// response and this one has no mark: it was cut off.
    pub complete: bool,
    /// Where it starts in the trace.
    pub at: At,
}

/// Something that happened.
#[derive(Debug, Clone)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// Its words, where it has any.
    pub text: Option<Payload>,
    /// The source's own word for it, where that says more than the kind: the
    /// type of a system event, [`Event::INJECTED`].
    pub label: Option<Text>,
    /// When.
    pub time: Option<Timestamp>,
    /// The step it belongs to.
    pub step: Option<u32>,
    /// Where it is in the trace.
    pub at: At,
}

impl Event {
    /// The label of a user message whose words show that the host put it there,
    /// in a source that does not mark it.
    pub const INJECTED: &str = "injected";

    /// Does a turn of the user start here?
    #[must_use]
    pub fn starts_turn(&self) -> bool {
        self.kind == EventKind::User && self.label.as_ref().is_none_or(|l| l != Self::INJECTED)
    }

    /// Is this something unknown that may be a call?
    fn may_be_call(&self) -> bool {
        let EventKind::Unknown(kind) = &self.kind else { return false };
        self.step.is_some() || names_call(&kind.get())
    }
}

/// Does a kind or a key that is not known sound like a call of a tool?
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
    /// A message of the user that starts a turn.
    User,
    /// Text given to the model that nobody typed: system prompt, injected context.
    Context,
    /// The model's words.
    Message,
    /// The model's reasoning.
    Reasoning,
    /// A tool call, by index.
    Call(u32),
    /// The result of a call, by index.
    Result(u32),
    /// A result that answers no call.
    OrphanResult,
    /// A skill was activated.
    Skill,
    /// The context was compacted.
    Compaction,
    /// The agent or the API reported an error that is not the result of a call.
    Error,
    /// A record this version does not know, by its kind; kept and counted.
    Unknown(Text),
    /// A record that is known and says nothing about the run.
    Note(Text),
}

impl EventKind {
    /// The word used in every output.
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

/// A tool that was offered to the model.
#[derive(Debug, Clone)]
pub struct ToolDefinition {
    /// Its name.
    pub name: Text,
    /// Its description.
    pub description: Option<Text>,
    /// The JSON Schema of its arguments.
    pub schema: Option<Payload>,
}

impl Trajectory {
    /// A run of which nothing is known yet.
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
            stated: Stated::default(),
            relayed: false,
            fidelity,
        }
    }

    /// The calls of one step.
    pub fn calls_of(&self, step: u32) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(move |c| c.step == Some(step))
    }

    /// The sub-agents by the call that started each, and those that no call is known
    /// to have started.
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

    /// This trajectory and all its sub-agents', parents first.
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

    /// How many records were of an unknown kind: read, counted, not understood.
    #[must_use]
    pub fn unknown_records(&self) -> usize {
        self.events.iter().filter(|e| matches!(e.kind, EventKind::Unknown(_))).count()
    }

    /// Did nothing the agent did make sense, though there are records of it?
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

    /// Are the calls of this run in the trace? Those of its sub-agents are asked
    /// for one by one ([`Trajectory::flatten`]).
    ///
    /// The source may not record calls ([`Fact::Calls`]) or state that there were
    /// more; a result without its call, a part of a response that is not
    /// understood and an unknown record that names a tool may each be a call.
    /// Other unknown records are not: every agent adds kinds of them all the time.
    /// Where no call is there but one may have been, nothing can be said about any.
    #[must_use]
    pub fn calls_recorded(&self) -> Recorded {
        let lacks = self.fidelity.lacks(Fact::Calls)
            || self.orphans > 0
            || self.events.iter().any(Event::may_be_call);
        if self.calls.is_empty() {
            let some_made = self.stated.calls.is_some_and(|stated| stated > 0);
            return match lacks || some_made || self.is_not_understood() {
                true => Recorded::Not,
                false => Recorded::Fully,
            };
        }
        match lacks {
            true => Recorded::Partly,
            false => Recorded::Fully,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Recorded;
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
            (&[][..], Recorded::Fully, 0),
            (&[said], Recorded::Fully, 0),
            (&[said, odd_line], Recorded::Fully, 1),
            (&[odd_line, odd_line], Recorded::Not, 1),
            // Calls that may have been made, and none that is there.
            (&[said, odd_tool], Recorded::Not, 1),
            (&[said, odd_block], Recorded::Not, 1),
            (&[said, orphan], Recorded::Not, 0),
            (&[called, odd_tool], Recorded::Partly, 1),
            (&[called, orphan], Recorded::Partly, 0),
            (&[called, odd_line], Recorded::Fully, 1),
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
            (r#"{"test_id":"a","target":"t","score":1}"#, Recorded::Not),
            (r#"{"test_id":"a","target":"t","score":1,"output":"done"}"#, Recorded::Not),
            (
                r#"{"test_id":"a","target":"t","score":1,"output":[{"role":"assistant","content":"done"}]}"#,
                Recorded::Fully,
            ),
            // A trial of Vally, without events and with none.
            (
                r#"{"trajectory":{"stimulus":{"name":"n"},"output":"x"},"gradeResult":{}}"#,
                Recorded::Not,
            ),
            (
                r#"{"trajectory":{"stimulus":{"name":"n"},"events":[]},"gradeResult":{}}"#,
                Recorded::Fully,
            ),
            // `claude -p --output-format json` prints only the end.
            (
                r#"{"type":"result","subtype":"success","result":"done","num_turns":4,"total_cost_usd":0.1,"session_id":"s"}"#,
                Recorded::Not,
            ),
            // Spans of a web server.
            (
                r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"aa","spanId":"bb","name":"GET /"}]}]}]}"#,
                Recorded::Not,
            ),
        ] {
            let read = read_text(text);
            assert_eq!(read.runs[0].calls_recorded(), expected, "{text}");
        }
    }
}
