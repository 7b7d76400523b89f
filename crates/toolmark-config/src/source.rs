//! The text of a spec file, its name, and the positions of its lines.

use crate::{Problem, Span};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Maximum size of a spec file.
const MAX_BYTES: u64 = 64 << 20;

/// Maximum size of a file of lines. Programs write such files, so they may be larger, as long as
/// positions fit into spans.
const MAX_BYTES_OF_LINES: u64 = u32::MAX as u64 - 1;

/// A text to which problems refer.
#[derive(Debug, Clone)]
pub struct Source {
    /// Display name: the path as given by the user.
    pub name: Arc<str>,
    text: String,
    /// Byte at which each line begins, computed on first use.
    lines: OnceLock<Vec<u32>>,
}

/// A position for people: counted from 1, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line number.
    pub line: usize,
    /// Character within the line.
    pub column: usize,
}

impl Source {
    /// Creates a source from a name and a text. A leading byte order mark is removed.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<String>) -> Self {
        let mut text = text.into();
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        Self { name: name.into(), text, lines: OnceLock::new() }
    }

    /// Reads a file.
    pub fn open(path: &Path) -> Result<Self, Box<Problem>> {
        Self::open_up_to(path, MAX_BYTES)
    }

    /// Reads a file of lines, which may be larger than a handwritten file.
    pub fn open_lines(path: &Path) -> Result<Self, Box<Problem>> {
        Self::open_up_to(path, MAX_BYTES_OF_LINES)
    }

    fn open_up_to(path: &Path, most: u64) -> Result<Self, Box<Problem>> {
        let bytes =
            read_limited(path, most).map_err(|error| Problem::error("unreadable-file", error))?;
        Ok(Self::new(path.to_string_lossy(), decode(bytes)?))
    }

    /// Returns the text, without byte order mark.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text at `span`, clamped to the text.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        let (start, end) = (self.floor(span.start as usize), self.floor(span.end as usize));
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns the line and column of a byte; positions past the end map to the end.
    #[must_use]
    pub fn place(&self, byte: u32) -> Place {
        let byte = self.floor(byte as usize);
        let line = self.line_of(byte);
        let column = self.text.get(self.line_start(line)..byte).unwrap_or_default();
        Place { line: line + 1, column: column.chars().count() + 1 }
    }

    /// Returns the line that contains a byte, counted from 0.
    pub(crate) fn line_of(&self, byte: usize) -> usize {
        self.lines().partition_point(|&start| start as usize <= byte).saturating_sub(1)
    }

    /// Returns the byte range of a line counted from 0, without its line ending.
    pub(crate) fn line_range(&self, line: usize) -> std::ops::Range<usize> {
        let start = self.line_start(line);
        let end = self.lines().get(line + 1).map_or(self.text.len(), |&next| next as usize);
        let text = self.text.get(start..end).unwrap_or_default();
        let text = text.strip_suffix('\n').unwrap_or(text);
        start..start + text.strip_suffix('\r').unwrap_or(text).len()
    }

    fn line_start(&self, line: usize) -> usize {
        self.lines().get(line).map_or(self.text.len(), |&start| start as usize)
    }

    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let after = self.text.match_indices('\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(after).map_while(|at| u32::try_from(at).ok()).collect()
        })
    }

    /// Returns the largest character boundary up to `byte`.
    fn floor(&self, byte: usize) -> usize {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        byte
    }
}

/// Prefix of the message for a file that cannot be opened or read.
pub const FAILED_TO_READ: &str = "failed to read the file: ";

fn read_limited(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let too_large = || format!("the file is larger than {} MB", most >> 20);
    let failed = |error: io::Error| format!("{FAILED_TO_READ}{error}");
    let file = File::open(path).map_err(failed)?;
    if file.metadata().is_ok_and(|data| data.is_dir()) {
        return Err(format!("{FAILED_TO_READ}it is a directory"));
    }
    let mut bytes = Vec::new();
    // One byte more than allowed tells a file of the limit from a larger one,
    // also where the size is not known beforehand.
    file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

fn decode(bytes: Vec<u8>) -> Result<String, Box<Problem>> {
    let not_utf8 = |message: String| {
        Box::new(Problem::error("not-utf8", message).help("save the file as UTF-8"))
    };
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(not_utf8("the file is UTF-16".into()));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes().iter().take(valid).filter(|&&b| b == b'\n').count();
        not_utf8(format!("the file is not UTF-8 from line {line} on"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters() {
        let source = Source::new("x", "\u{feff}aé\r\n日本x\n\n");
        for (byte, line, column) in [
            (0, 1, 1),
            (1, 1, 2),
            (2, 1, 2),
            (3, 1, 3),
            (5, 2, 1),
            (8, 2, 2),
            (11, 2, 3),
            (13, 3, 1),
            (14, 4, 1),
            (99, 4, 1),
        ] {
            assert_eq!(source.place(byte), Place { line, column }, "byte {byte}");
        }
        assert_eq!(source.text().get(source.line_range(0)), Some("aé"));
        assert_eq!(source.text().get(source.line_range(1)), Some("日本x"));
        assert_eq!(source.slice(Span { start: 1, end: 3 }), "é");
        assert_eq!(source.slice(Span { start: 9, end: 2 }), "");
        assert_eq!(source.line_range(77), 14..14);
    }

    #[test]
    fn files_that_cannot_be_read_say_why() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.yaml");
        let said = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            Source::open(&path).map(|s| s.text().to_owned()).map_err(|p| p.message)
        };
        assert_eq!(said(b"\xef\xbb\xbfa: 1"), Ok("a: 1".into()));
        assert_eq!(said(b"a\nb\n\xff"), Err("the file is not UTF-8 from line 3 on".into()));
        assert_eq!(said(b"\xff\xfea\0"), Err("the file is UTF-16".into()));
        let missing = Source::open(&dir.path().join("none")).unwrap_err();
        assert_eq!(missing.code, "unreadable-file");
        let directory = Source::open(dir.path()).unwrap_err();
        assert!(directory.message.contains("directory"), "{}", directory.message);
    }
}
