//! Langfuse exports: `{trace, observations[]}`, a trace with its observations inside, or only
//! observations.
//!
//! `input`, `output` and `metadata` are JSON, JSON as text, or JSON as text encoded twice. If
//! there is a separate list of observations, the copies inside `trace` have no input and
//! output. Tools are TOOL observations with newer SDKs; with older ones, they are SPANs
//! recognized by their attributes (stored in the metadata) or their output (a LangChain tool
//! message). Every GENERATION is a separate model response, as in Langfuse's counts and
//! billing, even inside another one. However, a generation whose attributes contain the
//! operation `invoke_agent` is the run of an agent, and the responses inside it hold its
//! details.

use super::shared::spans::json::attributes;
use super::shared::spans::{MessageAuthor, MessagePart, SpanMessage};
use super::shared::spans::{SpanFacts, SpanRole, Spans, TelemetrySpan, messages};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{
    Convention, Cost, Fact, Fidelity, Payload, Text, ToolDefinition, Usage, UsageTokens, time,
};
use toolmark_scan::{Scanner, Value};

/// Langfuse exports.
pub(crate) struct Langfuse;

static INFO: FormatInfo = FormatInfo {
    id: "langfuse",
    title: "Langfuse trace",
    origin: "the JSON download of a trace, GET /api/public/traces/<id>, exports of observations",
    versions: "v2 and v3",
    looks_for: "trace and observations, or observations with traceId and type GENERATION, SPAN or TOOL",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::WorkingDirectory]),
};

const TYPES: [&str; 10] = [
    "SPAN",
    "GENERATION",
    "EVENT",
    "AGENT",
    "TOOL",
    "CHAIN",
    "RETRIEVER",
    "EVALUATOR",
    "EMBEDDING",
    "GUARDRAIL",
];

fn is_observation(value: Value<'_>) -> bool {
    value.get("type").and_then(Value::inner).is_some_and(|t| TYPES.contains(&t))
        && value.get("startTime").is_some()
        && value.get("id").is_some()
}

/// Returns the observations of a document, and its trace.
fn parts(value: Value<'_>) -> Option<(Value<'_>, Value<'_>)> {
    let trace = value.get("trace").filter(|t| t.is_object()).unwrap_or(value);
    let list = value.get("observations").or_else(|| trace.get("observations"));
    Some((trace, list.filter(|l| l.is_array())?))
}

impl Format for Langfuse {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let is_export = |value: Value<'_>| {
            parts(value).is_some_and(|(trace, list)| {
                let is_trace = trace.get("projectId").or(trace.get("timestamp")).is_some();
                list.items().next().map_or(is_trace, is_observation)
            })
        };
        if probe.any(is_export) {
            100
        } else if probe.any(|r| r.get("traceId").is_some() && is_observation(r)) {
            90
        } else {
            0
        }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(LangfuseReader { loose: Spans::counting_every_response() })
    }
}

struct LangfuseReader {
    /// Observations that are not in a trace.
    loose: Spans,
}

impl Reader for LangfuseReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = out.object(record, "a Langfuse trace") else { return };
        let Some((trace, list)) = parts(value) else {
            if is_observation(value) {
                self.loose.add(observation(record, value));
            } else {
                self.loose.note("record", record.at());
            }
            return;
        };
        let mut spans = Spans::counting_every_response();
        spans.name_run(record.text_at(trace, "name"));
        spans.in_conversation(record.text_at(trace, "id"));
        for item in list.items() {
            if is_observation(item) {
                spans.add(observation(record, item));
            } else {
                spans.note("observation of an unknown type", record.at_value(item));
            }
        }
        if list.items().next().is_none() {
            spans.note("trace without observations", record.at());
        }
        spans.finish(&Langfuse, out);
    }

    fn finish(&mut self, out: &mut Out) {
        std::mem::take(&mut self.loose).finish(&Langfuse, out);
    }
}

