//! Operations on 64 bytes at a time with the vector units of processors.

use crate::kinds::Kinds;
use crate::prefixes::{Tables, WINDOW};
use std::sync::OnceLock;

/// Character classes of a block of 64 bytes, one bit per byte.
pub(crate) struct Masks {
    pub(crate) quote: u64,
    pub(crate) backslash: u64,
    /// Brackets, colons and commas; also control characters, which are an error anywhere.
    pub(crate) operator: u64,
    /// The space and all bytes below it.
    pub(crate) space: u64,
    /// All bytes below the space.
    pub(crate) control: u64,
    /// All bytes that are not ASCII.
    pub(crate) foreign: u64,
}

/// Bytes of a block that may follow a backslash.
pub(crate) struct Escapes {
    /// All characters of JSON escapes, including `u`.
    pub(crate) known: u64,
    /// The `u`, which must be followed by four digits.
    pub(crate) unicode: u64,
}

/// The quotes, backslashes and brackets of a block.
pub(crate) struct Brackets {
    pub(crate) quote: u64,
    pub(crate) backslash: u64,
    pub(crate) opening: u64,
    pub(crate) closing: u64,
}

/// White space of a block other than the space.
pub(crate) struct Breaks {
    pub(crate) newline: u64,
    /// Tabs and carriage returns.
    pub(crate) other: u64,
}

/// A vector unit.
pub(crate) trait VectorUnit: Copy {
    fn masks(self, block: &[u8; 64]) -> Masks;
    fn escapes(self, block: &[u8; 64]) -> Escapes;
    fn brackets(self, block: &[u8; 64]) -> Brackets;
    fn breaks(self, block: &[u8; 64]) -> Breaks;
    /// Returns the bytes of each kind.
    fn kinds(self, kinds: &Kinds, block: &[u8; 64]) -> [u64; 8];
    /// Returns which of 64 positions may begin one of the texts of the tables.
    fn prefixes(self, tables: &Tables, window: &[u8; WINDOW]) -> u64;
    /// Appends the start of a text with its escapes decoded, up to a rare or invalid escape;
    /// returns the number of bytes read. Returns 0 if decoding piece by piece is as fast.
    #[inline(always)]
    fn decode(self, _: &[u8], _: &mut Vec<u8>) -> usize {
        0
    }
    /// Returns the carry-less prefix sum of bits: the bits between pairs of set bits.
    fn prefix_xor(self, bits: u64) -> u64;
    /// Writes the positions of all set bits; entries behind them may be overwritten.
    fn write(self, room: &mut [u32; 64], base: u32, bits: u64);
    /// Returns eight bytes with a backslash before every marked one; the rest is unspecified.
    fn spread(self, eight: &[u8; 8], marked: u8) -> [u8; 16];
}

/// Sources of the bytes of [`VectorUnit::spread`] for every set of marks: one of the eight bytes,
/// or the backslash after them.
static SPREAD: [[u8; 16]; 256] = {
    let mut table = [[0; 16]; 256];
    let mut marked = 0;
    while marked < table.len() {
        let (mut from, mut to) = (0, 0);
        while from < 8 {
            if marked >> from & 1 != 0 {
                table[marked][to] = 8;
                to += 1;
            }
            table[marked][to] = from;
            (from, to) = (from + 1, to + 1);
        }
        marked += 1;
    }
    table
};

/// The available vector units.
#[derive(Clone, Copy)]
pub(crate) enum Best {
    #[cfg(target_arch = "x86_64")]
    Avx512(x86::Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx2(x86::Avx2),
    Plain(PlainVector),
}

impl Best {
    /// Returns the best unit that this processor has.
    pub(crate) fn get() -> Self {
        static BEST: OnceLock<Best> = OnceLock::new();
        *BEST.get_or_init(|| Self::all().into_iter().next().unwrap_or(Self::Plain(PlainVector)))
    }

