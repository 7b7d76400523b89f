//! The matching engine, which assigns calls to expectations.
//!
//! A [`Grid`] records which call meets which expectation. [`assign`] gives as many
//! expectations as possible a separate call; [`align`] does the same
//! and keeps the order; [`arrange`] does it for sequences with groups,
//! alternatives and optional parts, in which simultaneous calls
//! ([`Batches`]) have no order; [`cover`] handles counts in any order. All are
//! optimal and deterministic: the earliest calls are
//! used if several would do. If pairs have different
//! weights, [`weigh`] and [`weigh_in_order`] find the pairs with the largest total.

mod align;
mod assign;
mod batches;
mod column;
mod cover;
mod frontier;
mod grid;
#[cfg(test)]
mod oracle;
mod room;
mod sequence;
mod weigh;

pub use align::{TooLarge, align};
pub use assign::{assign, assign_choices};
pub use batches::Batches;
pub use column::CallColumn;
pub use cover::{Covered, Want, cover};
pub use grid::Grid;
pub use sequence::{
    Alignment, Element, ExpectationMatch, ExpectedItem, Extras, MatchedCalls, arrange,
};
pub use weigh::{weigh, weigh_in_order};
