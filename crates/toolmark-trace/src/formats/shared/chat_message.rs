//! Messages in the OpenAI chat format, which most clients and datasets write.

use super::events::unknown_member;
use super::positional::Positional;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::Record;
use crate::model::{
    Actor, Convention, EventKind, Payload, Status, StatusLevel, Text, ToolName, Usage, UsageTokens,
    names_call, time,
};
use jiff::Timestamp;
use toolmark_scan::Value;

/// Reader of the messages of one conversation.
#[derive(Default)]
pub(crate) struct Chat {
    open: Positional,
}

/// The members of a message, read in one pass.
#[derive(Default)]
struct ChatMessage<'a> {
    role: &'a str,
    id: Option<Value<'a>>,
    name: Option<Value<'a>>,
    content: Option<Value<'a>>,
    reasoning: Option<Value<'a>>,
    refusal: Option<Value<'a>>,
    calls: Option<Value<'a>>,
    legacy_call: Option<Value<'a>>,
    call_id: Option<Value<'a>>,
    model: Option<Value<'a>>,
    usage: Option<Value<'a>>,
    time: Option<Timestamp>,
    /// An unknown member whose name suggests calls.
    odd: Option<(&'a str, Value<'a>)>,
}

impl<'a> ChatMessage<'a> {
    fn new(value: Value<'a>) -> Self {
        let mut message = Self::default();
        for (key, value) in value.fields().filter(|(_, v)| !v.is_null()) {
            match key.inner().unwrap_or("") {
                "role" => message.role = value.inner().unwrap_or(""),
                "id" => message.id = Some(value),
                "name" => message.name = Some(value),
                "content" => message.content = Some(value),
                "reasoning_content" | "reasoningContent" | "reasoning" => {
                    message.reasoning = Some(value)
                }
                "refusal" => message.refusal = Some(value),
                "tool_calls" | "toolCalls" => message.calls = Some(value),
                "function_call" => message.legacy_call = Some(value),
                "tool_call_id" | "toolCallId" => message.call_id = Some(value),
                "model" => message.model = Some(value),
                "usage" => message.usage = Some(value),
                "timestamp" | "created_at" | "createdAt" | "created" | "time" => {
                    message.time = time::from_value(value).or(message.time);
                }
                key if names_call(key) => message.odd = Some((key, value)),
                _ => {}
            }
        }
        message
    }
}

impl Chat {
    /// Reads one message; returns its step if the assistant wrote it.
    pub(crate) fn message(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        value: Value<'_>,
        time: Option<Timestamp>,
    ) -> Option<u32> {
        let at = record.at_value(value);
        let message = ChatMessage::new(value);
        let time = message.time.or(time);
        let text = message.content.map(|c| record.payload(c));
        match message.role {
            "user" => b.user(text, time, at),
            "system" | "developer" => b.context(text, time, at),
            "assistant" => return Some(self.assistant(b, record, value, &message, time)),
            "tool" | "function" => self.results(b, record, value, &message, time),
            "" if message.calls.is_some() => b.unknown("tool_calls without role", at),
            "" => b.unknown("message without role", at),
            other => {
                let kind = EventKind::Unknown(Text::owned(format!("role/{other}")));
                b.event(kind, text, None, time, at);
                // A call was made, whatever the author of the message.
                let calls = [("tool_calls", message.calls), ("function_call", message.legacy_call)];
                let calls = calls.into_iter().filter_map(|(key, value)| Some((key, value?)));
                for (key, value) in calls.chain(message.odd) {
                    unknown_member(b, record, key, value, None);
                }
            }
        }
        None
    }

