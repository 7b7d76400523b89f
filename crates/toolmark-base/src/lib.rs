//! Helpers for every crate: enums of words, text cuts, lexical paths, atomic writes, ordered maps,
//! and files named by the user.

#![forbid(unsafe_code)]

pub mod file;
pub mod path;
pub mod read_file;
pub mod sanitize;
pub mod sorted;
mod sync;
pub mod text;
mod word_enum;

pub use read_file::{ReadFileError, ReadFileErrorKind};
pub use sorted::{SortedMap, SortedSet};
pub use sync::lock;

#[doc(hidden)]
pub use serde as __serde;