fn observation(record: &Record<'_>, value: Value<'_>) -> TelemetrySpan {
    let mut span = TelemetrySpan::new(record.at_value(value));
    let (mut kind, mut input, mut output) = ("", None, None);
    for (key, value) in value.fields().filter(|(_, v)| !v.is_null()) {
        match key.inner().unwrap_or("") {
            "id" => span.id = value.str().unwrap_or_default().into_owned(),
            "traceId" => span.trace = value.str().unwrap_or_default().into_owned(),
            "parentObservationId" => span.parent = value.str().map(Into::into),
            "name" => span.name = record.label(value).unwrap_or(span.name),
            "startTime" => span.start = time::from_value(value),
            "endTime" => span.end = time::from_value(value),
            "level" => span.failed = value.is("ERROR"),
            "statusMessage" => span.status_message = record.text(value),
            "type" => kind = value.inner().unwrap_or(""),
            "input" => input = Some(unquoted(record.payload(value))),
            "output" => output = Some(unquoted(record.payload(value))),
            "metadata" => metadata(record, value, &mut span),
            "model" => span.known.model = record.text(value),
            "usageDetails" | "usage" => {
                span.known.usage = usage(value).or(span.known.usage);
            }
            "totalCost" | "calculatedTotalCost" => {
                let cost = value.as_f64().filter(|c| *c > 0.0).and_then(Cost::from_usd);
                span.known.cost = cost.or(span.known.cost);
            }
            "toolDefinitions" => span.known.tools = definitions(value),
            _ => {}
        }
    }
    span.known.kind = match kind {
        "GENERATION" if span.attributes.is("gen_ai.operation.name", "invoke_agent") => {
            Some(SpanRole::Agent)
        }
        "GENERATION" => Some(SpanRole::Llm),
        "TOOL" => Some(SpanRole::Tool),
        "AGENT" => Some(SpanRole::Agent),
        "SPAN" => output.as_ref().and_then(|o| langchain_tool(o, &mut span.known)),
        _ => Some(SpanRole::Part),
    };
    if span.known.kind == Some(SpanRole::Tool) {
        span.known.tool = Some(span.name.clone());
        span.known.args = input;
        span.known.result = span.known.result.take().or(output);
        return span;
    }
    if span.known.kind == Some(SpanRole::Llm) {
        span.known.output = lifted_calls(output.as_ref(), value);
    }
    // The attributes an instrumentation wrote say more than what Langfuse made
    // of them; these are read where there is nothing else.
    for (key, value) in [("input.value", input), ("output.value", output)] {
        if let (Some(value), false) = (value, span.attributes.has(key)) {
            span.attributes.insert(key, value);
        }
    }
    span
}

/// Returns calls that were moved out of the output, each as JSON text, if the output itself
/// has none.
fn lifted_calls(output: Option<&Payload>, value: Value<'_>) -> Vec<SpanMessage> {
    let calls = value.items_at("toolCalls");
    let mut names = value.items_at("toolCallNames");
    let parts: Vec<MessagePart> = calls.flat_map(|call| lifted_call(call, names.next())).collect();
    if parts.is_empty() {
        return Vec::new();
    }
    let mut messages = output.map(output_messages).unwrap_or_default();
    let asks = |m: &SpanMessage| m.parts.iter().any(|p| matches!(p, MessagePart::Call { .. }));
    if !messages.iter().any(asks) {
        messages.push(SpanMessage { role: MessageAuthor::Assistant, parts });
    }
    messages
}

/// Returns one such call; its name is in the call or in the separate list of names.
fn lifted_call(value: Value<'_>, beside: Option<Value<'_>>) -> Vec<MessagePart> {
    let text = value.str().unwrap_or_else(|| value.raw().into());
    let list = format!("[{text}]");
    let mut scanner = Scanner::new();
    let mut parts = scanner.parse(&list).map(|doc| messages::calls(doc.root())).unwrap_or_default();
    if let (Some(beside), [MessagePart::Call { name, .. }]) =
        (beside.and_then(Value::str), &mut parts[..])
        && name.is_empty()
    {
        *name = Text::owned(beside);
    }
    parts
}

