//! OTLP as JSON: `resourceSpans[].scopeSpans[].spans[]`.
//!
//! The collector's file exporter writes one request per line. Protobuf's own JSON writer uses
//! base64 IDs and enum names; older exporters use `instrumentationLibrarySpans`; some
//! libraries write snake case. Integers of 64 bits are strings. Log requests may be in
//! between: their records are joined to the spans they refer to, and the events of Claude Code
//! and Codex are read even without spans.

use super::shared::spans::{Spans, otlp, span_reader};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{Fact, Fidelity};
use toolmark_scan::Value;

/// OTLP as JSON.
pub(crate) struct OtlpJson;

static INFO: FormatInfo = FormatInfo {
    id: "otlp-json",
    title: "OpenTelemetry OTLP, JSON",
    origin: "the collector's file exporter, OTLP/HTTP JSON exporters, protobuf's JSON writer",
    versions: "OTLP 0.x and 1.x; GenAI, OpenInference, OpenLLMetry, traceAI and ADK attributes",
    looks_for: "resourceSpans with scopeSpans in it, or resourceLogs with events of Claude Code or Codex",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::WorkingDirectory]),
};

fn resources(value: Value<'_>) -> Option<Value<'_>> {
    value.get("resourceSpans").or_else(|| value.get("resource_spans"))
}

fn logs(value: Value<'_>) -> Option<Value<'_>> {
    value.get("resourceLogs").or_else(|| value.get("resource_logs"))
}

impl Format for OtlpJson {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if probe.any(|r| resources(r).is_some_and(otlp::holds_spans)) {
            100
        } else if probe.any(|r| resources(r).is_some_and(Value::is_array)) {
            60
        } else if probe.any(|r| logs(r).is_some_and(otlp::holds_agent_events)) {
            100
        } else if probe.any(|r| logs(r).or_else(|| r.get("resourceMetrics")).is_some()) {
            30
        } else {
            0
        }
    }

    fn reader(&self) -> Box<dyn Reader> {
        span_reader(&OtlpJson, add_record)
    }
}

fn add_record(spans: &mut Spans, record: &Record<'_>, out: &mut Out) {
    let Some(value) = out.object(record, "an OTLP request") else { return };
    if let Some(resources) = resources(value) {
        otlp::resource_spans(spans, record, resources);
    } else if let Some(resources) = logs(value) {
        otlp::resource_logs(spans, record, resources);
    } else if value.get("resourceMetrics").or(value.get("resource_metrics")).is_some() {
        spans.note("metrics", record.at());
    } else {
        spans.note("record without spans", record.at());
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, sketch};

    const TOLD: &str = "0 call f {\"a\":1} -> failed(protocol): boom\n\
                        0 call g  -> succeeded(protocol): [1,2.5]\n";

    fn document(
        trace: &str,
        ids: [&str; 4],
        scopes: &str,
        error: &str,
        spans_only: bool,
    ) -> String {
        let [agent, chat, one, two] = ids;
        let tool = |id: &str, name: &str, more: &str| {
            format!(
                r#"{{"traceId":"{trace}","spanId":"{id}","parentSpanId":"{agent}","name":"execute_tool {name}","startTimeUnixNano":"1767225602000000001","endTimeUnixNano":"1767225603000000001",{more}}}"#
            )
        };
        let attribute = |key: &str, value: &str| format!(r#"{{"key":"{key}","value":{value}}}"#);
        let text =
            |key: &str, value: &str| attribute(key, &format!(r#"{{"stringValue":{value}}}"#));
        let operation = |name: &str| text("gen_ai.operation.name", &format!("\"{name}\""));
        let spans = [
            tool(
                one,
                "f",
                &format!(
                    r#""attributes":[{},{},{}],"status":{{"code":{error},"message":"boom"}}"#,
                    operation("execute_tool"),
                    text("gen_ai.tool.call.id", "\"c1\""),
                    text("gen_ai.tool.call.arguments", r#""{\"a\":1}""#)
                ),
            ),
            tool(
                two,
                "g",
                &format!(
                    r#""attributes":[{},{}],"status":{{}}"#,
                    operation("execute_tool"),
                    attribute(
                        "gen_ai.tool.call.result",
                        r#"{"arrayValue":{"values":[{"intValue":"1"},{"doubleValue":2.5}]}}"#
                    )
                ),
            ),
            format!(
                r#"{{"traceId":"{trace}","spanId":"{chat}","parentSpanId":"{agent}","name":"chat","startTimeUnixNano":"1767225601000000001","endTimeUnixNano":"1767225602000000001","attributes":[{},{}]}}"#,
                operation("chat"),
                attribute("gen_ai.usage.input_tokens", r#"{"intValue":"12"}"#)
            ),
            format!(
                r#"{{"traceId":"{trace}","spanId":"{agent}","parentSpanId":"","name":"invoke_agent","startTimeUnixNano":"1767225600000000001","endTimeUnixNano":"1767225609000000001","attributes":[{}]}}"#,
                operation("invoke_agent")
            ),
        ];
        if spans_only {
            return spans.join(",");
        }
        format!(
            r#"{{"resourceSpans":[{{"resource":{{"attributes":[{}]}},"{scopes}":[{{"scope":{{"name":"s"}},"spans":[{}]}}]}}]}}"#,
            text("service.name", "\"svc\""),
            spans.join(",")
        )
    }

    const HEX: (&str, [&str; 4]) = (
        "000102030405060708090a0b0c0d0e0f",
        ["0000000000000001", "0000000000000002", "0000000000000003", "0000000000000004"],
    );
    const BASE64: (&str, [&str; 4]) = (
        "AAECAwQFBgcICQoLDA0ODw==",
        ["AAAAAAAAAAE=", "AAAAAAAAAAI=", "AAAAAAAAAAM=", "AAAAAAAAAAQ="],
    );

    #[test]
    fn spellings() {
        let hex = document(HEX.0, HEX.1, "scopeSpans", "2", false);
        let spans = document(HEX.0, HEX.1, "", "2", true);
        let lines: Vec<String> = spans
            .split("},{\"traceId\"")
            .enumerate()
            .map(|(n, span)| {
                let start = if n > 0 { "{\"traceId\"" } else { "" };
                let end = if n < 3 { "}" } else { "" };
                format!(r#"{{"resourceSpans":[{{"resource":{{"attributes":[{{"key":"service.name","value":{{"stringValue":"svc"}}}}]}},"scopeSpans":[{{"spans":[{start}{span}{end}]}}]}}]}}"#)
            })
            .collect();
        let snake = hex
            .replace("resourceSpans", "resource_spans")
            .replace("scopeSpans", "scope_spans")
            .replace("traceId", "trace_id")
            .replace("spanId", "span_id")
            .replace("parentSpanId", "parent_span_id")
            .replace("TimeUnixNano", "_time_unix_nano")
            .replace("stringValue", "string_value")
            .replace("arrayValue", "array_value")
            .replace("intValue", "int_value");
        for text in [
            document(BASE64.0, BASE64.1, "scopeSpans", "\"STATUS_CODE_ERROR\"", false),
            document(HEX.0, HEX.1, "instrumentationLibrarySpans", "2", false),
            lines.join("\n"),
            snake,
            hex,
        ] {
            let read = read_text(&text);
            assert_eq!(read.format, "otlp-json");
            assert_eq!((read.runs.len(), read.skipped), (1, 0));
            let run = &read.runs[0];
            assert_eq!(sketch(run), TOLD, "{text}");
            assert_eq!(run.id.as_ref().unwrap(), HEX.0);
            assert_eq!(run.agent.name.as_ref().unwrap(), "svc");
            assert_eq!(run.usage.unwrap().recorded.input, 12);
            assert_eq!(run.calls[0].started.unwrap().subsec_nanosecond(), 1);
        }
    }

    #[test]
    fn wrong_types_and_other_signals() {
        let read = read_text(
            r#"{"resourceSpans":[{"scopeSpans":[{"spans":[7,{"traceId":3,"spanId":[],"name":{},"attributes":{"a":1},"status":"?"},{"traceId":"t","spanId":"x","name":"execute_tool f","startTimeUnixNano":"1767225600000000000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":1},{}]}]}]},4]}
{"resourceMetrics":[]}
{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"1767225600000000000","body":{"stringValue":"hello"},"traceId":"t","spanId":"x"},{"body":{"stringValue":"alone"}}]}]}]}
[]
{"surprise":1}
"#,
        );
        assert_eq!((read.runs.len(), read.skipped), (1, 1));
        let sketched = sketch(&read.runs[0]);
        assert!(sketched.contains("call f  -> unanswered(absent): \n"), "{sketched}");
        for note in ["span of a wrong type", "metrics", "log", "record without spans"] {
            assert!(sketched.contains(&format!("note {note}\n")), "{sketched}");
        }
    }
}
