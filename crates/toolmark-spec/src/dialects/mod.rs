//! The supported dialects.

mod toolmark;

use toolmark_grade::Dialect;
use toolmark_peers::{AgentV, AiGo, VallyDialect};

/// All dialects in detection order: specific dialects before general ones.
pub static DIALECTS: &[&dyn Dialect] = &[&VallyDialect, &AgentV, &AiGo, &toolmark::ToolmarkDialect];

/// Returns the dialect with this ID.
#[must_use]
pub fn dialect_by_id(id: &str) -> Option<&'static dyn Dialect> {
    DIALECTS.iter().copied().find(|dialect| dialect.info().id == id)
}
