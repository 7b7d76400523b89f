//! Vally outcomes: one line per trajectory, `{status, trajectory, gradeResult}`, ready for
//! `vally grade`.
//!
//! Vally stores a flat list of events, so nearly all events can be represented: a step is a
//! `turn_start`, its token usage and a `turn_end`; events without a Vally equivalent are
//! `custom` events. A result must state whether it was successful: if that is unknown, it is
//! written as a success, as in Vally's own converters, and counted as lost.

use super::json::JsonMembers;
use super::shared::{Argument, call_id, words};
use super::{ExportInfo, Exporter, Losses, TrajectoryPart};
use crate::model::{
    Call, Event, EventKind, Normalised, Payload, Status, Step, Text, Trajectory, Usage,
};
use jiff::Timestamp;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

/// Vally outcomes.
pub(super) struct VallyExporter;

static INFO: ExportInfo = ExportInfo {
    id: "vally",
    title: "Vally outcome",
    extension: "jsonl",
    lacks: &[
        TrajectoryPart::Status(Status::Unknown),
        TrajectoryPart::Status(Status::Denied),
        TrajectoryPart::Status(Status::Interrupted),
        TrajectoryPart::Levels,
        TrajectoryPart::ExitCodes,
        TrajectoryPart::SubAgents,
        TrajectoryPart::Actors,
        TrajectoryPart::CallAgents,
        TrajectoryPart::Spawned,
        TrajectoryPart::Namespaces,
        TrajectoryPart::AbsentCallIds,
        TrajectoryPart::AbsentUsage,
        TrajectoryPart::UnansweredStatus,
        TrajectoryPart::StatedDurations,
        TrajectoryPart::ReasoningTokens,
        TrajectoryPart::Convention,
        TrajectoryPart::Cost,
        TrajectoryPart::ToolDefinitions,
        TrajectoryPart::Parent,
        TrajectoryPart::RepeatedResults,
        TrajectoryPart::Positions,
        TrajectoryPart::Declared,
    ],
};

impl Exporter for VallyExporter {
    fn info(&self) -> &'static ExportInfo {
        &INFO
    }

    fn export(&self, run: &Trajectory, out: &mut dyn io::Write) -> io::Result<Losses> {
        let mut losses = Losses::of(run, INFO.lacks);
        let models_without_tokens =
            run.steps.iter().filter(|s| s.model.is_some() && s.usage.is_none()).count();
        losses.add(TrajectoryPart::StepModels, models_without_tokens);
        JsonMembers::line(out, |w| {
            w.put("status", "success")?;
            w.object("trajectory", |w| trajectory(w, run, &mut losses))?;
            w.put("gradeResult", &())
        })?;
        Ok(losses)
    }
}

fn trajectory(w: &mut JsonMembers<'_>, run: &Trajectory, losses: &mut Losses) -> io::Result<()> {
    // The prompt and the output repeat events: what they lose is counted there.
    let mut uncounted = Losses::default();
    let said = |kind: EventKind| run.events.iter().filter(move |e| e.kind == kind);
    let prompt = said(EventKind::User).find_map(|e| e.text.as_ref());
    let last = said(EventKind::Message).filter_map(|e| e.text.as_ref()).next_back();
    let output = run.stated.output.as_ref().or(last);
    let id = run.id.as_ref().or(run.name.as_ref());
    let name = run.name.as_ref().or(run.id.as_ref());
    w.put("id", &id.map_or(Cow::Borrowed(&*run.file), Text::get))?;
    w.object("stimulus", |w| {
        w.put("name", &name.map_or(Cow::Borrowed(&*run.file), Text::get))?;
        w.put("prompt", &prompt.map(|p| words(p, &mut uncounted)).unwrap_or_default())
    })?;
    w.array("events", lines(run), |w, line| line.write(w, run, losses))?;
    w.put("output", &output.map(|o| words(o, &mut uncounted)).unwrap_or_default())?;
    w.object("metrics", |w| metrics(w, run))?;
    w.opt("workDir", run.cwd.as_ref())?;
    w.opt("workspaceStatus", run.stated.workspace.as_ref())?;
    w.opt("artifactDir", run.stated.artifacts.as_ref())?;
    w.opt("workspaceDiff", run.stated.diff.as_ref().map(Payload::raw))?;
    w.object("metadata", |w| metadata(w, run))
}

