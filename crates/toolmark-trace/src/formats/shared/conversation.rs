//! Locates conversations in the files of chat clients.
//!
//! A file may be one list of messages, one message per line, a document or many documents with
//! `messages` (a line each, or stored requests with their responses). The dialects differ in
//! the format of a message, not in this.

use super::tool_definitions;
use crate::builder::TrajectoryBuilder;
use crate::format::{Format, FormatProbe, Out, Reader, Record};
use crate::model::{Cost, time};
use jiff::Timestamp;
use std::hash::{DefaultHasher, Hash, Hasher};
use toolmark_scan::Value;

/// Message format of one family of clients. A value exists for one conversation and may keep
/// state between its messages.
pub(crate) trait MessageDialect: Default + Send + 'static {
    /// Format of the conversations.
    const FORMAT: &'static dyn Format;

    /// Returns the list of messages of a document.
    fn list(document: Value<'_>) -> Option<Value<'_>> {
        messages(document)
    }

    /// Reads the part of a document before its messages (a separate system prompt).
    fn before(&mut self, _b: &mut TrajectoryBuilder, _record: &Record<'_>, _document: Value<'_>) {}

    /// Reads one message.
    fn message(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, message: Value<'_>);

    /// Reads the part of a document after its messages: the response to a stored request.
    fn after(&mut self, _b: &mut TrajectoryBuilder, _record: &Record<'_>, _document: Value<'_>) {}

    /// Called after the last message.
    fn close(&mut self, _b: &mut TrajectoryBuilder) {}
}

/// Returns the list of messages of a document.
pub(crate) fn messages(document: Value<'_>) -> Option<Value<'_>> {
    const PLACES: [&[&str]; 10] = [
        &["messages"],
        &["conversations"],
        &["values", "messages"],
        &["channel_values", "messages"],
        &["request", "messages"],
        &["request", "body", "messages"],
        &["body", "messages"],
        &["kwargs", "messages"],
        &["inputs", "messages"],
        &["state", "messages"],
    ];
    PLACES.iter().find_map(|place| document.at(place).filter(|v| v.is_array()))
}

/// Returns whether the records have the mark of a format that only looks like a chat.
pub(crate) fn has_owner(probe: &FormatProbe<'_>) -> bool {
    probe.any(|r| {
        r.get("trajectory_format").is_some()
            || r.get("record_type").is_some()
            || r.get("info").is_some_and(|i| i.has("mini_version") || i.has("model_stats"))
    })
}

/// Returns some of the messages at the start of a file, for detection.
pub(crate) fn sample<'a>(probe: &FormatProbe<'a>) -> Vec<Value<'a>> {
    sample_with(probe, messages)
}

/// Returns some of the messages at the start of a file, for dialects in which `list` returns
/// the messages of a document.
pub(crate) fn sample_with<'a>(
    probe: &FormatProbe<'a>,
    list: impl Fn(Value<'a>) -> Option<Value<'a>>,
) -> Vec<Value<'a>> {
    const MAX_MESSAGES: usize = 200;
    let mut sample = Vec::new();
    for &record in probe.records() {
        match list(record) {
            Some(list) => sample.extend(list.items().take(MAX_MESSAGES)),
            None if record.is_array() => sample.extend(record.items().take(MAX_MESSAGES)),
            None => sample.push(record),
        }
        if sample.len() >= MAX_MESSAGES {
            break;
        }
    }
    sample
}

/// Returns the time of a message or document.
pub(crate) fn stated_time(value: Value<'_>) -> Option<Timestamp> {
    const KEYS: [&str; 5] = ["timestamp", "created_at", "createdAt", "created", "time"];
    KEYS.iter().find_map(|key| time::from_value(value.get(key)?))
}

/// Reader of conversations of a dialect.
pub(crate) struct Conversations<D> {
    /// Conversation of a file with one message per record.
    loose: Option<(TrajectoryBuilder, D)>,
    /// Last document, which the next one may continue.
    last: Option<Stored>,
}

struct Stored {
    b: TrajectoryBuilder,
    prints: Vec<u64>,
}

impl<D> Default for Conversations<D> {
    fn default() -> Self {
        Self { loose: None, last: None }
    }
}

impl<D: MessageDialect> Reader for Conversations<D> {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let Some(value) = record.json().filter(|v| v.is_object() || v.is_array()) else {
            out.skip(&record.at(), "not a message: expected an object");
            return;
        };
        if value.is_array() {
            self.conversation(record, value, None, out);
        } else if let Some(list) = D::list(value) {
            self.conversation(record, list, Some(value), out);
        } else {
            let (b, dialect) = self.loose.get_or_insert_with(|| new::<D>(out));
            dialect.message(b, record, value);
        }
    }

    fn finish(&mut self, out: &mut Out) {
        if let Some(stored) = self.last.take() {
            out.push(stored.b.finish());
        }
        if let Some((mut b, mut dialect)) = self.loose.take() {
            dialect.close(&mut b);
            out.push(b.finish());
        }
    }

    fn spans_records(&self) -> bool {
        self.loose.is_some()
    }
}

