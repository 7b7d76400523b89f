//! OpenHands SDK (V1) events: objects with a `kind`, as a list, as lines, or as the `history`
//! of a line of an evaluation's output.
//!
//! `ActionEvent` is a tool call, answered by `ObservationEvent`, `AgentErrorEvent` or
//! `UserRejectObservation`, which refer to it by `tool_call_id` and `action_id`. Calls that
//! share `llm_response_id` are parallel. The cumulative usage of the run is in
//! `ConversationStateUpdateEvent`s: the last one counts.

use super::shared::chat;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{
    Cost, EventKind, Fact, Fidelity, Payload, Status, StatusLevel, Text, ToolDefinition, ToolName,
    time,
};
use jiff::Timestamp;
use std::collections::HashMap;
use toolmark_scan::Value;

/// OpenHands SDK events.
pub(crate) struct OpenHandsSdk;

static INFO: FormatInfo = FormatInfo {
    id: "openhands-sdk",
    title: "OpenHands SDK events",
    origin: "OpenHands software-agent-sdk, conversation events and evaluation output",
    versions: "1.x",
    looks_for: "events with kind ActionEvent, ObservationEvent, MessageEvent, SystemPromptEvent",
    fidelity: Fidelity::lacking(&[Fact::WorkingDirectory]),
};

impl Format for OpenHandsSdk {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let holds_events = |r: Value<'_>| {
            let list = r.get("history").or_else(|| r.get("events"));
            list.is_some_and(|l| l.items().take(8).any(is_event))
        };
        if probe.any(|r| is_event(r) || holds_events(r)) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<EventReader>::default()
    }
}

fn is_event(value: Value<'_>) -> bool {
    const KINDS: [&str; 8] = [
        "ActionEvent",
        "ObservationEvent",
        "MessageEvent",
        "SystemPromptEvent",
        "AgentErrorEvent",
        "UserRejectObservation",
        "ConversationStateUpdateEvent",
        "Condensation",
    ];
    let kind = value.word("kind");
    KINDS.contains(&kind) && (value.has("source") || value.has("timestamp"))
}

#[derive(Default)]
struct EventReader {
    /// Run whose events are the records themselves.
    bare: Option<OpenhandsSdkRun>,
}

impl Reader for EventReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = out.object(record, "an OpenHands event") else { return };
        let Some(events) = value.get("history").or_else(|| value.get("events")) else {
            self.bare.get_or_insert_with(|| OpenhandsSdkRun::new(out)).read(record, value);
            return;
        };
        let mut run = OpenhandsSdkRun::new(out);
        for event in events.items() {
            run.read(record, event);
        }
        run.describe(record, value);
        out.push(run.finish());
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(run) = self.bare.take() {
            out.push(run.finish());
        }
    }
}

struct OpenhandsSdkRun {
    b: TrajectoryBuilder,
    /// Call of each action event, by the event's ID.
    call_by_action: HashMap<String, u32>,
}

impl OpenhandsSdkRun {
    fn new(out: &Out) -> Self {
        let mut b = out.builder(&OpenHandsSdk).with_repeating_ids();
        b.run.agent.name = Some(Text::owned("openhands"));
        Self { b, call_by_action: HashMap::new() }
    }

    fn finish(self) -> crate::model::Trajectory {
        self.b.finish()
    }

    fn read(&mut self, record: &Record<'_>, event: Value<'_>) {
        let at = record.at_value(event);
        let time = event.get("timestamp").and_then(time::from_value);
        let b = &mut self.b;
        match event.word("kind") {
            "ActionEvent" => self.read_action(record, event, time),
            "ObservationEvent" => {
                let observation = event.get("observation");
                let content = observation.map(|o| o.get("content").unwrap_or(o));
                let answer = ReaderResult::new(content.map(|c| record.payload(c)), at).time(time);
                self.answer(event, observed(observation, answer));
            }
            "AgentErrorEvent" => {
                let answer = ReaderResult::new(record.payload_at(event, "error"), at).time(time);
                self.answer(event, answer.protocol(true));
            }
            "UserRejectObservation" => {
                let answer =
                    ReaderResult::new(record.payload_at(event, "rejection_reason"), at).time(time);
                self.answer(event, answer.status(Status::Denied, StatusLevel::Denial));
            }
            "MessageEvent" => read_message(b, record, event, time),
            "SystemPromptEvent" => {
                let prompt = event.get("system_prompt");
                let text = prompt.map(|p| record.payload(p.get("text").unwrap_or(p)));
                b.context(text, time, at);
                read_tools(b, record, event);
            }
            "Condensation" => {
                let summary = record.payload_at(event, "summary");
                b.event(EventKind::Compaction, summary, None, time, at);
            }
            "ConversationErrorEvent" | "ServerErrorEvent" => {
                let detail = record.payload_at(event, "detail");
                b.event(EventKind::Error, detail, None, time, at);
            }
            kind @ ("ConversationStateUpdateEvent"
            | "CondensationRequest"
            | "CondensationSummaryEvent"
            | "PauseEvent"
            | "InterruptEvent"
            | "TokenEvent"
            | "StreamingDeltaEvent"
            | "LLMCompletionLogEvent"
            | "HookExecutionEvent") => {
                read_stats(b, event);
                let kind = EventKind::Note(Text::owned(kind));
                b.event(kind, None, None, time, at);
            }
            other => b.unknown(other, at),
        }
    }

