//! Removal of control characters that a terminal would interpret.
//!
//! A trace contains whatever a tool printed, and a spec contains whatever its author wrote.
//! None of it may move the cursor, change the window title or reverse the text direction.

use std::borrow::Cow;

/// Returns the text without terminal control sequences. Colours are removed; other control
/// characters, including line breaks, are replaced by visible symbols.
#[must_use]
pub fn sanitize(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = after_colour(rest) {
            rest = after;
            continue;
        }
        match c {
            '\t' => out.push_str("    "),
            c => out.push(visible(c)),
        }
        rest = &rest[c.len_utf8()..];
    }
    Cow::Owned(out)
}

/// Returns the symbol to display for a character: the character itself, unless a terminal
/// would interpret it.
#[must_use]
pub fn visible(c: char) -> char {
    match c {
        c if !is_obeyed(c) => c,
        '\u{7f}' => '\u{2421}',
        // The control pictures are in the order of the characters they represent.
        c if c < ' ' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        _ => '\u{fffd}',
    }
}

/// Whether a terminal would interpret this character instead of displaying it.
#[must_use]
pub fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Introducers of escape sequences, raw or as written by programs and JSON.
const INTRODUCERS: [&str; 6] = ["\u{1b}", "\\u001b", "\\u001B", "\\x1b", "\\033", "\\e"];

/// Returns the length of the escape sequence whose bracket is at `at`, and its start.
fn sequence(text: &str, at: usize) -> Option<(usize, usize)> {
    let before = text.get(..at)?;
    let introducer = INTRODUCERS.iter().find(|start| before.ends_with(**start))?;
    let rest = text.as_bytes().get(at + 1..)?;
    let parameter = |b: &u8| b.is_ascii_digit() || matches!(b, b';' | b':' | b'?');
    let end = rest.iter().position(|b| !parameter(b))?;
    rest.get(end)?.is_ascii_alphabetic().then_some((at - introducer.len(), at + end + 2))
}

/// Returns the text without its escape sequences, or `None` if it has none.
#[must_use]
pub fn without_sequences(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut from = 0;
    for at in memchr::memchr_iter(b'[', text.as_bytes()) {
        if let Some((start, end)) = sequence(text, at)
            && start >= from
        {
            out.push_str(text.get(from..start).unwrap_or_default());
            from = end;
        }
    }
    (from > 0).then(|| out + text.get(from..).unwrap_or_default())
}

/// Whether an escape sequence ends just before byte `at`.
#[must_use]
pub fn ends_sequence(text: &[u8], at: usize) -> bool {
    /// Maximum length of an escape sequence.
    const MAX_LENGTH: usize = 24;
    let before = text.get(at.saturating_sub(MAX_LENGTH)..at).unwrap_or_default();
    let Some(bracket) = memchr::memrchr(b'[', before) else { return false };
    // The text may be cut in the middle of a character before it.
    let start = before.iter().position(|b| (*b as i8) >= -0x40).unwrap_or(0);
    let sequence_at = |text: &str| sequence(text, bracket.checked_sub(start)?);
    let part = before.get(start..).and_then(|part| std::str::from_utf8(part).ok());
    part.and_then(sequence_at).is_some_and(|(_, end)| end == before.len() - start)
}

/// Returns the text after a colour sequence (`ESC [ 1 ; 31 m`), if `text` starts with one.
fn after_colour(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("\u{1b}[")?;
    let end = inside.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    inside[end..].strip_prefix('m')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        for (text, want) in [
            ("plain", "plain"),
            ("\u{1b}[1;31mFAIL\u{1b}[0m x", "FAIL x"),
            ("\u{1b}]0;title\u{7}", "\u{241b}]0;title\u{2407}"),
            ("\u{1b}[2J", "\u{241b}[2J"),
            ("\u{1b}[", "\u{241b}["),
            ("a\tb", "a    b"),
            ("a\rb\u{8}", "a\u{240d}b\u{2408}"),
            ("\u{9b}31m", "\u{fffd}31m"),
            ("x\u{202e}y", "x\u{fffd}y"),
            ("\u{7f}", "\u{2421}"),
            ("日本 👩‍👩‍👧 é", "日本 👩‍👩‍👧 é"),
        ] {
            assert_eq!(sanitize(text), want, "{text:?}");
        }
    }
}
