//! Traces in the format of Grafana Tempo's API: OTLP under the name `batches`, or, since its
//! second version, an OTLP document inside `trace`. Nanoseconds may be numbers whose last
//! digits a JavaScript client has lost.

use super::shared::spans::{Spans, otlp, span_reader};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
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

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if probe.any(|r| resources(r).is_some_and(otlp::holds_spans)) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        span_reader(&OtlpTempo, add_record)
    }
}

fn add_record(spans: &mut Spans, record: &Record<'_>, out: &mut Out) {
    match record.json().and_then(resources) {
        Some(resources) => otlp::resource_spans(spans, record, resources),
        None => out.skip(&record.at(), "not a Tempo trace: expected batches"),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, sketch};

    #[test]
    fn both_versions_of_the_api() {
        let resources = r#"[{"resource":{},"instrumentationLibrarySpans":[{"instrumentationLibrary":{"name":"i"},"spans":[
            {"traceId":"0a","spanId":"01","name":"execute_tool f","kind":"SPAN_KIND_INTERNAL","startTimeUnixNano":1767225602000000100,"endTimeUnixNano":1767225603000000200,
             "attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.call.result","value":{"stringValue":"ok"}}],"status":{"code":0,"message":""}}]}]}]"#;
        for text in [
            format!(r#"{{"batches":{resources}}}"#),
            format!(r#"{{"trace":{{"resourceSpans":{resources}}}}}"#),
        ] {
            let read = read_text(&text);
            assert_eq!(read.format, "otlp-tempo");
            assert_eq!(sketch(&read.runs[0]), "call f  -> succeeded(protocol): ok\n");
            let call = &read.runs[0].calls[0];
            assert_eq!(call.duration.unwrap().as_nanos(), 1_000_000_100);
        }
    }

    #[test]
    fn a_record_of_another_kind_is_reported() {
        let read = read_text("{\"batches\":[{\"scopeSpans\":[]}]}\n{\"batches\":null}\n");
        assert_eq!((read.format, read.skipped, read.runs.len()), ("otlp-tempo", 1, 0));
    }
}
