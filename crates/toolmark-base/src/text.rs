//! Text cut at character boundaries.

use std::borrow::Cow;

/// Maximum number of characters of an excerpt.
const EXCERPT: usize = 160;

/// The start of a text, of at most `bytes` bytes.
///
/// ```
/// assert_eq!(toolmark_base::text::head("aé", 2), "a");
/// ```
#[must_use]
pub fn head(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

/// A text of at most `chars` characters; `…` marks what was cut.
///
/// ```
/// assert_eq!(toolmark_base::text::truncate("café au lait", 4), "café…");
/// ```
#[must_use]
pub fn truncate(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Appends a text as a literal of Python, with the quotes that Python would choose.
///
/// ```
/// let mut out = String::new();
/// toolmark_base::text::push_python("it's\n", &mut out);
/// assert_eq!(out, "\"it's\\n\"");
/// ```
pub fn push_python(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote || c == '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push(quote);
}

/// The start of a text on one line, white space folded.
#[must_use]
pub fn excerpt(text: &str) -> String {
    excerpt_of(text).into_owned()
}

/// Like [`excerpt`], without a copy where the text is one short line already.
#[must_use]
pub fn excerpt_of(text: &str) -> Cow<'_, str> {
    let is_edge = |b: Option<&u8>| b.is_some_and(u8::is_ascii_graphic);
    let bytes = text.as_bytes();
    let is_trimmed = is_edge(bytes.first()) && is_edge(bytes.last());
    let text = if is_trimmed { text } else { text.trim() };
    if text.len() <= EXCERPT && is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut chars = text.chars();
    let mut space = false;
    for (n, c) in chars.by_ref().enumerate() {
        if n == EXCERPT {
            out.push('…');
            return Cow::Owned(out);
        }
        if c.is_whitespace() {
            if !space {
                out.push(' ');
            }
            space = true;
        } else {
            out.push(c);
            space = false;
        }
    }
    Cow::Owned(out)
}

/// Whether the text is one line of ASCII without runs of spaces. All of it is examined, many bytes
/// at a time: nearly every text is.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_odd = |b: &u8| !(0x20..0x7f).contains(b);
    let follows = bytes.get(1..).unwrap_or_default();
    let runs_on = |(a, b): (&u8, &u8)| (*a == b' ') & (*b == b' ');
    !bytes.iter().fold(false, |odd, b| odd | is_odd(b))
        && !bytes.iter().zip(follows).fold(false, |runs, pair| runs | runs_on(pair))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_one_short_line() {
        assert_eq!(excerpt("  a\n\t b "), "a b");
        assert_eq!(excerpt(" a b  c "), "a b c");
        assert_eq!(excerpt(" a b c "), "a b c");
        let long = excerpt(&"é".repeat(400));
        assert_eq!(long.chars().count(), EXCERPT + 1);
    }
}
