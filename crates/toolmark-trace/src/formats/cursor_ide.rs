//! Chats of the Cursor editor in its store `state.vscdb`: the data of a composer and its
//! bubbles. A bubble is a message of the user (type 1) or of the agent (type 2); its
//! `toolFormerData` is a call with its result.

use super::shared::conversation::{Conversations, MessageDialect};
use super::shared::positional::Positional;
use super::shared::turn::{self, Author, TurnMessage};
use crate::builder::{ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{
    Convention, Fact, Fidelity, Status, StatusLevel, Text, Usage, UsageTokens, time,
};
use toolmark_scan::Value;

/// Chats of the Cursor editor.
pub(crate) struct CursorIde;

static INFO: FormatInfo = FormatInfo {
    id: "cursor-ide",
    title: "Cursor editor chat",
    origin: "User/globalStorage/state.vscdb of Cursor",
    versions: "0.45 and later",
    looks_for: "a composer with composerId, and bubbles",
    fidelity: Fidelity::lacking(&[
        Fact::ExitCodes,
        Fact::SubAgents,
        Fact::Cost,
        Fact::ToolDefinitions,
        Fact::WorkingDirectory,
    ]),
};

impl Format for CursorIde {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_own = |r: Value<'_>| {
            r.at(&["composer", "composerId"]).is_some()
                && r.get("bubbles").is_some_and(Value::is_array)
        };
        if probe.any(is_own) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Conversations<CursorDialect>>::default()
    }
}

#[derive(Default)]
struct CursorDialect {
    open: Positional,
}

impl MessageDialect for CursorDialect {
    const FORMAT: &'static dyn Format = &CursorIde;

    fn list(document: Value<'_>) -> Option<Value<'_>> {
        document.get("bubbles").filter(|b| b.is_array())
    }

    fn before(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, document: Value<'_>) {
        b.run.agent.name = Some(Text::owned("cursor"));
        let Some(composer) = document.get("composer") else { return };
        b.run.id = record.text_at(composer, "composerId");
        b.run.name = record.text_at(composer, "name");
        let model = composer.at(&["modelConfig", "modelName"]);
        b.run.agent.model = model.and_then(|m| record.text(m));
        b.seen(composer.get("createdAt").and_then(time::from_value));
    }

    fn message(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, bubble: Value<'_>) {
        let author = match bubble.get("type").and_then(Value::as_i64) {
            Some(1) => Author::User,
            Some(2) => Author::Assistant,
            _ => {
                b.unknown("bubble without type", record.at_value(bubble));
                return;
            }
        };
        let time = bubble.get("createdAt").and_then(time::from_value);
        let id = record.text_at(bubble, "usageUuid").filter(|id| !id.is_empty());
        let mut turn = TurnMessage::new(b, &mut self.open, record, bubble, author, id, time);
        let model = bubble.at(&["modelInfo", "modelName"]).and_then(|m| record.text(m));
        turn.about(model, bubble.get("tokenCount").and_then(usage));
        if let Some(thinking) = bubble.get("thinking").filter(|t| t.has("text")) {
            turn.reasoning(thinking, thinking.get("text"));
        }
        let text = bubble.get("text");
        if let Some(text) = text {
            turn.text(text);
        }
        if let Some(tool) = bubble.get("toolFormerData").filter(|t| t.has("name") || t.has("tool"))
        {
            call(&mut turn, record, tool);
        }
        if author == Author::User {
            turn.finish(text);
        }
    }
}

fn call(turn: &mut TurnMessage<'_, '_>, record: &Record<'_>, tool: Value<'_>) {
    let args = ["rawArgs", "params"].iter().find_map(|key| tool.get(key));
    let args = args.filter(|a| a.inner() != Some(""));
    let call = turn.call(tool, tool.get("toolCallId"), tool.get("name"), args);
    let output = ["result", "error"].iter().find_map(|key| tool.get(key));
    let output = output.filter(|o| o.inner() != Some(""));
    let answer = ReaderResult::new(output.map(|o| record.payload(o)), record.at_value(tool));
    let refused = matches!(tool.word("userDecision"), "rejected" | "skipped");
    match tool.word("status") {
        _ if refused => turn.answer(call, answer.status(Status::Denied, StatusLevel::Denial)),
        "loading" | "pending" => {}
        "" if output.is_none() => {}
        word => turn.answer(call, turn::status(answer, word)),
    }
}

/// Reads token counts. Counts that the editor did not fill in are zero and are ignored.
fn usage(count: Value<'_>) -> Option<Usage> {
    let number = |key: &str| count.get(key).and_then(Value::as_u64).unwrap_or(0);
    let (input, output) = (number("inputTokens"), number("outputTokens"));
    let recorded = UsageTokens { input, output, ..UsageTokens::default() };
    (!recorded.is_zero()).then(|| Usage::new(recorded, Convention::INCLUSIVE))
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_chat() {
        let read = read_fixture("cursor-ide.json");
        assert_eq!((read.format, read.skipped), ("cursor-ide", 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: fix it\n\
             0 reasoning: hm\n\
             0 message: I look\n\
             1 call read_file {\"path\":\"a\"} -> succeeded(protocol): {\"contents\":\"x\"}\n\
             2 call run_terminal_cmd {\"command\":\"rm -rf /\"} -> denied(denial): \n\
             3 call search_replace  -> failed(protocol): {\"message\":\"no\"}\n\
             unknown bubble without type\n"
        );
        assert_eq!(run.usage.unwrap().total(), 12);
        assert!(run.started.is_some());
    }
}
