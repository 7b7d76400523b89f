//! The meaning of texts that hosts and well-known tools give as results.

mod frame;
mod notes;

pub use frame::{OutputFrame, unframe};
pub use notes::{Note, note_of_host, note_of_tool};
