//! The data export of claude.ai: one object per conversation with `chat_messages`. Calls and
//! results are blocks of the assistant's message; they have no IDs in older exports, and the
//! oldest exports have only the text.

use super::shared::anthropic;
use super::shared::conversation::{self, Conversations, MessageDialect};
use super::shared::positional::Positional;
use super::shared::turn::{self, TurnMessage};
use crate::builder::{ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{Fact, Fidelity, Text, time};
use toolmark_scan::Value;

/// The data export of claude.ai.
pub(crate) struct ClaudeAi;

static INFO: FormatInfo = FormatInfo {
    id: "claude-ai",
    title: "claude.ai data export",
    origin: "conversations.json of a data export from claude.ai",
    versions: "2024 and later",
    looks_for: "conversations with uuid and chat_messages",
    fidelity: Fidelity::lacking(&[
        Fact::ExitCodes,
        Fact::SubAgents,
        Fact::Tokens,
        Fact::Cost,
        Fact::Model,
        Fact::ToolDefinitions,
        Fact::WorkingDirectory,
    ]),
};

impl Format for ClaudeAi {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_own = |r: Value<'_>| r.get("chat_messages").is_some_and(Value::is_array);
        if probe.any(is_own) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Conversations<ExportDialect>>::default()
    }
}

#[derive(Default)]
struct ExportDialect {
    open: Positional,
}

impl MessageDialect for ExportDialect {
    const FORMAT: &'static dyn Format = &ClaudeAi;

    fn list(document: Value<'_>) -> Option<Value<'_>> {
        document.get("chat_messages").filter(|list| list.is_array())
    }

    fn before(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, conversation: Value<'_>) {
        b.run.agent.name = Some(Text::owned("claude.ai"));
        b.run.id = record.text_at(conversation, "uuid");
    }

    fn message(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
        let Some(author) = turn::author(message.word("sender")) else {
            b.unknown("message without sender", record.at_value(message));
            return;
        };
        let time = conversation::stated_time(message);
        let id = record.text_at(message, "uuid");
        let mut turn = TurnMessage::new(b, &mut self.open, record, message, author, id, time);
        let content = message.get("content").filter(|c| c.items().next().is_some());
        for part in content.into_iter().flat_map(Value::items) {
            let began = part.get("start_timestamp").and_then(time::from_value);
            turn.time = began.or(time);
            block(&mut turn, record, part);
        }
        if let (None, Some(text)) = (content, message.get("text")) {
            turn.text(text);
        }
        turn.time = time;
        turn.finish(content);
    }
}

fn block(turn: &mut TurnMessage<'_, '_>, record: &Record<'_>, part: Value<'_>) {
    match part.word("type") {
        "text" => {
            if let Some(text) = part.get("text") {
                turn.text(text);
            }
        }
        "thinking" => turn.reasoning(part, part.get("thinking")),
        "tool_use" => {
            turn.call(part, part.get("id"), part.get("name"), part.get("input"));
        }
        "tool_result" => {
            let answer: ReaderResult = anthropic::result_answer(record, part);
            turn.result(part.get("tool_use_id"), part.get("name"), answer);
        }
        "image" | "document" | "voice_note" => turn.attachment(part),
        kind @ ("token_budget" | "flag") => turn.note(kind, part),
        other => turn.unknown(other, part),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn two_conversations() {
        let read = read_fixture("claude-ai.json");
        assert_eq!((read.format, read.skipped, read.runs.len()), ("claude-ai", 0, 2));
        assert_eq!(
            sketch(&read.runs[0]),
            "user: search\n\
             0 reasoning: hm\n\
             0 call web_search {\"query\":\"q\"} -> succeeded(protocol): found\n\
             0 call repl {} -> failed(protocol): boom\n\
             0 message: here\n\
             unknown content/hologram\n"
        );
        assert_eq!(read.runs[0].name.as_ref().unwrap(), "Search");
        assert_eq!(sketch(&read.runs[1]), "user: hi\n0 message: ho\n");
    }
}
