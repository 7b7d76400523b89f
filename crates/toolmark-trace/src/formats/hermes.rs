//! Hermes Agent sessions: one JSON document with OpenAI-like messages, and exports of them.
//!
//! The document holds `session_id`, `session_start`, `model`, `system_prompt`, `tools` and
//! `messages`; messages of role `session_meta` are ignored. A tool message has
//! `finish_reason` `error` if the tool failed; the text of a terminal result is JSON with an
//! `exit_code`. There are no times of single messages and no tokens.
//!
//! An export (`hermes sessions export`) is a row of its database with the rows of its
//! messages: it has times and tokens, and calls may be JSON text. A trajectory for training
//! is a list of `conversations` with `from` and `value`: the model writes calls as
//! `<tool_call>{…}</tool_call>`, and its tools answer in `<tool_response>`, in the same order.

use super::shared::events::{lose_unmarked_status, note, set_once, words};
use super::shared::readers::each_record;
use super::shared::text_calls;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{
    At, Convention, EventKind, Fact, Fidelity, Parent, Payload, Text, ToolDefinition, ToolName,
    Usage, UsageTokens, time,
};
use jiff::Timestamp;
use toolmark_scan::{Scanner, Value};

/// Hermes Agent sessions.
pub(crate) struct Hermes;

static INFO: FormatInfo = FormatInfo {
    id: "hermes",
    title: "Hermes Agent session",
    origin: "~/.hermes/sessions/session_*.json, hermes sessions export, trajectories for training",
    versions: "2026",
    looks_for: "session_id and session_start beside messages, source and started_at beside messages, or conversations with <tool_call>",
    fidelity: Fidelity::lacking(&[Fact::Durations, Fact::Cost, Fact::SubAgents]),
};

impl Format for Hermes {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let Some(first) = probe.first() else { return 0 };
        let has = |key: &str| first.get(key).is_some();
        let messages = first.get("messages").is_some_and(Value::is_array);
        if messages && has("session_id") && has("session_start") {
            return 100;
        }
        let counts = has("message_count") || has("tool_call_count") || has("end_reason");
        if messages && has("id") && has("source") && has("started_at") && counts {
            return 95;
        }
        if probe.any(is_training) { 90 } else { 0 }
    }

    fn answers_calls(&self) -> bool {
        true
    }

    fn reader(&self) -> Box<dyn Reader> {
        each_record(read_record)
    }
}

/// Returns whether the record is a conversation with calls in the syntax of Hermes.
fn is_training(record: Value<'_>) -> bool {
    const MAX_LOOKED_AT: usize = 20;
    record.items_at("conversations").take(MAX_LOOKED_AT).any(|said| {
        let text = said.get("value").and_then(Value::inner).unwrap_or("");
        said.get("from").is_some()
            && ["<tool_call>", "<tool_response>", "<tools>"].iter().any(|tag| text.contains(tag))
    })
}

fn read_record(record: &Record<'_>, out: &mut Out) {
    let Some(session) = out.object(record, "a session") else { return };
    let mut b = out.builder(&Hermes);
    header(&mut b, record, session);
    for message in session.items_at("messages") {
        self::message(&mut b, record, message);
    }
    for said in session.items_at("conversations") {
        self::said(&mut b, record, said);
    }
    lose_unmarked_status(&mut b);
    out.push(b.finish());
}

/// Reads a message of a trajectory for training.
fn said(b: &mut TrajectoryBuilder, record: &Record<'_>, said: Value<'_>) {
    let at = record.at_value(said);
    let value = said.get("value");
    let text = value.and_then(|v| words(record, v));
    match said.word("from") {
        "system" => b.context(text, None, at),
        "human" | "user" => b.user(text, None, at),
        "gpt" | "assistant" | "model" => {
            let text = value.and_then(Value::str).unwrap_or_default();
            answer_with_calls(b, &text, &at);
        }
        "tool" | "function" | "observation" => {
            let text = value.and_then(Value::str).unwrap_or_default();
            let mut responses = elements(&text, "tool_response").peekable();
            if responses.peek().is_none() {
                tool_response(b, &text, &at);
            }
            for (response, _) in responses {
                tool_response(b, response, &at);
            }
        }
        other => b.unknown(format!("message/{other}"), at),
    }
}

