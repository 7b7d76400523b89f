//! Calls in Python syntax, which models write when instructed to:
//! `[weather(city='Rome', days=3), time(zone="CET")]`, or as statements,
//! `weather(city='Rome'); time(zone="CET");`.
//!
//! Only literals are supported, by one pass over the bytes with a depth counter: there is no
//! recursion, whatever the nesting of the text.

use std::borrow::Cow;

/// A call found in a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PythonCall<'a> {
    /// Function name, including dots.
    pub(crate) name: &'a str,
    /// Text between the parentheses.
    pub(crate) args: &'a str,
}

/// Parses a text that consists of calls, in brackets or not; `None` if it contains anything
/// else.
pub(crate) fn calls(text: &str) -> Option<Vec<PythonCall<'_>>> {
    let text = text.trim();
    let mut rest = match text.strip_prefix('[') {
        Some(inside) => inside.strip_suffix(']')?.trim(),
        None => text,
    };
    let mut found = Vec::new();
    while !rest.is_empty() {
        let length = rest.bytes().take_while(|b| is_name_byte(*b)).count();
        let (name, after) = rest.split_at(length);
        let inside = after.trim_start().strip_prefix('(')?;
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return None;
        }
        let end = closing(inside)?;
        found.push(PythonCall { name, args: inside[..end].trim() });
        rest = inside[end + 1..].trim_start();
        if rest.is_empty() {
            break;
        }
        rest = rest.strip_prefix([',', ';'])?.trim_start();
    }
    (!found.is_empty()).then_some(found)
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || byte >= 0x80
}

/// Returns the offset at which the bracket opened before `text` is closed.
fn closing(text: &str) -> Option<usize> {
    let mut parts = PythonParts::new(text);
    let mut depth = 0usize;
    while let Some((at, part)) = parts.next() {
        match part {
            LiteralPart::Byte(b'(' | b'[' | b'{') => depth += 1,
            LiteralPart::Byte(b')') if depth == 0 => return Some(at),
            LiteralPart::Byte(b')' | b']' | b'}') => depth = depth.checked_sub(1)?,
            LiteralPart::Open => return None,
            LiteralPart::Byte(_) | LiteralPart::String(_) => {}
        }
    }
    None
}

/// Converts keyword arguments to a JSON object; `None` if an argument has no keyword.
pub(crate) fn keywords_to_json(args: &str) -> Option<String> {
    let mut json = String::from("{");
    for argument in split(args, b',') {
        let (key, value) = argument.split_once('=')?;
        let key = key.trim();
        if key.is_empty() || !key.bytes().all(|b| is_name_byte(b) && b != b'.') {
            return None;
        }
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(&quoted(key));
        json.push(':');
        // An expression that is not a literal is kept as source text.
        let value = value.trim();
        json.push_str(&literal_to_json(value).unwrap_or_else(|| quoted(value)));
    }
    json.push('}');
    Some(json)
}

