//! Factory's Droid: session files, and the stream of `droid exec`.
//!
//! A session file begins with `session_start`; its `message` lines hold Anthropic content
//! blocks. The stream (`--output-format stream-json`) has flat events instead: `system`,
//! `message` with `text`, `tool_call`, `tool_result` and `completion`. Stream calls of one
//! response share `messageId`; without it, a new response begins after a result.
//!
//! Failure of a command may be visible only in the text (`Command failed (exit code: 1)`,
//! `[Process exited with code 1]`). A `<system-reminder>` before the user's text is written
//! by the client.

use super::shared::anthropic;
use super::shared::events::{note, open_step, set_once, words};
use super::shared::exit_code::leading_number;
use super::shared::readers::{OneRun, one_run};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{
    Convention, EventKind, Fact, Fidelity, Text, ToolDefinition, ToolName, Usage, time,
};
use jiff::Timestamp;
use toolmark_scan::Value;

/// Droid sessions and streams.
pub(crate) struct Droid;

static INFO: FormatInfo = FormatInfo {
    id: "droid",
    title: "Droid session or stream",
    origin: "~/.factory/sessions/*.jsonl, droid exec --output-format stream-json",
    versions: "0.1 to 0.81",
    looks_for: "a session_start line, or tool_call events with toolName and parameters",
    fidelity: Fidelity::lacking(&[Fact::Cost, Fact::SubAgents]),
};

impl Format for Droid {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if probe.any(|r| is_session(r) || is_event(r)) { 100 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        one_run::<DroidSession>(&Droid, "droid", "a session line")
    }
}

fn is_session(line: Value<'_>) -> bool {
    line.field_is("type", "session_start")
        && line.get("id").is_some()
        && (line.get("title").is_some() || line.get("owner").is_some())
}

fn is_event(event: Value<'_>) -> bool {
    let has = |keys: &[&str]| keys.iter().any(|k| event.get(k).is_some());
    if !has(&["session_id", "sessionId"]) {
        return false;
    }
    match event.get("type").and_then(Value::inner) {
        Some("message") => has(&["role"]) && has(&["text"]),
        Some("tool_call") => has(&["toolName", "toolId"]) && has(&["parameters"]),
        Some("tool_result") => has(&["toolCallId", "toolId"]) && has(&["value", "isError"]),
        Some("completion") => has(&["finalText"]),
        _ => false,
    }
}

#[derive(Default)]
struct DroidSession {
    /// Current response of the stream; `None` after a result.
    step: Option<u32>,
    /// Last text of the assistant, which the completion repeats.
    last_words: Option<Text>,
}

impl OneRun for DroidSession {
    fn record(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, line: Value<'_>) {
        let time = line.get("timestamp").and_then(time::from_value);
        b.seen(time);
        set_once(&mut b.run.id, record, line, "session_id");
        set_once(&mut b.run.id, record, line, "sessionId");
        let kind = line.word("type");
        match kind {
            "session_start" => {
                set_once(&mut b.run.id, record, line, "id");
                set_once(&mut b.run.name, record, line, "sessionTitle");
                set_once(&mut b.run.name, record, line, "title");
                set_once(&mut b.run.cwd, record, line, "cwd");
                b.run.agent.version = line.get("version").and_then(|v| record.label(v));
            }
            "message" => match line.get("message") {
                Some(message) => stored_message(b, record, line, message, time),
                None => self.streamed_message(b, record, line, time),
            },
            "system" => system(b, record, line, time),
            "tool_call" => self.tool_call(b, record, line, time),
            "tool_result" => self.tool_result(b, record, line, time),
            "reasoning" | "thinking" => {
                let step = self.step(b, record, line, time);
                b.reasoning(step, record.payload_at(line, "text"), time, record.at());
            }
            "completion" => self.completion(b, record, line, time),
            "error" => {
                let text = record.payload_at(line, "message");
                b.event(EventKind::Error, text, None, time, record.at());
            }
            "compaction_state" => {
                let text = line.get("summaryText").or_else(|| line.get("summary"));
                let text = text.and_then(|s| words(record, s));
                b.event(EventKind::Compaction, text, None, time, record.at());
            }
            "todo_state" | "session_end" => note(b, kind, None, time, record.at()),
            other => b.unknown(other, record.at()),
        }
    }
}

impl DroidSession {
    /// Returns the response that a streamed event belongs to.
    fn step(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        event: Value<'_>,
        time: Option<Timestamp>,
    ) -> u32 {
        open_step(&mut self.step, b, record.text_at(event, "messageId"), time, record.at())
    }

