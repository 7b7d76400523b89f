//! Traces made of spans: one model for every container and every vocabulary.
//!
//! A container (OTLP, Jaeger, a console dump, Langfuse …) is read into [`TelemetrySpan`]s by its own
//! format. The agent-related data of a span is written in one of several attribute
//! vocabularies, often in two at once; each is a file in `dialects/` that fills the same
//! [`SpanFacts`]. From spans and facts, `assemble` builds trajectories: parents determine the
//! tree, and start times the order.

mod assemble;
mod attributes;
mod dialects;
mod facts;
mod flat;
pub(crate) mod json;
mod list;
pub(crate) mod messages;
pub(crate) mod otlp;
mod run;
mod seen;
mod smolagents;
pub(crate) mod telemetry;
#[cfg(test)]
mod tests;
mod tree;

pub(crate) use attributes::Attributes;
pub use dialects::CONVERSATION_ATTRIBUTES;
pub(crate) use facts::{MessageAuthor, MessagePart, SpanFacts, SpanMessage, SpanRole};
pub(crate) use list::SpanList;

use crate::format::{Format, Out, Reader, Record};
use crate::model::{At, Payload, Text};
use assemble::Assembly;
use base64::Engine;
use jiff::Timestamp;
use std::collections::HashMap;

/// A span, independent of its container.
#[derive(Debug)]
pub(crate) struct TelemetrySpan {
    /// ID of its trace, in lower-case hexadecimal if it is a number.
    pub(crate) trace: String,
    /// Span ID; empty if the source has none.
    pub(crate) id: String,
    /// ID of the parent, which need not be in the file.
    pub(crate) parent: Option<String>,
    /// Name.
    pub(crate) name: Text,
    /// Start time.
    pub(crate) start: Option<Timestamp>,
    /// End time; `None` while the span is open.
    pub(crate) end: Option<Timestamp>,
    /// Whether the span is marked as failed.
    pub(crate) failed: bool,
    /// Message of the status.
    pub(crate) status_message: Option<Text>,
    /// Attributes, without those of the resource.
    pub(crate) attributes: Attributes,
    /// Events of the span, including log records that refer to it.
    pub(crate) events: Vec<SpanEvent>,
    /// Instrumentation scope.
    pub(crate) scope: Option<Text>,
    /// Service name.
    pub(crate) service: Option<Text>,
    /// Data stated by the container itself, which takes precedence over attributes.
    pub(crate) known: SpanFacts,
    /// Source position.
    pub(crate) at: At,
}

impl TelemetrySpan {
    /// Creates a span of which only the position is known.
    pub(crate) fn new(at: At) -> Self {
        Self {
            trace: String::new(),
            id: String::new(),
            parent: None,
            name: Text::owned(""),
            start: None,
            end: None,
            failed: false,
            status_message: None,
            attributes: Attributes::default(),
            events: Vec::new(),
            scope: None,
            service: None,
            known: SpanFacts::default(),
            at,
        }
    }
}

/// An event during a span.
#[derive(Debug)]
pub(crate) struct SpanEvent {
    /// Name.
    pub(crate) name: Text,
    /// Time.
    pub(crate) time: Option<Timestamp>,
    /// Attributes.
    pub(crate) attributes: Attributes,
    /// Body, if the event is a log record.
    pub(crate) body: Option<Payload>,
}

/// The spans of one file, collected until its end: children come before their parents, and a
/// run may be spread over the whole file.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    spans: Vec<TelemetrySpan>,
    by_id: HashMap<(String, String), usize>,
    logs: Vec<SpanLog>,
    events: telemetry::SpanEvents,
    notes: Vec<(Text, At)>,
    name: Option<Text>,
    conversation: Option<Text>,
    every_response_counts: bool,
}