/// A Vally event.
enum VallyLine<'a> {
    TurnStart(usize, &'a Step),
    TokenUsage(&'a Step, &'a Usage),
    TurnEnd(usize, &'a Step, Option<Timestamp>),
    Event(&'a Event),
}

/// Returns the events with the bounds of steps between them. A step starts with its first
/// event and ends where another step or the user starts.
fn lines(run: &Trajectory) -> Vec<VallyLine<'_>> {
    let mut lines = Vec::with_capacity(run.events.len() + 3 * run.steps.len());
    let mut open: Option<usize> = None;
    let mut next = 0;
    let mut now = None;
    for event in &run.events {
        let step = event.step.map(|s| s as usize).filter(|s| *s < run.steps.len());
        // Steps open in their order; a later event of an earlier one opens none.
        let starts = step.is_some_and(|s| s >= next);
        if starts || event.kind == EventKind::User {
            close(run, &mut lines, open.take(), now);
        }
        if let Some(step) = step.filter(|_| starts) {
            for step in next..=step {
                close(run, &mut lines, open.take(), now);
                begin(run, &mut lines, step);
                open = Some(step);
            }
            next = step + 1;
        }
        now = event.time.or(now);
        lines.push(VallyLine::Event(event));
    }
    close(run, &mut lines, open, now);
    for step in next..run.steps.len() {
        begin(run, &mut lines, step);
        close(run, &mut lines, Some(step), run.steps[step].time);
    }
    lines
}

fn begin<'a>(run: &'a Trajectory, lines: &mut Vec<VallyLine<'a>>, index: usize) {
    let Some(step) = run.steps.get(index) else { return };
    lines.push(VallyLine::TurnStart(index, step));
    lines.extend(step.usage.as_ref().map(|usage| VallyLine::TokenUsage(step, usage)));
}

fn close<'a>(
    run: &'a Trajectory,
    lines: &mut Vec<VallyLine<'a>>,
    open: Option<usize>,
    now: Option<Timestamp>,
) {
    let step = open.and_then(|index| Some((index, run.steps.get(index)?)));
    // A response that was cut off has no end.
    let step = step.filter(|(_, step)| step.complete);
    lines.extend(step.map(|(index, step)| VallyLine::TurnEnd(index, step, now)));
}

impl VallyLine<'_> {
    fn write(
        &self,
        w: &mut JsonMembers<'_>,
        run: &Trajectory,
        losses: &mut Losses,
    ) -> io::Result<()> {
        let (kind, time) = match self {
            Self::TurnStart(_, step) => ("turn_start", step.time),
            Self::TokenUsage(step, _) => ("token_usage", step.time),
            Self::TurnEnd(_, step, now) => ("turn_end", now.or(step.time)),
            Self::Event(event) => (event_type(&event.kind), event.time),
        };
        w.put("type", kind)?;
        w.time("timestamp", time)?;
        w.object("data", |w| match self {
            Self::TurnStart(index, step) | Self::TurnEnd(index, step, _) => {
                w.put("turnId", &turn_id(*index, step))
            }
            Self::TokenUsage(step, usage) => {
                let model = step.model.as_ref().or(run.agent.model.as_ref());
                let n = usage.normalised();
                w.put("inputTokens", &input_tokens(&n))?;
                w.put("outputTokens", &n.output)?;
                w.put("model", &model.map(Text::get).unwrap_or_default())?;
                w.put("cacheReadTokens", &n.cache_read)?;
                w.put("cacheWriteTokens", &n.cache_write)
            }
            Self::Event(event) => event_data(w, run, event, losses),
        })
    }
}

fn event_type(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::User => "user_message",
        EventKind::Message => "assistant_message",
        EventKind::Reasoning => "reasoning",
        EventKind::Call(_) => "tool_call",
        EventKind::Result(_) | EventKind::OrphanResult => "tool_result",
        EventKind::Skill => "skill_activation",
        EventKind::Error => "error",
        EventKind::Context | EventKind::Compaction => "system",
        EventKind::Unknown(_) | EventKind::Note(_) => "custom",
    }
}

fn event_data(
    w: &mut JsonMembers<'_>,
    run: &Trajectory,
    event: &Event,
    losses: &mut Losses,
) -> io::Result<()> {
    let call = |index: &u32| run.calls.get(*index as usize).map(|call| (*index as usize, call));
    let text = event.text.as_ref();
    match &event.kind {
        EventKind::Call(index) => {
            call(index).map_or(Ok(()), |(index, call)| call_data(w, run, index, call, losses))
        }
        EventKind::Result(index) => {
            call(index).map_or(Ok(()), |(index, call)| result_data(w, index, call))
        }
        EventKind::OrphanResult => {
            w.put("toolName", "")?;
            w.put("toolCallId", "")?;
            w.put("success", &true)?;
            payload(w, "result", text)
        }
        EventKind::Skill => spoken(w, "name", text, losses),
        EventKind::Error => spoken(w, "message", text, losses),
        EventKind::Context | EventKind::Compaction => {
            let label = event.label.as_ref().map(Text::get);
            w.put("eventType", &label.unwrap_or_else(|| event.kind.word().into()))?;
            spoken(w, "content", text, losses)
        }
        EventKind::Unknown(record) | EventKind::Note(record) => {
            w.put("eventType", record)?;
            w.put("eventKind", event.kind.word())?;
            payload(w, "content", text)
        }
        EventKind::User | EventKind::Message | EventKind::Reasoning => {
            spoken(w, "content", text, losses)
        }
    }
}