/// Creates a builder for repeating IDs: some servers number calls anew in each response.
fn new<D: MessageDialect>(out: &Out) -> (TrajectoryBuilder, D) {
    (out.builder(D::FORMAT).with_repeating_ids(), D::default())
}

impl<D: MessageDialect> Conversations<D> {
    fn conversation(
        &mut self,
        record: &Record<'_>,
        list: Value<'_>,
        document: Option<Value<'_>>,
        out: &mut Out,
    ) {
        let (mut b, mut dialect) = new::<D>(out);
        if let Some(document) = document {
            describe(&mut b, record, document);
            dialect.before(&mut b, record, document);
        }
        for message in list.items() {
            dialect.message(&mut b, record, message);
        }
        if let Some(document) = document {
            dialect.after(&mut b, record, document);
        }
        dialect.close(&mut b);
        let prints: Vec<u64> = list.items().map(fingerprint).collect();
        if let Some(earlier) = self.last.take() {
            if continues(&earlier.prints, &prints) {
                carry_over(&mut b, &earlier.b);
            } else {
                out.push(earlier.b.finish());
            }
        }
        self.last = Some(Stored { b, prints });
    }
}

/// Returns whether a stored request continues an earlier one. It then repeats the earlier
/// conversation: only the last request is the run.
pub(crate) fn continues(earlier: &[u64], later: &[u64]) -> bool {
    earlier.len() > 1 && later.len() > earlier.len() && later.starts_with(earlier)
}

/// Adds the usage and cost of the earlier requests of a run.
pub(crate) fn carry_over(b: &mut TrajectoryBuilder, earlier: &TrajectoryBuilder) {
    if let Some(usage) = earlier.run.usage {
        b.add_usage(usage);
    }
    if let Some(cost) = earlier.run.cost {
        let now = b.run.cost.unwrap_or_default();
        b.run.cost = Some(Cost { nano_usd: now.nano_usd.saturating_add(cost.nano_usd) });
    }
    b.seen(earlier.run.started);
}

/// Returns a fingerprint by which a message is recognized in a later request, where marks for
/// the provider's cache may have moved.
pub(crate) fn fingerprint(message: Value<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let Some(role) = message.get("role") else {
        message.raw().hash(&mut hasher);
        return hasher.finish();
    };
    role.raw().hash(&mut hasher);
    if let Some(content) = message.get("content") {
        hash_start(content, &mut hasher);
        for block in content.items() {
            for key in ["text", "id", "tool_use_id"] {
                if let Some(value) = block.get(key) {
                    hash_start(value, &mut hasher);
                }
            }
        }
    }
    for call in message.items_at("tool_calls") {
        call.get("id").map(Value::raw).hash(&mut hasher);
    }
    message.get("tool_call_id").map(Value::raw).hash(&mut hasher);
    hasher.finish()
}

/// Hashes the length and start of a string, which distinguish two messages as well as the
/// whole string.
fn hash_start(value: Value<'_>, hasher: &mut DefaultHasher) {
    if let Some(text) = value.inner() {
        text.len().hash(hasher);
        hasher.write(&text.as_bytes()[..text.len().min(256)]);
    }
}

/// Reads the run metadata of a document: ID, name, model, tools, time, cost.
pub(crate) fn describe(b: &mut TrajectoryBuilder, record: &Record<'_>, document: Value<'_>) {
    let inner = ["request", "kwargs", "body"].iter().filter_map(|key| document.get(key));
    let deeper = document.at(&["request", "body"]);
    for part in [document].into_iter().chain(inner).chain(deeper) {
        b.seen(stated_time(part));
        let run = &mut b.run;
        for (key, value) in part.fields() {
            match key.inner().unwrap_or("") {
                "id" | "session_id" | "thread_id" | "conversation_id" | "trace_id" | "run_id"
                | "custom_id" | "instance_id" => {
                    run.id = run.id.take().or_else(|| record.label(value));
                }
                "name" | "title" => run.name = run.name.take().or_else(|| record.text(value)),
                "model" | "model_name" => {
                    run.agent.model = run.agent.model.take().or_else(|| record.text(value));
                }
                "tools" | "functions" => {
                    run.tools = run.tools.take().or_else(|| tool_definitions::read(record, value));
                }
                "cost" | "cost_usd" | "total_cost_usd" => {
                    run.cost = run.cost.or_else(|| Cost::from_usd(value.as_f64()?));
                }
                "cwd" | "working_directory" => {
                    run.cwd = run.cwd.take().or_else(|| record.text(value));
                }
                _ => {}
            }
        }
    }
}
