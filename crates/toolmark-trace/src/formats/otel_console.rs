//! Spans as the console exporters of the OpenTelemetry SDKs print them: one
//! pretty JSON object after the other, ids with `0x` inside `context`. A span
//! processor that is installed twice prints every span twice.

use super::shared::spans::{Spans, json};
use crate::format::{Confidence, Format, FormatInfo, Out, Probe, Reader, Record};
use crate::model::{Fact, Fidelity};
use toolmark_scan::Value;

/// Spans printed by a console exporter.
pub(crate) struct OtelConsole;

static INFO: FormatInfo = FormatInfo {
    id: "otel-console",
    title: "OpenTelemetry console exporter",
    origin: "ConsoleSpanExporter, often sent to a file",
    versions: "the Python SDK's JSON",
    looks_for: "objects with context.trace_id that starts with 0x",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::WorkingDirectory]),
};

fn is_printed(value: Value<'_>) -> bool {
    let trace = value.at(&["context", "trace_id"]);
    trace.and_then(Value::inner).is_some_and(|id| id.starts_with("0x")) && json::is_span(value)
}

impl Format for OtelConsole {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &Probe<'_>) -> Confidence {
        if probe.any(is_printed) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<ConsoleReader>::default()
    }
}

#[derive(Default)]
struct ConsoleReader {
    spans: Spans,
}

impl Reader for ConsoleReader {
    fn record(&mut self, record: &Record<'_>, _out: &mut Out) {
        let added = record.json().is_some_and(|v| json::add(&mut self.spans, record, v));
        if !added {
            self.spans.note("record", record.at());
        }
    }

    fn finish(&mut self, out: &mut Out) {
        std::mem::take(&mut self.spans).finish(&OtelConsole, out);
    }
}
