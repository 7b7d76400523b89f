//! The attribute vocabularies, one file each. Adding one is a file, its `mod`
//! line and its line in [`DIALECTS`].

mod adk;
mod adot;
mod ai_sdk;
mod claude_agent;
mod copilot;
mod genai;
mod genai_events;
mod openinference;
mod openllmetry;

use super::facts::{Facts, fill};
use super::{Kind, Span};
use crate::model::{Payload, Text};

/// Reads what one vocabulary says about a span into the slots that are still empty.
type Dialect = fn(&Span, &mut Facts);

/// Every vocabulary, the most telling first: a slot that is filled stays.
#[rustfmt::skip]
const DIALECTS: &[Dialect] = &[
    claude_agent::read,
    adk::read,
    genai::read,
    genai_events::read,
    openinference::read,
    openllmetry::read,
    ai_sdk::read,
    adot::read,
    copilot::read,
];

/// What a span says, in all vocabularies.
pub(super) fn facts(span: &mut Span) -> Facts {
    let mut facts = std::mem::take(&mut span.known);
    for read in DIALECTS {
        read(span, &mut facts);
    }
    exception(span, &mut facts);
    facts
}

/// The error that ended a span: its exception event, else its status.
fn exception(span: &Span, facts: &mut Facts) {
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

/// The name of a tool: its attribute, else the span's name without the
/// operation in front of it.
fn tool_name(span: &Span, keys: &[&str]) -> Option<Text> {
    span.attributes.text(keys).or_else(|| {
        let name = span.name.get();
        let bare = name.strip_prefix("execute_tool ").unwrap_or(&name);
        let bare = bare.strip_suffix(".tool").unwrap_or(bare);
        if bare.len() == name.len() {
            return (!name.is_empty()).then(|| span.name.clone());
        }
        Some(Text::owned(bare))
    })
}

/// Sets the kind where no earlier vocabulary did.
fn set_kind(facts: &mut Facts, kind: Kind) {
    fill(&mut facts.kind, || Some(kind));
}
