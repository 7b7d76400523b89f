//! Spans in the output of the console exporters of the OpenTelemetry SDKs: consecutive
//! pretty-printed JSON objects, with `0x` IDs inside `context`. A span processor that is
//! installed twice prints every span twice.

use super::shared::spans::{Spans, json, span_reader};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
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

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if probe.any(is_printed) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        span_reader(&OtelConsole, add_record)
    }
}

fn add_record(spans: &mut Spans, record: &Record<'_>, _out: &mut Out) {
    let added = record.json().is_some_and(|v| json::add(spans, record, v));
    if !added {
        spans.note("record", record.at());
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, sketch};

    #[test]
    fn a_span_printed_twice_is_one() {
        let span = r#"{
    "name": "execute_tool f",
    "context": {
        "trace_id": "0x0a",
        "span_id": "0x01",
        "trace_state": "[]"
    },
    "kind": "SpanKind.INTERNAL",
    "parent_id": null,
    "start_time": "2026-03-01T20:47:18.711501Z",
    "end_time": "2026-03-01T20:47:18.711894Z",
    "status": {
        "status_code": "ERROR",
        "description": "boom"
    },
    "attributes": {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.arguments": "{}"
    },
    "events": [],
    "resource": {
        "attributes": {
            "service.name": "svc"
        }
    }
}
"#;
        let second = span.replace("0x01", "0x02").replace("ERROR", "UNSET").replace(" f\"", " g\"");
        let read = read_text(&format!("{span}{span}{second}{{\n  \"x\": 1\n}}\n"));
        assert_eq!((read.format, read.skipped), ("otel-console", 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "call f {} -> failed(protocol): boom\n\
             call g {} -> succeeded(protocol): boom\n\
             note record\n"
                .replace("succeeded(protocol): boom", "succeeded(protocol): ")
        );
        assert_eq!(run.agent.name.as_ref().unwrap(), "svc");
        assert_eq!(run.id.as_ref().unwrap(), "0a");
    }
}
