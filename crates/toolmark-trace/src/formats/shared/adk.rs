//! Code shared by the files of Google's Agent Development Kit: contents with parts, and the
//! turns of its eval files. Keys are in snake case in Python's files and in camel case in
//! those of its web server.

use super::positional::Positional;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::format::Record;
use crate::model::{
    Actor, Convention, EventKind, Status, StatusLevel, Text, ToolName, Usage, UsageTokens, time,
};
use jiff::Timestamp;
use toolmark_scan::Value;

/// Returns the member under its snake-case key or its camel-case form.
pub(crate) fn get<'a>(value: Value<'a>, key: &str) -> Option<Value<'a>> {
    if let Some(found) = value.get(key) {
        return Some(found);
    }
    if !key.contains('_') {
        return None;
    }
    let mut camel = String::with_capacity(key.len());
    for (n, word) in key.split('_').enumerate() {
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if n > 0 => camel.push(first.to_ascii_uppercase()),
            Some(first) => camel.push(first),
            None => {}
        }
        camel.push_str(letters.as_str());
    }
    value.get(&camel)
}

/// Returns the parts of a content.
pub(crate) fn parts(content: Option<Value<'_>>) -> impl Iterator<Item = Value<'_>> {
    content.and_then(|c| c.get("parts")).into_iter().flat_map(Value::items)
}

/// Returns the text of a content as one payload: its only text, or all its parts.
pub(crate) fn user_text(
    record: &Record<'_>,
    content: Option<Value<'_>>,
) -> Option<crate::model::Payload> {
    let mut all = parts(content);
    let first = all.next();
    match (first.and_then(|p| p.get("text")), all.next()) {
        (Some(text), None) => Some(record.payload(text)),
        _ => content.and_then(|c| c.get("parts")).map(|p| record.payload(p)),
    }
}

pub(crate) fn is_response(part: Value<'_>) -> bool {
    get(part, "function_response").is_some()
}

/// Reader of the parts of one run.
#[derive(Default)]
pub(crate) struct AdkParts {
    open: Positional,
    /// Last code that the model ran.
    code: Option<u32>,
}

impl AdkParts {
    /// Reads one part of an agent's content, or a result for the agent.
    pub(crate) fn part(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        part: Value<'_>,
        step: Option<u32>,
        time: Option<Timestamp>,
    ) {
        let at = record.at_value(part);
        if let Some(response) = get(part, "function_response") {
            self.response(b, record, response, time);
            return;
        }
        let Some(step) = step else {
            b.unknown("part outside a step", at);
            return;
        };
        if let Some(call) = get(part, "function_call") {
            self.call(b, record, call, step, time);
        } else if let Some(text) = part.get("text") {
            let is_thought = part.is_true("thought");
            if is_thought {
                b.reasoning(step, Some(record.payload(text)), time, at);
            } else if text.inner() != Some("") {
                b.message(step, record.payload(text), time, at);
            }
        } else if let Some(code) = get(part, "executable_code") {
            let call = b.call(NewCall {
                id: None,
                name: ToolName::new("code_execution"),
                args: Some(record.payload(code)),
                step: Some(step),
                time,
                at,
            });
            b.run.calls[call as usize].actor = Actor::Provider;
            self.code = Some(call);
        } else if let Some(result) = get(part, "code_execution_result") {
            let answer = ReaderResult::new(record.payload_at(result, "output"), at).time(time);
            let answer = match result.get("outcome").and_then(Value::inner) {
                Some("OUTCOME_OK") => answer.protocol(false),
                Some("OUTCOME_DEADLINE_EXCEEDED") => {
                    answer.status(Status::Interrupted, StatusLevel::Protocol)
                }
                Some(_) => answer.protocol(true),
                None => answer,
            };
            b.answer_call(self.code.take(), answer);
        } else if get(part, "inline_data").or_else(|| get(part, "file_data")).is_some() {
            b.message(step, record.payload(part), time, at);
        } else if get(part, "thought_signature").is_some() {
            b.reasoning(step, None, time, at);
        } else if part.is_object() && part.fields().all(|(_, value)| value.is_null()) {
            // A part of nothing but nulls is how an empty answer is written.
        } else {
            let kind = EventKind::Unknown(Text::owned("part"));
            b.event(kind, Some(record.payload(part)), Some(step), time, at);
        }
    }

    /// Reads a `function_call`; returns its index.
    pub(crate) fn call(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        call: Value<'_>,
        step: u32,
        time: Option<Timestamp>,
    ) -> u32 {
        let index = b.call(NewCall {
            id: record.text_at(call, "id").filter(|id| !id.is_empty()),
            name: ToolName::or_empty(record.text_at(call, "name")),
            args: record.payload_at(call, "args"),
            step: Some(step),
            time,
            at: record.at_value(call),
        });
        self.open.add(step, index);
        index
    }

    /// Reads a `function_response`: matched by its ID, or otherwise to the next open call of its
    /// name.
    pub(crate) fn response(
        &mut self,
        b: &mut TrajectoryBuilder,
        record: &Record<'_>,
        response: Value<'_>,
        time: Option<Timestamp>,
    ) {
        let body = response.get("response");
        let answer = ReaderResult::new(body.map(|r| record.payload(r)), record.at_value(response));
        let answer = match body.and_then(failure) {
            Some(failed) => answer.time(time).protocol(failed),
            None => answer.time(time),
        };
        self.open.answer(b, response.get("id"), response.get("name"), answer);
    }
}

/// Returns whether the call failed. The API reserves `error` in a response for that, and the
/// results of MCP tools carry their own mark.
fn failure(body: Value<'_>) -> Option<bool> {
    if let Some(mark) = get(body, "is_error").and_then(Value::as_bool) {
        return Some(mark);
    }
    let error = body.get("error").filter(|e| e.inner() != Some("") && e.as_bool() != Some(false));
    error.map(|_| true)
}

/// Reads a `usage_metadata`.
pub(crate) fn usage(metadata: Value<'_>) -> Usage {
    let count = |key| get(metadata, key).and_then(Value::as_u64);
    let tokens = UsageTokens {
        input: count("prompt_token_count").unwrap_or(0),
        output: count("candidates_token_count").unwrap_or(0),
        cache_read: count("cached_content_token_count").unwrap_or(0),
        cache_write: 0,
        cache_write_1h: 0,
        reasoning: count("thoughts_token_count").unwrap_or(0),
    };
    let stated_total = count("total_token_count");
    Usage { recorded: tokens, stated_total, convention: Convention::GEMINI }
}

/// Returns the time under `key`.
pub(crate) fn stated_time(value: Value<'_>, key: &str) -> Option<Timestamp> {
    time::from_value(get(value, key)?)
}

/// Reads a turn of the old eval files: a query, and the expected calls and answer.
pub(crate) fn old_turn(b: &mut TrajectoryBuilder, record: &Record<'_>, turn: Value<'_>) {
    let at = record.at_value(turn);
    b.user(record.payload_at(turn, "query"), None, at.clone());
    let step = b.step(None, None, at);
    for call in turn.items_at("expected_tool_use") {
        let name = record.text_at(call, "tool_name").unwrap_or_else(|| Text::owned(""));
        let index = b.call(NewCall {
            id: None,
            name: ToolName::new(name),
            args: record.payload_at(call, "tool_input"),
            step: Some(step),
            time: None,
            at: record.at_value(call),
        });
        if let Some(output) = call.get("mock_tool_output") {
            let answer = ReaderResult::new(Some(record.payload(output)), record.at_value(output));
            b.answer_call(index, answer);
        }
    }
    let between = turn.get("expected_intermediate_agent_responses");
    let between = between.into_iter().flat_map(Value::items).filter_map(|r| r.get("text"));
    for text in between.chain(turn.get("reference")) {
        b.message(step, record.payload(text), None, record.at_value(text));
    }
}
