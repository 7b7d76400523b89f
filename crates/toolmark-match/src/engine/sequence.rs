//! Expected calls in order, with groups in any order, alternatives and
//! optional ones, laid beside the calls that were made.
//!
//! What is looked for is the alignment that leaves the fewest required calls
//! missing; of those, the one with the most required calls met, then the most
//! optional ones, then the earliest calls. Where calls that were not expected
//! count against it, missing and surplus calls together are kept fewest.

use super::align::{TooLarge, align};
use super::batches::Batches;
use super::column::Column;
use super::frontier::Frontier;
use super::grid::Grid;
use smallvec::SmallVec;

/// A call that is expected, once or several times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// Whatever tells it apart for the one who asks.
    pub id: usize,
    /// The calls that meet it, by its place among the columns.
    pub column: usize,
    /// How many different calls are expected.
    pub count: usize,
    /// Does it take further calls of its kind too?
    pub more: bool,
    /// May it be missing?
    pub optional: bool,
}

/// A part of a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Element {
    /// One expectation.
    Item(Item),
    /// Several, in any order.
    AnyOrder(Vec<Item>),
    /// One of several ways.
    OneOf(Vec<Vec<Element>>),
    /// A part that may be missing as a whole.
    Optional(Vec<Element>),
}

/// What counts against an alignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extras {
    /// Only what is missing.
    Allowed,
    /// Calls that nobody expected too.
    Forbidden,
}

/// The calls of one expectation, in order; mostly it is one.
pub type Calls = SmallVec<[usize; 2]>;

/// What became of one expectation on the chosen way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The expectation.
    pub id: usize,
    /// The calls it got, in order.
    pub calls: Calls,
    /// How many required calls it lacks.
    pub missing: usize,
}

/// The best alignment: the expectations of the chosen way, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Alignment {
    /// What became of each.
    pub places: Vec<Place>,
}

impl Alignment {
    /// How many required calls are missing.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.places.iter().map(|place| place.missing).sum()
    }

    /// Every call that was used, in the order of expectations.
    pub fn calls(&self) -> impl Iterator<Item = usize> + '_ {
        self.places.iter().flat_map(|place| place.calls.iter().copied())
    }
}

/// The best alignment of a sequence with the calls that were made.
///
/// `columns` says which calls meet which expectation. Questions that would take
/// too much work are not answered.
pub fn arrange(
    sequence: &[Element],
    columns: &[Column],
    batches: &Batches,
    extras: Extras,
) -> Result<Alignment, TooLarge> {
    match plain(sequence, columns, batches, extras) {
        Some(copies) => arrange_plain(&copies, columns, batches.calls()),
        None => Frontier::solve(sequence, columns, batches, extras),
    }
}

/// The expectations, repeated as often as they are expected, where there is
/// nothing else to a sequence; more than there are calls are not repeated.
fn plain<'a>(
    sequence: &'a [Element],
    columns: &[Column],
    batches: &Batches,
    extras: Extras,
) -> Option<Vec<(&'a Item, usize)>> {
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
    copies: &[(&Item, usize)],
    columns: &[Column],
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
        let calls: Calls = of_copy.by_ref().take(*count).flatten().collect();
        Place { id: item.id, missing: item.count - calls.len(), calls }
    });
    Ok(Alignment { places: places.collect() })
}

/// Takes the first call for each copy in turn; `None` unless all get one. It is what
/// [`align`] finds too, without a table of all pairs.
fn greedy(copies: &[(&Item, usize)], columns: &[Column]) -> Option<Vec<Place>> {
    let mut from = 0;
    let mut places = Vec::with_capacity(copies.len());
    for (item, count) in copies {
        let mut calls = Calls::new();
        for _ in 0..*count {
            let call = columns[item.column].next(from)?;
            calls.push(call);
            from = call + 1;
        }
        places.push(Place { id: item.id, missing: item.count - count, calls });
    }
    Some(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Where every copy gets a call, they are the calls that the table gives them.
        #[test]
        fn greedy_is_what_align_finds(
            calls in 1_usize..7,
            wanted in prop::collection::vec((any::<u8>(), 1_usize..3), 0..5),
        ) {
            let columns: Vec<Column> = wanted
                .iter()
                .map(|(bits, _)| Column::from_fn(calls, |call| bits & (1 << call) != 0))
                .collect();
            let item = |(id, (_, count)): (usize, &(u8, usize))| Item {
                id, column: id, count: *count, more: false, optional: false,
            };
            let items: Vec<Item> = wanted.iter().enumerate().map(item).collect();
            let copies: Vec<(&Item, usize)> = items
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
