//! Batches of simultaneous calls.

/// Calls in order, grouped in batches: calls of one batch are unordered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batches {
    of_call: Vec<u32>,
    /// Start of each batch, and end of the last one.
    starts: Vec<u32>,
}

impl Batches {
    /// Makes every call a separate batch.
    #[must_use]
    pub fn singles(calls: usize) -> Self {
        Self::of_keys(std::iter::repeat_n(None::<()>, calls))
    }

    /// Groups neighbours with the same key into one batch; a call without a key is a separate
    /// batch.
    pub fn of_keys<K: PartialEq>(keys: impl IntoIterator<Item = Option<K>>) -> Self {
        let keys = keys.into_iter();
        let (calls, _) = keys.size_hint();
        let (mut of_call, mut starts) = (Vec::with_capacity(calls), Vec::with_capacity(calls + 1));
        let mut last: Option<K> = None;
        for (call, key) in keys.enumerate() {
            if key.is_none() || last != key {
                starts.push(call as u32);
            }
            of_call.push(starts.len() as u32 - 1);
            last = key;
        }
        starts.push(of_call.len() as u32);
        Self { of_call, starts }
    }

    /// Returns the number of calls.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.of_call.len()
    }

    /// Returns the number of batches.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no calls.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.of_call.is_empty()
    }

    /// Whether every call is a separate batch.
    #[must_use]
    pub fn are_single(&self) -> bool {
        self.len() == self.calls()
    }

    /// Returns the batch of a call.
    #[must_use]
    pub fn of(&self, call: usize) -> usize {
        self.of_call[call] as usize
    }

    /// Returns the first call of a batch.
    #[must_use]
    pub fn start(&self, batch: usize) -> usize {
        self.starts[batch] as usize
    }

    /// Returns the call after the last one of a batch.
    #[must_use]
    pub fn end(&self, batch: usize) -> usize {
        self.starts[batch + 1] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_with_one_key() {
        let batches =
            Batches::of_keys([Some(1), Some(1), None, None, Some(2), Some(3), Some(3), Some(1)]);
        let of: Vec<usize> = (0..8).map(|call| batches.of(call)).collect();
        assert_eq!(of, [0, 0, 1, 2, 3, 4, 4, 5]);
        assert_eq!((batches.start(4), batches.end(4), batches.len()), (5, 7, 6));
        assert!(Batches::singles(3).are_single() && !batches.are_single());
        assert!(Batches::singles(0).is_empty() && Batches::singles(0).are_single());
    }
}