    /// Returns all units that this processor has, best first.
    pub(crate) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(x86::Avx512::detect().map(Self::Avx512));
            all.extend(x86::Avx2::detect().map(Self::Avx2));
        }
        all.push(Self::Plain(PlainVector));
        all
    }
}

/// Defines a function that runs `$with` on a given unit, compiled for that unit.
macro_rules! on_unit {
    ($visible:vis fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty = $with:ident) => {
        $visible fn $name(unit: $crate::vector::Best, $($arg: $type),*) -> $result {
            #[cfg(target_arch = "x86_64")]
            {
                use $crate::vector::x86::{Avx2, Avx512};
                #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,pclmulqdq,popcnt")]
                fn avx512(unit: Avx512, $($arg: $type),*) -> $result {
                    $with(unit, $($arg),*)
                }
                #[target_feature(enable = "avx2,bmi1,pclmulqdq,popcnt")]
                fn avx2(unit: Avx2, $($arg: $type),*) -> $result {
                    $with(unit, $($arg),*)
                }
                match unit {
                    // SAFETY: there is such a unit only where its features were detected.
                    $crate::vector::Best::Avx512(unit) => unsafe { avx512(unit, $($arg),*) },
                    // SAFETY: as above.
                    $crate::vector::Best::Avx2(unit) => unsafe { avx2(unit, $($arg),*) },
                    $crate::vector::Best::Plain(unit) => $with(unit, $($arg),*),
                }
            }
            #[cfg(not(target_arch = "x86_64"))]
            {
                let $crate::vector::Best::Plain(unit) = unit;
                $with(unit, $($arg),*)
            }
        }
    };
}
pub(crate) use on_unit;

/// Fallback without a vector unit: one byte at a time.
#[derive(Clone, Copy)]
pub(crate) struct PlainVector;

impl PlainVector {
    fn mask(block: &[u8; 64], test: impl Fn(u8) -> bool) -> u64 {
        block.iter().enumerate().fold(0, |mask, (i, &b)| mask | u64::from(test(b)) << i)
    }
}

impl VectorUnit for PlainVector {
    #[inline]
    fn masks(self, block: &[u8; 64]) -> Masks {
        let mut m = Masks { quote: 0, backslash: 0, operator: 0, space: 0, control: 0, foreign: 0 };
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
                0x80.. => m.foreign |= bit,
                _ => {}
            }
        }
        m
    }

    #[inline]
    fn escapes(self, block: &[u8; 64]) -> Escapes {
        Escapes {
            known: Self::mask(block, |b| b == b'"' || br"\/bfnrtu".contains(&b)),
            unicode: Self::mask(block, |b| b == b'u'),
        }
    }

    #[inline]
    fn brackets(self, block: &[u8; 64]) -> Brackets {
        Brackets {
            quote: Self::mask(block, |b| b == b'"'),
            backslash: Self::mask(block, |b| b == b'\\'),
            opening: Self::mask(block, |b| matches!(b, b'{' | b'[')),
            closing: Self::mask(block, |b| matches!(b, b'}' | b']')),
        }
    }

    #[inline]
    fn breaks(self, block: &[u8; 64]) -> Breaks {
        Breaks {
            newline: Self::mask(block, |b| b == b'\n'),
            other: Self::mask(block, |b| matches!(b, b'\t' | b'\r')),
        }
    }

    #[inline]
    fn kinds(self, kinds: &Kinds, block: &[u8; 64]) -> [u64; 8] {
        std::array::from_fn(|kind| Self::mask(block, |b| kinds.of(b) >> kind & 1 != 0))
    }

    #[inline]
    fn prefixes(self, tables: &Tables, window: &[u8; WINDOW]) -> u64 {
        (0..64).fold(0, |found, at| {
            let begins = tables.iter().any(|kinds| {
                let bytes = kinds.iter().zip(&window[at..]);
                bytes.fold(u8::MAX, |groups, (kinds, byte)| groups & kinds.of(*byte)) != 0
            });
            found | u64::from(begins) << at
        })
    }

    #[inline]
    fn prefix_xor(self, mut bits: u64) -> u64 {
        for shift in [1, 2, 4, 8, 16, 32] {
            bits ^= bits << shift;
        }
        bits
    }

    #[inline]
    fn write(self, room: &mut [u32; 64], base: u32, bits: u64) {
        write_positions(room, base, bits);
    }

    #[inline]
    fn spread(self, eight: &[u8; 8], marked: u8) -> [u8; 16] {
        let from = |at: u8| eight.get(usize::from(at)).copied().unwrap_or(b'\\');
        SPREAD[usize::from(marked)].map(from)
    }
}

