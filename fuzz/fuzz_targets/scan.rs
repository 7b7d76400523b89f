//! The scanner against serde: both accept the same texts and see the same values, and what
//! is escaped is what serde escapes and is itself once it is unescaped. Lines
//! that are indexed together are what they are alone, what is not UTF-8 is noticed, and
//! what was found in another text breaks nothing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use toolmark_scan::{JsonKind, TextLines, Scanner, Utf8, Value};

fuzz_target!(|data: &[u8]| {
    let mut lines = TextLines::default();
    let is_valid = matches!(lines.find(data.to_vec()), Utf8::Valid(text) if text.as_bytes() == data);
    assert_eq!(is_valid, std::str::from_utf8(data).is_ok());
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut escaped = b"\"".to_vec();
    toolmark_scan::escape(text, &mut escaped);
    escaped.push(b'"');
    assert_eq!(Some(&*escaped), serde_json::to_vec(text).ok().as_deref());
    let inside = escaped.get(1..escaped.len() - 1).and_then(|inside| std::str::from_utf8(inside).ok());
    assert_eq!(inside.map(toolmark_scan::unescape).as_deref(), Some(text));
    let mut scanner = Scanner::new();
    let ours = scanner.parse(text);
    let theirs = serde_json::from_str::<serde_json::Value>(text);
    match (ours, theirs) {
        (Ok(doc), Ok(value)) => {
            if doc.depth() < 100 {
                assert_eq!(rebuilt(doc.root()), Some(value));
            }
        }
        (Err(_), Err(_)) => {}
        // What we read and serde does not: lone surrogates, NaN, deep nesting, numbers out of range.
        (Ok(_), Err(_)) => {}
        (Err(error), Ok(_)) => panic!("refused valid JSON: {error}"),
    }

    let mut alone = Scanner::new();
    let split: Vec<&str> = text.split_terminator('\n').collect();
    assert_eq!(lines.count(), split.len());
    for (n, line) in split.iter().enumerate() {
        let Some((start, end)) = lines.span(n) else { panic!("no line {n}") };
        assert_eq!(&text[start..end], *line);
        let together = scanner.parse_line(line, start, &lines, n).map(|doc| spans(doc.root()));
        assert_eq!(together, alone.parse(line).map(|doc| spans(doc.root())), "{line:?}");
        assert_eq!(scanner.again(line).map(|doc| spans(doc.root())), together.ok());
    }
    let mut rest = text.chars();
    while rest.next().is_some() && rest.as_str().len() + 64 > text.len() {
        let other = rest.as_str();
        scanner.again(other).map(|doc| spans(doc.root()));
        let _ = scanner.parse_line(other, 0, &lines, 0).map(|doc| spans(doc.root()));
    }
});

/// Returns the positions of all values and keys up to the maximum depth, and reads each.
fn spans(value: Value<'_>) -> Vec<(usize, usize)> {
    let (mut found, mut left) = (Vec::new(), vec![value]);
    while let Some(value) = left.pop() {
        assert_eq!(value.raw().chars().count() == 0, value.raw().is_empty());
        found.push(value.span());
        left.extend(value.fields().flat_map(|(key, value)| [key, value]));
        left.extend(value.items());
    }
    found
}

/// `None` where a value holds what serde reads differently.
fn rebuilt(value: Value<'_>) -> Option<serde_json::Value> {
    use serde_json::Value as V;
    Some(match value.kind() {
        JsonKind::Object => {
            let mut map = serde_json::Map::new();
            for (key, value) in value.fields() {
                map.insert(key.str()?.into_owned(), rebuilt(value)?);
            }
            V::Object(map)
        }
        JsonKind::Array => V::Array(value.items().map(rebuilt).collect::<Option<_>>()?),
        JsonKind::String => V::String(value.str()?.into_owned()),
        _ => serde_json::from_str(value.raw()).ok()?,
    })
}
