//! Threads of Amp: Anthropic messages whose results are identified by `toolUseID` and hold
//! the state of the tool run in `run`.

use super::shared::conversation::{self, Conversations, MessageDialect};
use super::shared::positional::Positional;
use super::shared::turn::{self, TurnMessage};
use crate::builder::{ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{Convention, Fact, Fidelity, Text, Usage, UsageTokens, time};
use toolmark_scan::Value;

/// Threads of Amp.
pub(crate) struct Amp;

static INFO: FormatInfo = FormatInfo {
    id: "amp",
    title: "Amp thread",
    origin: "~/.local/share/amp/threads/T-*.json, amp threads export",
    versions: "2025 and later",
    looks_for: "an id that begins with T- and messages with messageId, or tool_result blocks with toolUseID",
    fidelity: Fidelity::lacking(&[Fact::SubAgents, Fact::ToolDefinitions]),
};

impl Format for Amp {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_thread = |r: Value<'_>| {
            r.word("id").starts_with("T-")
                && conversation::messages(r).is_some_and(|list| list.items().all(|m| m.has("role")))
        };
        let is_result = |m: &Value<'_>| m.items_at("content").any(|b| b.has("toolUseID"));
        let sample = conversation::sample(probe);
        if probe.any(is_thread) || sample.iter().any(is_result) { 90 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<Conversations<AmpDialect>>::default()
    }
}

#[derive(Default)]
struct AmpDialect {
    open: Positional,
}

impl MessageDialect for AmpDialect {
    const FORMAT: &'static dyn Format = &Amp;

    fn before(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, thread: Value<'_>) {
        b.run.agent.name = Some(Text::owned("amp"));
        let trees = thread.at(&["env", "initial", "trees"]);
        let tree = trees.and_then(|trees| trees.items().next());
        b.run.cwd = tree.and_then(|tree| {
            let uri = tree.get_str("uri")?;
            let path = uri.strip_prefix("file://").map(Text::owned);
            path.or_else(|| record.text_at(tree, "uri"))
        });
    }

    fn message(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
        let Some(author) = turn::author(message.word("role")) else {
            b.unknown("message without role", record.at_value(message));
            return;
        };
        let sent = message.at(&["meta", "sentAt"]).or_else(|| message.at(&["usage", "timestamp"]));
        let time = sent.and_then(time::from_value);
        let mut turn = TurnMessage::new(b, &mut self.open, record, message, author, None, time);
        let spent = message.get("usage");
        turn.about(spent.and_then(|u| record.text_at(u, "model")), spent.and_then(usage));
        let content = message.get("content");
        for part in content.into_iter().flat_map(Value::items) {
            block(&mut turn, record, part);
        }
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
        "thinking" | "redacted_thinking" => turn.reasoning(part, part.get("thinking")),
        "tool_use" | "server_tool_use" => {
            turn.call(part, part.get("id"), part.get("name"), part.get("input"));
        }
        "tool_result" => {
            let run = part.get("run").unwrap_or(part);
            let result = ["result", "output", "error", "content"].iter().find_map(|k| run.get(k));
            let answer =
                ReaderResult::new(result.map(|r| record.payload(r)), record.at_value(part));
            let answer = turn::status(answer, run.word("status"));
            // A command that failed is done as well.
            let code = result.and_then(|r| r.get("exitCode")).and_then(Value::as_i64);
            let answer = match code {
                Some(code) if code != 0 => answer.protocol(true),
                _ => answer,
            };
            turn.result(part.get("toolUseID"), None, answer.exit_code(code));
        }
        "image" => turn.attachment(part),
        kind @ ("summary" | "manual_bash_invocation") => turn.note(kind, part),
        other => turn.unknown(other, part),
    }
}

fn usage(usage: Value<'_>) -> Option<Usage> {
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let recorded = UsageTokens {
        input: count("inputTokens")?,
        output: count("outputTokens").unwrap_or(0),
        cache_read: count("cacheReadInputTokens").unwrap_or(0),
        cache_write: count("cacheCreationInputTokens").unwrap_or(0),
        cache_write_1h: 0,
        reasoning: 0,
    };
    Some(Usage::new(recorded, Convention::ANTHROPIC))
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_thread() {
        let read = read_fixture("amp.json");
        assert_eq!((read.format, read.skipped), ("amp", 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: fix it\n\
             0 reasoning: hm\n\
             0 call Bash {\"cmd\":\"ls\"} -> succeeded(protocol) exit 0: {\"output\":\"a\",\"exitCode\":0}\n\
             0 call Bash {\"cmd\":\"x\"} -> failed(protocol) exit 2: {\"output\":\"no\",\"exitCode\":2}\n\
             0 call edit_file {} -> denied(denial): \n\
             0 call Read {} -> failed(protocol): {\"message\":\"no file\"}\n\
             1 message: done\n"
        );
        assert_eq!(run.cwd.as_ref().unwrap(), "/w");
        assert_eq!(run.usage.unwrap().total(), 12);
    }
}
