//! The dialect trait.

use crate::Plan;
use crate::loading::Loading;
use crate::schema::Section;
use serde_json::Value;
use toolmark_config::Node;

/// Description of a dialect.
pub struct DialectInfo {
    /// Name of the dialect: `toolmark`, `vally`, `agentv`, `aigo`.
    pub id: &'static str,
    /// One-line title.
    pub title: &'static str,
    /// Description of its files.
    pub looks_for: &'static str,
    /// Top-level keys that identify its files.
    pub keys: &'static [&'static str],
}

/// A file format for specs.
pub trait Dialect: Sync {
    /// Returns the description of the dialect.
    fn info(&self) -> &'static DialectInfo;

    /// Returns the confidence, from 0 to 100, that a file is in this dialect.
    fn detect(&self, root: &Node) -> u8;

    /// Builds a plan from a file. Problems are added to `loading.problems`; a plan is used only
    /// if none of them is an error.
    fn load(&self, root: &Node, loading: &mut Loading<'_>) -> Option<Plan>;

    /// Returns the JSON Schema of its files, including the `sections` that other crates
    /// read.
    fn schema(&self, sections: &[Section]) -> Value;
}
