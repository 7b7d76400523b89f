//! Helpers shared by many readers.

use crate::builder::TrajectoryBuilder;
use crate::format::Record;
use crate::model::{At, EventKind, Fact, Payload, Status, Text, names_call};
use jiff::Timestamp;
use toolmark_scan::Value;

/// The words of an error that a source states about a whole run; `None` where the value
/// says that there was none.
pub(crate) fn declared_error(record: &Record<'_>, error: Value<'_>) -> Option<Text> {
    if error.is_object() || error.is_array() {
        let message = record.text_at(error, "message");
        return Some(message.unwrap_or_else(|| Text::owned("stated without a message")));
    }
    record.label(error).filter(|words| !matches!(&*words.get(), "" | "false"))
}

/// Adds a known record that contains nothing about the run.
pub(crate) fn note(
    b: &mut TrajectoryBuilder,
    kind: &str,
    text: Option<Payload>,
    time: Option<Timestamp>,
    at: At,
) {
    b.event(EventKind::Note(Text::owned(kind)), text, None, time, at);
}

/// Returns the text of a string or list of text blocks, if there is any.
pub(crate) fn words(record: &Record<'_>, content: Value<'_>) -> Option<Payload> {
    if content.is_string() {
        return (content.inner() != Some("")).then(|| record.payload(content));
    }
    let mut blocks = content.items();
    let only = blocks.next()?;
    if blocks.next().is_none()
        && let Some(text) = record.text_at(only, "text")
    {
        return Some(Payload::text(text));
    }
    Some(record.payload(content))
}

/// Marks the status as not recorded if no result of the run has one: for formats with a status
/// field that not every writer uses.
pub(crate) fn lose_unmarked_status(b: &mut TrajectoryBuilder) {
    let mut answered = b.run.calls.iter().filter(|c| c.result.is_some()).peekable();
    if answered.peek().is_some() && answered.all(|c| c.status == Status::Unknown) {
        b.run.fidelity.lose(Fact::Status);
    }
}

/// Returns the response that an event of a stream belongs to: the one with its ID; without an
/// ID, the response that is `open`, if any, or a new one.
pub(crate) fn open_step(
    open: &mut Option<u32>,
    b: &mut TrajectoryBuilder,
    id: Option<Text>,
    time: Option<Timestamp>,
    at: At,
) -> u32 {
    let step = match (&id, *open) {
        (None, Some(open)) => open,
        _ => b.step(id, time, at),
    };
    *open = Some(step);
    step
}

/// Keeps an unknown member of a response as unknown if its name suggests calls, because it may
/// contain calls.
pub(crate) fn unknown_member(
    b: &mut TrajectoryBuilder,
    record: &Record<'_>,
    key: &str,
    value: Value<'_>,
    step: Option<u32>,
) {
    // An id or a count is not a call.
    let is_filled = value.fields().next().is_some() || value.items().next().is_some();
    if names_call(key) && is_filled {
        let kind = EventKind::Unknown(Text::owned(key));
        b.event(kind, Some(record.payload(value)), step, None, record.at_value(value));
    }
}

/// Sets `slot` to the string under `key`, if it is not set yet.
pub(crate) fn set_once(slot: &mut Option<Text>, record: &Record<'_>, value: Value<'_>, key: &str) {
    if slot.is_none() {
        *slot = record.text_at(value, key).filter(|t| !t.is_empty());
    }
}
