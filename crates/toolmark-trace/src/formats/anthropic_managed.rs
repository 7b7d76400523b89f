//! Event logs of Anthropic's managed agents: the event stream of a session, one event per
//! line, raw or wrapped by an exporter as `{role, kind, time, raw}`.
//!
//! A model request is a span from `span.model_request_start` to `…_end`, which carries the
//! usage; the agent's messages and calls are between the two. A call is answered by a
//! separate event: `agent.tool_result` for built-in tools, `agent.mcp_tool_result`, and
//! `user.custom_tool_result` for tools that the client runs. In sessions of several agents,
//! events contain the name of their thread.

use super::shared::anthropic;
use crate::builder::{NewCall, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{
    Convention, EventKind, Fact, Fidelity, Status, StatusLevel, Text, ToolName, Usage, time,
};
use jiff::Timestamp;
use std::collections::HashMap;
use toolmark_scan::Value;

/// Event logs of managed agents.
pub(crate) struct AnthropicManaged;

static INFO: FormatInfo = FormatInfo {
    id: "anthropic-managed",
    title: "Anthropic managed-agent session",
    origin: "event logs of the managed agents API, raw or wrapped by an exporter",
    versions: "2026",
    looks_for: "events agent.tool_use, span.model_request_start, session.status_running",
    fidelity: Fidelity::lacking(&[Fact::Cost, Fact::Model, Fact::ToolDefinitions]),
};

/// Kinds of events that no other format has.
const OWN: [&str; 14] = [
    "agent.tool_use",
    "agent.tool_result",
    "agent.mcp_tool_use",
    "agent.mcp_tool_result",
    "agent.custom_tool_use",
    "agent.thinking",
    "span.model_request_start",
    "span.model_request_end",
    "session.status_running",
    "session.status_idle",
    "session.thread_status_running",
    "session.thread_status_idle",
    "user.define_outcome",
    "user.custom_tool_result",
];

impl Format for AnthropicManaged {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_event = |r: Value<'_>| {
            let event = r.get("raw").filter(|raw| raw.is_object()).unwrap_or(r);
            let kind = event.word("type");
            OWN.contains(&kind) && event.get("data").is_none()
        };
        if probe.any(is_event) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(AnthropicManagedReader { session: None })
    }
}

struct AnthropicManagedReader {
    session: Option<ManagedSession>,
}

impl Reader for AnthropicManagedReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(line) = out.object(record, "an event") else { return };
        let session = self.session.get_or_insert_with(|| ManagedSession {
            b: out.builder(&AnthropicManaged),
            step: None,
            in_span: false,
            main_thread: None,
            threads: HashMap::new(),
        });
        session.event(record, line);
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(session) = self.session.take() {
            out.push(session.b.finish());
        }
    }
}

struct ManagedSession {
    b: TrajectoryBuilder,
    /// Response that agent events belong to.
    step: Option<u32>,
    /// Whether the response is delimited by a span. In logs without spans, responses are
    /// delimited by results.
    in_span: bool,
    main_thread: Option<Text>,
    /// Names of the agents, by the ID of their thread.
    threads: HashMap<String, Text>,
}

impl ManagedSession {
    fn event(&mut self, record: &Record<'_>, line: Value<'_>) {
        let event = line.get("raw").filter(|raw| raw.is_object()).unwrap_or(line);
        let time = event.get("processed_at").or(event.get("created_at")).or(line.get("time"));
        let time = time.and_then(time::from_value);
        let Some(kind) = event.get("type").filter(|k| k.is_string()) else {
            self.b.unknown("event without type", record.at());
            return;
        };
        if self.b.run.id.is_none() {
            self.b.run.id = record.text_at(event, "session_id");
        }
        let content = event.get("content");
        let text = content.map(|c| record.payload(c));
        match kind.inner().unwrap_or("") {
            "agent.message" => {
                let step = self.open_step(record, time);
                if let Some(text) = text {
                    self.b.message(step, text, time, record.at());
                }
            }
            "agent.thinking" => {
                let step = self.open_step(record, time);
                self.b.reasoning(step, text, time, record.at());
            }
            "agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use" => {
                self.call(record, event, time);
            }
            "agent.tool_result" | "agent.mcp_tool_result" | "user.custom_tool_result" => {
                self.result(record, event, time);
            }
            "user.tool_confirmation" => self.confirmation(record, event, kind, time),
            "user.message" => self.user(record, content, time),
            "user.define_outcome" => self.user(record, event.get("description"), time),
            "span.model_request_start" => {
                let step = self.b.step(record.text_at(event, "id"), time, record.at());
                (self.step, self.in_span) = (Some(step), true);
            }
            "span.model_request_end" => self.request_end(record, event, time),
            "span.outcome_evaluation_end" => {
                self.b.run.outcome = record.text_at(event, "result");
                self.note(record, event, kind, time);
            }
            "session.status_idle" | "session.status_terminated" => {
                let reason = event.get("stop_reason").map(|r| r.get("type").unwrap_or(r));
                if self.b.run.outcome.is_none() {
                    self.b.run.outcome = reason.and_then(|r| record.text(r));
                }
                self.note(record, event, kind, time);
            }
            "session.error" => {
                let text = event.at(&["error", "message"]).or(event.get("error"));
                let text = text.map(|t| record.payload(t));
                self.b.event(EventKind::Error, text, None, time, record.at());
            }
            "agent.thread_context_compacted" => {
                self.b.event(EventKind::Compaction, text, None, time, record.at());
            }
            "agent.thread_message_received" => self.b.context(text, time, record.at()),
            known if is_noted(known) => self.note(record, event, kind, time),
            other => {
                let kind = EventKind::Unknown(Text::owned(other));
                self.b.event(kind, Some(record.payload(event)), None, time, record.at());
            }
        }
    }

