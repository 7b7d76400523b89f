//! The message format that AgentV's transcripts, results and replay fixtures share: a call and
//! its result are one object in the assistant's message. Keys are camel case in memory and
//! snake case on disk; both are read.

use super::events::{declared_error, unknown_member};
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::Record;
use crate::model::{
    Convention, Cost, EventKind, Fact, Status, StatusLevel, Text, ToolName, Usage, UsageTokens,
    time,
};
use jiff::{SignedDuration, Timestamp};
use toolmark_scan::Value;

/// Reads one message of a run.
pub(crate) fn message(b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>) {
    let (mut role, mut content, mut calls, mut usage) = (None, None, None, None);
    let (mut start, mut end) = (None, None);
    for (key, value) in message.fields() {
        match key.inner().unwrap_or("") {
            "role" => role = value.inner(),
            "content" => content = Some(value).filter(|c| !c.is_null() && c.inner() != Some("")),
            "tool_calls" | "toolCalls" => calls = Some(value),
            "token_usage" | "tokenUsage" => usage = Some(value).filter(|u| u.is_object()),
            "start_time" | "startTime" | "timestamp" => start = time::from_value(value),
            "end_time" | "endTime" => end = time::from_value(value),
            key => unknown_member(b, record, key, value, None),
        }
    }
    let text = content.map(|c| record.payload(c));
    let at = record.at_value(message);
    b.seen(end);
    match role.unwrap_or("") {
        "user" => b.user(text, start, at),
        "system" | "developer" => b.context(text, start, at),
        "tool" | "function" => tool_message(b, record, message, start),
        "assistant" => {
            let step = b.step(None, start, at);
            b.run.steps[step as usize].usage = usage.map(|u| Usage::new(tokens(u), CONVENTION));
            if let Some(text) = text {
                b.message(step, text, start, record.at_value(message));
            }
            for item in calls.into_iter().flat_map(Value::items) {
                call(b, record, item, Some(step));
            }
            return;
        }
        other => b.unknown(format!("message/{other}"), at),
    }
    // A call was made, whatever the author of the message.
    for item in calls.into_iter().flat_map(Value::items) {
        call(b, record, item, None);
    }
}

/// Reads a result in a separate message, as some providers pass it through.
fn tool_message(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    message: Value<'_>,
    time: Option<Timestamp>,
) {
    let payload = record.payload_at(message, "content");
    let answer = ReaderResult::new(payload, record.at_value(message)).time(time);
    let id = message.get("tool_call_id").or_else(|| message.get("toolCallId"));
    if let Some(id) = id.and_then(Value::str) {
        b.answer(&*id, answer);
        return;
    }
    let name = message.get("name").and_then(Value::str);
    b.answer_call(name.and_then(|name| b.first_open(|c| c.name.original.is(&name))), answer);
}

/// One call with what it gave back, if that is recorded.
///
/// AgentV counts every entry of the list, whatever its id: ids may repeat, or be empty.
/// Its importers list some calls twice, as they were asked for and as they were carried
/// out; only that is one call ([`asked_for`]).
pub(crate) fn call(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    item: Value<'_>,
    step: Option<u32>,
) {
    let (mut id, mut tool, mut name) = (None, None, None);
    let (mut input, mut output, mut status) = (None, None, None);
    let (mut start, mut end, mut duration) = (None, None, None);
    for (key, value) in item.fields() {
        // No input and an input of null are two things to AgentV's graders.
        if value.is_null() && key.inner() != Some("input") {
            continue;
        }
        match key.inner().unwrap_or("") {
            "id" => id = record.text(value),
            "tool" => tool = record.text(value),
            "name" => name = record.text(value),
            "input" | "args" | "arguments" => input = Some(record.payload(value)),
            "output" | "result" => output = Some(record.payload(value)),
            "status" => status = value.inner(),
            "start_time" | "startTime" | "timestamp" => start = time::from_value(value),
            "end_time" | "endTime" => end = time::from_value(value),
            "duration_ms" | "durationMs" => duration = value.as_f64().and_then(time::millis),
            _ => {}
        }
    }
    let Some(tool) = tool.or(name) else {
        let kind = EventKind::Unknown(Text::owned("call without a tool"));
        b.event(kind, None, step, None, record.at_value(item));
        return;
    };
    let at = record.at_value(item);
    let new =
        NewCall { id, name: ToolName::new(tool), args: input, step, time: start, at: at.clone() };
    let is_answered = output.is_some() || status.is_some_and(|s| s != "unknown");
    let known = is_answered.then(|| asked_for(b, &new)).flatten();
    let call = known.unwrap_or_else(|| b.call(new));
    if let Some(call) = b.run.calls.get_mut(call as usize) {
        call.duration_stated |= duration.is_some();
        call.duration = duration.or(call.duration).or_else(|| span(start, end));
    }
    if !is_answered {
        return;
    }
    let mut answer = ReaderResult::new(output, at).time(end);
    if let Some((status, level)) = status.and_then(status_of) {
        answer = answer.status(status, level);
        b.run.fidelity.gain(Fact::Status);
    }
    b.answer_call(call, answer);
}

