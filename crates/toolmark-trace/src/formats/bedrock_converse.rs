//! Conversations of Bedrock's Converse API, which Strands Agents stores unchanged: content
//! blocks without a type, distinguished by their only key (`text`, `toolUse`, `toolResult`,
//! `reasoningContent`).
//!
//! Stored as a list, one message per line, requests with `toolConfig`, responses with
//! `output.message`, Bedrock's invocation logs, and the session files of Strands, which hold
//! one `message` each.

use super::shared::conversation::{self, Conversations, MessageDialect};
use super::shared::positional::Positional;
use super::shared::tool_definitions;
use super::shared::turn::{self, TurnMessage};
use crate::builder::{ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{Convention, Fact, Fidelity, Usage, UsageTokens};
use toolmark_scan::Value;

/// Conversations of the Converse API.
pub(crate) struct BedrockConverse;

static INFO: FormatInfo = FormatInfo {
    id: "bedrock-converse",
    title: "Bedrock Converse / Strands messages",
    origin: "message lists and stored requests of Amazon Bedrock's Converse API, Strands Agents sessions",
    versions: "Converse API of 2024 and later",
    looks_for: "messages whose content blocks have toolUse or toolResult, or text without a type",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::SubAgents]),
};

impl Format for BedrockConverse {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if conversation::has_owner(probe) {
            return 0;
        }
        let sample = conversation::sample_with(probe, ConverseDialect::list);
        let blocks = || sample.iter().flat_map(|m| message_of(*m).items_at("content"));
        if blocks().any(|b| CALLS.iter().any(|key| b.get(key).is_some_and(Value::is_object))) {
            85
        } else if blocks().next().is_some()
            && blocks().all(|b| b.get("type").is_none() && KEYS.iter().any(|key| b.has(key)))
        {
            55
        } else {
            0
        }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Conversations<ConverseDialect>>::default()
    }
}

const CALLS: [&str; 3] = ["toolUse", "toolResult", "reasoningContent"];
const KEYS: [&str; 6] = ["text", "image", "document", "video", "cachePoint", "guardContent"];

/// Returns the message that a record of a session or a response wraps.
fn message_of(value: Value<'_>) -> Value<'_> {
    let inner = value.at(&["output", "message"]).or_else(|| value.get("message"));
    inner.filter(|m| m.get("role").is_some()).unwrap_or(value)
}

#[derive(Default)]
struct ConverseDialect {
    open: Positional,
}

impl MessageDialect for ConverseDialect {
    const FORMAT: &'static dyn Format = &BedrockConverse;

    fn list(document: Value<'_>) -> Option<Value<'_>> {
        let logged = document.at(&["input", "inputBodyJson", "messages"]);
        logged.filter(|v| v.is_array()).or_else(|| conversation::messages(document))
    }

    fn before(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, document: Value<'_>) {
        let request = document.at(&["input", "inputBodyJson"]).unwrap_or(document);
        if let Some(tools) = request.at(&["toolConfig", "tools"]) {
            b.run.tools = tool_definitions::read(record, tools);
        }
        if let Some(model) = record.text_at(document, "modelId") {
            b.run.agent.model = Some(model);
        }
        if let Some(system) = request.get("system") {
            b.context(Some(record.payload(system)), None, record.at_value(system));
        }
    }

    fn message(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, value: Value<'_>) {
        let message = message_of(value);
        let Some(author) = turn::author(message.word("role")) else {
            b.unknown("message without role", record.at_value(value));
            return;
        };
        let time = conversation::stated_time(value);
        let mut turn = TurnMessage::new(b, &mut self.open, record, message, author, None, time);
        let spent = [Some(value), message.get("metadata")].into_iter().flatten();
        turn.about(None, spent.filter_map(|v| v.get("usage")).find_map(usage));
        let content = message.get("content");
        if let Some(text) = content.filter(|c| c.is_string()) {
            turn.text(text);
        }
        for part in content.into_iter().flat_map(Value::items) {
            block(&mut turn, record, part);
        }
        turn.finish(content);
        if let Some(reason) = record.text_at(value, "stopReason") {
            b.run.outcome = Some(reason);
        }
    }

    fn after(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, document: Value<'_>) {
        let places: [&[&str]; 3] = [&["output", "outputBodyJson"], &["response"], &[]];
        let response = places.iter().find_map(|place| {
            document.at(place).filter(|r| r.at(&["output", "message"]).is_some())
        });
        if let Some(response) = response {
            self.message(b, record, response);
        }
    }
}

fn block(turn: &mut TurnMessage<'_, '_>, record: &Record<'_>, part: Value<'_>) {
    if let Some(text) = part.get("text") {
        turn.text(text);
    } else if let Some(call) = part.get("toolUse") {
        turn.call(part, call.get("toolUseId"), call.get("name"), call.get("input"));
    } else if let Some(result) = part.get("toolResult") {
        let payload = record.payload_at(result, "content");
        let answer = ReaderResult::new(payload, record.at_value(part));
        let answer = turn::status(answer, result.word("status"));
        turn.result(result.get("toolUseId"), None, answer);
    } else if let Some(reasoning) = part.get("reasoningContent") {
        turn.reasoning(part, reasoning.at(&["reasoningText", "text"]));
    } else if part.get("cachePoint").is_some() {
        // A mark for the provider's cache.
    } else {
        let key = part.fields().next().and_then(|(key, _)| key.inner()).unwrap_or("");
        match key {
            "image" | "document" | "video" | "guardContent" | "citationsContent" => {
                turn.attachment(part);
            }
            other => turn.unknown(other, part),
        }
    }
}

/// Reads token counts. `totalTokens` is the sum of all four: the cache is counted separately.
fn usage(usage: Value<'_>) -> Option<Usage> {
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let recorded = UsageTokens {
        input: count("inputTokens")?,
        output: count("outputTokens").unwrap_or(0),
        cache_read: count("cacheReadInputTokens").unwrap_or(0),
        cache_write: count("cacheWriteInputTokens").unwrap_or(0),
        cache_write_1h: 0,
        reasoning: 0,
    };
    let stated_total = count("totalTokens");
    Some(Usage { recorded, stated_total, convention: Convention::ANTHROPIC })
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn a_stored_request_and_its_response() {
        let read = read_fixture("bedrock-converse.json");
        assert_eq!((read.format, read.skipped), ("bedrock-converse", 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "context: be brief\n\
             user: weather?\n\
             0 reasoning: hm\n\
             0 call get_weather {\"city\":\"Oslo\"} -> failed(protocol): no such city\n\
             0 call get_time {} -> unknown(absent): 12:00\n\
             unknown content/hologram\n\
             context: hurry\n\
             1 message: sorry\n"
        );
        assert_eq!(run.usage.unwrap().total(), 17);
        assert_eq!(run.tools.as_ref().unwrap()[0].name, "get_weather");
        assert_eq!(run.outcome.as_ref().unwrap(), "end_turn");
    }

    #[test]
    fn a_message_of_a_strands_session() {
        let read = read_text(
            r#"{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"t","name":"ls","input":{}}}]},"message_id":1,"created_at":"2026-01-01T00:00:00+00:00"}"#,
        );
        assert_eq!(read.format, "bedrock-converse");
        assert_eq!(sketch(&read.runs[0]), "0 call ls {} -> unanswered(absent): \n");
        assert!(read.runs[0].started.is_some());
    }

    #[test]
    fn words_alone() {
        let read = read_text(r#"[{"role":"user","content":[{"text":"hi"}]}]"#);
        assert_eq!(read.format, "bedrock-converse");
        assert_eq!(sketch(&read.runs[0]), "user: hi\n");
    }
}
