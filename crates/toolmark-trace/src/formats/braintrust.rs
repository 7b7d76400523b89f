//! Rows of Braintrust logs and experiments: one span each, with its type in
//! `span_attributes.type`, and times and tokens in `metrics`.

use super::shared::chat_message;
use super::shared::spans::{SpanList, SpanRole, TelemetrySpan};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Reader, Record};
use crate::model::{Cost, Fact, Fidelity, time};
use toolmark_scan::Value;

/// Rows of Braintrust.
pub(crate) struct Braintrust;

static INFO: FormatInfo = FormatInfo {
    id: "braintrust",
    title: "Braintrust spans",
    origin: "logs and experiments of Braintrust, fetched or exported as JSON lines",
    versions: "rows with span_id, root_span_id and span_attributes",
    looks_for: "rows with root_span_id and span_attributes",
    fidelity: Fidelity::lacking(&[Fact::CallIds, Fact::ExitCodes, Fact::WorkingDirectory]),
};

fn is_row(value: Value<'_>) -> bool {
    value.has("root_span_id") && value.has("span_id") && value.has("span_attributes")
}

/// Location of the spans in a record.
const SPANS: SpanList =
    SpanList { places: &[&["events"], &["data"], &["rows"]], is_span: is_row, read: read_span };

impl Format for Braintrust {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        if SPANS.is_in(probe) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        SPANS.reader(&Braintrust)
    }
}

fn read_span(record: &Record<'_>, row: Value<'_>) -> TelemetrySpan {
    let mut span = TelemetrySpan::new(record.at_value(row));
    let text = |key: &str| row.get(key).and_then(Value::str).map(String::from);
    span.id = text("span_id").unwrap_or_default();
    span.trace = text("root_span_id").unwrap_or_default();
    span.parent = row.items_at("span_parents").next().and_then(Value::str).map(String::from);
    let about = row.get("span_attributes");
    let name = about.and_then(|a| record.text_at(a, "name"));
    span.name = name.unwrap_or(span.name);
    let metric = |key: &str| row.at(&["metrics", key]);
    let created = || row.get("created").and_then(time::from_value);
    span.start = metric("start").and_then(time::from_value).or_else(created);
    span.end = metric("end").and_then(time::from_value).or(span.start);
    if let Some(error) = row.get("error").filter(|e| e.inner() != Some("")) {
        span.failed = true;
        span.known.error = Some(record.payload(error));
    }
    let facts = &mut span.known;
    facts.model = row.at(&["metadata", "model"]).and_then(|m| record.text(m));
    facts.cost = metric("estimated_cost").and_then(Value::as_f64).and_then(Cost::from_usd);
    let (input, output) = (row.get("input"), row.get("output"));
    facts.kind = Some(match about.map_or("", |a| a.word("type")) {
        "tool" => facts.of_call(record, &span.name, input, output),
        "llm" => {
            facts.usage = row.get("metrics").and_then(chat_message::usage);
            facts.of_response(input, output)
        }
        "task" | "eval" if span.parent.is_none() => SpanRole::Agent,
        _ => SpanRole::Part,
    });
    span
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn rows_of_a_log() {
        let read = read_fixture("braintrust.jsonl");
        assert_eq!((read.format, read.skipped, read.runs.len()), ("braintrust", 1, 1));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "user: weather?\n\
             0 call get_weather {\"city\":\"Oslo\"} -> failed(protocol): boom\n\
             1 message: sorry\n"
        );
        assert_eq!(run.usage.unwrap().total(), 8);
        assert_eq!(run.calls[0].duration.unwrap().as_millis(), 500);
    }
}