    fn assistant(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        value: Value<'_>,
        message: &ChatMessage<'_>,
        time: Option<Timestamp>,
    ) -> u32 {
        let step = b.step(None, time, record.at_value(value));
        let this = &mut b.run.steps[step as usize];
        this.id = message.id.and_then(|id| record.label(id));
        this.model = message.model.and_then(|m| record.text(m));
        if let Some(spent) = message.usage.and_then(usage) {
            this.usage = Some(spent);
            b.add_usage(spent);
        }
        let reasoning = message.reasoning.filter(|r| r.inner() != Some(""));
        if let Some(text) = reasoning {
            b.reasoning(step, Some(record.payload(text)), time, record.at_value(text));
        }
        if let Some(content) = message.content.or(message.refusal) {
            if content.is_array() {
                for part in content.items() {
                    self.part(b, record, part, step, time);
                }
            } else if content.inner() != Some("") {
                b.message(step, record.payload(content), time, record.at_value(content));
            }
        }
        if let Some((key, value)) = message.odd {
            unknown_member(b, record, key, value, Some(step));
        }
        if let Some(text) = message.calls.filter(|calls| !calls.is_array() && !calls.is("")) {
            let kind = EventKind::Unknown(Text::owned("tool_calls that are not a list"));
            b.event(kind, Some(record.payload(text)), Some(step), time, record.at_value(text));
        }
        let before = b.run.calls.len();
        let calls = message.calls.into_iter().flat_map(Value::items);
        for call in calls.chain(message.legacy_call) {
            self.call(b, record, call, step, time);
        }
        // Where several agents share a conversation, the name tells who spoke.
        if let Some(agent) = message.name.and_then(|n| record.text(n)) {
            for call in b.run.calls.iter_mut().skip(before) {
                call.agent = Some(agent.clone());
            }
        }
        step
    }

    /// Reads a part of an assistant's content.
    fn part(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        part: Value<'_>,
        step: u32,
        time: Option<Timestamp>,
    ) {
        let at = record.at_value(part);
        if part.is_string() {
            b.message(step, record.payload(part), time, at);
            return;
        }
        let kind = part.get("type").and_then(Value::inner).unwrap_or_else(|| untyped(part));
        match kind {
            "text" | "output_text" | "refusal" => {
                let text = part.get("text").or_else(|| part.get("refusal"));
                if let Some(text) = text.filter(|t| t.inner() != Some("")) {
                    b.message(step, record.payload(text), time, at);
                }
            }
            "thinking" | "reasoning" => {
                let text = part.get("text").or_else(|| part.get("thinking"));
                b.reasoning(step, text.map(|t| record.payload(t)), time, at);
            }
            "tool-call" => self.call(b, record, part, step, time),
            "image_url" | "input_audio" | "audio" | "file" | "image" => {
                b.message(step, record.payload(part), time, at);
            }
            other => b.event(
                EventKind::Unknown(Text::owned(format!("content/{other}"))),
                Some(record.payload(part)),
                Some(step),
                time,
                at,
            ),
        }
    }

    fn call(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        call: Value<'_>,
        step: u32,
        time: Option<Timestamp>,
    ) {
        let inner = ["function", "custom"].iter().find_map(|k| call.get(k));
        let inner = inner.filter(|v| v.is_object()).into_iter().flat_map(Value::fields);
        let (mut id, mut name, mut args) = (None, None, None);
        let mut is_provider = false;
        for (key, value) in inner.chain(call.fields()).filter(|(_, v)| !v.is_null()) {
            match key.inner().unwrap_or("") {
                "id" | "toolCallId" => id = record.label(value),
                "name" | "toolName" => name = record.text(value),
                "arguments" | "args" | "input" => args = Some(record.payload(value)),
                "providerExecuted" => is_provider = value.as_bool() == Some(true),
                _ => {}
            }
        }
        let index = b.call(NewCall {
            id: id.filter(|id| !id.is_empty()),
            name: ToolName::or_empty(name),
            args,
            step: Some(step),
            time,
            at: record.at_value(call),
        });
        if is_provider {
            b.run.calls[index as usize].actor = Actor::Provider;
        }
        self.open.add(step, index);
    }

