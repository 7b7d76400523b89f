//! Edits of JSON text that leave the rest unchanged: appending to an object or array, and
//! removing a part. Inserted text follows the layout of the surrounding text.

use super::jsonc::{JsoncKind, JsoncNode, skip_line, skip_trivia};
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};
use std::ops::Range;

/// Layout of a text.
#[derive(Debug)]
pub(super) struct EditStyle {
    unit: String,
    newline: &'static str,
    /// Whether everything is on one line.
    compact: bool,
}

impl EditStyle {
    /// Returns the style of a text.
    pub(super) fn of(text: &str, root: &JsoncNode) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = root.parts().first().map(|part| part.start);
        let inside = &text[root.span.clone()];
        let unit = first.map(|at| indentation(text, at)).filter(|unit| !unit.is_empty());
        let compact = first.is_some() && !inside.contains('\n');
        Self { unit: unit.unwrap_or("  ").to_owned(), newline, compact }
    }

    /// Formats a value at an indentation.
    fn written(&self, value: &Value, indent: &str) -> String {
        if self.compact {
            return value.to_string();
        }
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(self.unit.as_bytes());
        let mut serializer = Serializer::with_formatter(&mut bytes, formatter);
        if value.serialize(&mut serializer).is_err() {
            return value.to_string();
        }
        let text = String::from_utf8(bytes).unwrap_or_else(|_| value.to_string());
        text.replace('\n', &format!("{}{indent}", self.newline))
    }
}

/// Returns the indentation of the line, if only white space precedes the position.
fn indentation(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let before = &text[start..at];
    if start > 0 && before.chars().all(|c| c == ' ' || c == '\t') { before } else { "" }
}

/// Returns the indentation of the line that contains the position.
fn line_indentation(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = text[start..].trim_start_matches('\u{feff}');
    let end = line.find(|c| c != ' ' && c != '\t').unwrap_or(line.len());
    &line[..end]
}

/// Returns the text with a member appended to an object.
pub(super) fn add_member(
    text: &str,
    style: &EditStyle,
    object: &JsoncNode,
    key: &str,
    value: &Value,
) -> String {
    let key = Value::from(key).to_string();
    let colon = if style.compact { ":" } else { ": " };
    put(text, style, object, |indent| format!("{key}{colon}{}", style.written(value, indent)))
}

/// Returns the text with an item appended to an array.
pub(super) fn add_item(text: &str, style: &EditStyle, array: &JsoncNode, value: &Value) -> String {
    put(text, style, array, |indent| style.written(value, indent))
}

fn put(
    text: &str,
    style: &EditStyle,
    whole: &JsoncNode,
    written: impl Fn(&str) -> String,
) -> String {
    let parts = whole.parts();
    let close = whole.span.end - 1;
    let outer = line_indentation(text, whole.span.start);
    let Some(last) = parts.last() else {
        // There may be comments between the brackets.
        let inside = text[whole.span.start + 1..close].trim_end();
        let kept = whole.span.start + 1 + inside.len();
        if style.compact {
            return splice(text, kept..close, &written(""));
        }
        let indent = format!("{outer}{}", style.unit);
        let newline = style.newline;
        let part = format!("{newline}{indent}{}{newline}{outer}", written(&indent));
        return splice(text, kept..close, &part);
    };
    let after = skip_trivia(text, last.end);
    let comma = (text.as_bytes().get(after) == Some(&b',')).then_some(after);
    // A comment on the line of the last part stays there.
    let place = skip_line(text, comma.map_or(last.end, |comma| comma + 1));
    let own_line = parts.iter().rev().map(|part| indentation(text, part.start));
    let part = match own_line.into_iter().find(|indent| !indent.is_empty()) {
        Some(indent) => format!("{}{indent}{}", style.newline, written(indent)),
        None if style.compact => written(""),
        None => format!(" {}", written(outer)),
    };
    let text = splice(text, place..place, &part);
    if comma.is_some() { text } else { splice(&text, last.end..last.end, ",") }
}

