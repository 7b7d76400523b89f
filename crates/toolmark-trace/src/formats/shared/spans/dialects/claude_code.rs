//! Claude Code's own traces: spans `claude_code.*`.
//!
//! The span of a tool has its name, and its child `tool.execution` has the outcome; the output
//! is an event. Arguments are only partly recorded, and only if the user enabled them. A call
//! that fails validation has no span.

use super::super::facts::{Facts, Kind, Message, Part, Role, fill, fill_list};
use super::super::{Attributes, Span, telemetry};
use super::Dialect;
use crate::model::{Payload, Text, time};

pub(super) const DIALECT: Dialect = Dialect { kind, read };

fn kind(span: &Span) -> Option<Kind> {
    let name = span.name.get();
    Some(match name.strip_prefix("claude_code.")? {
        "interaction" => Kind::Agent,
        "llm_request" => Kind::Llm,
        "tool" | "tool.execution" => Kind::Tool,
        _ => Kind::Part,
    })
}

fn read(span: &Span, kind: Kind, facts: &mut Facts) {
    if self::kind(span).is_none() {
        return;
    }
    let a = &span.attributes;
    facts.lacks = telemetry::CLAUDE_CODE_LACKS;
    match kind {
        Kind::Tool => {
            facts.unmarked = true;
            fill(&mut facts.tool, || a.text(&["tool_name"]));
            fill(&mut facts.call, || a.text(&["tool_use_id"]));
            fill(&mut facts.args, || a.payload(&["tool_input"]).or_else(|| arguments(a)));
            fill(&mut facts.failed, || a.flag("success").map(|success| !success));
            fill(&mut facts.error, || a.payload(&["error"]));
            fill(&mut facts.result, || output(span));
            fill(&mut facts.duration, || time::millis(a.number(&["duration_ms"])?));
        }
        Kind::Llm => {
            fill(&mut facts.model, || a.text(&["model"]));
            fill(&mut facts.usage, || telemetry::claude_code_usage(a));
        }
        Kind::Agent => {
            fill(&mut facts.agent, || Some(Text::owned("claude-code")));
            fill_list(&mut facts.input, || {
                let prompt = telemetry::unredacted(a, "user_prompt").map(Part::Text);
                prompt.map(|p| Message { role: Role::User, parts: vec![p] }).into_iter().collect()
            });
        }
        Kind::Part | Kind::Unknown => {}
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

fn output(span: &Span) -> Option<Payload> {
    let event = span.events.iter().find(|e| e.name == "tool.output")?;
    event.attributes.payload(&["output", "content", "result"])
}
