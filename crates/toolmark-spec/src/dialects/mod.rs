//! The dialects, and the list of them.

mod vally;

use crate::dialect::Dialect;

/// Every dialect, in the order they are asked.
pub static DIALECTS: &[&dyn Dialect] = &[&vally::Vally];

/// The dialect with this id.
#[must_use]
pub fn dialect_by_id(id: &str) -> Option<&'static dyn Dialect> {
    DIALECTS.iter().copied().find(|dialect| dialect.info().id == id)
}
