//! Limits on the cost of reading a hostile file.

/// Limits on reading; the defaults fit every known real trace.
#[derive(Debug, Clone, Copy)]
pub struct ReadLimits {
    /// Maximum size of a single record (line, array element, document), in bytes.
    pub record: usize,
    /// Maximum decompressed size as a multiple of the compressed size; checked only above
    /// [`ReadLimits::expansion_floor`].
    pub expansion: u64,
    /// Decompressed size, in bytes, below which the expansion is not limited.
    pub expansion_floor: u64,
    /// Maximum number of entries of an archive.
    pub entries: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { record: 1 << 30, expansion: 1_000, expansion_floor: 256 << 20, entries: 1_000_000 }
    }
}
