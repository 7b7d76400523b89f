//! What a dialect is.

use crate::Plan;
use crate::loading::Loading;
use crate::schema::Section;
use serde_json::Value;
use toolmark_config::Node;

/// What a dialect says about itself.
pub struct DialectInfo {
    /// The word for it: `toolmark`, `vally`, `agentv`, `aigo`.
    pub id: &'static str,
    /// One line.
    pub title: &'static str,
    /// What its files look like, in words.
    pub looks_for: &'static str,
    /// The keys at the top that tell its files apart.
    pub keys: &'static [&'static str],
}

/// Whose file shape a spec has.
pub trait Dialect: Sync {
    /// What it says about itself.
    fn info(&self) -> &'static DialectInfo;

    /// How sure it is, from 0 to 100, that a file is of its shape.
    fn detect(&self, root: &Node) -> u8;

    /// Makes a plan of a file. Everything wrong with it goes to
    /// `loading.problems`; a plan is used only if none of it is an error.
    fn load(&self, root: &Node, loading: &mut Loading<'_>) -> Option<Plan>;

    /// The JSON Schema of its files, with those of their `sections` that others
    /// read.
    fn schema(&self, sections: &[Section]) -> Value;
}
