//! Vercel's AI SDK: `ai.operationId`, `ai.toolCall.*`, `ai.prompt*`, `ai.response.*`.
//! `ai.generateText` is the loop, and `ai.generateText.doGenerate` each model call in it.

use super::super::facts::{
    MessageAuthor, MessagePart, SpanFacts, SpanMessage, SpanRole, fill, fill_list,
};
use super::super::{TelemetrySpan, messages};
use super::SpanDialect;
use crate::model::{Convention, Usage, UsageTokens};

pub(super) const DIALECT: SpanDialect = SpanDialect { kind, read };

fn kind(span: &TelemetrySpan) -> Option<SpanRole> {
    Some(match &*span.attributes.str("ai.operationId")? {
        "ai.toolCall" => SpanRole::Tool,
        "ai.generateText" | "ai.streamText" | "ai.generateObject" | "ai.streamObject" => {
            SpanRole::Agent
        }
        o if o.ends_with(".doGenerate") || o.ends_with(".doStream") => SpanRole::Llm,
        o if o.starts_with("ai.embed") => SpanRole::Part,
        _ => SpanRole::Unknown,
    })
}

fn read(span: &TelemetrySpan, kind: SpanRole, facts: &mut SpanFacts) {
    let a = &span.attributes;
    if !a.has("ai.operationId") {
        return;
    }
    match kind {
        SpanRole::Tool => {
            fill(&mut facts.tool, || a.text(&["ai.toolCall.name"]));
            fill(&mut facts.call, || a.text(&["ai.toolCall.id"]));
            fill(&mut facts.args, || a.payload(&["ai.toolCall.args", "ai.toolCall.input"]));
            fill(&mut facts.result, || a.payload(&["ai.toolCall.result", "ai.toolCall.output"]));
        }
        SpanRole::Llm | SpanRole::Agent => {
            fill(&mut facts.agent, || a.text(&["ai.telemetry.functionId"]));
            fill(&mut facts.model, || a.text(&["ai.response.model", "ai.model.id"]));
            fill(&mut facts.response, || a.text(&["ai.response.id"]));
            fill(&mut facts.usage, || {
                let tokens = UsageTokens {
                    input: a.count(&["ai.usage.promptTokens", "ai.usage.inputTokens"])?,
                    output: a.count(&["ai.usage.completionTokens", "ai.usage.outputTokens"])?,
                    cache_read: a.count(&["ai.usage.cachedInputTokens"]).unwrap_or(0),
                    cache_write: 0,
                    cache_write_1h: 0,
                    reasoning: a.count(&["ai.usage.reasoningTokens"]).unwrap_or(0),
                };
                Some(Usage::new(tokens, Convention::INCLUSIVE))
            });
            for key in ["ai.prompt.messages", "ai.prompt"] {
                fill_list(&mut facts.input, || {
                    a.json(key, |v| messages::all(v, MessageAuthor::User)).unwrap_or_default()
                });
            }
            fill_list(&mut facts.output, || {
                let mut parts = Vec::new();
                parts.extend(a.payload(&["ai.response.text"]).map(MessagePart::Text));
                parts.extend(a.json("ai.response.toolCalls", messages::calls).unwrap_or_default());
                if parts.is_empty() {
                    return Vec::new();
                }
                vec![SpanMessage { role: MessageAuthor::Assistant, parts }]
            });
        }
        SpanRole::Part | SpanRole::Unknown => {}
    }
}
