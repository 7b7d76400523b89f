//! `gemini --output-format stream-json`: one event per line.
//!
//! Events are `init`, `message` (the assistant's in pieces marked `delta`), `tool_use`,
//! `tool_result`, `error` and `result`. The calls of one response are not marked. The `stats`
//! of a `result` cover one process only; a file may hold several, each with its own `init`,
//! and they are added up.

use super::shared::events::{note, set_once, words};
use super::shared::pieces::{self, MessagePieces};
use super::shared::readers::{OneRun, one_run};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{
    Convention, EventKind, Fact, Fidelity, Status, StatusLevel, ToolName, Usage, UsageTokens, time,
};
use jiff::Timestamp;
use toolmark_scan::Value;

/// Gemini CLI stream.
pub(crate) struct GeminiStream;

static INFO: FormatInfo = FormatInfo {
    id: "gemini-stream",
    title: "Gemini CLI stream-json",
    origin: "gemini --output-format stream-json",
    versions: "0.11 to 0.61",
    looks_for: "init events, or tool_use events with tool_id and tool_name",
    fidelity: Fidelity::lacking(&[
        Fact::Steps,
        Fact::Parallel,
        Fact::Reasoning,
        Fact::Cost,
        Fact::SubAgents,
        Fact::ToolDefinitions,
        Fact::WorkingDirectory,
        Fact::ExitCodes,
    ]),
};

impl Format for GeminiStream {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let kind = |r: Value<'_>, want: &str| r.field_is("type", want);
        let is_call = |r: Value<'_>| {
            kind(r, "tool_use") && r.get("tool_id").is_some() && r.get("tool_name").is_some()
        };
        let is_init = |r: Value<'_>| {
            kind(r, "init") && r.get("session_id").is_some() && r.get("model").is_some()
        };
        let is_result = |r: Value<'_>| kind(r, "tool_result") && r.get("tool_id").is_some();
        let is_end = |r: Value<'_>| kind(r, "result") && r.at(&["stats", "total_tokens"]).is_some();
        if probe.any(|r| is_call(r) || is_init(r) || is_result(r) || is_end(r)) {
            return 100;
        }
        let is_piece = |r: Value<'_>| {
            kind(r, "message")
                && r.get("role").is_some()
                && r.get("content").is_some()
                && r.get("delta").is_some()
        };
        if probe.any(is_piece) { 60 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        one_run::<GeminiStreamRun>(&GeminiStream, "gemini-cli", "an event")
    }
}

#[derive(Default)]
struct GeminiStreamRun {
    /// Assistant message whose pieces are still being read.
    message: Option<MessagePieces>,
}

impl OneRun for GeminiStreamRun {
    fn record(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, value: Value<'_>) {
        let time = value.get("timestamp").or_else(|| value.get("ts")).and_then(time::from_value);
        let kind = value.word("type");
        let role = value.word("role");
        if kind == "message" && role == "assistant" {
            if let Some(piece) = value.get("content").and_then(|c| words(record, c)) {
                let delta = value.is_true("delta");
                if !delta {
                    flush(b, &mut self.message);
                }
                pieces::add(&mut self.message, piece, time, record.at());
            }
            return;
        }
        flush(b, &mut self.message);
        match kind {
            "init" => {
                b.seen(time);
                set_once(&mut b.run.id, record, value, "session_id");
                set_once(&mut b.run.agent.model, record, value, "model");
                note(b, "init", None, time, record.at());
            }
            "message" => {
                let text = value.get("content").and_then(|c| words(record, c));
                match role {
                    "user" => b.user(text, time, record.at()),
                    _ => b.context(text, time, record.at()),
                }
            }
            "tool_use" => tool_use(b, record, value, time),
            "tool_result" => tool_result(b, record, value, time),
            "error" => {
                let text = record.payload_at(value, "message");
                b.event(EventKind::Error, text, None, time, record.at());
            }
            "result" => end(b, record, value, time),
            other => b.unknown(other, record.at()),
        }
    }

