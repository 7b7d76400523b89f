//! Helpers that many readers use.

use crate::builder::Builder;
use crate::format::Record;
use crate::model::{At, EventKind, Fact, Payload, Status, Text, names_call};
use jiff::Timestamp;
use toolmark_scan::Value;

/// A record that is known and says nothing about the run.
pub(crate) fn note(
    b: &mut Builder,
    kind: &str,
    text: Option<Payload>,
    time: Option<Timestamp>,
    at: At,
) {
    b.event(EventKind::Note(Text::owned(kind)), text, None, time, at);
}

/// A string or list of text blocks as words, where it has any.
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

/// Marks the status as not recorded where no result of the run has one: for
/// formats that have a mark for it which not every writer uses.
pub(crate) fn lose_unmarked_status(b: &mut Builder) {
    let mut answered = b.run.calls.iter().filter(|c| c.result.is_some()).peekable();
    if answered.peek().is_some() && answered.all(|c| c.status == Status::Unknown) {
        b.run.fidelity.lose(Fact::Status);
    }
}

/// The response that an event of a stream belongs to: the one with its id, or
/// without one the response that is `open`, if it is, or a new one.
pub(crate) fn open_step(
    open: &mut Option<u32>,
    b: &mut Builder,
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

/// A member of a response that is not known and sounds like calls is kept as
/// unknown: what was called may be in there.
pub(crate) fn unknown_member(
    b: &mut Builder,
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

/// Sets `slot` to the string under `key`, once.
pub(crate) fn set_once(slot: &mut Option<Text>, record: &Record<'_>, value: Value<'_>, key: &str) {
    if slot.is_none() {
        *slot = record.text_at(value, key).filter(|t| !t.is_empty());
    }
}