    fn note(
        &mut self,
        record: &Record<'_>,
        event: Value<'_>,
        kind: Value<'_>,
        time: Option<Timestamp>,
    ) {
        if let (Some(thread), Some(name)) =
            (record.text_at(event, "session_thread_id"), record.text_at(event, "agent_name"))
        {
            // The first thread a session names is its own.
            if self.main_thread.is_none() {
                self.main_thread = Some(thread.clone());
                self.b.run.agent.name = Some(name.clone());
            }
            self.threads.insert(thread.get().into_owned(), name);
        }
        let text = event.get("explanation").or(event.get("stop_reason"));
        let text = text.map(|t| record.payload(t));
        let kind = record.text(kind).unwrap_or_else(|| Text::owned(""));
        self.b.event(EventKind::Note(kind), text, None, time, record.at());
    }

    fn user(&mut self, record: &Record<'_>, text: Option<Value<'_>>, time: Option<Timestamp>) {
        (self.step, self.in_span) = (None, false);
        self.b.user(text.map(|t| record.payload(t)), time, record.at());
    }

    fn open_step(&mut self, record: &Record<'_>, time: Option<Timestamp>) -> u32 {
        match self.step {
            Some(step) => step,
            None => {
                let step = self.b.step(None, time, record.at());
                self.step = Some(step);
                step
            }
        }
    }

    fn call(&mut self, record: &Record<'_>, event: Value<'_>, time: Option<Timestamp>) {
        let step = self.open_step(record, time);
        let server = event.get_str("mcp_server_name").map(|s| Text::owned(format!("mcp__{s}__")));
        let index = self.b.call(NewCall {
            id: record.text_at(event, "id"),
            name: ToolName {
                original: record.text_at(event, "name").unwrap_or_else(|| Text::owned("")),
                namespace: server,
            },
            args: record.payload_at(event, "input"),
            step: Some(step),
            time,
            at: record.at(),
        });
        let thread = record.text_at(event, "session_thread_id");
        let agent = thread.filter(|t| self.main_thread.as_ref() != Some(t)).map(|thread| {
            self.threads.get(&*thread.get()).cloned().unwrap_or_else(|| thread.clone())
        });
        let call = &mut self.b.run.calls[index as usize];
        call.agent = agent;
        if event.field_is("evaluated_permission", "deny") {
            (call.status, call.level) = (Status::Denied, StatusLevel::Denial);
        }
    }

    fn result(&mut self, record: &Record<'_>, event: Value<'_>, time: Option<Timestamp>) {
        if !self.in_span {
            self.step = None;
        }
        let mut answer = anthropic::result_answer(record, event).time(time);
        let id = event
            .get("tool_use_id")
            .or(event.get("mcp_tool_use_id"))
            .or(event.get("custom_tool_use_id"))
            .and_then(Value::str);
        let Some(call) = id.as_deref().and_then(|id| self.b.find(id)) else {
            self.b.answer(id.as_deref(), answer);
            return;
        };
        let known = &self.b.run.calls[call as usize];
        if known.status == Status::Denied {
            answer = answer.status(Status::Denied, StatusLevel::Denial);
        }
        self.b.answer_call(call, answer);
    }

    /// Reads a user's decision to allow or deny a waiting call.
    fn confirmation(
        &mut self,
        record: &Record<'_>,
        event: Value<'_>,
        kind: Value<'_>,
        time: Option<Timestamp>,
    ) {
        let id = event.get("tool_use_id").and_then(Value::str);
        let call = id.and_then(|id| self.b.find(&id));
        if let (Some(call), Some(true)) = (call, event.get("result").map(|r| r.is("deny"))) {
            let call = &mut self.b.run.calls[call as usize];
            (call.status, call.level) = (Status::Denied, StatusLevel::Denial);
        }
        self.note(record, event, kind, time);
    }

    fn request_end(&mut self, record: &Record<'_>, event: Value<'_>, time: Option<Timestamp>) {
        let start = record.text_at(event, "model_request_start_id");
        let step = match start {
            Some(start) => self.b.step(Some(start), time, record.at()),
            None => self.open_step(record, time),
        };
        let usage = event.get("model_usage").map(anthropic::usage);
        let usage = usage.map(|tokens| Usage::new(tokens, Convention::ANTHROPIC));
        self.b.run.steps[step as usize].usage = usage;
        if let Some(usage) = usage {
            self.b.add_usage(usage);
        }
        if event.is_true("is_error") {
            self.b.run.steps[step as usize].complete = false;
            self.b.event(EventKind::Error, None, Some(step), time, record.at());
        } else {
            let kind = EventKind::Note(Text::owned("span.model_request_end"));
            self.b.event(kind, None, Some(step), time, record.at());
        }
    }
}

