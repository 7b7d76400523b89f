//! Building blocks of every terminal output.

mod glance;
mod headline;
pub mod human;
mod line;
pub mod markdown;
pub mod table;
pub mod text;
pub mod timeline;

use std::convert::Infallible;
use std::io;

pub use glance::{first_words, glance};
pub use headline::{Headline, headline, headline_of};
pub use line::{StyledLine, style};

/// Escapes terminal control characters. A JSON writer has already escaped everything below U+0020;
/// the remaining ones are inside strings.
#[must_use]
pub fn harmless_json(text: String) -> String {
    // Below U+0080 only DEL is left.
    if text.is_ascii() && !text.as_bytes().contains(&0x7f) {
        return text;
    }
    let mut safe = String::new();
    let _ = escape_obeyed(&text, |part| {
        safe.push_str(part);
        Ok::<(), Infallible>(())
    });
    safe
}

/// Passes on the text in parts, with terminal control characters escaped.
fn escape_obeyed<E>(text: &str, mut give: impl FnMut(&str) -> Result<(), E>) -> Result<(), E> {
    let (mut rest, mut seen) = (text, 0);
    while let Some(c) = next_special(rest, seen) {
        let Some((before, from)) = rest.split_at_checked(c) else { break };
        let Some(c) = from.chars().next() else { break };
        if text::is_obeyed(c) {
            give(before)?;
            give(&format!("\\u{:04x}", c as u32))?;
            (rest, seen) = (from.get(c.len_utf8()..).unwrap_or_default(), 0);
        } else {
            seen = before.len() + c.len_utf8();
        }
    }
    give(rest)
}

/// Returns the offset of the next byte that may belong to a terminal control character; in this
/// text, no other ASCII byte does.
fn next_special(text: &str, from: usize) -> Option<usize> {
    /// Number of bytes that are inspected together.
    const BLOCK: usize = 64;
    let is_special = |b: &u8| *b >= 0x7f;
    let bytes = text.as_bytes().get(from..)?;
    // Every byte of a block is looked at, which vectors can do.
    let has_special = |block: &[u8]| block.iter().fold(false, |has, b| has | is_special(b));
    let plain = bytes.chunks_exact(BLOCK).take_while(|block| !has_special(block)).count() * BLOCK;
    let at = bytes.get(plain..)?.iter().position(is_special)?;
    Some(from + plain + at)
}

/// Escapes terminal control characters in the output of a JSON writer, in chunks of whole
/// characters.
pub(crate) struct HarmlessJson<'o> {
    out: &'o mut dyn io::Write,
}

impl<'o> HarmlessJson<'o> {
    pub(crate) fn new(out: &'o mut dyn io::Write) -> Self {
        Self { out }
    }
}

impl io::Write for HarmlessJson<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        escape_obeyed(text, |part| self.out.write_all(part.as_bytes()))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_a_terminal_obeys_is_escaped_wherever_it_stands() {
        for before in [0, 1, 31, 63, 64, 65, 127, 200] {
            let text = |c: &str| format!("\"{}é{c}ü{c}\"", "x".repeat(before));
            for (c, want) in [("\u{7f}", "\\u007f"), ("\u{9b}", "\\u009b"), ("ö", "ö")] {
                let mut out = Vec::new();
                HarmlessJson::new(&mut out).write_all(text(c).as_bytes()).unwrap();
                assert_eq!(String::from_utf8(out).unwrap(), text(want), "{before} {c:?}");
                assert_eq!(harmless_json(text(c)), text(want), "{before} {c:?}");
            }
        }
    }
}
