//! Helpers shared by several targets: payloads as plain text or as a JSON value, IDs for
//! calls without one, and the link from a call to the run it started.

use super::json::portable;
use super::losses::{Losses, TrajectoryPart};
use crate::model::{Call, Form, Payload, Text, Trajectory};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// A payload as a JSON value.
pub(super) enum Argument<'a> {
    /// JSON text.
    Json(Cow<'a, str>),
    /// A string.
    Text(Cow<'a, str>),
}

impl<'a> Argument<'a> {
    /// Returns arguments as a value: text that holds a JSON object becomes that object, because
    /// some sources write arguments as text.
    pub(super) fn of(args: &'a Payload, losses: &mut Losses) -> Self {
        let json = match args.form() {
            Form::Json => portable_of(args),
            Form::Text if args.parsed().is_some_and(Value::is_object) => portable_of(args),
            Form::Text => None,
        };
        let form = if json.is_some() { Form::Json } else { Form::Text };
        losses.add(TrajectoryPart::ArgumentForms, usize::from(form != args.form()));
        json.map_or_else(|| Self::Text(args.raw()), Self::Json)
    }

    /// Returns whether the argument is a JSON object.
    pub(super) fn is_object(&self) -> bool {
        matches!(self, Self::Json(json) if json.trim_start().starts_with('{'))
    }
}

fn portable_of(payload: &Payload) -> Option<Cow<'_, str>> {
    match payload.raw() {
        Cow::Borrowed(raw) => portable(raw),
        Cow::Owned(raw) => portable(&raw).map(|json| Cow::Owned(json.into_owned())),
    }
}

/// Returns the text of a payload.
pub(super) fn words<'a>(payload: &'a Payload, losses: &mut Losses) -> Cow<'a, str> {
    if payload.form() == Form::Json {
        let blocks = payload.parsed().and_then(Value::as_array);
        let wordless = blocks.map_or(0, |b| b.iter().filter(|b| !has_words(b)).count());
        match blocks {
            // `plain` takes the words of blocks only where one has any.
            Some(blocks) if wordless < blocks.len() => {
                losses.add(TrajectoryPart::Blocks, 1);
                losses.add(TrajectoryPart::Wordless, wordless);
            }
            _ => losses.add(TrajectoryPart::JsonAsText, 1),
        }
    }
    payload.plain()
}

fn has_words(block: &Value) -> bool {
    let member = |key| block.get(key).is_some_and(Value::is_string);
    block.is_string() || member("text") || (block.get("text").is_none() && member("content"))
}

/// Joins the text of several payloads with blank lines.
pub(super) fn joined(payloads: &[&Payload], losses: &mut Losses) -> Option<String> {
    let (first, rest) = payloads.split_first()?;
    let mut text = words(first, losses).into_owned();
    losses.add(TrajectoryPart::Boundaries, rest.len());
    for payload in rest {
        text.push_str("\n\n");
        text.push_str(&words(payload, losses));
    }
    Some(text)
}

/// Returns the call's ID, or one generated from its index.
pub(super) fn call_id(call: &Call, index: usize) -> Cow<'_, str> {
    let id = call.id.as_ref().filter(|id| !id.is_empty());
    id.map_or_else(|| Cow::Owned(format!("call-{}", index + 1)), Text::get)
}

/// Returns the first call that started each sub-agent of a run.
pub(super) fn starters(run: &Trajectory) -> Vec<Option<usize>> {
    let mut by_spawned = HashMap::new();
    let mut by_id = HashMap::new();
    for (index, call) in run.calls.iter().enumerate() {
        if let Some(spawned) = &call.spawned {
            by_spawned.entry(spawned.get()).or_insert(index);
        }
        if let Some(id) = &call.id {
            by_id.entry(id.get()).or_insert(index);
        }
    }
    let starter = |child: &Trajectory| {
        let spawned = child.id.as_ref().and_then(|id| by_spawned.get(&id.get()));
        let call = child.parent.as_ref().and_then(|parent| parent.call.as_ref());
        let called = call.and_then(|id| by_id.get(&id.get()));
        spawned.into_iter().chain(called).min().copied()
    };
    run.children.iter().map(starter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Text;

    #[test]
    fn blocks_become_words() {
        let mut losses = Losses::default();
        let blocks = r#"[{"type":"text","text":"a"},{"type":"image"},{"content":"b"}]"#;
        let payload = Payload::json(Text::owned(blocks));
        assert_eq!(words(&payload, &mut losses), "a\nb");
        let object = Payload::json(Text::owned("{\"x\":1}"));
        assert_eq!(words(&object, &mut losses), "{\"x\":1}");
        let text = Payload::text(Text::owned("c"));
        assert_eq!(joined(&[&text, &text], &mut losses).as_deref(), Some("c\n\nc"));
        assert_eq!(
            losses.to_string(),
            "content blocks written as one text: 1, content without text: 1, \
             JSON written as text: 1, boundaries between messages of a step: 1"
        );
    }

    #[test]
    fn arguments_in_text_are_values_where_they_hold_an_object() {
        let mut losses = Losses::default();
        for (payload, object) in [
            (Payload::text(Text::owned("{\"a\":1}")), true),
            (Payload::text(Text::owned("*** Begin Patch")), false),
            (Payload::json(Text::owned("{\"a\":NaN}")), false),
            (Payload::json(Text::owned("[1]")), false),
        ] {
            assert_eq!(Argument::of(&payload, &mut losses).is_object(), object);
        }
        assert_eq!(losses.count(TrajectoryPart::ArgumentForms), 2);
    }
}
