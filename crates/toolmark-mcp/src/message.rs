//! JSON-RPC messages, parsed only as far as the proxy needs.
//!
//! The original text is forwarded, never a copy that was parsed and written again:
//! unknown fields, numbers of any size and the order of keys are preserved. Parsing is
//! strict where two parsers could differ: a key that occurs twice, even in another
//! case, could mean one thing to the guard and another to the server, so such a
//! message is refused.

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Deserializer, Map, Number, Value};
use std::borrow::Cow;
use std::fmt;

/// Maximum length of a line, in bytes.
pub const MAX_LINE: usize = 64 << 20;

/// Request ID, equal for all spellings of the same ID.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RequestId {
    Number(String),
    Text(String),
}

impl RequestId {
    /// Parses an ID; `None` for null and any other value that is not an ID.
    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        match serde_json::from_str(raw.get()).ok()? {
            Value::String(text) => Some(Self::Text(text)),
            Value::Number(number) => Some(Self::Number(number.to_string())),
            _ => None,
        }
    }

    /// Returns the ID as JSON.
    pub(crate) fn json(&self) -> String {
        match self {
            Self::Number(number) => number.clone(),
            Self::Text(text) => Value::from(text.as_str()).to_string(),
        }
    }
}

/// A member of an object, with its value as text.
pub(crate) type MessageMember<'a> = (Cow<'a, str>, &'a RawValue);

/// Returns the members of an object in order, with unparsed values. A key that occurs twice, even
/// in another case, is an error.
pub(crate) fn members(json: &str) -> Result<Vec<MessageMember<'_>>, serde_json::Error> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<MessageMember<'de>>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            /// Maximum number of members of a message.
            const MAX_MEMBERS: usize = 256;
            let mut all: Vec<MessageMember<'de>> = Vec::new();
            while let Some(key) = map.next_key::<MessageText<'de>>()? {
                if all.iter().any(|(known, _)| known.eq_ignore_ascii_case(&key.0)) {
                    return Err(serde::de::Error::custom(format!(
                        "the key {:?} occurs twice",
                        key.0
                    )));
                }
                if all.len() == MAX_MEMBERS {
                    return Err(serde::de::Error::custom(format!("more than {MAX_MEMBERS} keys")));
                }
                all.push((key.0, map.next_value()?));
            }
            Ok(all)
        }
    }
    let mut reader = Deserializer::from_str(json);
    let all = reader.deserialize_map(Members)?;
    reader.end()?;
    Ok(all)
}

/// Returns a member by its key.
pub(crate) fn member<'a>(members: &[MessageMember<'a>], key: &str) -> Option<&'a RawValue> {
    members.iter().find(|(known, _)| known == key).map(|(_, value)| *value)
}

/// Writes an object with these members.
pub(crate) fn object(members: &[MessageMember<'_>]) -> String {
    let mut out = String::from("{");
    for (key, value) in members {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&Value::from(key.as_ref()).to_string());
        out.push(':');
        out.push_str(value.get());
    }
    out.push('}');
    out
}

/// Returns the elements of an array, unparsed.
pub(crate) fn elements(json: &str) -> Option<Vec<&RawValue>> {
    serde_json::from_str(json).ok()
}

/// A string that is borrowed if possible.
struct MessageText<'a>(Cow<'a, str>);

impl<'de> serde::Deserialize<'de> for MessageText<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowing;
        impl<'de> Visitor<'de> for Borrowing {
            type Value = MessageText<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(MessageText(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(MessageText(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Borrowing)
    }
}

/// A JSON-RPC message.
#[derive(Debug)]
pub(crate) enum McpMessage<'a> {
    Request {
        id: &'a RawValue,
        key: RequestId,
        method: String,
        params: Option<&'a RawValue>,
    },
    Notification {
        method: String,
        params: Option<&'a RawValue>,
    },
    /// An answer; `body` is the text of its `result` or its `error`.
    Answer {
        key: Option<RequestId>,
        body: &'a RawValue,
        is_error: bool,
    },
}

/// Reason why a text is not a message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MessageError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("`method` is not a string")]
    Method,
    #[error("`id` is neither a string nor a number")]
    Id,
    #[error("both `result` and `error`")]
    TwoAnswers,
    #[error("neither `method` nor `result` nor `error`")]
    Nothing,
}

