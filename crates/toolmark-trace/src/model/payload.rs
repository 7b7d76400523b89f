//! Arguments and results of calls: raw, with a parsed view on demand.

use super::json;
use super::text::{Text, floor};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::OnceLock;

/// Form in which a payload was written in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A JSON value.
    Json,
    /// Text, which may itself hold JSON (OpenAI arguments) or not (a patch).
    Text,
}

/// Arguments or a result, as written in the source.
#[derive(Debug, Clone)]
pub struct Payload {
    text: Text,
    form: Form,
    parsed: OnceLock<Option<Box<Value>>>,
}

impl Payload {
    /// Creates a payload from the JSON text of a value.
    #[must_use]
    pub fn json(text: Text) -> Self {
        Self { text, form: Form::Json, parsed: OnceLock::new() }
    }

    /// Creates a payload from text.
    #[must_use]
    pub fn text(text: Text) -> Self {
        Self { text, form: Form::Text, parsed: OnceLock::new() }
    }

    /// Creates a payload from a JSON value that is not from a file.
    #[must_use]
    pub fn value(value: &Value) -> Self {
        match value {
            Value::String(text) => Self::text(Text::owned(text.as_str())),
            other => Self::json(Text::owned(other.to_string())),
        }
    }

    /// Returns the form in which the payload was written.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns the JSON text, or the text itself with escapes decoded.
    #[must_use]
    pub fn raw(&self) -> Cow<'_, str> {
        match self.form {
            Form::Json => Cow::Borrowed(self.text.raw()),
            Form::Text => self.text.get(),
        }
    }

    /// Returns the underlying text, which has its source position.
    #[must_use]
    pub fn source(&self) -> &Text {
        &self.text
    }

    /// Returns the payload as a JSON value: the value itself, or the content of a text that is a
    /// JSON object or array. Parsed once. `None` if it does not parse or is nested more than 128
    /// levels deep.
    #[must_use]
    pub fn parsed(&self) -> Option<&Value> {
        self.parsed
            .get_or_init(|| {
                let raw = self.raw();
                let holds_json =
                    self.form == Form::Json || raw.trim_start().starts_with(['{', '[']);
                holds_json.then(|| json::parse(&raw)).flatten().map(Box::new)
            })
            .as_deref()
    }

    /// Returns the payload as a JSON value of any kind; text that does not contain JSON is a
    /// string.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self.parsed() {
            Some(value) => value.clone(),
            None => Value::String(self.raw().into_owned()),
        }
    }

    /// Returns the human-readable text: the text, the text parts of a list of typed blocks, the
    /// `content` of Copilot's results, or the JSON if it contains no text.
    #[must_use]
    pub fn plain(&self) -> Cow<'_, str> {
        if self.form == Form::Text {
            return self.text.get();
        }
        match self.parsed() {
            Some(Value::String(text)) => Cow::Borrowed(text),
            Some(Value::Array(blocks)) => match joined_text(blocks) {
                Some(text) => Cow::Owned(text),
                None => self.raw(),
            },
            Some(Value::Object(result)) => match wrapped_text(result) {
                Some(text) => Cow::Borrowed(text),
                None => self.raw(),
            },
            _ => self.raw(),
        }
    }
}

impl Payload {
    /// Returns the start of the human-readable text, at most this many bytes, cut at a character
    /// boundary. The rest of a long text is not decoded.
    #[must_use]
    pub fn plain_start(&self, bytes: usize) -> Cow<'_, str> {
        if self.form == Form::Text {
            return self.text.start(bytes);
        }
        match self.plain() {
            Cow::Borrowed(text) => Cow::Borrowed(&text[..floor(text, bytes)]),
            Cow::Owned(mut text) => {
                text.truncate(floor(&text, bytes));
                Cow::Owned(text)
            }
        }
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Self) -> bool {
        self.raw() == other.raw()
    }
}

impl serde::Serialize for Payload {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.form, self.parsed()) {
            (Form::Json, Some(value)) => value.serialize(serializer),
            _ => serializer.serialize_str(&self.raw()),
        }
    }
}

/// Returns the `content` of a result that repeats it in `detailedContent`.
fn wrapped_text(result: &serde_json::Map<String, Value>) -> Option<&str> {
    result.get("detailedContent")?;
    result.get("content")?.as_str()
}

/// Joins the `text` (or `content`) of the blocks that have one, one per line.
fn joined_text(blocks: &[Value]) -> Option<String> {
    let mut parts = Vec::new();
    for block in blocks {
        let text = match block {
            Value::String(text) => Some(text.as_str()),
            Value::Object(map) => {
                map.get("text").or_else(|| map.get("content")).and_then(Value::as_str)
            }
            _ => None,
        };
        parts.extend(text);
    }
    (!parts.is_empty()).then(|| parts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views() {
        let args = Payload::text(Text::owned(r#"{"a":1}"#));
        assert_eq!(args.parsed().unwrap()["a"], 1);
        assert!(Payload::text(Text::owned("*** Begin Patch")).parsed().is_none());
        let blocks = Payload::json(Text::owned(
            r#"[{"type":"text","text":"a"},{"type":"image"},{"text":"b"}]"#,
        ));
        assert_eq!(blocks.plain(), "a\nb");
        assert_eq!(Payload::json(Text::owned("{\"x\":2}")).plain(), "{\"x\":2}");
        let copilot = Payload::json(Text::owned(r#"{"content":"a","detailedContent":"aa"}"#));
        assert_eq!(copilot.plain(), "a");
        let file = r#"{"content":"a"}"#;
        assert_eq!(Payload::json(Text::owned(file)).plain(), file);
    }
}
