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

/// What became of one expectation on the chosen way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The expectation.
    pub id: usize,
    /// The calls it got, in order.
    pub calls: Vec<usize>,
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
        let calls: Vec<usize> = of_copy.by_ref().take(*count).flatten().collect();
        Place { id: item.id, missing: item.count - calls.len(), calls }
    });
    Ok(Alignment { places: places.collect() })
}
