//! Traces of the TRAIL benchmark (Patronus): `spans[]` with `span_name`, `span_attributes` and
//! children nested in `child_spans`. Durations are ISO text, numbers in attributes are
//! strings, and the vocabulary is OpenInference.

use super::shared::spans::{Spans, json, span_reader};
use crate::format::{Confidence, Format, FormatInfo, FormatProbe, Out, Reader, Record};
use crate::model::{Fact, Fidelity};
use toolmark_scan::Value;

/// Traces of TRAIL.
pub(crate) struct Trail;

static INFO: FormatInfo = FormatInfo {
    id: "trail",
    title: "TRAIL / Patronus trace",
    origin: "the TRAIL benchmark and Patronus exports",
    versions: "2025",
    looks_for: "spans[] with span_name, span_attributes and child_spans",
    fidelity: Fidelity::lacking(&[Fact::CallIds, Fact::ExitCodes, Fact::WorkingDirectory]),
};

fn is_trail_span(span: Value<'_>) -> bool {
    span.get("span_name").is_some() && (span.has("child_spans") || span.has("span_attributes"))
}

impl Format for Trail {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn detect(&self, probe: &FormatProbe<'_>) -> Confidence {
        let inside = |r: Value<'_>| r.get("spans")?.items().next().map(is_trail_span);
        if probe.any(|r| is_trail_span(r) || inside(r) == Some(true)) { 100 } else { 0 }
    }

    fn reader(&self) -> Box<dyn Reader> {
        span_reader(&Trail, add_record)
    }
}

fn add_record(spans: &mut Spans, record: &Record<'_>, out: &mut Out) {
    let Some(value) = out.object(record, "a trace") else { return };
    let mut todo: Vec<Value<'_>> = match value.get("spans") {
        Some(spans) => spans.items().collect(),
        None => vec![value],
    };
    todo.reverse();
    while let Some(value) = todo.pop() {
        if !json::add(spans, record, value) {
            out.skip(&record.at_value(value), "not a span");
        }
        let children: Vec<_> = value.items_at("child_spans").collect();
        todo.extend(children.into_iter().rev());
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_fixture, sketch};

    #[test]
    fn children_inside_their_parents() {
        let read = read_fixture("trail.json");
        assert_eq!((read.format, read.skipped), ("trail", 1));
        let run = &read.runs[0];
        assert_eq!(
            sketch(run),
            "note main\n\
             0 message: hm\n\
             0 call visit {\"args\": [\"x\"], \"sanitize_inputs_outputs\": true, \"kwargs\": {}} -> failed(protocol): boom\n\
             0 call final_answer  -> succeeded(protocol): 4\n"
        );
        assert_eq!(run.usage.unwrap().recorded.input, 486);
        assert_eq!(run.calls[0].duration.unwrap().as_millis(), 2500);
    }
}
