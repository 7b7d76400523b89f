//! Finds positions at which one of many short texts may begin, 64 at a time.

use crate::kinds::Kinds;
use crate::vector::{Best, VectorUnit, on_unit};

/// Maximum number of bytes of each text that are compared.
pub(crate) const MAX_COMPARED: usize = 4;
/// Number of bytes needed to check 64 positions.
pub(crate) const WINDOW: usize = 64 + MAX_COMPARED - 1;
/// Number of groups of texts, eight for each half of the tables.
const GROUPS: usize = 16;

/// Kinds of bytes by group and offset in a text. A position where the byte at every offset
/// is in the same group may begin a text of that group.
pub(crate) type Tables = [[Kinds; MAX_COMPARED]; GROUPS / 8];

/// Searches for many texts at once. Each position found may begin one of the texts and must
/// be verified by the caller; no position where a text begins is missed.
///
/// ```
/// use toolmark_scan::Prefixes;
///
/// static KEYS: Prefixes = Prefixes::new(&[&["ghp_", "sk-"]]);
/// let places = KEYS.places(b"export A=sk-1 B=ghp_2");
/// assert!(places.is_none_or(|places| places.eq([9, 16])));
/// ```
#[derive(Debug)]
pub struct Prefixes {
    tables: Tables,
    /// Bit set of the hashes of the beginnings: the tables alone also accept mixtures of two
    /// texts of a group.
    beginnings: [u64; HASHES / 64],
}

/// Number of bits for the hashes of beginnings.
const HASHES: usize = 4096;

/// Maximum number of texts to search for.
const MAX_TEXTS: usize = 128;

impl Prefixes {
    /// Creates the search for the texts of all lists. Texts with similar beginnings share a
    /// group, so that few bytes are allowed at the same offset of a group.
    #[must_use]
    pub const fn new(lists: &[&[&str]]) -> Self {
        let mut sorted: [&[u8]; MAX_TEXTS] = [&[]; MAX_TEXTS];
        let (mut count, mut list) = (0, 0);
        while list < lists.len() {
            let mut at = 0;
            while at < lists[list].len() {
                insert(&mut sorted, count, lists[list][at].as_bytes());
                count += 1;
                at += 1;
            }
            list += 1;
        }
        let mut tables = [[Kinds::NONE; MAX_COMPARED]; GROUPS / 8];
        let mut beginnings = [0; HASHES / 64];
        let mut at = 0;
        while at < count {
            let group = at * GROUPS / count;
            add(&mut tables[group / 8], sorted[at], group % 8);
            let hash = hash(beginning(sorted[at]));
            beginnings[hash / 64] |= 1 << (hash % 64);
            at += 1;
        }
        Self { tables, beginnings }
    }

    /// Returns whether a text may begin with these bytes.
    #[inline(always)]
    fn may_begin(&self, bytes: u32) -> bool {
        let is_one = |bytes| {
            let hash = hash(bytes);
            self.beginnings[hash / 64] >> (hash % 64) & 1 != 0
        };
        is_one(bytes) || is_one(bytes & SHORT)
    }

    /// Returns the positions of a window at which a text may begin.
    #[inline(always)]
    fn filter(&self, window: &[u8; WINDOW], mut places: u64) -> u64 {
        let mut kept = 0;
        while places != 0 {
            let at = places.trailing_zeros() as usize;
            let bytes = window[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
            kept |= u64::from(self.may_begin(bytes)) << at;
            places &= places - 1;
        }
        kept
    }

    /// Returns the positions at which one of the texts may begin, in order. `None` if the
    /// processor has no suitable vector unit.
    #[must_use]
    pub fn places<'t>(&'static self, text: &'t [u8]) -> Option<CandidatePositions<'t>> {
        let unit = Best::get();
        let is_fast = !matches!(unit, Best::Plain(_));
        is_fast.then_some(CandidatePositions {
            unit,
            prefixes: self,
            text,
            base: 0,
            left: 0,
            next: 0,
        })
    }
}

/// Inserts a text into the first `count` sorted texts.
const fn insert<'t>(sorted: &mut [&'t [u8]; MAX_TEXTS], count: usize, text: &'t [u8]) {
    let mut at = count;
    while at > 0 && is_less(text, sorted[at - 1]) {
        sorted[at] = sorted[at - 1];
        at -= 1;
    }
    sorted[at] = text;
}

const fn is_less(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at < b.len() && (at == a.len() || a[at] < b[at])
}

/// Mask for the beginning of a text that is one byte shorter.
const SHORT: u32 = u32::MAX >> 8;

/// Returns the compared bytes of a text; one fewer for a short text.
const fn beginning(text: &[u8]) -> u32 {
    assert!(text.len() >= MAX_COMPARED - 1, "a text is too short to be told from others");
    let bytes = [text[0], text[1], text[2], if text.len() > 3 { text[3] } else { 0 }];
    u32::from_le_bytes(bytes)
}

