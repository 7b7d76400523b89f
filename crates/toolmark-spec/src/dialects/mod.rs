//! The dialects, and the list of them.

mod toolmark;

use crate::dialect::Dialect;

/// Every dialect, in the order they are asked: the special before the general.
pub static DIALECTS: &[&dyn Dialect] = &[&toolmark::Toolmark];
mod aigo;

use crate::dialect::Dialect;

/// Every dialect, in the order they are asked.
pub static DIALECTS: &[&dyn Dialect] = &[&aigo::AiGo];

/// The dialect with this id.
#[must_use]
pub fn dialect_by_id(id: &str) -> Option<&'static dyn Dialect> {
    DIALECTS.iter().copied().find(|dialect| dialect.info().id == id)
}
