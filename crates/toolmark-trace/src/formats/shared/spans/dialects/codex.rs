//! Codex's own traces.
//!
//! One run consists of hundreds of spans; a call is the span that dispatches it, a response
//! the span with its token counts. Spans have the lengths of arguments and output, events the
//! arguments and output themselves. A command that ran counts as success, whatever its exit
//! code.

use super::super::Span;
use super::super::facts::{Facts, Kind, fill};
use super::super::telemetry;
use super::Dialect;

pub(super) const DIALECT: Dialect = Dialect { kind, read };

fn kind(span: &Span) -> Option<Kind> {
    let a = &span.attributes;
    if a.is("codex.tool.phase", "dispatch") && a.has("call_id") {
        return Some(Kind::Tool);
    }
    let is_codex = a.str("target").is_some_and(|target| target.starts_with("codex_"));
    match is_codex && span.name == "handle_responses" {
        true if a.has("gen_ai.usage.input_tokens") => Some(Kind::Llm),
        true => Some(Kind::Part),
        false => None,
    }
}

fn read(span: &Span, kind: Kind, facts: &mut Facts) {
    let a = &span.attributes;
    if kind == Kind::Tool && self::kind(span).is_some() {
        facts.unmarked = true;
        fill(&mut facts.tool, || a.text(&["tool_name"]));
        fill(&mut facts.call, || a.text(&["call_id"]));
        telemetry::codex_success(facts, a);
    }
}
