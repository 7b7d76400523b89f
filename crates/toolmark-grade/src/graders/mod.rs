//! toolmark's own graders.
//!
//! Each grader has one file or folder with its configuration, its reference page,
//! its code and its tests.

mod expect;
mod failure;
mod finding;
mod judge;

pub use expect::{CallShapes, EXPECT, PlainExpect};
pub use failure::FAILURE;
pub use finding::{Axis, FINDING};
pub use judge::JUDGE;
