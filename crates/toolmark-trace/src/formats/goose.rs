//! Goose sessions: a line about the session, then one message per line with `toolRequest` and
//! `toolResponse` parts; the same messages under `conversation` of an exported session, and
//! as single `message` events of `goose run --output-format stream-json`.

use super::shared::conversation::{self, Conversations, MessageDialect};
use super::shared::positional::Positional;
use super::shared::turn::{self, Author, TurnMessage};
use crate::builder::{ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{
    Convention, EventKind, Fact, Fidelity, Status, StatusLevel, Text, Usage, UsageTokens,
};
use toolmark_scan::Value;

/// Goose sessions.
pub(crate) struct Goose;

static INFO: FormatInfo = FormatInfo {
    id: "goose",
    title: "Goose session",
    origin: "~/.local/share/goose/sessions/*.jsonl, goose session export, goose run --output-format stream-json",
    versions: "1.0 and later",
    looks_for: "messages whose content has toolRequest or toolResponse, or a first line with working_dir and message_count",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::ToolDefinitions, Fact::SubAgents]),
};

impl Format for Goose {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let sample = conversation::sample_with(probe, GooseDialect::list);
        let is_own = |m: &Value<'_>| {
            let mut parts = unwrapped(*m).items_at("content");
            parts.any(|p| matches!(p.word("type"), "toolRequest" | "toolResponse"))
        };
        let is_header = |r: Value<'_>| r.has("working_dir") && r.has("message_count");
        if probe.any(is_header) || sample.iter().any(is_own) { 90 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Conversations<GooseDialect>>::default()
    }
}

/// Returns the message inside an event of the stream.
fn unwrapped(value: Value<'_>) -> Value<'_> {
    value.get("message").filter(|m| m.is_object()).unwrap_or(value)
}

#[derive(Default)]
struct GooseDialect {
    open: Positional,
}

impl MessageDialect for GooseDialect {
    const FORMAT: &'static dyn Format = &Goose;

    fn list(document: Value<'_>) -> Option<Value<'_>> {
        let list = document.get("conversation").filter(|v| v.is_array());
        list.or_else(|| conversation::messages(document))
    }

    fn before(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, document: Value<'_>) {
        describe(b, record, document);
    }

    fn message(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, value: Value<'_>) {
        b.run.agent.name.get_or_insert_with(|| Text::owned("goose"));
        let message = unwrapped(value);
        let Some(mut author) = turn::author(message.word("role")) else {
            return self.other(b, record, value);
        };
        // Goose says some things to the model in the name of the user.
        let visible = message.at(&["metadata", "userVisible"]).and_then(Value::as_bool);
        if author == Author::User && visible == Some(false) {
            author = Author::System;
        }
        let time = conversation::stated_time(message);
        let id = record.text_at(message, "id");
        let mut turn = TurnMessage::new(b, &mut self.open, record, message, author, id, time);
        let content = message.get("content");
        for part in content.into_iter().flat_map(Value::items) {
            block(&mut turn, record, part);
        }
        turn.finish(content);
    }
}

impl GooseDialect {
    /// Reads a record that is not a message.
    fn other(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, value: Value<'_>) {
        let at = record.at_value(value);
        match value.word("type") {
            "" if value.has("working_dir") || value.has("description") => {
                describe(b, record, value);
            }
            "complete" => b.run.usage = usage(value, "").or(b.run.usage),
            "error" => {
                b.event(EventKind::Error, record.payload_at(value, "error"), None, None, at);
            }
            "notification" => {
                b.event(EventKind::Note(Text::owned("notification")), None, None, None, at)
            }
            "" => b.unknown("message without role", at),
            other => b.unknown(other, at),
        }
    }
}

fn describe(b: &mut TrajectoryBuilder, record: &Record<'_>, session: Value<'_>) {
    let run = &mut b.run;
    run.cwd = run.cwd.take().or_else(|| record.text_at(session, "working_dir"));
    run.name = run.name.take().or_else(|| record.text_at(session, "description"));
    run.usage = run.usage.or_else(|| usage(session, "accumulated_"));
}

/// Reads the counts over the whole session; counts without the prefix are of the last request.
fn usage(value: Value<'_>, prefix: &str) -> Option<Usage> {
    let count = |key: &str| value.get(&format!("{prefix}{key}")).and_then(Value::as_u64);
    let (input, output) = (count("input_tokens")?, count("output_tokens")?);
    let recorded = UsageTokens { input, output, ..UsageTokens::default() };
    let stated_total = count("total_tokens");
    Some(Usage { recorded, stated_total, convention: Convention::INCLUSIVE })
}

/// Returns a member under its camel-case or snake-case key.
fn either<'a>(part: Value<'a>, camel: &str, snake: &str) -> Option<Value<'a>> {
    part.get(camel).or_else(|| part.get(snake))
}