    fn streamed_message(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        event: Value<'_>,
        time: Option<Timestamp>,
    ) {
        let text = event.get("text");
        match event.word("role") {
            "user" => {
                self.step = None;
                let words = text.map(|t| record.payload(t));
                if text.and_then(Value::str).is_some_and(|t| is_reminder(&t)) {
                    b.context(words, time, record.at());
                } else {
                    b.user(words, time, record.at());
                }
            }
            "assistant" => {
                // The message's own id is what its calls name as `messageId`.
                let step = match record.text_at(event, "id") {
                    Some(id) => b.step(Some(id), time, record.at()),
                    None => self.step(b, record, event, time),
                };
                self.step = Some(step);
                self.last_words = text.and_then(|t| record.text(t));
                if let Some(text) = text {
                    b.message(step, record.payload(text), time, record.at());
                }
            }
            "system" => b.context(text.map(|t| record.payload(t)), time, record.at()),
            other => b.unknown(format!("message/{other}"), record.at()),
        }
    }

    fn tool_call(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        event: Value<'_>,
        time: Option<Timestamp>,
    ) {
        let step = self.step(b, record, event, time);
        let name = event.get("toolName").or_else(|| event.get("toolId"));
        b.call(NewCall {
            id: call_id(event).and_then(|id| record.text(id)),
            name: ToolName::or_empty(name.and_then(|n| record.text(n))),
            args: record.payload_at(event, "parameters"),
            step: Some(step),
            time,
            at: record.at(),
        });
    }

    fn tool_result(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        event: Value<'_>,
        time: Option<Timestamp>,
    ) {
        self.step = None;
        let value = event.get("value").or_else(|| event.get("error"));
        let mut answer =
            ReaderResult::new(value.map(|v| record.payload(v)), record.at()).time(time);
        if let Some(failed) = event.get("isError").and_then(Value::as_bool) {
            answer = answer.protocol(failed);
        }
        let code = value.and_then(|v| v.get("exitCode")).and_then(Value::as_i64);
        let code = code.or_else(|| text_exit_code(&value?.str()?));
        let answer = answer.exit_code(code);
        b.answer(call_id(event).and_then(Value::str).as_deref(), answer);
    }

    fn completion(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        event: Value<'_>,
        time: Option<Timestamp>,
    ) {
        b.run.outcome = Some(Text::owned("completed"));
        if let Some(usage) = event.get("usage") {
            b.add_usage(Usage::new(anthropic::usage(usage), Convention::ANTHROPIC));
        }
        // Usually repeats the last message.
        let words = event.get("finalText").and_then(|t| record.text(t));
        if words == self.last_words {
            note(b, "completion", None, time, record.at());
        } else if let Some(text) = record.payload_at(event, "finalText") {
            let step = self.step(b, record, event, time);
            b.message(step, text, time, record.at());
        }
    }
}

