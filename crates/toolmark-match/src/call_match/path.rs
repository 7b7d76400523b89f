//! Paths inside JSON: `a.b[0].c`.

use serde_json::Value;
use std::fmt;

/// A path from a JSON value to a nested value.
///
/// Keys are separated by dots; `[0]` is an element of a list, from 0. A key
/// that contains dots or brackets is quoted: `a."b.c"` or `a["b.c"]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPath {
    parts: Vec<PathPart>,
    text: String,
}

/// Reason why a text is not a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyPathError {
    /// Text that is neither a key nor an index.
    #[error("a dot or a bracket was expected before {0:?}")]
    NoSeparator(String),
    /// An empty key without quotes.
    #[error("a key is empty; put it in quotes if it is meant to be")]
    EmptyKey,
    /// An index that is not a number.
    #[error("[{0}] is not an index: write a number from 0, or a key in quotes")]
    NotAnIndex(String),
    /// An open bracket.
    #[error("a closing bracket is missing")]
    OpenBracket,
    /// An open quote.
    #[error("a closing quote is missing")]
    OpenQuote,
}

/// One part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathPart {
    /// The value of a key.
    Key(String),
    /// An element of a list.
    Index(usize),
}

impl KeyPath {
    /// Parses a path.
    pub fn parse(text: &str) -> Result<Self, KeyPathError> {
        let mut parts = Vec::new();
        let mut rest = text;
        loop {
            let part;
            (part, rest) =
                if let Some(inner) = rest.strip_prefix('[') { bracket(inner)? } else { key(rest)? };
            parts.push(part);
            rest = match rest.strip_prefix('.') {
                Some(after) => after,
                None if rest.is_empty() => break,
                None if rest.starts_with('[') => rest,
                None => return Err(KeyPathError::NoSeparator(rest.to_owned())),
            };
        }
        Ok(Self { parts, text: text.to_owned() })
    }

    /// Returns the value at this path.
    #[must_use]
    pub fn get<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.parts.iter().try_fold(value, |value, part| part.of(value))
    }

    /// Whether this is the place at the end of `steps`.
    pub fn is(&self, steps: &[KeyStep<'_>]) -> bool {
        self.parts.len() == steps.len()
            && self.parts.iter().zip(steps).all(|(part, step)| match (part, step) {
                (PathPart::Key(key), KeyStep::Key(step)) => key == step,
                (PathPart::Index(index), KeyStep::Index(step)) => index == step,
                (PathPart::Key(key), KeyStep::Index(step)) => key.parse() == Ok(*step),
                (PathPart::Index(_), KeyStep::Key(_)) => false,
            })
    }
}

impl PathPart {
    fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match (self, value) {
            (Self::Key(key), Value::Object(fields)) => fields.get(key),
            (Self::Key(key), Value::Array(items)) => items.get(key.parse::<usize>().ok()?),
            (Self::Index(index), Value::Array(items)) => items.get(*index),
            _ => None,
        }
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// One step into a value during a walk.
#[derive(Debug, Clone, Copy)]
pub enum KeyStep<'v> {
    /// Into the value of a key.
    Key(&'v str),
    /// Into an element of a list.
    Index(usize),
}

/// Formats a path of these steps.
#[must_use]
pub fn written(steps: &[KeyStep<'_>]) -> String {
    let mut out = String::new();
    for step in steps {
        match step {
            KeyStep::Index(index) => out.push_str(&format!("[{index}]")),
            KeyStep::Key(key) => {
                if !out.is_empty() {
                    out.push('.');
                }
                match key.is_empty() || key.contains(['.', '[', ']', '"']) {
                    true => out.push_str(&format!("{key:?}")),
                    false => out.push_str(key),
                }
            }
        }
    }
    out
}

fn key(text: &str) -> Result<(PathPart, &str), KeyPathError> {
    if let Some(inner) = text.strip_prefix('"') {
        let (key, rest) = quoted(inner)?;
        return Ok((PathPart::Key(key), rest));
    }
    let end = text.find(['.', '[', ']', '"']).unwrap_or(text.len());
    let (key, rest) = text.split_at(end);
    if key.is_empty() {
        return Err(KeyPathError::EmptyKey);
    }
    Ok((PathPart::Key(key.to_owned()), rest))
}

fn bracket(inner: &str) -> Result<(PathPart, &str), KeyPathError> {
    let (part, rest) = if let Some(inner) = inner.strip_prefix('"') {
        let (key, rest) = quoted(inner)?;
        (PathPart::Key(key), rest)
    } else {
        let end = inner.find(']').unwrap_or(inner.len());
        let (index, rest) = inner.split_at(end);
        let index = index.parse().map_err(|_| KeyPathError::NotAnIndex(index.to_owned()))?;
        (PathPart::Index(index), rest)
    };
    let rest = rest.strip_prefix(']').ok_or(KeyPathError::OpenBracket)?;
    Ok((part, rest))
}

fn quoted(inner: &str) -> Result<(String, &str), KeyPathError> {
    let mut key = String::new();
    let mut chars = inner.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((key, &inner[at + 1..])),
            '\\' => key.extend(chars.next().map(|(_, c)| c)),
            c => key.push(c),
        }
    }
    Err(KeyPathError::OpenQuote)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn places() {
        let value = json!({"a": {"b": [{"c": 1}, 2]}, "x.y": {"z\"": 3}, "": 4, "list": [[5]]});
        for (path, want) in [
            ("a.b[0].c", Some(json!(1))),
            ("a.b.0.c", Some(json!(1))),
            ("a.b[1]", Some(json!(2))),
            ("a.b[2]", None),
            ("a[0]", None),
            ("\"x.y\".\"z\\\"\"", Some(json!(3))),
            ("[\"x.y\"][\"z\\\"\"]", Some(json!(3))),
            ("\"\"", Some(json!(4))),
            ("list[0][0]", Some(json!(5))),
            ("missing", None),
        ] {
            assert_eq!(KeyPath::parse(path).unwrap().get(&value), want.as_ref(), "{path}");
        }
    }

    #[test]
    fn mistakes() {
        for path in ["", "a.", ".a", "a..b", "a[", "a[x]", "a[0", "a\"b\"", "\"a", "a[0]b", "a]"] {
            assert!(KeyPath::parse(path).is_err(), "{path}");
        }
    }

    #[test]
    fn written_paths_are_read_again() {
        let steps = [KeyStep::Key("a"), KeyStep::Key("b.c"), KeyStep::Index(3), KeyStep::Key("")];
        let text = written(&steps);
        assert_eq!(text, "a.\"b.c\"[3].\"\"");
        assert!(KeyPath::parse(&text).unwrap().is(&steps));
        assert!(!KeyPath::parse("a").unwrap().is(&steps));
    }
}
