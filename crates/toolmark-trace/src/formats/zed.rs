//! Threads of the Zed editor: messages keyed by author (`User`, `Agent`), with the results of
//! an agent's calls in a map beside its content. Until version 0.2, messages had a `role`,
//! `segments` and `tool_uses`, with the results in the next message.

use super::shared::anthropic;
use super::shared::conversation::{self, Conversations, MessageDialect};
use super::shared::positional::Positional;
use super::shared::turn::{self, Author, TurnMessage};
use crate::builder::{ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{Convention, Fact, Fidelity, Text, Usage};
use toolmark_scan::Value;

/// Threads of Zed.
pub(crate) struct Zed;

static INFO: FormatInfo = FormatInfo {
    id: "zed",
    title: "Zed thread",
    origin: "threads of Zed's agent panel, as JSON",
    versions: "0.1.0 to 0.3.0",
    looks_for: "messages with User and Agent, or with segments and tool_uses",
    fidelity: Fidelity::lacking(&[
        Fact::ExitCodes,
        Fact::SubAgents,
        Fact::Times,
        Fact::Durations,
        Fact::Cost,
        Fact::ToolDefinitions,
    ]),
};

impl Format for Zed {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_own = |message: Value<'_>| {
            ["User", "Agent"].iter().any(|k| message.get(k).is_some_and(|m| m.has("content")))
                || message.has("segments") && message.has("tool_uses")
        };
        let inside =
            |r: Value<'_>| conversation::messages(r).is_some_and(|l| l.items().any(is_own));
        if probe.any(inside) { 95 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Conversations<ZedDialect>>::default()
    }
}

#[derive(Default)]
struct ZedDialect {
    open: Positional,
}

impl MessageDialect for ZedDialect {
    const FORMAT: &'static dyn Format = &Zed;

    fn before(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, thread: Value<'_>) {
        b.run.agent.name = Some(Text::owned("zed"));
        b.run.agent.model = thread.at(&["model", "model"]).and_then(|m| record.text(m));
        b.run.name = record.text_at(thread, "summary").or(b.run.name.take());
        let spent = thread.get("cumulative_token_usage").map(anthropic::usage);
        let spent = spent.filter(|tokens| !tokens.is_zero());
        b.run.usage = spent.map(|tokens| Usage::new(tokens, Convention::ANTHROPIC));
        b.seen(thread.get("updated_at").and_then(crate::model::time::from_value));
    }

    fn message(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
        if let Some(user) = message.get("User") {
            let mut turn =
                TurnMessage::new(b, &mut self.open, record, message, Author::User, None, None);
            let content = user.get("content");
            for part in content.into_iter().flat_map(Value::items) {
                turn.text(part.get("Text").unwrap_or(part));
            }
            turn.finish(content);
        } else if let Some(agent) = message.get("Agent") {
            let author = Author::Assistant;
            let mut turn = TurnMessage::new(b, &mut self.open, record, message, author, None, None);
            agent.items_at("content").for_each(|part| block(&mut turn, part));
            for (_, result) in agent.get("tool_results").into_iter().flat_map(Value::fields) {
                answer(&mut turn, record, result);
            }
        } else if message.has("segments") {
            self.old_message(b, record, message);
        } else if !message.is("Resume") {
            b.unknown("message", record.at_value(message));
        }
    }
}

impl ZedDialect {
    fn old_message(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
        let author = turn::author(message.word("role")).unwrap_or(Author::System);
        let mut turn = TurnMessage::new(b, &mut self.open, record, message, author, None, None);
        message.items_at("tool_results").for_each(|result| answer(&mut turn, record, result));
        let segments = message.get("segments");
        for part in segments.into_iter().flat_map(Value::items) {
            match part.word("type") {
                "text" => turn.text(part.get("text").unwrap_or(part)),
                "thinking" | "redacted_thinking" => turn.reasoning(part, part.get("text")),
                other => turn.unknown(other, part),
            }
        }
        for call in message.items_at("tool_uses") {
            turn.call(call, call.get("id"), call.get("name"), call.get("input"));
        }
        turn.finish(segments);
    }
}

fn block(turn: &mut TurnMessage<'_, '_>, part: Value<'_>) {
    let Some((key, value)) = part.fields().next() else {
        turn.unknown("", part);
        return;
    };
    match key.inner().unwrap_or("") {
        "Text" => turn.text(value),
        "Thinking" => turn.reasoning(part, value.get("text")),
        "RedactedThinking" => turn.reasoning(part, None),
        "ToolUse" => {
            let args = value.get("input").or_else(|| value.get("raw_input"));
            turn.call(part, value.get("id"), value.get("name"), args);
        }
        other => turn.unknown(other, part),
    }
}

fn answer(turn: &mut TurnMessage<'_, '_>, record: &Record<'_>, result: Value<'_>) {
    let content = result.get("content");
    let text = content.and_then(|c| c.get("Text")).or(content);
    let answer = ReaderResult::new(text.map(|t| record.payload(t)), record.at_value(result));
    let answer = match result.get("is_error").and_then(Value::as_bool) {
        Some(failed) => answer.protocol(failed),
        None => answer,
    };
    turn.result(result.get("tool_use_id"), result.get("tool_name"), answer);
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn a_thread() {
        let read = read_fixture("zed.json");
        assert_eq!((read.format, read.skipped), ("zed", 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: fix it\n\
             0 reasoning: hm\n\
             0 message: I look\n\
             0 call read_file {\"path\":\"a\"} -> failed(protocol): boom\n\
             0 call terminal {} -> unanswered(absent): \n\
             1 message: sorry\n\
             unknown content/Hologram\n"
        );
        assert_eq!(run.usage.unwrap().total(), 12);
    }

    #[test]
    fn an_older_thread() {
        let read = read_text(
            r#"{"version":"0.2.0","summary":"s","messages":[{"id":0,"role":"user","segments":[{"type":"text","text":"hi"}],"tool_uses":[],"tool_results":[]},
            {"id":1,"role":"assistant","segments":[],"tool_uses":[{"id":"t","name":"ls","input":{}}],"tool_results":[]},
            {"id":2,"role":"user","segments":[],"tool_uses":[],"tool_results":[{"tool_use_id":"t","is_error":false,"content":"a"}]}]}"#,
        );
        assert_eq!(read.format, "zed");
        assert_eq!(sketch(&read.runs[0]), "user: hi\n0 call ls {} -> succeeded(protocol): a\n");
    }
}
