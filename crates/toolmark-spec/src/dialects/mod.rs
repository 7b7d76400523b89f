//! The dialects, and the list of them.

mod toolmark;

use toolmark_grade::Dialect;
use toolmark_peers::{AgentV, AiGo, Vally};

/// Every dialect, in the order they are asked: the special before the general.
pub static DIALECTS: &[&dyn Dialect] = &[&Vally, &AgentV, &AiGo, &toolmark::Toolmark];

/// The dialect with this id.
#[must_use]
pub fn dialect_by_id(id: &str) -> Option<&'static dyn Dialect> {
    DIALECTS.iter().copied().find(|dialect| dialect.info().id == id)
}
