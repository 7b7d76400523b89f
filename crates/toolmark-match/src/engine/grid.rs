//! A bit matrix of calls and the expectations they meet.

use super::align::TooLarge;

/// Maximum size of the table: 256 MB.
const MAX_WORDS: usize = 1 << 25;

/// A table of bits: a row per call, a column per expectation.
#[derive(Debug, Clone)]
pub struct Grid {
    calls: usize,
    items: usize,
    words: usize,
    bits: Vec<u64>,
}

impl Grid {
    /// Creates an empty table.
    #[must_use]
    pub fn new(calls: usize, items: usize) -> Self {
        let words = items.div_ceil(64);
        Self { calls, items, words, bits: vec![0; calls * words] }
    }

    /// Creates an empty table, unless it would be too large.
    pub fn bounded(calls: usize, items: usize) -> Result<Self, TooLarge> {
        match calls.checked_mul(items.div_ceil(64)) {
            Some(words) if words <= MAX_WORDS => Ok(Self::new(calls, items)),
            _ => Err(TooLarge),
        }
    }

    /// Creates a grid by evaluating every pair.
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

    /// Returns the number of calls.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// Returns the number of expectations.
    #[must_use]
    pub fn items(&self) -> usize {
        self.items
    }

    /// Marks the call as meeting the expectation.
    pub fn set(&mut self, call: usize, item: usize) {
        self.bits[call * self.words + item / 64] |= 1 << (item % 64);
    }

    /// Whether the call meets the expectation.
    #[must_use]
    pub fn get(&self, call: usize, item: usize) -> bool {
        self.bits[call * self.words + item / 64] & (1 << (item % 64)) != 0
    }

    /// Returns the bits of one call, 64 expectations per word.
    #[must_use]
    pub fn row(&self, call: usize) -> &[u64] {
        &self.bits[call * self.words..(call + 1) * self.words]
    }

    /// Adds every pair of `other`.
    pub fn include(&mut self, other: &Self) {
        debug_assert_eq!((self.calls, self.items), (other.calls, other.items));
        for (mine, theirs) in self.bits.iter_mut().zip(&other.bits) {
            *mine |= theirs;
        }
    }

    /// Whether no call meets any expectation.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|word| *word == 0)
    }
}
