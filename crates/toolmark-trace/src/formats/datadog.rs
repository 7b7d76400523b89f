//! Spans of Datadog LLM Observability: as sent by its SDK (`spans` with `meta` and
//! `metrics`), and as returned by its API (`span_kind`, `input` and `output` among the
//! attributes of a datum).

use super::shared::spans::{SpanRole, Spans, TelemetrySpan, span_reader};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{Convention, Fact, Fidelity, Usage, UsageTokens, time};
use jiff::SignedDuration;
use toolmark_scan::Value;

/// Spans of Datadog.
pub(crate) struct Datadog;

static INFO: FormatInfo = FormatInfo {
    id: "datadog",
    title: "Datadog LLM spans",
    origin: "span events of Datadog LLM Observability, sent by its SDK or fetched from its API",
    versions: "intake v1 and v2, export API",
    looks_for: "spans with meta.kind or meta.span.kind, or with span_kind, input and output",
    fidelity: Fidelity::lacking(&[Fact::CallIds, Fact::ExitCodes, Fact::WorkingDirectory]),
};

/// Returns the kind of a span, which intake stores in `meta`.
fn kind_of(span: Value<'_>) -> Option<Value<'_>> {
    let meta = span.get("meta").and_then(|m| m.get("kind").or_else(|| m.get("span.kind")));
    let fetched = || span.get("span_kind").filter(|_| span.has("input") || span.has("ml_app"));
    meta.or_else(fetched).filter(|kind| kind.is_string())
}

fn is_span(span: Value<'_>) -> bool {
    span.has("span_id") && span.has("trace_id") && !span.has("context") && kind_of(span).is_some()
}

/// Returns the spans of a record: the record itself, its spans, or those in its data.
fn spans_of(record: Value<'_>) -> Vec<Value<'_>> {
    let data = record.get("data");
    let data: Vec<_> = match data {
        Some(list) if list.is_array() => list.items().collect(),
        other => vec![other.unwrap_or(record)],
    };
    let mut found = Vec::new();
    for datum in data {
        let inner = datum.get("attributes").filter(|_| !is_span(datum)).unwrap_or(datum);
        match inner.get("spans").filter(|spans| spans.is_array()) {
            Some(spans) => found.extend(spans.items()),
            None => found.push(inner),
        }
    }
    found
}

impl Format for Datadog {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if probe.any(|r| spans_of(r).into_iter().any(is_span)) { 95 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        span_reader(&Datadog, add_record)
    }
}

fn add_record(spans: &mut Spans, record: &Record<'_>, out: &mut Out) {
    let Some(value) = out.object(record, "a span") else { return };
    for span in spans_of(value) {
        if is_span(span) {
            spans.add(read_span(record, span));
        } else {
            out.skip(&record.at_value(span), "not a span");
        }
    }
}

fn read_span(record: &Record<'_>, value: Value<'_>) -> TelemetrySpan {
    let mut span = TelemetrySpan::new(record.at_value(value));
    let text = |key: &str| value.get(key).and_then(|v| record.label(v)).map(|t| t.to_string());
    span.id = text("span_id").unwrap_or_default();
    span.trace = text("trace_id").unwrap_or_default();
    span.parent = text("parent_id").filter(|id| !matches!(id.as_str(), "" | "0" | "undefined"));
    span.name = record.text_at(value, "name").unwrap_or(span.name);
    let start = ["start_ns", "start_ms", "timestamp"].iter().find_map(|key| value.get(key));
    span.start = start.and_then(time::from_value);
    let took = value.get("duration").and_then(Value::as_f64);
    // Both sides count nanoseconds.
    let took = took.map(|nanos| SignedDuration::from_nanos(nanos as i64));
    span.end = span.start.zip(took).and_then(|(start, took)| start.checked_add(took).ok());
    let meta = value.get("meta").unwrap_or(value);
    let error = meta.get("error").filter(|e| e.is_object());
    span.failed = value.field_is("status", "error") || error.is_some_and(|e| e.has("message"));
    span.status_message = error.and_then(|e| record.text_at(e, "message"));
    let (input, output) = (meta.get("input"), meta.get("output"));
    let facts = &mut span.known;
    facts.conversation = record.text_at(value, "session_id").filter(|id| !id.is_empty());
    let model = meta.get("model_name").or_else(|| meta.at(&["metadata", "model_name"]));
    facts.model = model.and_then(|m| record.text(m));
    facts.kind = Some(match kind_of(value).and_then(Value::inner).unwrap_or("") {
        "tool" => {
            let [input, output] =
                [input, output].map(|io| io.map(|io| io.get("value").unwrap_or(io)));
            facts.of_call(record, &span.name, input, output)
        }
        kind @ ("llm" | "agent" | "workflow") => {
            let [input, output] = [input, output].map(|io| {
                io.map(|io| io.get("messages").or_else(|| io.get("value")).unwrap_or(io))
            });
            let response = facts.of_response(input, output);
            match kind {
                "llm" => {
                    facts.usage = value.get("metrics").and_then(usage);
                    response
                }
                "workflow" if span.parent.is_some() => SpanRole::Part,
                _ => {
                    facts.agent = Some(span.name.clone());
                    SpanRole::Agent
                }
            }
        }
        "task" | "embedding" | "retrieval" | "experiment" | "step" => SpanRole::Part,
        _ => SpanRole::Unknown,
    });
    span
}

fn usage(metrics: Value<'_>) -> Option<Usage> {
    let count = |key: &str| metrics.get(key).and_then(Value::as_u64);
    let recorded = UsageTokens {
        input: count("input_tokens")?,
        output: count("output_tokens").unwrap_or(0),
        cache_read: count("cache_read_input_tokens").unwrap_or(0),
        cache_write: count("cache_write_input_tokens").unwrap_or(0),
        cache_write_1h: 0,
        reasoning: count("reasoning_output_tokens").unwrap_or(0),
    };
    let stated_total = count("total_tokens");
    Some(Usage { recorded, stated_total, convention: Convention::INCLUSIVE })
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, read_text, sketch};

    #[test]
    fn spans_as_they_are_sent() {
        let read = read_fixture("datadog.json");
        assert_eq!((read.format, read.skipped, read.runs.len()), ("datadog", 1, 1));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: weather?\n\
             0 call get_weather {\"city\":\"Oslo\"} -> failed(protocol): boom\n\
             1 message: sorry\n"
        );
        assert_eq!(run.usage.unwrap().total(), 8);
        assert_eq!(run.calls[0].duration.unwrap().as_millis(), 1000);
    }

    #[test]
    fn spans_as_they_are_fetched() {
        let read = read_text(
            r#"{"data":[{"id":"x","type":"span","attributes":{"span_id":"1","trace_id":"2","parent_id":"undefined","name":"ls","span_kind":"tool","start_ns":1767225600000000000,"duration":5,"status":"ok","input":{"value":"{}"},"output":{"value":"a"}}}]}"#,
        );
        assert_eq!(read.format, "datadog");
        assert_eq!(sketch(&read.runs[0]), "call ls {} -> succeeded(protocol): a\n");
    }
}
