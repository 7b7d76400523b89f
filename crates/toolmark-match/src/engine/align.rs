//! Maximizes the number of expectations met in order: the longest common subsequence,
//! 64 expectations at a time (Hyyrö's bit-vector form).

use super::grid::Grid;

/// The input exceeds the size limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// Maximum number of pairs of call and expectation stored for backtracking: 256 MB of bits.
const MAX_PAIRS: usize = 1 << 31;

/// Returns the call assigned to each expectation, with calls in the order of expectations.
/// The number of assignments is maximal, and among such assignments the earliest calls are used.
pub fn align(grid: &Grid) -> Result<Vec<Option<usize>>, TooLarge> {
    let (items, calls) = (grid.items(), grid.calls());
    if let Some(all) = greedy(grid) {
        return Ok(all);
    }
    if items.saturating_mul(calls) > MAX_PAIRS {
        return Err(TooLarge);
    }
    let words = items.div_ceil(64);
    // Row `n` says, after n calls, which expectations do not lengthen the
    // subsequence (a set bit).
    let mut rows = vec![u64::MAX; (calls + 1) * words];
    for call in 0..calls {
        let (before, after) = rows.split_at_mut((call + 1) * words);
        let before = &before[call * words..];
        let mut carry = false;
        for (word, &fits) in grid.row(call).iter().enumerate() {
            let v = before[word];
            let u = v & fits;
            let (sum, over) = v.overflowing_add(u);
            let (sum, over_again) = sum.overflowing_add(u64::from(carry));
            carry = over || over_again;
            after[word] = sum | (v & !u);
        }
    }
    let row = |call: usize| &rows[call * words..(call + 1) * words];
    let mut of_item = vec![None; items];
    let (mut item, mut call) = (items, calls);
    while item > 0 && call > 0 {
        if lengthens(row(call), item) == lengthens(row(call - 1), item) {
            call -= 1;
        } else if row(call)[(item - 1) / 64] & (1 << ((item - 1) % 64)) != 0 {
            item -= 1;
        } else {
            item -= 1;
            call -= 1;
            of_item[item] = Some(call);
        }
    }
    Ok(of_item)
}

/// Returns how many of the first `items` expectations lengthen the subsequence.
fn lengthens(row: &[u64], items: usize) -> u32 {
    let whole = items / 64;
    let mut count: u32 = row[..whole].iter().map(|word| word.count_zeros()).sum();
    if !items.is_multiple_of(64) {
        count += (row[whole] | (u64::MAX << (items % 64))).count_zeros();
    }
    count
}

/// Assigns the first matching call to each expectation in turn; `None` unless all get one.
fn greedy(grid: &Grid) -> Option<Vec<Option<usize>>> {
    let mut of_item = Vec::with_capacity(grid.items());
    let mut calls = 0..grid.calls();
    for item in 0..grid.items() {
        of_item.push(Some(calls.find(|&call| grid.get(call, item))?));
    }
    Some(of_item)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn align_words(expected: &str, made: &str) -> Vec<Option<usize>> {
        let (expected, made) = (expected.as_bytes(), made.as_bytes());
        align(&Grid::from_fn(made.len(), expected.len(), |c, i| made[c] == expected[i])).unwrap()
    }

    #[test]
    fn in_order_with_gaps() {
        for (expected, made, want) in [
            ("abc", "xaybzc", vec![Some(1), Some(3), Some(5)]),
            ("abc", "bc", vec![None, Some(0), Some(1)]),
            ("abc", "cab", vec![Some(1), Some(2), None]),
            ("aab", "ab", vec![Some(0), None, Some(1)]),
            ("", "ab", vec![]),
            ("ab", "", vec![None, None]),
        ] {
            assert_eq!(align_words(expected, made), want, "{expected} {made}");
        }
    }

    #[test]
    fn more_expectations_than_a_word_has_bits() {
        let expected: String = (0..200).map(|n| char::from(b'a' + (n % 26) as u8)).collect();
        let made = expected.replace('c', "");
        let got = align_words(&expected, &made);
        let missing = expected.matches('c').count();
        assert_eq!(got.iter().flatten().count(), 200 - missing);
        let order: Vec<usize> = got.iter().flatten().copied().collect();
        assert!(order.is_sorted_by(|a, b| a < b));
    }
}
