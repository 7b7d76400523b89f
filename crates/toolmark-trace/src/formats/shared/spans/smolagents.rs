//! Parses the text of smolagents messages: a message of role `tool-call` lists its calls in
//! Python syntax, and a message of role `tool-response` has the ID of its call in the first
//! line.

use super::facts::MessagePart;
use super::messages::payload;
use crate::formats::shared::python;
use crate::model::{Payload, Text};
use toolmark_scan::{Scanner, Value};

/// Returns the parts of a message with this role and text; `None` if it was not written by
/// smolagents.
pub(super) fn parts(role: &str, text: &Payload) -> Option<Vec<MessagePart>> {
    match role {
        "tool-call" => calls(&text.raw()),
        "tool-response" => answer(&text.raw()).map(|part| vec![part]),
        _ => None,
    }
}

/// Parses `Calling tools:\n[{'id': …, 'type': 'function', 'function': {'name': …, 'arguments':
/// …}}]`.
fn calls(text: &str) -> Option<Vec<MessagePart>> {
    let list = text.trim_start().strip_prefix("Calling tools:")?.trim();
    let json = python::literal_to_json(list)?;
    let mut scanner = Scanner::new();
    let list = scanner.parse(&json).ok()?.root();
    let call = |call: Value<'_>| {
        let function = call.get("function").unwrap_or(call);
        Some(MessagePart::Call {
            id: call.get_str("id").map(Text::owned),
            name: Text::owned(function.get_str("name")?),
            args: function.get("arguments").map(payload),
        })
    };
    let calls: Option<Vec<MessagePart>> = list.items().map(call).collect();
    calls.filter(|calls| !calls.is_empty())
}

/// Parses `Call id: call_1\nObservation:\n…`.
fn answer(text: &str) -> Option<MessagePart> {
    let (id, rest) = text.trim_start().strip_prefix("Call id: ")?.split_once('\n')?;
    let rest = rest.strip_prefix("Observation:").unwrap_or(rest).trim_start_matches('\n');
    let payload = Some(Payload::text(Text::owned(rest)));
    Some(MessagePart::Response { id: Some(Text::owned(id.trim())), payload, failed: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_answers() {
        for (role, text, want) in [
            (
                "tool-call",
                "Calling tools:\n[{'id': 'c1', 'type': 'function', 'function': {'name': 'py', 'arguments': 'print(\"a\")\\nx'}}]",
                Some("c1 py print(\"a\")\nx"),
            ),
            (
                "tool-call",
                "Calling tools:\n[{'id': 'c2', 'function': {'name': 'web', 'arguments': {'q': 1}}}]",
                Some("c2 web {\"q\": 1}"),
            ),
            ("tool-call", "Calling tools:\nnothing", None),
            ("tool-response", "Call id: c1\nObservation:\n1\n2", Some("c1 -> 1\n2")),
            ("tool-response", "Observation:\n1", None),
            ("user", "Calling tools:\n[]", None),
        ] {
            let found = parts(role, &Payload::text(Text::owned(text)));
            let found = found.map(|parts| match &parts[0] {
                MessagePart::Call { id: Some(id), name, args: Some(args) } => {
                    format!("{id} {name} {}", args.raw())
                }
                MessagePart::Response { id: Some(id), payload: Some(payload), .. } => {
                    format!("{id} -> {}", payload.raw())
                }
                other => format!("{other:?}"),
            });
            assert_eq!(found.as_deref(), want, "{text}");
        }
    }
}