impl<'a> McpMessage<'a> {
    /// Parses a message.
    pub(crate) fn read(json: &'a str) -> Result<Self, MessageError> {
        let all = members(json)?;
        let get = |key| member(&all, key);
        let id = get("id");
        if let Some(method) = get("method") {
            let method: String =
                serde_json::from_str(method.get()).map_err(|_| MessageError::Method)?;
            let params = get("params");
            return match id {
                None => Ok(Self::Notification { method, params }),
                Some(id) => match RequestId::read(id) {
                    Some(key) => Ok(Self::Request { id, key, method, params }),
                    None => Err(MessageError::Id),
                },
            };
        }
        let key = id.and_then(RequestId::read);
        match (get("result"), get("error")) {
            (Some(body), None) => Ok(Self::Answer { key, body, is_error: false }),
            (None, Some(body)) => Ok(Self::Answer { key, body, is_error: true }),
            (Some(_), Some(_)) => Err(MessageError::TwoAnswers),
            (None, None) => Err(MessageError::Nothing),
        }
    }
}

/// Replaces one part of a text; the part must be borrowed from it.
pub(crate) fn splice(text: &str, part: &str, by: &str) -> String {
    let start = (part.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
    match (text.get(..start), text.get(start.saturating_add(part.len())..)) {
        (Some(before), Some(after)) => [before, by, after].concat(),
        _ => text.to_owned(),
    }
}

/// Finds the ID near the start of a line that cannot be parsed, so that the request whose answer is
/// lost can still be ended. Only the outermost object counts.
pub(crate) fn id_near_start(bytes: &[u8]) -> Option<RequestId> {
    /// Maximum number of bytes searched.
    const MAX_SCANNED: usize = 4 << 10;
    let head = bytes.get(..bytes.len().min(MAX_SCANNED))?;
    let head = match std::str::from_utf8(head) {
        Ok(head) => head,
        Err(error) => std::str::from_utf8(head.get(..error.valid_up_to())?).ok()?,
    };
    struct Finder<'f>(&'f mut Option<RequestId>);
    impl<'de> Visitor<'de> for Finder<'_> {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<MessageText<'de>>()? {
                if key.0 == "id" {
                    *self.0 = RequestId::read(map.next_value()?);
                } else {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Ok(())
        }
    }
    let mut found = None;
    // The error at the truncated end does not matter.
    let _ = Deserializer::from_str(head).deserialize_map(Finder(&mut found));
    found
}

