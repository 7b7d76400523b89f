//! A run as JSON, for programs.

use serde::Serialize;
use toolmark_trace::{
    Actor, At, Call, Event, EventKind, Fidelity, Level, Normalised, Payload, Status, Step, Text,
    Tokens, Trajectory, Usage,
};

/// A run as a value that serialises to JSON.
pub(crate) fn run(run: &Trajectory) -> impl Serialize + '_ {
    Run::new(run, 0)
}

/// Sub-agents inside sub-agents are written down to here.
const DEEPEST: usize = 64;

#[derive(Serialize)]
struct Run<'r> {
    format: &'static str,
    file: &'r str,
    id: Option<&'r Text>,
    name: Option<&'r Text>,
    agent: Agent<'r>,
    parent: Option<Parent<'r>>,
    cwd: Option<&'r Text>,
    started: Option<String>,
    ended: Option<String>,
    outcome: Option<&'r Text>,
    user_turns: u32,
    orphans: u32,
    usage: Option<Used>,
    cost_usd: Option<f64>,
    fidelity_gaps: Fidelity,
    steps: Vec<StepView<'r>>,
    calls: Vec<CallView<'r>>,
    events: Vec<EventView<'r>>,
    sub_agents: Vec<Run<'r>>,
}

#[derive(Serialize)]
struct Agent<'r> {
    name: Option<&'r Text>,
    version: Option<&'r Text>,
    model: Option<&'r Text>,
}

#[derive(Serialize)]
struct Parent<'r> {
    id: Option<&'r Text>,
    call: Option<&'r Text>,
}

/// Token usage as recorded, and in one meaning for all formats.
#[derive(Serialize)]
struct Used {
    recorded: Tokens,
    normalised: Normalised,
    total: u64,
}

#[derive(Serialize)]
struct StepView<'r> {
    step: usize,
    id: Option<&'r Text>,
    turn: u32,
    model: Option<&'r Text>,
    time: Option<String>,
    usage: Option<Used>,
    line: u32,
}

#[derive(Serialize)]
struct CallView<'r> {
    call: usize,
    id: Option<&'r Text>,
    step: Option<u32>,
    tool: String,
    args: Option<&'r Payload>,
    status: Status,
    level: Level,
    exit_code: Option<i64>,
    started: Option<String>,
    duration_ms: Option<f64>,
    actor: Actor,
    agent: Option<&'r Text>,
    spawned: Option<&'r Text>,
    result: Option<&'r Payload>,
    line: u32,
}

#[derive(Serialize)]
struct EventView<'r> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<&'r Text>,
    step: Option<u32>,
    time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'r Payload>,
    line: u32,
}

impl<'r> Run<'r> {
    fn new(run: &'r Trajectory, depth: usize) -> Self {
        let inside = if depth < DEEPEST { run.children.as_slice() } else { &[] };
        Self {
            format: run.format,
            file: &run.file,
            id: run.id.as_ref(),
            name: run.name.as_ref(),
            agent: Agent {
                name: run.agent.name.as_ref(),
                version: run.agent.version.as_ref(),
                model: run.agent.model.as_ref(),
            },
            parent: run
                .parent
                .as_ref()
                .map(|p| Parent { id: p.trajectory.as_ref(), call: p.call.as_ref() }),
            cwd: run.cwd.as_ref(),
            started: run.started.map(|t| t.to_string()),
            ended: run.ended.map(|t| t.to_string()),
            outcome: run.outcome.as_ref(),
            user_turns: run.user_turns,
            orphans: run.orphans,
            usage: run.usage.as_ref().map(Used::new),
            cost_usd: run.cost.map(|c| c.usd()),
            fidelity_gaps: run.fidelity,
            steps: run.steps.iter().enumerate().map(|(i, s)| StepView::new(i, s)).collect(),
            calls: run.calls.iter().enumerate().map(|(i, c)| CallView::new(i, c)).collect(),
            events: run.events.iter().map(EventView::new).collect(),
            sub_agents: inside.iter().map(|child| Run::new(child, depth + 1)).collect(),
        }
    }
}

impl Used {
    fn new(usage: &Usage) -> Self {
        Self { recorded: usage.recorded, normalised: usage.normalised(), total: usage.total() }
    }
}

impl<'r> StepView<'r> {
    fn new(index: usize, step: &'r Step) -> Self {
        Self {
            step: index + 1,
            id: step.id.as_ref(),
            turn: step.turn,
            model: step.model.as_ref(),
            time: step.time.map(|t| t.to_string()),
            usage: step.usage.as_ref().map(Used::new),
            line: line(&step.at),
        }
    }
}

impl<'r> CallView<'r> {
    fn new(index: usize, call: &'r Call) -> Self {
        Self {
            call: index + 1,
            id: call.id.as_ref(),
            step: call.step.map(|s| s + 1),
            tool: call.name.full().into_owned(),
            args: call.args.as_ref(),
            status: call.status,
            level: call.level,
            exit_code: call.exit_code,
            started: call.started.map(|t| t.to_string()),
            duration_ms: call.duration.map(|d| d.as_nanos() as f64 / 1e6),
            actor: call.actor,
            agent: call.agent.as_ref(),
            spawned: call.spawned.as_ref(),
            result: call.result.as_ref().and_then(|r| r.payload.as_ref()),
            line: line(&call.at),
        }
    }
}

impl<'r> EventView<'r> {
    fn new(event: &'r Event) -> Self {
        let (kind, call, record) = match &event.kind {
            EventKind::User => ("user", None, None),
            EventKind::Context => ("context", None, None),
            EventKind::Message => ("message", None, None),
            EventKind::Reasoning => ("reasoning", None, None),
            EventKind::Call(i) => ("call", Some(i + 1), None),
            EventKind::Result(i) => ("result", Some(i + 1), None),
            EventKind::OrphanResult => ("orphan_result", None, None),
            EventKind::Skill => ("skill", None, None),
            EventKind::Compaction => ("compaction", None, None),
            EventKind::Error => ("error", None, None),
            EventKind::Unknown(kind) => ("unknown", None, Some(kind)),
            EventKind::Note(kind) => ("note", None, Some(kind)),
        };
        Self {
            kind,
            call,
            record,
            step: event.step.map(|s| s + 1),
            time: event.time.map(|t| t.to_string()),
            text: event.text.as_ref(),
            line: line(&event.at),
        }
    }
}

fn line(at: &At) -> u32 {
    at.location().line
}