fn spoken(
    w: &mut JsonMembers<'_>,
    key: &str,
    text: Option<&Payload>,
    losses: &mut Losses,
) -> io::Result<()> {
    w.put(key, &text.map(|text| words(text, losses)).unwrap_or_default())
}

fn payload(w: &mut JsonMembers<'_>, key: &str, payload: Option<&Payload>) -> io::Result<()> {
    payload.map_or(Ok(()), |payload| w.payload(key, payload))
}

fn call_data(
    w: &mut JsonMembers<'_>,
    run: &Trajectory,
    index: usize,
    call: &Call,
    losses: &mut Losses,
) -> io::Result<()> {
    w.put("toolName", &call.name.full())?;
    w.put("toolCallId", &call_id(call, index))?;
    match call.args.as_ref().map(|args| Argument::of(args, losses)) {
        Some(Argument::Json(json)) => w.raw("arguments", &json)?,
        Some(Argument::Text(text)) => w.put("arguments", &text)?,
        None => {}
    }
    let step = call.step.map(|s| s as usize);
    let step = step.and_then(|index| Some((index, run.steps.get(index)?)));
    w.opt("turnId", step.map(|(index, step)| turn_id(index, step)))
}

fn result_data(w: &mut JsonMembers<'_>, index: usize, call: &Call) -> io::Result<()> {
    w.put("toolName", &call.name.full())?;
    w.put("toolCallId", &call_id(call, index))?;
    w.put("success", &!call.status.is_error())?;
    payload(w, "result", call.result.as_ref().and_then(|r| r.payload.as_ref()))
}

fn turn_id(index: usize, step: &Step) -> Cow<'_, str> {
    step.id.as_ref().map_or_else(|| Cow::Owned(index.to_string()), Text::get)
}

/// Returns the input tokens, including tokens read from and written to a cache.
fn input_tokens(n: &Normalised) -> u64 {
    n.uncached_input.saturating_add(n.cache_read).saturating_add(n.cache_write)
}

/// Returns counts by name, sorted by name.
fn breakdown<'a>(names: impl Iterator<Item = Cow<'a, str>>) -> BTreeMap<Cow<'a, str>, u64> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    counts
}

fn metrics(w: &mut JsonMembers<'_>, run: &Trajectory) -> io::Result<()> {
    let of_kind = |kind: EventKind| run.events.iter().filter(move |e| e.kind == kind);
    let skills = of_kind(EventKind::Skill)
        .map(|e| e.text.as_ref().map_or(Cow::Borrowed(""), Payload::plain));
    w.object("tokenUsage", |w| token_usage(w, run))?;
    let stated = &run.stated;
    w.put("toolCallCount", &stated.calls.unwrap_or(run.calls.len() as u64))?;
    w.put("toolCallBreakdown", &breakdown(run.calls.iter().map(|c| c.name.full())))?;
    w.put("skillActivationCount", &of_kind(EventKind::Skill).count())?;
    w.put("skillActivationBreakdown", &breakdown(skills))?;
    w.put("turnCount", &stated.responses.unwrap_or(run.steps.len() as u64))?;
    let measured = run.started.zip(run.ended).map(|(from, to)| to.duration_since(from));
    let wall = stated.duration.or(measured);
    // As converters of Vally write what they do not know.
    w.put("wallTimeMs", &wall.map_or(-1, |wall| wall.as_millis().max(0)))?;
    w.put("errorCount", &stated.errors.unwrap_or(of_kind(EventKind::Error).count() as u64))
}

fn token_usage(w: &mut JsonMembers<'_>, run: &Trajectory) -> io::Result<()> {
    let total = run.usage.as_ref().map(Usage::normalised).unwrap_or_default();
    let timed = || run.steps.iter().filter_map(|s| Some((s, s.usage.as_ref()?.normalised())));
    w.put("inputTokens", &input_tokens(&total))?;
    w.put("outputTokens", &total.output)?;
    w.put("totalTokens", &run.usage.as_ref().map_or(0, Usage::total))?;
    w.put("cacheReadTokens", &total.cache_read)?;
    w.put("cacheWriteTokens", &total.cache_write)?;
    w.put("callCount", &timed().count())?;
    let mut models: BTreeMap<Cow<'_, str>, (u64, u64, u64)> = BTreeMap::new();
    for (step, tokens) in timed() {
        let model = step.model.as_ref().or(run.agent.model.as_ref());
        let sum = models.entry(model.map(Text::get).unwrap_or_default()).or_default();
        sum.0 = sum.0.saturating_add(input_tokens(&tokens));
        sum.1 = sum.1.saturating_add(tokens.output);
        sum.2 += 1;
    }
    w.object("byModel", |w| {
        models.iter().try_for_each(|(model, (input, output, calls))| {
            w.object(model, |w| {
                w.put("inputTokens", input)?;
                w.put("outputTokens", output)?;
                w.put("callCount", calls)
            })
        })
    })
}