const fn hash(bytes: u32) -> usize {
    bytes.wrapping_mul(0x9e37_79b1) as usize >> (u32::BITS - HASHES.trailing_zeros())
}

const fn add(kinds: &mut [Kinds; MAX_COMPARED], text: &[u8], group: usize) {
    let mut place = 0;
    while place < MAX_COMPARED {
        // Anything may follow a text that is shorter.
        let byte = if place < text.len() { Some(text[place]) } else { None };
        kinds[place].add(byte, group);
        place += 1;
    }
}

/// Candidate positions in a text, in order.
pub struct CandidatePositions<'t> {
    unit: Best,
    prefixes: &'static Prefixes,
    text: &'t [u8],
    /// Remaining positions of the current block, and the start of the block.
    left: u64,
    base: usize,
    /// Start of the next block.
    next: usize,
}

impl Iterator for CandidatePositions<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.left == 0 {
            (self.base, self.left) = find_on(self.unit, self.prefixes, self.text, self.next)?;
            self.next = self.base + 64;
        }
        let place = self.base + self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        Some(place)
    }
}

on_unit!(fn find_on(prefixes: &Prefixes, text: &[u8], from: usize) -> Option<(usize, u64)> = find_with);

/// Finds the next block with a candidate position, starting at `from`: returns its start
/// and its positions.
#[inline(always)]
fn find_with<U: VectorUnit>(
    unit: U,
    prefixes: &Prefixes,
    text: &[u8],
    mut from: usize,
) -> Option<(usize, u64)> {
    while let Some(window) = text.get(from..).and_then(|rest| rest.first_chunk::<WINDOW>()) {
        let found = prefixes.filter(window, unit.prefixes(&prefixes.tables, window));
        if found != 0 {
            return Some((from, found));
        }
        from += 64;
    }
    // What is left has room for two blocks at most, of which one may have three bytes.
    while let Some(rest) = text.get(from..).filter(|rest| !rest.is_empty()) {
        let mut window = [0; WINDOW];
        window[..rest.len()].copy_from_slice(rest);
        let found = prefixes.filter(&window, unit.prefixes(&prefixes.tables, &window));
        let found = found & u64::MAX >> (64 - rest.len().min(64));
        if found != 0 {
            return Some((from, found));
        }
        from += 64;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    static WORDS: Prefixes = Prefixes::new(&[
        &["AKIA", "dapi", "dop_v1_", "eyJ", "ghp_", "gho_", "sk-", "sk_live_", "xoxb-", "zzz"],
        &["-----BEGIN", "://", "_KEY=", "_TOKEN=", "\u{e9}\u{e9}"],
    ]);

    /// Returns whether a text seems to be at a position, comparing byte by byte.
    fn begins(text: &[u8], at: usize) -> bool {
        let bytes: [u8; 4] = std::array::from_fn(|n| text.get(at + n).copied().unwrap_or(0));
        let groups = |kinds: &[Kinds; MAX_COMPARED]| {
            kinds.iter().zip(bytes).fold(u8::MAX, |groups, (kinds, byte)| groups & kinds.of(byte))
        };
        WORDS.tables.iter().any(|kinds| groups(kinds) != 0)
            && WORDS.may_begin(u32::from_le_bytes(bytes))
    }

    fn check(text: &[u8]) {
        let wanted: Vec<usize> = (0..text.len()).filter(|at| begins(text, *at)).collect();
        for unit in Best::all() {
            let prefixes = &WORDS;
            let places = CandidatePositions { unit, prefixes, text, base: 0, left: 0, next: 0 };
            assert_eq!(places.collect::<Vec<_>>(), wanted);
        }
    }

    #[test]
    fn every_text_is_found_wherever_it_stands() {
        for word in ["AKIA", "dop_v1_", "sk-", "zzz", "-----BEGIN", "://", "_KEY=", "\u{e9}\u{e9}"]
        {
            for before in 0..140 {
                for after in [0, 1, 2, 3, 70] {
                    let text = ["."; 140][..before].concat() + word + &".".repeat(after);
                    assert!(begins(text.as_bytes(), before), "{text}");
                    check(text.as_bytes());
                }
            }
        }
    }

    proptest! {
        #[test]
        fn all_units_see_the_same(
            words in prop::collection::vec(
                prop::sample::select(vec!["AKIA", "dap", "eyJ", "gh", "p_", "sk", "-", "_KEY", "=", ":", "//", "z", " "]),
                0..120,
            ),
        ) {
            check(words.concat().as_bytes());
        }

        #[test]
        fn all_units_see_the_same_of_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            check(&bytes);
        }
    }
}
