//! LangSmith runs: objects with `run_type`, one per line, in a list, or nested in
//! `child_runs`. `dotted_order` contains the path from the root, so that the parent is known
//! even if its ID is missing. Messages are LangChain's. A failure shows only in `error`.

use super::shared::spans::{
    MessageAuthor, SpanFacts, SpanRole, Spans, TelemetrySpan, messages, span_reader,
};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{Convention, Cost, Fact, Fidelity, Usage, UsageTokens, time};
use toolmark_scan::Value;

/// LangSmith runs.
pub(crate) struct LangSmith;

static INFO: FormatInfo = FormatInfo {
    id: "langsmith",
    title: "LangSmith runs",
    origin: "langsmith.Client.list_runs, exports of runs as JSON or JSON lines",
    versions: "run objects with run_type and dotted_order",
    looks_for: "objects with run_type and dotted_order or trace_id",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::WorkingDirectory]),
};

fn is_run(value: Value<'_>) -> bool {
    value.get("run_type").is_some_and(Value::is_string)
        && value.get("id").is_some()
        && ["dotted_order", "trace_id", "inputs", "child_runs"]
            .iter()
            .any(|k| value.get(k).is_some())
}

impl Format for LangSmith {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let inside = |r: Value<'_>| r.get("runs")?.items().next().map(is_run);
        if probe
            .any(|r| is_run(r) && (r.get("dotted_order").is_some() || r.get("trace_id").is_some()))
        {
            100
        } else if probe.any(|r| is_run(r) || inside(r) == Some(true)) {
            80
        } else {
            0
        }
    }

    fn reader(&self) -> Box<dyn Reader> {
        span_reader(&LangSmith, add_record)
    }
}

fn add_record(spans: &mut Spans, record: &Record<'_>, out: &mut Out) {
    let Some(value) = out.object(record, "a run") else { return };
    let mut todo: Vec<Value<'_>> = match value.get("runs") {
        Some(runs) if !is_run(value) => runs.items().collect(),
        _ => vec![value],
    };
    while let Some(value) = todo.pop() {
        if is_run(value) {
            spans.add(run(record, value));
            todo.extend(value.items_at("child_runs"));
        } else {
            spans.note("record", record.at_value(value));
        }
    }
}

fn run(record: &Record<'_>, value: Value<'_>) -> TelemetrySpan {
    let mut span = TelemetrySpan::new(record.at_value(value));
    let (mut kind, mut path) = ("", None);
    let (mut inputs, mut outputs, mut extra) = (None, None, None);
    for (key, value) in value.fields().filter(|(_, v)| !v.is_null()) {
        match key.inner().unwrap_or("") {
            "id" => span.id = value.str().unwrap_or_default().into_owned(),
            "trace_id" => span.trace = value.str().unwrap_or_default().into_owned(),
            "parent_run_id" => span.parent = value.str().map(Into::into),
            "dotted_order" => path = value.str(),
            "run_type" => kind = value.inner().unwrap_or(""),
            "name" => span.name = record.label(value).unwrap_or(span.name),
            "start_time" => span.start = time::from_value(value),
            "end_time" => span.end = time::from_value(value),
            "error" if value.inner() != Some("") => {
                span.failed = true;
                span.known.error = Some(record.payload(value));
            }
            "inputs" => inputs = Some(value),
            "outputs" => outputs = Some(value),
            "extra" => extra = Some(value),
            "total_cost" => span.known.cost = value.as_f64().and_then(Cost::from_usd),
            _ => {}
        }
    }
    if let Some(path) = path {
        follow(&path, &mut span);
    }
    if span.trace.is_empty() {
        span.trace.clone_from(&span.id);
    }
    span.known.kind = Some(match kind {
        "llm" => SpanRole::Llm,
        "tool" => SpanRole::Tool,
        "chain" if span.parent.is_none() => SpanRole::Agent,
        "chain" | "retriever" | "embedding" | "prompt" | "parser" => SpanRole::Part,
        _ => SpanRole::Unknown,
    });
    match span.known.kind {
        Some(SpanRole::Tool) => tool(record, &mut span, inputs, outputs),
        Some(SpanRole::Llm | SpanRole::Agent) => {
            let facts = &mut span.known;
            facts.input = inputs.map(|v| messages::all(v, MessageAuthor::User)).unwrap_or_default();
            facts.output =
                outputs.map(|v| messages::all(v, MessageAuthor::Assistant)).unwrap_or_default();
            facts.usage = usage(value).or_else(|| usage_metadata(outputs?));
        }
        _ => {}
    }
    if let Some(extra) = extra {
        read_extra(record, extra, &mut span.known);
    }
    if span.known.kind == Some(SpanRole::Agent) {
        span.known.agent = Some(span.name.clone());
    }
    span
}

