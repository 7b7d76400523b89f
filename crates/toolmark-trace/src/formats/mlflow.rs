//! Traces of MLflow: `info` and `data.spans`. The details of a span are in its attributes
//! (`mlflow.spanType`, `mlflow.spanInputs` …), each a JSON text.

use super::shared::chat_message;
use super::shared::spans::{
    Attributes, MessageAuthor, SpanList, SpanRole, TelemetrySpan, json, messages,
};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{Fact, Fidelity, Payload, Text};
use toolmark_scan::{Scanner, Value};

/// Traces of MLflow.
pub(crate) struct Mlflow;

static INFO: FormatInfo = FormatInfo {
    id: "mlflow",
    title: "MLflow trace",
    origin: "traces that MLflow exports (Trace.to_json, search_traces, the artifact traces.json)",
    versions: "2.14 to 3.x",
    looks_for: "data.spans or spans whose attributes have mlflow.spanType",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::WorkingDirectory]),
};

fn is_span(span: Value<'_>) -> bool {
    let attributes = span.get("attributes").into_iter().flat_map(Value::fields);
    attributes.map(|(key, _)| key).any(|key| key.raw().starts_with("\"mlflow."))
}

/// Location of the spans in a record.
const SPANS: SpanList = SpanList {
    places: &[
        &["data", "spans"],
        &["trace", "data", "spans"],
        &["trace_data", "spans"],
        &["spans"],
    ],
    is_span,
    read: read_span,
};

impl Format for Mlflow {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if SPANS.is_in(probe) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        SPANS.reader(&Mlflow)
    }
}

fn read_span(record: &Record<'_>, value: Value<'_>) -> TelemetrySpan {
    let mut span = json::span(record, value);
    let mut plain = Attributes::default();
    for (key, value) in value.get("attributes").into_iter().flat_map(Value::fields) {
        if let Some(key) = key.str() {
            plain.insert(key, decoded(record, value));
        }
    }
    let a = &plain;
    let facts = &mut span.known;
    let (input, output) = ("mlflow.spanInputs", "mlflow.spanOutputs");
    facts.kind = Some(match a.str("mlflow.spanType").as_deref() {
        Some("TOOL") => {
            facts.tool = a.text(&["mlflow.spanFunctionName"]).or(Some(span.name.clone()));
            facts.args = a.payload(&[input]);
            facts.result = a.payload(&[output]);
            SpanRole::Tool
        }
        Some(kind @ ("LLM" | "CHAT_MODEL" | "AGENT")) => {
            let list =
                |key: &str, role| a.json(key, |v| messages::all(v, role)).unwrap_or_default();
            facts.input = list(input, MessageAuthor::User);
            facts.output = list(output, MessageAuthor::Assistant);
            facts.usage = a.json("mlflow.chat.tokenUsage", chat_message::usage).flatten();
            facts.model = a.text(&["mlflow.llm.model"]);
            let tools = a.json("mlflow.chat.tools", messages::definitions);
            facts.tools = tools.unwrap_or_default();
            if kind == "AGENT" { SpanRole::Agent } else { SpanRole::Llm }
        }
        _ => SpanRole::Part,
    });
    if facts.kind == Some(SpanRole::Agent) {
        facts.agent = Some(span.name.clone());
    }
    let session = a.text(&["mlflow.trace.session"]);
    facts.conversation = session;
    span
}

/// Decodes a JSON text in an attribute if it is a string; any other value is kept unchanged.
fn decoded(record: &Record<'_>, value: Value<'_>) -> Payload {
    let text = value.str().unwrap_or_default();
    let mut scanner = Scanner::new();
    let inner =
        Some(text.as_ref()).filter(|t| t.starts_with('"')).and_then(|t| scanner.parse(t).ok());
    match inner.and_then(|doc| doc.root().str()) {
        Some(inner) => Payload::text(Text::owned(inner)),
        None => record.payload(value),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn a_trace() {
        let read = read_fixture("mlflow.json");
        assert_eq!((read.format, read.skipped, read.runs.len()), ("mlflow", 1, 1));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: weather?\n\
             0 call get_weather {\"city\": \"Oslo\"} -> failed(protocol): rain\n\
             1 message: sorry\n"
        );
        assert_eq!(run.usage.unwrap().total(), 8);
    }
}
