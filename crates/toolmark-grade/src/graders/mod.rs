//! The graders that are toolmark's own.
//!
//! One grader, one file or folder: its configuration, its page of the reference,
//! its code and its tests.

mod expect;
mod finding;
mod judge;

pub use expect::{EXPECT, PlainExpect};
pub use finding::FINDING;
pub use judge::JUDGE;
