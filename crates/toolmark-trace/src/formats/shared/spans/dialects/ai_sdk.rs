//! Vercel's AI SDK: `ai.operationId`, `ai.toolCall.*`, `ai.prompt*`, `ai.response.*`.
//! `ai.generateText` is the loop, and `ai.generateText.doGenerate` each model call in it.

use super::super::facts::{Facts, Kind, Message, Part, Role, fill, fill_list};
use super::super::{Span, messages};
use super::Dialect;
use crate::model::{Convention, Tokens, Usage};

pub(super) const DIALECT: Dialect = Dialect { kind, read };

fn kind(span: &Span) -> Option<Kind> {
    Some(match &*span.attributes.str("ai.operationId")? {
        "ai.toolCall" => Kind::Tool,
        "ai.generateText" | "ai.streamText" | "ai.generateObject" | "ai.streamObject" => {
            Kind::Agent
        }
        o if o.ends_with(".doGenerate") || o.ends_with(".doStream") => Kind::Llm,
        o if o.starts_with("ai.embed") => Kind::Part,
        _ => Kind::Unknown,
    })
}

fn read(span: &Span, kind: Kind, facts: &mut Facts) {
    let a = &span.attributes;
    if !a.has("ai.operationId") {
        return;
    }
    match kind {
        Kind::Tool => {
            fill(&mut facts.tool, || a.text(&["ai.toolCall.name"]));
            fill(&mut facts.call, || a.text(&["ai.toolCall.id"]));
            fill(&mut facts.args, || a.payload(&["ai.toolCall.args", "ai.toolCall.input"]));
            fill(&mut facts.result, || a.payload(&["ai.toolCall.result", "ai.toolCall.output"]));
        }
        Kind::Llm | Kind::Agent => {
            fill(&mut facts.agent, || a.text(&["ai.telemetry.functionId"]));
            fill(&mut facts.model, || a.text(&["ai.response.model", "ai.model.id"]));
            fill(&mut facts.response, || a.text(&["ai.response.id"]));
            fill(&mut facts.usage, || {
                let tokens = Tokens {
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
                    a.json(key, |v| messages::all(v, Role::User)).unwrap_or_default()
                });
            }
            fill_list(&mut facts.output, || {
                let mut parts = Vec::new();
                parts.extend(a.payload(&["ai.response.text"]).map(Part::Text));
                parts.extend(a.json("ai.response.toolCalls", messages::calls).unwrap_or_default());
                if parts.is_empty() {
                    return Vec::new();
                }
                vec![Message { role: Role::Assistant, parts }]
            });
        }
        Kind::Part | Kind::Unknown => {}
    }
}
