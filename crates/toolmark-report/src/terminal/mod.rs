//! What every output for a terminal is made of.

mod glance;
mod headline;
pub mod human;
mod line;
pub mod text;

use std::fmt::Write as _;

pub use glance::{first_words, glance};
pub use headline::{Headline, headline, headline_of};
pub use line::{Line, style};

/// Escapes what a terminal would obey. A JSON writer has escaped all below
/// U+0020; what is left stands inside strings.
#[must_use]
pub fn harmless_json(text: String) -> String {
    // Below U+0080 only DEL is left.
    if text.is_ascii() && !text.as_bytes().contains(&0x7f) {
        return text;
    }
    let mut safe = String::new();
    let mut rest = text.as_str();
    // Of ASCII nothing else is obeyed that can stand here.
    while let Some(at) = rest.bytes().position(|b| b >= 0x7f) {
        let Some((before, from)) = rest.split_at_checked(at) else { break };
        let Some(c) = from.chars().next() else { break };
        if text::is_obeyed(c) {
            let _ = write!(safe, "{before}\\u{:04x}", c as u32);
        } else {
            safe.push_str(before);
            safe.push(c);
        }
        rest = from.get(c.len_utf8()..).unwrap_or_default();
    }
    safe.push_str(rest);
    safe
}
