//! OpenLLMetry (Traceloop): `llm.request.type`, flattened `gen_ai.prompt.N.*`
//! and `gen_ai.completion.N.*`, `traceloop.span.kind` with
//! `traceloop.entity.name|input|output`.

use super::super::facts::{Facts, Kind, Message, Part, Role, fill, fill_list};
use super::super::{Attributes, Span, flat};
use super::Dialect;
use crate::model::{Text, ToolDefinition};
use std::collections::BTreeMap;

pub(super) const DIALECT: Dialect = Dialect { kind, read };

fn read(span: &Span, kind: Kind, facts: &mut Facts) {
    let a = &span.attributes;
    match kind {
        Kind::Llm => {
            fill_list(&mut facts.input, || flat::messages(a, "gen_ai.prompt.", Role::User));
            fill_list(&mut facts.output, || {
                flat::messages(a, "gen_ai.completion.", Role::Assistant)
            });
            fill_list(&mut facts.tools, || tools(a));
        }
        Kind::Tool => {
            fill(&mut facts.tool, || a.text(&["traceloop.entity.name"]));
            fill(&mut facts.args, || a.payload(&["traceloop.entity.input"]));
            fill(&mut facts.result, || a.payload(&["traceloop.entity.output"]));
        }
        Kind::Agent => {
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
        Kind::Part | Kind::Unknown => {}
    }
}

fn kind(span: &Span) -> Option<Kind> {
    let a = &span.attributes;
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