fn metadata(w: &mut JsonMembers<'_>, run: &Trajectory) -> io::Result<()> {
    w.time("startedAt", run.started)?;
    w.time("completedAt", run.ended)?;
    w.opt("sessionID", run.id.as_ref())?;
    w.opt("model", run.agent.model.as_ref())?;
    w.put("executor", run.format)?;
    w.opt("agent", run.agent.name.as_ref())?;
    w.opt("agentVersion", run.agent.version.as_ref())?;
    w.opt("outcome", run.outcome.as_ref())?;
    w.put("sourceFile", &*run.file)?;
    w.put("fidelityGaps", &run.fidelity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::testing::{everything, export, lines};
    use serde_json::{Value, json};

    fn outcome() -> (Value, Losses) {
        let (text, losses) = export(&VallyExporter, &everything());
        let mut outcomes = lines(&text);
        assert_eq!(outcomes.len(), 1);
        (outcomes.remove(0), losses)
    }

    #[test]
    fn events_stand_between_the_bounds_of_their_step() {
        let (outcome, _) = outcome();
        let events = outcome["trajectory"]["events"].as_array().unwrap();
        let types: Vec<&str> = events.iter().map(|e| e["type"].as_str().unwrap()).collect();
        assert_eq!(
            types.join(" "),
            "custom system user_message turn_start token_usage reasoning assistant_message \
             assistant_message tool_call tool_call tool_call skill_activation tool_result \
             tool_result tool_result turn_end turn_start tool_call tool_result tool_result system \
             error custom turn_end user_message tool_call tool_result tool_call"
        );
        assert!(events.iter().all(|e| e["data"].is_object()));
        assert_eq!(events[3]["data"], json!({"turnId": "m1"}));
        assert_eq!(events[4]["data"]["inputTokens"], 153);
        assert_eq!(events[8]["data"]["arguments"]["command"], "ls");
        assert_eq!(events[8]["data"]["turnId"], "m1");
        assert_eq!(events[12]["data"]["success"], false);
        assert_eq!(events[13]["data"]["result"][1]["text"], "two");
        assert_eq!(events[14]["data"]["success"], true);
        assert_eq!(events[19]["data"]["result"], "nobody asked");
    }

    #[test]
    fn the_frame_is_complete() {
        let (outcome, losses) = outcome();
        let run = &outcome["trajectory"];
        assert_eq!(outcome["gradeResult"], Value::Null);
        assert_eq!(run["stimulus"]["prompt"], "fix it");
        assert_eq!(run["output"], "Now.");
        assert_eq!(run["workDir"], "/w");
        let metrics = &run["metrics"];
        assert_eq!(metrics["toolCallCount"], 6);
        assert_eq!(metrics["toolCallBreakdown"]["Bash"], 3);
        assert_eq!(metrics["turnCount"], 2);
        assert_eq!(metrics["errorCount"], 1);
        assert_eq!(metrics["tokenUsage"]["totalTokens"], 177);
        assert_eq!(metrics["tokenUsage"]["byModel"]["claude-x"]["callCount"], 1);
        assert_eq!(metrics["wallTimeMs"], 20_000);
        assert_eq!(losses.count(TrajectoryPart::Status(Status::Unknown)), 1);
        assert!(losses.to_string().contains("call status: 1 unknown"), "{losses}");
        assert_eq!(losses.count(TrajectoryPart::SubAgents), 1);
        assert_eq!(losses.count(TrajectoryPart::StatedDurations), 1);
    }

    #[test]
    fn a_step_is_opened_once_however_its_events_are_spread() {
        let mut run = everything();
        // The second step's call comes before the first step's results.
        let call = run.events.iter().position(|e| e.kind == EventKind::Call(3)).unwrap();
        let event = run.events.remove(call);
        run.events.insert(8, event);
        let (text, _) = export(&VallyExporter, &run);
        assert_eq!(text.matches("\"turn_start\"").count(), 2);
        assert_eq!(text.matches("\"turn_end\"").count(), 2);
    }
}
