//! Where one of many short texts may begin, 64 places at a time.

use crate::kinds::Kinds;
use crate::vector::{Best, Unit, on_unit};

/// How many bytes of each text are compared.
pub(crate) const LOOKED_AT: usize = 4;
/// The bytes that are needed to tell about 64 places.
pub(crate) const WINDOW: usize = 64 + LOOKED_AT - 1;
/// The number of groups of texts, eight for each half of the tables.
const GROUPS: usize = 16;

/// By group and place in a text: which bytes are there. A place where every byte is of the
/// same group may begin a text of that group.
pub(crate) type Tables = [[Kinds; LOOKED_AT]; GROUPS / 8];

/// Texts to be looked for all at once. What is found may begin one of them and has to be
/// looked at closer; nothing that begins one is overlooked.
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
    /// The beginnings of the texts, a bit each: tables let through what mixes two of a group.
    beginnings: [u64; HASHES / 64],
}

/// The number of bits for the hashes of beginnings.
const HASHES: usize = 4096;

/// The most texts that can be searched for.
const MAX_TEXTS: usize = 128;

impl Prefixes {
    /// The texts of all lists. Those that begin alike share a group: what is at the same
    /// place in texts of a group is not told apart by much.
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
        let mut tables = [[Kinds::NONE; LOOKED_AT]; GROUPS / 8];
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

    /// May a text begin with these bytes?
    #[inline(always)]
    fn may_begin(&self, bytes: u32) -> bool {
        let is_one = |bytes| {
            let hash = hash(bytes);
            self.beginnings[hash / 64] >> (hash % 64) & 1 != 0
        };
        is_one(bytes) || is_one(bytes & SHORT)
    }

    /// Those of the places of a window that may begin a text.
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

    /// The places of a text where one may begin, in order. `None` where the processor has
    /// nothing to look at many bytes at once with.
    #[must_use]
    pub fn places<'t>(&'static self, text: &'t [u8]) -> Option<Places<'t>> {
        let unit = Best::get();
        let is_fast = !matches!(unit, Best::Plain(_));
        is_fast.then_some(Places { unit, prefixes: self, text, base: 0, left: 0, next: 0 })
    }
}

/// Puts a text in its place among the first `count`.
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

/// The bytes of a beginning where a text is one shorter.
const SHORT: u32 = u32::MAX >> 8;

/// The bytes that are looked at of a text, which are one fewer of a short one.
const fn beginning(text: &[u8]) -> u32 {
    assert!(text.len() >= LOOKED_AT - 1, "a text is too short to be told from others");
    let bytes = [text[0], text[1], text[2], if text.len() > 3 { text[3] } else { 0 }];
    u32::from_le_bytes(bytes)
}

const fn hash(bytes: u32) -> usize {
    bytes.wrapping_mul(0x9e37_79b1) as usize >> (u32::BITS - HASHES.trailing_zeros())
}

const fn add(kinds: &mut [Kinds; LOOKED_AT], text: &[u8], group: usize) {
    let mut place = 0;
    while place < LOOKED_AT {
        // Anything may follow a text that is shorter.
        let byte = if place < text.len() { Some(text[place]) } else { None };
        kinds[place].add(byte, group);
        place += 1;
    }
}

/// Places of a text, in order.
pub struct Places<'t> {
    unit: Best,
    prefixes: &'static Prefixes,
    text: &'t [u8],
    /// The places that are left of a block, and where it starts.
    left: u64,
    base: usize,
    /// Where the next block starts.
    next: usize,
}

impl Iterator for Places<'_> {
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

/// The next block with a place, from `from` on: where it starts, and its places.
#[inline(always)]
fn find_with<U: Unit>(
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

    /// Does a text seem to be at a place, one byte at a time?
    fn begins(text: &[u8], at: usize) -> bool {
        let bytes: [u8; 4] = std::array::from_fn(|n| text.get(at + n).copied().unwrap_or(0));
        let groups = |kinds: &[Kinds; LOOKED_AT]| {
            kinds.iter().zip(bytes).fold(u8::MAX, |groups, (kinds, byte)| groups & kinds.of(byte))
        };
        WORDS.tables.iter().any(|kinds| groups(kinds) != 0)
            && WORDS.may_begin(u32::from_le_bytes(bytes))
    }

    fn check(text: &[u8]) {
        let wanted: Vec<usize> = (0..text.len()).filter(|at| begins(text, *at)).collect();
        for unit in Best::all() {
            let prefixes = &WORDS;
            let places = Places { unit, prefixes, text, base: 0, left: 0, next: 0 };
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
