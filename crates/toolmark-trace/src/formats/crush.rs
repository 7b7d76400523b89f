//! Sessions of Crush in its store `crush.db`: the row of a session and those of its messages,
//! whose `parts` have a `type` and `data` each.

use super::shared::conversation::{self, Conversations, MessageDialect};
use super::shared::positional::Positional;
use super::shared::turn::{self, Author, TurnMessage};
use crate::builder::{ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{
    Convention, Cost, EventKind, Fact, Fidelity, Parent, Text, Usage, UsageTokens, time,
};
use toolmark_scan::Value;

/// Sessions of Crush.
pub(crate) struct Crush;

static INFO: FormatInfo = FormatInfo {
    id: "crush",
    title: "Crush session",
    origin: ".crush/crush.db in the project",
    versions: "0.1 and later",
    looks_for: "a session and messages whose parts have type and data",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::ToolDefinitions, Fact::WorkingDirectory]),
};

impl Format for Crush {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_part = |part: Value<'_>| part.has("type") && part.has("data");
        let is_own = |r: Value<'_>| {
            let list = conversation::messages(r);
            let mut parts =
                list.into_iter().flat_map(Value::items).flat_map(|m| m.items_at("parts"));
            r.get("session").is_some_and(|s| s.has("message_count"))
                || parts.next().is_some_and(is_part)
        };
        if probe.any(is_own) { 90 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Conversations<CrushDialect>>::default()
    }
}

#[derive(Default)]
struct CrushDialect {
    open: Positional,
}

impl MessageDialect for CrushDialect {
    const FORMAT: &'static dyn Format = &Crush;

    fn before(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, document: Value<'_>) {
        b.run.agent.name = Some(Text::owned("crush"));
        let Some(session) = document.get("session") else { return };
        b.run.id = record.text_at(session, "id");
        b.run.name = record.text_at(session, "title");
        b.run.parent = record
            .text_at(session, "parent_session_id")
            .map(|id| Parent { trajectory: Some(id), call: None });
        let count = |key: &str| session.get(key).and_then(Value::as_u64);
        if let (Some(input), Some(output)) = (count("prompt_tokens"), count("completion_tokens")) {
            let recorded = UsageTokens { input, output, ..UsageTokens::default() };
            b.run.usage = Some(Usage::new(recorded, Convention::INCLUSIVE));
        }
        b.run.cost = session.get("cost").and_then(Value::as_f64).and_then(Cost::from_usd);
    }

    fn message(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
        let Some(author) = turn::author(message.word("role")) else {
            b.unknown("message without role", record.at_value(message));
            return;
        };
        let time = message.get("created_at").and_then(time::from_value);
        // A summary is written in the name of the model and read as the user's.
        let is_summary = message.get("is_summary_message").and_then(Value::as_i64) == Some(1);
        if is_summary {
            let text = record.payload_at(message, "parts");
            b.event(EventKind::Compaction, text, None, time, record.at_value(message));
            return;
        }
        let id = record.text_at(message, "id").filter(|_| author == Author::Assistant);
        let mut turn = TurnMessage::new(b, &mut self.open, record, message, author, id, time);
        turn.about(record.text_at(message, "model"), None);
        let parts = message.get("parts");
        for part in parts.into_iter().flat_map(Value::items) {
            block(&mut turn, record, part);
        }
        turn.finish(parts);
    }
}

fn block(turn: &mut TurnMessage<'_, '_>, record: &Record<'_>, part: Value<'_>) {
    let Some(data) = part.get("data") else {
        turn.unknown(part.word("type"), part);
        return;
    };
    match part.word("type") {
        "text" => {
            if let Some(text) = data.get("text") {
                turn.text(text);
            }
        }
        "reasoning" => turn.reasoning(part, data.get("thinking")),
        "tool_call" => {
            turn.call(part, data.get("id"), data.get("name"), data.get("input"));
        }
        "tool_result" => {
            let answer =
                ReaderResult::new(record.payload_at(data, "content"), record.at_value(part));
            let answer = answer.protocol(data.is_true("is_error"));
            turn.result(data.get("tool_call_id"), data.get("name"), answer);
        }
        "finish" if data.field_is("reason", "error") => {
            let (time, at) = (turn.time, record.at_value(part));
            turn.b.event(EventKind::Error, record.payload_at(data, "message"), None, time, at);
        }
        "finish" => turn.note("finish", part),
        "image_url" | "binary" => turn.attachment(part),
        other => turn.unknown(other, part),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_session() {
        let read = read_fixture("crush.json");
        assert_eq!((read.format, read.skipped), ("crush", 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: fix it\n\
             0 reasoning: hm\n\
             0 call bash {\"command\":\"ls\"} -> failed(protocol): no\n\
             note finish\n\
             1 message: sorry\n"
        );
        assert_eq!(run.usage.unwrap().total(), 12);
        assert_eq!(run.cost.unwrap().nano_usd, 500_000_000);
        assert_eq!(run.agent.model.as_ref().unwrap(), "m");
    }
}
