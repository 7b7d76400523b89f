//! Messages of AutoGen AgentChat: the results or streams of a team (events with `source` and
//! `type`, calls as `ToolCallRequestEvent`), and the model context in the saved state of an
//! agent (`AssistantMessage`, `FunctionExecutionResultMessage`).

use super::shared::chat_message;
use super::shared::conversation::{self, Conversations, MessageDialect};
use super::shared::positional::Positional;
use super::shared::turn::{Author, TurnMessage};
use crate::builder::{ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{Fact, Fidelity};
use toolmark_scan::Value;

/// Messages of AutoGen.
pub(crate) struct Autogen;

static INFO: FormatInfo = FormatInfo {
    id: "autogen",
    title: "AutoGen messages",
    origin: "TaskResult and saved states of AutoGen AgentChat",
    versions: "0.4 and later",
    looks_for: "messages with source and a type such as TextMessage or ToolCallRequestEvent",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::ToolDefinitions, Fact::Model]),
};

const EVENTS: [&str; 8] = [
    "TextMessage",
    "MultiModalMessage",
    "ToolCallRequestEvent",
    "ToolCallExecutionEvent",
    "ToolCallSummaryMessage",
    "HandoffMessage",
    "ThoughtEvent",
    "FunctionExecutionResultMessage",
];

impl Format for Autogen {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let sample = conversation::sample_with(probe, AutogenDialect::list);
        let is_own = |m: &Value<'_>| {
            let kind = m.word("type");
            EVENTS.contains(&kind) && (m.has("source") || kind.ends_with("ResultMessage"))
        };
        if sample.iter().any(is_own) { 95 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Conversations<AutogenDialect>>::default()
    }
}

#[derive(Default)]
struct AutogenDialect {
    open: Positional,
}

impl MessageDialect for AutogenDialect {
    const FORMAT: &'static dyn Format = &Autogen;

    fn list(document: Value<'_>) -> Option<Value<'_>> {
        let context = document.at(&["llm_context", "messages"]);
        let context = context.or_else(|| document.at(&["agent_state", "llm_context", "messages"]));
        context
            .or_else(|| document.get("message_thread"))
            .or_else(|| conversation::messages(document))
    }

    fn message(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
        let kind = message.word("type");
        let content = message.get("content");
        let is_user = message.field_is("source", "user") || kind == "UserMessage";
        let author = match kind {
            "ToolCallExecutionEvent" | "FunctionExecutionResultMessage" => Author::Tool,
            "SystemMessage" | "MemoryQueryEvent" => Author::System,
            // Its text repeats the results.
            "ToolCallSummaryMessage" => Author::Assistant,
            _ if is_user => Author::User,
            _ => Author::Assistant,
        };
        let time = conversation::stated_time(message);
        let before = b.run.calls.len();
        let mut turn = TurnMessage::new(b, &mut self.open, record, message, author, None, time);
        let spent = message.get("models_usage").and_then(chat_message::usage);
        turn.about(None, spent);
        match kind {
            "ThoughtEvent" => turn.reasoning(message, content),
            "UserInputRequestedEvent"
            | "ModelClientStreamingChunkEvent"
            | "SelectSpeakerEvent"
            | "SelectorEvent"
            | "ToolCallSummaryMessage"
            | "StopMessage"
            | "CodeGenerationEvent"
            | "CodeExecutionEvent" => turn.note(kind, message),
            _ if author == Author::Tool => {
                for result in content.into_iter().flat_map(Value::items) {
                    let payload = record.payload_at(result, "content");
                    let answer = ReaderResult::new(payload, record.at_value(result));
                    let answer = match result.get("is_error").and_then(Value::as_bool) {
                        Some(failed) => answer.protocol(failed),
                        None => answer,
                    };
                    turn.result(result.get("call_id"), result.get("name"), answer);
                }
            }
            "ToolCallRequestEvent" | "AssistantMessage" if content.is_some_and(Value::is_array) => {
                if let Some(thought) = message.get("thought") {
                    turn.reasoning(thought, Some(thought));
                }
                for call in content.into_iter().flat_map(Value::items) {
                    turn.call(call, call.get("id"), call.get("name"), call.get("arguments"));
                }
            }
            // A message of an unknown kind is only added as text if its content is text.
            _ if !EVENTS.contains(&kind) && content.is_some_and(Value::is_array) => {
                turn.unknown(kind, message);
            }
            _ => {
                if let Some(text) = content {
                    turn.text(text);
                }
                turn.finish(content);
            }
        }
        if let Some(agent) = record.text_at(message, "source") {
            b.run.calls.iter_mut().skip(before).for_each(|c| c.agent = Some(agent.clone()));
        }
    }

    fn after(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, document: Value<'_>) {
        b.run.outcome = record.text_at(document, "stop_reason").or(b.run.outcome.take());
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn a_result_of_a_team() {
        let read = read_fixture("autogen.json");
        assert_eq!((read.format, read.skipped), ("autogen", 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: fix it\n\
             0 reasoning: hm\n\
             1 call get {\"a\":1} -> failed(protocol): boom\n\
             1 call put {} -> unanswered(absent): \n\
             note ToolCallSummaryMessage\n\
             3 message: sorry\n"
        );
        assert_eq!(run.usage.unwrap().total(), 8);
        assert_eq!(run.calls[0].agent.as_ref().unwrap(), "coder");
    }

    #[test]
    fn the_state_of_an_agent() {
        let read = read_text(
            r#"{"type":"AssistantAgentState","version":"1.0.0","llm_context":{"messages":[{"type":"UserMessage","content":"hi","source":"user"},
            {"type":"AssistantMessage","content":[{"id":"c","name":"f","arguments":"{}"}],"source":"a"},
            {"type":"FunctionExecutionResultMessage","content":[{"call_id":"c","content":"x","is_error":false}]}]}}"#,
        );
        assert_eq!(read.format, "autogen");
        assert_eq!(sketch(&read.runs[0]), "user: hi\n0 call f {} -> succeeded(protocol): x\n");
    }
}