fn block(turn: &mut TurnMessage<'_, '_>, record: &Record<'_>, part: Value<'_>) {
    match part.word("type") {
        "text" => {
            if let Some(text) = part.get("text") {
                turn.text(text);
            }
        }
        "thinking" | "redactedThinking" | "reasoning" => {
            turn.reasoning(part, part.get("thinking").or_else(|| part.get("text")));
        }
        "toolRequest" | "frontendToolRequest" => {
            let request = either(part, "toolCall", "tool_call");
            let call = request.and_then(|r| r.get("value")).or(request);
            let member = |key: &str| call.and_then(|c| c.get(key));
            let index = turn.call(part, part.get("id"), member("name"), member("arguments"));
            // A call that the model wrote wrongly never ran.
            if let Some(error) = request.and_then(|r| r.get("error")) {
                let answer = ReaderResult::new(Some(record.payload(error)), record.at_value(part));
                turn.answer(index, answer.protocol(true));
            }
        }
        "toolResponse" => response(turn, record, part),
        "image" => turn.attachment(part),
        "contextLengthExceeded" | "summarizationRequested" | "conversationCompacted" => {
            let (time, at) = (turn.time, record.at_value(part));
            turn.b.event(EventKind::Compaction, record.payload_at(part, "msg"), None, time, at);
        }
        kind @ ("toolConfirmationRequest" | "actionRequired" | "systemNotification") => {
            turn.note(kind, part);
        }
        other => turn.unknown(other, part),
    }
}

fn response(turn: &mut TurnMessage<'_, '_>, record: &Record<'_>, part: Value<'_>) {
    let result = either(part, "toolResult", "tool_result");
    let value = result.and_then(|r| r.get("value").or_else(|| r.get("error")));
    let content = value.and_then(|v| v.get("content")).or(value);
    let answer = ReaderResult::new(content.map(|c| record.payload(c)), record.at_value(part));
    let marked = value.and_then(|v| either(v, "isError", "is_error")).and_then(Value::as_bool);
    let words = content.and_then(|c| c.items().next()).and_then(|c| c.get_str("text"));
    let refused = words.is_some_and(|w| w.starts_with("The user has declined to run this tool"));
    let answer = match (marked, result.map_or("", |r| r.word("status"))) {
        _ if refused => answer.status(Status::Denied, StatusLevel::Denial),
        (Some(failed), _) => answer.protocol(failed),
        (None, word) => turn::status(answer, word),
    };
    turn.result(part.get("id"), None, answer);
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn a_session() {
        let read = read_fixture("goose.jsonl");
        assert_eq!((read.format, read.skipped), ("goose", 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: fix it\n\
             0 message: I look\n\
             0 call developer__shell {\"command\":\"ls\"} -> succeeded(protocol): a b\n\
             0 call developer__shell {\"command\":\"rm -rf /\"} -> denied(denial): The user has declined to run this tool.\n\
             0 call developer__edit {} -> failed(protocol): no such file\n\
             0 call  -> failed(protocol): not a tool\n\
             context: the plan\n\
             1 message: done\n\
             unknown content/hologram\n"
                .replace("call  ->", "call   ->")
        );
        assert_eq!(run.cwd.as_ref().unwrap(), "/w");
        assert_eq!(run.usage.unwrap().total(), 120);
    }

    #[test]
    fn an_export_and_a_stream() {
        let export = read_text(
            r#"{"id":"s","working_dir":"/w","conversation":[{"role":"assistant","content":[{"type":"toolRequest","id":"a","toolCall":{"value":{"name":"x","arguments":{}}}}]},
            {"role":"user","content":[{"type":"toolResponse","id":"a","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"no"}],"isError":true}}}]}]}"#,
        );
        assert_eq!(export.format, "goose");
        assert_eq!(sketch(&export.runs[0]), "0 call x {} -> failed(protocol): no\n");
        let stream = read_text(
            "starting session\n{\"type\":\"message\",\"message\":{\"id\":\"m\",\"role\":\"assistant\",\"created\":1751000000,\"content\":[{\"type\":\"toolRequest\",\"id\":\"a\",\"toolCall\":{\"status\":\"success\",\"value\":{\"name\":\"x\",\"arguments\":{}}}}]}}\n{\"type\":\"complete\",\"total_tokens\":9}\n",
        );
        assert_eq!(stream.format, "goose");
        assert_eq!(sketch(&stream.runs[0]), "0 call x {} -> unanswered(absent): \n");
    }
}
