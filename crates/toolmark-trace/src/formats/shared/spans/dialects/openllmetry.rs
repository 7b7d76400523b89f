//! OpenLLMetry (Traceloop): `llm.request.type`, flattened `gen_ai.prompt.N.*`
//! and `gen_ai.completion.N.*`, `traceloop.span.kind` with
//! `traceloop.entity.name|input|output`.

use super::super::facts::{Facts, Kind, Message, Part, Role, fill, fill_list};
use super::super::{Attributes, Span, flat};
use super::{set_kind, tool_name};
use crate::model::{Text, ToolDefinition};
use std::collections::BTreeMap;

pub(super) fn read(span: &Span, facts: &mut Facts) {
    let a = &span.attributes;
    if let Some(kind) = kind(a) {
        set_kind(facts, kind);
    }
    fill(&mut facts.conversation, || a.text(&["traceloop.association.properties.session_id"]));
    match facts.kind {
        Some(Kind::Llm) => {
            fill_list(&mut facts.input, || flat::messages(a, "gen_ai.prompt.", Role::User));
            fill_list(&mut facts.output, || {
                flat::messages(a, "gen_ai.completion.", Role::Assistant)
            });
            fill_list(&mut facts.tools, || tools(a));
        }
        Some(Kind::Tool) => {
            fill(&mut facts.tool, || tool_name(span, &["traceloop.entity.name"]));
            fill(&mut facts.args, || a.payload(&["traceloop.entity.input"]));
            fill(&mut facts.result, || a.payload(&["traceloop.entity.output"]));
        }
        Some(Kind::Agent) => {
            fill(&mut facts.agent, || a.text(&["traceloop.entity.name"]));
            for (key, role, list) in [
                ("traceloop.entity.input", Role::User, &mut facts.input),
                ("traceloop.entity.output", Role::Assistant, &mut facts.output),
            ] {
                let text = a.get(key).cloned();
                fill_list(list, || {
                    text.map(|t| Message { role, parts: vec![Part::Text(t)] }).into_iter().collect()
                });
            }
        }
        _ => {}
    }
}

fn kind(a: &Attributes) -> Option<Kind> {
    if let Some(request) = a.str("llm.request.type") {
        return Some(match &*request {
            "chat" | "completion" => Kind::Llm,
            _ => Kind::Part,
        });
    }
    if a.has("gen_ai.completion.0.role") || a.has("gen_ai.completion.0.content") {
        return Some(Kind::Llm);
    }
    Some(match &*a.str("traceloop.span.kind")? {
        "tool" => Kind::Tool,
        "agent" => Kind::Agent,
        "workflow" | "task" => Kind::Part,
        _ => Kind::Unknown,
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