/// Returns whether the kind is known but unrelated to calls and messages.
fn is_noted(kind: &str) -> bool {
    const EXACT: [&str; 8] = [
        "user.interrupt",
        "agent.thread_message_sent",
        "agent.thinking_delta",
        "agent.message_delta",
        "session.usage",
        "session.outcome_evaluated",
        "session.updated",
        "session.deleted",
    ];
    const FAMILIES: [&str; 3] = ["session.status_", "session.thread_", "span.outcome_evaluation_"];
    EXACT.contains(&kind) || FAMILIES.iter().any(|family| kind.starts_with(family))
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, sketch};

    const RAW: &str = r#"{"type":"session.thread_status_running","session_thread_id":"th1","agent_name":"auditor","id":"e0","processed_at":"2026-01-01T00:00:00Z"}
{"type":"user.message","id":"e1","content":[{"type":"text","text":"go"}]}
{"type":"span.model_request_start","id":"m1"}
{"type":"agent.thinking","id":"e2"}
{"type":"agent.tool_use","id":"c1","name":"bash","input":{"command":"ls"},"evaluated_permission":"allow","processed_at":"2026-01-01T00:00:01Z"}
{"type":"agent.mcp_tool_use","id":"c2","mcp_server_name":"gh","name":"get","input":{},"session_thread_id":"th2"}
{"type":"agent.custom_tool_use","id":"c3","name":"mine","input":{}}
{"type":"agent.tool_use","id":"c4","name":"write","input":{},"evaluated_permission":"ask"}
{"type":"span.model_request_end","id":"m2","model_request_start_id":"m1","is_error":false,"model_usage":{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":4}}
{"type":"agent.tool_result","tool_use_id":"c1","is_error":true,"content":[{"type":"text","text":"Exit code 2"}],"processed_at":"2026-01-01T00:00:03Z"}
{"type":"agent.mcp_tool_result","mcp_tool_use_id":"c2","content":[]}
{"type":"user.tool_confirmation","tool_use_id":"c4","result":"deny"}
{"type":"agent.tool_result","tool_use_id":"c4","is_error":true,"content":[{"type":"text","text":"no"}]}
{"type":"agent.tool_result","tool_use_id":"c9","content":[{"type":"text","text":"?"}]}
{"type":"agent.dream","id":"e9"}
{"type":"session.status_idle","stop_reason":{"type":"end_turn"}}
"#;

    #[test]
    fn spans_are_steps() {
        let read = read_text(RAW);
        assert_eq!(read.format, "anthropic-managed");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "note session.thread_status_running\n\
             user: go\n\
             0 reasoning: \n\
             0 call bash {\"command\":\"ls\"} -> failed(protocol) exit 2: Exit code 2\n\
             0 call mcp__gh__get {} -> succeeded(protocol): []\n\
             0 call mine {} -> unanswered(absent): \n\
             0 call write {} -> denied(denial): no\n\
             note span.model_request_end\n\
             note user.tool_confirmation\n\
             orphanresult: ?\n\
             unknown agent.dream\n\
             note session.status_idle\n"
        );
        assert_eq!(run.agent.name.as_ref().unwrap(), "auditor");
        assert_eq!(run.calls[1].agent.as_ref().unwrap(), "th2");
        assert_eq!(run.calls[0].duration.unwrap().as_secs(), 2);
        assert_eq!(run.usage.unwrap().total(), 10);
        assert_eq!(run.outcome.as_ref().unwrap(), "end_turn");
    }

    #[test]
    fn wrapped_events_read_the_same() {
        let wrapped: String = RAW
            .lines()
            .map(|l| format!("{{\"role\":\"agent\",\"kind\":\"x\",\"time\":\"2026-01-01T00:00:09Z\",\"raw\":{l}}}\n"))
            .collect();
        let read = read_text(&wrapped);
        assert_eq!(sketch(&read.runs[0]), sketch(&read_text(RAW).runs[0]));
        assert_eq!(read.runs[0].ended.unwrap().to_string(), "2026-01-01T00:00:09Z");
    }

    #[test]
    fn logs_without_spans_and_with_wrong_types() {
        let read = read_text(
            r#"{"type":"agent.tool_use","id":7,"name":[],"input":"x"}
{"type":"agent.tool_use","id":"c2","name":"a","input":{}}
{"type":"agent.tool_result","tool_use_id":7}
{"type":"agent.message","content":"hi"}
{"type":5}
"x"
"#,
        );
        assert_eq!(read.skipped, 1);
        assert_eq!(
            sketch(&read.runs[0]),
            "0 call  x -> unanswered(absent): \n\
             0 call a {} -> unanswered(absent): \n\
             orphanresult: \n\
             1 message: hi\n\
             unknown event without type\n"
        );
    }
}
