//! Traces of the OpenAI Agents SDK in the format of its processors: objects `trace` and
//! `trace.span`, with the details of a span in `span_data`. Spans of type `response` hold the
//! ID of the response and, with most exporters, none of its content.

use super::shared::chat_message;
use super::shared::spans::{SpanRole, Spans, TelemetrySpan, span_reader};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{Fact, Fidelity, time};
use toolmark_scan::Value;

/// Traces of the OpenAI Agents SDK.
pub(crate) struct OpenaiAgents;

static INFO: FormatInfo = FormatInfo {
    id: "openai-agents",
    title: "OpenAI Agents SDK trace",
    origin: "trace processors of the OpenAI Agents SDK that write to a file",
    versions: "Python and TypeScript",
    looks_for: "objects trace.span with span_data",
    fidelity: Fidelity::lacking(&[
        Fact::CallIds,
        Fact::ExitCodes,
        Fact::Cost,
        Fact::WorkingDirectory,
    ]),
};

/// Returns the span inside the wrapper that some exporters add.
fn unwrapped(value: Value<'_>) -> Value<'_> {
    value.get("data").filter(|d| d.has("object")).unwrap_or(value)
}

fn is_span(value: Value<'_>) -> bool {
    value.field_is("object", "trace.span") && value.get("span_data").is_some_and(Value::is_object)
}

/// Returns the traces and spans of a record: the record itself, or its members.
fn items(record: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let list =
        ["data", "spans", "items"].iter().find_map(|k| record.get(k).filter(|v| v.is_array()));
    let list = list.or(Some(record).filter(|r| r.is_array()));
    let itself = Some(record).filter(|r| r.is_object());
    itself.into_iter().chain(list.into_iter().flat_map(Value::items)).map(unwrapped)
}

impl Format for OpenaiAgents {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if probe.any(|r| items(r).any(is_span)) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        span_reader(&OpenaiAgents, add_record)
    }
}

fn add_record(spans: &mut Spans, record: &Record<'_>, out: &mut Out) {
    let Some(value) = record.json().filter(|v| v.is_object() || v.is_array()) else {
        out.skip(&record.at(), "not a span: expected an object");
        return;
    };
    for item in items(value) {
        if is_span(item) {
            spans.add(read_span(record, item));
        } else if item.field_is("object", "trace") {
            spans.name_run(record.text_at(item, "workflow_name"));
            spans.in_conversation(record.text_at(item, "group_id"));
        } else if !items(item).any(is_span) {
            spans.note("record", record.at_value(item));
        }
    }
}

fn read_span(record: &Record<'_>, value: Value<'_>) -> TelemetrySpan {
    let mut span = TelemetrySpan::new(record.at_value(value));
    let text = |key: &str| value.get(key).and_then(Value::str).map(String::from);
    span.id = text("id").or_else(|| text("span_id")).unwrap_or_default();
    span.trace = text("trace_id").unwrap_or_default();
    span.parent = text("parent_id").filter(|id| !id.is_empty());
    span.start = value.get("started_at").and_then(time::from_value);
    span.end = value.get("ended_at").and_then(time::from_value);
    if let Some(error) = value.get("error") {
        span.failed = true;
        let words = error.get("message").unwrap_or(error);
        span.known.error = Some(record.payload(words));
    }
    let Some(data) = value.get("span_data") else { return span };
    span.name = record.text_at(data, "name").unwrap_or_else(|| data.word("type").into());
    let facts = &mut span.known;
    facts.model = record.text_at(data, "model");
    facts.usage = data.get("usage").and_then(chat_message::usage);
    let (input, output) = (data.get("input"), data.get("output"));
    facts.kind = Some(match data.word("type") {
        "function" => facts.of_call(record, &span.name, input, output),
        "agent" => {
            facts.agent = Some(span.name.clone());
            SpanRole::Agent
        }
        "generation" | "response" => {
            facts.response = record.text_at(data, "response_id");
            facts.of_response(input, output)
        }
        "handoff" | "guardrail" | "custom" | "mcp_tools" | "speech" | "transcription"
        | "speech_group" | "workflow" | "task" | "turn" => SpanRole::Part,
        _ => SpanRole::Unknown,
    });
    span
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_trace() {
        let read = read_fixture("openai-agents.jsonl");
        assert_eq!((read.format, read.skipped, read.runs.len()), ("openai-agents", 0, 1));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: weather?\n\
             0 call get_weather {\"city\":\"Oslo\"} -> succeeded(protocol): rain\n\
             0 call get_time {} -> failed(protocol): boom\n\
             1 message: rain\n"
        );
        assert_eq!(run.usage.unwrap().total(), 8);
        assert_eq!(run.name.as_ref().unwrap(), "Weather");
    }
}
