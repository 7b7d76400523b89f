//! Assigns separate calls to expectations so that the total weight of the pairs is
//! maximal: the assignment problem by shortest augmenting paths (Kuhn,
//! Munkres, Jonker and Volgenant), in O(smaller² × larger), and the same in
//! order, by the dynamic programme of Needleman and Wunsch.

use super::align::TooLarge;

/// Maximum number of steps of an assignment.
const MAX_STEPS: usize = 64_000_000;
/// Maximum number of pairs stored for backtracking.
const MAX_PAIRS: usize = 1 << 24;

/// Returns the call assigned to each expectation, so that the total worth of all pairs
/// is maximal. All elements of the smaller side are paired.
///
/// `worth(item, call)` must be finite and 0 or more.
pub fn weigh(
    items: usize,
    calls: usize,
    worth: impl Fn(usize, usize) -> f64,
) -> Result<Vec<Option<usize>>, TooLarge> {
    let (rows, columns) = (items.min(calls), items.max(calls));
    if rows.saturating_mul(rows).saturating_mul(columns) > MAX_STEPS {
        return Err(TooLarge);
    }
    let turned = items > calls;
    let cost = |row: usize, column: usize| {
        if turned { -worth(column, row) } else { -worth(row, column) }
    };
    let row_of = cheapest(rows, columns, cost);
    let mut of_item = vec![None; items];
    for (column, row) in row_of.iter().enumerate() {
        if let Some(row) = *row {
            let (item, call) = if turned { (column, row) } else { (row, column) };
            of_item[item] = Some(call);
        }
    }
    Ok(of_item)
}

/// Returns the row assigned to each column, at the least cost; there must not be more rows than
/// columns.
fn cheapest(rows: usize, columns: usize, cost: impl Fn(usize, usize) -> f64) -> Vec<Option<usize>> {
    let mut row_price = vec![0.0; rows];
    let mut column_price = vec![0.0; columns];
    let mut row_of: Vec<Option<usize>> = vec![None; columns];
    for start in 0..rows {
        // The cheapest way from `start` to every column, and the column before it.
        let mut slack = vec![f64::INFINITY; columns];
        let mut before: Vec<Option<usize>> = vec![None; columns];
        let mut done = vec![false; columns];
        let (mut row, mut last) = (start, None);
        let free = loop {
            let (mut least, mut next) = (f64::INFINITY, None);
            for column in 0..columns {
                if done[column] {
                    continue;
                }
                let reduced = cost(row, column) - row_price[row] - column_price[column];
                if reduced < slack[column] {
                    slack[column] = reduced;
                    before[column] = last;
                }
                if slack[column] < least {
                    (least, next) = (slack[column], Some(column));
                }
            }
            // Only NaN costs leave no choice.
            let Some(column) = next else { break None };
            row_price[start] += least;
            for other in 0..columns {
                if done[other] {
                    column_price[other] -= least;
                    if let Some(row) = row_of[other] {
                        row_price[row] += least;
                    }
                } else {
                    slack[other] -= least;
                }
            }
            done[column] = true;
            match row_of[column] {
                None => break Some(column),
                Some(owner) => (row, last) = (owner, Some(column)),
            }
        };
        let Some(mut column) = free else { continue };
        while let Some(earlier) = before[column] {
            row_of[column] = row_of[earlier];
            column = earlier;
        }
        row_of[column] = Some(start);
    }
    row_of
}

