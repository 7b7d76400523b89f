//! Traces as Grafana Tempo's API returns them: OTLP under the name `batches`,
//! or, since its second version, an OTLP document inside `trace`. Nanoseconds
//! may be numbers, in which a JavaScript client has lost the last digits.

use super::shared::spans::{Spans, otlp};
use crate::format::{Confidence, Format, FormatInfo, Out, Probe, Reader, Record};
use crate::model::{Fact, Fidelity};
use toolmark_scan::Value;

/// Traces of Grafana Tempo.
pub(crate) struct OtlpTempo;

static INFO: FormatInfo = FormatInfo {
    id: "otlp-tempo",
    title: "Grafana Tempo trace",
    origin: "Tempo's /api/traces/<id> and Grafana's trace download",
    versions: "API v1 (batches) and v2 (trace.resourceSpans)",
    looks_for: "batches with scopeSpans or instrumentationLibrarySpans in it",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::WorkingDirectory]),
};

fn resources(value: Value<'_>) -> Option<Value<'_>> {
    let trace = value.get("trace").filter(|t| t.is_object());
    value.get("batches").or_else(|| trace?.get("resourceSpans").or_else(|| trace?.get("batches")))
}

impl Format for OtlpTempo {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &Probe<'_>) -> Confidence {
        if probe.any(|r| resources(r).is_some_and(otlp::holds_spans)) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<TempoReader>::default()
    }
}

#[derive(Default)]
struct TempoReader {
    spans: Spans,
}

impl Reader for TempoReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        match record.json().and_then(resources) {
            Some(resources) => otlp::resource_spans(&mut self.spans, record, resources),
            None => out.skip(&record.at(), "not a Tempo trace: batches were expected"),
        }
    }

    fn finish(&mut self, out: &mut Out) {
        std::mem::take(&mut self.spans).finish(&OtlpTempo, out);
    }
}
