//! The text of a spec file, its name, and the positions of its lines.

use crate::NodeSpan;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use toolmark_base::{ReadFileError, read_file};

/// Maximum size of a spec file.
const MAX_BYTES: u64 = 64 << 20;

/// Maximum size of a file of lines. Programs write such files, so they may be larger, as long as
/// positions fit into spans.
const MAX_BYTES_OF_LINES: u64 = u32::MAX as u64 - 1;

/// A text to which problems refer.
#[derive(Debug, Clone)]
pub struct SourceText {
    /// Display name: the path as given by the user.
    pub name: Arc<str>,
    text: String,
    /// Byte at which each line begins, computed on first use.
    lines: OnceLock<Vec<u32>>,
}

/// A position for people: counted from 1, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePosition {
    /// Line number.
    pub line: usize,
    /// Character within the line.
    pub column: usize,
}

impl SourceText {
    /// Creates a source from a name and a text. A leading byte order mark is removed.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<String>) -> Self {
        let mut text = text.into();
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        Self { name: name.into(), text, lines: OnceLock::new() }
    }

    /// Reads a file, which may be empty.
    pub fn open(path: &Path) -> Result<Self, ReadFileError> {
        match Self::open_named(path) {
            Err(error) if error.is_empty() => Ok(Self::new(path.to_string_lossy(), "")),
            opened => opened,
        }
    }

    /// Reads a file that the user named. An empty file is an error.
    pub fn open_named(path: &Path) -> Result<Self, ReadFileError> {
        Ok(Self::new(path.to_string_lossy(), read_file::read_text(path, MAX_BYTES)?))
    }

    /// Reads a file of lines, which may be larger than a handwritten file.
    pub fn open_lines(path: &Path) -> Result<Self, ReadFileError> {
        let text = match read_file::read_text(path, MAX_BYTES_OF_LINES) {
            Err(error) if error.is_empty() => String::new(),
            text => text?,
        };
        Ok(Self::new(path.to_string_lossy(), text))
    }

    /// Returns the text, without byte order mark.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text at `span`, clamped to the text.
    #[must_use]
    pub fn slice(&self, span: NodeSpan) -> &str {
        let (start, end) = (self.floor(span.start as usize), self.floor(span.end as usize));
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns the line and column of a byte; positions past the end map to the end.
    #[must_use]
    pub fn place(&self, byte: u32) -> SourcePosition {
        let byte = self.floor(byte as usize);
        let line = self.line_of(byte);
        let column = self.text.get(self.line_start(line)..byte).unwrap_or_default();
        SourcePosition { line: line + 1, column: column.chars().count() + 1 }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters() {
        let source = SourceText::new("x", "\u{feff}aé\r\n日本x\n\n");
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
            assert_eq!(source.place(byte), SourcePosition { line, column }, "byte {byte}");
        }
        assert_eq!(source.text().get(source.line_range(0)), Some("aé"));
        assert_eq!(source.text().get(source.line_range(1)), Some("日本x"));
        assert_eq!(source.slice(NodeSpan { start: 1, end: 3 }), "é");
        assert_eq!(source.slice(NodeSpan { start: 9, end: 2 }), "");
        assert_eq!(source.line_range(77), 14..14);
    }

    #[test]
    fn only_a_named_file_must_have_content() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.yaml");
        std::fs::write(&path, "\u{feff}a: 1").unwrap();
        assert_eq!(SourceText::open_named(&path).unwrap().text(), "a: 1");
        std::fs::write(&path, "\n").unwrap();
        assert_eq!(SourceText::open(&path).unwrap().text(), "");
        assert_eq!(SourceText::open_lines(&path).unwrap().text(), "");
        assert!(SourceText::open_named(&path).unwrap_err().is_empty());
        assert!(SourceText::open(&dir.path().join("none")).unwrap_err().is_missing());
    }

    #[test]
    fn problems_of_files_have_codes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.yaml");
        std::fs::write(&path, b"a\n\xff").unwrap();
        let problem = crate::Problem::from(&SourceText::open(&path).unwrap_err());
        assert_eq!(problem.code, "not-utf8");
        assert!(problem.message.ends_with("x.yaml: it is not UTF-8 from line 2 on"));
        let problem = crate::Problem::from(&SourceText::open(dir.path()).unwrap_err());
        assert_eq!(problem.code, "unreadable-file");
    }
}
