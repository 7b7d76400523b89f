//! Bounds on what a hostile file can cost.

/// Bounds on reading; the defaults fit every real trace we know.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The longest single record (line, array element, document), in bytes.
    pub record: usize,
    /// The most a compressed file may grow to, as a multiple of its size; only
    /// asked once it has grown past [`Limits::expansion_floor`].
    pub expansion: u64,
    /// Bytes a compressed file may grow to unasked.
    pub expansion_floor: u64,
    /// The most entries of an archive.
    pub entries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { record: 1 << 30, expansion: 1_000, expansion_floor: 256 << 20, entries: 1_000_000 }
    }
}
