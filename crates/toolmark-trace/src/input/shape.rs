//! Detects the layout of the records of a file by its first bytes.

use super::buffers;
use crate::format::Shape;
use toolmark_scan::{Scanner, Split, value_end};

/// Result of detecting the layout.
pub(crate) struct Decided {
    pub(crate) shape: Shape,
    /// First value, if it had to be parsed for the detection.
    pub(crate) first: Option<Parsed>,
}

/// A value in the first bytes, with its range, and the scanner that has parsed it.
pub(crate) struct Parsed {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) scanner: Scanner,
}

impl From<Shape> for Decided {
    fn from(shape: Shape) -> Self {
        Self { shape, first: None }
    }
}

/// Detects the layout by the first bytes; `complete` means that they are the whole file.
pub(crate) fn decide(head: &[u8], complete: bool) -> Decided {
    let Some(start) = head.iter().position(|b| !b.is_ascii_whitespace()) else {
        return Shape::Lines.into();
    };
    let body = &head[start..];
    match body[0] {
        b'{' => decide_object(body, start),
        b'[' => decide_array(body, complete).into(),
        _ if is_binary(head, complete) => Shape::Binary.into(),
        _ => Shape::Lines.into(),
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
fn decide_object(body: &[u8], start: usize) -> Decided {
    let Some(line_end) = memchr::memchr(b'\n', body) else {
        return if is_glued(body) { Shape::Values.into() } else { Shape::Lines.into() };
    };
    // One whole value is a line, be it JSON or not.
    if let Split::End(end) = value_end(&body[..line_end])
        && body[end..line_end].trim_ascii().is_empty()
    {
        return Shape::Lines.into();
    }
    if is_glued(&body[..line_end]) {
        return Shape::Values.into();
    }
    // A line that opens brackets and goes on below is pretty-printed; one that
    // is merely broken is followed by a line of its own.
    let line = body[..line_end].trim_ascii_end();
    match value_end(body) {
        Split::End(end) if end > line_end => match parsed(&body[..end]) {
            Some(scanner) => {
                let first = Some(Parsed { start, end: start + end, scanner });
                Decided { shape: Shape::Values, first }
            }
            None => Shape::Lines.into(),
        },
        Split::Incomplete
            if line.ends_with(b"{") || line.ends_with(b"[") || line.ends_with(b",") =>
        {
            Shape::Values.into()
        }
        _ => Shape::Lines.into(),
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

fn decide_array(body: &[u8], complete: bool) -> Shape {
    let inside = body[1..].trim_ascii_start();
    let element = inside;
    match element.first() {
        Some(b']') => {}
        // `[DEBUG]` and `[2026-01-31T…]` of a log begin like arrays.
        Some(_) => match value_end(element) {
            Split::End(end) if parses(&element[..end]) => {}
            Split::Incomplete if matches!(element[0], b'{' | b'[' | b'"') => {}
            _ => return Shape::Lines,
        },
        None if complete => return Shape::Lines,
        None => {}
    }
    let Some(line_end) = memchr::memchr(b'\n', body) else {
        return Shape::Array;
    };
    let more = body[line_end..].trim_ascii_start();
    match value_end(&body[..line_end]) {
        // Each line is an array of its own.
        Split::End(end) if body[end..line_end].trim_ascii().is_empty() && !more.is_empty() => {
            Shape::Lines
        }
        _ => Shape::Array,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        for (head, want) in [
            ("", Shape::Lines),
            ("{\"a\":1}\n{\"a\":2}\n", Shape::Lines),
            ("{\"a\":1}", Shape::Lines),
            ("{\"a\":1}{\"a\":2}", Shape::Values),
            ("{\"a\":1} {\"a\":2}\n{\"a\":3}\n", Shape::Values),
            ("{\"a\":1}{\"a\n{\"a\":3}\n", Shape::Lines),
            ("{\n  \"a\": 1\n}\n", Shape::Values),
            ("{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}\n", Shape::Values),
            ("{\n  \"a\": \"long", Shape::Values),
            ("{\"a\": \"cut\n{\"a\":1}\n", Shape::Lines),
            ("[\n  {\"a\":1},\n {\"a\":2}]", Shape::Array),
            ("[{\"a\":1}]", Shape::Array),
            ("[{\"a\":1}]\n[{\"a\":1}]\n", Shape::Lines),
            ("[]", Shape::Array),
            ("[DEBUG] start\n{\"a\":1}\n", Shape::Lines),
            ("[2026-01-31T10:00:00] exec\n", Shape::Lines),
            ("warning: x\n{\"a\":1}\n", Shape::Lines),
            ("\n\u{0}\u{12}ab", Shape::Binary),
        ] {
            assert_eq!(decide(head.as_bytes(), true).shape, want, "{head:?}");
        }
    }
}