/// Returns the messages of an output, or otherwise its text.
fn output_messages(output: &Payload) -> Vec<SpanMessage> {
    let raw = output.raw();
    let mut scanner = Scanner::new();
    let doc = scanner.parse(&raw).ok().filter(|d| d.root().is_object() || d.root().is_array());
    let found = doc.map(|d| messages::all(d.root(), MessageAuthor::Assistant)).unwrap_or_default();
    if found.iter().any(|m| !m.parts.is_empty()) {
        return found;
    }
    vec![SpanMessage {
        role: MessageAuthor::Assistant,
        parts: vec![MessagePart::Text(output.clone())],
    }]
}

/// Decodes text that is a JSON string.
fn unquoted(payload: Payload) -> Payload {
    let raw = payload.raw();
    if !(raw.len() >= 2 && raw.starts_with('"') && raw.ends_with('"')) {
        drop(raw);
        return payload;
    }
    let mut scanner = Scanner::new();
    match scanner.parse(&raw).ok().and_then(|doc| doc.root().str()) {
        Some(inner) => Payload::text(Text::owned(inner)),
        None => payload.clone(),
    }
}

/// Reads the OpenTelemetry attributes of the span, which are stored in the metadata.
fn metadata(record: &Record<'_>, value: Value<'_>, span: &mut TelemetrySpan) {
    if value.is_object() {
        if let Some(inner) = value.get("attributes") {
            span.attributes = attributes(record, inner);
        }
        span.scope = value.get("scope").and_then(|s| record.text_at(s, "name"));
        return;
    }
    let Some(text) = value.str() else { return };
    let mut scanner = Scanner::new();
    let Ok(doc) = scanner.parse(&text) else { return };
    for (key, value) in doc.root().get("attributes").into_iter().flat_map(Value::fields) {
        if let (Some(key), false) = (key.str(), value.is_null()) {
            span.attributes.insert(key, messages::payload(value));
        }
    }
    span.scope = doc.root().get("scope").and_then(|s| messages::label(s, &["name"]));
}

/// Returns whether the output of a span is the message of a LangChain tool.
fn langchain_tool(output: &Payload, facts: &mut SpanFacts) -> Option<SpanRole> {
    let raw = output.raw();
    if !raw.starts_with('{') {
        return None;
    }
    let mut scanner = Scanner::new();
    let message = scanner.parse(&raw).ok()?.root();
    if !message.get("type")?.is("tool") {
        return None;
    }
    facts.call = Some(messages::label(message, &["tool_call_id"])?);
    facts.result = message.get("content").map(messages::payload);
    facts.failed = message.get_str("status").map(|status| status == "error");
    Some(SpanRole::Tool)
}

/// Reads the usage under any of the names that integrations use; the total is stated.
fn usage(value: Value<'_>) -> Option<Usage> {
    let count = |keys: &[&str]| keys.iter().find_map(|key| value.get(key)?.as_u64());
    let input = count(&["input", "promptTokens", "prompt_tokens", "input_tokens"]);
    let output = count(&["output", "completionTokens", "completion_tokens", "output_tokens"]);
    if input.is_none() && output.is_none() {
        return None;
    }
    let tokens = UsageTokens {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cache_read: count(&[
            "input_cache_read",
            "prompt_details.cache_read",
            "cache_read_input_tokens",
            "input_cached_tokens",
        ])
        .unwrap_or(0),
        cache_write: count(&[
            "input_cache_creation",
            "prompt_details.cache_write",
            "cache_creation_input_tokens",
        ])
        .unwrap_or(0),
        cache_write_1h: 0,
        reasoning: count(&[
            "output_reasoning",
            "completion_details.reasoning",
            "output_reasoning_tokens",
        ])
        .unwrap_or(0),
    };
    let mut usage = Usage::new(tokens, Convention::INCLUSIVE);
    usage.stated_total = count(&["total", "totalTokens", "total_tokens"]);
    Some(usage)
}