/// Returns the ID of a call, which has a different name in older events.
fn call_id(event: Value<'_>) -> Option<Value<'_>> {
    event.get("toolCallId").or_else(|| event.get("id"))
}

fn system(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    event: Value<'_>,
    time: Option<Timestamp>,
) {
    set_once(&mut b.run.cwd, record, event, "cwd");
    set_once(&mut b.run.agent.model, record, event, "model");
    if let Some(tools) = event.get("tools") {
        let named = tools.items().filter_map(|t| {
            Some(ToolDefinition { name: record.text(t)?, description: None, schema: None })
        });
        b.run.tools = Some(named.collect());
    }
    note(b, "system", None, time, record.at());
}

fn stored_message(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    line: Value<'_>,
    message: Value<'_>,
    time: Option<Timestamp>,
) {
    let content = message.get("content");
    match message.word("role") {
        "assistant" => {
            let step = b.step(record.text_at(line, "id"), time, record.at());
            b.run.steps[step as usize].model = record.text_at(message, "model");
            if let Some(content) = content {
                anthropic::assistant(b, record, content, step, time);
            }
        }
        "user" => {
            let mut results = 0;
            for block in content.into_iter().flat_map(Value::items) {
                if block.field_is("type", "tool_result") {
                    results += 1;
                    stored_result(b, record, block, time);
                }
            }
            if results > 0 {
                return;
            }
            let text = content.and_then(|c| words(record, c));
            if content.is_some_and(is_all_reminders) {
                b.context(text, time, record.at());
            } else {
                b.user(text, time, record.at());
            }
        }
        "system" => b.context(content.and_then(|c| words(record, c)), time, record.at()),
        other => b.unknown(format!("message/{other}"), record.at()),
    }
}

/// Reads a result block; without an error field, the exit code in its text determines the
/// status.
fn stored_result(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    block: Value<'_>,
    time: Option<Timestamp>,
) {
    let mut answer = anthropic::result_answer(record, block).time(time);
    let text = block.get("content").map(anthropic::first_text).unwrap_or_default();
    let code = text_exit_code(&text);
    if code.is_some() && !block.has("is_error") {
        let (payload, at) = (answer.payload.take(), answer.at.clone());
        answer = ReaderResult::new(payload, at).time(time);
    }
    let answer = answer.exit_code(code);
    b.answer(block.get_str("tool_use_id").as_deref(), answer);
}

/// Returns the exit code in the first or the last line of a command's result.
fn text_exit_code(text: &str) -> Option<i64> {
    let first = text.lines().next().and_then(|l| l.strip_prefix("Error: Command failed "));
    let first = first.and_then(|l| l.strip_prefix("(exit code: "));
    let last = || text.lines().next_back()?.strip_prefix("[Process exited with code ");
    first.or_else(last).and_then(leading_number)
}

/// Returns whether all text in `content` is written by the client.
fn is_all_reminders(content: Value<'_>) -> bool {
    if let Some(text) = content.str() {
        return is_reminder(&text);
    }
    let mut blocks = content.items().peekable();
    blocks.peek().is_some()
        && blocks.all(|b| b.get("text").and_then(Value::str).is_some_and(|t| is_reminder(&t)))
}

/// Returns whether the text is nothing but a reminder.
fn is_reminder(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("<system-reminder>") && text.ends_with("</system-reminder>")
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn a_session_file() {
        let read = read_fixture("droid.jsonl");
        assert_eq!(read.format, "droid");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "context: <system-reminder>\nx\n</system-reminder>\n\
             user: go\n\
             0 message: ok\n\
             0 call Execute {\"command\":\"ls\"} -> failed(exitcode) exit 2: Error: Command failed (exit code: 2)\nno\n\
             0 call Read {} -> denied(denial): User rejected\n\
             0 call Read {} -> unanswered(absent): \n\
             orphanresult: ?\n\
             note todo_state\n\
             unknown fresh\n\
             unknown message/\n"
        );
        assert_eq!(run.agent.version.as_ref().unwrap(), "2");
    }

    #[test]
    fn a_stream() {
        let read = read_text(
            r#"{"type":"system","subtype":"init","session_id":"s","model":"m","cwd":"/w","tools":["Execute"],"reasoning_effort":"off"}
{"type":"message","session_id":"s","role":"user","text":"go","id":"u","timestamp":1767812640000}
{"type":"tool_call","session_id":"s","id":"a","messageId":"m1","toolId":"Execute","toolName":"Execute","parameters":{"command":"x"},"timestamp":1767812641000}
{"type":"tool_call","session_id":"s","id":"b","messageId":"m1","toolId":"Read","toolName":"Read","parameters":{}}
{"type":"tool_result","session_id":"s","id":"a","messageId":"m1","toolId":"Execute","isError":true,"value":"no","timestamp":1767812642000}
{"type":"tool_call","session_id":"s","toolCallId":"c","toolName":"Shell","parameters":{}}
{"type":"tool_result","session_id":"s","toolCallId":"c","value":{"stdout":"x","exitCode":3}}
{"type":"message","session_id":"s","role":"assistant","text":"done","id":"m2"}
{"type":"completion","session_id":"s","finalText":"done","usage":{"input_tokens":4,"output_tokens":2}}
{"type":"error","session_id":"s","message":"auth"}
"#,
        );
        assert_eq!(read.format, "droid");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "note system\n\
             user: go\n\
             0 call Execute {\"command\":\"x\"} -> failed(protocol): no\n\
             0 call Read {} -> unanswered(absent): \n\
             1 call Shell {} -> failed(exitcode) exit 3: {\"stdout\":\"x\",\"exitCode\":3}\n\
             2 message: done\n\
             note completion\n\
             error: auth\n"
        );
        assert_eq!(run.usage.unwrap().total(), 6);
        assert_eq!(run.calls[0].duration.unwrap().as_secs(), 1);
        assert_eq!(run.tools.as_ref().unwrap().len(), 1);
    }
}
