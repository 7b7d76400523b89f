//! Which call meets which expectation, a bit each.

use super::align::TooLarge;

/// The largest table: 256 MB.
const MOST_WORDS: usize = 1 << 25;

/// A table of bits: a row per call, a column per expectation.
#[derive(Debug, Clone)]
pub struct Grid {
    calls: usize,
    items: usize,
    words: usize,
    bits: Vec<u64>,
}

impl Grid {
    /// Nothing meets anything yet.
    #[must_use]
    pub fn new(calls: usize, items: usize) -> Self {
        let words = items.div_ceil(64);
        Self { calls, items, words, bits: vec![0; calls * words] }
    }

    /// Nothing meets anything yet, in a table that is not too large to keep.
    pub fn bounded(calls: usize, items: usize) -> Result<Self, TooLarge> {
        match calls.checked_mul(items.div_ceil(64)) {
            Some(words) if words <= MOST_WORDS => Ok(Self::new(calls, items)),
            _ => Err(TooLarge),
        }
    }

    /// A grid filled by asking about every pair.
    #[must_use]
    pub fn from_fn(calls: usize, items: usize, fits: impl Fn(usize, usize) -> bool) -> Self {
        let mut grid = Self::new(calls, items);
        for call in 0..calls {
            for item in 0..items {
                if fits(call, item) {
                    grid.set(call, item);
                }
            }
        }
        grid
    }

    /// How many calls.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// How many expectations.
    #[must_use]
    pub fn items(&self) -> usize {
        self.items
    }

    /// The call meets the expectation.
    pub fn set(&mut self, call: usize, item: usize) {
        self.bits[call * self.words + item / 64] |= 1 << (item % 64);
    }

    /// Does the call meet the expectation?
    #[must_use]
    pub fn get(&self, call: usize, item: usize) -> bool {
        self.bits[call * self.words + item / 64] & (1 << (item % 64)) != 0
    }

    /// The bits of one call, 64 expectations to a word.
    #[must_use]
    pub fn row(&self, call: usize) -> &[u64] {
        &self.bits[call * self.words..(call + 1) * self.words]
    }

    /// Makes every pair of `other` meet here too.
    pub fn include(&mut self, other: &Self) {
        debug_assert_eq!((self.calls, self.items), (other.calls, other.items));
        for (mine, theirs) in self.bits.iter_mut().zip(&other.bits) {
            *mine |= theirs;
        }
    }

    /// Does any call meet any expectation?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|word| *word == 0)
    }
}
