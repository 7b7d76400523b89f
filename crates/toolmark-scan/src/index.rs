//! First pass: where the structural characters are.
//!
//! For every 64 bytes, bit masks say which bytes are quotes, backslashes,
//! brackets and white space. A carry-less prefix sum over the quotes that are
//! not escaped gives the bytes inside strings; everything structural outside
//! them, both quotes of each string, and the first byte of each bare token are
//! written to the index.

/// What the first pass can find wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexError {
    /// A control character inside a string, at this byte.
    Control(usize),
    /// A backslash followed by something JSON does not know, at this byte.
    Escape(usize),
    /// The text ends inside a string.
    OpenString,
}

struct Masks {
    quote: u64,
    backslash: u64,
    operator: u64,
    space: u64,
    control: u64,
}

#[derive(Default)]
struct Carry {
    escaped: u64,
    in_string: u64,
    token: u64,
}

/// Fills `index` with the positions of structural bytes of `bytes`.
pub(crate) fn build(bytes: &[u8], index: &mut Vec<u32>) -> Result<(), IndexError> {
    index.clear();
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("bmi1") {
        // SAFETY: both features were detected on the line above.
        return unsafe { x86::build(bytes, index) };
    }
    build_with(bytes, index, portable_masks)
}

#[inline(always)]
fn build_with(
    bytes: &[u8],
    index: &mut Vec<u32>,
    masks: impl Fn(&[u8; 64]) -> Masks,
) -> Result<(), IndexError> {
    let mut carry = Carry::default();
    let (blocks, tail) = bytes.as_chunks::<64>();
    for (n, block) in blocks.iter().enumerate() {
        step(bytes, n * 64, masks(block), &mut carry, index)?;
    }
    if !tail.is_empty() {
        let mut block = [b' '; 64];
        block[..tail.len()].copy_from_slice(tail);
        step(bytes, blocks.len() * 64, masks(&block), &mut carry, index)?;
    }
    if carry.in_string != 0 { Err(IndexError::OpenString) } else { Ok(()) }
}

#[inline(always)]
fn step(
    bytes: &[u8],
    base: usize,
    m: Masks,
    carry: &mut Carry,
    index: &mut Vec<u32>,
) -> Result<(), IndexError> {
    let escaped = escaped(m.backslash, &mut carry.escaped);
    let quote = m.quote & !escaped;
    let in_string = prefix_xor(quote) ^ carry.in_string;
    carry.in_string = ((in_string as i64) >> 63) as u64;

    if m.control & in_string != 0 {
        return Err(IndexError::Control(base + (m.control & in_string).trailing_zeros() as usize));
    }
    let mut to_check = escaped & in_string;
    while to_check != 0 {
        let at = base + to_check.trailing_zeros() as usize;
        if !known_escape(bytes, at) {
            return Err(IndexError::Escape(at));
        }
        to_check &= to_check - 1;
    }

    let token = !(m.operator | m.space | quote | in_string);
    let token_start = token & !(token << 1 | carry.token);
    carry.token = token >> 63;

    let mut bits = (m.operator & !in_string) | quote | token_start;
    index.reserve(64);
    while bits != 0 {
        index.push((base + bits.trailing_zeros() as usize) as u32);
        bits &= bits - 1;
    }
    Ok(())
}

/// Is the byte at `at`, which follows a backslash, an escape of JSON?
#[inline(always)]
fn known_escape(bytes: &[u8], at: usize) -> bool {
    match bytes.get(at) {
        Some(b'n' | b'"' | b'\\' | b't' | b'r' | b'/' | b'b' | b'f') => true,
        Some(b'u') => {
            bytes.get(at + 1..at + 5).is_some_and(|h| h.iter().all(u8::is_ascii_hexdigit))
        }
        _ => false,
    }
}

/// Which bytes are preceded by an odd run of backslashes.
#[inline(always)]
fn escaped(backslash: u64, carry: &mut u64) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    if backslash == 0 {
        return std::mem::take(carry);
    }
    let backslash = backslash & !*carry;
    let follows = backslash << 1 | *carry;
    let odd_starts = backslash & !EVEN & !follows;
    let (even_sequences, overflow) = odd_starts.overflowing_add(backslash);
    *carry = u64::from(overflow);
    (EVEN ^ (even_sequences << 1)) & follows
}

#[inline(always)]
fn prefix_xor(mut x: u64) -> u64 {
    x ^= x << 1;
    x ^= x << 2;
    x ^= x << 4;
    x ^= x << 8;
    x ^= x << 16;
    x ^ x << 32
}

