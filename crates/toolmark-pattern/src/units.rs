//! JavaScript regular expressions without the `u` flag.
//!
//! Without the flag, a character is a UTF-16 unit: `.` matches half of a character beyond
//! the first 65,536, `\p{L}` is a `p` followed by text in braces, and `\u{61}` is 61 times
//! `u`. Halves of characters are replaced by characters of a private area, both in the
//! pattern and in the text, so that the same engines find the same matches.

use super::{Pattern, PatternError, StepLimit};
use std::borrow::Cow;

/// First of the characters that replace the units from 0xD800 on.
const STAND_INS: u32 = 0x10_D800;

/// A JavaScript regular expression without the `u` flag.
#[derive(Debug, Clone)]
pub struct UnitPattern(Pattern);

impl UnitPattern {
    /// Parses a pattern with the flags of [`Pattern::with_flags`].
    pub fn with_flags(source: &str, flags: &str) -> Result<Self, PatternError> {
        Pattern::with_flags(&rewritten(source), flags).map(Self)
    }

    /// Returns whether the pattern matches somewhere in a text.
    pub fn is_match(&self, text: &str) -> Result<bool, StepLimit> {
        self.0.is_match(&in_units(text))
    }
}

fn is_beyond(c: char) -> bool {
    c as u32 > 0xFFFF
}

fn stand_in(unit: u16) -> Option<char> {
    let offset = u32::from(unit).checked_sub(0xD800)?;
    char::from_u32(STAND_INS + offset).filter(|_| unit < 0xE000)
}

/// Returns the text with two characters for each character of two units.
fn in_units(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_beyond) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() * 2);
    text.chars().for_each(|c| push(c, &mut out));
    Cow::Owned(out)
}

fn push(c: char, out: &mut String) {
    if !is_beyond(c) {
        out.push(c);
        return;
    }
    let mut units = [0; 2];
    out.extend(c.encode_utf16(&mut units).iter().filter_map(|unit| stand_in(*unit)));
}

/// Rewrites the parts of the pattern that have a different meaning without the flag.
fn rewritten(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut chars = source.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            push(c, &mut out);
            continue;
        }
        let rest = chars.as_str();
        let unit = || u16::from_str_radix(rest.strip_prefix('u')?.get(..4)?, 16).ok();
        match rest.chars().next() {
            Some('p' | 'P') => {}
            Some('u') if rest.starts_with("u{") => {}
            Some('u') if let Some(half) = unit().and_then(stand_in) => {
                out.push(half);
                chars = rest[5..].chars();
            }
            Some(next) => {
                out.push('\\');
                push(next, &mut out);
                chars.next();
            }
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_units() {
        for (source, text, found) in [
            (r"^\p{L}$", "p{L}", true),
            (r"\p{L}", "a", false),
            (r"^\u{3}$", "uuu", true),
            (r"\u{61}", "a", false),
            (r"\u0061", "a", true),
            ("^.$", "\u{1F600}", false),
            ("^..$", "\u{1F600}", true),
            ("^.$", "\u{e9}", true),
            ("\u{1F600}", "x\u{1F600}y", true),
            (r"\uD83D\uDE00", "\u{1F600}", true),
            (r"^\uD83D", "\u{1F600}", true),
            ("^[\u{1F600}]$", "\u{1F600}", false),
            ("^[^a]{2}$", "\u{1F600}", true),
            (r"\d+", "42", true),
            (r"\\p", r"\p", true),
        ] {
            let pattern = UnitPattern::with_flags(source, "").unwrap();
            assert_eq!(pattern.is_match(text), Ok(found), "{source} {text}");
        }
        assert!(UnitPattern::with_flags("(", "").is_err());
    }
}
