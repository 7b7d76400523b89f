//! The calls that meet one expectation.

/// A set of calls with fast search for the next one: a bit per call, and a bit per
/// word of calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallColumn {
    calls: usize,
    bits: Bits,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Bits {
    /// A set over at most 64 calls, which most trajectories have.
    Few(u64),
    Many(Box<ColumnWords>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ColumnWords {
    words: Vec<u64>,
    summary: Vec<u64>,
}

impl CallColumn {
    /// Creates an empty set over this number of calls.
    #[must_use]
    pub fn new(calls: usize) -> Self {
        let bits = match calls {
            0..=64 => Bits::Few(0),
            _ => {
                let words = calls.div_ceil(64);
                Bits::Many(Box::new(ColumnWords {
                    words: vec![0; words],
                    summary: vec![0; words.div_ceil(64)],
                }))
            }
        };
        Self { calls, bits }
    }

    /// Creates the set of the calls that `picks` selects.
    #[must_use]
    pub fn from_fn(calls: usize, picks: impl Fn(usize) -> bool) -> Self {
        let mut column = Self::new(calls);
        (0..calls).filter(|call| picks(*call)).for_each(|call| column.set(call));
        column
    }

    /// Returns the total number of calls, in the set or not.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// Adds a call to the set.
    #[inline]
    pub fn set(&mut self, call: usize) {
        debug_assert!(call < self.calls);
        match &mut self.bits {
            Bits::Few(word) => *word |= 1 << (call % 64),
            Bits::Many(many) => many.set(call),
        }
    }

    /// Whether the call is in the set.
    #[must_use]
    #[inline]
    pub fn get(&self, call: usize) -> bool {
        self.words().get(call / 64).is_some_and(|word| word & (1 << (call % 64)) != 0)
    }

    /// Whether the set is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words().iter().all(|word| *word == 0)
    }

    #[inline]
    fn words(&self) -> &[u64] {
        match &self.bits {
            Bits::Few(word) => std::slice::from_ref(word),
            Bits::Many(many) => &many.words,
        }
    }

    /// Returns the first call of the set from `from` on.
    #[must_use]
    #[inline]
    pub fn next(&self, from: usize) -> Option<usize> {
        let word = from / 64;
        let rest = self.words().get(word)? & (u64::MAX << (from % 64));
        if rest != 0 {
            return Some(word * 64 + rest.trailing_zeros() as usize);
        }
        match &self.bits {
            Bits::Few(_) => None,
            Bits::Many(many) => {
                let word = next_bit(&many.summary, word + 1)?;
                Some(word * 64 + many.words[word].trailing_zeros() as usize)
            }
        }
    }

    /// Iterates over the calls of the set, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.next(0), |call| self.next(call + 1))
    }

    /// Returns the number of calls in the set.
    #[must_use]
    pub fn count(&self) -> usize {
        self.words().iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Adds the calls of another set.
    pub fn include(&mut self, other: &Self) {
        self.merge(other, |mine, theirs| mine | theirs);
    }

    /// Removes the calls of another set.
    pub fn exclude(&mut self, other: &Self) {
        self.merge(other, |mine, theirs| mine & !theirs);
    }

    #[inline]
    fn merge(&mut self, other: &Self, with: impl Fn(u64, u64) -> u64) {
        debug_assert_eq!(self.calls, other.calls);
        match (&mut self.bits, &other.bits) {
            (Bits::Few(mine), Bits::Few(theirs)) => *mine = with(*mine, *theirs),
            (Bits::Many(mine), Bits::Many(theirs)) => mine.merge(&theirs.words, with),
            // Sets of the same calls are of the same kind.
            (Bits::Few(_), Bits::Many(_)) | (Bits::Many(_), Bits::Few(_)) => {}
        }
    }
}

impl ColumnWords {
    fn set(&mut self, call: usize) {
        let word = call / 64;
        self.words[word] |= 1 << (call % 64);
        self.summary[word / 64] |= 1 << (word % 64);
    }

    fn merge(&mut self, theirs: &[u64], with: impl Fn(u64, u64) -> u64) {
        for (at, (mine, theirs)) in self.words.iter_mut().zip(theirs).enumerate() {
            *mine = with(*mine, *theirs);
            let (word, bit) = (at / 64, 1 << (at % 64));
            if *mine == 0 {
                self.summary[word] &= !bit;
            } else {
                self.summary[word] |= bit;
            }
        }
    }
}

fn next_bit(words: &[u64], from: usize) -> Option<usize> {
    let first = from / 64;
    let rest = words.get(first)? & (u64::MAX << (from % 64));
    if rest != 0 {
        return Some(first * 64 + rest.trailing_zeros() as usize);
    }
    let later = words.iter().skip(first + 1).position(|word| *word != 0)?;
    let word = first + 1 + later;
    Some(word * 64 + words[word].trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_next_across_words() {
        let wanted = [0, 1, 63, 64, 4095, 4096, 9999, 300_000];
        let column = CallColumn::from_fn(300_001, |call| wanted.contains(&call));
        assert_eq!(column.iter().collect::<Vec<_>>(), wanted);
        assert_eq!(column.count(), wanted.len());
        assert_eq!(column.next(65), Some(4095));
        assert_eq!(column.next(300_001), None);
        assert!(column.get(64) && !column.get(65) && !column.get(1 << 40));
        assert_eq!(CallColumn::new(0).next(0), None);
    }

    #[test]
    fn sets_are_merged() {
        for calls in [1, 63, 64, 65, 200] {
            let even = CallColumn::from_fn(calls, |call| call % 2 == 0);
            let three = CallColumn::from_fn(calls, |call| call % 3 == 0);
            let mut both = even.clone();
            both.include(&three);
            assert_eq!(both, CallColumn::from_fn(calls, |call| call % 2 == 0 || call % 3 == 0));
            assert_eq!(both.iter().count(), both.count());
            both.exclude(&even);
            assert_eq!(both, CallColumn::from_fn(calls, |call| call % 2 != 0 && call % 3 == 0));
            both.exclude(&three);
            assert!(both.is_empty() && both == CallColumn::new(calls));
            assert!(!both.get(calls) && both.next(calls).is_none());
        }
    }
}
