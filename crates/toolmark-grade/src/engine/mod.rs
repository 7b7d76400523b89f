//! The matching engine: calls against expectations.
//!
//! A [`Grid`] says which call meets which expectation. [`assign`] gives every
//! expectation a call of its own, as many as can be; [`align`] does the same
//! and keeps the order. Both are optimal, and both give the same answer every
//! time: the earliest calls are taken where several would do.

mod align;
mod assign;
mod grid;

pub use align::{TooLarge, align};
pub use assign::assign;
pub use grid::Grid;
