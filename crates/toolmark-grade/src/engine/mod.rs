//! The matching engine: calls against expectations.
//!
//! A [`Grid`] says which call meets which expectation. [`assign`] gives every
//! expectation a call of its own, as many as can be; [`align`] does the same
//! and keeps the order. Both are optimal, and both give the same answer every
//! time: the earliest calls are taken where several would do. Where pairs are
//! worth more or less, [`weigh`] and [`weigh_in_order`] find those worth most.

mod align;
mod assign;
mod grid;
mod weigh;

pub use align::{TooLarge, align};
pub use assign::assign;
pub use grid::Grid;
pub use weigh::{weigh, weigh_in_order};
