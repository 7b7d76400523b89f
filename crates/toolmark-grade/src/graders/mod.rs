//! toolmark's own graders.
//!
//! Each grader has one file or folder with its configuration, its reference page,
//! its code and its tests.

mod expect;
mod judge;

pub use expect::{CallShapes, EXPECT, PlainExpect};
pub use judge::JUDGE;
