//! Lists of spans as plain objects, without a container, as stored by test fixtures, notebooks
//! and span stores (`trace_id`, `span_id`, `attributes` …): one per line, in an array or under
//! `spans`. CloudWatch exports (ADOT) have the same layout in camel case, with interleaved log
//! records that refer to their span by ID.

use super::shared::spans::{Spans, json, span_reader};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{Fact, Fidelity};
use toolmark_scan::Value;

/// Spans as plain objects.
pub(crate) struct OtelList;

static INFO: FormatInfo = FormatInfo {
    id: "otel-list",
    title: "OpenTelemetry spans as a list",
    origin: "in-memory exporters, CloudWatch's aws/spans log group, evaluation fixtures",
    versions: "snake and camel case, attributes as object or as OTLP list",
    looks_for: "objects with a trace id, a span id, a name and attributes",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::WorkingDirectory]),
};

fn looks_like_span(value: Value<'_>) -> bool {
    let has_trace = ["trace_id", "traceId", "context"].iter().any(|k| value.get(k).is_some());
    has_trace && value.get("attributes").is_some() && json::is_span(value)
}

fn looks_like_log(value: Value<'_>) -> bool {
    json::is_log(value)
        && ["traceId", "trace_id"].iter().any(|k| value.get(k).is_some())
        && ["timeUnixNano", "observedTimeUnixNano", "scope"].iter().any(|k| value.get(k).is_some())
}

fn inner_spans(value: Value<'_>) -> Option<Value<'_>> {
    value.get("spans").filter(|spans| spans.is_array())
}

impl Format for OtelList {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let inside = |r: Value<'_>| inner_spans(r)?.items().next().map(looks_like_span);
        if probe.any(|r| looks_like_span(r) || inside(r) == Some(true)) {
            // Containers with a name of their own go first.
            90
        } else if probe.any(looks_like_log) {
            60
        } else {
            0
        }
    }

    fn reader(&self) -> Box<dyn Reader> {
        span_reader(&OtelList, add_record)
    }
}

fn add_record(spans: &mut Spans, record: &Record<'_>, out: &mut Out) {
    let Some(value) = record.json().filter(|v| v.is_object() || v.is_array()) else {
        out.skip(&record.at(), "not a span: expected an object");
        return;
    };
    if let Some(inner) = inner_spans(value) {
        spans.in_conversation(record.text_at(value, "session_id"));
        for span in inner.items() {
            if !json::add(spans, record, span) {
                out.skip(&record.at_value(span), "not a span");
            }
        }
    } else if value.is_array() {
        for span in value.items() {
            if !json::add(spans, record, span) {
                spans.note("record", record.at_value(span));
            }
        }
    } else if !json::add(spans, record, value) {
        spans.note("record", record.at());
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, sketch};

    #[test]
    fn under_a_session() {
        let read = read_text(
            r#"{"session_id":"s1","span_count":2,"spans":[
            {"trace_id":"a","span_id":"1","parent_span_id":null,"name":"execute_tool f","start_time":1767225602000000001,"end_time":1767225603000000001,"attributes":{"gen_ai.operation.name":"execute_tool"},"status":{"code":"OK"},"span_events":[]},
            {"trace_id":"b","span_id":"2","name":"execute_tool g","start_time":1767225604000000001,"end_time":1767225605000000001,"attributes":{"gen_ai.operation.name":"execute_tool"},"status":{"code":"ERROR"}},
            "not a span"]}"#,
        );
        assert_eq!((read.format, read.skipped, read.runs.len()), ("otel-list", 1, 1));
        assert_eq!(
            sketch(&read.runs[0]),
            "call f  -> succeeded(protocol): \ncall g  -> failed(protocol): \n"
        );
        assert_eq!(read.runs[0].id.as_ref().unwrap(), "s1");
    }

    #[test]
    fn cloudwatch_in_camel_case() {
        let read = read_text(
            r#"{"traceId":"a","spanId":"1","name":"chat m","kind":"CLIENT","startTimeUnixNano":1767225602000000001,"endTimeUnixNano":1767225603000000001,"attributes":{"gen_ai.operation.name":"chat"},"status":{"code":"UNSET"},"scope":{"name":"strands"}}
{"traceId":"a","spanId":"1","timeUnixNano":1767225603000000001,"scope":{"name":"strands"},"attributes":{"event.name":"strands"},"body":{"input":{"messages":[{"role":"user","content":{"content":"[{\"text\": \"hi\"}]"}}]},"output":{"messages":[{"role":"assistant","content":{"message":"[{\"text\": \"ho\"}]","finish_reason":"end_turn"}}]}}}
{"unrelated":true}
"#,
        );
        assert_eq!(read.format, "otel-list");
        assert_eq!(sketch(&read.runs[0]), "user: hi\n0 message: ho\nnote record\n");
    }
}
