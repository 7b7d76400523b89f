//! The content blocks of Anthropic messages, which Claude Code, its stream, the Messages API
//! and several other agents write.

use super::exit_code;
use crate::builder::{NewCall, ReaderResult, TrajectoryBuilder};
use crate::denials;
use crate::format::Record;
use crate::model::{Actor, EventKind, Status, StatusLevel, Text, ToolName, UsageTokens};
use jiff::Timestamp;
use std::borrow::Cow;
use toolmark_scan::Value;

/// Reads the content of an assistant message: text, reasoning and calls of `step`.
pub(crate) fn assistant(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    content: Value<'_>,
    step: u32,
    time: Option<Timestamp>,
) {
    if content.is_string() {
        if content.inner() != Some("") {
            b.message(step, record.payload(content), time, record.at_value(content));
        }
        return;
    }
    for block in content.items() {
        assistant_block(b, record, block, step, time);
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
    let kind = block.word("type");
    match kind {
        "text" => {
            if let Some(text) = record.payload_at(block, "text") {
                b.message(step, text, time, at);
            }
        }
        "thinking" | "redacted_thinking" => {
            let text = block.get("thinking").filter(|t| t.inner() != Some(""));
            b.reasoning(step, text.map(|t| record.payload(t)), time, at);
        }
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            let call = b.call(NewCall {
                id: record.text_at(block, "id"),
                name: ToolName::or_empty(record.text_at(block, "name")),
                args: record.payload_at(block, "input"),
                step: Some(step),
                time,
                at,
            });
            if kind != "tool_use" {
                b.run.calls[call as usize].actor = Actor::Provider;
            }
        }
        // Provider tools answer inside the assistant's own message.
        _ if kind.ends_with("_tool_result") => {
            tool_result(b, record, block, time);
        }
        _ => b.event(
            EventKind::Unknown(Text::owned(format!("content/{kind}"))),
            Some(record.payload(block)),
            Some(step),
            time,
            at,
        ),
    }
}

/// Reads a `tool_result` block, which answers its call. Returns the call's index.
pub(crate) fn tool_result(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    block: Value<'_>,
    time: Option<Timestamp>,
) -> Option<u32> {
    let answer = result_answer(record, block).time(time);
    b.answer(block.get("tool_use_id").and_then(Value::str).as_deref(), answer)
}

/// Reads the payload, status and exit code of a `tool_result` block.
pub(crate) fn result_answer(record: &Record<'_>, block: Value<'_>) -> ReaderResult {
    let content = block.get("content");
    let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or(false)
        || content
            .and_then(|c| c.get("type"))
            .and_then(Value::inner)
            .is_some_and(|t| t.ends_with("_error"));
    let answer = ReaderResult::new(content.map(|c| record.payload(c)), record.at_value(block));
    if !failed {
        return answer.protocol(false);
    }
    let text = content.map(first_text).unwrap_or_default();
    let answer = match refusal(&text) {
        Some(status) => answer.status(status, StatusLevel::Denial),
        None => answer.protocol(true),
    };
    answer.exit_code(exit_code::in_header(&text))
}

/// Returns the text of a content value: the string, or its first text block.
pub(crate) fn first_text(content: Value<'_>) -> Cow<'_, str> {
    if let Some(text) = content.str() {
        return text;
    }
    content.items().find_map(|b| b.get("text")?.str()).unwrap_or_default()
}

/// Returns the status if the text of an error means that the call was refused or interrupted.
pub(crate) fn refusal(text: &str) -> Option<Status> {
    let text = text.trim_start();
    if text.starts_with("[Request interrupted by user") {
        return Some(Status::Interrupted);
    }
    denials::of_claude(text).map(|_| Status::Denied)
}

/// Reads the `usage` object of a message.
pub(crate) fn usage(usage: Value<'_>) -> UsageTokens {
    let mut tokens = UsageTokens::default();
    for (key, value) in usage.fields() {
        let slot = match key.inner().unwrap_or("") {
            "input_tokens" => &mut tokens.input,
            "output_tokens" => &mut tokens.output,
            "cache_read_input_tokens" => &mut tokens.cache_read,
            "cache_creation_input_tokens" => &mut tokens.cache_write,
            "cache_creation" => {
                let hour = value.get("ephemeral_1h_input_tokens").and_then(Value::as_u64);
                tokens.cache_write_1h = hour.unwrap_or(0);
                continue;
            }
            _ => continue,
        };
        *slot = value.as_u64().unwrap_or(0);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals() {
        assert_eq!(
            refusal("[Request interrupted by user for tool use]"),
            Some(Status::Interrupted)
        );
        assert_eq!(
            refusal("The user doesn't want to proceed with this tool use. The"),
            Some(Status::Denied)
        );
        assert_eq!(refusal("PreToolUse:Bash hook error: no"), Some(Status::Denied));
        assert_eq!(refusal("Exit code 1\nPermission denied"), None);
    }
}
