//! The GenAI conventions of OpenTelemetry, 1.37 and later, with the attributes that they
//! replaced: `gen_ai.operation.name`, `gen_ai.input.messages`, `gen_ai.tool.call.*`,
//! `gen_ai.usage.*`.
//!
//! A `gen_ai` attribute alone does not make a span an agent span: conversation IDs are copied
//! to HTTP spans as baggage. Only the operation, or an attribute that no other span would
//! have, does.

use super::super::facts::{
    MessageAuthor, MessagePart, SpanFacts, SpanMessage, SpanRole, fill, fill_list,
};
use super::super::{Attributes, TelemetrySpan, messages};
use super::SpanDialect;
use crate::model::{Convention, Cost, Usage, UsageTokens};

pub(super) const DIALECT: SpanDialect = SpanDialect { kind, read };

fn read(span: &TelemetrySpan, kind: SpanRole, facts: &mut SpanFacts) {
    let a = &span.attributes;
    fill(&mut facts.agent, || a.text(&["gen_ai.agent.name", "agent_name"]));
    fill(&mut facts.agent_version, || a.text(&["gen_ai.agent.version"]));
    fill(&mut facts.model, || {
        a.text(&["gen_ai.response.model", "gen_ai.request.model", "model_name"])
    });
    fill(&mut facts.usage, || usage(a));
    fill(&mut facts.cost, || Cost::from_usd(a.number(&["operation.cost", "gen_ai.usage.cost"])?));
    fill_list(&mut facts.tools, || {
        a.json("gen_ai.tool.definitions", messages::definitions).unwrap_or_default()
    });
    if a.has("error.type") {
        fill(&mut facts.failed, || Some(true));
    }
    match kind {
        SpanRole::Tool => {
            fill(&mut facts.tool, || a.text(&["gen_ai.tool.name"]));
            fill(&mut facts.call, || a.text(&["gen_ai.tool.call.id"]));
            fill(&mut facts.args, || a.payload(&["gen_ai.tool.call.arguments", "tool_arguments"]));
            fill(&mut facts.result, || a.payload(&["gen_ai.tool.call.result", "tool_response"]));
        }
        SpanRole::Llm | SpanRole::Agent => {
            fill(&mut facts.response, || a.text(&["gen_ai.response.id"]));
            conversation(a, facts);
            for event in &span.events {
                conversation(&event.attributes, facts);
            }
        }
        SpanRole::Part | SpanRole::Unknown => {}
    }
}

/// Reads the messages in the attributes of a span, or of the event that carries them.
fn conversation(a: &Attributes, facts: &mut SpanFacts) {
    if facts.input.is_empty() {
        facts.input = list(a, "gen_ai.input.messages", MessageAuthor::User);
        let system = list(a, "gen_ai.system_instructions", MessageAuthor::System);
        let known = facts.input.iter().any(|m| m.role == MessageAuthor::System);
        if !known {
            facts.input.splice(0..0, system);
        }
    }
    fill_list(&mut facts.output, || list(a, "gen_ai.output.messages", MessageAuthor::Assistant));
}

fn list(a: &Attributes, key: &str, role: MessageAuthor) -> Vec<SpanMessage> {
    let Some(value) = a.get(key) else { return Vec::new() };
    a.json(key, |v| messages::all(v, role)).unwrap_or_else(|| {
        let text = MessagePart::Text(value.clone());
        vec![SpanMessage { role, parts: vec![text] }]
    })
}

fn kind(span: &TelemetrySpan) -> Option<SpanRole> {
    let a = &span.attributes;
    let Some(operation) = a.str("gen_ai.operation.name") else {
        return guess(a);
    };
    Some(match &*operation {
        "chat" | "generate_content" | "text_completion" | "completion" => SpanRole::Llm,
        // The joined answer of calls that each have a span of their own.
        "execute_tool" if a.is("gen_ai.tool.name", "(merged tools)") => SpanRole::Part,
        "execute_tool" => SpanRole::Tool,
        "invoke_agent" => SpanRole::Agent,
        // `unknown` is what some instrumentations say of their own inner steps.
        "create_agent" | "invoke_workflow" | "embeddings" | "retrieval" | "agent_handoff"
        | "handoff" | "unknown" => SpanRole::Part,
        _ => SpanRole::Unknown,
    })
}

/// Guesses the kind of spans written before the operation attribute existed.
fn guess(a: &Attributes) -> Option<SpanRole> {
    if a.has("gen_ai.tool.name") || a.has("gen_ai.tool.call.id") {
        return Some(SpanRole::Tool);
    }
    if a.has("pydantic_ai.all_messages") || a.has("all_messages_events") {
        return Some(SpanRole::Agent);
    }
    let answered = a.has("gen_ai.response.model") || a.has("gen_ai.response.finish_reasons");
    (a.has("gen_ai.request.model") && answered).then_some(SpanRole::Llm)
}

/// Reads token counts; input includes cached tokens.
fn usage(a: &Attributes) -> Option<Usage> {
    let input = a.count(&["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"]);
    let output = a.count(&["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"]);
    if input.is_none() && output.is_none() {
        return None;
    }
    let tokens = UsageTokens {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cache_read: a
            .count(&[
                "gen_ai.usage.cache_read.input_tokens",
                "gen_ai.usage.cache_read_input_tokens",
                "gen_ai.usage.cache_read_tokens",
            ])
            .unwrap_or(0),
        cache_write: a
            .count(&[
                "gen_ai.usage.cache_creation.input_tokens",
                "gen_ai.usage.cache_creation_input_tokens",
                "gen_ai.usage.cache_creation_tokens",
                "gen_ai.usage.cache_write_input_tokens",
            ])
            .unwrap_or(0),
        cache_write_1h: 0,
        reasoning: a
            .count(&[
                "gen_ai.usage.reasoning.output_tokens",
                "gen_ai.usage.reasoning_tokens",
                "llm.usage.reasoning_tokens",
            ])
            .unwrap_or(0),
    };
    let mut usage = Usage::new(tokens, Convention::INCLUSIVE);
    usage.stated_total = a.count(&[
        "toolmark.run.stated_total_tokens",
        "gen_ai.usage.total_tokens",
        "llm.usage.total_tokens",
    ]);
    Some(usage)
}
