//! Masks values of variables that must not be written to disk: keys that an agent received and
//! prints.

use aho_corasick::{AhoCorasick, MatchKind};
use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Minimum length of a masked value; shorter values would match everywhere.
const MIN_VALUE: usize = 8;

/// Replacement for a value.
const HIDDEN: &[u8] = b"[redacted]";

/// Finds and replaces values of variables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mask {
    finder: Option<AhoCorasick>,
    values: Arc<[String]>,
}

impl Mask {
    /// Returns a mask for these values, including their JSON-escaped form.
    #[must_use]
    pub(crate) fn new<'v>(values: impl IntoIterator<Item = &'v str>) -> Self {
        let mut all: Vec<String> = Vec::new();
        for value in values.into_iter().filter(|value| value.len() >= MIN_VALUE) {
            let quoted = serde_json::to_string(value).unwrap_or_default();
            all.extend([value.to_owned(), quoted.trim_matches('"').to_owned()]);
        }
        all.sort();
        all.dedup();
        // Of a value that starts as another does, all is hidden.
        let builder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&all);
        let finder = if all.is_empty() { None } else { builder.ok() };
        Self { finder, values: all.into() }
    }

    /// Returns a text with the values replaced.
    #[must_use]
    pub(crate) fn apply<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        match &self.finder {
            Some(finder) if finder.is_match(text) => {
                let mut out = Vec::with_capacity(text.len());
                let mut last = 0;
                for found in finder.find_iter(text) {
                    out.extend_from_slice(text.get(last..found.start()).unwrap_or_default());
                    out.extend_from_slice(HIDDEN);
                    last = found.end();
                }
                out.extend_from_slice(text.get(last..).unwrap_or_default());
                Cow::Owned(out)
            }
            _ => Cow::Borrowed(text),
        }
    }

    /// Like `apply`, for strings.
    #[must_use]
    pub(crate) fn apply_text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.apply(text.as_bytes())).into_owned()
    }

    /// Copies a stream in chunks with the values replaced. A value across a chunk border is found
    /// too: the end of a chunk waits for the next one. `limit` is the maximum number of written
    /// bytes; the rest is read and dropped. Returns whether everything was written.
    pub(crate) fn copy(
        &self,
        from: &mut impl Read,
        to: &mut impl Write,
        limit: u64,
    ) -> io::Result<bool> {
        let mut held: Vec<u8> = Vec::new();
        let mut chunk = vec![0; 32 << 10];
        let mut room = limit;
        let mut whole = true;
        loop {
            let read = match from.read(&mut chunk) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            held.extend_from_slice(chunk.get(..read).unwrap_or_default());
            let ready = if read == 0 { held.len() } else { self.ready(&held) };
            if ready > 0 {
                let clean = self.apply(held.get(..ready).unwrap_or_default());
                let fits = usize::try_from(room).unwrap_or(usize::MAX).min(clean.len());
                to.write_all(clean.get(..fits).unwrap_or_default())?;
                to.flush()?;
                room -= fits as u64;
                whole &= fits == clean.len();
                held.drain(..ready);
            }
            if read == 0 {
                return Ok(whole);
            }
        }
    }

    /// Number of bytes that can be written: the rest may be the start of a value. A complete value
    /// is never split.
    fn ready(&self, bytes: &[u8]) -> usize {
        let Some(finder) = &self.finder else { return bytes.len() };
        let longest = self.values.iter().map(String::len).max().unwrap_or(0);
        let first = bytes.len().saturating_sub(longest.saturating_sub(1));
        let is_start = |at: &usize| {
            let rest = bytes.get(*at..).unwrap_or_default();
            self.values.iter().any(|value| value.as_bytes().starts_with(rest))
        };
        let ready = (first..bytes.len()).find(is_start).unwrap_or(bytes.len());
        let cut =
            finder.find_iter(bytes).find(|found| found.start() < ready && found.end() > ready);
        cut.map_or(ready, |found| found.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct MaskPieces(Vec<&'static [u8]>);

    impl Read for MaskPieces {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let piece = self.0.remove(0);
            into[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    fn copied(mask: &Mask, pieces: Vec<&'static [u8]>, limit: u64) -> (String, bool) {
        let mut out = Vec::new();
        let whole = mask.copy(&mut MaskPieces(pieces), &mut out, limit).unwrap();
        (String::from_utf8(out).unwrap(), whole)
    }

    #[test]
    fn values_are_found_in_any_piece() {
        let mask = Mask::new(["sk-secret-1", "short", "a\"b-longer"]);
        for pieces in [
            vec![&b"key sk-secret-1 end\n"[..]],
            vec![b"key sk-se", b"cret", b"-1 end\n"],
            vec![b"key sk-secret-1 end", b"\n"],
        ] {
            let (text, whole) = copied(&mask, pieces, 1000);
            assert_eq!((text.as_str(), whole), ("key [redacted] end\n", true));
        }
        let alike = Mask::new(["sk-secret-1", "sk-secret-1-longer", "line one\nline two"]);
        for (pieces, expected) in [
            (vec![&b"sk-secret-1"[..], b"-long", b"er."], "[redacted]."),
            (vec![b"sk-secret-1", b"-short"], "[redacted]-short"),
            (vec![b"a line one\n", b"line two b"], "a [redacted] b"),
            (vec![b"sk-secret-sk-secret-1 sk-", b"s"], "sk-secret-[redacted] sk-s"),
        ] {
            assert_eq!(copied(&alike, pieces, 1000).0, expected);
        }
        // Every way to cut a text in three.
        let text = b"x sk-secret-1 y sk-secret-1-longer z sk-secret-";
        for first in 0..text.len() {
            for second in first..text.len() {
                let pieces = [&text[..first], &text[first..second], &text[second..]];
                let pieces = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
                let (copy, _) = copied(&alike, pieces, 1000);
                assert_eq!(copy, "x [redacted] y [redacted] z sk-secret-", "{first} {second}");
            }
        }
        assert_eq!(copied(&mask, vec![b"a short x a\\\"b-longer"], 99).0, "a short x [redacted]");
        assert_eq!(copied(&mask, vec![b"0123456789"], 4), ("0123".to_owned(), false));
        assert_eq!(copied(&Mask::default(), vec![b"ab", b"c"], 9).0, "abc");
    }
}
