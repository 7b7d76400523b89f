//! The dialects, and the list of them.

mod agentv;
mod aigo;
mod toolmark;
mod vally;

use crate::dialect::Dialect;

/// Every dialect, in the order they are asked: the special before the general.
pub static DIALECTS: &[&dyn Dialect] =
    &[&vally::Vally, &agentv::AgentV, &aigo::AiGo, &toolmark::Toolmark];

/// The dialect with this id.
#[must_use]
pub fn dialect_by_id(id: &str) -> Option<&'static dyn Dialect> {
    DIALECTS.iter().copied().find(|dialect| dialect.info().id == id)
}
