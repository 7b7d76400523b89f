//! Claude Code's own traces: spans `claude_code.*`.
//!
//! The span of a tool has its name, and its child `tool.execution` has the outcome; the output
//! is an event. Arguments are only partly recorded, and only if the user enabled them. A call
//! that fails validation has no span.

use super::super::facts::{
    MessageAuthor, MessagePart, SpanFacts, SpanMessage, SpanRole, fill, fill_list,
};
use super::super::{Attributes, TelemetrySpan, telemetry};
use super::SpanDialect;
use crate::model::{Payload, Text, time};

pub(super) const DIALECT: SpanDialect = SpanDialect { kind, read };

fn kind(span: &TelemetrySpan) -> Option<SpanRole> {
    let name = span.name.get();
    Some(match name.strip_prefix("claude_code.")? {
        "interaction" => SpanRole::Agent,
        "llm_request" => SpanRole::Llm,
        "tool" | "tool.execution" => SpanRole::Tool,
        _ => SpanRole::Part,
    })
}

fn read(span: &TelemetrySpan, kind: SpanRole, facts: &mut SpanFacts) {
    if self::kind(span).is_none() {
        return;
    }
    let a = &span.attributes;
    facts.lacks = telemetry::CLAUDE_CODE_LACKS;
    match kind {
        SpanRole::Tool => {
            facts.unmarked = true;
            fill(&mut facts.tool, || a.text(&["tool_name"]));
            fill(&mut facts.call, || a.text(&["tool_use_id"]));
            fill(&mut facts.args, || a.payload(&["tool_input"]).or_else(|| arguments(a)));
            fill(&mut facts.failed, || a.flag("success").map(|success| !success));
            fill(&mut facts.error, || a.payload(&["error"]));
            fill(&mut facts.result, || output(span));
            fill(&mut facts.duration, || time::millis(a.number(&["duration_ms"])?));
        }
        SpanRole::Llm => {
            fill(&mut facts.model, || a.text(&["model"]));
            fill(&mut facts.usage, || telemetry::claude_code_usage(a));
        }
        SpanRole::Agent => {
            fill(&mut facts.agent, || Some(Text::owned("claude-code")));
            fill_list(&mut facts.input, || {
                let prompt = telemetry::unredacted(a, "user_prompt").map(MessagePart::Text);
                prompt
                    .map(|p| SpanMessage { role: MessageAuthor::User, parts: vec![p] })
                    .into_iter()
                    .collect()
            });
        }
        SpanRole::Part | SpanRole::Unknown => {}
    }
}

/// Returns the arguments that a tool span has as attributes.
fn arguments(a: &Attributes) -> Option<Payload> {
    const NAMES: [(&str, &str); 6] = [
        ("full_command", "command"),
        ("file_path", "file_path"),
        ("pattern", "pattern"),
        ("url", "url"),
        ("skill_name", "skill"),
        ("subagent_type", "subagent_type"),
    ];
    let known = NAMES.iter().filter_map(|(from, to)| Some((*to, a.str(from)?)));
    let known: serde_json::Map<String, serde_json::Value> =
        known.map(|(name, value)| (name.to_owned(), value.into_owned().into())).collect();
    let text = || serde_json::Value::Object(known.clone()).to_string();
    (!known.is_empty()).then(|| Payload::json(Text::owned(text())))
}

fn output(span: &TelemetrySpan) -> Option<Payload> {
    let event = span.events.iter().find(|e| e.name == "tool.output")?;
    event.attributes.payload(&["output", "content", "result"])
}
