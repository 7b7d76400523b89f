//! The only conversion from untrusted text to printable text.

use crate::text::{Json, Passed, Printable, SharedName, Untrusted};
use crate::{redact, redact_named};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;

thread_local! {
    /// Last name without a secret. Consecutive pieces of evidence usually name the same file.
    static LAST_CLEAN: RefCell<Option<Arc<str>>> = const { RefCell::new(None) };
}

/// Whether a name is free of secrets. The last such name is retained, so that its address
/// cannot be reused by another name.
pub(crate) fn is_clean(name: &Arc<str>) -> bool {
    let is_last =
        LAST_CLEAN.with_borrow(|last| last.as_ref().is_some_and(|last| Arc::ptr_eq(last, name)));
    if is_last {
        return true;
    }
    let is_clean = matches!(redact(name), Cow::Borrowed(_));
    if is_clean {
        LAST_CLEAN.with(|last| last.replace(Some(Arc::clone(name))));
    }
    is_clean
}

/// Makes text printable by hiding its secrets, unless the user asked for raw text.
#[derive(Debug, Clone, Copy)]
pub struct Redactor {
    hides: bool,
}

impl Redactor {
    /// Creates a redactor that hides secrets if `hides` is true and shows them otherwise.
    #[must_use]
    pub const fn new(hides: bool) -> Self {
        Self { hides }
    }

    /// Whether the redactor hides secrets.
    #[must_use]
    pub const fn hides(self) -> bool {
        self.hides
    }

    /// Returns printable text. A text without secrets is not copied.
    #[must_use]
    pub fn apply(self, text: impl Into<Untrusted>) -> Printable {
        let Untrusted(text) = text.into();
        let hidden = match self.hide(&text) {
            Cow::Owned(hidden) => hidden.into(),
            Cow::Borrowed(_) => text,
        };
        Printable(hidden)
    }

    /// Returns the printable value of a field: the value of a password field is a secret
    /// whatever it looks like.
    #[must_use]
    pub fn apply_named(self, name: &str, text: String) -> Printable {
        let text = if self.hides { hide_named(name, text) } else { text };
        Printable(text.into())
    }

    /// Returns printable texts.
    #[must_use]
    pub fn apply_all(self, texts: Vec<Untrusted>) -> Vec<Printable> {
        texts.into_iter().map(|text| self.apply(text)).collect()
    }

    /// Returns a printable name.
    #[must_use]
    pub fn name(self, name: SharedName) -> SharedName<Printable> {
        if self.hides && !is_clean(&name.name) {
            return SharedName::new(Arc::from(&*redact(&name.name)), Passed(true));
        }
        SharedName::new(name.name, Passed(true))
    }

    /// Returns a printable object.
    #[must_use]
    pub fn object(self, object: Json<Map<String, Value>>) -> Json<Map<String, Value>, Printable> {
        let value = if self.hides { hide_object(object.value) } else { object.value };
        Json { value, passed: Passed(true), text: PhantomData }
    }

    /// Returns printable JSON.
    #[must_use]
    pub fn json(self, json: Json<Value>) -> Json<Value, Printable> {
        let value = if self.hides { hide_value(None, json.value) } else { json.value };
        Json { value, passed: Passed(true), text: PhantomData }
    }

    /// Returns printable JSON text: strings are redacted, everything else is left unchanged,
    /// at any nesting depth.
    #[must_use]
    pub fn json_text(self, json: String) -> Printable {
        if !self.hides {
            return Printable(json.into());
        }
        let mut out = String::with_capacity(json.len());
        let mut name = "";
        let mut rest = json.as_str();
        while let Some((before, after)) = rest.split_once('"') {
            let (string, next) = after.split_at(string_end(after));
            out.push_str(before);
            out.push('"');
            if next.get(1..).is_some_and(|next| next.trim_start().starts_with(':')) {
                name = string;
                out.push_str(&redact(string));
            } else {
                out.push_str(&redact_named(name, string));
            }
            rest = next;
            if let Some(next) = next.strip_prefix('"') {
                out.push('"');
                rest = next;
            }
        }
        out.push_str(rest);
        Printable(out.into())
    }

    fn hide(self, text: &str) -> Cow<'_, str> {
        if self.hides { redact(text) } else { Cow::Borrowed(text) }
    }
}

/// Removes the secrets from the value of a field.
fn hide_named(name: &str, text: String) -> String {
    let hidden = match redact_named(name, &text) {
        Cow::Borrowed(same) if same == text => None,
        hidden => Some(hidden.into_owned()),
    };
    hidden.unwrap_or(text)
}

/// Returns the end of the string at the start of the JSON text, excluding the closing quote.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    let is_end = |b: u8| {
        let ends = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        ends
    };
    text.bytes().position(is_end).unwrap_or(text.len())
}

/// JSON values whose secrets can be hidden.
pub trait Hide: Sized {
    /// Returns a copy without secrets, or `None` if the value cannot contain any, such as a
    /// number.
    #[doc(hidden)]
    fn hidden(&self) -> Option<Self>;
}

impl Hide for Value {
    fn hidden(&self) -> Option<Self> {
        may_hold_text(self).then(|| hide_value(None, self.clone()))
    }
}

impl Hide for Map<String, Value> {
    fn hidden(&self) -> Option<Self> {
        let is_bare = |(key, value): (&String, &Value)| {
            !may_hold_text(value) && matches!(redact(key), Cow::Borrowed(_))
        };
        (!self.iter().all(is_bare)).then(|| hide_object(self.clone()))
    }
}

fn may_hold_text(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Array(_) | Value::Object(_))
}

