//! Finds the bytes of given kinds in a text, 64 at a time.

use crate::vector::{Best, VectorUnit, on_unit};

/// Up to eight kinds of bytes. A kind consists of the bytes whose upper nibble is in one set
/// and whose lower nibble is in another: two vector table lookups classify all eight.
///
/// ```
/// use toolmark_scan::Kinds;
///
/// const SIGNS: Kinds = Kinds::new(&[(&[0x3], &[0xa, 0xd])]);
/// assert_eq!((SIGNS.of(b':'), SIGNS.of(b'='), SIGNS.of(b'a')), (1, 1, 0));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Kinds {
    pub(crate) upper: [u8; 16],
    pub(crate) lower: [u8; 16],
}

/// Every value of a nibble.
const ALL: &[u8] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

impl Kinds {
    /// Kinds that contain no bytes.
    pub(crate) const NONE: Self = Self { upper: [0; 16], lower: [0; 16] };

    /// Creates kinds from their upper and lower nibbles; an empty set means any nibble.
    #[must_use]
    pub const fn new(kinds: &[(&[u8], &[u8])]) -> Self {
        let (mut upper, mut lower) = ([0; 16], [0; 16]);
        let mut kind = 0;
        while kind < kinds.len() && kind < 8 {
            let (uppers, lowers) = kinds[kind];
            mark(&mut upper, uppers, kind);
            mark(&mut lower, lowers, kind);
            kind += 1;
        }
        Self { upper, lower }
    }

    /// Adds a byte to a kind; `None` adds every byte.
    pub(crate) const fn add(&mut self, byte: Option<u8>, kind: usize) {
        match byte {
            Some(byte) => {
                mark(&mut self.upper, &[byte >> 4], kind);
                mark(&mut self.lower, &[byte & 15], kind);
            }
            None => {
                mark(&mut self.upper, ALL, kind);
                mark(&mut self.lower, ALL, kind);
            }
        }
    }

    /// Returns the kinds of a byte, one bit each.
    #[must_use]
    #[inline]
    pub const fn of(&self, byte: u8) -> u8 {
        self.upper[(byte >> 4) as usize] & self.lower[(byte & 15) as usize]
    }

    /// Returns, for each kind, the bytes of a block that belong to it. `None` if the processor
    /// has no suitable vector unit.
    #[must_use]
    #[inline]
    pub fn find(&self, block: &[u8; 64]) -> Option<[u64; 8]> {
        match Best::get() {
            Best::Plain(_) => None,
            unit => Some(find_on(unit, self, block)),
        }
    }
}

const fn mark(halves: &mut [u8; 16], set: &[u8], kind: usize) {
    let set = if set.is_empty() { ALL } else { set };
    let mut at = 0;
    while at < set.len() {
        halves[(set[at] & 15) as usize] |= 1 << kind;
        at += 1;
    }
}

on_unit!(fn find_on(kinds: &Kinds, block: &[u8; 64]) -> [u64; 8] = find_with);

#[inline(always)]
fn find_with<U: VectorUnit>(unit: U, kinds: &Kinds, block: &[u8; 64]) -> [u64; 8] {
    unit.kinds(kinds, block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KINDS: Kinds = Kinds::new(&[
        (&[3, 4, 5, 6, 7], &[]),
        (&[2], &[5, 11, 13, 14, 15]),
        (&[3], &[10, 13]),
        (&[8, 9, 10, 11, 12, 13, 14, 15], &[]),
        (&[], &[0]),
        (&[0, 15], &[0, 15]),
        (&[], &[]),
        (&[1], &[11]),
    ]);

    proptest! {
        #[test]
        fn all_units_see_the_same(bytes in prop::collection::vec(any::<u8>(), 64)) {
            let block: [u8; 64] = bytes.try_into().unwrap();
            for unit in Best::all() {
                let found = find_on(unit, &KINDS, &block);
                for (at, &byte) in block.iter().enumerate() {
                    let bits = (0..8).fold(0, |bits, kind| bits | (found[kind] >> at & 1) << kind);
                    prop_assert_eq!(bits, u64::from(KINDS.of(byte)), "{}", byte);
                }
            }
        }
    }
}
