//! Lists of spans as plain objects, without a container: what test fixtures,
//! notebooks and span stores keep (`trace_id`, `span_id`, `attributes` …), one
//! per line, in an array or under `spans`. CloudWatch exports (ADOT) look the
//! same in camel case, with log records between that join their span by id.

use super::shared::spans::{Spans, json};
use crate::format::{Confidence, Format, FormatInfo, Out, Probe, Reader, Record};
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

    fn detect(&self, probe: &Probe<'_>) -> Confidence {
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
        Box::<ListReader>::default()
    }
}

#[derive(Default)]
struct ListReader {
    spans: Spans,
}

impl Reader for ListReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = record.json().filter(|v| v.is_object() || v.is_array()) else {
            out.skip(&record.at(), "not a span: an object was expected");
            return;
        };
        if let Some(spans) = inner_spans(value) {
            self.spans.in_conversation(record.text_at(value, "session_id"));
            for span in spans.items() {
                if !json::add(&mut self.spans, record, span) {
                    out.skip(&record.at_value(span), "not a span");
                }
            }
        } else if value.is_array() {
            for span in value.items() {
                if !json::add(&mut self.spans, record, span) {
                    self.spans.note("record", record.at_value(span));
                }
            }
        } else if !json::add(&mut self.spans, record, value) {
            self.spans.note("record", record.at());
        }
    }

    fn finish(&mut self, out: &mut Out) {
        std::mem::take(&mut self.spans).finish(&OtelList, out);
    }
}
