//! The attributes of a span, with typed accessors.

use crate::input::buffers;
use crate::model::{Form, Payload, Text};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Bound;
use toolmark_scan::Value;

/// Attributes by name: strings as text, all other values as their JSON.
#[derive(Debug, Default)]
pub(crate) struct Attributes {
    map: BTreeMap<String, Payload>,
}

impl Attributes {
    pub(crate) fn insert(&mut self, key: impl Into<String>, value: Payload) {
        self.map.insert(key.into(), value);
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Payload> {
        self.map.get(key)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    /// Returns the first of these attributes, unchanged.
    pub(crate) fn payload(&self, keys: &[&str]) -> Option<Payload> {
        keys.iter().find_map(|key| self.get(key)).cloned()
    }

    /// Returns the first of these attributes that is a non-empty string or a number.
    pub(crate) fn text(&self, keys: &[&str]) -> Option<Text> {
        keys.iter().find_map(|key| {
            let value = self.get(key)?;
            let source = value.source();
            let is_word = match value.form() {
                Form::Text => !source.is_empty(),
                Form::Json => !source.raw().starts_with(['{', '[', 'n']),
            };
            is_word.then(|| source.clone())
        })
    }

    /// Returns a string or the JSON of another value.
    pub(crate) fn str(&self, key: &str) -> Option<Cow<'_, str>> {
        self.get(key).map(Payload::raw)
    }

    /// Returns whether this attribute is the string `want`.
    pub(crate) fn is(&self, key: &str, want: &str) -> bool {
        self.get(key).is_some_and(|value| match value.form() {
            Form::Text => value.source().is(want),
            Form::Json => value.source().raw() == want,
        })
    }

    /// Returns the first of these attributes that is a count, as number or as text. A redacted
    /// value is not a count.
    pub(crate) fn count(&self, keys: &[&str]) -> Option<u64> {
        keys.iter().find_map(|key| {
            let raw = self.str(key)?;
            let raw = raw.trim();
            raw.parse().ok().or_else(|| {
                let number: f64 = raw.parse().ok()?;
                (number.is_finite() && (0.0..9.0e15).contains(&number)).then_some(number as u64)
            })
        })
    }

    /// Returns the first of these attributes that is a number.
    pub(crate) fn number(&self, keys: &[&str]) -> Option<f64> {
        let number = keys.iter().find_map(|key| self.str(key)?.trim().parse::<f64>().ok())?;
        number.is_finite().then_some(number)
    }

    /// Returns a Boolean, also if it is stored as text.
    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        match &*self.str(key)? {
            "true" | "True" => Some(true),
            "false" | "False" => Some(false),
            _ => None,
        }
    }

    /// Returns the attributes whose names start with `prefix`, with the rest of the name.
    pub(crate) fn under<'a>(
        &'a self,
        prefix: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a Payload)> {
        self.map
            .range::<str, _>((Bound::Included(prefix), Bound::Unbounded))
            .map_while(move |(key, value)| Some((key.strip_prefix(prefix)?, value)))
    }

    /// Calls `read` with the attribute's JSON, decoded from text if necessary; `None` if the
    /// attribute is absent or not JSON.
    pub(crate) fn json<T>(&self, key: &str, read: impl FnOnce(Value<'_>) -> T) -> Option<T> {
        with_json(self.get(key)?, read)
    }
}

/// Calls `read` with the payload's JSON, decoded from text if necessary.
pub(crate) fn with_json<T>(payload: &Payload, read: impl FnOnce(Value<'_>) -> T) -> Option<T> {
    let raw = payload.raw();
    if !raw.trim_start().starts_with(['{', '[', '"']) {
        return None;
    }
    buffers::with_json(&raw, read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views() {
        let mut a = Attributes::default();
        a.insert("n", Payload::json(Text::owned("12")));
        a.insert("s", Payload::text(Text::owned("34")));
        a.insert("r", Payload::text(Text::owned("[REDACTED]")));
        a.insert("p.1.a", Payload::text(Text::owned("x")));
        a.insert("p.2.a", Payload::text(Text::owned("")));
        a.insert("pq", Payload::text(Text::owned("no")));
        assert_eq!(a.count(&["n"]), Some(12));
        assert_eq!(a.count(&["missing", "s"]), Some(34));
        assert_eq!(a.count(&["r"]), None);
        assert_eq!(a.text(&["p.2.a", "p.1.a"]).unwrap(), "x");
        let under: Vec<&str> = a.under("p.").map(|(rest, _)| rest).collect();
        assert_eq!(under, ["1.a", "2.a"]);
        assert!(a.json("r", |_| ()).is_none());
    }
}
