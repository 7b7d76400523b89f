//! Google's ADK: payloads under `gcp.vertex.agent.*`. One model call has a `call_llm` span and
//! often one or two more of other instrumentations inside it. The results of parallel calls
//! are repeated, joined, in a span for `(merged tools)`.

use super::super::facts::{MessageAuthor, SpanFacts, SpanRole, fill};
use super::super::{Attributes, TelemetrySpan, messages};
use super::SpanDialect;
use toolmark_scan::Value;

const REQUEST: &str = "gcp.vertex.agent.llm_request";
const RESPONSE: &str = "gcp.vertex.agent.llm_response";
const ARGS: &str = "gcp.vertex.agent.tool_call_args";
const RESULT: &str = "gcp.vertex.agent.tool_response";

pub(super) const DIALECT: SpanDialect = SpanDialect { kind, read };

fn kind(span: &TelemetrySpan) -> Option<SpanRole> {
    let a = &span.attributes;
    if a.has(ARGS) {
        let is_merged = a.is("gen_ai.tool.name", "(merged tools)") || a.is(ARGS, "N/A");
        return Some(if is_merged { SpanRole::Part } else { SpanRole::Tool });
    }
    if filled(a, REQUEST) || filled(a, RESPONSE) {
        return Some(SpanRole::Llm);
    }
    span.name.get().starts_with("agent_run [").then_some(SpanRole::Agent)
}

fn read(span: &TelemetrySpan, kind: SpanRole, facts: &mut SpanFacts) {
    let a = &span.attributes;
    match kind {
        SpanRole::Tool if a.has(ARGS) => {
            fill(&mut facts.tool, || a.text(&["gen_ai.tool.name"]));
            fill(&mut facts.args, || a.payload(&[ARGS]));
            fill(&mut facts.result, || a.payload(&[RESULT]));
            // An MCP tool says so in its answer.
            fill(&mut facts.failed, || a.json(RESULT, |v| v.get("isError")?.as_bool())?);
        }
        SpanRole::Llm if facts.input.is_empty() && facts.output.is_empty() => {
            a.json(REQUEST, |request| read_request(request, facts));
            a.json(RESPONSE, |response| {
                facts.output = messages::all(response, MessageAuthor::Assistant);
            });
        }
        _ => {}
    }
}

/// Returns whether an attribute is more than the `{}` that ADK writes for an empty value.
fn filled(a: &Attributes, key: &str) -> bool {
    a.str(key).is_some_and(|value| value.len() > 2)
}

fn read_request(request: Value<'_>, facts: &mut SpanFacts) {
    let config = request.get("config");
    if let Some(system) = config.and_then(|c| c.get("system_instruction")) {
        facts.input = messages::all(system, MessageAuthor::System);
    }
    if let Some(contents) = request.get("contents") {
        facts.input.extend(messages::all(contents, MessageAuthor::User));
    }
    let tools = config.and_then(|c| c.get("tools"));
    for tool in tools.into_iter().flat_map(Value::items) {
        if let Some(list) = tool.get("function_declarations") {
            facts.tools.extend(messages::definitions(list));
        }
    }
}
