//! What every output for a terminal is made of.

mod glance;
mod headline;
pub mod human;
mod line;
pub mod text;

use std::io;

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
    escape_obeyed(&text, |part| safe.push_str(part));
    safe
}

/// Gives the text in parts, with what a terminal would obey escaped.
fn escape_obeyed(text: &str, mut give: impl FnMut(&str)) {
    let mut rest = text;
    // Of ASCII nothing else is obeyed that can stand here.
    while let Some(at) = rest.bytes().position(|b| b >= 0x7f) {
        let Some((before, from)) = rest.split_at_checked(at) else { break };
        let Some(c) = from.chars().next() else { break };
        give(before);
        let (this, after) = from.split_at_checked(c.len_utf8()).unwrap_or((from, ""));
        if text::is_obeyed(c) {
            give(&format!("\\u{:04x}", c as u32));
        } else {
            give(this);
        }
        rest = after;
    }
    give(rest);
}

/// Takes JSON as a writer of JSON makes it, in pieces of whole characters, and escapes
/// what a terminal would obey.
pub(crate) struct HarmlessJson<'o> {
    out: &'o mut dyn io::Write,
    safe: String,
}

impl<'o> HarmlessJson<'o> {
    pub(crate) fn new(out: &'o mut dyn io::Write) -> Self {
        Self { out, safe: String::new() }
    }
}

impl io::Write for HarmlessJson<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.safe.clear();
        let text = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        escape_obeyed(text, |part| self.safe.push_str(part));
        self.out.write_all(self.safe.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
