//! What every output for a terminal is made of.

mod glance;
pub mod human;
mod line;
pub mod text;

use std::fmt::Write as _;

pub use glance::glance;
pub use line::{Line, style};

/// Escapes what a terminal would obey. A JSON writer has escaped all below
/// U+0020; what is left stands inside strings.
#[must_use]
pub fn harmless_json(text: String) -> String {
    // Below U+0080 only DEL is left.
    if text.is_ascii() && !text.as_bytes().contains(&0x7f) {
        return text;
    }
    let obeyed = |c: char| c != '\n' && text::is_obeyed(c);
    if !text.contains(obeyed) {
        return text;
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if obeyed(c) {
            let _ = write!(safe, "\\u{:04x}", c as u32);
        } else {
            safe.push(c);
        }
    }
    safe
}
