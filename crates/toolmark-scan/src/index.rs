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

/// The bytes of a block that may follow a backslash.
struct Escapes {
    /// Everything JSON knows, the `u` included.
    known: u64,
    /// The `u` that wants four digits.
    unicode: u64,
}

/// The positions found so far: a buffer that is never shrunk, and how much of it counts.
struct Positions<'a> {
    buffer: &'a mut Vec<u32>,
    count: usize,
}

impl Positions<'_> {
    /// Adds the position of every set bit.
    #[inline(always)]
    fn add(&mut self, base: u32, bits: u64, write: &impl Fn(&mut [u32; 64], u32, u64)) {
        if self.buffer.len() < self.count + 64 {
            self.grow();
        }
        let Some(room) = self.buffer[self.count..].first_chunk_mut::<64>() else { return };
        write(room, base, bits);
        self.count += bits.count_ones() as usize;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let grown = (self.buffer.len() * 2).max(1024);
        self.buffer.resize(grown, 0);
    }
}

/// What a vector unit does with a block of 64 bytes.
struct Unit<M, P, E, W> {
    masks: M,
    prefix_xor: P,
    escapes: E,
    /// Writes the positions of all set bits, and may write anything behind them.
    write: W,
}

/// Fills `index` with the positions of structural bytes of `bytes`; returns
/// how many there are. What `index` holds beyond is left over.
pub(crate) fn build(bytes: &[u8], index: &mut Vec<u32>) -> Result<usize, IndexError> {
    #[cfg(target_arch = "x86_64")]
    match x86::level() {
        // SAFETY: the features of both were detected.
        x86::Level::Avx512 => return unsafe { x86::avx512::build(bytes, index) },
        x86::Level::Avx2 => return unsafe { x86::avx2::build(bytes, index) },
        x86::Level::Base => {}
    }
    build_portable(bytes, index)
}

fn build_portable(bytes: &[u8], index: &mut Vec<u32>) -> Result<usize, IndexError> {
    let unit = Unit {
        masks: portable_masks,
        prefix_xor,
        escapes: portable_escapes,
        write: |room: &mut [u32; 64], base, bits| write_positions(room, base, bits),
    };
    build_with(bytes, index, &unit)
}

#[inline(always)]
fn build_with<M, P, E, W>(
    bytes: &[u8],
    index: &mut Vec<u32>,
    unit: &Unit<M, P, E, W>,
) -> Result<usize, IndexError>
where
    M: Fn(&[u8; 64]) -> Masks,
    P: Fn(u64) -> u64,
    E: Fn(&[u8; 64]) -> Escapes,
    W: Fn(&mut [u32; 64], u32, u64),
{
    let mut carry = Carry::default();
    let mut positions = Positions { buffer: index, count: 0 };
    let (blocks, tail) = bytes.as_chunks::<64>();
    for (n, block) in blocks.iter().enumerate() {
        step(bytes, n * 64, block, unit, &mut carry, &mut positions)?;
    }
    if !tail.is_empty() {
        let mut block = [b' '; 64];
        block[..tail.len()].copy_from_slice(tail);
        step(bytes, blocks.len() * 64, &block, unit, &mut carry, &mut positions)?;
    }
    if carry.in_string != 0 { Err(IndexError::OpenString) } else { Ok(positions.count) }
}

#[inline(always)]
fn step<M, P, E, W>(
    bytes: &[u8],
    base: usize,
    block: &[u8; 64],
    unit: &Unit<M, P, E, W>,
    carry: &mut Carry,
    positions: &mut Positions<'_>,
) -> Result<(), IndexError>
where
    M: Fn(&[u8; 64]) -> Masks,
    P: Fn(u64) -> u64,
    E: Fn(&[u8; 64]) -> Escapes,
    W: Fn(&mut [u32; 64], u32, u64),
{
    let m = (unit.masks)(block);
    let escaped = escaped(m.backslash, &mut carry.escaped);
    let quote = m.quote & !escaped;
    let in_string = (unit.prefix_xor)(quote) ^ carry.in_string;
    carry.in_string = ((in_string as i64) >> 63) as u64;

    if m.control != 0 {
        check_controls(bytes, base, m.control, in_string)?;
    }
    let escaped = escaped & in_string;
    if escaped != 0 {
        let escapes = (unit.escapes)(block);
        let (unknown, unicode) = (escaped & !escapes.known, escaped & escapes.unicode);
        if unknown | unicode != 0 {
            check_escapes(bytes, base, unknown, unicode)?;
        }
    }

    let token = !(m.operator | m.space | quote | in_string);
    let token_start = token & !(token << 1 | carry.token);
    carry.token = token >> 63;
    let found = (m.operator & !in_string) | quote | token_start;
    if found != 0 {
        positions.add(base as u32, found, &unit.write);
    }
    Ok(())
}