/// The call with no result so far that an entry with a result is the other half of: the
/// same id, tool and input.
fn asked_for(b: &TrajectoryBuilder, new: &NewCall) -> Option<u32> {
    let id = new.id.as_ref()?.get();
    let known = b.find(&id).filter(|_| !id.is_empty())?;
    let call = b.run.calls.get(known as usize)?;
    let is_same = call.result.is_none() && call.name == new.name && call.args == new.args;
    is_same.then_some(known)
}

fn status_of(word: &str) -> Option<(Status, StatusLevel)> {
    Some(match word {
        "ok" | "success" => (Status::Succeeded, StatusLevel::Protocol),
        "error" => (Status::Failed, StatusLevel::Protocol),
        "timeout" => (Status::Interrupted, StatusLevel::Protocol),
        "cancelled" | "canceled" => (Status::Interrupted, StatusLevel::Denial),
        _ => return None,
    })
}

fn span(start: Option<Timestamp>, end: Option<Timestamp>) -> Option<SignedDuration> {
    let span = end?.duration_since(start?);
    (!span.is_negative()).then_some(span)
}

/// AgentV passes its providers' counts through; most of them include the cache.
const CONVENTION: Convention = Convention::INCLUSIVE;

fn tokens(usage: Value<'_>) -> UsageTokens {
    let mut tokens = UsageTokens::default();
    for (key, value) in usage.fields() {
        let slot = match key.inner().unwrap_or("") {
            "input" => &mut tokens.input,
            "output" => &mut tokens.output,
            "cached" => &mut tokens.cache_read,
            "reasoning" => &mut tokens.reasoning,
            _ => continue,
        };
        *slot = value.as_u64().unwrap_or(0);
    }
    tokens
}

/// Reads the usage of a whole run.
pub(crate) fn usage(b: &mut TrajectoryBuilder, usage: Value<'_>) {
    if usage.is_object() {
        b.run.usage = Some(Usage::new(tokens(usage), CONVENTION));
    }
}

/// Reads the cost of a whole run.
pub(crate) fn cost(b: &mut TrajectoryBuilder, usd: Value<'_>) {
    b.run.cost = usd.as_f64().and_then(Cost::from_usd).or(b.run.cost);
}

/// Reads the duration of a whole run.
pub(crate) fn duration(b: &mut TrajectoryBuilder, millis: Value<'_>) {
    let duration = millis.as_f64().and_then(time::millis);
    b.run.stated.duration = duration.or(b.run.stated.duration);
}

/// Reads the source of a run: `{provider, session_id, model, cwd, version, …}`.
pub(crate) fn source(b: &mut TrajectoryBuilder, record: &Record<'_>, source: Value<'_>) {
    let run = &mut b.run;
    for (key, value) in source.fields() {
        let slot = match key.inner().unwrap_or("") {
            "session_id" | "sessionId" => &mut run.id,
            "provider" => &mut run.agent.name,
            "model" => &mut run.agent.model,
            "version" => &mut run.agent.version,
            "cwd" => &mut run.cwd,
            _ => continue,
        };
        if slot.is_none() {
            *slot = record.text(value);
        }
    }
    b.seen(source.get("timestamp").and_then(time::from_value));
}

