//! Spans of OpenTelemetry's JavaScript SDK, whose objects were serialized as JSON: IDs in
//! `spanContext`, the parent in `parentSpanContext` or `parentSpanId`, times as seconds and
//! nanoseconds.

use super::shared::spans::{SpanList, TelemetrySpan, json, normal_id, parent_id};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{Fact, Fidelity};
use toolmark_scan::Value;

/// Spans of the JavaScript SDK.
pub(crate) struct OtelJs;

static INFO: FormatInfo = FormatInfo {
    id: "otel-js",
    title: "OpenTelemetry spans of JavaScript",
    origin: "in-memory exporters of OpenTelemetry JS, written as JSON",
    versions: "SDK 1 and 2",
    looks_for: "spans with spanContext and startTime",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::WorkingDirectory]),
};

const CONTEXTS: [&str; 2] = ["spanContext", "_spanContext"];

fn context_of(span: Value<'_>) -> Option<Value<'_>> {
    CONTEXTS.iter().find_map(|key| span.get(key)).filter(|c| c.has("spanId"))
}

fn is_span(span: Value<'_>) -> bool {
    context_of(span).is_some() && span.has("name") && span.has("startTime")
}

/// Location of the spans in a record.
const SPANS: SpanList = SpanList { places: &[&["spans"]], is_span, read: read_span };

impl Format for OtelJs {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if SPANS.is_in(probe) { 95 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        SPANS.reader(&OtelJs)
    }
}

fn read_span(record: &Record<'_>, value: Value<'_>) -> TelemetrySpan {
    let mut span = json::span(record, value);
    let context = context_of(value);
    let id = |key: &str| context.and_then(|c| c.get_str(key)).map(|id| normal_id(&id));
    (span.trace, span.id) = (id("traceId").unwrap_or_default(), id("spanId").unwrap_or_default());
    if let Some(parent) = value.at(&["parentSpanContext", "spanId"]).and_then(Value::str) {
        span.parent = parent_id(&parent);
    }
    span
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn spans_of_both_sdks() {
        let read = read_fixture("otel-js.json");
        assert_eq!((read.format, read.skipped, read.runs.len()), ("otel-js", 1, 1));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "0 call getWeather {\"city\":\"Oslo\"} -> failed(protocol): boom\n"
                .replace("0 call", "call")
        );
        assert_eq!(run.calls[0].duration.unwrap().as_millis(), 500);
    }
}
