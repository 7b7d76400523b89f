//! Escapes text for the inside of a JSON string.

use crate::index::padded;
use crate::vector::{Best, VectorUnit, on_unit};

/// Appends a text to `out` as the inside of a JSON string, without the surrounding quotes.
///
/// ```
/// let mut out = Vec::new();
/// toolmark_scan::escape("a \"b\"\n", &mut out);
/// assert_eq!(out, br#"a \"b\"\n"#);
/// ```
pub fn escape(text: &str, out: &mut Vec<u8>) {
    escape_on(Best::get(), text.as_bytes(), out);
}

on_unit!(fn escape_on(bytes: &[u8], out: &mut Vec<u8>) -> () = escape_with);

#[inline(always)]
fn escape_with<U: VectorUnit>(unit: U, bytes: &[u8], out: &mut Vec<u8>) {
    // Arguments are JSON in JSON: up to one byte of three is a quote.
    out.reserve(bytes.len() + bytes.len() / 2);
    let (blocks, tail) = bytes.as_chunks::<64>();
    for block in blocks {
        put_block(unit, block, block.len(), out);
    }
    if !tail.is_empty() {
        put_block(unit, &padded(tail), tail.len(), out);
    }
}

/// Appends the first `length` bytes of a block; the bytes after them need no escape.
#[inline(always)]
fn put_block<U: VectorUnit>(unit: U, block: &[u8; 64], length: usize, out: &mut Vec<u8>) {
    /// Maximum length of an escaped block: one that consists of quotes only.
    const MAX_ESCAPED: usize = 128;
    let masks = unit.masks(block);
    let marked = masks.quote | masks.backslash;
    if masks.control != 0 {
        block.iter().take(length).for_each(|byte| put_byte(out, *byte));
        return;
    }
    if marked == 0 {
        out.extend_from_slice(block.get(..length).unwrap_or_default());
        return;
    }
    let (mut room, mut filled) = ([0; MAX_ESCAPED], 0);
    let eights = block.as_chunks::<8>().0.iter().enumerate();
    for (n, eight) in eights.take(length.div_ceil(8)) {
        let marked = (marked >> (8 * n)) as u8;
        if let Some(room) = room.get_mut(filled..filled + 16) {
            room.copy_from_slice(&unit.spread(eight, marked));
        }
        filled += 8 + marked.count_ones() as usize;
    }
    let behind = length.next_multiple_of(8) - length;
    out.extend_from_slice(room.get(..filled - behind).unwrap_or_default());
}

fn put_byte(out: &mut Vec<u8>, byte: u8) {
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        0x20.. => out.push(byte),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        0x08 => out.extend_from_slice(b"\\b"),
        0x0c => out.extend_from_slice(b"\\f"),
        _ => {
            let digit = |n: u8| b"0123456789abcdef"[usize::from(n & 15)];
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[digit(byte >> 4), digit(byte)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn assert_escaped(text: &str) {
        let quoted = serde_json::to_string(text).unwrap();
        for unit in Best::all() {
            let mut out = b"before".to_vec();
            escape_on(unit, text.as_bytes(), &mut out);
            let out = String::from_utf8(out).unwrap();
            assert_eq!(out.strip_prefix("before"), quoted.get(1..quoted.len() - 1), "{text:?}");
        }
    }

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..0x80_u8 {
            for length in 1..130 {
                let mut text = "x".repeat(length);
                text.replace_range(length - 1.., char::from(byte).encode_utf8(&mut [0; 4]));
                assert_escaped(&text);
            }
            assert_escaped(&char::from(byte).to_string().repeat(200));
        }
        assert_escaped("");
    }

    proptest! {
        #[test]
        fn it_is_what_serde_json_writes(
            text in r#"[a"]{0,200}|["\\\\]{0,150}|[a-z" é\\\\\t]{0,200}|\PC{0,100}"#,
        ) {
            assert_escaped(&text);
        }
    }
}
