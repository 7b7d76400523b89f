//! Messages flattened into attributes with numbers in their names:
//! `llm.output_messages.0.message.tool_calls.1.tool_call.function.name`
//! (OpenInference) and `gen_ai.prompt.0.tool_calls.1.name` (OpenLLMetry).

use super::Attributes;
use super::facts::{MessageAuthor, MessagePart, SpanMessage};
use super::messages::named_role;
use super::smolagents;
use crate::model::{Payload, Text};
use std::collections::BTreeMap;

#[derive(Default)]
struct Flat<'a> {
    role: Option<&'a Payload>,
    content: BTreeMap<usize, &'a Payload>,
    calls: BTreeMap<usize, FlatCall<'a>>,
    answers: Option<&'a Payload>,
    reasoning: Option<&'a Payload>,
}

#[derive(Default)]
struct FlatCall<'a> {
    id: Option<&'a Payload>,
    name: Option<&'a Payload>,
    args: Option<&'a Payload>,
}

/// Returns the messages under `prefix`, which ends with a dot.
pub(crate) fn messages(
    attributes: &Attributes,
    prefix: &str,
    default: MessageAuthor,
) -> Vec<SpanMessage> {
    let mut all: BTreeMap<usize, Flat<'_>> = BTreeMap::new();
    for (rest, value) in attributes.under(prefix) {
        let Some((index, name)) = numbered(rest) else { continue };
        let flat = all.entry(index).or_default();
        let name = name.strip_prefix("message.").unwrap_or(name);
        match name {
            "role" => flat.role = Some(value),
            "content" => {
                flat.content.insert(0, value);
            }
            "tool_call_id" => flat.answers = Some(value),
            "reasoning" | "reasoning_content" => flat.reasoning = Some(value),
            _ => nested(flat, name, value),
        }
    }
    all.into_values().map(|flat| message(&flat, default)).collect()
}

/// Splits `12.rest` into 12 and `rest`.
fn numbered(name: &str) -> Option<(usize, &str)> {
    let (number, rest) = name.split_once('.').unwrap_or((name, ""));
    Some((number.parse().ok()?, rest))
}

fn nested<'a>(flat: &mut Flat<'a>, name: &str, value: &'a Payload) {
    if let Some((index, rest)) = name.strip_prefix("tool_calls.").and_then(numbered) {
        let call = flat.calls.entry(index).or_default();
        match rest.strip_prefix("tool_call.").unwrap_or(rest) {
            "id" => call.id = Some(value),
            "name" | "function.name" => call.name = Some(value),
            "arguments" | "function.arguments" => call.args = Some(value),
            _ => {}
        }
        return;
    }
    let content = name.strip_prefix("contents.").or_else(|| name.strip_prefix("content."));
    if let Some((index, "" | "text" | "message_content.text")) = content.and_then(numbered) {
        flat.content.insert(index, value);
    }
}

fn message(flat: &Flat<'_>, default: MessageAuthor) -> SpanMessage {
    let role = flat.role.and_then(|r| named_role(&r.raw())).unwrap_or(default);
    let first = flat.content.values().next();
    let in_text = flat.role.zip(first).and_then(|(r, text)| smolagents::parts(&r.raw(), text));
    if let Some(parts) = in_text {
        return SpanMessage { role, parts };
    }
    let mut parts = Vec::new();
    if let Some(text) = flat.reasoning.filter(|t| !t.raw().is_empty()) {
        parts.push(MessagePart::Reasoning(Some(text.clone())));
    }
    if role == MessageAuthor::Tool {
        let payload = flat.content.values().next().map(|p| (*p).clone());
        let id = flat.answers.map(|a| a.source().clone());
        parts.push(MessagePart::Response { id, payload, failed: None });
    } else {
        let words = flat.content.values().filter(|text| !text.raw().is_empty());
        parts.extend(words.map(|text| MessagePart::Text((*text).clone())));
    }
    parts.extend(flat.calls.values().map(|call| MessagePart::Call {
        id: call.id.map(|id| id.source().clone()),
        name: call.name.map_or_else(|| Text::owned(""), |name| name.source().clone()),
        args: call.args.cloned(),
    }));
    SpanMessage { role, parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_numbers() {
        let mut attributes = Attributes::default();
        for (key, value) in [
            ("m.10.message.role", "tool"),
            ("m.10.message.tool_call_id", "c"),
            ("m.10.message.content", "done"),
            ("m.2.message.role", "assistant"),
            ("m.2.message.contents.0.message_content.type", "text"),
            ("m.2.message.contents.0.message_content.text", "go"),
            ("m.2.message.tool_calls.0.tool_call.id", "c"),
            ("m.2.message.tool_calls.0.tool_call.function.name", "f"),
            ("m.2.message.tool_calls.0.tool_call.function.arguments", "{}"),
            ("m.x", "no number"),
        ] {
            attributes.insert(key, Payload::text(Text::owned(value)));
        }
        let all = messages(&attributes, "m.", MessageAuthor::User);
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].role, MessageAuthor::Assistant);
        assert!(
            matches!(&all[0].parts[..], [MessagePart::Text(_), MessagePart::Call { name, .. }] if *name == "f")
        );
        assert!(
            matches!(&all[1].parts[..], [MessagePart::Response { id: Some(id), .. }] if *id == "c")
        );
    }
}