/// Parses `20240429T004912090000Z<trace id>.20240429T004912185089Z<run id>…`: the parent is
/// the second-to-last part.
fn follow(path: &str, span: &mut TelemetrySpan) {
    let mut ids = path.split('.').map(|step| step.split_once('Z').map_or(step, |(_, id)| id));
    if span.trace.is_empty() {
        span.trace = ids.clone().next().unwrap_or_default().to_owned();
    }
    if span.parent.is_none() {
        ids.next_back();
        span.parent = ids.next_back().map(str::to_owned);
    }
}

fn tool(
    record: &Record<'_>,
    span: &mut TelemetrySpan,
    inputs: Option<Value<'_>>,
    outputs: Option<Value<'_>>,
) {
    span.known.tool = Some(span.name.clone());
    span.known.args = inputs.map(|value| record.payload(only(value, "input")));
    let Some(output) = outputs.map(|value| only(value, "output")) else { return };
    let message = output.get("kwargs").filter(|_| output.get("lc").is_some()).unwrap_or(output);
    let id = messages::label(message, &["tool_call_id"]);
    if id.is_none() {
        span.known.result = Some(record.payload(output));
        return;
    }
    span.known.call = id;
    span.known.result = record.payload_at(message, "content");
    span.known.failed = message.get_str("status").map(|status| status == "error");
}

/// Returns the member `key` of an object without other members.
fn only<'a>(value: Value<'a>, key: &str) -> Value<'a> {
    match value.get(key) {
        Some(inner) if value.fields().count() == 1 => inner,
        _ => value,
    }
}

fn read_extra(record: &Record<'_>, extra: Value<'_>, facts: &mut SpanFacts) {
    let text = |keys: &[&str]| extra.at(keys).and_then(|v| record.text(v));
    facts.model = text(&["metadata", "ls_model_name"])
        .or_else(|| text(&["invocation_params", "model"]))
        .or_else(|| text(&["invocation_params", "model_name"]));
    facts.conversation = ["session_id", "thread_id", "conversation_id"]
        .iter()
        .find_map(|key| text(&["metadata", key]));
    if let Some(tools) = extra.at(&["invocation_params", "tools"]) {
        facts.tools = messages::definitions(tools);
    }
}

fn usage(run: Value<'_>) -> Option<Usage> {
    let count = |key: &str| run.get(key).and_then(Value::as_u64);
    let (input, output) = (count("prompt_tokens"), count("completion_tokens"));
    if input.unwrap_or(0) == 0 && output.unwrap_or(0) == 0 {
        return None;
    }
    let detail = |key: &str, kind: &str| run.at(&[key, kind]).and_then(Value::as_u64);
    let tokens = UsageTokens {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cache_read: detail("prompt_token_details", "cache_read").unwrap_or(0),
        cache_write: detail("prompt_token_details", "cache_creation").unwrap_or(0),
        cache_write_1h: 0,
        reasoning: detail("completion_token_details", "reasoning").unwrap_or(0),
    };
    let mut usage = Usage::new(tokens, Convention::INCLUSIVE);
    usage.stated_total = count("total_tokens").filter(|t| *t > 0);
    Some(usage)
}

