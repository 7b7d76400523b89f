//! The matching engine: calls against expectations.
//!
//! A [`Grid`] says which call meets which expectation. [`assign`] gives every
//! expectation a call of its own, as many as can be; [`align`] does the same
//! and keeps the order; [`arrange`] does it for sequences with groups,
//! alternatives and optional parts, where calls that were made side by side
//! ([`Batches`]) have no order; [`cover`] is for counts in any order. All are
//! optimal, and all give the same answer every time: the earliest calls are
//! taken where several would do. Where pairs are worth
//! more or less, [`weigh`] and [`weigh_in_order`] find those worth most.

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
pub use column::Column;
pub use cover::{Covered, Want, cover};
pub use grid::Grid;
pub use sequence::{Alignment, Calls, Element, Extras, Item, Place, arrange};
pub use weigh::{weigh, weigh_in_order};
