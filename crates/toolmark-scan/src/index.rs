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
    /// A control character that is not allowed there, at this byte.
    Control(usize),
    /// A backslash followed by something JSON does not know, at this byte.
    Escape(usize),
    /// The text ends inside a string.
    OpenString,
}

/// One bit per byte of a block of 64.
struct Masks {
    quote: u64,
    backslash: u64,
    operator: u64,
    /// The space and everything below it.
    space: u64,
    /// Everything below the space.
    control: u64,
}

#[derive(Default)]
struct Carry {
    escaped: u64,
    in_string: u64,
    token: u64,
}

/// The positions found so far: a buffer that is never shrunk, and how much of it counts.
struct Positions<'a> {
    buffer: &'a mut Vec<u32>,
    count: usize,
}

impl Positions<'_> {
    /// Adds the position of every set bit.
    #[inline(always)]
    fn add(&mut self, base: u32, mut bits: u64) {
        if self.buffer.len() < self.count + 64 {
            let grown = (self.buffer.len() * 2).max(1024);
            self.buffer.resize(grown, 0);
        }
        let Some(room) = self.buffer[self.count..].first_chunk_mut::<64>() else { return };
        let found = bits.count_ones() as usize;
        let mut i = 0;
        while bits != 0 {
            // The mask says to the compiler what the loop cannot exceed.
            room[i & 63] = base + bits.trailing_zeros();
            bits &= bits - 1;
            i += 1;
        }
        self.count += found;
    }
}

/// Fills `index` with the positions of structural bytes of `bytes`; returns
/// how many there are. What `index` holds beyond is left over.
pub(crate) fn build(bytes: &[u8], index: &mut Vec<u32>) -> Result<usize, IndexError> {
    #[cfg(target_arch = "x86_64")]
    if x86::is_available() {
        // SAFETY: the features were just detected.
        return unsafe { x86::build(bytes, index) };
    }
    build_with(bytes, index, portable_masks, prefix_xor)
}

#[inline(always)]
fn build_with(
    bytes: &[u8],
    index: &mut Vec<u32>,
    masks: impl Fn(&[u8; 64]) -> Masks,
    prefix_xor: impl Fn(u64) -> u64,
) -> Result<usize, IndexError> {
    let mut carry = Carry::default();
    let mut positions = Positions { buffer: index, count: 0 };
    let (blocks, tail) = bytes.as_chunks::<64>();
    for (n, block) in blocks.iter().enumerate() {
        step(bytes, n * 64, &masks(block), &prefix_xor, &mut carry, &mut positions)?;
    }
    if !tail.is_empty() {
        let mut block = [b' '; 64];
        block[..tail.len()].copy_from_slice(tail);
        let base = blocks.len() * 64;
        step(bytes, base, &masks(&block), &prefix_xor, &mut carry, &mut positions)?;
    }
    if carry.in_string != 0 { Err(IndexError::OpenString) } else { Ok(positions.count) }
}

#[inline(always)]
fn step(
    bytes: &[u8],
    base: usize,
    m: &Masks,
    prefix_xor: &impl Fn(u64) -> u64,
    carry: &mut Carry,
    positions: &mut Positions<'_>,
) -> Result<(), IndexError> {
    let escaped = escaped(m.backslash, &mut carry.escaped);
    let quote = m.quote & !escaped;
    let in_string = prefix_xor(quote) ^ carry.in_string;
    carry.in_string = ((in_string as i64) >> 63) as u64;

    if m.control != 0 {
        check_controls(bytes, base, m.control, in_string)?;
    }
    check_escapes(bytes, base, escaped & in_string)?;

    let token = !(m.operator | m.space | quote | in_string);
    let token_start = token & !(token << 1 | carry.token);
    carry.token = token >> 63;
    positions.add(base as u32, (m.operator & !in_string) | quote | token_start);
    Ok(())
}

/// Control characters are not allowed in strings, and between values only as
/// white space.
#[cold]
fn check_controls(
    bytes: &[u8],
    base: usize,
    control: u64,
    in_string: u64,
) -> Result<(), IndexError> {
    let mut left = control;
    while left != 0 {
        let bit = left & left.wrapping_neg();
        let at = base + left.trailing_zeros() as usize;
        if in_string & bit != 0 || !matches!(bytes.get(at), Some(b'\t' | b'\n' | b'\r')) {
            return Err(IndexError::Control(at));
        }
        left ^= bit;
    }
    Ok(())
}

/// What may follow a backslash; 2 for the `u` that wants four digits.
static ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    let simple = b"\"\\/bfnrt";
    let mut i = 0;
    while i < simple.len() {
        table[simple[i] as usize] = 1;
        i += 1;
    }
    table[b'u' as usize] = 2;
    table
};

