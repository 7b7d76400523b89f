//! Containers that are lists of span objects.

use super::{Spans, TelemetrySpan};
use crate::format::{Format, FormatProbe, Out, Reader, Record};
use toolmark_scan::Value;

/// Location of the spans in a record, and the function that reads one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpanList {
    /// Paths at which a record may have a list of spans; otherwise, it is itself a span.
    pub(crate) places: &'static [&'static [&'static str]],
    /// Whether an object is a span of this kind.
    pub(crate) is_span: fn(Value<'_>) -> bool,
    /// Function that reads a span.
    pub(crate) read: fn(&Record<'_>, Value<'_>) -> TelemetrySpan,
}

impl SpanList {
    fn items<'a>(&self, record: Value<'a>) -> impl Iterator<Item = Value<'a>> + use<'a> {
        let inner = self.places.iter().find_map(|p| record.at(p).filter(|v| v.is_array()));
        let list = inner.or(Some(record).filter(|r| r.is_array()));
        let alone = list.is_none().then_some(record);
        list.into_iter().flat_map(Value::items).chain(alone)
    }

    /// Returns whether the first records of a file contain such a span.
    pub(crate) fn is_in(&self, probe: &FormatProbe<'_>) -> bool {
        probe.any(|record| self.items(record).any(self.is_span))
    }

    /// Creates a reader of files that hold such spans.
    pub(crate) fn reader(self, format: &'static dyn Format) -> Box<dyn Reader> {
        Box::new(ListReader { format, list: self, spans: Spans::default() })
    }
}

struct ListReader {
    format: &'static dyn Format,
    list: SpanList,
    spans: Spans,
}

impl Reader for ListReader {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = record.json().filter(|v| v.is_object() || v.is_array()) else {
            out.skip(&record.at(), "not a span: expected an object");
            return;
        };
        for item in self.list.items(value) {
            if (self.list.is_span)(item) {
                self.spans.add((self.list.read)(record, item));
            } else {
                out.skip(&record.at_value(item), "not a span");
            }
        }
    }

    fn finish(&mut self, out: &mut Out) {
        std::mem::take(&mut self.spans).finish(self.format, out);
    }
}
