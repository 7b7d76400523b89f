//! Chat messages as evaluation harnesses store them: OpenAI's shape and its
//! flat relatives (`{id, name, arguments}`, `{function: "name", args}`).

use crate::builder::{Builder, NewCall};
use crate::format::Record;
use crate::model::{Convention, EventKind, Text, Tokens, ToolName, Usage};
use jiff::Timestamp;
use toolmark_scan::Value;

/// An entry of `tool_calls`: `{id, function: {name, arguments}}`, or flat with
/// `name` or a plain `function` beside `arguments` or `args`.
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
        name: ToolName::new(name.unwrap_or_else(|| Text::owned(""))),
        args: args.map(|a| record.payload(a)),
        step,
        time,
        at: record.at_value(call),
    }
}

/// The content of an assistant message: words and reasoning of `step`. Blocks
/// keep their text under `text` or, in AgentDojo, under `content`.
pub(crate) fn words(
    b: &mut Builder,
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
        let kind = block.get("type").and_then(Value::inner).unwrap_or("");
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

/// An OpenAI or LiteLLM `usage` object; `None` where it states no counts.
pub(crate) fn usage(usage: Value<'_>) -> Option<Usage> {
    let count = |path: &[&str]| usage.at(path).and_then(Value::as_u64);
    let input = count(&["prompt_tokens"]).or_else(|| count(&["input_tokens"]));
    let output = count(&["completion_tokens"]).or_else(|| count(&["output_tokens"]));
    if input.is_none() && output.is_none() {
        return None;
    }
    let first = |paths: &[&[&str]]| paths.iter().find_map(|p| count(p)).unwrap_or(0);
    let recorded = Tokens {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cache_read: first(&[
            &["prompt_tokens_details", "cached_tokens"],
            &["input_tokens_details", "cached_tokens"],
            &["cache_read_tokens"],
            &["cache_read_input_tokens"],
        ]),
        cache_write: first(&[&["cache_write_tokens"], &["cache_creation_input_tokens"]]),
        reasoning: first(&[
            &["completion_tokens_details", "reasoning_tokens"],
            &["output_tokens_details", "reasoning_tokens"],
        ]),
    };
    let mut usage_of = Usage::new(recorded, Convention::INCLUSIVE);
    usage_of.stated_total = count(&["total_tokens"]);
    Some(usage_of)
}
