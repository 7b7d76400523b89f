//! First pass: finds the structural characters.
//!
//! For every 64 bytes, bit masks mark quotes, backslashes, brackets and white space.
//! A carry-less prefix sum over the unescaped quotes gives the bytes inside strings.
//! All structural bytes outside strings, both quotes of each string, and the first byte
//! of each bare token are written to the index.

use crate::vector::{Best, Masks, VectorUnit, on_unit};

/// Errors that the first pass can find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexError {
    /// A disallowed control character at this byte.
    Control(usize),
    /// A backslash at this byte, followed by a character that is not a JSON escape.
    Escape(usize),
    /// The text ends inside a string.
    OpenString,
}

/// State carried from one block to the next.
#[derive(Default)]
pub(crate) struct Carry {
    escaped: u64,
    pub(crate) in_string: u64,
    token: u64,
}

/// Strings of a block, as far as its quotes determine them.
pub(crate) struct Strings {
    /// Bytes that follow an odd run of backslashes.
    escaped: u64,
    quote: u64,
    /// Bytes from each opening quote to the byte before the closing one.
    pub(crate) in_string: u64,
}

impl Carry {
    /// Finds the strings of a block. The caller sets [`Carry::in_string`] for the next block.
    #[inline(always)]
    pub(crate) fn strings<U: VectorUnit>(
        &mut self,
        unit: U,
        quote: u64,
        backslash: u64,
    ) -> Strings {
        let escaped = escaped(backslash, &mut self.escaped);
        let quote = quote & !escaped;
        Strings { escaped, quote, in_string: unit.prefix_xor(quote) ^ self.in_string }
    }

    /// Returns the structural bytes of a block.
    #[inline(always)]
    pub(crate) fn structure(&mut self, m: &Masks, strings: &Strings) -> u64 {
        let Strings { quote, in_string, .. } = strings;
        // Most blocks are the middle of a long string.
        if quote | !in_string == 0 {
            self.token = 0;
            return 0;
        }
        let token = !(m.operator | m.space | quote | in_string);
        let token_start = token & !(token << 1 | self.token);
        self.token = token >> 63;
        (m.operator & !in_string) | quote | token_start
    }
}

impl Strings {
    /// Returns the bytes of the block that are not allowed after their backslash.
    #[inline(always)]
    pub(crate) fn bad_escapes<U: VectorUnit>(
        &self,
        unit: U,
        block: &[u8; 64],
        bytes: &[u8],
        base: usize,
    ) -> u64 {
        let escaped = self.escaped & self.in_string;
        if escaped == 0 {
            return 0;
        }
        let escapes = unit.escapes(block);
        let (unknown, unicode) = (escaped & !escapes.known, escaped & escapes.unicode);
        if unicode == 0 { unknown } else { unknown | without_digits(bytes, base, unicode) }
    }
}

/// Returns all ones if the last byte is in a string.
#[inline(always)]
pub(crate) fn carried(in_string: u64) -> u64 {
    ((in_string as i64) >> 63) as u64
}

/// The positions found so far: a buffer that never shrinks, and the length of its valid part.
pub(crate) struct Positions<'a> {
    pub(crate) buffer: &'a mut Vec<u32>,
    pub(crate) count: usize,
}

impl Positions<'_> {
    /// Adds the position of every set bit.
    #[inline(always)]
    pub(crate) fn add<U: VectorUnit>(&mut self, unit: U, base: usize, bits: u64) {
        if bits == 0 {
            return;
        }
        if self.buffer.len() < self.count + 64 {
            self.grow();
        }
        let Some(room) = self.buffer[self.count..].first_chunk_mut::<64>() else { return };
        unit.write(room, base as u32, bits);
        self.count += bits.count_ones() as usize;
    }

    /// Reserves the space that a text of this length usually needs.
    pub(crate) fn expect(&mut self, length: usize) {
        let usual = length / 16 + 64;
        if self.buffer.len() < usual {
            self.buffer.resize(usual, 0);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.buffer.resize(self.buffer.len() * 2 + 64, 0);
    }
}

/// Fills `index` with the positions of the structural bytes of `bytes`; returns their
/// number. Entries of `index` beyond that number are stale.
pub(crate) fn build(bytes: &[u8], index: &mut Vec<u32>) -> Result<usize, IndexError> {
    build_on(Best::get(), bytes, index)
}

on_unit!(fn build_on(bytes: &[u8], index: &mut Vec<u32>) -> Result<usize, IndexError> = build_with);

#[inline(always)]
fn build_with<U: VectorUnit>(
    unit: U,
    bytes: &[u8],
    index: &mut Vec<u32>,
) -> Result<usize, IndexError> {
    let mut carry = Carry::default();
    let mut positions = Positions { buffer: index, count: 0 };
    positions.expect(bytes.len());
    let (blocks, tail) = bytes.as_chunks::<64>();
    for (n, block) in blocks.iter().enumerate() {
        step(unit, bytes, n * 64, block, &mut carry, &mut positions)?;
    }
    if !tail.is_empty() {
        step(unit, bytes, blocks.len() * 64, &padded(tail), &mut carry, &mut positions)?;
    }
    if carry.in_string != 0 { Err(IndexError::OpenString) } else { Ok(positions.count) }
}

/// Returns the last bytes as a block, padded with spaces.
#[inline(always)]
pub(crate) fn padded(tail: &[u8]) -> [u8; 64] {
    let mut block = [b' '; 64];
    block[..tail.len()].copy_from_slice(tail);
    block
}

