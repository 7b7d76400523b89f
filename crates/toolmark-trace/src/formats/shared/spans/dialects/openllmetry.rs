//! OpenLLMetry (Traceloop): `llm.request.type`, flattened `gen_ai.prompt.N.*`
//! and `gen_ai.completion.N.*`, `traceloop.span.kind` with
//! `traceloop.entity.name|input|output`.

use super::super::facts::{
    MessageAuthor, MessagePart, SpanFacts, SpanMessage, SpanRole, fill, fill_list,
};
use super::super::{Attributes, TelemetrySpan, flat};
use super::SpanDialect;
use crate::model::{Text, ToolDefinition};
use std::collections::BTreeMap;

pub(super) const DIALECT: SpanDialect = SpanDialect { kind, read };

fn read(span: &TelemetrySpan, kind: SpanRole, facts: &mut SpanFacts) {
    let a = &span.attributes;
    match kind {
        SpanRole::Llm => {
            fill_list(&mut facts.input, || {
                flat::messages(a, "gen_ai.prompt.", MessageAuthor::User)
            });
            fill_list(&mut facts.output, || {
                flat::messages(a, "gen_ai.completion.", MessageAuthor::Assistant)
            });
            fill_list(&mut facts.tools, || tools(a));
        }
        SpanRole::Tool => {
            fill(&mut facts.tool, || a.text(&["traceloop.entity.name"]));
            fill(&mut facts.args, || a.payload(&["traceloop.entity.input"]));
            fill(&mut facts.result, || a.payload(&["traceloop.entity.output"]));
        }
        SpanRole::Agent => {
            fill(&mut facts.agent, || a.text(&["traceloop.entity.name"]));
            for (key, role, list) in [
                ("traceloop.entity.input", MessageAuthor::User, &mut facts.input),
                ("traceloop.entity.output", MessageAuthor::Assistant, &mut facts.output),
            ] {
                let text = a.get(key).cloned();
                fill_list(list, || {
                    text.map(|t| SpanMessage { role, parts: vec![MessagePart::Text(t)] })
                        .into_iter()
                        .collect()
                });
            }
        }
        SpanRole::Part | SpanRole::Unknown => {}
    }
}

fn kind(span: &TelemetrySpan) -> Option<SpanRole> {
    let a = &span.attributes;
    if let Some(request) = a.str("llm.request.type") {
        return Some(match &*request {
            "chat" | "completion" => SpanRole::Llm,
            _ => SpanRole::Part,
        });
    }
    if a.has("gen_ai.completion.0.role") || a.has("gen_ai.completion.0.content") {
        return Some(SpanRole::Llm);
    }
    Some(match &*a.str("traceloop.span.kind")? {
        "tool" => SpanRole::Tool,
        "agent" => SpanRole::Agent,
        "workflow" | "task" => SpanRole::Part,
        _ => SpanRole::Unknown,
    })
}

fn tools(a: &Attributes) -> Vec<ToolDefinition> {
    let mut all: BTreeMap<usize, ToolDefinition> = BTreeMap::new();
    for (rest, value) in a.under("llm.request.functions.") {
        let Some((number, member)) = rest.split_once('.') else { continue };
        let Ok(number) = number.parse() else { continue };
        let tool = all.entry(number).or_insert_with(|| ToolDefinition {
            name: Text::owned(""),
            description: None,
            schema: None,
        });
        match member {
            "name" => tool.name = value.source().clone(),
            "description" => tool.description = Some(value.source().clone()),
            "parameters" => tool.schema = Some(value.clone()),
            _ => {}
        }
    }
    all.into_values().filter(|tool| !tool.name.is_empty()).collect()
}