    fn read_action(&mut self, record: &Record<'_>, event: Value<'_>, time: Option<Timestamp>) {
        let b = &mut self.b;
        let step = response_step(b, record, event, time);
        read_thoughts(b, record, event, step, time);
        if let Some(thought) = event.get("thought") {
            chat::words(b, record, thought, Some(step), time);
        }
        let tool_call = event.get("tool_call");
        let args =
            tool_call.and_then(|c| c.get("arguments").or_else(|| c.at(&["function", "arguments"])));
        let id = event.get("tool_call_id").or_else(|| tool_call?.get("id"));
        let name = event.get("tool_name").or_else(|| tool_call?.get("name"));
        let call = b.call(NewCall {
            id: id.and_then(|id| record.text(id)),
            name: ToolName::or_empty(name.and_then(|n| record.text(n))),
            args: args.or_else(|| event.get("action")).map(|a| record.payload(a)),
            step: Some(step),
            time,
            at: record.at_value(event),
        });
        if let Some(id) = event.get("id").and_then(Value::str) {
            self.call_by_action.insert(id.into_owned(), call);
        }
    }

    fn answer(&mut self, event: Value<'_>, answer: ReaderResult) {
        let action = event.get("action_id").and_then(Value::str);
        if let Some(call) = action.and_then(|id| self.call_by_action.get(&*id)) {
            self.b.answer_call(*call, answer);
            return;
        }
        self.b.answer(event.get("tool_call_id").and_then(Value::str).as_deref(), answer);
    }

    /// Reads the evaluation's metadata about the run.
    fn describe(&mut self, record: &Record<'_>, output: Value<'_>) {
        let b = &mut self.b;
        let label = |path: &[&str]| output.at(path).and_then(|v| record.label(v));
        b.run.id = label(&["instance_id"]).or_else(|| label(&["id"]));
        b.run.agent.model =
            label(&["metadata", "llm", "model"]).or_else(|| label(&["agent", "llm", "model"]));
        if let Some(error) = output.get("error").filter(|e| !e.is("")) {
            let text = Some(record.payload(error));
            b.run.outcome = Some(Text::owned("error"));
            b.event(EventKind::Error, text, None, None, record.at_value(error));
        }
        if let Some(metrics) = output.get("metrics") {
            b.run.cost = None;
            b.run.usage = None;
            add_metrics(b, metrics);
        }
    }
}

/// Reads the totals of a state update, one entry per use of a model. They are cumulative and
/// replace earlier ones.
fn read_stats(b: &mut TrajectoryBuilder, event: Value<'_>) {
    let value = match event.get("key").and_then(Value::inner) {
        Some("stats") => event.get("value"),
        Some("full_state") => event.at(&["value", "stats"]),
        _ => None,
    };
    let uses = ["usage_to_metrics", "service_to_metrics"];
    let Some(uses) = value.and_then(|v| uses.iter().find_map(|key| v.get(key))) else { return };
    b.run.cost = None;
    b.run.usage = None;
    for (_, metrics) in uses.fields() {
        add_metrics(b, metrics);
    }
}

fn add_metrics(b: &mut TrajectoryBuilder, metrics: Value<'_>) {
    let usd = metrics.get("accumulated_cost").and_then(Value::as_f64);
    if let Some(cost) = usd.and_then(Cost::from_usd) {
        let sum = b.run.cost.unwrap_or_default().nano_usd.saturating_add(cost.nano_usd);
        b.run.cost = Some(Cost { nano_usd: sum });
    }
    if let Some(usage) = metrics.get("accumulated_token_usage").and_then(chat::usage) {
        b.add_usage(usage);
    }
}

