//! Calls that a model wrote as text: `{"name": …, "arguments": …}`.

use super::python;
use crate::input::buffers;
use crate::model::{Payload, Text};
use toolmark_scan::Value;

/// Parses one call in a text. Some models write the object in Python syntax.
pub(crate) fn one(text: &str) -> Option<(String, Option<Payload>)> {
    let read = |json: &str| buffers::with_json(json, named)?;
    read(text).or_else(|| read(&python::literal_to_json(text)?))
}

/// Parses `{"name": …, "arguments": …}`.
pub(crate) fn named(call: Value<'_>) -> Option<(String, Option<Payload>)> {
    let name = call.get("name")?.str()?.into_owned();
    let args = call.get("arguments").or_else(|| call.get("parameters"));
    Some((name, args.map(owned)))
}

fn owned(value: Value<'_>) -> Payload {
    match value.str() {
        Some(text) => Payload::text(Text::owned(text)),
        None => Payload::json(Text::owned(value.raw())),
    }
}
