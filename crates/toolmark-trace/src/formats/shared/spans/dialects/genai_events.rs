//! The GenAI conventions before 1.37: messages as events of the span (`gen_ai.user.message`,
//! `gen_ai.choice`, `gen_ai.tool.message`), or, from Pydantic AI, the same events as JSON in
//! an attribute.
//!
//! On the span of a tool, the `tool.message` is its input and the `choice` its output.

use super::super::attributes::with_json;
use super::super::facts::{MessageAuthor, MessagePart, SpanFacts, SpanMessage, SpanRole, fill};
use super::super::messages;
use super::super::{SpanEvent, TelemetrySpan};
use super::SpanDialect;
use crate::model::Payload;
use toolmark_scan::Value;

pub(super) const DIALECT: SpanDialect = SpanDialect { kind: |_| None, read };

fn read(span: &TelemetrySpan, kind: SpanRole, facts: &mut SpanFacts) {
    match kind {
        SpanRole::Tool => tool(span, facts),
        SpanRole::Llm | SpanRole::Agent => {
            if facts.input.is_empty() && facts.output.is_empty() {
                conversation(span, facts);
            }
        }
        SpanRole::Part | SpanRole::Unknown => {}
    }
}

fn tool(span: &TelemetrySpan, facts: &mut SpanFacts) {
    for event in &span.events {
        if event.name == "gen_ai.tool.message" {
            fill(&mut facts.args, || event.attributes.payload(&["content"]));
            fill(&mut facts.call, || event.attributes.text(&["id"]));
        } else if event.name == "gen_ai.choice" {
            fill(&mut facts.result, || event.attributes.payload(&["message", "content"]));
        }
    }
}

fn conversation(span: &TelemetrySpan, facts: &mut SpanFacts) {
    for event in &span.events {
        let name = event.name.get();
        let Some(role) = name.starts_with("gen_ai.").then(|| messages::named_role(&name)).flatten()
        else {
            continue;
        };
        let found = message(event, role);
        if name == "gen_ai.choice" {
            facts.output.extend(found);
        } else {
            facts.input.extend(found);
        }
    }
    for key in ["events", "all_messages_events", "pydantic_ai.all_messages"] {
        if facts.input.is_empty() && facts.output.is_empty() {
            span.attributes.json(key, |list| divide(list, facts));
        }
    }
}

/// Divides events or messages in one list into input and output. If a choice is marked, it is
/// the output and the rest is the history; otherwise, all messages of the model and its tools
/// are the output.
fn divide(list: Value<'_>, facts: &mut SpanFacts) {
    let is_choice = |item: Value<'_>| item.field_is("event.name", "gen_ai.choice");
    let is_marked = list.items().any(is_choice);
    for item in list.items() {
        for message in messages::all(item, MessageAuthor::User) {
            let is_output = match is_marked {
                true => is_choice(item),
                false => matches!(message.role, MessageAuthor::Assistant | MessageAuthor::Tool),
            };
            if is_output {
                facts.output.push(message);
            } else {
                facts.input.push(message);
            }
        }
    }
}

/// Returns the message of one event, from its attributes or its body.
fn message(event: &SpanEvent, role: MessageAuthor) -> Vec<SpanMessage> {
    let a = &event.attributes;
    if let Some(body) = &event.body {
        let found = with_json(body, |v| messages::all(v, role));
        return found.unwrap_or_default();
    }
    let mut message = SpanMessage { role, parts: Vec::new() };
    for key in ["content", "message"] {
        let Some(value) = a.get(key) else { continue };
        let inner = a.json(key, |v| messages::all(v, role)).filter(|all| !all.is_empty());
        match inner {
            Some(all) => message.parts.extend(all.into_iter().flat_map(|m| m.parts)),
            None => message.parts.push(words(role, value, event)),
        }
    }
    let calls = a.json("tool_calls", messages::calls);
    message.parts.extend(calls.unwrap_or_default());
    vec![message]
}

fn words(role: MessageAuthor, value: &Payload, event: &SpanEvent) -> MessagePart {
    if role == MessageAuthor::Tool {
        let id = event.attributes.text(&["id", "tool_call_id"]);
        return MessagePart::Response { id, payload: Some(value.clone()), failed: None };
    }
    MessagePart::Text(value.clone())
}