/// Hides the secrets of a value. The recursion is bounded because parsers limit nesting.
fn hide_value(name: Option<&str>, value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(hide_named(name.unwrap_or_default(), text)),
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| hide_value(name, item)).collect())
        }
        Value::Object(map) => Value::Object(hide_object(map)),
        other => other,
    }
}

fn hide_object(mut map: Map<String, Value>) -> Map<String, Value> {
    // Keys hardly ever contain secrets; then the order of the map is unchanged.
    if !map.keys().any(|key| matches!(redact(key), Cow::Owned(_))) {
        for (key, value) in &mut map {
            if may_hold_text(value) {
                *value = hide_value(Some(key), value.take());
            }
        }
        return map;
    }
    let hide = |(key, value): (String, Value)| {
        let value = hide_value(Some(&key), value);
        match redact(&key) {
            Cow::Owned(hidden) => (hidden, value),
            Cow::Borrowed(_) => (key, value),
        }
    };
    map.into_iter().map(hide).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printable;
    use serde_json::json;

    const KEY: &str = "ghp_a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8";

    #[test]
    fn nothing_shows_a_secret_by_accident() {
        let text = Untrusted::from(format!("use {KEY}"));
        assert_eq!(format!("{text:?}"), "\"use ghp_[redacted]\"");
        let name = SharedName::from(format!("/tmp/{KEY}"));
        assert_eq!(format!("{name:?}"), "\"/tmp/ghp_[redacted]\"");
        let redactor = Redactor::new(true);
        let shown = redactor.apply(text.clone());
        assert_eq!(shown, "use ghp_[redacted]");
        assert_eq!(redactor.name(name).to_string(), "/tmp/ghp_[redacted]");
        assert_eq!(Redactor::new(false).apply(text), *format!("use {KEY}"));
        assert_eq!(printable!("{}: {:>3}", shown, 7), "use ghp_[redacted]:   7");
        let hostile = redactor.apply("a\u{1b}[2J\nb");
        assert_eq!(hostile.to_string(), "a\u{241b}[2J\u{240a}b");
        assert_eq!(serde_json::to_string(&hostile).unwrap(), r#""a\u001b[2J\nb""#);
    }

    fn to_json(value: &impl serde::Serialize) -> String {
        serde_json::to_string(value).unwrap()
    }

    #[test]
    fn what_is_serialized_is_redacted() {
        let (text, name) = (format!("use {KEY}"), format!("/tmp/{KEY}"));
        let json = json!({"password": "hunter2", "a": [KEY, 1], KEY: {"b": KEY}, "n": 2.5});
        let Value::Object(object) = json.clone() else { unreachable!() };
        for hides in [true, false] {
            let redactor = Redactor::new(hides);
            let shown = [
                to_json(&redactor.apply(text.as_str())),
                to_json(&redactor.name(name.clone().into())),
                to_json(&redactor.json(json.clone().into())),
                to_json(&redactor.object(object.clone().into())),
            ];
            let raw = [
                to_json(&Untrusted::from(text.as_str())),
                to_json(&SharedName::<Untrusted>::from(name.clone())),
                to_json(&Json::from(json.clone())),
                to_json(&Json::from(object.clone())),
            ];
            assert_eq!(raw == shown, hides, "{raw:?} {shown:?}");
            assert!(!raw.concat().contains(KEY) && !raw.concat().contains("hunter2"));
        }
        let numbers = json!({"calls": 3, "f1": 0.5, "none": null});
        assert_eq!(to_json(&Json::from(numbers.clone())), numbers.to_string());
        let Value::Object(numbers) = numbers else { unreachable!() };
        assert_eq!(numbers.hidden(), None);
    }

    #[test]
    fn text_without_secrets_is_not_copied() {
        let text = Untrusted::from("nothing to hide in a text that is not short");
        let place = text.raw().as_ptr();
        assert_eq!(Redactor::new(true).apply(text).as_ptr(), place);
    }

    #[test]
    fn a_name_is_looked_at_however_the_last_one_was() {
        let redactor = Redactor::new(true);
        let (clean, secret): (Arc<str>, Arc<str>) = ("/tmp/a".into(), format!("/tmp/{KEY}").into());
        for _ in 0..2 {
            for (name, shown) in [(&clean, "/tmp/a"), (&secret, "/tmp/ghp_[redacted]")] {
                for _ in 0..2 {
                    let name = SharedName::from(Arc::clone(name));
                    assert_eq!(redactor.name(name).to_string(), shown);
                }
            }
            let shown = Redactor::new(false).name(SharedName::from(Arc::clone(&secret)));
            assert_eq!(shown.to_string(), *secret);
        }
    }

    #[test]
    fn json_is_hidden_by_name_and_shape() {
        let value =
            json!({"password": "hunter2", "a": [KEY, {"api_key": ["abcdefgh12", 3]}], KEY: 1});
        let want = json!({
            "password": "[redacted]", "a": ["ghp_[redacted]", {"api_key": ["[redacted]", 3]}],
            "ghp_[redacted]": 1,
        });
        assert_eq!(*Redactor::new(true).json(value.clone().into()), want);
        assert_eq!(*Redactor::new(false).json(value.clone().into()), value);
        let shown = Redactor::new(true).json_text(value.to_string());
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), want);
        let text = r#"{ "a" : 1.10e0, "token" : "a\"b", "secret":["x\\","\u00e9 abcd1234"] }"#;
        let shown = Redactor::new(true).json_text(text.to_owned());
        assert_eq!(shown, *text.replace(r"\u00e9 abcd1234", "[redacted]"));
    }
}