    /// Reads a message that holds one result, or several as parts of its content.
    fn results(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        value: Value<'_>,
        message: &ChatMessage<'_>,
        time: Option<Timestamp>,
    ) {
        let parts = message.content.into_iter().flat_map(Value::items);
        let mut parts = parts.filter(|p| p.field_is("type", "tool-result")).peekable();
        if parts.peek().is_none() {
            let payload = message.content.map(|c| record.payload(c));
            let answer = result_answer(record, value, payload).time(time);
            self.open.answer(b, message.call_id, message.name, answer);
            return;
        }
        for part in parts {
            let output = part.get("output").or_else(|| part.get("result"));
            let inner = output.and_then(|o| o.get("value")).or(output);
            let payload = inner.map(|o| record.payload(o));
            let mut answer = result_answer(record, part, payload).time(time);
            let kind = output.and_then(|o| o.get("type")).and_then(Value::inner).unwrap_or("");
            if kind.starts_with("error") {
                answer = answer.protocol(true);
            } else if kind == "execution-denied" {
                answer = answer.status(Status::Denied, StatusLevel::Denial);
            }
            self.open.answer(b, part.get("toolCallId"), part.get("toolName"), answer);
        }
    }
}

/// Reads a result and the error fields that the dialects add to it; the API itself has none.
fn result_answer(record: &Record<'_>, value: Value<'_>, payload: Option<Payload>) -> ReaderResult {
    let answer = ReaderResult::new(payload, record.at_value(value));
    let mut failed = None;
    for (key, value) in value.fields().filter(|(_, v)| !v.is_null()) {
        match key.inner().unwrap_or("") {
            "is_error" | "isError" => failed = value.as_bool().or(failed),
            "status" => match value.inner() {
                Some("error" | "failed") => failed = Some(true),
                Some("success" | "ok" | "completed") => failed = Some(false),
                Some("denied" | "rejected") => {
                    return answer.status(Status::Denied, StatusLevel::Denial);
                }
                _ => {}
            },
            "error" if value.as_bool() != Some(false) && value.inner() != Some("") => {
                failed = Some(true);
            }
            _ => {}
        }
    }
    match failed {
        Some(failed) => answer.protocol(failed),
        None => answer,
    }
}

/// Reads usage in the format of the chat API or the Responses API.
pub(crate) fn usage(usage: Value<'_>) -> Option<Usage> {
    let mut tokens = UsageTokens::default();
    let (mut stated_total, mut cached, mut is_usage) = (None, None, false);
    for (key, value) in usage.fields().filter(|(_, v)| !v.is_null()) {
        match key.inner().unwrap_or("") {
            "prompt_tokens" | "input_tokens" => tokens.input = value.as_u64().unwrap_or(0),
            "completion_tokens" | "output_tokens" => tokens.output = value.as_u64().unwrap_or(0),
            "total_tokens" => stated_total = value.as_u64(),
            "prompt_tokens_details" | "input_tokens_details" => {
                cached = value.get("cached_tokens").and_then(Value::as_u64).or(cached);
            }
            "cache_read_input_tokens" | "cache_read_tokens" | "prompt_cache_hit_tokens" => {
                cached = cached.or(value.as_u64());
            }
            "completion_tokens_details" | "output_tokens_details" => {
                let spent = value.get("reasoning_tokens").and_then(Value::as_u64);
                tokens.reasoning = spent.unwrap_or(0);
            }
            _ => continue,
        }
        is_usage = true;
    }
    tokens.cache_read = cached.unwrap_or(0);
    let usage = Usage { recorded: tokens, stated_total, convention: Convention::INCLUSIVE };
    is_usage.then_some(usage)
}
/// Returns the type of an untyped part: text, or its only key.
fn untyped(part: Value<'_>) -> &str {
    match part.get("text") {
        Some(_) => "text",
        None => part.fields().next().and_then(|(key, _)| key.inner()).unwrap_or("text"),
    }
}