/// Reads the error of a whole run.
pub(crate) fn error(b: &mut TrajectoryBuilder, record: &Record<'_>, error: Value<'_>) {
    if !error.is_null() {
        b.run.completeness.declared_error = declared_error(record, error);
        b.event(EventKind::Error, Some(record.payload(error)), None, None, record.at_value(error));
    }
}

/// Returns the schema of a record, such as `agentv.trace.v1`.
pub(crate) fn schema(record: Value<'_>) -> &str {
    let schema = record.get("schema_version").or_else(|| record.get("schemaVersion"));
    schema.and_then(Value::inner).filter(|s| s.starts_with("agentv.")).unwrap_or("")
}

/// Returns the text under the first of `keys` that has one.
pub(crate) fn text(record: &Record<'_>, value: Value<'_>, keys: &[&str]) -> Option<Text> {
    keys.iter().find_map(|key| value.get(key).and_then(|v| record.label(v)))
}

#[cfg(test)]
mod tests {
    use crate::testing::read_text;

    fn count(text: &str) -> usize {
        read_text(text).runs[0].calls.len()
    }

    #[test]
    fn every_entry_of_a_list_is_a_call() {
        let poll = |id: &str, output: &str| {
            format!(r#"{{{id}"tool":"poll","input":{{"job":7}}{output}}}"#)
        };
        let (x, empty, other) = (r#""id":"x","#, r#""id":"","#, r#""id":"y","#);
        let (busy, done) = (r#","output":"busy""#, r#","output":"done""#);
        for (first, second, expected) in [
            (poll("", ""), poll("", ""), 2),
            (poll(empty, ""), poll(empty, ""), 2),
            (poll(empty, busy), poll(empty, busy), 2),
            (poll(x, busy), poll(x, done), 2),
            (poll(x, busy), poll(x, busy), 2),
            (poll(x, ""), poll(x, ""), 2),
            (poll(x, busy), poll(other, busy), 2),
            // As it was asked for, and as it was carried out.
            (poll(x, ""), poll(x, done), 1),
            (poll(empty, ""), poll(empty, done), 2),
        ] {
            let message = |calls: &str| {
                format!(r#"{{"role":"assistant","content":"","tool_calls":[{calls}]}}"#)
            };
            let both = format!("{first},{second}");
            let row = |key: &str, list: &str| {
                format!(r#"{{"test_id":"t","target":"a","score":1,"{key}":[{list}]}}"#)
            };
            let line = |n: u32, calls: &str| {
                format!(
                    r#"{{"test_id":"t","target":"a","message_index":{n},"role":"assistant","tool_calls":[{calls}]}}"#
                )
            };
            for text in [
                row("output", &message(&both)),
                row("output_messages", &format!("{},{}", message(&first), message(&second))),
                line(0, &both),
                format!("{}\n{}", line(0, &first), line(1, &second)),
            ] {
                assert_eq!(count(&text), expected, "{text}");
            }
        }
    }

    #[test]
    fn calls_of_one_id_in_spans_and_events_are_several() {
        let event = |kind: &str| {
            format!(r#"{{"type":"{kind}","id":"x","name":"poll","input":{{}},"output":"busy"}}"#)
        };
        let (call, result) =
            (r#"{"type":"tool_call","id":"x","name":"poll"}"#, event("tool_result"));
        let flat = |events: &str| format!(r#"{{"text":"bye","trace":[{events}]}}"#);
        assert_eq!(count(&flat(&format!("{call},{result},{call},{result}"))), 2);
        assert_eq!(count(&flat(&format!("{call},{call},{result},{result}"))), 2);
        let span = |id: u32| {
            format!(
                r#"{{"span_id":"{id}","attributes":{{"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"poll","gen_ai.tool.call.id":"x","gen_ai.tool.call.arguments":"{{}}","gen_ai.tool.call.result":"{id}"}}}}"#
            )
        };
        let trace = format!(
            r#"{{"schema_version":"agentv.trace.v1","trace":{{"trace_id":"t","spans":[{},{}]}}}}"#,
            span(1),
            span(2)
        );
        assert_eq!(count(&trace), 2);
    }
}
