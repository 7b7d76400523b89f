//! The inside of a JSON string, decoded.

use std::borrow::Cow;

/// Decodes the escapes of a JSON string's inside (without the quotes).
///
/// Borrowed when there is nothing to decode. A lone surrogate becomes U+FFFD,
/// as no Rust string can hold it; an unknown escape is kept as it stands.
#[must_use]
pub fn unescape(raw: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'\\', raw.as_bytes()) else {
        return Cow::Borrowed(raw);
    };
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    let mut at = first;
    loop {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = one_escape(rest, &mut out);
        rest = &rest[taken..];
        match memchr::memchr(b'\\', rest.as_bytes()) {
            Some(next) => at = next,
            None => {
                out.push_str(rest);
                return Cow::Owned(out);
            }
        }
    }
}

/// Decodes the escape that `rest` starts with; returns how many bytes it took.
fn one_escape(rest: &str, out: &mut String) -> usize {
    let bytes = rest.as_bytes();
    let simple = match bytes.get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => return unicode_escape(bytes, out),
        _ => {
            out.push('\\');
            return 1;
        }
    };
    out.push(simple);
    2
}

fn unicode_escape(bytes: &[u8], out: &mut String) -> usize {
    let Some(high) = hex4(bytes, 2) else {
        out.push('\\');
        return 1;
    };
    if (0xD800..0xDC00).contains(&high)
        && bytes.get(6..8) == Some(b"\\u")
        && let Some(low) = hex4(bytes, 8).filter(|l| (0xDC00..0xE000).contains(l))
    {
        let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
        return 12;
    }
    out.push(char::from_u32(high).unwrap_or('\u{fffd}'));
    6
}

fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |acc, &d| Some(acc * 16 + char::from(d).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        for (raw, want) in [
            ("plain", "plain"),
            (r"a\nb\t\\\/\u0041", "a\nb\t\\/A"),
            (r"\ud83d\ude00!", "😀!"),
            (r"\ud83d", "\u{fffd}"),
            (r"\ud83d\u0041", "\u{fffd}A"),
            (r"\u12", r"\u12"),
            (r"\q", r"\q"),
            ("end\\", "end\\"),
        ] {
            assert_eq!(unescape(raw), want, "{raw}");
        }
    }
}
