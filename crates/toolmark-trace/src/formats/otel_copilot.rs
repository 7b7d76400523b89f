//! The file exporter of GitHub Copilot (CLI, SDK, VS Code), and of other
//! JavaScript SDKs: one object per line, `type` span, metric or log, times as
//! `[seconds, nanoseconds]`, attributes as a plain object. VS Code writes
//! spans as `{}`: their content is lost.

use super::shared::spans::{Spans, json};
use crate::format::{Confidence, Format, FormatInfo, Out, Probe, Reader, Record};
use crate::model::{Fact, Fidelity, Text};
use toolmark_scan::Value;

/// Span lines of GitHub Copilot.
pub(crate) struct OtelCopilot;

static INFO: FormatInfo = FormatInfo {
    id: "otel-copilot",
    title: "GitHub Copilot OpenTelemetry lines",
    origin: "COPILOT_OTEL_FILE_EXPORTER_PATH and the VS Code setting for OTel files",
    versions: "Copilot CLI 1.0, VS Code 1.10x",
    looks_for: "lines of type span with traceId, spanId and attributes",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::WorkingDirectory]),
};

fn is_typed_span(value: Value<'_>) -> bool {
    value.get("type").is_some_and(|t| t.is("span")) && json::is_span(value)
}

/// Metrics of the GenAI conventions, which stand before the first span.
fn is_metric(value: Value<'_>) -> bool {
    value.get("type").is_some_and(|t| t.is("metric"))
        && value.get("name").and_then(Value::inner).is_some_and(|n| n.starts_with("gen_ai."))
}

/// A log record as the JavaScript SDK holds it.
fn is_sdk_log(value: Value<'_>) -> bool {
    value.get("hrTime").is_some() && value.get("attributes").is_some_and(Value::is_object)
}

impl Format for OtelCopilot {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &Probe<'_>) -> Confidence {
        if probe.any(is_typed_span) {
            return 100;
        }
        if probe.any(|r| is_metric(r) || is_sdk_log(r)) { 70 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<CopilotReader>::default()
    }
}

#[derive(Default)]
struct CopilotReader {
    spans: Spans,
}

impl Reader for CopilotReader {
    fn record(&mut self, record: &Record<'_>, _out: &mut Out) {
        let Some(value) = record.json() else { return };
        if json::add(&mut self.spans, record, value) {
            return;
        }
        let kind = value.get("type").and_then(|t| record.text(t));
        let kind = kind.unwrap_or_else(|| {
            let is_lost = value.is_object() && value.fields().next().is_none();
            Text::owned(if is_lost { "span without content" } else { "record" })
        });
        self.spans.note(kind, record.at());
    }

    fn finish(&mut self, out: &mut Out) {
        std::mem::take(&mut self.spans).finish(&OtelCopilot, out);
    }
}
