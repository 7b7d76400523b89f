//! OTLP as JSON: `resourceSpans[].scopeSpans[].spans[]`.
//!
//! The collector's file exporter writes one request per line. Protobuf's own
//! JSON writer spells ids in base64 and enums by name; older exporters say
//! `instrumentationLibrarySpans`; some libraries write snake case. Integers of
//! 64 bits are strings. Log requests may stand between: their records join the
//! spans they name.

use super::shared::spans::{Spans, otlp};
use crate::format::{Confidence, Format, FormatInfo, Out, Probe, Reader, Record};
use crate::model::{Fact, Fidelity};
use toolmark_scan::Value;

/// OTLP as JSON.
pub(crate) struct OtlpJson;

static INFO: FormatInfo = FormatInfo {
    id: "otlp-json",
    title: "OpenTelemetry OTLP, JSON",
    origin: "the collector's file exporter, OTLP/HTTP JSON exporters, protobuf's JSON writer",
    versions: "OTLP 0.x and 1.x; GenAI, OpenInference, OpenLLMetry, traceAI and ADK attributes",
    looks_for: "resourceSpans with scopeSpans in it",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::WorkingDirectory]),
};

fn resources(value: Value<'_>) -> Option<Value<'_>> {
    value.get("resourceSpans").or_else(|| value.get("resource_spans"))
}

impl Format for OtlpJson {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &Probe<'_>) -> Confidence {
        if probe.any(|r| resources(r).is_some_and(otlp::holds_spans)) {
            100
        } else if probe.any(|r| resources(r).is_some_and(Value::is_array)) {
            60
        } else if probe
            .any(|r| r.get("resourceLogs").or_else(|| r.get("resourceMetrics")).is_some())
        {
            30
        } else {
            0
        }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<OtlpReader>::default()
    }
}

#[derive(Default)]
struct OtlpReader {
    spans: Spans,
}

impl Reader for OtlpReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = record.json().filter(|v| v.is_object()) else {
            out.skip(&record.at(), "not an OTLP request: an object was expected");
            return;
        };
        if let Some(resources) = resources(value) {
            otlp::resource_spans(&mut self.spans, record, resources);
        } else if let Some(resources) = value.get("resourceLogs").or(value.get("resource_logs")) {
            otlp::resource_logs(&mut self.spans, record, resources);
        } else if value.get("resourceMetrics").or(value.get("resource_metrics")).is_some() {
            self.spans.note("metrics", record.at());
        } else {
            self.spans.note("record without spans", record.at());
        }
    }

    fn finish(&mut self, out: &mut Out) {
        std::mem::take(&mut self.spans).finish(&OtlpJson, out);
    }
}
