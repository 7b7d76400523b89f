//! Chat messages in the format of evaluation harnesses: OpenAI's format and its flat variants
//! (`{id, name, arguments}`, `{function: "name", args}`).

use super::chat_message;
use crate::builder::{NewCall, TrajectoryBuilder};
use crate::format::Record;
use crate::model::{EventKind, ToolName, Usage};
use jiff::Timestamp;
use toolmark_scan::Value;

/// Reads an entry of `tool_calls`: `{id, function: {name, arguments}}`, or flat with `name` or
/// a plain `function` beside `arguments` or `args`.
pub(crate) fn new_call(
    record: &Record<'_>,
    call: Value<'_>,
    step: Option<u32>,
    time: Option<Timestamp>,
) -> NewCall {
    let function = call.get("function");
    let body = function.filter(|f| f.is_object()).unwrap_or(call);
    let name = body.get("name").or(function).and_then(|n| record.text(n));
    let args = body.get("arguments").or_else(|| body.get("args"));
    NewCall {
        // An empty id ties nothing together.
        id: record.text_at(call, "id").filter(|id| !id.is_empty()),
        name: ToolName::or_empty(name),
        args: args.map(|a| record.payload(a)),
        step,
        time,
        at: record.at_value(call),
    }
}

/// Reads the content of an assistant message: text and reasoning of `step`. Blocks keep their
/// text under `text` or, in AgentDojo, under `content`.
pub(crate) fn words(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    content: Value<'_>,
    step: Option<u32>,
    time: Option<Timestamp>,
) {
    if content.is_string() {
        if content.inner() != Some("") {
            let text = Some(record.payload(content));
            b.event(EventKind::Message, text, step, time, record.at_value(content));
        }
        return;
    }
    for block in content.items() {
        let at = record.at_value(block);
        let kind = block.word("type");
        let text = ["text", "content", "reasoning", "thinking"]
            .iter()
            .find_map(|key| block.get(key).filter(|t| t.is_string()));
        if matches!(kind, "reasoning" | "thinking" | "redacted_thinking") {
            let text = text.filter(|t| t.inner() != Some("")).map(|t| record.payload(t));
            b.event(EventKind::Reasoning, text, step, time, at);
        } else if text.is_none_or(|t| t.inner() != Some("")) {
            let text = Some(record.payload(text.unwrap_or(block)));
            b.event(EventKind::Message, text, step, time, at);
        }
    }
}

/// Reads a `usage` object of LiteLLM, through which harnesses call models: it also states the
/// tokens written to a cache.
pub(crate) fn usage(usage: Value<'_>) -> Option<Usage> {
    let mut read = chat_message::usage(usage)?;
    let written = ["cache_write_tokens", "cache_creation_input_tokens"];
    let written = written.iter().find_map(|key| usage.get(key)?.as_u64());
    read.recorded.cache_write = written.unwrap_or(0);
    Some(read)
}
