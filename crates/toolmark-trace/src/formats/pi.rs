//! pi and OpenClaw sessions: a `session` header, then entries one per line.
//!
//! Messages have the roles user, assistant (with `toolCall` blocks, usage and cost),
//! toolResult and bashExecution, a command run by the user, which is not a tool call and is
//! kept as context. Since version 2, entries form a tree by `id` and `parentId`, and `leaf`
//! moves its head; entries on an abandoned branch are also part of the run and stay in the
//! order of the file.
//!
//! OpenClaw writes the same format with additional entries (`custom` types that begin with
//! `openclaw`, model snapshots, side branches).

use super::shared::events::{note, set_once, words};
use super::shared::readers::{OneRun, one_run};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{
    Convention, Cost, EventKind, Fact, Fidelity, Payload, Text, ToolName, Usage, UsageTokens, time,
};
use jiff::Timestamp;
use toolmark_scan::Value;

/// pi session files.
pub(crate) struct Pi;

/// OpenClaw session files.
pub(crate) struct OpenClaw;

static PI: FormatInfo = FormatInfo {
    id: "pi",
    title: "pi session",
    origin: "~/.pi/agent/sessions/<project>/*.jsonl",
    versions: "1 to 3",
    looks_for: "a session line, then message lines with roles user, assistant, toolResult",
    fidelity: Fidelity::lacking(&[Fact::ToolDefinitions, Fact::SubAgents]),
};

static OPENCLAW: FormatInfo = FormatInfo {
    id: "openclaw",
    title: "OpenClaw session",
    origin: "~/.openclaw/agents/<agent>/sessions/*.jsonl",
    versions: "3",
    looks_for: "a pi session with OpenClaw's own entries",
    fidelity: Fidelity::lacking(&[Fact::ToolDefinitions, Fact::SubAgents]),
};

impl Format for Pi {
    fn info(&self) -> &'static FormatInfo {
        &PI
    }

    /// Returns a confidence that is never certain: OpenClaw's entries may appear only later in
    /// the file.
    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if is_session(probe) { 90 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        one_run::<PiSession>(&Pi, PI.id, "a session entry")
    }
}

impl Format for OpenClaw {
    fn info(&self) -> &'static FormatInfo {
        &OPENCLAW
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if is_session(probe) && probe.any(is_openclaw) { 100 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        one_run::<PiSession>(&OpenClaw, OPENCLAW.id, "a session entry")
    }
}

fn is_session(probe: &FormatProbe<'_>) -> bool {
    let header = |r: Value<'_>| {
        r.field_is("type", "session") && r.get("id").is_some() && r.get("timestamp").is_some()
    };
    let message = |r: Value<'_>| {
        let role = r.at(&["message", "role"]);
        r.field_is("type", "message")
            && role.is_some_and(|r| r.is("toolResult") || r.is("bashExecution"))
    };
    probe.any(|r| header(r) || message(r))
}

/// Returns whether the entry or one of its names is written only by OpenClaw.
fn is_openclaw(entry: Value<'_>) -> bool {
    let named = |key: &str| {
        entry.get(key).and_then(Value::inner).is_some_and(|text| text.contains("openclaw"))
    };
    ["id", "cwd", "provider", "modelId", "customType"].into_iter().any(named)
        || entry.field_is("customType", "model-snapshot")
        || entry.get("appendMode").is_some()
        || entry.at(&["message", "provenance"]).is_some()
        || entry.at(&["message", "idempotencyKey"]).is_some()
}

#[derive(Default)]
struct PiSession;

impl OneRun for PiSession {
    fn record(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, entry: Value<'_>) {
        let time = entry.get("timestamp").and_then(time::from_value);
        let kind = entry.word("type");
        match kind {
            "session" => {
                b.seen(time);
                set_once(&mut b.run.id, record, entry, "id");
                set_once(&mut b.run.cwd, record, entry, "cwd");
                set_once(&mut b.run.agent.model, record, entry, "modelId");
            }
            "message" => message(b, record, entry, time),
            "compaction" | "compact" | "branch_summary" => {
                let text = entry.get("summary").and_then(|s| words(record, s));
                b.event(EventKind::Compaction, text, None, time, record.at());
            }
            "custom_message" => {
                let text = entry.get("content").and_then(|c| words(record, c));
                b.context(text, time, record.at());
            }
            "session_info" => {
                set_once(&mut b.run.name, record, entry, "name");
                note(b, kind, None, time, record.at());
            }
            "model_change" => {
                set_once(&mut b.run.agent.model, record, entry, "modelId");
                note(b, kind, record.payload_at(entry, "modelId"), time, record.at());
            }
            "thinking_level_change" | "custom" | "leaf" | "label" => {
                note(b, kind, None, time, record.at());
            }
            other => b.unknown(other, record.at()),
        }
    }
}

pub(super) fn message(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    entry: Value<'_>,
    time: Option<Timestamp>,
) {
    let Some(message) = entry.get("message") else {
        b.unknown("message without message", record.at());
        return;
    };
    let content = message.get("content");
    let text = || content.and_then(|c| words(record, c));
    match message.word("role") {
        "user" => b.user(text(), time, record.at()),
        "assistant" => assistant(b, record, entry, message, time),
        "toolResult" => tool_result(b, record, message, time),
        "bashExecution" => {
            let text = Some(record.payload(message));
            // Typed with `!!`, the command is kept from the model.
            if message.is_true("excludeFromContext") {
                note(b, "bashExecution", text, time, record.at());
            } else {
                b.context(text, time, record.at());
            }
        }
        "system" | "custom" | "hookMessage" => b.context(text(), time, record.at()),
        "branchSummary" | "compactionSummary" => {
            let text = message.get("summary").and_then(|s| words(record, s));
            b.event(EventKind::Compaction, text, None, time, record.at());
        }
        other => b.unknown(format!("message/{other}"), record.at()),
    }
}

