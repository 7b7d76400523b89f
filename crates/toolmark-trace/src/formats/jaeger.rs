//! Traces in the format of Jaeger's UI and API: `data[].spans[]` with `operationName`, times
//! in microseconds, attributes as `tags`, and events as `logs`. The status and the
//! instrumentation are among the tags.

use super::shared::spans::{Spans, json, span_reader};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{Fact, Fidelity};
use toolmark_scan::Value;

/// Traces of Jaeger.
pub(crate) struct Jaeger;

static INFO: FormatInfo = FormatInfo {
    id: "jaeger",
    title: "Jaeger trace",
    origin: "the JSON download of Jaeger's UI, /api/traces/<id>",
    versions: "1.x and 2.x",
    looks_for: "data[].spans[] with operationName",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::WorkingDirectory]),
};

/// Returns the traces of a document: a list under `data`, or a single trace.
fn traces(value: Value<'_>) -> Vec<Value<'_>> {
    match value.get("data") {
        Some(data) if data.is_array() => data.items().collect(),
        Some(data) => vec![data],
        None => vec![value],
    }
}

fn is_trace(trace: Value<'_>) -> bool {
    let spans = trace.get("spans");
    spans.into_iter().flat_map(Value::items).any(|span| span.get("operationName").is_some())
}

impl Format for Jaeger {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if probe.any(|r| traces(r).into_iter().any(is_trace)) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        span_reader(&Jaeger, add_record)
    }
}

fn add_record(spans: &mut Spans, record: &Record<'_>, out: &mut Out) {
    let Some(value) = out.object(record, "a Jaeger trace") else { return };
    for trace in traces(value) {
        let processes = trace.get("processes");
        for value in trace.items_at("spans") {
            if !json::is_span(value) {
                out.skip(&record.at_value(value), "not a span");
                continue;
            }
            let mut span = json::span(record, value);
            let process = value.get_str("processID");
            let process = process.and_then(|id| processes?.get(&id));
            span.service = process.and_then(|p| record.text_at(p, "serviceName"));
            spans.add(span);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn tags_carry_the_status() {
        let read = read_fixture("jaeger.json");
        assert_eq!((read.format, read.skipped), ("jaeger", 1));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "call f  -> failed(protocol): boom\ncall g  -> succeeded(protocol): \nnote GET\n"
        );
        assert_eq!(run.agent.name.as_ref().unwrap(), "svc");
        assert_eq!(run.calls[0].duration.unwrap().as_micros(), 1500);
        assert_eq!(run.calls[0].started.unwrap().subsec_microsecond(), 1);
    }
}