/// Splits `text` at its outermost `separator`s, which must be an ASCII character; empty parts
/// are left out.
pub(crate) fn split(text: &str, separator: u8) -> Vec<&str> {
    let mut found = Vec::new();
    let mut parts = PythonParts::new(text);
    let (mut start, mut depth) = (0, 0usize);
    while let Some((at, part)) = parts.next() {
        match part {
            LiteralPart::Byte(b'(' | b'[' | b'{') => depth += 1,
            LiteralPart::Byte(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            LiteralPart::Byte(byte) if depth == 0 && byte == separator => {
                found.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[start..]);
    found.retain(|part| !part.trim().is_empty());
    found
}

/// Converts a Python literal to JSON: other quotes, other constants, tuples as arrays.
pub(crate) fn literal_to_json(text: &str) -> Option<String> {
    let mut json = String::with_capacity(text.len() + 8);
    let mut parts = PythonParts::new(text);
    let mut word = 0..0;
    while let Some((at, part)) = parts.next() {
        let in_word =
            matches!(part, LiteralPart::Byte(b) if is_name_byte(b) || matches!(b, b'-' | b'+'));
        if in_word {
            if word.is_empty() {
                word.start = at;
            }
            word.end = at + 1;
            continue;
        }
        push_word(&mut json, &text[word.clone()]);
        word = 0..0;
        match part {
            LiteralPart::String(inside) => json.push_str(&quoted(&python_string(inside))),
            LiteralPart::Byte(b'(') => json.push('['),
            LiteralPart::Byte(b @ (b')' | b']' | b'}')) => {
                let end = json.trim_end().trim_end_matches(',').len();
                json.truncate(end);
                json.push(if b == b'}' { '}' } else { ']' });
            }
            LiteralPart::Byte(b) => json.push(char::from(b)),
            LiteralPart::Open => return None,
        }
    }
    push_word(&mut json, &text[word]);
    // An expression that is not a literal cannot be converted to JSON.
    serde_json::from_str::<serde_json::Value>(&json).is_ok().then_some(json)
}

fn push_word(json: &mut String, word: &str) {
    json.push_str(match word {
        "True" => "true",
        "False" => "false",
        "None" => "null",
        other => other.strip_prefix('+').unwrap_or(other),
    });
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Decodes the text between the quotes of a Python string.
fn python_string(inside: &str) -> Cow<'_, str> {
    if !inside.contains('\\') {
        return Cow::Borrowed(inside);
    }
    let mut text = String::with_capacity(inside.len());
    let mut rest = inside.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match rest.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some(c @ ('\\' | '\'' | '"')) => text.push(c),
            Some('\n') => {}
            // Rarer escapes stay as they are written.
            Some(other) => text.extend(['\\', other]),
            None => text.push('\\'),
        }
    }
    Cow::Owned(text)
}

/// A string literal, or a byte outside of them.
enum LiteralPart<'a> {
    String(&'a str),
    Byte(u8),
    /// An unterminated string.
    Open,
}

struct PythonParts<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> PythonParts<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the next part and its start.
    fn next(&mut self) -> Option<(usize, LiteralPart<'a>)> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let first = *bytes.get(start)?;
        self.at += 1;
        if !matches!(first, b'"' | b'\'') {
            return Some((start, LiteralPart::Byte(first)));
        }
        while let Some(&byte) = bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                _ if byte == first => {
                    return Some((start, LiteralPart::String(&self.text[start + 1..self.at - 1])));
                }
                _ => {}
            }
        }
        Some((start, LiteralPart::Open))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_calls() {
        let found = calls("[a.b(x=1, y='),('), c( )]  ").unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], PythonCall { name: "a.b", args: "x=1, y='),('" });
        assert_eq!(found[1], PythonCall { name: "c", args: "" });
        assert_eq!(calls("f(g(1), {'a': [2]})").unwrap()[0].args, "g(1), {'a': [2]}");
        for text in [
            "",
            "[]",
            "[1, 2]",
            "hello (world) there",
            "[f(x='it's')]",
            "[f(x]",
            "f(",
            "[f(1) g(2)]",
            "(x)",
        ] {
            assert_eq!(calls(text), None, "{text}");
        }
    }

    #[test]
    fn arguments_become_json() {
        for (args, want) in [
            ("", "{}"),
            ("a=1, b='x'", r#"{"a":1,"b":"x"}"#),
            ("a=(1.5, -2,), b=True, c=None", r#"{"a":[1.5, -2],"b":true,"c":null}"#),
            (r#"a={'k': ["it's", 'a"b']}"#, r#"{"a":{"k": ["it's", "a\"b"]}}"#),
            ("a=lambda x: x", r#"{"a":"lambda x: x"}"#),
            ("a='x=1', b=2", r#"{"a":"x=1","b":2}"#),
            ("a='é\\n'", r#"{"a":"é\n"}"#),
        ] {
            assert_eq!(keywords_to_json(args).as_deref(), Some(want), "{args}");
        }
        assert_eq!(keywords_to_json("1, 2"), None);
    }

    #[test]
    fn deep_nesting_is_no_recursion() {
        let text = format!("f(a={}{})", "[".repeat(100_000), "]".repeat(100_000));
        let found = calls(&text).unwrap();
        assert!(keywords_to_json(found[0].args).is_some());
    }
}
