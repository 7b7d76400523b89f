//! Ordered maps and sets on vectors.
//!
//! They answer as `BTreeMap` and `BTreeSet` do and generate about a tenth of their code, which is
//! compiled once per pair of types. Entries lie in chunks of a limited length: a map of few entries
//! is one chunk, and a map of a million takes no insertion longer than a chunk.

mod iter;
mod map;
mod set;
#[cfg(test)]
mod tests;

pub use iter::{IntoIter, Iter};
pub use map::{MapEntry, OccupiedEntry, SortedMap, VacantEntry};
pub use set::SortedSet;

/// Maximum number of entries in a chunk. A full chunk is split in two.
const MAX_CHUNK: usize = if cfg!(test) { 8 } else { 512 };
