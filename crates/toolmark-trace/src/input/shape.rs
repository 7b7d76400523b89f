//! Detects the layout of the records of a file by its first bytes.

use super::buffers;
use crate::format::RecordLayout;
use toolmark_scan::{Scanner, Split, value_end};

/// Result of detecting the layout.
pub(crate) struct DetectedLayout {
    pub(crate) shape: RecordLayout,
    /// First value, if it had to be parsed for the detection.
    pub(crate) first: Option<ParsedValue>,
}

/// A value in the first bytes, with its range, and the scanner that has parsed it.
pub(crate) struct ParsedValue {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) scanner: Scanner,
}

impl From<RecordLayout> for DetectedLayout {
    fn from(shape: RecordLayout) -> Self {
        Self { shape, first: None }
    }
}

/// Detects the layout by the first bytes; `complete` means that they are the whole file.
pub(crate) fn decide(head: &[u8], complete: bool) -> DetectedLayout {
    let Some(start) = head.iter().position(|b| !b.is_ascii_whitespace()) else {
        return RecordLayout::Lines.into();
    };
    let body = &head[start..];
    match body[0] {
        b'{' => decide_object(body, start),
        b'[' => decide_array(body, complete).into(),
        _ if is_binary(head, complete) => RecordLayout::Binary.into(),
        _ => RecordLayout::Lines.into(),
    }
}

fn is_binary(head: &[u8], complete: bool) -> bool {
    if memchr::memchr(0, head).is_some() {
        return true;
    }
    match std::str::from_utf8(head) {
        Ok(_) => false,
        // The head may end inside a character.
        Err(e) => complete || e.error_len().is_some() || e.valid_up_to() + 4 < head.len(),
    }
}

/// Parses these bytes and returns the scanner; `None` if they are not JSON.
fn parsed(bytes: &[u8]) -> Option<Scanner> {
    let mut scanner = buffers::scanner();
    let is_json = std::str::from_utf8(bytes).is_ok_and(|text| scanner.parse(text).is_ok());
    is_json.then_some(scanner)
}

fn parses(bytes: &[u8]) -> bool {
    parsed(bytes).map(buffers::keep_scanner).is_some()
}

/// Detects the layout of a file that begins with an object; `start` is the offset of the body
/// in the file.
fn decide_object(body: &[u8], start: usize) -> DetectedLayout {
    let Some(line_end) = memchr::memchr(b'\n', body) else {
        return if is_glued(body) {
            RecordLayout::Values.into()
        } else {
            RecordLayout::Lines.into()
        };
    };
    // One whole value is a line, be it JSON or not.
    if let Split::End(end) = value_end(&body[..line_end])
        && body[end..line_end].trim_ascii().is_empty()
    {
        return RecordLayout::Lines.into();
    }
    if is_glued(&body[..line_end]) {
        return RecordLayout::Values.into();
    }
    // A line that opens brackets and goes on below is pretty-printed; one that
    // is merely broken is followed by a line of its own.
    let line = body[..line_end].trim_ascii_end();
    match value_end(body) {
        Split::End(end) if end > line_end => match parsed(&body[..end]) {
            Some(scanner) => {
                let first = Some(ParsedValue { start, end: start + end, scanner });
                DetectedLayout { shape: RecordLayout::Values, first }
            }
            None => RecordLayout::Lines.into(),
        },
        Split::Incomplete
            if line.ends_with(b"{") || line.ends_with(b"[") || line.ends_with(b",") =>
        {
            RecordLayout::Values.into()
        }
        _ => RecordLayout::Lines.into(),
    }
}

/// Returns whether the line contains several whole objects. Programs that crash between an
/// object and its line end leave such lines.
fn is_glued(line: &[u8]) -> bool {
    let mut rest = line.trim_ascii_end();
    let mut objects = 0;
    while rest.first() == Some(&b'{') {
        let Split::End(end) = value_end(rest) else { return false };
        let after = rest[end..].trim_ascii_start();
        if (objects == 0 && after.is_empty()) || !parses(&rest[..end]) {
            return false;
        }
        rest = after;
        objects += 1;
    }
    objects > 1 && rest.is_empty()
}

fn decide_array(body: &[u8], complete: bool) -> RecordLayout {
    let inside = body[1..].trim_ascii_start();
    let element = inside;
    match element.first() {
        Some(b']') => {}
        // `[DEBUG]` and `[2026-01-31T…]` of a log begin like arrays.
        Some(_) => match value_end(element) {
            Split::End(end) if parses(&element[..end]) => {}
            Split::Incomplete if matches!(element[0], b'{' | b'[' | b'"') => {}
            _ => return RecordLayout::Lines,
        },
        None if complete => return RecordLayout::Lines,
        None => {}
    }
    let Some(line_end) = memchr::memchr(b'\n', body) else {
        return RecordLayout::Array;
    };
    let more = body[line_end..].trim_ascii_start();
    match value_end(&body[..line_end]) {
        // Each line is an array of its own.
        Split::End(end) if body[end..line_end].trim_ascii().is_empty() && !more.is_empty() => {
            RecordLayout::Lines
        }
        _ => RecordLayout::Array,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        for (head, want) in [
            ("", RecordLayout::Lines),
            ("{\"a\":1}\n{\"a\":2}\n", RecordLayout::Lines),
            ("{\"a\":1}", RecordLayout::Lines),
            ("{\"a\":1}{\"a\":2}", RecordLayout::Values),
            ("{\"a\":1} {\"a\":2}\n{\"a\":3}\n", RecordLayout::Values),
            ("{\"a\":1}{\"a\n{\"a\":3}\n", RecordLayout::Lines),
            ("{\n  \"a\": 1\n}\n", RecordLayout::Values),
            ("{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}\n", RecordLayout::Values),
            ("{\n  \"a\": \"long", RecordLayout::Values),
            ("{\"a\": \"cut\n{\"a\":1}\n", RecordLayout::Lines),
            ("[\n  {\"a\":1},\n {\"a\":2}]", RecordLayout::Array),
            ("[{\"a\":1}]", RecordLayout::Array),
            ("[{\"a\":1}]\n[{\"a\":1}]\n", RecordLayout::Lines),
            ("[]", RecordLayout::Array),
            ("[DEBUG] start\n{\"a\":1}\n", RecordLayout::Lines),
            ("[2026-01-31T10:00:00] exec\n", RecordLayout::Lines),
            ("warning: x\n{\"a\":1}\n", RecordLayout::Lines),
            ("\n\u{0}\u{12}ab", RecordLayout::Binary),
        ] {
            assert_eq!(decide(head.as_bytes(), true).shape, want, "{head:?}");
        }
    }
}