#[inline(always)]
fn step<U: VectorUnit>(
    unit: U,
    bytes: &[u8],
    base: usize,
    block: &[u8; 64],
    carry: &mut Carry,
    positions: &mut Positions<'_>,
) -> Result<(), IndexError> {
    let m = unit.masks(block);
    let strings = carry.strings(unit, m.quote, m.backslash);
    carry.in_string = carried(strings.in_string);
    if m.control != 0 {
        // Control characters are white space between values, or not allowed.
        let breaks = unit.breaks(block);
        let bad = m.control & (strings.in_string | !(breaks.newline | breaks.other));
        if bad != 0 {
            return Err(IndexError::Control(base + bad.trailing_zeros() as usize));
        }
    }
    let bad = strings.bad_escapes(unit, block, bytes, base);
    if bad != 0 {
        return Err(IndexError::Escape(base + bad.trailing_zeros() as usize));
    }
    positions.add(unit, base, carry.structure(&m, &strings));
    Ok(())
}

/// Returns the marked `u` bytes that are not followed by four hexadecimal digits.
#[inline(never)]
fn without_digits(bytes: &[u8], base: usize, unicode: u64) -> u64 {
    let (mut left, mut bad) = (unicode, 0);
    while left != 0 {
        let at = base + left.trailing_zeros() as usize;
        let digits = bytes.get(at + 1..at + 5);
        if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
            bad |= left & left.wrapping_neg();
        }
        left &= left - 1;
    }
    bad
}

/// Returns the bytes that are preceded by an odd run of backslashes. The carry says whether
/// the first byte of this block is escaped, and afterwards whether that of the next block is.
///
/// Within a run of backslashes, every other byte is escaped, starting with the second.
/// Subtracting the runs from an alternating pattern makes each run alternate from its own
/// start, whether that position is even or odd.
#[inline(always)]
pub(crate) fn escaped(backslash: u64, carry: &mut u64) -> u64 {
    const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    if backslash == 0 {
        return std::mem::take(carry);
    }
    let starts = backslash & !*carry;
    let escapes_and_ends = (starts << 1 | ODD).wrapping_sub(starts) ^ ODD;
    let escaped = escapes_and_ends ^ (backslash | *carry);
    *carry = (escapes_and_ends & backslash) >> 63;
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::PlainVector;
    use proptest::prelude::*;

    fn built(unit: Best, bytes: &[u8]) -> Result<Vec<u32>, IndexError> {
        let mut index = Vec::new();
        let count = build_on(unit, bytes, &mut index)?;
        index.truncate(count);
        Ok(index)
    }

    fn plain(bytes: &[u8]) -> Result<Vec<u32>, IndexError> {
        built(Best::Plain(PlainVector), bytes)
    }

    #[test]
    fn positions_by_hand() {
        let index = plain(br#"{"a\"":12, "b":[]}"#);
        assert_eq!(index, Ok(vec![0, 1, 5, 6, 7, 9, 11, 13, 14, 15, 16, 17]));
    }

    #[test]
    fn every_byte_after_a_backslash() {
        for byte in 0..=255 {
            for before in [0, 60, 61, 62, 63, 200] {
                let mut text = vec![b' '; before];
                text.extend([b'"', b'\\', byte, b'1', b'a', b'F', b'0', b'"', b' ']);
                let wanted = plain(&text);
                let is_refused =
                    matches!(wanted, Err(IndexError::Escape(_) | IndexError::Control(_)));
                let is_known = byte == b'"' || br"\/bfnrtu".contains(&byte);
                assert_eq!(is_refused, !is_known, "{byte}");
                for unit in Best::all() {
                    assert_eq!(built(unit, &text), wanted, "{byte} after {before}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn escapes_are_found_as_by_hand(blocks in prop::collection::vec(any::<[u64; 2]>(), 1..5)) {
            let (mut carry, mut is_escaped) = (0, false);
            // Sparse, dense, and with runs across the ends.
            let masks = blocks.iter().flat_map(|[a, b]| [a & b, a | b, *a, a << 60, a >> 60, !0]);
            for backslash in masks {
                let found = escaped(backslash, &mut carry);
                for bit in 0..64 {
                    prop_assert_eq!(found >> bit & 1 == 1, is_escaped);
                    is_escaped = !is_escaped && backslash >> bit & 1 == 1;
                }
                prop_assert_eq!(carry, u64::from(is_escaped));
            }
        }

        /// Vector units and the plain loop give the same results.
        #[test]
        fn vector_equals_plain(text in r#"[ "\\{}\[\]:,a-z0-9/\n\tu\x01é]{0,400}"#) {
            let wanted = plain(text.as_bytes());
            for unit in Best::all() {
                prop_assert_eq!(built(unit, text.as_bytes()), wanted.clone());
            }
        }

        /// Same property for texts with valid strings that are dense with structure or escapes.
        #[test]
        fn vector_equals_plain_to_the_end(
            parts in prop::collection::vec(
                r#"[{}\[\]:, \n]{0,70}|"[a-zé]{0,90}"|"(\\[nt"\\/]|\\u00e9|x){0,60}"|-?[0-9]{1,5}"#,
                0..40,
            )
        ) {
            let text = parts.concat();
            let wanted = plain(text.as_bytes());
            prop_assert!(wanted.is_ok());
            for unit in Best::all() {
                prop_assert_eq!(built(unit, text.as_bytes()), wanted.clone());
            }
        }
    }
}