    fn finish(&mut self, b: &mut TrajectoryBuilder) {
        flush(b, &mut self.message);
    }
}

fn flush(b: &mut TrajectoryBuilder, message: &mut Option<MessagePieces>) {
    if let Some((text, time, at)) = message.take().map(MessagePieces::close) {
        b.event(EventKind::Message, Some(text), None, time, at);
    }
}

fn tool_use(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    value: Value<'_>,
    time: Option<Timestamp>,
) {
    let before = b.run.calls.len();
    b.call(NewCall {
        id: record.text_at(value, "tool_id"),
        name: ToolName::or_empty(record.text_at(value, "tool_name")),
        args: record.payload_at(value, "parameters"),
        step: None,
        time,
        at: record.at(),
    });
    if b.run.calls.len() > before && value.field_is("tool_name", "activate_skill") {
        let skill = value.at(&["parameters", "name"]).map(|n| record.payload(n));
        b.event(EventKind::Skill, skill, None, time, record.at());
    }
}

fn tool_result(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    value: Value<'_>,
    time: Option<Timestamp>,
) {
    let error = value.get("error");
    let message = error.and_then(|e| e.get("message"));
    let payload = value.get("output").or(message).map(|p| record.payload(p));
    let answer = ReaderResult::new(payload, record.at()).time(time);
    let kind = error.and_then(|e| e.get("type")).and_then(Value::inner).unwrap_or("");
    let answer = match value.get("status").and_then(Value::inner) {
        Some("success") => answer.protocol(false),
        _ if kind.contains("denied") || kind.contains("policy") => {
            answer.status(Status::Denied, StatusLevel::Denial)
        }
        Some("cancelled") => answer.status(Status::Interrupted, StatusLevel::Denial),
        Some("error") => answer.protocol(true),
        _ if error.is_some() => answer.protocol(true),
        _ => answer,
    };
    b.answer(value.get_str("tool_id").as_deref(), answer);
}

fn end(b: &mut TrajectoryBuilder, record: &Record<'_>, value: Value<'_>, time: Option<Timestamp>) {
    b.run.outcome = record.text_at(value, "status").or(b.run.outcome.take());
    if let Some(stats) = value.get("stats") {
        let count = |key: &str| stats.get(key).and_then(Value::as_u64);
        let recorded = UsageTokens {
            input: count("input_tokens").unwrap_or(0),
            output: count("output_tokens").unwrap_or(0),
            cache_read: count("cached").unwrap_or(0),
            cache_write: 0,
            cache_write_1h: 0,
            reasoning: 0,
        };
        b.add_usage(Usage {
            recorded,
            stated_total: count("total_tokens"),
            convention: Convention::GEMINI,
        });
    }
    match value.get("error") {
        Some(error) => {
            let text = error.get("message").unwrap_or(error);
            b.event(EventKind::Error, Some(record.payload(text)), None, time, record.at());
        }
        None => note(b, "result", None, time, record.at()),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Fact;
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_stream_of_two_processes() {
        let read = read_fixture("gemini-stream.jsonl");
        assert_eq!(read.format, "gemini-stream");
        assert_eq!(read.skipped, 0);
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "note init\n\
             user: go\n\
             call a {\"x\":1} -> succeeded(protocol): \n\
             call b {} -> denied(denial): no\n\
             call c {} -> unanswered(absent): \n\
             orphanresult: who?\n\
             message: almost\n\
             error: loop\n\
             note result\n\
             note init\n\
             unknown new-kind\n\
             unknown \n\
             message: end\n\
             error: quota\n"
        );
        assert_eq!((run.usage.unwrap().recorded.input, run.usage.unwrap().total()), (9, 13));
        assert!(run.fidelity.lacks(Fact::Steps));
        assert_eq!(run.outcome.as_ref().unwrap(), "error");
        assert_eq!(run.calls[0].duration.unwrap().as_secs(), 2);
    }
}
