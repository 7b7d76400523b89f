//! The calls that meet one expectation.

use smallvec::{SmallVec, smallvec};

/// A set of calls that finds the next one fast: a bit per call, and a bit per
/// word of those.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    calls: usize,
    words: SmallVec<[u64; 2]>,
    summary: SmallVec<[u64; 2]>,
}

impl Column {
    /// None of so many calls.
    #[must_use]
    pub fn new(calls: usize) -> Self {
        let words = calls.div_ceil(64);
        Self { calls, words: smallvec![0; words], summary: smallvec![0; words.div_ceil(64)] }
    }

    /// Those of so many calls that a question picks.
    #[must_use]
    pub fn from_fn(calls: usize, picks: impl Fn(usize) -> bool) -> Self {
        let mut column = Self::new(calls);
        (0..calls).filter(|call| picks(*call)).for_each(|call| column.set(call));
        column
    }

    /// How many calls there are, in the set or not.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// Puts a call into the set.
    pub fn set(&mut self, call: usize) {
        debug_assert!(call < self.calls);
        let word = call / 64;
        self.words[word] |= 1 << (call % 64);
        self.summary[word / 64] |= 1 << (word % 64);
    }

    /// Is the call in the set?
    #[must_use]
    pub fn get(&self, call: usize) -> bool {
        self.words.get(call / 64).is_some_and(|word| word & (1 << (call % 64)) != 0)
    }

    /// The first call of the set that is not before `from`.
    #[must_use]
    pub fn next(&self, from: usize) -> Option<usize> {
        let word = from / 64;
        let rest = self.words.get(word)? & (u64::MAX << (from % 64));
        if rest != 0 {
            return Some(word * 64 + rest.trailing_zeros() as usize);
        }
        let word = next_bit(&self.summary, word + 1)?;
        Some(word * 64 + self.words[word].trailing_zeros() as usize)
    }

    /// The calls of the set, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.next(0), |call| self.next(call + 1))
    }

    /// How many calls are in the set.
    #[must_use]
    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Adds the calls of another set.
    pub fn include(&mut self, other: &Self) {
        self.merge(other, |mine, theirs| mine | theirs);
    }

    /// Takes the calls of another set out.
    pub fn exclude(&mut self, other: &Self) {
        self.merge(other, |mine, theirs| mine & !theirs);
    }

    fn merge(&mut self, other: &Self, with: impl Fn(u64, u64) -> u64) {
        debug_assert_eq!(self.calls, other.calls);
        for (at, (mine, theirs)) in self.words.iter_mut().zip(&other.words).enumerate() {
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
        let column = Column::from_fn(300_001, |call| wanted.contains(&call));
        assert_eq!(column.iter().collect::<Vec<_>>(), wanted);
        assert_eq!(column.count(), wanted.len());
        assert_eq!(column.next(65), Some(4095));
        assert_eq!(column.next(300_001), None);
        assert!(column.get(64) && !column.get(65) && !column.get(1 << 40));
        assert_eq!(Column::new(0).next(0), None);
    }

    #[test]
    fn sets_are_merged() {
        let even = Column::from_fn(200, |call| call % 2 == 0);
        let three = Column::from_fn(200, |call| call % 3 == 0);
        let mut both = even.clone();
        both.include(&three);
        assert_eq!(both, Column::from_fn(200, |call| call % 2 == 0 || call % 3 == 0));
        both.exclude(&even);
        assert_eq!(both, Column::from_fn(200, |call| call % 2 != 0 && call % 3 == 0));
        both.exclude(&three);
        assert_eq!(both, Column::new(200));
    }
}