/// Returns the text without one part of an object or array.
pub(super) fn take(text: &str, whole: &JsoncNode, index: usize) -> String {
    let parts = whole.parts();
    let Some(part) = parts.get(index) else { return text.to_owned() };
    let mut gone: Vec<Range<usize>> = Vec::new();
    let after = skip_trivia(text, part.end);
    if text.as_bytes().get(after) == Some(&b',') {
        gone.push(after..after + 1);
    } else if let Some(previous) = index.checked_sub(1).and_then(|index| parts.get(index)) {
        let comma = skip_trivia(text, previous.end);
        gone.push(comma..comma + 1);
    }
    let blank = text[..part.start].trim_end_matches([' ', '\t', '\r', '\n']).len();
    gone.push(blank.max(whole.span.start + 1)..part.end);
    gone.sort_by_key(|range| range.start);
    let mut left = text.to_owned();
    for range in gone.into_iter().rev() {
        left.replace_range(range, "");
    }
    if parts.len() > 1 {
        return left;
    }
    // Nothing but white space between the brackets.
    let open = whole.span.start + 1;
    let rest = &left[open..];
    let close = if matches!(whole.kind, JsoncKind::Array(_)) { ']' } else { '}' };
    match rest.find(|c: char| !c.is_ascii_whitespace()) {
        Some(end) if rest[end..].starts_with(close) => splice(&left, open..open + end, ""),
        _ => left,
    }
}

/// Returns the text with a range replaced.
pub(super) fn splice(text: &str, range: Range<usize>, with: &str) -> String {
    let mut text = text.to_owned();
    text.replace_range(range, with);
    text
}

#[cfg(test)]
mod tests {
    use super::super::jsonc::parse;
    use super::*;
    use serde_json::json;

    fn added(text: &str) -> String {
        let root = parse(text).unwrap();
        let style = EditStyle::of(text, &root);
        let text = add_member(text, &style, &root, "new", &json!({"k": [1]}));
        parse(&text).unwrap_or_else(|broken| panic!("{broken:?}: {text}"));
        text
    }

    #[test]
    fn a_member_is_laid_out_as_its_neighbours() {
        for (text, expected) in [
            ("{}", "{\n  \"new\": {\n    \"k\": [\n      1\n    ]\n  }\n}"),
            ("{\"a\":1}", "{\"a\":1,\"new\":{\"k\":[1]}}"),
            (
                "{\n\t\"a\": 1 // one\n}\n",
                "{\n\t\"a\": 1, // one\n\t\"new\": {\n\t\t\"k\": [\n\t\t\t1\n\t\t]\n\t}\n}\n",
            ),
            (
                "{\r\n    \"a\": 1,\r\n}",
                "{\r\n    \"a\": 1,\r\n    \"new\": {\r\n        \"k\": [\r\n            1\r\n        ]\r\n    }\r\n}",
            ),
            (
                "{\n  // nothing yet\n}",
                "{\n  // nothing yet\n  \"new\": {\n    \"k\": [\n      1\n    ]\n  }\n}",
            ),
            (
                "{\n  \"a\": 1\n  /* end */\n}",
                "{\n  \"a\": 1,\n  \"new\": {\n    \"k\": [\n      1\n    ]\n  }\n  /* end */\n}",
            ),
        ] {
            assert_eq!(added(text), expected);
        }
    }

    #[test]
    fn what_was_put_in_can_be_taken_out() {
        for text in [
            "{}",
            "{\"a\":1}",
            "{\n\t\"a\": 1 // one\n}\n",
            "{\n  \"a\": 1, // one\n  \"b\": [] /* two */ // three\n  // end\n}",
            "{\r\n    \"a\": 1\r\n}",
            "{ \"a\": 1 }",
            "\u{feff}{\n  \"a\": {\n    \"b\": 2\n  }\n}",
        ] {
            let with = added(text);
            let root = parse(&with).unwrap();
            assert_eq!(take(&with, &root, root.parts().len() - 1), text);
        }
    }

    #[test]
    fn any_part_can_be_taken_out() {
        let text = "{\n  \"a\": 1, // one\n  // of b\n  \"b\": 2,\n  \"c\": 3 // three\n}";
        for (index, expected) in [
            (0, "{ // one\n  // of b\n  \"b\": 2,\n  \"c\": 3 // three\n}"),
            (1, "{\n  \"a\": 1, // one\n  // of b\n  \"c\": 3 // three\n}"),
            (2, "{\n  \"a\": 1, // one\n  // of b\n  \"b\": 2 // three\n}"),
        ] {
            let left = take(text, &parse(text).unwrap(), index);
            assert_eq!(left, expected);
            parse(&left).unwrap();
        }
        assert_eq!(take("[ 1 ]", &parse("[ 1 ]").unwrap(), 0), "[]");
        assert_eq!(take("[1, /* x */]", &parse("[1, /* x */]").unwrap(), 0), "[ /* x */]");
    }
}
