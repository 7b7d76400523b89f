//! Messages of Pydantic AI (`all_messages_json`): alternating requests and responses, each
//! with parts distinguished by `part_kind`. A tool that failed answers with a `retry-prompt`.

use super::shared::conversation::{self, Conversations, MessageDialect};
use super::shared::positional::Positional;
use super::shared::turn::{self, Author, TurnMessage};
use crate::builder::{ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{Actor, Convention, Fact, Fidelity, Usage, UsageTokens, time};
use toolmark_scan::Value;

/// Messages of Pydantic AI.
pub(crate) struct PydanticAi;

static INFO: FormatInfo = FormatInfo {
    id: "pydantic-ai",
    title: "Pydantic AI messages",
    origin: "message histories that Pydantic AI serialises (all_messages_json)",
    versions: "0.0.20 to 1.x",
    looks_for: "messages of kind request and response with parts that have part_kind",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::SubAgents, Fact::ToolDefinitions]),
};

impl Format for PydanticAi {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let sample = conversation::sample(probe);
        let is_own = |m: &Value<'_>| message_of(*m).items_at("parts").any(|p| p.has("part_kind"));
        if sample.iter().any(is_own) { 95 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Conversations<PydanticDialect>>::default()
    }
}

/// Returns the message inside a row of an application's own log.
fn message_of(value: Value<'_>) -> Value<'_> {
    value.get("message").filter(|m| m.has("parts")).unwrap_or(value)
}

#[derive(Default)]
struct PydanticDialect {
    open: Positional,
}

impl MessageDialect for PydanticDialect {
    const FORMAT: &'static dyn Format = &PydanticAi;

    fn message(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, value: Value<'_>) {
        let message = message_of(value);
        let stated = conversation::stated_time(message);
        if message.field_is("kind", "response") {
            let mut turn = TurnMessage::new(
                b,
                &mut self.open,
                record,
                message,
                Author::Assistant,
                None,
                stated,
            );
            let model = record.text_at(message, "model_name");
            turn.about(model, message.get("usage").and_then(usage));
            message.items_at("parts").for_each(|part| response_part(&mut turn, record, part));
        } else if message.has("parts") {
            if let Some(text) = message.get("instructions") {
                b.context(Some(record.payload(text)), stated, record.at_value(text));
            }
            for part in message.items_at("parts") {
                let time = part.get("timestamp").and_then(time::from_value).or(stated);
                let author = match part.word("part_kind") {
                    "user-prompt" => Author::User,
                    "tool-return" | "retry-prompt" => Author::Tool,
                    _ => Author::System,
                };
                let turn = TurnMessage::new(b, &mut self.open, record, part, author, None, time);
                request_part(turn, record, part);
            }
        } else {
            b.unknown("message without parts", record.at_value(value));
        }
    }
}

fn request_part(mut turn: TurnMessage<'_, '_>, record: &Record<'_>, part: Value<'_>) {
    let content = part.get("content");
    match part.word("part_kind") {
        "user-prompt" | "system-prompt" => {
            if let Some(content) = content {
                turn.text(content);
            }
            turn.finish(content);
        }
        "tool-return" => {
            let answer =
                ReaderResult::new(content.map(|c| record.payload(c)), record.at_value(part));
            let answer = match part.word("outcome") {
                "" => answer.protocol(false),
                outcome => turn::status(answer, outcome),
            };
            turn.result(part.get("tool_call_id"), part.get("tool_name"), answer);
        }
        "retry-prompt" if part.get("tool_name").is_some() => {
            let answer =
                ReaderResult::new(content.map(|c| record.payload(c)), record.at_value(part));
            turn.result(part.get("tool_call_id"), part.get("tool_name"), answer.protocol(true));
        }
        // The model's answer was invalid; this text was not typed by a user.
        "retry-prompt" => {
            if let Some(content) = content {
                turn.text(content);
            }
        }
        other => turn.unknown(other, part),
    }
}

fn response_part(turn: &mut TurnMessage<'_, '_>, record: &Record<'_>, part: Value<'_>) {
    match part.word("part_kind") {
        "text" => {
            if let Some(text) = part.get("content") {
                turn.text(text);
            }
        }
        "thinking" => turn.reasoning(part, part.get("content")),
        kind @ ("tool-call" | "builtin-tool-call") => {
            let call =
                turn.call(part, part.get("tool_call_id"), part.get("tool_name"), part.get("args"));
            if kind == "builtin-tool-call" {
                turn.b.run.calls[call as usize].actor = Actor::Provider;
            }
        }
        "builtin-tool-return" => {
            let answer =
                ReaderResult::new(record.payload_at(part, "content"), record.at_value(part));
            turn.result(part.get("tool_call_id"), part.get("tool_name"), answer.protocol(false));
        }
        "file" => turn.attachment(part),
        other => turn.unknown(other, part),
    }
}

fn usage(usage: Value<'_>) -> Option<Usage> {
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let recorded = UsageTokens {
        input: count("input_tokens").or_else(|| count("request_tokens"))?,
        output: count("output_tokens").or_else(|| count("response_tokens")).unwrap_or(0),
        cache_read: count("cache_read_tokens").unwrap_or(0),
        cache_write: count("cache_write_tokens").unwrap_or(0),
        cache_write_1h: 0,
        reasoning: usage.at(&["details", "reasoning_tokens"]).and_then(Value::as_u64).unwrap_or(0),
    };
    let stated_total = count("total_tokens");
    Some(Usage { recorded, stated_total, convention: Convention::INCLUSIVE })
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_history() {
        let read = read_fixture("pydantic-ai.json");
        assert_eq!((read.format, read.skipped), ("pydantic-ai", 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "context: be brief\n\
             context: you are\n\
             user: weather?\n\
             0 reasoning: hm\n\
             0 call get_weather {\"city\":\"Oslo\"} -> succeeded(protocol): rain\n\
             0 call get_time {} -> failed(protocol): no zone\n\
             context: answer in JSON\n\
             1 message: rain\n\
             unknown content/hologram\n"
        );
        assert_eq!(run.usage.unwrap().total(), 8);
        assert_eq!(run.agent.model.as_ref().unwrap(), "gpt-4o");
    }
}