/// Returns the model response that an event belongs to.
fn response_step(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    event: Value<'_>,
    time: Option<Timestamp>,
) -> u32 {
    let id = record.text_at(event, "llm_response_id");
    b.step(id, time, record.at_value(event))
}

/// Reads reasoning, in either of its forms.
fn read_thoughts(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    holder: Value<'_>,
    step: u32,
    time: Option<Timestamp>,
) {
    if let Some(text) = holder.get("reasoning_content").filter(|t| !t.is("")) {
        b.reasoning(step, Some(record.payload(text)), time, record.at_value(text));
        return;
    }
    for block in holder.items_at("thinking_blocks") {
        let text = record.payload_at(block, "thinking");
        b.reasoning(step, text, time, record.at_value(block));
    }
}

fn read_message(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    event: Value<'_>,
    time: Option<Timestamp>,
) {
    let at = record.at_value(event);
    let message = event.get("llm_message");
    let content = message.and_then(|m| m.get("content"));
    let payload = content.map(|c| record.payload(c));
    match event.get("source").and_then(Value::inner) {
        Some("user") => {
            b.user(payload, time, at);
            for skill in event
                .get("activated_skills")
                .or_else(|| event.get("activated_microagents"))
                .into_iter()
                .flat_map(Value::items)
            {
                let text: Payload = record.payload(skill);
                b.event(EventKind::Skill, Some(text), None, time, record.at_value(skill));
            }
        }
        Some("agent") => {
            let step = response_step(b, record, event, time);
            if let Some(message) = message {
                read_thoughts(b, record, message, step, time);
            }
            if let Some(content) = content {
                chat::words(b, record, content, Some(step), time);
            }
        }
        _ => b.context(payload, time, at),
    }
}

/// Sets the status of a call from its observation.
fn observed(observation: Option<Value<'_>>, answer: ReaderResult) -> ReaderResult {
    let Some(observation) = observation else { return answer };
    let failed = observation.get("is_error").or_else(|| observation.get("error"));
    let failed = failed.and_then(|e| e.as_bool().or_else(|| Some(e.is_string() && !e.is(""))));
    let code = observation
        .get("exit_code")
        .or_else(|| observation.at(&["metadata", "exit_code"]))
        .and_then(Value::as_i64)
        // The command still runs.
        .filter(|code| *code != -1);
    if failed == Some(true) {
        return answer.protocol(true).exit_code(code);
    }
    // A command that exits with an error is not an error of the tool, but it failed.
    let answer = answer.exit_code(code);
    if answer.level == StatusLevel::Absent && failed == Some(false) {
        return answer.protocol(false);
    }
    answer
}