/// Iterates over the contents of the elements with this tag, with the text before each.
fn elements<'t>(text: &'t str, tag: &str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        let (before, inside) = rest.split_once(&open)?;
        let (inside, after) = inside.split_once(&close).unwrap_or((inside, ""));
        rest = after;
        Some((inside.trim(), before.trim()))
    })
}

/// Reads reasoning, text and calls of the model.
fn answer_with_calls(b: &mut TrajectoryBuilder, text: &str, at: &At) {
    let step = b.step(None, None, at.clone());
    let owned = |text: &str| Payload::text(Text::owned(text));
    let mut rest = text.trim();
    if let Some((thought, after)) =
        rest.strip_prefix("<think>").and_then(|t| t.split_once("</think>"))
    {
        b.reasoning(step, Some(owned(thought.trim())), None, at.clone());
        rest = after.trim();
    }
    for (call, before) in elements(rest, "tool_call") {
        if !before.is_empty() {
            b.message(step, owned(before), None, at.clone());
        }
        let Some((name, args)) = text_calls::one(call) else {
            let kind = EventKind::Unknown(Text::owned("tool_call"));
            b.event(kind, Some(owned(call)), Some(step), None, at.clone());
            continue;
        };
        let name = ToolName::new(Text::owned(name));
        b.call(NewCall { id: None, name, args, step: Some(step), time: None, at: at.clone() });
    }
    let last = rest.rsplit_once("</tool_call>").map_or(rest, |(_, last)| last).trim();
    if !last.is_empty() && !last.contains("<tool_call>") {
        b.message(step, owned(last), None, at.clone());
    }
}

/// Reads the output of a tool: the result of the first call that waits for one.
fn tool_response(b: &mut TrajectoryBuilder, text: &str, at: &At) {
    let payload = Payload::text(Text::owned(text));
    let content = payload.parsed().and_then(|v| v.get("content"));
    let code = |v: &serde_json::Value| v.get("exit_code")?.as_i64();
    let code = content.and_then(code).or_else(|| payload.parsed().and_then(code));
    let name = payload.parsed().and_then(|v| Some(v.get("name")?.as_str()?.to_owned()));
    let named = name.and_then(|name| b.first_open(|c| c.name.original.is(&name)));
    let call = named.or_else(|| b.first_open(|_| true));
    b.answer_call(call, ReaderResult::new(Some(payload), at.clone()).exit_code(code));
}

