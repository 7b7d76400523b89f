//! Counts per file and per group, as tables and as machine-readable rows.

mod cells;
pub mod files;
pub mod groups;
pub mod rows;
