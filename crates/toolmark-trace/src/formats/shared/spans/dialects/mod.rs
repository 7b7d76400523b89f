//! The attribute vocabularies, one file each. To add one, add its file, its `mod` line and its
//! line in [`DIALECTS`].

mod adk;
mod adot;
mod ai_sdk;
mod claude_agent;
mod claude_code;
mod codex;
mod copilot;
mod genai;
mod genai_events;
mod openinference;
mod openllmetry;
mod toolmark;

use super::facts::{SpanFacts, fill};
use super::{SpanRole, TelemetrySpan};
use crate::model::{Payload, Text};

/// An attribute vocabulary.
struct SpanDialect {
    /// Returns the kind of a span; `None` if the span does not use this vocabulary.
    kind: fn(&TelemetrySpan) -> Option<SpanRole>,
    /// Reads the data of the span into the fields that are still empty.
    read: fn(&TelemetrySpan, SpanRole, &mut SpanFacts),
}

/// All vocabularies, the most specific first: the first to return a kind determines it, and
/// the first value of each field is kept.
#[rustfmt::skip]
const DIALECTS: &[SpanDialect] = &[
    toolmark::DIALECT,
    claude_agent::DIALECT,
    claude_code::DIALECT,
    codex::DIALECT,
    adk::DIALECT,
    genai::DIALECT,
    genai_events::DIALECT,
    openinference::DIALECT,
    openllmetry::DIALECT,
    ai_sdk::DIALECT,
    adot::DIALECT,
    copilot::DIALECT,
];

/// Attributes with the conversation ID of a span, strongest first.
pub const CONVERSATION_ATTRIBUTES: [&str; 7] = [
    "claude_agent.session.id",
    "claude_agent.session_id",
    "gcp.vertex.agent.session_id",
    "gen_ai.conversation.id",
    "session.id",
    "traceloop.association.properties.session_id",
    "conversation.id",
];

/// Returns the data of a span in all vocabularies.
pub(super) fn facts(span: &mut TelemetrySpan) -> SpanFacts {
    let mut facts = std::mem::take(&mut span.known);
    fill(&mut facts.conversation, || span.attributes.text(&CONVERSATION_ATTRIBUTES));
    fill(&mut facts.kind, || DIALECTS.iter().find_map(|dialect| (dialect.kind)(span)));
    fill(&mut facts.kind, || named_kind(&span.name.get()));
    if let Some(kind) = facts.kind {
        for dialect in DIALECTS {
            (dialect.read)(span, kind, &mut facts);
        }
        if kind == SpanRole::Tool {
            fill(&mut facts.tool, || Some(tool_name(span)));
        }
    }
    exception(span, &mut facts);
    facts
}

/// Returns the kind from the span name that the GenAI conventions prescribe, which is the only
/// source if the attributes were not kept.
fn named_kind(name: &str) -> Option<SpanRole> {
    let (operation, _) = name.split_once(' ')?;
    match operation {
        "execute_tool" => Some(SpanRole::Tool),
        "invoke_agent" => Some(SpanRole::Agent),
        _ => None,
    }
}

/// Reads the error that ended a span: its exception event, or otherwise its status.
fn exception(span: &TelemetrySpan, facts: &mut SpanFacts) {
    if !span.failed && facts.failed != Some(true) {
        return;
    }
    fill(&mut facts.error, || {
        let event = span.events.iter().find(|e| e.name == "exception");
        event?.attributes.payload(&["exception.message"])
    });
    fill(&mut facts.error, || {
        span.status_message.clone().filter(|m| !m.is_empty()).map(Payload::text)
    });
    fill(&mut facts.error, || {
        span.attributes.text(&["error.message", "error.type"]).map(Payload::text)
    });
}

/// Returns the name of a tool from the name of its span, without the operation prefix.
fn tool_name(span: &TelemetrySpan) -> Text {
    let name = span.name.get();
    let bare = name.strip_prefix("execute_tool ").unwrap_or(&name);
    let bare = bare.strip_suffix(".tool").unwrap_or(bare);
    if bare.len() == name.len() { span.name.clone() } else { Text::owned(bare) }
}