fn read_tools(b: &mut TrajectoryBuilder, record: &Record<'_>, event: Value<'_>) {
    let Some(tools) = event.get("tools").filter(|t| t.is_array()) else { return };
    let definition = |tool: Value<'_>| {
        let function = tool.get("function").unwrap_or(tool);
        let name =
            record.text_at(function, "name").or_else(|| record.text_at(function, "title"))?;
        Some(ToolDefinition {
            name,
            description: record.text_at(function, "description"),
            schema: record.payload_at(function, "parameters"),
        })
    };
    b.run.tools = Some(tools.items().filter_map(definition).collect());
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, sketch};

    const EVENTS: &str = r#"
{"kind":"SystemPromptEvent","id":"e0","timestamp":"2026-01-01T00:00:00","source":"agent","system_prompt":{"type":"text","text":"sys"},"tools":[{"type":"function","function":{"name":"terminal"}}]}
{"kind":"MessageEvent","id":"e1","timestamp":"2026-01-01T00:00:01","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"go"}]},"activated_skills":["git"]}
{"kind":"ActionEvent","id":"e2","timestamp":"2026-01-01T00:00:02","source":"agent","thought":[{"type":"text","text":"hm"}],"reasoning_content":"why","action":{"kind":"TerminalAction","command":"ls"},"tool_name":"terminal","tool_call_id":"t1","tool_call":{"id":"t1","name":"terminal","arguments":"{\"command\":\"ls\"}"},"llm_response_id":"r1"}
{"kind":"ActionEvent","id":"e3","timestamp":"2026-01-01T00:00:02","source":"agent","thought":[],"action":{"command":"rm"},"tool_name":"terminal","tool_call_id":"t2","llm_response_id":"r1"}
{"kind":"ObservationEvent","id":"e4","timestamp":"2026-01-01T00:00:05","source":"environment","tool_name":"terminal","tool_call_id":"t1","action_id":"e2","observation":{"kind":"TerminalObservation","content":[{"type":"text","text":"no"}],"is_error":false,"exit_code":2}}
{"kind":"UserRejectObservation","id":"e5","source":"environment","tool_call_id":"t2","action_id":"e3","rejection_reason":"nope"}
{"kind":"ActionEvent","id":"e6","source":"agent","action":{},"tool_name":"edit","tool_call_id":"t3","llm_response_id":"r2"}
{"kind":"AgentErrorEvent","id":"e7","source":"agent","tool_name":"edit","tool_call_id":"t3","error":"bad arguments"}
{"kind":"ActionEvent","id":"e8","source":"agent","action":{},"tool_name":"finish","tool_call_id":"t4","llm_response_id":"r3"}
{"kind":"ObservationEvent","id":"e9","source":"environment","tool_call_id":"gone","action_id":"gone","observation":{"content":"?"}}
{"kind":"Condensation","id":"e10","source":"environment","summary":"short"}
{"kind":"ConversationStateUpdateEvent","id":"e11","source":"environment","key":"k","value":1}
{"kind":"NovelEvent","id":"e12","source":"agent"}
{"kind":"MessageEvent","id":"e13","source":"agent","llm_response_id":"r4","llm_message":{"role":"assistant","content":[{"type":"text","text":"done"}]}}
"#;

    const SKETCH: &str = "context: sys\nuser: go\nskill: git\n\
        0 reasoning: why\n0 message: hm\n\
        0 call terminal {\"command\":\"ls\"} -> failed(exitcode) exit 2: no\n\
        0 call terminal {\"command\":\"rm\"} -> denied(denial): nope\n\
        1 call edit {} -> failed(protocol): bad arguments\n\
        2 call finish {} -> unanswered(absent): \n\
        orphanresult: ?\ncompaction: short\nnote ConversationStateUpdateEvent\n\
        unknown NovelEvent\n3 message: done\n";

    #[test]
    fn lines_of_events() {
        let read = read_text(EVENTS);
        assert_eq!(read.format, "openhands-sdk");
        assert_eq!(sketch(&read.runs[0]), SKETCH);
        assert_eq!(read.runs[0].calls[0].duration.unwrap().as_secs(), 3);
        assert_eq!(read.runs[0].tools.as_ref().unwrap().len(), 1);
    }

    #[test]
    fn events_in_an_evaluation() {
        let list = EVENTS.trim().replace('\n', ",");
        let read = read_text(&format!(
            r#"{{"instance_id":"i","history":[{list}],"metrics":{{"accumulated_cost":1.0,"accumulated_token_usage":{{"prompt_tokens":3,"completion_tokens":1}}}},"error":null}}
{{"history":[{{"kind":"ActionEvent","source":"agent","thought":5,"tool_call":"x"}},7]}}
"#
        ));
        assert_eq!(read.runs.len(), 2);
        assert_eq!(sketch(&read.runs[0]), SKETCH);
        assert_eq!(read.runs[0].usage.unwrap().total(), 4);
        assert_eq!(read.runs[1].unknown_records(), 1);
    }

    #[test]
    fn the_last_totals_count() {
        let update = |key: &str, value: &str| {
            format!(
                r#"{{"kind":"ConversationStateUpdateEvent","id":"e","source":"environment","key":"{key}","value":{value}}}"#
            )
        };
        let metrics = |input: u32| {
            format!(
                r#"{{"accumulated_cost":0.5,"accumulated_token_usage":{{"prompt_tokens":{input},"completion_tokens":1}}}}"#
            )
        };
        let (one, two) = (metrics(10), metrics(20));
        let lines = [
            update(
                "full_state",
                &format!(r#"{{"stats":{{"usage_to_metrics":{{"agent":{one}}}}}}}"#),
            ),
            update(
                "stats",
                &format!(r#"{{"usage_to_metrics":{{"agent":{two},"condenser":{one}}}}}"#),
            ),
            update("stats", "7"),
        ];
        let read = read_text(&lines.join("\n"));
        let run = &read.runs[0];
        assert_eq!((run.usage.unwrap().total(), run.cost.unwrap().usd()), (32, 1.0));
    }
}