fn assistant(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    entry: Value<'_>,
    message: Value<'_>,
    time: Option<Timestamp>,
) {
    let step = b.step(record.text_at(entry, "id"), time, record.at());
    let this = &mut b.run.steps[step as usize];
    // An entry that is written twice is one response.
    if this.usage.is_none() {
        this.model = record.text_at(message, "model");
        if let Some((usage, cost)) = message.get("usage").map(usage) {
            this.usage = Some(usage);
            b.add_usage(usage);
            if let Some(cost) = cost {
                let sum = b.run.cost.get_or_insert_default();
                sum.nano_usd = sum.nano_usd.saturating_add(cost.nano_usd);
            }
        }
    }
    let content = message.get("content");
    if let Some(text) = content.filter(|c| c.is_string()).and_then(|c| words(record, c)) {
        b.message(step, text, time, record.at());
    }
    for block in content.into_iter().flat_map(Value::items) {
        assistant_block(b, record, block, step, time);
    }
    if let Some(error) = message.get("errorMessage") {
        b.event(EventKind::Error, Some(record.payload(error)), Some(step), time, record.at());
    }
}

fn assistant_block(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    block: Value<'_>,
    step: u32,
    time: Option<Timestamp>,
) {
    let at = record.at_value(block);
    match block.word("type") {
        "text" => {
            if let Some(text) = record.payload_at(block, "text") {
                b.message(step, text, time, at);
            }
        }
        "thinking" => {
            let text = block.get("thinking").filter(|t| t.inner() != Some(""));
            b.reasoning(step, text.map(|t| record.payload(t)), time, at);
        }
        "toolCall" => {
            let name = record.text_at(block, "name").unwrap_or_else(|| Text::owned(""));
            b.call(NewCall {
                id: record.text_at(block, "id"),
                name: ToolName::new(name),
                args: record.payload_at(block, "arguments"),
                step: Some(step),
                time,
                at,
            });
        }
        "image" => b.message(step, record.payload(block), time, at),
        other => {
            let kind = EventKind::Unknown(Text::owned(format!("content/{other}")));
            b.event(kind, Some(record.payload(block)), Some(step), time, at);
        }
    }
}

fn tool_result(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    message: Value<'_>,
    time: Option<Timestamp>,
) {
    let payload: Option<Payload> = message.get("content").and_then(|c| words(record, c));
    let details = message.get("details");
    let detail = |key: &str| details.and_then(|d| d.get(key));
    let mut answer = ReaderResult::new(payload, record.at()).time(time);
    if let Some(failed) = message.get("isError").and_then(Value::as_bool) {
        answer = answer.protocol(failed);
    }
    let answer = answer
        .exit_code(detail("exitCode").and_then(Value::as_i64))
        .duration(detail("durationMs").and_then(Value::as_f64).and_then(time::millis));
    let call = b.answer(message.get_str("toolCallId").as_deref(), answer);
    if let Some(call) = call {
        let spawned = details.and_then(|d| record.text_at(d, "childSessionKey"));
        let slot = &mut b.run.calls[call as usize].spawned;
        *slot = slot.take().or(spawned);
    }
}

/// Reads the usage and cost of a response.
fn usage(usage: Value<'_>) -> (Usage, Option<Cost>) {
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let recorded = UsageTokens {
        input: count("input").unwrap_or(0),
        output: count("output").unwrap_or(0),
        cache_read: count("cacheRead").unwrap_or(0),
        cache_write: count("cacheWrite").unwrap_or(0),
        cache_write_1h: 0,
        reasoning: count("reasoning").unwrap_or(0),
    };
    let cost = usage.at(&["cost", "total"]).and_then(Value::as_f64).and_then(Cost::from_usd);
    let usage =
        Usage { recorded, stated_total: count("totalTokens"), convention: Convention::ANTHROPIC };
    (usage, cost)
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_session() {
        let read = read_fixture("pi.jsonl");
        assert_eq!(read.format, "pi");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "note model_change\n\
             user: go\n\
             0 reasoning: hm\n\
             0 call bash {\"command\":\"ls\"} -> failed(protocol) exit 2: no\n\
             0 call read {} -> succeeded(protocol): text\n\
             0 call edit {} -> unanswered(absent): \n\
             orphanresult: ?\n\
             context: {\"role\":\"bashExecution\",\"command\":\"pwd\",\"output\":\"/w\",\"exitCode\":0}\n\
             1 error: Request was aborted\n\
             compaction: so far\n\
             compaction: other way\n\
             unknown strange\n\
             unknown message/\n"
        );
        assert_eq!(run.usage.unwrap().total(), 12);
        assert_eq!(run.cost.unwrap().nano_usd, 750_000_000);
        assert_eq!(run.calls[0].duration.unwrap().as_millis(), 900);
    }

    #[test]
    fn openclaw_is_told_by_its_own_entries() {
        let read = read_fixture("openclaw.jsonl");
        assert_eq!(read.format, "openclaw");
        let call = &read.runs[0].calls[0];
        assert_eq!(call.spawned.as_ref().unwrap(), "agent:main:subagent:1");
        assert_eq!(read.runs[0].unknown_records(), 0);
    }
}