/// Writes the position of every set bit, and up to seven more: a loop that ends
/// where the bits do is guessed wrong at every end.
#[inline(always)]
fn write_positions(room: &mut [u32; 64], base: u32, mut bits: u64) {
    for part in room.as_chunks_mut::<8>().0 {
        for slot in part {
            *slot = base.wrapping_add(bits.trailing_zeros());
            bits &= bits.wrapping_sub(1);
        }
        if bits == 0 {
            break;
        }
    }
}

/// Control characters are not allowed in strings, and between values only as
/// white space.
#[inline(never)]
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

/// Finds the first byte that may not follow its backslash.
#[inline(never)]
fn check_escapes(
    bytes: &[u8],
    base: usize,
    unknown: u64,
    mut unicode: u64,
) -> Result<(), IndexError> {
    let mut bad = unknown;
    while unicode != 0 {
        if !has_four_digits(bytes, base + unicode.trailing_zeros() as usize) {
            bad |= unicode & unicode.wrapping_neg();
        }
        unicode &= unicode - 1;
    }
    match bad {
        0 => Ok(()),
        bad => Err(IndexError::Escape(base + bad.trailing_zeros() as usize)),
    }
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

fn portable_escapes(block: &[u8; 64]) -> Escapes {
    let mut escapes = Escapes { known: 0, unicode: 0 };
    for (i, b) in block.iter().enumerate() {
        let is_known = matches!(b, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' | b'u');
        escapes.known |= u64::from(is_known) << i;
        escapes.unicode |= u64::from(*b == b'u') << i;
    }
    escapes
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Escapes, IndexError, Masks, Unit, build_with};
    use std::arch::x86_64::*;
    use std::sync::OnceLock;

    /// What the processor can do.
    #[derive(Clone, Copy)]
    pub(super) enum Level {
        Base,
        Avx2,
        Avx512,
    }

    pub(super) fn level() -> Level {
        static LEVEL: OnceLock<Level> = OnceLock::new();
        *LEVEL.get_or_init(|| match (avx512::is_available(), avx2::is_available()) {
            (true, _) => Level::Avx512,
            (_, true) => Level::Avx2,
            _ => Level::Base,
        })
    }

    /// Multiplying by all ones without carrying is a prefix sum of bits.
    #[inline]
    #[target_feature(enable = "pclmulqdq")]
    fn prefix_xor(x: u64) -> u64 {
        let product =
            _mm_clmulepi64_si128(_mm_set_epi64x(0, x as i64), _mm_set1_epi8(0xff_u8 as i8), 0);
        _mm_cvtsi128_si64(product) as u64
    }

    /// Each operator is in the table at the place of its own low nibble, so one
    /// comparison finds all six; `[` and `]` differ from `{` and `}` in the bit that
    /// is set. (Four comparisons joined with "or" would be taken apart into single
    /// bytes by the optimiser.)
    const OPERATORS: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, b':', b'{', b',', b'}', 0, 0];

    /// Which halves of bytes may follow a backslash: one bit for each high half that
    /// occurs (2, 5, 6, 7), and under each low half the bits of those it goes with.
    const ESCAPE_HIGH: [u8; 16] = [0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0];
    const ESCAPE_LOW: [u8; 16] = [0, 0, 13, 0, 8, 8, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1];

    pub(super) mod avx2 {
        use super::*;
        use crate::index::write_positions;

        pub(in crate::index) fn is_available() -> bool {
            std::arch::is_x86_feature_detected!("avx2")
                && std::arch::is_x86_feature_detected!("bmi1")
                && std::arch::is_x86_feature_detected!("pclmulqdq")
                && std::arch::is_x86_feature_detected!("popcnt")
        }

        #[target_feature(enable = "avx2,bmi1,pclmulqdq,popcnt")]
        pub(in crate::index) fn build(
            bytes: &[u8],
            index: &mut Vec<u32>,
        ) -> Result<usize, IndexError> {
            let unit = Unit {
                masks: |block: &[u8; 64]| masks(block),
                prefix_xor: |x| prefix_xor(x),
                escapes: |block: &[u8; 64]| escapes(block),
                write: |room: &mut [u32; 64], base, bits| write_positions(room, base, bits),
            };
            build_with(bytes, index, &unit)
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn load(block: &[u8; 64]) -> (__m256i, __m256i) {
            let at = block.as_ptr().cast::<__m256i>();
            // SAFETY: both loads stay inside the 64 bytes of `block`.
            unsafe { (_mm256_loadu_si256(at), _mm256_loadu_si256(at.add(1))) }
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn bits(low: __m256i, high: __m256i) -> u64 {
            u64::from(_mm256_movemask_epi8(low) as u32)
                | u64::from(_mm256_movemask_epi8(high) as u32) << 32
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn table(entries: [u8; 16]) -> __m256i {
            let entries = u128::from_le_bytes(entries);
            let (low, high) = (entries as i64, (entries >> 64) as i64);
            _mm256_setr_epi64x(low, high, low, high)
        }

        #[inline]
        #[target_feature(enable = "avx2,bmi1,pclmulqdq,popcnt")]
        fn masks(block: &[u8; 64]) -> Masks {
            let (low, high) = load(block);
            let is = |v: __m256i, c: u8| _mm256_cmpeq_epi8(v, _mm256_set1_epi8(c as i8));
            let at_most =
                |v: __m256i, c: i8| _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(c)), v);
            let either = |c: u8| bits(is(low, c), is(high, c));
            let operator = |v: __m256i| {
                let folded = _mm256_or_si256(v, _mm256_set1_epi8(0x20));
                _mm256_cmpeq_epi8(folded, _mm256_shuffle_epi8(table(OPERATORS), v))
            };
            Masks {
                quote: either(b'"'),
                backslash: either(b'\\'),
                operator: bits(operator(low), operator(high)),
                space: bits(at_most(low, 0x20), at_most(high, 0x20)),
                control: bits(at_most(low, 0x1f), at_most(high, 0x1f)),
            }
        }

        #[inline]
        #[target_feature(enable = "avx2,bmi1,pclmulqdq,popcnt")]
        fn escapes(block: &[u8; 64]) -> Escapes {
            let (low, high) = load(block);
            let unknown = |v: __m256i| {
                let first = _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(0x0f));
                let first = _mm256_shuffle_epi8(table(ESCAPE_HIGH), first);
                let second = _mm256_shuffle_epi8(table(ESCAPE_LOW), v);
                _mm256_cmpeq_epi8(_mm256_and_si256(first, second), _mm256_setzero_si256())
            };
            let unicode = |v: __m256i| _mm256_cmpeq_epi8(v, _mm256_set1_epi8(b'u' as i8));
            Escapes {
                known: !bits(unknown(low), unknown(high)),
                unicode: bits(unicode(low), unicode(high)),
            }
        }
    }

    /// Comparisons give masks at once, and the processor packs the positions.
    pub(super) mod avx512 {
        use super::*;

        pub(in crate::index) fn is_available() -> bool {
            std::arch::is_x86_feature_detected!("avx512f")
                && std::arch::is_x86_feature_detected!("avx512bw")
                && std::arch::is_x86_feature_detected!("avx512vbmi2")
                && std::arch::is_x86_feature_detected!("bmi1")
                && std::arch::is_x86_feature_detected!("pclmulqdq")
                && std::arch::is_x86_feature_detected!("popcnt")
        }

        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,pclmulqdq,popcnt")]
        pub(in crate::index) fn build(
            bytes: &[u8],
            index: &mut Vec<u32>,
        ) -> Result<usize, IndexError> {
            let unit = Unit {
                masks: |block: &[u8; 64]| masks(block),
                prefix_xor: |x| prefix_xor(x),
                escapes: |block: &[u8; 64]| escapes(block),
                write: |room: &mut [u32; 64], base, bits| write(room, base, bits),
            };
            build_with(bytes, index, &unit)
        }

        #[inline]
        #[target_feature(enable = "avx512f")]
        fn load(block: &[u8; 64]) -> __m512i {
            // SAFETY: `block` has the 64 bytes that are loaded.
            unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
        }

        #[inline]
        #[target_feature(enable = "avx512f")]
        fn table(entries: [u8; 16]) -> __m512i {
            let entries = u128::from_le_bytes(entries);
            _mm512_broadcast_i32x4(_mm_set_epi64x((entries >> 64) as i64, entries as i64))
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        fn masks(block: &[u8; 64]) -> Masks {
            let v = load(block);
            let is = |c: u8| _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(c as i8));
            let folded = _mm512_or_si512(v, _mm512_set1_epi8(0x20));
            Masks {
                quote: is(b'"'),
                backslash: is(b'\\'),
                operator: _mm512_cmpeq_epi8_mask(folded, _mm512_shuffle_epi8(table(OPERATORS), v)),
                space: _mm512_cmple_epu8_mask(v, _mm512_set1_epi8(0x20)),
                control: _mm512_cmplt_epu8_mask(v, _mm512_set1_epi8(0x20)),
            }
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        fn escapes(block: &[u8; 64]) -> Escapes {
            let v = load(block);
            let first = _mm512_and_si512(_mm512_srli_epi16::<4>(v), _mm512_set1_epi8(0x0f));
            let first = _mm512_shuffle_epi8(table(ESCAPE_HIGH), first);
            let second = _mm512_shuffle_epi8(table(ESCAPE_LOW), v);
            Escapes {
                known: _mm512_test_epi8_mask(first, second),
                unicode: _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(b'u' as i8)),
            }
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
        fn write(room: &mut [u32; 64], base: u32, bits: u64) {
            const PLACES: [u8; 64] = {
                let mut places = [0; 64];
                let mut i = 0;
                while i < 64 {
                    places[i] = i as u8;
                    i += 1;
                }
                places
            };
            let base = _mm512_set1_epi32(base as i32);
            let packed = _mm512_maskz_compress_epi8(bits, load(&PLACES));
            let put = |part: &mut [u32; 16], places: __m128i| {
                let positions = _mm512_add_epi32(_mm512_cvtepu8_epi32(places), base);
                // SAFETY: `part` has room for the 64 bytes that are stored.
                unsafe { _mm512_storeu_si512(part.as_mut_ptr().cast(), positions) };
            };
            let [first, second, third, fourth] = room.as_chunks_mut::<16>().0 else { return };
            put(first, _mm512_castsi512_si128(packed));
            let count = bits.count_ones();
            if count > 16 {
                put(second, _mm512_extracti32x4_epi32::<1>(packed));
            }
            if count > 32 {
                put(third, _mm512_extracti32x4_epi32::<2>(packed));
                put(fourth, _mm512_extracti32x4_epi32::<3>(packed));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Build = fn(&[u8], &mut Vec<u32>) -> Result<usize, IndexError>;

    /// Every way of building an index that this processor has.
    fn builds() -> Vec<Build> {
        let mut builds: Vec<Build> = vec![build];
        #[cfg(target_arch = "x86_64")]
        {
            // SAFETY: the features of both are detected before.
            if x86::avx2::is_available() {
                builds.push(|bytes, index| unsafe { x86::avx2::build(bytes, index) });
            }
            if x86::avx512::is_available() {
                builds.push(|bytes, index| unsafe { x86::avx512::build(bytes, index) });
            }
        }
        builds
    }

    #[test]
    fn positions_by_hand() {
        let mut index = Vec::new();
        let result = build_portable(br#"{"a\"":12, "b":[]}"#, &mut index);
        assert_eq!(result, Ok(12));
        assert_eq!(index[..12], [0, 1, 5, 6, 7, 9, 11, 13, 14, 15, 16, 17]);
    }

    #[test]
    fn every_byte_after_a_backslash() {
        for byte in 0..=255 {
            for before in [0, 60, 61, 62, 63, 200] {
                let mut text = vec![b' '; before];
                text.extend([b'"', b'\\', byte, b'1', b'a', b'F', b'0', b'"', b' ']);
                let wanted = build_portable(&text, &mut Vec::new());
                let is_known = byte == b'"' || br"\/bfnrtu".contains(&byte);
                assert_eq!(
                    !matches!(wanted, Err(IndexError::Escape(_) | IndexError::Control(_))),
                    is_known,
                    "{byte}"
                );
                for build in builds() {
                    assert_eq!(build(&text, &mut Vec::new()), wanted, "{byte} after {before}");
                }
            }
        }
    }

    proptest! {
        /// The vector units and the plain loop see the same bytes the same way.
        #[test]
        fn vector_equals_portable(text in r#"[ "\\{}\[\]:,a-z0-9/\n\tu\x01é]{0,400}"#) {
            let mut expected = Vec::new();
            let slow = build_portable(text.as_bytes(), &mut expected);
            for build in builds() {
                let mut index = Vec::new();
                prop_assert_eq!(build(text.as_bytes(), &mut index), slow);
                if let Ok(count) = slow {
                    prop_assert_eq!(&index[..count], &expected[..count]);
                }
            }
        }

        /// The same for texts whose strings are sound, dense with structure or with escapes.
        #[test]
        fn vector_equals_portable_to_the_end(
            parts in prop::collection::vec(
                r#"[{}\[\]:, \n]{0,70}|"[a-zé]{0,90}"|"(\\[nt"\\/]|\\u00e9|x){0,60}"|-?[0-9]{1,5}"#,
                0..40,
            )
        ) {
            let text = parts.concat();
            let mut expected = Vec::new();
            let count = build_portable(text.as_bytes(), &mut expected);
            prop_assert!(count.is_ok());
            for build in builds() {
                let mut index = Vec::new();
                prop_assert_eq!(build(text.as_bytes(), &mut index), count);
                prop_assert_eq!(&index[..count.unwrap()], &expected[..count.unwrap()]);
            }
        }
    }
}