/// Reads tool definitions by name, each as JSON text.
fn definitions(value: Value<'_>) -> Vec<ToolDefinition> {
    let tools = value.fields().filter_map(|(name, definition)| {
        let name = Text::owned(name.str()?);
        let text = definition.str().unwrap_or_else(|| definition.raw().into());
        let mut scanner = Scanner::new();
        let inner = scanner.parse(&text).ok().map(|doc| doc.root());
        let schema = inner.and_then(|i| i.get("parameters").or_else(|| i.get("inputSchema")));
        Some(ToolDefinition {
            name,
            description: inner.and_then(|i| messages::label(i, &["description"])),
            schema: schema.map(messages::payload),
        })
    });
    tools.collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, sketch};

    fn observation(id: &str, kind: &str, name: &str, at: u32, rest: &str) -> String {
        format!(
            r#"{{"id":"{id}","traceId":"t","type":"{kind}","name":"{name}","startTime":"2026-01-01T00:00:{at:02}.000Z","endTime":"2026-01-01T00:00:{at:02}.500Z","level":"DEFAULT",{rest}}}"#
        )
    }

    #[test]
    fn a_trace_with_its_observations() {
        let text = format!(
            r#"{{"trace":{{"id":"t","projectId":"p","name":"weather","timestamp":"2026-01-01T00:00:00Z","observations":[]}},"observations":[{},{},{},{},{},{}]}}"#,
            observation(
                "3",
                "TOOL",
                "get",
                2,
                r#""parentObservationId":"1","input":"{\"at\":\"Rome\"}","output":"\"sunny \\u00b0\"","metadata":"{\"attributes\":{\"gen_ai.tool.call.id\":\"c1\"}}""#
            ),
            observation(
                "2",
                "GENERATION",
                "chat",
                1,
                r#""parentObservationId":"1","model":"m","input":"[{\"role\":\"user\",\"content\":\"Rome and Oslo?\"}]","output":"\"looking\"","usageDetails":{"input":5,"output":2,"total":9,"input_cache_read":1},"totalCost":0.25,"toolCalls":["{\"id\":\"c1\",\"name\":\"get\",\"arguments\":\"{}\"}","{\"id\":\"c2\",\"name\":\"get\"}"],"toolDefinitions":{"get":"{\"description\":\"d\",\"parameters\":\"{}\"}"}"#
            ),
            observation(
                "4",
                "TOOL",
                "get",
                3,
                r#""parentObservationId":"1","input":{"at":"Oslo"},"output":null,"level":"ERROR","statusMessage":"no such town""#
            ),
            observation(
                "1",
                "AGENT",
                "planner",
                0,
                r#""parentObservationId":null,"usageDetails":{"input":99,"output":99}"#
            ),
            observation("5", "EVENT", "ping", 4, r#""input":null"#),
            r#"{"id":"6","type":"MOON"}"#,
        );
        let read = read_text(&text);
        assert_eq!((read.format, read.runs.len(), read.skipped), ("langfuse", 1, 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: Rome and Oslo?\n\
             0 message: looking\n\
             0 call get {\"at\":\"Rome\"} -> succeeded(protocol): sunny \u{b0}\n\
             0 call get {\"at\":\"Oslo\"} -> failed(protocol): no such town\n\
             note ping\n\
             note observation of an unknown type\n"
        );
        assert_eq!(
            (run.id.as_ref().unwrap().to_string(), run.name.as_ref().unwrap().to_string()),
            ("t".into(), "weather".into())
        );
        assert_eq!(run.agent.name.as_ref().unwrap(), "planner");
        assert_eq!(run.usage.unwrap().total(), 9);
        assert_eq!(run.cost.unwrap().usd(), 0.25);
        assert_eq!(run.calls[1].id.as_ref().unwrap(), "c2");
        assert_eq!(run.tools.as_ref().unwrap().len(), 1);
    }

    #[test]
    fn spans_that_are_tools() {
        let lines = [
            observation(
                "1",
                "SPAN",
                "search",
                1,
                r#""input":"{'q': 1}","output":"{\"type\":\"tool\",\"tool_call_id\":\"c\",\"name\":\"search\",\"content\":\"hit\",\"status\":\"error\"}""#,
            ),
            observation(
                "2",
                "SPAN",
                "ddg",
                2,
                r#""input":"{}","output":"[]","metadata":{"attributes":{"openinference.span.kind":"TOOL","tool.name":"ddg"}}"#,
            ),
            observation("3", "SPAN", "plain", 3, r#""input":"{}","output":"end""#),
            observation("4", "TOOL", "open", 4, r#""input":"{}""#)
                .replace(r#""endTime":"2026-01-01T00:00:04.500Z","#, ""),
            "{\"other\":1}".to_owned(),
        ];
        let read = read_text(&lines.join("\n"));
        assert_eq!((read.format, read.runs.len()), ("langfuse", 1));
        assert_eq!(
            sketch(&read.runs[0]),
            "call search {'q': 1} -> failed(protocol): hit\n\
             call ddg {} -> succeeded(protocol): []\n\
             note plain\n\
             call open {} -> unanswered(absent): \n\
             note record\n"
        );
    }

    #[test]
    fn many_traces_in_a_row() {
        let trace = |id: &str| {
            format!(
                r#"{{"trace":{{"id":"{id}","timestamp":"2026-01-01T00:00:00Z"}},"observations":[{}]}}"#,
                observation(
                    "1",
                    "GENERATION",
                    "a",
                    1,
                    r#""input":7,"output":[],"usageDetails":[]"#
                )
            )
        };
        let read = read_text(&format!("{}\n{}\n3\n", trace("x"), trace("y")));
        assert_eq!((read.runs.len(), read.skipped), (2, 1));
        assert_eq!(read.runs[1].id.as_ref().unwrap(), "y");
        assert_eq!(read.runs[1].steps.len(), 1);
    }

    #[test]
    fn calls_are_named_beside_them() {
        let read = read_text(&observation(
            "1",
            "GENERATION",
            "turn",
            1,
            r#""output":"looking","toolCalls":["{\"id\":\"c1\",\"arguments\":\"{}\",\"type\":\"tool_use\"}","{\"id\":\"c2\",\"name\":\"b\"}"],"toolCallNames":["a","x"]"#,
        ));
        assert_eq!(
            sketch(&read.runs[0]),
            "0 message: looking\n0 call a {} -> unanswered(absent): \n0 call b  -> unanswered(absent): \n"
        );
    }

    #[test]
    fn a_generation_around_generations() {
        let lines = [
            observation(
                "1",
                "GENERATION",
                "invoke_agent planner",
                0,
                r#""usageDetails":{"input":30,"output":3},"output":{"message":"done"},"metadata":{"attributes":{"gen_ai.operation.name":"invoke_agent","gen_ai.agent.name":"planner"}}"#,
            )
            .replace("00:00:00.500", "00:00:09.500"),
            observation(
                "2",
                "GENERATION",
                "chat",
                1,
                r#""parentObservationId":"1","usageDetails":{"input":10,"output":1},"output":"let me see""#,
            ),
            observation(
                "3",
                "GENERATION",
                "chat",
                2,
                r#""parentObservationId":"1","usageDetails":{"input":20,"output":2},"output":"done""#,
            ),
        ];
        let read = read_text(&lines.join("\n"));
        let run = &read.runs[0];
        assert_eq!(sketch(run), "0 message: let me see\n1 message: done\n");
        assert_eq!(run.usage.unwrap().total(), 33);
        assert_eq!(run.agent.name.as_ref().unwrap(), "planner");
    }
}
