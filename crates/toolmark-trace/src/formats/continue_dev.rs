//! Sessions of Continue: `history` with a message each, its attachments (`contextItems`) and
//! the state of its calls (`toolCallStates`). The result of a call is stored there and again
//! in a message of role `tool`.

use super::shared::conversation::{self, Conversations, MessageDialect};
use super::shared::positional::Positional;
use super::shared::turn::{self, Author, TurnMessage};
use crate::builder::{ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{Convention, Fact, Fidelity, Status, StatusLevel, Text, Usage, UsageTokens};
use toolmark_scan::Value;

/// Sessions of Continue.
pub(crate) struct Continue;

static INFO: FormatInfo = FormatInfo {
    id: "continue",
    title: "Continue session",
    origin: "~/.continue/sessions/*.json",
    versions: "1.x, editor and command line",
    looks_for: "history with message and contextItems, and sessionId",
    fidelity: Fidelity::lacking(&[
        Fact::ExitCodes,
        Fact::SubAgents,
        Fact::Times,
        Fact::Durations,
        Fact::ToolDefinitions,
    ]),
};

impl Format for Continue {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_own = |r: Value<'_>| {
            let mut items = r.items_at("history");
            let is_item = |i: Value<'_>| i.at(&["message", "role"]).is_some();
            r.has("sessionId") && items.next().is_some_and(is_item)
        };
        if probe.any(is_own) { 95 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Conversations<ContinueDialect>>::default()
    }
}

#[derive(Default)]
struct ContinueDialect {
    open: Positional,
}

impl MessageDialect for ContinueDialect {
    const FORMAT: &'static dyn Format = &Continue;

    fn list(document: Value<'_>) -> Option<Value<'_>> {
        document.get("history").filter(|h| h.is_array())
    }

    fn before(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, session: Value<'_>) {
        b.run.agent.name = Some(Text::owned("continue"));
        b.run.id = record.text_at(session, "sessionId");
        b.run.cwd = record.text_at(session, "workspaceDirectory").filter(|d| !d.is_empty());
        b.run.agent.model = record.text_at(session, "chatModelTitle");
    }

    fn message(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, item: Value<'_>) {
        let message = item.get("message").unwrap_or(item);
        let content = message.get("content");
        if message.word("role") == "thinking" {
            // Part of the response that follows.
            let text = content.map(|c| record.payload(c));
            b.event(crate::model::EventKind::Reasoning, text, None, None, record.at_value(message));
            return;
        }
        let Some(author) = turn::author(message.word("role")) else {
            b.unknown("message without role", record.at_value(item));
            return;
        };
        let time = conversation::stated_time(message);
        let mut turn = TurnMessage::new(b, &mut self.open, record, message, author, None, time);
        turn.about(None, message.get("usage").and_then(usage));
        if author == Author::Tool {
            let id = message.get("toolCallId");
            if !turn.is_answered(id) {
                let payload = content.map(|c| record.payload(c));
                turn.result(id, None, ReaderResult::new(payload, record.at_value(message)));
            }
            return;
        }
        if let Some(content) = content {
            turn.text(content);
        }
        for call in message.items_at("toolCalls") {
            let inner = call.get("function").unwrap_or(call);
            turn.call(call, call.get("id"), inner.get("name"), inner.get("arguments"));
        }
        let states = item.items_at("toolCallStates").chain(item.get("toolCallState"));
        states.for_each(|state| answer(&mut turn, record, state));
        turn.finish(content);
    }
}

fn answer(turn: &mut TurnMessage<'_, '_>, record: &Record<'_>, state: Value<'_>) {
    let payload = record.payload_at(state, "output");
    let answer = ReaderResult::new(payload, record.at_value(state));
    let answer = match state.word("status") {
        "done" => answer.protocol(false),
        "errored" => answer.protocol(true),
        "canceled" => answer.status(Status::Denied, StatusLevel::Denial),
        _ => return,
    };
    turn.result(state.get("toolCallId"), None, answer);
}

fn usage(usage: Value<'_>) -> Option<Usage> {
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let recorded = UsageTokens {
        input: count("promptTokens")?,
        output: count("completionTokens").unwrap_or(0),
        ..UsageTokens::default()
    };
    Some(Usage::new(recorded, Convention::INCLUSIVE))
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_session() {
        let read = read_fixture("continue.json");
        assert_eq!((read.format, read.skipped), ("continue", 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: fix it\n\
             reasoning: hm\n\
             0 call builtin_read_file {\"filepath\":\"a\"} -> succeeded(protocol): x\n\
             0 call builtin_run_terminal_command {} -> denied(denial): \n\
             0 call builtin_ls {} -> failed(protocol): no\n\
             1 message: done\n"
        );
        assert_eq!((run.repeated_results, run.orphans), (0, 0));
        assert_eq!(run.cwd.as_ref().unwrap(), "file:///w");
    }
}
