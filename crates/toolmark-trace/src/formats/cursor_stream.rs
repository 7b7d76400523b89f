//! `cursor-agent --output-format stream-json`: the events of Claude's stream, with calls in
//! Cursor's own format.
//!
//! A call is two events of type `tool_call`, `started` and `completed`, with one `call_id`;
//! the only key of `tool_call` is the tool (`{"readToolCall":{args, result}}`), and the only
//! key of `result` is the outcome (`success`, `rejected`; any other key is an error).
//! `model_call_id` identifies responses in newer versions; without it, a new response begins
//! after every result. Reasoning is in `thinking` deltas.

use super::shared::declared;
use super::shared::events::{note, open_step, set_once, words};
use super::shared::pieces::{self, MessagePieces};
use super::shared::readers::{OneRun, one_run};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{
    At, Convention, DeclaredOutcome, EventKind, Fact, Fidelity, Status, StatusLevel, Text,
    ToolName, Usage, UsageTokens, time,
};
use jiff::Timestamp;
use toolmark_scan::Value;

/// The stream of Cursor's command line agent.
pub(crate) struct CursorStream;

static INFO: FormatInfo = FormatInfo {
    id: "cursor-stream",
    title: "Cursor agent stream-json",
    origin: "cursor-agent --output-format stream-json",
    versions: "2025.8 to 2026",
    looks_for: "tool_call events with a <kind>ToolCall, or an init event without tools",
    fidelity: Fidelity::lacking(&[Fact::Cost, Fact::SubAgents, Fact::ToolDefinitions]),
};

impl Format for CursorStream {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if probe.any(|r| is_call(r) || is_init(r)) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        one_run::<CursorStreamRun>(&CursorStream, "cursor", "an event")
    }
}

fn is_call(event: Value<'_>) -> bool {
    let named = event.get("tool_call").and_then(|c| c.fields().next());
    event.field_is("type", "tool_call")
        && event.get("call_id").is_some()
        && named
            .and_then(|(key, _)| key.inner())
            .is_some_and(|key| key.ends_with("ToolCall") || key == "function")
}

/// Returns whether the event is Cursor's init event. Claude's lists the tools; Cursor's never
/// does.
fn is_init(event: Value<'_>) -> bool {
    let is = |key: &str, want: &str| event.field_is(key, want);
    is("type", "system")
        && is("subtype", "init")
        && ["session_id", "apiKeySource", "permissionMode"].iter().all(|k| event.has(k))
        && ["tools", "uuid", "mcp_servers", "slash_commands"].iter().all(|k| !event.has(k))
}

#[derive(Default)]
struct CursorStreamRun {
    /// Current response; `None` after a result.
    step: Option<u32>,
    thinking: Option<MessagePieces>,
    message: Option<MessagePieces>,
}

impl OneRun for CursorStreamRun {
    fn record(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, event: Value<'_>) {
        set_once(&mut b.run.id, record, event, "session_id");
        let time = event.get("timestamp_ms").and_then(time::from_value);
        b.seen(time);
        let kind = event.word("type");
        self.flush(b, kind);
        match kind {
            "system" => {
                set_once(&mut b.run.cwd, record, event, "cwd");
                set_once(&mut b.run.agent.model, record, event, "model");
                note(b, "system", None, time, record.at());
            }
            "user" => {
                self.step = None;
                let content = event.at(&["message", "content"]);
                b.user(content.and_then(|c| words(record, c)), time, record.at());
            }
            "thinking" => {
                if let Some(text) = record.payload_at(event, "text") {
                    pieces::add(&mut self.thinking, text, time, record.at());
                }
            }
            "assistant" => self.assistant(b, record, event, time),
            "tool_call" => self.tool_call(b, record, event, time),
            "result" => end(b, record, event, time),
            "interaction_query" | "connection" | "retry" => {
                note(b, kind, Some(record.payload(event)), time, record.at());
            }
            "error" => {
                let text = event.get("message").or_else(|| event.get("error"));
                let text = text.map(|t| record.payload(t));
                b.event(EventKind::Error, text, None, time, record.at());
            }
            other => b.unknown(other, record.at()),
        }
    }

    fn finish(&mut self, b: &mut TrajectoryBuilder) {
        self.flush(b, "");
    }
}

impl CursorStreamRun {
    /// Returns the response that an event belongs to.
    fn step(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        event: Value<'_>,
        time: Option<Timestamp>,
    ) -> u32 {
        open_step(&mut self.step, b, record.text_at(event, "model_call_id"), time, record.at())
    }

    /// Completes the pieces of a message when an event of another kind follows.
    fn flush(&mut self, b: &mut TrajectoryBuilder, next: &str) {
        let thinking = self.thinking.take_if(|_| next != "thinking").map(MessagePieces::close);
        if let Some((text, time, at)) = thinking {
            let step = *self.step.get_or_insert_with(|| b.step(None, time, at.clone()));
            b.reasoning(step, Some(text), time, at);
        }
        let message = self.message.take_if(|_| next != "assistant").map(MessagePieces::close);
        if let Some((text, time, at)) = message {
            let step = *self.step.get_or_insert_with(|| b.step(None, time, at.clone()));
            b.message(step, text, time, at);
        }
    }