/// Returns the usage that LangChain stores in the message.
fn usage_metadata(outputs: Value<'_>) -> Option<Usage> {
    let generations = outputs.get("generations");
    let generation = generations.and_then(|g| g.items().next()?.items().next());
    let message = generation.and_then(|g| g.get("message")).unwrap_or(outputs);
    let message = message.get("kwargs").unwrap_or(message);
    let usage = message.get("usage_metadata")?;
    let count = |key: &str| usage.get(key).and_then(Value::as_u64);
    let detail = |key: &str, kind: &str| usage.at(&[key, kind]).and_then(Value::as_u64);
    let tokens = UsageTokens {
        input: count("input_tokens")?,
        output: count("output_tokens")?,
        cache_read: detail("input_token_details", "cache_read").unwrap_or(0),
        cache_write: detail("input_token_details", "cache_creation").unwrap_or(0),
        cache_write_1h: 0,
        reasoning: detail("output_token_details", "reasoning").unwrap_or(0),
    };
    let mut usage = Usage::new(tokens, Convention::INCLUSIVE);
    usage.stated_total = count("total_tokens");
    Some(usage)
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, sketch};

    fn run(id: &str, parent: &str, kind: &str, name: &str, at: u32, rest: &str) -> String {
        let path = match parent {
            "" => format!("20260101T000000000000Z{id}"),
            _ => format!("20260101T000000000000Z{parent}.20260101T00000{at}000000Z{id}"),
        };
        format!(
            r#"{{"id":"{id}","dotted_order":"{path}","run_type":"{kind}","name":"{name}","start_time":"2026-01-01T00:00:0{at}.000000","end_time":"2026-01-01T00:00:0{at}.250000",{rest}}}"#
        )
    }

    #[test]
    fn a_tree_of_runs() {
        let lines = [
            run(
                "llm1",
                "root",
                "llm",
                "ChatOpenAI",
                1,
                r#""inputs":{"messages":[[{"lc":1,"type":"constructor","id":["langchain","HumanMessage"],"kwargs":{"content":"hi"}}]]},"outputs":{"generations":[[{"text":"","message":{"lc":1,"type":"constructor","id":["langchain","AIMessage"],"kwargs":{"content":"","tool_calls":[{"name":"f","args":{"x":1},"id":"c1"},{"name":"g","args":{},"id":"c2"}],"usage_metadata":{"input_tokens":3,"output_tokens":2,"total_tokens":5}}}}]]},"extra":{"metadata":{"ls_model_name":"m","thread_id":"th"},"invocation_params":{"tools":[{"type":"function","function":{"name":"f"}}]}}"#,
            ),
            run(
                "tool1",
                "root",
                "tool",
                "f",
                2,
                r#""inputs":{"input":"{'x': 1}"},"outputs":{"output":{"type":"tool","content":"ok","tool_call_id":"c1","status":"success"}},"error":null"#,
            ),
            run(
                "tool2",
                "root",
                "tool",
                "g",
                3,
                r#""inputs":{"a":1,"b":2},"outputs":null,"error":"ValueError('no')""#,
            ),
            run("chain", "root", "chain", "RunnableSequence", 4, r#""inputs":{},"outputs":{}"#),
            run("odd", "root", "magic", "hat", 5, r#""inputs":[],"outputs":3"#),
            run(
                "llm2",
                "root",
                "llm",
                "ChatOpenAI",
                6,
                r#""prompt_tokens":10,"completion_tokens":4,"total_tokens":14,"outputs":{"choices":[{"message":{"role":"assistant","content":"bye"}}]}"#,
            ),
            run(
                "root",
                "",
                "chain",
                "AgentExecutor",
                0,
                r#""inputs":{"input":"hi"},"outputs":{"output":"bye"}"#,
            ),
            r#"{"no":"run"}"#.to_owned(),
            "7".to_owned(),
        ];
        let read = read_text(&lines.join("\n"));
        assert_eq!((read.format, read.runs.len(), read.skipped), ("langsmith", 1, 1));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: hi\n\
             0 call f {'x': 1} -> succeeded(protocol): ok\n\
             0 call g {\"a\":1,\"b\":2} -> failed(protocol): ValueError('no')\n\
             note RunnableSequence\n\
             unknown hat\n\
             1 message: bye\n\
             note record\n"
        );
        assert_eq!(run.id.as_ref().unwrap(), "th");
        assert_eq!(run.agent.name.as_ref().unwrap(), "AgentExecutor");
        assert_eq!(run.usage.unwrap().total(), 19);
        assert_eq!(run.calls[1].id.as_ref().unwrap(), "c2");
    }

    #[test]
    fn nested_runs() {
        let child = run("c", "r", "tool", "f", 1, r#""inputs":{},"outputs":{"output":"1"}"#);
        let read = read_text(&run(
            "r",
            "",
            "chain",
            "top",
            0,
            &format!(r#""inputs":{{}},"child_runs":[{child},5]"#),
        ));
        assert_eq!(sketch(&read.runs[0]), "call f {} -> succeeded(protocol): 1\nnote record\n");
    }
}
