//! The file exporter of GitHub Copilot (CLI, SDK, VS Code), and of other JavaScript SDKs: one
//! object per line with `type` span, metric or log, times as `[seconds, nanoseconds]`, and
//! attributes as a plain object. VS Code writes spans as `{}`: their content is lost.

use super::shared::spans::{Spans, json, span_reader};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
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
    value.field_is("type", "span") && json::is_span(value)
}

/// Returns whether the value is a metric of the GenAI conventions, which precede the first
/// span.
fn is_metric(value: Value<'_>) -> bool {
    value.field_is("type", "metric")
        && value.get("name").and_then(Value::inner).is_some_and(|n| n.starts_with("gen_ai."))
}

/// Returns whether the value is a log record in the format of the JavaScript SDK.
fn is_sdk_log(value: Value<'_>) -> bool {
    value.get("hrTime").is_some() && value.get("attributes").is_some_and(Value::is_object)
}

impl Format for OtelCopilot {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if probe.any(is_typed_span) {
            return 100;
        }
        if probe.any(|r| is_metric(r) || is_sdk_log(r)) { 70 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        span_reader(&OtelCopilot, add_record)
    }
}

fn add_record(spans: &mut Spans, record: &Record<'_>, _out: &mut Out) {
    let Some(value) = record.json() else { return };
    if json::add(spans, record, value) {
        return;
    }
    let kind = value.get("type").and_then(|t| record.text(t));
    let kind = kind.unwrap_or_else(|| {
        let is_lost = value.is_object() && value.fields().next().is_none();
        Text::owned(if is_lost { "span without content" } else { "record" })
    });
    spans.note(kind, record.at());
}

#[cfg(test)]
mod tests {
    use crate::model::Fact;
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn spans_between_metrics() {
        let read = read_fixture("otel-copilot.jsonl");
        assert_eq!((read.format, read.skipped), ("otel-copilot", 0));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: \n\
             skill: deploy\n\
             context: \n\
             0 call bash  -> failed(protocol): killed\n\
             note metric\n\
             note span without content\n"
        );
        assert_eq!(run.agent.name.as_ref().unwrap(), "github-copilot");
        assert!(run.usage.is_none());
        assert!(run.fidelity.lacks(Fact::Parallel) && run.fidelity.lacks(Fact::Arguments));
    }

    #[test]
    fn a_file_whose_spans_are_lost() {
        let read = read_text("{}\n{\"hrTime\":[1785778719,0],\"attributes\":{}}\n{}\n");
        assert_eq!((read.format, read.runs.len()), ("otel-copilot", 1));
        assert_eq!(read.runs[0].events.len(), 3);
    }
}
