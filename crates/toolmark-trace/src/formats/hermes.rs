//! Hermes Agent sessions: one JSON document with OpenAI-like messages.
//!
//! The document holds `session_id`, `session_start`, `model`, `system_prompt`,
//! `tools` and `messages`; a message of role `session_meta` says nothing. A
//! tool's message has `finish_reason` `error` where the tool failed; the text
//! of a terminal result is JSON with an `exit_code`. There are no times of
//! single messages and no tokens.

use super::shared::events::{lose_unmarked_status, note, set_once, words};
use super::shared::readers::each_record;
use crate::builder::{Answer, Builder, NewCall};
use crate::format::{Confidence, Format, FormatInfo, Out, Probe, Reader, Record};
use crate::model::{Fact, Fidelity, Payload, Text, ToolDefinition, ToolName, time};
use toolmark_scan::Value;

/// Hermes Agent sessions.
pub(crate) struct Hermes;

static INFO: FormatInfo = FormatInfo {
    id: "hermes",
    title: "Hermes Agent session",
    origin: "~/.hermes/sessions/session_*.json",
    versions: "2026",
    looks_for: "session_id and session_start beside messages",
    fidelity: Fidelity::lacking(&[Fact::Durations, Fact::Tokens, Fact::Cost, Fact::SubAgents]),
};

impl Format for Hermes {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &Probe<'_>) -> Confidence {
        let Some(first) = probe.first() else { return 0 };
        let has = |key: &str| first.get(key).is_some();
        let messages = first.get("messages").is_some_and(Value::is_array);
        if messages && has("session_id") && has("session_start") { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        each_record(read_record)
    }
}

fn read_record(record: &Record<'_>, out: &mut Out) {
    let Some(session) = out.object(record, "a session") else { return };
    let mut b = out.builder(&Hermes);
    header(&mut b, record, session);
    for message in session.items_at("messages") {
        self::message(&mut b, record, message);
    }
    lose_unmarked_status(&mut b);
    out.push(b.finish());
}

fn header(b: &mut Builder, record: &Record<'_>, session: Value<'_>) {
    let run = &mut b.run;
    run.agent.name = Some(Text::owned("hermes"));
    set_once(&mut run.id, record, session, "session_id");
    set_once(&mut run.agent.model, record, session, "model");
    set_once(&mut run.cwd, record, session, "cwd");
    if let Some(config) = session.get("model_config") {
        set_once(&mut run.cwd, record, config, "cwd");
    }
    if let Some(tools) = session.get("tools") {
        run.tools = Some(tools.items().filter_map(|t| definition(record, t)).collect());
    }
    for key in ["session_start", "last_updated"] {
        b.seen(session.get(key).and_then(time::from_value));
    }
    if let Some(prompt) = session.get("system_prompt") {
        b.context(words(record, prompt), None, record.at_value(prompt));
    }
}

fn definition(record: &Record<'_>, tool: Value<'_>) -> Option<ToolDefinition> {
    let function = tool.get("function").unwrap_or(tool);
    let field = |key: &str| tool.get(key).or_else(|| function.get(key));
    let schema = field("input_schema").or_else(|| field("parameters"));
    Some(ToolDefinition {
        name: record.text(field("name")?)?,
        description: field("description").and_then(|d| record.text(d)),
        schema: schema.map(|s| record.payload(s)),
    })
}

fn message(b: &mut Builder, record: &Record<'_>, message: Value<'_>) {
    let at = record.at_value(message);
    let time = message.get("timestamp").and_then(time::from_value);
    let text = message.get("content").and_then(|c| words(record, c));
    match message.word("role") {
        "system" | "developer" => b.context(text, time, at),
        "user" => b.user(text, time, at),
        "assistant" => {
            let step = b.step(None, time, at.clone());
            let thought = message.get("reasoning").or_else(|| message.get("reasoning_content"));
            if let Some(thought) = thought.and_then(|t| words(record, t)) {
                b.reasoning(step, Some(thought), time, at.clone());
            }
            if let Some(text) = text {
                b.message(step, text, time, at);
            }
            for call in message.items_at("tool_calls") {
                let function = call.get("function").unwrap_or(call);
                let name = record.text_at(function, "name");
                b.call(NewCall {
                    id: record.text_at(call, "id").or_else(|| record.text_at(call, "call_id")),
                    name: ToolName::or_empty(name),
                    args: record.payload_at(function, "arguments"),
                    step: Some(step),
                    time,
                    at: record.at_value(call),
                });
            }
        }
        "tool" => tool_result(b, record, message, text),
        "session_meta" => note(b, "session_meta", None, time, at),
        other => b.unknown(format!("message/{other}"), at),
    }
}

fn tool_result(b: &mut Builder, record: &Record<'_>, message: Value<'_>, text: Option<Payload>) {
    let code = text.as_ref().and_then(Payload::parsed).and_then(|v| v.get("exit_code")?.as_i64());
    let answer = Answer::new(text, record.at_value(message));
    let answer = match message.get("finish_reason").and_then(Value::inner) {
        Some("error") => answer.protocol(true),
        Some("stop") => answer.protocol(false),
        _ => answer,
    };
    let answer = answer.exit_code(code).time(message.get("timestamp").and_then(time::from_value));
    b.answer(message.get_str("tool_call_id").as_deref(), answer);
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_session() {
        let read = read_fixture("hermes.json");
        assert_eq!(read.format, "hermes");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "context: You help.\n\
             user: go\n\
             0 reasoning: hm\n\
             0 call shell {\"command\":\"ls\"} -> failed(exitcode) exit 2: {\"output\":\"\",\"exit_code\":2}\n\
             0 call memory {} -> failed(protocol): No results.\n\
             0 call memory {} -> unknown(absent): fine\n\
             0 call web {} -> unanswered(absent): \n\
             orphanresult: ?\n\
             note session_meta\n\
             unknown message/ghost\n\
             unknown message/\n"
        );
        assert_eq!(run.tools.as_ref().unwrap()[0].name, "shell");
    }
}