/// Creates a reader that collects the spans of every record with `add`.
pub(crate) fn span_reader(
    format: &'static dyn Format,
    add: fn(&mut Spans, &Record<'_>, &mut Out),
) -> Box<dyn Reader> {
    struct SpanReader {
        format: &'static dyn Format,
        add: fn(&mut Spans, &Record<'_>, &mut Out),
        spans: Spans,
    }

    impl Reader for SpanReader {
        fn record(&mut self, record: &Record<'_>, out: &mut Out) {
            (self.add)(&mut self.spans, record, out);
        }

        fn finish(&mut self, out: &mut Out) {
            std::mem::take(&mut self.spans).finish(self.format, out);
        }
    }

    Box::new(SpanReader { format, add, spans: Spans::default() })
}

/// A log record that belongs to a span.
#[derive(Debug)]
pub(crate) struct SpanLog {
    /// Trace ID of the span.
    pub(crate) trace: String,
    /// Span ID.
    pub(crate) span: String,
    /// Content of the log record.
    pub(crate) event: SpanEvent,
    /// Source position.
    pub(crate) at: At,
}

impl Spans {
    /// Creates a collection in which a response inside a response is separate, as in the source's
    /// counts, and not the same one recorded by a second instrumentation.
    pub(crate) fn counting_every_response() -> Self {
        Self { every_response_counts: true, ..Self::default() }
    }

    /// Adds a span. Exporters repeat spans: the first is kept, unless it was still open and this
    /// one is not.
    pub(crate) fn add(&mut self, span: TelemetrySpan) {
        if !span.id.is_empty() {
            let key = (span.trace.clone(), span.id.clone());
            if let Some(&known) = self.by_id.get(&key) {
                if self.spans[known].end.is_none() && span.end.is_some() {
                    self.spans[known] = span;
                }
                return;
            }
            self.by_id.insert(key, self.spans.len());
        }
        self.spans.push(span);
    }

    /// Adds a log record; it is joined to its span at the end of the file.
    pub(crate) fn log(&mut self, log: SpanLog) {
        self.logs.push(log);
    }

    /// Adds a log record: an event of a coding agent, which is ordered with the spans, or a record
    /// that is joined to its span. Returns false if it is neither.
    pub(crate) fn log_record(
        &mut self,
        log: SpanLog,
        scope: Option<&Text>,
        service: Option<&Text>,
    ) -> bool {
        let SpanLog { trace, span, event, at } = log;
        let Some(event) = self.events.add(event, scope, service, &at) else { return true };
        if span.is_empty() || event.body.is_none() {
            return false;
        }
        self.log(SpanLog { trace, span, event, at });
        true
    }

    /// Reclassifies Claude Code's tool executions without a tool span as other parts: their outcome
    /// is useless without the span that contains the tool's name.
    fn part_with_lone_executions(&self, facts: &mut [SpanFacts]) {
        for (span, facts) in self.spans.iter().zip(facts) {
            if span.name != "claude_code.tool.execution" {
                continue;
            }
            let above = span.parent.clone().map(|parent| (span.trace.clone(), parent));
            if !above.is_some_and(|above| self.by_id.contains_key(&above)) {
                facts.kind = Some(SpanRole::Part);
            }
        }
    }

    /// Keeps a record that contains nothing about the run.
    pub(crate) fn note(&mut self, kind: impl Into<Text>, at: At) {
        self.notes.push((kind.into(), at));
    }

    /// Sets the name of the run, if the container has one.
    pub(crate) fn name_run(&mut self, name: Option<Text>) {
        self.name = self.name.take().or(name);
    }

    /// Sets the conversation of all spans.
    pub(crate) fn in_conversation(&mut self, id: Option<Text>) {
        self.conversation = self.conversation.take().or(id);
    }

    /// Builds the trajectories.
    pub(crate) fn finish(mut self, format: &dyn Format, out: &mut Out) {
        self.join_logs();
        let mut facts: Vec<SpanFacts> = self.spans.iter_mut().map(dialects::facts).collect();
        self.part_with_lone_executions(&mut facts);
        std::mem::take(&mut self.events).join(&mut self.spans, &mut facts);
        if self.spans.is_empty() && self.notes.is_empty() {
            return;
        }
        if let Some(id) = &self.conversation {
            for fact in &mut facts {
                fact.conversation = Some(id.clone());
            }
        }
        let groups = tree::groups(&self.spans, &facts);
        let mut notes = std::mem::take(&mut self.notes);
        let mut spans: Vec<Option<(TelemetrySpan, SpanFacts)>> =
            self.spans.into_iter().zip(facts).map(Some).collect();
        for group in groups {
            let members: Vec<_> = group.iter().filter_map(|&i| spans.get_mut(i)?.take()).collect();
            report_foreign(&members, out);
            let assembly = Assembly::new(members, self.every_response_counts);
            let mut run = assembly.run(format, out, std::mem::take(&mut notes));
            run.name = self.name.clone().or(run.name);
            out.push(run);
        }
    }

    /// Joins log records to their spans; a record whose span is not in the file becomes a separate
    /// span.
    fn join_logs(&mut self) {
        for log in std::mem::take(&mut self.logs) {
            let known = self.by_id.get(&(log.trace.clone(), log.span.clone())).copied();
            if let Some(known) = known {
                self.spans[known].events.push(log.event);
                continue;
            }
            let mut span = TelemetrySpan::new(log.at);
            (span.trace, span.id) = (log.trace, log.span);
            span.name = log.event.name.clone();
            (span.start, span.end) = (log.event.time, log.event.time);
            span.events.push(log.event);
            self.add(span);
        }
    }
}

/// Reports spans that are in no known vocabulary, which must not be mistaken for a run without
/// actions.
fn report_foreign(members: &[(TelemetrySpan, SpanFacts)], out: &mut Out) {
    let is_known = |(_, facts): &(TelemetrySpan, SpanFacts)| facts.kind.is_some();
    let Some((first, _)) = members.first().filter(|_| !members.iter().any(is_known)) else {
        return;
    };
    let spans = if members.len() == 1 { "span" } else { "spans" };
    let message = format!(
        "not understood: {} {spans}, and none is a model response, a tool or an agent",
        members.len()
    );
    out.skip(&first.at, message);
}

/// Normalizes an ID: hexadecimal is unchanged, `0x` is removed, the base64 of protobuf's own
/// JSON is decoded, anything else is unchanged.
pub(crate) fn normal_id(raw: &str) -> String {
    let raw = raw.trim();
    if let Some(hex) = raw.strip_prefix("0x") {
        return hex.to_ascii_lowercase();
    }
    if raw.ends_with('=')
        && matches!(raw.len(), 12 | 24)
        && let Ok(bytes) = base64::engine::general_purpose::STANDARD.decode(raw)
    {
        return hex(&bytes);
    }
    if raw.bytes().all(|b| b.is_ascii_hexdigit()) {
        return raw.to_ascii_lowercase();
    }
    raw.to_owned()
}

/// Returns the ID of a parent: `None` if it is empty or all zeros.
pub(crate) fn parent_id(raw: &str) -> Option<String> {
    let id = normal_id(raw);
    (!id.bytes().all(|b| b == b'0')).then_some(id)
}

/// Formats bytes in lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod id_tests {
    use super::*;

    #[test]
    fn one_form_of_ids() {
        let want = "9be1bbbdd3211df5";
        let bytes: Vec<u8> = vec![0x9b, 0xe1, 0xbb, 0xbd, 0xd3, 0x21, 0x1d, 0xf5];
        let base64 = base64::engine::general_purpose::STANDARD.encode(&bytes);
        for raw in ["9be1bbbdd3211df5", "9BE1BBBDD3211DF5", "0x9be1bbbdd3211df5", base64.as_str()] {
            assert_eq!(normal_id(raw), want);
        }
        assert_eq!(normal_id("adot-Trace-1"), "adot-Trace-1");
        assert_eq!(parent_id("0000000000000000"), None);
        assert_eq!(parent_id(""), None);
        assert_eq!(hex(&bytes), want);
    }
}
