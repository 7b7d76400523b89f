//! OpenInference (Arize): `openinference.span.kind`, flattened
//! `llm.input_messages.N.message.*`, `tool.*`, `input.value`, `output.value`.
//!
//! `tool.parameters` is the schema with some instrumentations and the arguments with others,
//! so `input.value` takes precedence. smolagents wraps arguments in
//! `{"args":[…],"sanitize_inputs_outputs":…,"kwargs":{…}}`. The counts of AGENT and CHAIN
//! spans are sums over the LLM spans below them.

use super::super::attributes::with_json;
use super::super::facts::{
    MessageAuthor, MessagePart, SpanFacts, SpanMessage, SpanRole, fill, fill_list,
};
use super::super::{Attributes, TelemetrySpan, flat, messages};
use super::SpanDialect;
use crate::model::{Convention, Cost, Payload, ToolDefinition, Usage, UsageTokens};

pub(super) const DIALECT: SpanDialect = SpanDialect { kind, read };

fn read(span: &TelemetrySpan, kind: SpanRole, facts: &mut SpanFacts) {
    let a = &span.attributes;
    fill(&mut facts.model, || a.text(&["llm.model_name", "embedding.model_name"]));
    fill(&mut facts.usage, || usage(a));
    fill(&mut facts.cost, || Cost::from_usd(a.number(&["llm.cost.total"])?));
    match kind {
        SpanRole::Tool => tool(span, facts),
        SpanRole::Llm => {
            conversation(a, facts);
            fill_list(&mut facts.tools, || tools(a));
        }
        SpanRole::Agent => {
            fill(&mut facts.agent, || a.text(&["agent.name", "graph.node.id"]));
            if facts.agent.is_none() && a.has("openinference.span.kind") {
                facts.agent = Some(span.name.clone());
            }
            conversation(a, facts);
            fill_list(&mut facts.tools, || names(a));
        }
        SpanRole::Part | SpanRole::Unknown => {}
    }
}

fn kind(span: &TelemetrySpan) -> Option<SpanRole> {
    Some(match &*span.attributes.str("openinference.span.kind")? {
        "LLM" => SpanRole::Llm,
        "TOOL" => SpanRole::Tool,
        "AGENT" => SpanRole::Agent,
        "CHAIN" | "RETRIEVER" | "EMBEDDING" | "RERANKER" | "GUARDRAIL" | "EVALUATOR" | "PROMPT"
        | "DECISION" | "UNKNOWN" => SpanRole::Part,
        _ => SpanRole::Unknown,
    })
}

fn tool(span: &TelemetrySpan, facts: &mut SpanFacts) {
    let a = &span.attributes;
    fill(&mut facts.tool, || a.text(&["tool.name", "tool_call.function.name"]));
    fill(&mut facts.call, || a.text(&["tool.id", "tool_call.id"]));
    fill(&mut facts.args, || {
        let input = a.get("input.value");
        input.and_then(keyword_arguments).or_else(|| {
            a.payload(&["tool_call.function.arguments", "input.value", "tool.parameters"])
        })
    });
    fill(&mut facts.result, || a.payload(&["output.value"]));
}

/// Returns the keyword arguments of smolagents, if there are no positional ones.
fn keyword_arguments(input: &Payload) -> Option<Payload> {
    with_json(input, |value| {
        value.get("sanitize_inputs_outputs")?;
        let by_position = value.get("args").is_some_and(|args| args.items().next().is_some());
        let kwargs = value.get("kwargs").filter(|k| k.is_object() && !by_position)?;
        Some(messages::payload(kwargs))
    })
    .flatten()
}

fn conversation(a: &Attributes, facts: &mut SpanFacts) {
    fill_list(&mut facts.input, || flat::messages(a, "llm.input_messages.", MessageAuthor::User));
    fill_list(&mut facts.output, || {
        flat::messages(a, "llm.output_messages.", MessageAuthor::Assistant)
    });
    fill_list(&mut facts.input, || value(a, "input.value", MessageAuthor::User));
    fill_list(&mut facts.output, || value(a, "output.value", MessageAuthor::Assistant));
}

/// Returns the messages of a whole request or response, or otherwise its text.
fn value(a: &Attributes, key: &str, role: MessageAuthor) -> Vec<SpanMessage> {
    let Some(text) = a.get(key).filter(|v| !v.raw().is_empty()) else { return Vec::new() };
    let found = a.json(key, |v| messages::all(v, role)).unwrap_or_default();
    if found.iter().any(|m| !m.parts.is_empty()) {
        return found;
    }
    vec![SpanMessage { role, parts: vec![MessagePart::Text(text.clone())] }]
}

fn tools(a: &Attributes) -> Vec<ToolDefinition> {
    let mut numbered: Vec<(usize, ToolDefinition)> = a
        .under("llm.tools.")
        .filter_map(|(rest, value)| {
            let (number, _) = rest.split_once('.')?;
            let tool = with_json(value, messages::definition)??;
            Some((number.parse().ok()?, tool))
        })
        .collect();
    numbered.sort_by_key(|(number, _)| *number);
    numbered.into_iter().map(|(_, tool)| tool).collect()
}

fn names(a: &Attributes) -> Vec<ToolDefinition> {
    a.json("smolagents.tools_names", messages::definitions).unwrap_or_default()
}

fn usage(a: &Attributes) -> Option<Usage> {
    let input = a.count(&["llm.token_count.prompt"]);
    let output = a.count(&["llm.token_count.completion"]);
    if input.is_none() && output.is_none() {
        return None;
    }
    let tokens = UsageTokens {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cache_read: a.count(&["llm.token_count.prompt_details.cache_read"]).unwrap_or(0),
        cache_write: a.count(&["llm.token_count.prompt_details.cache_write"]).unwrap_or(0),
        cache_write_1h: 0,
        reasoning: a.count(&["llm.token_count.completion_details.reasoning"]).unwrap_or(0),
    };
    let mut usage = Usage::new(tokens, Convention::INCLUSIVE);
    usage.stated_total = a.count(&["llm.token_count.total"]);
    Some(usage)
}