/// Writes the position of every set bit, and up to seven more: the end of a loop that
/// stops with the last bit would be mispredicted every time.
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

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    use super::{
        Brackets, Breaks, Escapes, Kinds, Masks, SPREAD, Tables, VectorUnit, WINDOW,
        write_positions,
    };
    use crate::index::escaped;
    use crate::prefixes::MAX_COMPARED;
    use std::arch::is_x86_feature_detected;
    use std::arch::x86_64::*;

    /// Proof that the processor has AVX2 and the features used with it.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx2(());

    impl Avx2 {
        pub(crate) fn detect() -> Option<Self> {
            (is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("pclmulqdq")
                && is_x86_feature_detected!("popcnt"))
            .then_some(Self(()))
        }
    }

    /// Proof that the processor has AVX-512 with VBMI2 and the features used with it.
    #[derive(Clone, Copy)]
    pub(crate) struct Avx512(());

    impl Avx512 {
        pub(crate) fn detect() -> Option<Self> {
            (is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vbmi2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("pclmulqdq")
                && is_x86_feature_detected!("popcnt"))
            .then_some(Self(()))
        }
    }

    // SAFETY of all calls in these two: a unit exists only where its features were detected.
    impl VectorUnit for Avx2 {
        #[inline(always)]
        fn masks(self, block: &[u8; 64]) -> Masks {
            unsafe { avx2::masks(block) }
        }

        #[inline(always)]
        fn escapes(self, block: &[u8; 64]) -> Escapes {
            unsafe { avx2::escapes(block) }
        }

        #[inline(always)]
        fn brackets(self, block: &[u8; 64]) -> Brackets {
            unsafe { avx2::brackets(block) }
        }

        #[inline(always)]
        fn breaks(self, block: &[u8; 64]) -> Breaks {
            unsafe { avx2::breaks(block) }
        }

        #[inline(always)]
        fn kinds(self, kinds: &Kinds, block: &[u8; 64]) -> [u64; 8] {
            unsafe { avx2::kinds(kinds, block) }
        }

        #[inline(always)]
        fn prefixes(self, tables: &Tables, window: &[u8; WINDOW]) -> u64 {
            unsafe { avx2::prefixes(tables, window) }
        }

        #[inline(always)]
        fn prefix_xor(self, bits: u64) -> u64 {
            unsafe { prefix_xor(bits) }
        }

        #[inline(always)]
        fn write(self, room: &mut [u32; 64], base: u32, bits: u64) {
            write_positions(room, base, bits);
        }

        #[inline(always)]
        fn spread(self, eight: &[u8; 8], marked: u8) -> [u8; 16] {
            unsafe { spread(eight, marked) }
        }
    }

    impl VectorUnit for Avx512 {
        #[inline(always)]
        fn masks(self, block: &[u8; 64]) -> Masks {
            unsafe { avx512::masks(block) }
        }

        #[inline(always)]
        fn escapes(self, block: &[u8; 64]) -> Escapes {
            unsafe { avx512::escapes(block) }
        }

        #[inline(always)]
        fn brackets(self, block: &[u8; 64]) -> Brackets {
            unsafe { avx512::brackets(block) }
        }

        #[inline(always)]
        fn breaks(self, block: &[u8; 64]) -> Breaks {
            unsafe { avx512::breaks(block) }
        }

        #[inline(always)]
        fn kinds(self, kinds: &Kinds, block: &[u8; 64]) -> [u64; 8] {
            unsafe { avx512::kinds(kinds, block) }
        }

        #[inline(always)]
        fn prefixes(self, tables: &Tables, window: &[u8; WINDOW]) -> u64 {
            unsafe { avx512::prefixes(tables, window) }
        }

        #[inline(always)]
        fn decode(self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
            unsafe { avx512::decode(bytes, out) }
        }

        #[inline(always)]
        fn prefix_xor(self, bits: u64) -> u64 {
            unsafe { prefix_xor(bits) }
        }

        #[inline(always)]
        fn write(self, room: &mut [u32; 64], base: u32, bits: u64) {
            unsafe { avx512::write(room, base, bits) }
        }

        #[inline(always)]
        fn spread(self, eight: &[u8; 8], marked: u8) -> [u8; 16] {
            unsafe { spread(eight, marked) }
        }
    }

    /// Spreads with one shuffle: the eight bytes are the lower half, backslashes the upper.
    #[inline]
    #[target_feature(enable = "ssse3")]
    fn spread(eight: &[u8; 8], marked: u8) -> [u8; 16] {
        let bytes = _mm_set_epi64x(i64::from_le_bytes([b'\\'; 8]), i64::from_le_bytes(*eight));
        let order = &SPREAD[usize::from(marked)];
        let mut out = [0; 16];
        // SAFETY: both arrays have 16 bytes.
        unsafe {
            let order = _mm_loadu_si128(order.as_ptr().cast());
            _mm_storeu_si128(out.as_mut_ptr().cast(), _mm_shuffle_epi8(bytes, order));
        }
        out
    }

    /// Computes the prefix sum of bits as a carry-less multiplication by all ones.
    #[inline]
    #[target_feature(enable = "pclmulqdq")]
    fn prefix_xor(bits: u64) -> u64 {
        let ones = _mm_set1_epi8(0xff_u8 as i8);
        let product = _mm_clmulepi64_si128(_mm_set_epi64x(0, bits as i64), ones, 0);
        _mm_cvtsi128_si64(product) as u64
    }

    /// Each operator is in the table at the index of its low nibble, so one comparison finds
    /// all six; `[` and `]` differ from `{` and `}` in the bit that is set. (The optimizer
    /// would split four comparisons joined with "or" into single bytes.)
    const OPERATORS: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, b':', b'{', b',', b'}', 0, 0];

    /// High nibbles of bytes that may follow a backslash: one bit for each nibble that occurs
    /// (2, 5, 6, 7). The table of low nibbles holds the bits of the nibbles it combines with.
    const ESCAPE_HIGH: [u8; 16] = [0, 0, 1, 0, 0, 2, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0];
    const ESCAPE_LOW: [u8; 16] = [0, 0, 13, 0, 8, 8, 4, 0, 0, 0, 0, 0, 2, 0, 4, 1];

    mod avx2 {
        use super::*;

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
        fn equal(low: __m256i, high: __m256i, byte: u8) -> u64 {
            let byte = _mm256_set1_epi8(byte as i8);
            bits(_mm256_cmpeq_epi8(low, byte), _mm256_cmpeq_epi8(high, byte))
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn at_most(low: __m256i, high: __m256i, byte: u8) -> u64 {
            let byte = _mm256_set1_epi8(byte as i8);
            let is = |v: __m256i| _mm256_cmpeq_epi8(_mm256_min_epu8(v, byte), v);
            bits(is(low), is(high))
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn folded(v: __m256i) -> __m256i {
            _mm256_or_si256(v, _mm256_set1_epi8(0x20))
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        fn table(entries: [u8; 16]) -> __m256i {
            let entries = u128::from_le_bytes(entries);
            let (low, high) = (entries as i64, (entries >> 64) as i64);
            _mm256_setr_epi64x(low, high, low, high)
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn masks(block: &[u8; 64]) -> Masks {
            let (low, high) = load(block);
            let operator =
                |v: __m256i| _mm256_cmpeq_epi8(folded(v), _mm256_shuffle_epi8(table(OPERATORS), v));
            Masks {
                quote: equal(low, high, b'"'),
                backslash: equal(low, high, b'\\'),
                operator: bits(operator(low), operator(high)),
                space: at_most(low, high, 0x20),
                control: at_most(low, high, 0x1f),
                foreign: bits(low, high),
            }
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn escapes(block: &[u8; 64]) -> Escapes {
            let (low, high) = load(block);
            let unknown = |v: __m256i| {
                let first = _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(0x0f));
                let first = _mm256_shuffle_epi8(table(ESCAPE_HIGH), first);
                let second = _mm256_shuffle_epi8(table(ESCAPE_LOW), v);
                _mm256_cmpeq_epi8(_mm256_and_si256(first, second), _mm256_setzero_si256())
            };
            Escapes { known: !bits(unknown(low), unknown(high)), unicode: equal(low, high, b'u') }
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn brackets(block: &[u8; 64]) -> Brackets {
            let (low, high) = load(block);
            Brackets {
                quote: equal(low, high, b'"'),
                backslash: equal(low, high, b'\\'),
                opening: equal(folded(low), folded(high), b'{'),
                closing: equal(folded(low), folded(high), b'}'),
            }
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn breaks(block: &[u8; 64]) -> Breaks {
            let (low, high) = load(block);
            Breaks {
                newline: equal(low, high, b'\n'),
                other: equal(low, high, b'\t') | equal(low, high, b'\r'),
            }
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn kinds(kinds: &Kinds, block: &[u8; 64]) -> [u64; 8] {
            let (low, high) = load(block);
            let half = _mm256_set1_epi8(0x0f);
            let (upper, lower) = (table(kinds.upper), table(kinds.lower));
            let look = |v: __m256i| {
                let first = _mm256_and_si256(_mm256_srli_epi16(v, 4), half);
                let second = _mm256_shuffle_epi8(lower, _mm256_and_si256(v, half));
                _mm256_and_si256(_mm256_shuffle_epi8(upper, first), second)
            };
            let (mut low, mut high) = (look(low), look(high));
            let mut found = [0; 8];
            // A mask is made of the upper bits; doubling a byte moves the next one there.
            for mask in found.iter_mut().rev() {
                *mask = bits(low, high);
                (low, high) = (_mm256_add_epi8(low, low), _mm256_add_epi8(high, high));
            }
            found
        }

        #[inline]
        #[target_feature(enable = "avx2")]
        pub(super) fn prefixes(tables: &Tables, window: &[u8; WINDOW]) -> u64 {
            let half = _mm256_set1_epi8(0x0f);
            let none = _mm256_setzero_si256();
            let absent = |from: usize| {
                let mut groups = [_mm256_set1_epi8(-1); 2];
                for place in 0..MAX_COMPARED {
                    // SAFETY: the last of the 32 bytes is at 32 + 3 + 31 at most, inside.
                    let v = unsafe {
                        _mm256_loadu_si256(window.as_ptr().add(from + place).cast::<__m256i>())
                    };
                    let upper = _mm256_and_si256(_mm256_srli_epi16(v, 4), half);
                    let lower = _mm256_and_si256(v, half);
                    for (groups, kinds) in groups.iter_mut().zip(tables) {
                        let upper = _mm256_shuffle_epi8(table(kinds[place].upper), upper);
                        let lower = _mm256_shuffle_epi8(table(kinds[place].lower), lower);
                        *groups = _mm256_and_si256(*groups, _mm256_and_si256(upper, lower));
                    }
                }
                _mm256_cmpeq_epi8(_mm256_or_si256(groups[0], groups[1]), none)
            };
            !bits(absent(0), absent(32))
        }
    }

    /// AVX-512 version: comparisons produce masks directly, and the processor packs the positions.
    mod avx512 {
        use super::*;

        #[inline]
        #[target_feature(enable = "avx512f")]
        fn load(block: &[u8; 64]) -> __m512i {
            // SAFETY: `block` has the 64 bytes that are loaded.
            unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        fn equal(v: __m512i, byte: u8) -> u64 {
            _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(byte as i8))
        }

        #[inline]
        #[target_feature(enable = "avx512f")]
        fn folded(v: __m512i) -> __m512i {
            _mm512_or_si512(v, _mm512_set1_epi8(0x20))
        }

        #[inline]
        #[target_feature(enable = "avx512f")]
        fn table(entries: [u8; 16]) -> __m512i {
            let entries = u128::from_le_bytes(entries);
            _mm512_broadcast_i32x4(_mm_set_epi64x((entries >> 64) as i64, entries as i64))
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) fn masks(block: &[u8; 64]) -> Masks {
            let v = load(block);
            let operators = _mm512_shuffle_epi8(table(OPERATORS), v);
            Masks {
                quote: equal(v, b'"'),
                backslash: equal(v, b'\\'),
                operator: _mm512_cmpeq_epi8_mask(folded(v), operators),
                space: _mm512_cmple_epu8_mask(v, _mm512_set1_epi8(0x20)),
                control: _mm512_cmplt_epu8_mask(v, _mm512_set1_epi8(0x20)),
                foreign: _mm512_movepi8_mask(v),
            }
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) fn escapes(block: &[u8; 64]) -> Escapes {
            let v = load(block);
            let first = _mm512_and_si512(_mm512_srli_epi16::<4>(v), _mm512_set1_epi8(0x0f));
            let first = _mm512_shuffle_epi8(table(ESCAPE_HIGH), first);
            let second = _mm512_shuffle_epi8(table(ESCAPE_LOW), v);
            Escapes { known: _mm512_test_epi8_mask(first, second), unicode: equal(v, b'u') }
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) fn brackets(block: &[u8; 64]) -> Brackets {
            let v = load(block);
            Brackets {
                quote: equal(v, b'"'),
                backslash: equal(v, b'\\'),
                opening: equal(folded(v), b'{'),
                closing: equal(folded(v), b'}'),
            }
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) fn breaks(block: &[u8; 64]) -> Breaks {
            let v = load(block);
            Breaks { newline: equal(v, b'\n'), other: equal(v, b'\t') | equal(v, b'\r') }
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) fn kinds(kinds: &Kinds, block: &[u8; 64]) -> [u64; 8] {
            let v = load(block);
            let half = _mm512_set1_epi8(0x0f);
            let first = _mm512_and_si512(_mm512_srli_epi16::<4>(v), half);
            let first = _mm512_shuffle_epi8(table(kinds.upper), first);
            let second = _mm512_shuffle_epi8(table(kinds.lower), _mm512_and_si512(v, half));
            let of = _mm512_and_si512(first, second);
            let mut found = [0; 8];
            for (kind, mask) in found.iter_mut().enumerate() {
                *mask = _mm512_test_epi8_mask(of, _mm512_set1_epi8(1 << kind));
            }
            found
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw")]
        pub(super) fn prefixes(tables: &Tables, window: &[u8; WINDOW]) -> u64 {
            let half = _mm512_set1_epi8(0x0f);
            let mut groups = [_mm512_set1_epi8(-1); 2];
            for place in 0..MAX_COMPARED {
                // SAFETY: the last of the 64 bytes is at 3 + 63 at most, inside.
                let v = unsafe { _mm512_loadu_si512(window.as_ptr().add(place).cast()) };
                let upper = _mm512_and_si512(_mm512_srli_epi16::<4>(v), half);
                let lower = _mm512_and_si512(v, half);
                for (groups, kinds) in groups.iter_mut().zip(tables) {
                    let upper = _mm512_shuffle_epi8(table(kinds[place].upper), upper);
                    let lower = _mm512_shuffle_epi8(table(kinds[place].lower), lower);
                    *groups = _mm512_and_si512(*groups, _mm512_and_si512(upper, lower));
                }
            }
            let any = _mm512_or_si512(groups[0], groups[1]);
            _mm512_test_epi8_mask(any, any)
        }

        /// Decodes escapes by letting the processor close the gaps that backslashes leave: the
        /// number and position of escapes in a block do not affect the cost.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
        pub(super) fn decode(bytes: &[u8], out: &mut Vec<u8>) -> usize {
            let mut at = 0;
            while let Some(block) = bytes[at..].first_chunk::<64>() {
                let v = load(block);
                let backslash = equal(v, b'\\');
                let escaped = escaped(backslash, &mut 0);
                let opening = backslash & !escaped;
                let mut decoded = v;
                let mut common = backslash | equal(v, b'"') | equal(v, b'/');
                for (letter, meaning) in [(b'n', b'\n'), (b't', b'\t'), (b'r', b'\r')] {
                    let found = escaped & equal(v, letter);
                    common |= found;
                    decoded = _mm512_mask_set1_epi8(decoded, found, meaning as i8);
                }
                let rare = escaped & !common;
                // Up to the backslash of a rare one, or of one that the block cuts apart.
                let end = match rare {
                    0 => 64 - (opening >> 63) as u32,
                    rare => rare.trailing_zeros() - 1,
                };
                let kept = !opening & u64::MAX.checked_shr(64 - end).unwrap_or(0);
                out.reserve(64);
                let packed = _mm512_maskz_compress_epi8(kept, decoded);
                // SAFETY: there is room for 64 bytes, of which the first are written then.
                unsafe {
                    _mm512_storeu_si512(out.as_mut_ptr().add(out.len()).cast(), packed);
                    out.set_len(out.len() + kept.count_ones() as usize);
                }
                at += end as usize;
                if rare != 0 {
                    break;
                }
            }
            at
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
        pub(super) fn write(room: &mut [u32; 64], base: u32, bits: u64) {
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

    on_unit!(fn masks_on(block: &[u8; 64]) -> [u64; 16] = masks_with);

    fn masks_with<U: VectorUnit>(unit: U, block: &[u8; 64]) -> [u64; 16] {
        let (m, e) = (unit.masks(block), unit.escapes(block));
        let (b, l) = (unit.brackets(block), unit.breaks(block));
        let mut room = [0; 64];
        let bits = m.quote | m.backslash | m.space;
        unit.write(&mut room, 7, bits);
        let written = room[..bits.count_ones() as usize].iter();
        let written = written.fold(0u64, |sum, &at| sum.wrapping_mul(67).wrapping_add(at.into()));
        [
            m.quote,
            m.backslash,
            m.operator & !m.control,
            m.space,
            m.control,
            m.foreign,
            e.known,
            e.unicode,
            b.quote,
            b.backslash,
            b.opening,
            b.closing,
            l.newline,
            l.other,
            unit.prefix_xor(m.quote),
            written,
        ]
    }

    #[test]
    fn all_units_see_every_byte_alike() {
        for byte in 0..=255u8 {
            let block: [u8; 64] = std::array::from_fn(|i| byte.wrapping_add((i * i) as u8));
            let wanted = masks_on(Best::Plain(PlainVector), &block);
            for unit in Best::all() {
                assert_eq!(masks_on(unit, &block), wanted, "{byte}");
            }
        }
    }

    proptest! {
        #[test]
        fn all_units_see_the_same(
            block in prop::collection::vec(prop::sample::select(&br#"""\\{}[]:,, 1aunb/"#[..]), 64)
        ) {
            let block: [u8; 64] = block.try_into().unwrap();
            let wanted = masks_on(Best::Plain(PlainVector), &block);
            for unit in Best::all() {
                prop_assert_eq!(masks_on(unit, &block), wanted);
            }
        }
    }
}
