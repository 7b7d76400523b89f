//! The graders that are toolmark's own.
//!
//! One grader, one file or folder: its configuration, its page of the reference,
//! its code and its tests.

mod expect;
mod failure;
mod finding;
mod judge;

pub use expect::{CallShapes, EXPECT, PlainExpect};
pub use failure::FAILURE;
pub use finding::{Axis, FINDING};
pub use judge::JUDGE;
