//! Codex's own traces.
//!
//! One run consists of hundreds of spans; a call is the span that dispatches it, a response
//! the span with its token counts. Spans have the lengths of arguments and output, events the
//! arguments and output themselves. A command that ran counts as success, whatever its exit
//! code.

use super::super::TelemetrySpan;
use super::super::facts::{SpanFacts, SpanRole, fill};
use super::super::telemetry;
use super::SpanDialect;

pub(super) const DIALECT: SpanDialect = SpanDialect { kind, read };

fn kind(span: &TelemetrySpan) -> Option<SpanRole> {
    let a = &span.attributes;
    if a.is("codex.tool.phase", "dispatch") && a.has("call_id") {
        return Some(SpanRole::Tool);
    }
    let is_codex = a.str("target").is_some_and(|target| target.starts_with("codex_"));
    match is_codex && span.name == "handle_responses" {
        true if a.has("gen_ai.usage.input_tokens") => Some(SpanRole::Llm),
        true => Some(SpanRole::Part),
        false => None,
    }
}

fn read(span: &TelemetrySpan, kind: SpanRole, facts: &mut SpanFacts) {
    let a = &span.attributes;
    if kind == SpanRole::Tool && self::kind(span).is_some() {
        facts.unmarked = true;
        fill(&mut facts.tool, || a.text(&["tool_name"]));
        fill(&mut facts.call, || a.text(&["call_id"]));
        telemetry::codex_success(facts, a);
    }
}
