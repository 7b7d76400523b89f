//! Decodes the inside of a JSON string.

use crate::vector::{Best, VectorUnit, on_unit};
use std::borrow::Cow;

/// Decodes the escapes in the inside of a JSON string (without the quotes).
///
/// Borrows the input if there is nothing to decode. A lone surrogate becomes U+FFFD,
/// because a Rust string cannot hold it; an unknown escape is kept unchanged.
#[must_use]
pub fn unescape(raw: &str) -> Cow<'_, str> {
    let bytes = raw.as_bytes();
    let Some(first) = memchr::memchr(b'\\', bytes) else {
        return Cow::Borrowed(raw);
    };
    // Never longer than the escaped text, except for a piece that is truncated again.
    let mut out = Vec::with_capacity(bytes.len() + PIECE);
    out.extend_from_slice(&bytes[..first]);
    decode_on(Best::get(), &bytes[first..], &mut out);
    // SAFETY: pieces of a `str` that begin and end beside an ASCII character, and
    // characters.
    Cow::Owned(unsafe { String::from_utf8_unchecked(out) })
}

on_unit!(fn decode_on(bytes: &[u8], out: &mut Vec<u8>) -> () = decode_with);

/// Appends `bytes` with their escapes decoded.
#[inline(always)]
fn decode_with<U: VectorUnit>(unit: U, bytes: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < bytes.len() {
        at += unit.decode(&bytes[at..], out);
        if bytes.get(at) == Some(&b'\\') {
            at += one_escape(&bytes[at..], out);
        }
        at += copy_until_escape(&bytes[at..], out);
    }
}

/// Number of bytes compared and copied at once: code has an escape every few dozen bytes.
const PIECE: usize = 16;

/// Copies the bytes before the next backslash; returns their number.
#[inline(always)]
fn copy_until_escape(bytes: &[u8], out: &mut Vec<u8>) -> usize {
    let mut at = 0;
    let (pieces, rest) = bytes.as_chunks::<PIECE>();
    for piece in pieces {
        let plain = first_backslash(piece);
        out.extend_from_slice(piece);
        at += plain;
        if plain < PIECE {
            out.truncate(out.len() - (PIECE - plain));
            return at;
        }
    }
    let plain = rest.iter().position(|b| *b == b'\\').unwrap_or(rest.len());
    out.extend_from_slice(&rest[..plain]);
    at + plain
}

/// Returns the number of bytes of a piece before its first backslash.
#[cfg(target_arch = "x86_64")]
#[inline]
fn first_backslash(piece: &[u8; PIECE]) -> usize {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    // SAFETY: every processor of this kind has SSE2, and the piece has 16 bytes.
    let found = unsafe {
        let bytes = _mm_loadu_si128(piece.as_ptr().cast());
        _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\\' as i8)))
    };
    (found | 1 << PIECE).trailing_zeros() as usize
}

/// Returns the number of bytes of a piece before its first backslash.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn first_backslash(piece: &[u8; PIECE]) -> usize {
    const EACH: u128 = u128::MAX / 0xff;
    // A byte that is zero where there is a backslash; the lowest of those that the
    // subtraction marks is one.
    let apart = u128::from_le_bytes(*piece) ^ (EACH * b'\\' as u128);
    let marked = apart.wrapping_sub(EACH) & !apart & (EACH << 7);
    (marked.trailing_zeros() / 8) as usize
}

/// Decodes the escape at the start of `bytes`; returns its length in bytes.
#[inline(always)]
fn one_escape(bytes: &[u8], out: &mut Vec<u8>) -> usize {
    let simple = match bytes.get(1) {
        Some(b'n') => b'\n',
        Some(b't') => b'\t',
        Some(b'r') => b'\r',
        Some(c @ (b'"' | b'\\' | b'/')) => *c,
        Some(b'b') => 8,
        Some(b'f') => 12,
        Some(b'u') => return unicode_escape(bytes, out),
        _ => {
            out.push(b'\\');
            return 1;
        }
    };
    out.push(simple);
    2
}

fn unicode_escape(bytes: &[u8], out: &mut Vec<u8>) -> usize {
    let mut push = |code| {
        let c = char::from_u32(code).unwrap_or('\u{fffd}');
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    };
    let Some(high) = hex4(bytes, 2) else {
        push(u32::from(b'\\'));
        return 1;
    };
    if (0xD800..0xDC00).contains(&high)
        && bytes.get(6..8) == Some(b"\\u")
        && let Some(low) = hex4(bytes, 8).filter(|l| (0xDC00..0xE000).contains(l))
    {
        let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        push(code);
        return 12;
    }
    push(high);
    6
}

fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |acc, &d| Some(acc * 16 + char::from(d).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::PlainVector;
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn all_units_decode_alike(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "\\\\", "\\n", "\\t", "\\r", "\\\"", "\\/", "\\b", "\\f", "\\u00e9", "\\ud83d", "\\q", "\\",
                    "a", "words of some length, ", "\u{e9}", "\u{1f600}", "                                ",
                ]),
                0..200,
            ),
        ) {
            let raw = parts.concat();
            let decoded = |unit| {
                let mut out = Vec::new();
                decode_on(unit, raw.as_bytes(), &mut out);
                String::from_utf8(out)
            };
            let wanted = decoded(Best::Plain(PlainVector));
            prop_assert!(wanted.is_ok());
            for unit in Best::all() {
                prop_assert_eq!(&decoded(unit), &wanted);
            }
        }
    }

    #[test]
    fn escapes_wherever_they_stand_in_a_piece() {
        // Bytes beside a backslash in value, and characters of several bytes.
        for around in ["a", "[", "]", "\u{dc}", "\u{20ac}", "\u{1f600}"] {
            for before in 0..40 {
                for between in 0..20 {
                    let raw =
                        [&around.repeat(before), "\\n", &around.repeat(between), "\\\\x"].concat();
                    let want =
                        [&around.repeat(before), "\n", &around.repeat(between), "\\x"].concat();
                    assert_eq!(unescape(&raw), want, "{raw}");
                }
            }
        }
    }
}
