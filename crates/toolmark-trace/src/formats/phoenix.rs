//! Spans of Arize Phoenix: OpenInference attributes with the kind of the span in a separate
//! field, as objects (`context`, `span_kind`, `attributes`) or with the columns of a data
//! frame (`context.span_id`, `attributes.input.value`). Attributes may be flat, nested, or
//! JSON in a text.

use super::shared::spans::{Attributes, SpanList, TelemetrySpan, json, normal_id};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{Fact, Fidelity, Payload, Text};
use toolmark_scan::{Scanner, Value};

/// Spans of Phoenix.
pub(crate) struct Phoenix;

static INFO: FormatInfo = FormatInfo {
    id: "phoenix",
    title: "Arize Phoenix spans",
    origin: "phoenix.Client spans and data frames as JSON or JSON lines",
    versions: "span objects and data frames, nested and flat attributes",
    looks_for: "spans with span_kind and context, or with columns context.span_id and attributes.*",
    fidelity: Fidelity::lacking(&[Fact::ExitCodes, Fact::WorkingDirectory]),
};

const KIND: &str = "openinference.span.kind";

/// Returns the kind of a span, under any of its field names.
fn kind_of(span: Value<'_>) -> Option<Value<'_>> {
    let kind = span.get("span_kind").or_else(|| span.get("spanKind"));
    let kind = kind.or_else(|| span.get("attributes.openinference.span.kind"));
    kind.filter(|kind| kind.is_string())
}

fn is_span(span: Value<'_>) -> bool {
    let has_id = span.has("context.span_id")
        || span.get("context").is_some_and(|c| c.has("span_id") || c.has("spanId"));
    let has_attributes = || {
        span.has("attributes") || span.fields().any(|(k, _)| k.raw().starts_with("\"attributes."))
    };
    has_id && kind_of(span).is_some() && has_attributes()
}

/// Location of the spans in a record.
const SPANS: SpanList = SpanList { places: &[&["spans"], &["data"]], is_span, read: read_span };

impl Format for Phoenix {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if SPANS.is_in(probe) { 95 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        SPANS.reader(&Phoenix)
    }
}

fn read_span(record: &Record<'_>, value: Value<'_>) -> TelemetrySpan {
    let mut span = json::span(record, value);
    let id = |keys: &[&str]| value.at(keys).and_then(Value::str).map(|id| normal_id(&id));
    let trace = id(&["context.trace_id"]).or_else(|| id(&["context", "traceId"]));
    span.trace = trace.unwrap_or(span.trace);
    let own = id(&["context.span_id"]).or_else(|| id(&["context", "spanId"]));
    span.id = own.unwrap_or(span.id);
    let mut attributes = std::mem::take(&mut span.attributes);
    if let Some(text) = value.get("attributes").and_then(Value::str) {
        let mut scanner = Scanner::new();
        if let Ok(doc) = scanner.parse(&text) {
            let copy = |value: Value<'_>| match value.str() {
                Some(text) => Payload::text(Text::owned(text)),
                None => Payload::json(Text::owned(value.raw())),
            };
            flatten(&mut attributes, doc.root(), copy);
        }
    } else if let Some(nested) = value.get("attributes") {
        flatten(&mut attributes, nested, |value| record.payload(value));
    }
    for (key, value) in value.fields().filter(|(_, value)| !value.is_null()) {
        if let Some(name) = key.str().as_deref().and_then(|k| k.strip_prefix("attributes.")) {
            attributes.insert(name, record.payload(value));
            flatten_below(&mut attributes, name, value, &|value| record.payload(value));
        }
    }
    if let (Some(kind), false) = (kind_of(value).and_then(Value::str), attributes.has(KIND)) {
        attributes.insert(KIND, Payload::text(Text::owned(kind.to_ascii_uppercase())));
    }
    span.attributes = attributes;
    span
}

fn flatten<'a>(to: &mut Attributes, nested: Value<'a>, payload: impl Fn(Value<'a>) -> Payload) {
    for (key, value) in nested.fields().filter(|(_, value)| !value.is_null()) {
        let Some(key) = key.str() else { continue };
        if !to.has(&key) {
            to.insert(key.clone(), payload(value));
        }
        flatten_below(to, &key, value, &payload);
    }
}

/// Adds the content of a value under its path: `{"input":{"value":…}}` becomes `input.value`.
/// The content of a text or of a list of scalars stays one attribute.
fn flatten_below<'a>(
    to: &mut Attributes,
    name: &str,
    value: Value<'a>,
    payload: &impl Fn(Value<'a>) -> Payload,
) {
    const MAX_ATTRIBUTES: usize = 100_000;
    let mut todo = vec![(name.to_owned(), value)];
    let mut count = 0;
    while let Some((name, value)) = todo.pop() {
        let numbered = value.items().enumerate().map(|(n, item)| (format!("{name}.{n}"), item));
        let named = value.fields().filter_map(|(k, v)| Some((format!("{name}.{}", k.str()?), v)));
        for (name, inner) in numbered.chain(named).filter(|(_, inner)| !inner.is_null()) {
            count += 1;
            if count > MAX_ATTRIBUTES {
                return;
            }
            if inner.is_object() || inner.is_array() {
                todo.push((name, inner));
            } else if !to.has(&name) {
                to.insert(name, payload(inner));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    const TOOL: &str = "0 call get_weather {\"city\":\"Oslo\"} -> failed(protocol): boom\n";

    #[test]
    fn span_objects() {
        let read = read_fixture("phoenix.json");
        assert_eq!((read.format, read.skipped, read.runs.len()), ("phoenix", 1, 1));
        let run = &read.runs[0];
        assert_eq!(sketch(run), format!("user: hi\n{TOOL}1 message: sorry\n"));
        assert_eq!(run.usage.unwrap().total(), 12);
        assert_eq!(run.agent.model.as_ref().unwrap(), "gpt");
    }

    #[test]
    fn columns_of_a_data_frame() {
        let read = read_text(
            r#"{"name":"weather","span_kind":"TOOL","parent_id":null,"start_time":"2026-07-09T00:00:01+00:00","end_time":"2026-07-09T00:00:02+00:00","status_code":"ERROR","context.span_id":"b","context.trace_id":"t","attributes.tool.name":"get_weather","attributes.input.value":"{\"city\":\"Oslo\"}","attributes.output.value":"boom","attributes.llm.model_name":null}
{"name":"ls","parent_id":null,"start_time":"2026-07-09T00:00:03Z","end_time":"2026-07-09T00:00:04Z","status_code":"OK","context.span_id":"c","context.trace_id":"t","attributes.openinference.span.kind":"TOOL","attributes.input":{"value":"x"}}"#,
        );
        assert_eq!(read.format, "phoenix");
        assert_eq!(
            sketch(&read.runs[0]),
            "call get_weather {\"city\":\"Oslo\"} -> failed(protocol): boom\ncall ls x -> succeeded(protocol): \n"
        );
    }

    #[test]
    fn attributes_in_a_text() {
        let read = read_text(
            r#"[{"name":"x","context":{"spanId":"1","traceId":"2"},"spanKind":"tool","startTime":"2026-01-01T00:00:00Z","endTime":"2026-01-01T00:00:01Z","attributes":"{\"tool\":{\"name\":\"ls\"},\"openinference\":{\"span\":{\"kind\":\"TOOL\"}}}"}]"#,
        );
        assert_eq!(read.format, "phoenix");
        assert_eq!(sketch(&read.runs[0]), "call ls  -> succeeded(protocol): \n");
    }
}