/// Parses a JSON value in which no key may occur twice.
pub(crate) fn strict_value(json: &str) -> Result<Value, serde_json::Error> {
    struct Strict;
    impl<'de> serde::de::DeserializeSeed<'de> for Strict {
        type Value = Value;
        fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
            from.deserialize_any(self)
        }
    }
    impl<'de> Visitor<'de> for Strict {
        type Value = Value;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON value")
        }
        fn visit_unit<E>(self) -> Result<Value, E> {
            Ok(Value::Null)
        }
        fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
            Ok(Value::Bool(value))
        }
        fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
            Ok(Value::from(value))
        }
        fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
            Ok(Value::from(value))
        }
        fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
            Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
        }
        fn visit_str<E>(self, value: &str) -> Result<Value, E> {
            Ok(Value::from(value))
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
            let mut items = Vec::new();
            while let Some(item) = seq.next_element_seed(Strict)? {
                items.push(item);
            }
            Ok(Value::Array(items))
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
            let mut object = Map::new();
            while let Some(key) = map.next_key::<String>()? {
                if object.contains_key(&key) {
                    return Err(serde::de::Error::custom(format!("the key {key:?} occurs twice")));
                }
                let value = map.next_value_seed(Strict)?;
                object.insert(key, value);
            }
            Ok(Value::Object(object))
        }
    }
    let mut reader = Deserializer::from_str(json);
    // serde_json bounds the nesting.
    let value = reader.deserialize_any(Strict)?;
    reader.end()?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_what_its_keys_say() {
        for (json, want) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"a/b"}"#, "request a/b Number(\"1\")"),
            (r#"{"id":"1","method":"a"}"#, "request a Text(\"1\")"),
            (r#"{"id":"\u0031","method":"a"}"#, "request a Text(\"1\")"),
            (r#"{"method":"n","params":[1]}"#, "notification n"),
            (r#"{"id":1,"result":{}}"#, "result {}"),
            (r#"{"id":null,"error":{"code":1}}"#, "error {\"code\":1}"),
            (r#"{"id":1}"#, "neither `method` nor `result` nor `error`"),
            (r#"{"id":1,"result":1,"error":2}"#, "both `result` and `error`"),
            (r#"{"id":{},"method":"a"}"#, "`id` is neither a string nor a number"),
            (r#"{"id":null,"method":"a"}"#, "`id` is neither a string nor a number"),
            (r#"{"id":1,"method":2}"#, "`method` is not a string"),
            (r#"{"method":"a","method":"b"}"#, "twice"),
            (r#"{"method":"a","Method":"b"}"#, "twice"),
            (r#"[]"#, "expected an object"),
            (r#"{"method":"a"} x"#, "trailing"),
        ] {
            let got = match McpMessage::read(json) {
                Ok(McpMessage::Request { key, method, .. }) => format!("request {method} {key:?}"),
                Ok(McpMessage::Notification { method, .. }) => format!("notification {method}"),
                Ok(McpMessage::Answer { body, is_error: false, .. }) => format!("result {body}"),
                Ok(McpMessage::Answer { body, is_error: true, .. }) => format!("error {body}"),
                Err(error) => error.to_string(),
            };
            assert!(got.contains(want), "{json}: {got}");
        }
    }

    #[test]
    fn the_id_of_a_broken_line_is_found_where_it_stands_outermost() {
        let number = |n: &str| Some(RequestId::Number(n.to_owned()));
        for (line, want) in [
            (&br#"{"jsonrpc":"2.0","id":7,"result":{"content":["#[..], number("7")),
            (br#"{"id":7,"result":{"id":8"#, number("7")),
            (br#"{"result":{"id":8},"id":9"#, number("9")),
            (br#"{"result":{"id":8}"#, None),
            (b"Listening on port 80", None),
            (b"{\"id\":3,\"x\":\"\xff", number("3")),
            (b"", None),
        ] {
            assert_eq!(id_near_start(line), want, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn a_key_given_twice_is_refused_at_any_depth() {
        assert!(strict_value(r#"{"a":[{"b":1,"b":2}]}"#).is_err());
        assert!(strict_value(r#"{"a":1} 2"#).is_err());
        let fine = r#"{"a":[{"b":1.5,"c":null}],"d":"é","e":-3,"f":true}"#;
        assert_eq!(strict_value(fine).unwrap().to_string(), fine);
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(strict_value(&deep).is_err());
        assert!(members(&format!("{{\"a\":{deep}}}")).is_ok());
    }

    #[test]
    fn splicing_leaves_the_rest_as_it_was() {
        let text = String::from(r#"{"id": 1.0 ,"result":{"a":1}, "x":1e400}"#);
        let Ok(McpMessage::Answer { body, .. }) = McpMessage::read(&text) else {
            panic!("no answer")
        };
        assert_eq!(splice(&text, body.get(), "2"), r#"{"id": 1.0 ,"result":2, "x":1e400}"#);
        assert_eq!(splice("abc", "elsewhere", "x"), "abc");
    }
}
