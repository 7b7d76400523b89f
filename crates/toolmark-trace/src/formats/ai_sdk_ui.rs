//! Messages of the Vercel AI SDK as its clients store them (`UIMessage`): parts of type
//! `text`, `reasoning`, `tool-<name>` or `dynamic-tool`. A call and its result are one part
//! whose `state` gives the progress. Version 4 had `tool-invocation` parts, and before that
//! `toolInvocations` beside the text.

use super::shared::conversation::{self, Conversations, MessageDialect};
use super::shared::positional::Positional;
use super::shared::turn::{self, TurnMessage};
use crate::builder::{ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{
    Actor, Convention, Fact, Fidelity, Status, StatusLevel, ToolName, Usage, UsageTokens,
};
use toolmark_scan::Value;

/// UI messages of the AI SDK.
pub(crate) struct AiSdkUi;

static INFO: FormatInfo = FormatInfo {
    id: "ai-sdk-ui",
    title: "AI SDK UI messages",
    origin: "chats that applications with the Vercel AI SDK store (UIMessage)",
    versions: "4 to 6",
    looks_for: "messages with a role and parts of type text, tool-* or step-start",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::SubAgents]),
};

impl Format for AiSdkUi {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let sample = conversation::sample(probe);
        let sample = || sample.iter().filter(|m| turn::author(m.word("role")).is_some());
        let mut parts = sample().flat_map(|m| m.items_at("parts"));
        let is_tool = |p: Value<'_>| {
            p.word("type") == "step-start" || p.has("toolCallId") || p.has("toolInvocation")
        };
        let is_invocation =
            |m: &Value<'_>| m.items_at("toolInvocations").any(|t| t.has("toolName"));
        let is_text = |p: Value<'_>| p.field_is("type", "text") && p.has("text");
        if parts.clone().any(is_tool) || sample().any(is_invocation) {
            85
        } else if parts.any(is_text) {
            65
        } else {
            0
        }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Conversations<UiDialect>>::default()
    }
}

#[derive(Default)]
struct UiDialect {
    open: Positional,
}

impl MessageDialect for UiDialect {
    const FORMAT: &'static dyn Format = &AiSdkUi;

    fn message(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
        let Some(author) = turn::author(message.word("role")) else {
            b.unknown("message without role", record.at_value(message));
            return;
        };
        let time = conversation::stated_time(message);
        let id = record.text_at(message, "id").filter(|id| !id.is_empty());
        let mut turn = TurnMessage::new(b, &mut self.open, record, message, author, id, time);
        let metadata = message.get("metadata");
        let model = metadata.and_then(|m| record.text_at(m, "model"));
        let spent = metadata.and_then(|m| m.get("usage").or_else(|| m.get("totalUsage")));
        turn.about(model, spent.and_then(usage));
        let parts = message.get("parts").filter(|p| p.is_array());
        for part in parts.into_iter().flat_map(Value::items) {
            read_part(&mut turn, record, part);
        }
        if parts.is_none() {
            message.items_at("toolInvocations").for_each(|call| tool(&mut turn, record, call));
            if let Some(text) = message.get("content") {
                turn.text(text);
            }
        }
        turn.finish(parts);
    }
}

fn usage(usage: Value<'_>) -> Option<Usage> {
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let recorded = UsageTokens {
        input: count("inputTokens").or_else(|| count("promptTokens"))?,
        output: count("outputTokens").or_else(|| count("completionTokens")).unwrap_or(0),
        cache_read: count("cachedInputTokens").unwrap_or(0),
        cache_write: 0,
        cache_write_1h: 0,
        reasoning: count("reasoningTokens").unwrap_or(0),
    };
    let stated_total = count("totalTokens");
    Some(Usage { recorded, stated_total, convention: Convention::INCLUSIVE })
}

fn read_part(turn: &mut TurnMessage<'_, '_>, record: &Record<'_>, part: Value<'_>) {
    match part.word("type") {
        "text" => {
            if let Some(text) = part.get("text") {
                turn.text(text);
            }
        }
        "reasoning" => turn.reasoning(part, part.get("text").or_else(|| part.get("reasoning"))),
        "step-start" => turn.next_step(),
        "tool-invocation" => match part.get("toolInvocation") {
            Some(call) => tool(turn, record, call),
            None => turn.unknown("tool-invocation", part),
        },
        kind if kind == "dynamic-tool" || kind.starts_with("tool-") => tool(turn, record, part),
        "file" => turn.attachment(part),
        kind if kind.starts_with("source") || kind.starts_with("data-") => turn.note(kind, part),
        other => turn.unknown(other, part),
    }
}

/// Reads a call with its result.
fn tool(turn: &mut TurnMessage<'_, '_>, record: &Record<'_>, part: Value<'_>) {
    let name = record.text_at(part, "toolName").unwrap_or_else(|| {
        let kind = part.get_str("type").unwrap_or_default();
        kind.strip_prefix("tool-").unwrap_or(&kind).into()
    });
    let id = part.get("toolCallId").and_then(|id| record.label(id));
    let args = ["input", "args", "rawInput"].iter().find_map(|key| record.payload_at(part, key));
    let call = turn.made_call(id, ToolName::new(name), args, record.at_value(part));
    if part.is_true("providerExecuted") {
        turn.b.run.calls[call as usize].actor = Actor::Provider;
    }
    let output =
        ["output", "result", "errorText"].iter().find_map(|key| record.payload_at(part, key));
    let answer = ReaderResult::new(output, record.at_value(part));
    let refused = part.at(&["approval", "approved"]).and_then(Value::as_bool) == Some(false);
    match part.word("state") {
        "output-available" | "result" if part.is_true("preliminary") => {}
        "output-available" | "result" => turn.answer(call, answer.protocol(false)),
        "output-error" => turn.answer(call, answer.protocol(true)),
        "output-denied" => turn.answer(call, answer.status(Status::Denied, StatusLevel::Denial)),
        _ if refused => turn.answer(call, answer.status(Status::Denied, StatusLevel::Denial)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn a_chat() {
        let read = read_fixture("ai-sdk-ui.json");
        assert_eq!((read.format, read.skipped), ("ai-sdk-ui", 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: weather?\n\
             0 reasoning: hm\n\
             0 call getWeather {\"city\":\"Oslo\"} -> succeeded(protocol): rain\n\
             0 call remove {} -> failed(protocol): boom\n\
             1 call mcp_tool {} -> denied(denial): \n\
             1 call later {} -> unanswered(absent): \n\
             1 message: rain\n\
             unknown content/hologram\n"
        );
        assert_eq!(run.usage.unwrap().total(), 9);
    }

    #[test]
    fn version_4() {
        let read = read_text(
            r#"[{"id":"1","role":"assistant","content":"","toolInvocations":[{"state":"result","toolCallId":"a","toolName":"f","args":{},"result":"x"}]},
            {"id":"2","role":"assistant","content":"done","parts":[{"type":"tool-invocation","toolInvocation":{"state":"call","toolCallId":"b","toolName":"g","args":{}}},{"type":"text","text":"done"}]}]"#,
        );
        assert_eq!(read.format, "ai-sdk-ui");
        assert_eq!(
            sketch(&read.runs[0]),
            "0 call f {} -> succeeded(protocol): x\n1 call g {} -> unanswered(absent): \n1 message: done\n"
        );
    }
}
