//! Aligns expected calls in order, with groups in any order, alternatives and
//! optional parts, with the calls that were made.
//!
//! The best alignment has the fewest missing required calls;
//! then the most matched required calls, then the most
//! matched optional ones, then the earliest calls. If unexpected calls
//! count against it, the total of missing and surplus calls is minimal.

use super::align::{TooLarge, align};
use super::batches::Batches;
use super::column::CallColumn;
use super::frontier::Frontier;
use super::grid::Grid;
use smallvec::SmallVec;

/// An expected call, with a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedItem {
    /// ID chosen by the caller.
    pub id: usize,
    /// Index of the column with the calls that meet it.
    pub column: usize,
    /// Number of separate expected calls.
    pub count: usize,
    /// Whether it also takes additional matching calls.
    pub more: bool,
    /// Whether it may be missing.
    pub optional: bool,
}

/// A part of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Element {
    /// One expectation.
    Item(ExpectedItem),
    /// Several expectations, in any order.
    AnyOrder(Vec<ExpectedItem>),
    /// Alternatives.
    OneOf(Vec<Vec<Element>>),
    /// A part that may be missing as a whole.
    Optional(Vec<Element>),
}

/// Deviations that count against an alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extras {
    /// Only missing calls.
    Allowed,
    /// Missing calls and unexpected calls.
    Forbidden,
}

/// Calls of one expectation, in order; mostly one.
pub type MatchedCalls = SmallVec<[usize; 2]>;

/// Result of one expectation on the chosen path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectationMatch {
    /// ID of the expectation.
    pub id: usize,
    /// Calls assigned to it, in order.
    pub calls: MatchedCalls,
    /// Number of missing required calls.
    pub missing: usize,
}

/// The best alignment: the expectations of the chosen path, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Alignment {
    /// Result of each expectation.
    pub places: Vec<ExpectationMatch>,
}

impl Alignment {
    /// Returns the number of missing required calls.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.places.iter().map(|place| place.missing).sum()
    }

    /// Iterates over the used calls, in the order of expectations.
    pub fn calls(&self) -> impl Iterator<Item = usize> + '_ {
        self.places.iter().flat_map(|place| place.calls.iter().copied())
    }
}

/// Returns the best alignment of a sequence with the calls that were made.
///
/// `columns` contains the calls that meet each expectation. Inputs that would need
/// too much work return an error.
pub fn arrange(
    sequence: &[Element],
    columns: &[CallColumn],
    batches: &Batches,
    extras: Extras,
) -> Result<Alignment, TooLarge> {
    match plain(sequence, columns, batches, extras) {
        Some(copies) => arrange_plain(&copies, columns, batches.calls()),
        None => Frontier::solve(sequence, columns, batches, extras),
    }
}

/// Returns the expectations repeated by their counts, if the sequence contains nothing
/// else; repetitions are limited to the number of calls.
fn plain<'a>(
    sequence: &'a [Element],
    columns: &[CallColumn],
    batches: &Batches,
    extras: Extras,
) -> Option<Vec<(&'a ExpectedItem, usize)>> {
    if !batches.are_single() {
        return None;
    }
    sequence
        .iter()
        .map(|element| match element {
            Element::Item(item) if !item.optional && (!item.more || extras == Extras::Allowed) => {
                Some((item, item.count.min(columns[item.column].count())))
            }
            _ => None,
        })
        .collect()
}

fn arrange_plain(
    copies: &[(&ExpectedItem, usize)],
    columns: &[CallColumn],
    calls: usize,
) -> Result<Alignment, TooLarge> {
    if let Some(places) = greedy(copies, columns) {
        return Ok(Alignment { places });
    }
    let items: usize = copies.iter().map(|(_, count)| count).sum();
    let mut grid = Grid::bounded(calls, items)?;
    let mut at = 0;
    for (item, count) in copies {
        for call in columns[item.column].iter() {
            (at..at + count).for_each(|copy| grid.set(call, copy));
        }
        at += count;
    }
    let mut of_copy = align(&grid)?.into_iter();
    let places = copies.iter().map(|(item, count)| {
        let calls: MatchedCalls = of_copy.by_ref().take(*count).flatten().collect();
        ExpectationMatch { id: item.id, missing: item.count - calls.len(), calls }
    });
    Ok(Alignment { places: places.collect() })
}

/// Assigns the first matching call to each copy in turn; `None` unless all get one. The result
/// equals that of [`align`], without a table of all pairs.
fn greedy(
    copies: &[(&ExpectedItem, usize)],
    columns: &[CallColumn],
) -> Option<Vec<ExpectationMatch>> {
    let mut from = 0;
    let mut places = Vec::with_capacity(copies.len());
    for (item, count) in copies {
        let mut calls = MatchedCalls::new();
        for _ in 0..*count {
            let call = columns[item.column].next(from)?;
            calls.push(call);
            from = call + 1;
        }
        places.push(ExpectationMatch { id: item.id, missing: item.count - count, calls });
    }
    Some(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// If every copy gets a call, the result equals that of the table.
        #[test]
        fn greedy_is_what_align_finds(
            calls in 1_usize..7,
            wanted in prop::collection::vec((any::<u8>(), 1_usize..3), 0..5),
        ) {
            let columns: Vec<CallColumn> = wanted
                .iter()
                .map(|(bits, _)| CallColumn::from_fn(calls, |call| bits & (1 << call) != 0))
                .collect();
            let item = |(id, (_, count)): (usize, &(u8, usize))| ExpectedItem {
                id, column: id, count: *count, more: false, optional: false,
            };
            let items: Vec<ExpectedItem> = wanted.iter().enumerate().map(item).collect();
            let copies: Vec<(&ExpectedItem, usize)> = items
                .iter()
                .map(|item| (item, item.count.min(columns[item.column].count())))
                .collect();
            let owners: Vec<usize> = copies
                .iter()
                .flat_map(|(item, count)| std::iter::repeat_n(item.id, *count))
                .collect();
            let grid = Grid::from_fn(calls, owners.len(), |call, copy| {
                columns[owners[copy]].get(call)
            });
            let aligned = align(&grid).unwrap();
            let all: Option<Vec<usize>> = aligned.into_iter().collect();
            let found = greedy(&copies, &columns).map(|places| Alignment { places });
            prop_assert_eq!(found.as_ref().map(|found| found.calls().collect()), all);
        }
    }
}
