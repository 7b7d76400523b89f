//! Replacement of strings in a JSON text, with every other byte unchanged.
//!
//! Strings are inspected decoded, since escapes could hide their content, but passed on as written:
//! only a string that has to change is written again. The text must be valid JSON; it is walked
//! without recursion.

use memchr::memchr2;
use serde_json::Value;
use std::borrow::Cow;

/// The position of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StringPosition<'a> {
    /// Key in the outermost object.
    pub(crate) top: &'a str,
    /// Nearest key before the string.
    pub(crate) key: &'a str,
}

/// Replaces each string for which `change` returns another one. It is called for keys
/// too, with themselves as their key.
pub(crate) fn rewrite<'j>(
    json: &'j str,
    mut change: impl FnMut(StringPosition<'_>, &str) -> Option<String>,
) -> Cow<'j, str> {
    let bytes = json.as_bytes();
    let mut out = String::new();
    let mut copied = 0;
    let mut depth = 0_usize;
    let (mut top, mut key) = (String::new(), String::new());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = end_of_string(bytes, at + 1);
                let text = decode(json.get(at + 1..end).unwrap_or_default());
                let after = bytes.get(end + 1..).unwrap_or_default();
                let next = after.iter().find(|byte| !byte.is_ascii_whitespace());
                if next == Some(&b':') {
                    key = text.as_ref().to_owned();
                    if depth == 1 {
                        top.clone_from(&key);
                    }
                }
                if let Some(new) = change(StringPosition { top: &top, key: &key }, &text) {
                    out.push_str(json.get(copied..at).unwrap_or_default());
                    out.push_str(&Value::from(new).to_string());
                    copied = end + 1;
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(json.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Returns the index of the closing quote of a string whose first character is at `at`.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

/// Decodes a string between its quotes. Half of a surrogate pair becomes the replacement character,
/// so that there is always text to inspect.
fn decode(inner: &str) -> Cow<'_, str> {
    let Some(first) = inner.find('\\') else { return Cow::Borrowed(inner) };
    let mut out = String::with_capacity(inner.len());
    let (plain, mut rest) = inner.split_at(first);
    out.push_str(plain);
    while let Some(escape) = rest.strip_prefix('\\') {
        let mut chars = escape.chars();
        match chars.next() {
            Some('u') => {
                let (c, used) = decode_unicode(chars.as_str());
                out.push(c);
                rest = chars.as_str().get(used..).unwrap_or_default();
            }
            Some(c) => {
                out.push(match c {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    other => other,
                });
                rest = chars.as_str();
            }
            None => break,
        }
        let next = rest.find('\\').unwrap_or(rest.len());
        let (plain, after) = rest.split_at(next);
        out.push_str(plain);
        rest = after;
    }
    Cow::Owned(out)
}

/// Returns the character whose digits a text starts with, and the length of its escape in the text.
fn decode_unicode(text: &str) -> (char, usize) {
    let unit = |from: usize| {
        text.get(from..from + 4).and_then(|digits| u32::from_str_radix(digits, 16).ok())
    };
    match unit(0) {
        Some(high @ 0xd800..0xdc00) if text.get(4..6) == Some("\\u") => match unit(6) {
            Some(low @ 0xdc00..0xe000) => {
                let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                (char::from_u32(code).unwrap_or('\u{fffd}'), 10)
            }
            _ => ('\u{fffd}', 4),
        },
        Some(code) => (char::from_u32(code).unwrap_or('\u{fffd}'), 4),
        None => ('\u{fffd}', 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_is_written_anew() {
        for (json, want) in [
            (r#"{ "a" : "x", "n": 1.10e5 }"#, r#"{ "a" : "x", "n": 1.10e5 }"#),
            (r#"{ "a" : "bad", "n": 1.10 }"#, r#"{ "a" : "good", "n": 1.10 }"#),
            (r#"{"a":["\u0062ad","ok\n"]}"#, r#"{"a":["good","ok\n"]}"#),
            (r#"{"bad":"\"bad"}"#, r#"{"good":"\"bad"}"#),
            (r#"["bad"]"#, r#"["good"]"#),
            (r#""bad""#, r#""good""#),
            (r#"{"a":"\\","b":"bad"}"#, r#"{"a":"\\","b":"good"}"#),
        ] {
            let got = rewrite(json, |_, text| (text == "bad").then(|| "good".to_owned()));
            assert_eq!(got, want);
        }
    }

    #[test]
    fn a_string_knows_where_it_stands() {
        let json = r#"{"content":[{"type":"text","text":"a"}],"meta":{"x":{"y":"b"}}}"#;
        let mut seen = Vec::new();
        let _ = rewrite(json, |place, text| {
            seen.push(format!("{}/{}={text}", place.top, place.key));
            None
        });
        let values: Vec<&str> = seen.iter().map(String::as_str).collect();
        for want in ["content/type=text", "content/text=a", "meta/y=b"] {
            assert!(values.contains(&want), "{want} in {values:?}");
        }
    }

    #[test]
    fn decoding_agrees_with_the_parser_and_bears_what_it_refuses() {
        for text in ["", "a", "a\nb\t\"\\/\u{8}\u{c}\r", "é \u{1f600} \u{e0041}", "\\u0041"] {
            let json = serde_json::to_string(text).unwrap();
            assert_eq!(decode(&json[1..json.len() - 1]), text);
        }
        assert_eq!(decode(r"\ud83d\ude00\u00e9"), "\u{1f600}é");
        assert_eq!(decode(r"\ud83dx\ude00"), "\u{fffd}x\u{fffd}");
        assert_eq!(decode(r"\ud83d\u0041"), "\u{fffd}A");
        assert_eq!(decode(r"\"), "");
    }
}