    fn assistant(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        event: Value<'_>,
        time: Option<Timestamp>,
    ) {
        self.step(b, record, event, time);
        let Some(text) = event.at(&["message", "content"]).and_then(|c| words(record, c)) else {
            return;
        };
        // With partial output, a message comes in pieces and is then repeated as a whole.
        if !self.message.as_ref().is_some_and(|m| m.is(&text.plain())) {
            pieces::add(&mut self.message, text, time, record.at());
        }
    }

    fn tool_call(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        event: Value<'_>,
        time: Option<Timestamp>,
    ) {
        let id = event.get_str("call_id");
        let body = event.get("tool_call");
        let known = id.as_deref().and_then(|id| b.find(id));
        let call = match known {
            Some(call) => call,
            None => {
                let step = self.step(b, record, event, time);
                b.call(new_call(record, event, step, time))
            }
        };
        if !event.field_is("subtype", "completed") {
            return;
        }
        self.step = None;
        let inner = body.and_then(|c| c.fields().next()).map(|(_, v)| v);
        let result = inner.and_then(|i| i.get("result"));
        let at = result.map_or_else(|| record.at(), |r| record.at_value(r));
        b.answer_call(call, outcome(record, result, at).time(time));
    }
}

/// Returns the call of an event: the key is the tool, except for MCP tools and functions,
/// which have their own names.
fn new_call(record: &Record<'_>, event: Value<'_>, step: u32, time: Option<Timestamp>) -> NewCall {
    let body = event.get("tool_call").and_then(|c| c.fields().next());
    let key = body.and_then(|(key, _)| key.str()).unwrap_or_default();
    let inner = body.map(|(_, inner)| inner);
    let args = inner.and_then(|i| i.get("args").or_else(|| i.get("arguments")));
    let mut name = ToolName::new(Text::owned(key.as_ref()));
    let mut given = args;
    match &*key {
        "mcpToolCall" => {
            if let Some(tool) = args.and_then(|a| record.text_at(a, "toolName")) {
                let server = args.and_then(|a| a.get_str("providerIdentifier"));
                name.original = tool;
                name.namespace = server.map(|s| Text::owned(format!("mcp__{s}__")));
                given = args.and_then(|a| a.get("args"));
            }
        }
        "function" => {
            if let Some(tool) = inner.and_then(|i| record.text_at(i, "name")) {
                name.original = tool;
            }
        }
        _ => {}
    }
    NewCall {
        id: record.text_at(event, "call_id"),
        name,
        args: given.map(|a| record.payload(a)),
        step: Some(step),
        time,
        at: record.at(),
    }
}

/// Reads the outcome from the only key of a result.
fn outcome(record: &Record<'_>, result: Option<Value<'_>>, at: At) -> ReaderResult {
    let Some((key, body)) = result.and_then(|r| r.fields().next()) else {
        return ReaderResult::new(result.map(|r| record.payload(r)), at);
    };
    let answer = ReaderResult::new(Some(record.payload(body)), at);
    let answer = match key.inner().unwrap_or("") {
        "success" => answer.protocol(body.is_true("isError")),
        "rejected" | "permissionDenied" => answer.status(Status::Denied, StatusLevel::Denial),
        "aborted" | "cancelled" => answer.status(Status::Interrupted, StatusLevel::Denial),
        _ => answer.protocol(true),
    };
    let duration = body.get("executionTime").and_then(Value::as_f64).and_then(time::millis);
    answer.exit_code(body.get("exitCode").and_then(Value::as_i64)).duration(duration)
}

fn end(b: &mut TrajectoryBuilder, record: &Record<'_>, event: Value<'_>, time: Option<Timestamp>) {
    b.run.outcome = record.text_at(event, "subtype");
    if let Some(failed) = event.get("is_error").filter(|failed| failed.as_bool() == Some(true)) {
        let outcome = DeclaredOutcome::Failed;
        declared::declare(&mut b.run, record, outcome, "is_error true", failed);
    }
    if let Some(usage) = event.get("usage") {
        let count = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
        let recorded = UsageTokens {
            input: count("inputTokens"),
            output: count("outputTokens"),
            cache_read: count("cacheReadTokens"),
            cache_write: count("cacheWriteTokens"),
            cache_write_1h: 0,
            reasoning: 0,
        };
        b.add_usage(Usage::new(recorded, Convention::ANTHROPIC));
    }
    if event.is_true("is_error") {
        let text = record.payload_at(event, "result");
        b.event(EventKind::Error, text, None, time, record.at());
    } else {
        note(b, "result", None, time, record.at());
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_stream() {
        let read = read_fixture("cursor-stream.jsonl");
        assert_eq!(read.format, "cursor-stream");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "note system\n\
             user: go\n\
             0 reasoning: hm\n\
             0 message: I look\n\
             0 call readToolCall {\"path\":\"x\"} -> succeeded(protocol): {\"content\":\"text\"}\n\
             0 call shellToolCall {\"command\":\"ls\"} -> denied(denial): {\"reason\":\"no\"}\n\
             0 call mcp__db__find {\"q\":1} -> unanswered(absent): \n\
             1 call shellToolCall {\"command\":\"x\"} -> failed(protocol) exit 3: {\"exitCode\":3}\n\
             2 message: done\n\
             unknown novelty\n\
             2 call   -> unknown(absent): \n\
             note result\n"
        );
        assert_eq!(run.usage.unwrap().total(), 8);
        assert_eq!(run.calls[0].duration.unwrap().as_secs(), 2);
        assert_eq!(run.outcome.as_ref().unwrap(), "success");
    }
}