/// Like [`weigh`], with calls in the order of expectations. If the worth of a
/// pair is `None`, it cannot be paired; of two alignments with the same worth, the one with
/// more pairs is returned.
pub fn weigh_in_order(
    items: usize,
    calls: usize,
    worth: impl Fn(usize, usize) -> Option<f64>,
) -> Result<Vec<Option<usize>>, TooLarge> {
    #[derive(Clone, Copy, PartialEq)]
    enum Way {
        Pair,
        SkipCall,
        SkipItem,
    }
    if items.saturating_mul(calls) > MAX_PAIRS {
        return Err(TooLarge);
    }
    let mut ways = vec![Way::SkipItem; items * calls];
    // The best for the items so far and the first n calls: worth, then pairs.
    let mut above = vec![(0.0_f64, 0_u32); calls + 1];
    for item in 0..items {
        let mut row = vec![(0.0_f64, 0_u32); calls + 1];
        for call in 0..calls {
            let (mut best, mut way) = (row[call], Way::SkipCall);
            if above[call + 1] > best {
                (best, way) = (above[call + 1], Way::SkipItem);
            }
            if let Some(worth) = worth(item, call) {
                let paired = (above[call].0 + worth, above[call].1 + 1);
                if paired > best {
                    (best, way) = (paired, Way::Pair);
                }
            }
            row[call + 1] = best;
            ways[item * calls + call] = way;
        }
        above = row;
    }
    let mut of_item = vec![None; items];
    let (mut item, mut call) = (items, calls);
    while item > 0 && call > 0 {
        match ways[(item - 1) * calls + call - 1] {
            Way::Pair => {
                (item, call) = (item - 1, call - 1);
                of_item[item] = Some(call);
            }
            Way::SkipCall => call -= 1,
            Way::SkipItem => item -= 1,
        }
    }
    Ok(of_item)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the maximum by trying everything.
    fn brute(
        worth: &[Vec<f64>],
        calls: usize,
        used: &mut Vec<bool>,
        item: usize,
        ordered: bool,
    ) -> f64 {
        let Some(row) = worth.get(item) else { return 0.0 };
        let mut best = brute(worth, calls, used, item + 1, ordered);
        let first = if ordered {
            used.iter().rposition(|used| *used).map_or(0, |last| last + 1)
        } else {
            0
        };
        for call in first..calls {
            if !used[call] {
                used[call] = true;
                best = best.max(row[call] + brute(worth, calls, used, item + 1, ordered));
                used[call] = false;
            }
        }
        best
    }

    fn sum(worth: &[Vec<f64>], pairs: &[Option<usize>]) -> f64 {
        pairs.iter().enumerate().filter_map(|(item, call)| Some(worth[item][(*call)?])).sum()
    }

    proptest! {
        #[test]
        fn nothing_is_worth_more(
            worth in (1usize..6, 1usize..6).prop_flat_map(|(items, calls)| {
                proptest::collection::vec(proptest::collection::vec(0u8..9, calls), items)
            })
        ) {
            let worth: Vec<Vec<f64>> =
                worth.iter().map(|row| row.iter().map(|w| f64::from(*w) / 8.0).collect()).collect();
            let (items, calls) = (worth.len(), worth[0].len());
            let free = weigh(items, calls, |item, call| worth[item][call]).unwrap();
            let mut taken: Vec<usize> = free.iter().flatten().copied().collect();
            prop_assert_eq!(taken.len(), items.min(calls));
            taken.sort_unstable();
            taken.dedup();
            prop_assert_eq!(taken.len(), items.min(calls), "a call is taken once");
            let best = brute(&worth, calls, &mut vec![false; calls], 0, false);
            prop_assert!((sum(&worth, &free) - best).abs() < 1e-9);

            let ordered = weigh_in_order(items, calls, |item, call| Some(worth[item][call])).unwrap();
            let taken: Vec<usize> = ordered.iter().flatten().copied().collect();
            prop_assert!(taken.is_sorted_by(|a, b| a < b));
            let best = brute(&worth, calls, &mut vec![false; calls], 0, true);
            prop_assert!((sum(&worth, &ordered) - best).abs() < 1e-9);
        }
    }

    #[test]
    fn the_earliest_of_equals() {
        assert_eq!(weigh(1, 3, |_, _| 1.0), Ok(vec![Some(0)]));
        assert_eq!(weigh(2, 1, |_, _| 1.0), Ok(vec![Some(0), None]));
        assert_eq!(weigh_in_order(1, 3, |_, _| Some(1.0)), Ok(vec![Some(0)]));
        assert_eq!(weigh(0, 3, |_, _| 1.0), Ok(vec![]));
    }

    #[test]
    fn large_questions() {
        let worth = |item: usize, call: usize| f64::from((item * 7 + call * 13) as u32 % 101);
        assert!(weigh(150, 150, worth).unwrap().iter().all(Option::is_some));
        assert!(weigh(3, 100_000, worth).is_ok());
        assert_eq!(weigh(5_000, 5_000, worth), Err(TooLarge));
        assert_eq!(weigh_in_order(5_000, 5_000, |_, _| Some(1.0)), Err(TooLarge));
    }
}
