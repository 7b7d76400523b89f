//! Calls of W&B Weave: one traced function each. Tools are marked with
//! `@weave.op(kind="tool")`; calls of model libraries are recognized by their names.

use super::shared::chat_message;
use super::shared::spans::{SpanList, SpanRole, TelemetrySpan};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{Fact, Fidelity, Text, time};
use toolmark_scan::Value;

/// Calls of Weave.
pub(crate) struct Weave;

static INFO: FormatInfo = FormatInfo {
    id: "weave",
    title: "W&B Weave calls",
    origin: "calls of Weave, fetched or exported as JSON lines",
    versions: "calls with op_name and started_at",
    looks_for: "calls with op_name, trace_id and started_at",
    fidelity: Fidelity::lacking(&[Fact::CallIds, Fact::ExitCodes, Fact::WorkingDirectory]),
};

fn is_call(value: Value<'_>) -> bool {
    value.get("op_name").is_some_and(Value::is_string)
        && value.has("trace_id")
        && (value.has("started_at") || value.has("inputs"))
}

/// Location of the spans in a record.
const SPANS: SpanList = SpanList { places: &[&["calls"]], is_span: is_call, read: read_span };

impl Format for Weave {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if SPANS.is_in(probe) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        SPANS.reader(&Weave)
    }
}

fn read_span(record: &Record<'_>, call: Value<'_>) -> TelemetrySpan {
    let mut span = TelemetrySpan::new(record.at_value(call));
    let text = |key: &str| call.get(key).and_then(Value::str).map(String::from);
    span.id = text("id").unwrap_or_default();
    span.trace = text("trace_id").unwrap_or_default();
    span.parent = text("parent_id").filter(|id| !id.is_empty());
    let name = text("op_name").unwrap_or_default();
    let name = short_name(&name);
    span.name = Text::owned(name);
    span.start = call.get("started_at").and_then(time::from_value);
    span.end = call.get("ended_at").and_then(time::from_value);
    if let Some(error) = call.get("exception").filter(|e| e.inner() != Some("")) {
        span.failed = true;
        span.known.error = Some(record.payload(error));
    }
    let facts = &mut span.known;
    facts.conversation = record.text_at(call, "thread_id");
    let (input, output) = (call.get("inputs"), call.get("output"));
    let places: [&[&str]; 2] = [&["attributes", "kind"], &["attributes", "weave", "kind"]];
    let kind = places.iter().find_map(|place| call.at(place)).and_then(Value::inner);
    facts.kind = Some(match kind.unwrap_or("") {
        "tool" => facts.of_call(record, &span.name, input, output),
        "agent" => {
            facts.agent = Some(span.name.clone());
            SpanRole::Agent
        }
        kind if kind == "llm" || is_model(name) => {
            facts.model = input.and_then(|i| record.text_at(i, "model"));
            let usage = output.and_then(|o| o.get("usage"));
            facts.usage = usage.and_then(chat_message::usage);
            facts.of_response(input, output)
        }
        _ => SpanRole::Part,
    });
    span
}

/// Returns the name in `weave:///entity/project/op/name:version`.
fn short_name(name: &str) -> &str {
    let name = name.rsplit_once("/op/").map_or(name, |(_, name)| name);
    name.split_once(':').map_or(name, |(name, _)| name)
}

/// Returns whether the call is traced by Weave's integration of a model library.
fn is_model(name: &str) -> bool {
    let ends =
        [".create", ".generate_content", ".complete", ".parse", ".completion", ".acompletion"];
    let begins = ["openai.", "anthropic.", "google.", "litellm.", "mistralai.", "groq.", "cohere."];
    begins.iter().any(|b| name.starts_with(b)) && ends.iter().any(|e| name.ends_with(e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn calls_of_a_trace() {
        let read = read_fixture("weave.jsonl");
        assert_eq!((read.format, read.skipped, read.runs.len()), ("weave", 1, 1));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: weather?\n\
             0 call get_weather {\"city\":\"Oslo\"} -> failed(protocol): ValueError: boom\n\
             1 message: sorry\n"
        );
        assert_eq!(run.usage.unwrap().total(), 8);
    }

    #[test]
    fn names() {
        assert_eq!(short_name("weave:///e/p/op/get:abc"), "get");
        assert_eq!(short_name("get"), "get");
        assert!(is_model("openai.chat.completions.create") && !is_model("create"));
    }
}
