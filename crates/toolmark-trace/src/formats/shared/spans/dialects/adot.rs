//! AWS's distribution (ADOT, CloudWatch): messages are moved from the span to a log record,
//! joined by span ID, whose body is `{"input":{"messages":[…]},"output":{"messages":[…]}}`.
//!
//! Spans of OpenInference's LangChain instrumentation lose all attributes in the process;
//! their kind shows only in the serialized LangChain object that is the content of the
//! output: generations, a tool message, or a list of messages.

use super::super::TelemetrySpan;
use super::super::attributes::with_json;
use super::super::facts::{
    MessageAuthor, MessagePart, SpanFacts, SpanMessage, SpanRole, fill, fill_list,
};
use super::super::messages;
use super::SpanDialect;
use crate::model::Payload;
use toolmark_scan::{Scanner, Value};

pub(super) const DIALECT: SpanDialect = SpanDialect { kind, read };

fn kind(span: &TelemetrySpan) -> Option<SpanRole> {
    let bodies = span.events.iter().filter_map(|e| e.body.as_ref());
    let mut kinds = bodies.filter_map(|body| {
        with_json(body, |body| with_output(body, |_, object| object.and_then(langchain_kind)))??
    });
    kinds.next()
}

fn read(span: &TelemetrySpan, kind: SpanRole, facts: &mut SpanFacts) {
    for body in span.events.iter().filter_map(|e| e.body.as_ref()) {
        with_json(body, |body| read_body(body, kind, facts));
    }
}

/// Calls `read` with the content of the output and the object in it, if any.
fn with_output<T>(body: Value<'_>, read: impl FnOnce(&str, Option<Value<'_>>) -> T) -> Option<T> {
    let messages = body.get("output")?.get("messages");
    let content = messages.and_then(|m| m.items().next()?.get("content"));
    let content = content.and_then(Value::str).unwrap_or_default();
    let mut scanner = Scanner::new();
    let object = scanner.parse(&content).ok().map(|doc| doc.root()).filter(|v| v.is_object());
    Some(read(&content, object))
}

fn read_body(body: Value<'_>, kind: SpanRole, facts: &mut SpanFacts) {
    let (Some(input), Some(output)) = (body.get("input"), body.get("output")) else { return };
    match kind {
        SpanRole::Tool => {
            let given = input.get("messages").and_then(|m| m.items().next()?.get("content"));
            fill(&mut facts.args, || given.map(messages::payload));
            with_output(body, |content, object| {
                match object.filter(|o| o.get("tool_call_id").is_some()) {
                    Some(message) => tool(message, facts),
                    None => fill(&mut facts.result, || {
                        (!content.is_empty()).then(|| Payload::text(content.into()))
                    }),
                }
            });
        }
        SpanRole::Llm | SpanRole::Agent => {
            fill_list(&mut facts.input, || unfolded(input, MessageAuthor::User));
            fill_list(&mut facts.output, || unfolded(output, MessageAuthor::Assistant));
        }
        SpanRole::Part | SpanRole::Unknown => {}
    }
}

/// Returns the kind of span that produced a serialized LangChain object.
fn langchain_kind(output: Value<'_>) -> Option<SpanRole> {
    if output.get("generations").is_some() {
        return Some(SpanRole::Llm);
    }
    if output.get("tool_call_id").is_some() && output.field_is("type", "tool") {
        return Some(SpanRole::Tool);
    }
    output.get("messages").map(|_| SpanRole::Part)
}

fn tool(message: Value<'_>, facts: &mut SpanFacts) {
    fill(&mut facts.tool, || messages::label(message, &["name"]));
    fill(&mut facts.call, || messages::label(message, &["tool_call_id"]));
    fill(&mut facts.result, || message.get("content").map(messages::payload));
    fill(&mut facts.failed, || Some(message.get_str("status")? == "error"));
}

/// Returns the messages, including those inside a serialized object.
fn unfolded(side: Value<'_>, role: MessageAuthor) -> Vec<SpanMessage> {
    let mut all = Vec::new();
    for message in messages::all(side, role) {
        let inner = match &message.parts[..] {
            [MessagePart::Text(text)] => with_json(text, |v| {
                let is_wrapper = v.get("generations").is_some() || v.get("messages").is_some();
                is_wrapper.then(|| messages::all(v, message.role))
            }),
            _ => None,
        };
        match inner.flatten() {
            Some(inner) => all.extend(inner),
            None => all.push(message),
        }
    }
    all
}