fn header(b: &mut TrajectoryBuilder, record: &Record<'_>, session: Value<'_>) {
    let run = &mut b.run;
    run.agent.name = Some(Text::owned("hermes"));
    set_once(&mut run.id, record, session, "session_id");
    set_once(&mut run.id, record, session, "id");
    set_once(&mut run.name, record, session, "title");
    set_once(&mut run.outcome, record, session, "end_reason");
    let parent = record.text_at(session, "parent_session_id");
    run.parent = parent.map(|id| Parent { trajectory: Some(id), call: None });
    run.usage = usage(session);
    set_once(&mut run.agent.model, record, session, "model");
    set_once(&mut run.cwd, record, session, "cwd");
    if let Some(config) = session.get("model_config") {
        set_once(&mut run.cwd, record, config, "cwd");
    }
    if let Some(tools) = session.get("tools") {
        run.tools = Some(tools.items().filter_map(|t| definition(record, t)).collect());
    }
    for key in ["session_start", "last_updated", "started_at", "ended_at"] {
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

fn usage(session: Value<'_>) -> Option<Usage> {
    let count = |key: &str| session.get(key).and_then(Value::as_u64);
    let (input, output) = (count("input_tokens"), count("output_tokens"));
    if input.unwrap_or(0) == 0 && output.unwrap_or(0) == 0 {
        return None;
    }
    let tokens = UsageTokens {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cache_read: count("cache_read_tokens").unwrap_or(0),
        cache_write: count("cache_write_tokens").unwrap_or(0),
        cache_write_1h: 0,
        reasoning: count("reasoning_tokens").unwrap_or(0),
    };
    Some(Usage::new(tokens, Convention::ANTHROPIC))
}

/// Reads the calls of a message that stores them as JSON text, like its database row.
fn calls_in_text(
    b: &mut TrajectoryBuilder,
    text: &str,
    step: u32,
    time: Option<Timestamp>,
    at: &At,
) {
    let mut scanner = Scanner::new();
    let Ok(list) = scanner.parse(text) else {
        let kind = EventKind::Unknown(Text::owned("tool_calls"));
        let text = Payload::text(Text::owned(text));
        return b.event(kind, Some(text), Some(step), time, at.clone());
    };
    for call in list.root().items() {
        let id = call.get_str("id").or_else(|| call.get_str("call_id")).map(Text::owned);
        let (name, args) =
            text_calls::named(call.get("function").unwrap_or(call)).unwrap_or_default();
        let name = ToolName::new(Text::owned(name));
        b.call(NewCall { id, name, args, step: Some(step), time, at: at.clone() });
    }
}

fn message(b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
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
                b.message(step, text, time, at.clone());
            }
            if let Some(calls) = message.get("tool_calls").and_then(Value::str) {
                calls_in_text(b, &calls, step, time, &at);
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

fn tool_result(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    message: Value<'_>,
    text: Option<Payload>,
) {
    let code = text.as_ref().and_then(Payload::parsed).and_then(|v| v.get("exit_code")?.as_i64());
    let answer = ReaderResult::new(text, record.at_value(message));
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
    use crate::testing::{read_fixture, read_text, sketch};

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

    #[test]
    fn an_export_of_the_database() {
        let read = read_text(
            r#"{"id":"s1","source":"cli","model":"m","started_at":1767225600.5,"ended_at":1767225700.5,"end_reason":"exit","message_count":3,"input_tokens":10,"output_tokens":5,"messages":[{"role":"user","content":"go","timestamp":1767225601.0},{"role":"assistant","content":"","tool_calls":"[{\"id\":\"c1\",\"function\":{\"name\":\"terminal\",\"arguments\":\"{}\"}}]","timestamp":1767225602.0},{"role":"tool","tool_call_id":"c1","content":"{\"exit_code\":1}","timestamp":1767225603.0}]}"#,
        );
        assert_eq!(read.format, "hermes");
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: go\n0 call terminal {} -> failed(exitcode) exit 1: {\"exit_code\":1}\n"
        );
        assert_eq!(run.usage.unwrap().total(), 15);
        assert_eq!(run.outcome.as_ref().unwrap(), "exit");
    }

    #[test]
    fn a_trajectory_for_training() {
        let read = read_text(
            r#"{"conversations":[{"from":"system","value":"Tools: <tools>[]</tools>"},{"from":"human","value":"go"},{"from":"gpt","value":"<think>hm</think>\nlook\n<tool_call>\n{\"name\":\"a\",\"arguments\":{\"x\":1}}\n</tool_call>\n<tool_call>{'name': 'b', 'arguments': {}}</tool_call>"},{"from":"tool","value":"<tool_response>\n{\"exit_code\": 2}\n</tool_response>\n<tool_response>ok</tool_response>"},{"from":"gpt","value":"done"},{"from":"gpt","value":"<tool_call>broken</tool_call>"}]}"#,
        );
        assert_eq!(read.format, "hermes");
        assert_eq!(
            sketch(&read.runs[0]),
            "context: Tools: <tools>[]</tools>\n\
             user: go\n\
             0 reasoning: hm\n\
             0 message: look\n\
             0 call a {\"x\":1} -> failed(exitcode) exit 2: {\"exit_code\": 2}\n\
             0 call b {} -> unknown(absent): ok\n\
             1 message: done\n\
             unknown tool_call\n"
        );
    }
}