fn portable_masks(block: &[u8; 64]) -> Masks {
    let mut m = Masks { quote: 0, backslash: 0, operator: 0, space: 0, control: 0 };
    for (i, &b) in block.iter().enumerate() {
        let bit = 1u64 << i;
        match b {
            b'"' => m.quote |= bit,
            b'\\' => m.backslash |= bit,
            b'{' | b'}' | b'[' | b']' | b':' | b',' => m.operator |= bit,
            b' ' => m.space |= bit,
            b'\t' | b'\n' | b'\r' => {
                m.space |= bit;
                m.control |= bit;
            }
            0..0x20 => m.control |= bit,
            _ => {}
        }
    }
    m
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{IndexError, Masks, build_with};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2,bmi1")]
    pub(super) fn build(bytes: &[u8], index: &mut Vec<u32>) -> Result<(), IndexError> {
        build_with(bytes, index, |block| masks(block))
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1")]
    fn masks(block: &[u8; 64]) -> Masks {
        // SAFETY: both loads stay inside the 64 bytes of `block`.
        let (low, high) = unsafe {
            let at = block.as_ptr().cast::<__m256i>();
            (_mm256_loadu_si256(at), _mm256_loadu_si256(at.add(1)))
        };
        let both = |l: __m256i, h: __m256i| {
            u64::from(_mm256_movemask_epi8(l) as u32)
                | u64::from(_mm256_movemask_epi8(h) as u32) << 32
        };
        let equals = |c: u8| {
            let c = _mm256_set1_epi8(c as i8);
            both(_mm256_cmpeq_epi8(low, c), _mm256_cmpeq_epi8(high, c))
        };
        let brackets = |v: __m256i| {
            let folded = _mm256_or_si256(v, _mm256_set1_epi8(0x20));
            let separators = _mm256_or_si256(
                _mm256_cmpeq_epi8(v, _mm256_set1_epi8(b':' as i8)),
                _mm256_cmpeq_epi8(v, _mm256_set1_epi8(b',' as i8)),
            );
            _mm256_or_si256(
                _mm256_or_si256(
                    _mm256_cmpeq_epi8(folded, _mm256_set1_epi8(b'{' as i8)),
                    _mm256_cmpeq_epi8(folded, _mm256_set1_epi8(b'}' as i8)),
                ),
                separators,
            )
        };
        let control = |v: __m256i| _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(0x1f)), v);
        // A table over the low nibble holds, at each white-space byte's place, that byte itself.
        let table = _mm256_setr_epi8(
            b' ' as i8,
            0x7f,
            0x7f,
            0x7f,
            0x7f,
            0x7f,
            0x7f,
            0x7f,
            0x7f,
            b'\t' as i8,
            b'\n' as i8,
            0x7f,
            0x7f,
            b'\r' as i8,
            0x7f,
            0x7f,
            b' ' as i8,
            0x7f,
            0x7f,
            0x7f,
            0x7f,
            0x7f,
            0x7f,
            0x7f,
            0x7f,
            b'\t' as i8,
            b'\n' as i8,
            0x7f,
            0x7f,
            b'\r' as i8,
            0x7f,
            0x7f,
        );
        let space = |v: __m256i| _mm256_cmpeq_epi8(v, _mm256_shuffle_epi8(table, v));
        Masks {
            quote: equals(b'"'),
            backslash: equals(b'\\'),
            operator: both(brackets(low), brackets(high)),
            space: both(space(low), space(high)),
            control: both(control(low), control(high)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn portable(bytes: &[u8]) -> (Result<(), IndexError>, Vec<u32>) {
        let mut index = Vec::new();
        (build_with(bytes, &mut index, portable_masks), index)
    }

    #[test]
    fn positions_by_hand() {
        let (result, index) = portable(br#"{"a\"":12, "b":[]}"#);
        assert_eq!(result, Ok(()));
        assert_eq!(index, [0, 1, 5, 6, 7, 9, 11, 13, 14, 15, 16, 17]);
    }

    proptest! {
        /// The vector unit and the plain loop see the same bytes the same way.
        #[test]
        fn vector_equals_portable(text in r#"[ "\\{}\[\]:,a-f0-9\n\tu\x01é]{0,400}"#) {
            let mut index = Vec::new();
            let fast = build(text.as_bytes(), &mut index);
            let (slow, expected) = portable(text.as_bytes());
            prop_assert_eq!(fast, slow);
            if slow.is_ok() {
                prop_assert_eq!(index, expected);
            }
        }
    }
}