#[inline(always)]
fn check_escapes(bytes: &[u8], base: usize, mut escaped: u64) -> Result<(), IndexError> {
    while escaped != 0 {
        let at = base + escaped.trailing_zeros() as usize;
        match bytes.get(at).map_or(0, |b| ESCAPES[*b as usize]) {
            1 => {}
            2 if has_four_digits(bytes, at) => {}
            _ => return Err(IndexError::Escape(at)),
        }
        escaped &= escaped - 1;
    }
    Ok(())
}

fn has_four_digits(bytes: &[u8], at: usize) -> bool {
    bytes.get(at + 1..at + 5).is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit))
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
            0..0x20 => {
                m.space |= bit;
                m.control |= bit;
            }
            _ => {}
        }
    }
    m
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{IndexError, Masks, build_with};
    use std::arch::x86_64::*;

    pub(super) fn is_available() -> bool {
        std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("pclmulqdq")
            && std::arch::is_x86_feature_detected!("popcnt")
    }

    #[target_feature(enable = "avx2,bmi1,pclmulqdq,popcnt")]
    pub(super) fn build(bytes: &[u8], index: &mut Vec<u32>) -> Result<usize, IndexError> {
        build_with(bytes, index, |block| masks(block), |x| prefix_xor(x))
    }

    /// Multiplying by all ones without carrying is a prefix sum of bits.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,pclmulqdq,popcnt")]
    fn prefix_xor(x: u64) -> u64 {
        let product =
            _mm_clmulepi64_si128(_mm_set_epi64x(0, x as i64), _mm_set1_epi8(0xff_u8 as i8), 0);
        _mm_cvtsi128_si64(product) as u64
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,pclmulqdq,popcnt")]
    fn masks(block: &[u8; 64]) -> Masks {
        // SAFETY: both loads stay inside the 64 bytes of `block`.
        let (low, high) = unsafe {
            let at = block.as_ptr().cast::<__m256i>();
            (_mm256_loadu_si256(at), _mm256_loadu_si256(at.add(1)))
        };
        let both = |low: __m256i, high: __m256i| {
            u64::from(_mm256_movemask_epi8(low) as u32)
                | u64::from(_mm256_movemask_epi8(high) as u32) << 32
        };
        let is = |v: __m256i, c: u8| _mm256_cmpeq_epi8(v, _mm256_set1_epi8(c as i8));
        let at_most =
            |v: __m256i, c: i8| _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(c)), v);
        let either = |c: u8| both(is(low, c), is(high, c));
        // Each operator is in the table at the place of its own low nibble,
        // so one comparison finds all six; `[` and `]` differ from `{` and `}` in
        // the bit that is set. (Four comparisons joined with "or" would be taken
        // apart into single bytes by the optimiser.)
        let table = _mm256_setr_epi64x(
            0,
            i64::from_le_bytes([0, 0, b':', b'{', b',', b'}', 0, 0]),
            0,
            i64::from_le_bytes([0, 0, b':', b'{', b',', b'}', 0, 0]),
        );
        let operator = |v: __m256i| {
            let folded = _mm256_or_si256(v, _mm256_set1_epi8(0x20));
            _mm256_cmpeq_epi8(folded, _mm256_shuffle_epi8(table, v))
        };
        Masks {
            quote: either(b'"'),
            backslash: either(b'\\'),
            operator: both(operator(low), operator(high)),
            space: both(at_most(low, 0x20), at_most(high, 0x20)),
            control: both(at_most(low, 0x1f), at_most(high, 0x1f)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn portable(bytes: &[u8]) -> (Result<usize, IndexError>, Vec<u32>) {
        let mut index = Vec::new();
        (build_with(bytes, &mut index, portable_masks, prefix_xor), index)
    }

    #[test]
    fn positions_by_hand() {
        let (result, index) = portable(br#"{"a\"":12, "b":[]}"#);
        assert_eq!(result, Ok(12));
        assert_eq!(index[..12], [0, 1, 5, 6, 7, 9, 11, 13, 14, 15, 16, 17]);
    }

    proptest! {
        /// The vector unit and the plain loop see the same bytes the same way.
        #[test]
        fn vector_equals_portable(text in r#"[ "\\{}\[\]:,a-z0-9/\n\tu\x01é]{0,400}"#) {
            let mut index = Vec::new();
            let fast = build(text.as_bytes(), &mut index);
            let (slow, expected) = portable(text.as_bytes());
            prop_assert_eq!(fast, slow);
            if let Ok(count) = slow {
                prop_assert_eq!(&index[..count], &expected[..count]);
            }
        }
    }
}
