//! Text that refers to the block it was read from.
//!
//! A trace is read in blocks; every piece of text in a [`Trajectory`] is a 16-byte pointer
//! into one of them. Escapes are decoded on demand, and because a block knows its position in
//! its file, so does every text: evidence always has a location.
//!
//! [`Trajectory`]: crate::Trajectory

use crate::input::buffers;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};
use toolmark_scan::Shared;

/// A part of a file, as read.
#[derive(Debug)]
pub struct Block {
    pub(crate) text: String,
    /// Byte offset of the block in the (decompressed) file.
    pub(crate) base: u64,
    /// Number of the line in which the block starts, from 1; 0 for text that is not from a file.
    pub(crate) line: u32,
    /// Number of characters of that line before the block.
    pub(crate) column: u32,
    pub(crate) file: Arc<str>,
    /// Computed when a location is first requested.
    layout: OnceLock<BlockLayout>,
}

/// Line breaks of a block, and its number of characters.
#[derive(Debug)]
struct BlockLayout {
    /// Offsets of the line breaks, in order.
    breaks: Vec<u32>,
    /// Whether every byte is a character.
    is_ascii: bool,
    /// Number of characters before every [`BlockLayout::STRIDE`]th byte. Computed for the first
    /// position that is far from the start of its line.
    characters: OnceLock<Vec<u32>>,
}

impl BlockLayout {
    /// Number of bytes between two character counts.
    const STRIDE: usize = 512;
    /// Maximum number of bytes whose characters are counted directly.
    const NEAR: usize = 16 << 10;

    fn new(bytes: &[u8]) -> Self {
        let breaks = memchr::memchr_iter(b'\n', bytes).map(|at| at as u32).collect();
        Self { breaks, is_ascii: bytes.is_ascii(), characters: OnceLock::new() }
    }

    fn counts(bytes: &[u8]) -> Vec<u32> {
        let mut before = 0;
        let counts = bytes.chunks(Self::STRIDE).map(|chunk| {
            let here = before;
            before += characters(chunk);
            here
        });
        counts.collect()
    }

    /// Returns the number of characters between two bytes.
    fn characters_between(&self, bytes: &[u8], start: usize, end: usize) -> u32 {
        if self.is_ascii {
            return (end - start) as u32;
        }
        if end - start <= Self::NEAR {
            return characters(&bytes[start..end]);
        }
        self.characters_before(bytes, end) - self.characters_before(bytes, start)
    }

    /// Returns the number of characters before a byte.
    fn characters_before(&self, bytes: &[u8], offset: usize) -> u32 {
        let counts = self.characters.get_or_init(|| Self::counts(bytes));
        let Some(last) = counts.len().checked_sub(1) else { return 0 };
        let nearest = (offset / Self::STRIDE).min(last);
        counts[nearest] + characters(&bytes[nearest * Self::STRIDE..offset])
    }
}

/// Line number, and number of characters before a byte.
#[derive(Debug, Clone, Copy)]
struct LineMark {
    line: u32,
    column: u32,
}

impl Block {
    /// Creates a block that begins at byte `base` of a file, in `line`, after `column` characters
    /// of that line.
    pub(crate) fn new(text: String, base: u64, line: u32, column: u32, file: Arc<str>) -> Self {
        Self { text, base, line, column, file, layout: OnceLock::new() }
    }

    /// Returns line and column of a byte. Lines and characters are counted once, so that locating
    /// everything in a block costs one pass over it, whatever the length of its lines and the
    /// order of the positions.
    fn mark(&self, offset: usize) -> LineMark {
        let bytes = self.text.as_bytes();
        let offset = offset.min(bytes.len());
        let layout = self.layout.get_or_init(|| BlockLayout::new(bytes));
        let lines = layout.breaks.partition_point(|at| (*at as usize) < offset);
        let start = match lines.checked_sub(1) {
            Some(last) => layout.breaks[last] as usize + 1,
            None => 0,
        };
        let here = layout.characters_between(bytes, start, offset);
        let column = if lines == 0 { self.column.saturating_add(here) } else { here };
        LineMark { line: self.line.saturating_add(lines as u32), column }
    }

    /// Returns the text of the block.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        buffers::give_back(std::mem::take(&mut self.text));
    }
}

/// A piece of text of a trace; cloning it is cheap.
#[derive(Clone)]
pub struct Text {
    block: Shared<Block>,
    start: u32,
    /// Length, with the top bit set if the text still has JSON escapes.
    len: u32,
}

const ESCAPED: u32 = 1 << 31;

impl Text {
    /// Creates a text that is not from a file.
    #[must_use]
    pub fn owned(text: impl Into<String>) -> Self {
        let text = text.into();
        let len = u32::try_from(text.len()).unwrap_or(u32::MAX) & !ESCAPED;
        thread_local!(static NO_FILE: Arc<str> = Arc::from(""));
        let block = Block::new(text, 0, 0, 0, NO_FILE.with(Arc::clone));
        Self { block: Shared::new(block), start: 0, len }
    }

    /// Creates a text of the bytes `start..end` of a block, which have no escapes.
    #[inline]
    pub(crate) fn verbatim(block: &Shared<Block>, start: usize, end: usize) -> Self {
        Self {
            block: Shared::clone(block),
            start: start as u32,
            len: (end - start) as u32 & !ESCAPED,
        }
    }

    /// Creates a text of the bytes `start..end` of a block, which are the inside of a JSON string.
    #[inline]
    pub(crate) fn escaped(block: &Shared<Block>, start: usize, end: usize) -> Self {
        let mut text = Self::verbatim(block, start, end);
        if has_escape(text.raw().as_bytes()) {
            text.len |= ESCAPED;
        }
        text
    }

    /// Returns the text as in the file, with its escapes.
    #[must_use]
    #[inline]
    pub fn raw(&self) -> &str {
        let start = self.start as usize;
        self.block.text.get(start..start + (self.len & !ESCAPED) as usize).unwrap_or("")
    }

    /// Returns the decoded text.
    #[must_use]
    #[inline]
    pub fn get(&self) -> Cow<'_, str> {
        if self.len & ESCAPED == 0 {
            Cow::Borrowed(self.raw())
        } else {
            toolmark_scan::unescape(self.raw())
        }
    }

    /// Returns the start of the text, at most this many bytes, cut at a character boundary. The
    /// rest is not decoded.
    #[must_use]
    pub fn start(&self, bytes: usize) -> Cow<'_, str> {
        let raw = self.raw();
        if self.len & ESCAPED == 0 {
            return Cow::Borrowed(&raw[..floor(raw, bytes)]);
        }
        // As long as most texts are with their escapes, then longer and longer.
        let mut wanted = bytes.saturating_add(bytes / 8).saturating_add(64);
        loop {
            let end = between_escapes(raw, wanted);
            let mut text = toolmark_scan::unescape(&raw[..end]);
            if text.len() >= bytes || end == raw.len() {
                let cut = floor(&text, bytes);
                match &mut text {
                    Cow::Borrowed(text) => *text = &text[..cut],
                    Cow::Owned(text) => text.truncate(cut),
                }
                return text;
            }
            wanted = wanted.saturating_mul(4);
        }
    }

    /// Returns whether this text equals `other`.
    #[must_use]
    pub fn is(&self, other: &str) -> bool {
        // A byte is written with six at most.
        let raw = self.raw();
        if self.len & ESCAPED == 0 {
            raw == other
        } else {
            raw.len() <= other.len().saturating_mul(6) && self.get() == other
        }
    }

    /// Returns whether the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len & !ESCAPED == 0
    }

    /// Returns the start position in the file.
    #[must_use]
    pub fn at(&self) -> At {
        At { block: Shared::clone(&self.block), offset: self.start }
    }
}

/// Returns whether there is a backslash. Names, IDs and arguments are too short for a search
/// that is optimized for long texts.
#[inline]
fn has_escape(bytes: &[u8]) -> bool {
    const SHORT: usize = 32;
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    // Not zero where one of eight bytes is a backslash.
    let among = |eight: &[u8; 8]| {
        let zero = u64::from_le_bytes(*eight) ^ (ONES * b'\\' as u64);
        zero.wrapping_sub(ONES) & !zero & (ONES << 7)
    };
    match (bytes.len(), bytes.last_chunk()) {
        (..=SHORT, Some(last)) => {
            let before = bytes.as_chunks().0.iter();
            before.fold(among(last), |found, eight| found | among(eight)) != 0
        }
        (..=SHORT, None) => bytes.contains(&b'\\'),
        _ => memchr::memchr(b'\\', bytes).is_some(),
    }
}

/// The last place of a text, no later than `at`, where a character ends.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns a position in the inside of a JSON string, at or after `at`, that is not inside an
/// escape; the end if there is none nearby.
fn between_escapes(raw: &str, at: usize) -> usize {
    /// Maximum length of an escape: a pair of surrogates has two escapes of six bytes.
    const LONGEST: usize = 12;
    const NEAR: usize = 4096;
    let is_apart = |end: &usize| {
        let before = raw.as_bytes().get(end - LONGEST..*end).unwrap_or_default();
        raw.is_char_boundary(*end) && !before.contains(&b'\\')
    };
    let at = at.max(LONGEST);
    (at..raw.len().min(at.saturating_add(NEAR))).find(is_apart).unwrap_or(raw.len())
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::owned(text)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::owned(text)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.get(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.get())
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.is(other)
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.is(other)
    }
}

impl serde::Serialize for Text {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.get())
    }
}

/// A position in a file, resolved to line and column on demand.
#[derive(Clone)]
pub struct At {
    block: Shared<Block>,
    offset: u32,
}

impl At {
    #[inline]
    pub(crate) fn new(block: &Shared<Block>, offset: usize) -> Self {
        Self { block: Shared::clone(block), offset: offset as u32 }
    }

    /// Creates a position that is only known as a location, without surrounding text.
    #[must_use]
    pub fn recorded(location: &Location) -> Self {
        let block = Block::new(
            String::new(),
            location.byte,
            location.line,
            location.column.saturating_sub(1),
            Arc::clone(&location.file),
        );
        Self { block: Shared::new(block), offset: 0 }
    }

    /// Returns the position as file, line, column and byte.
    #[must_use]
    pub fn location(&self) -> Location {
        let mark = self.block.mark(self.offset as usize);
        Location {
            file: Arc::clone(&self.block.file),
            line: mark.line,
            column: mark.column.saturating_add(1),
            byte: self.block.base.saturating_add(u64::from(self.offset)),
        }
    }

    /// Returns the line of this position, truncated to `limit` bytes.
    #[must_use]
    pub fn line_text(&self, limit: usize) -> &str {
        let text = &self.block.text;
        let offset = self.offset as usize;
        let start = memchr::memrchr(b'\n', &text.as_bytes()[..offset]).map_or(0, |n| n + 1);
        let end =
            memchr::memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |n| start + n);
        let mut cut = end.min(start + limit);
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        text[start..cut].trim_end_matches('\r')
    }

    /// Returns the part of the line around this position, at most `limit` bytes, and the byte
    /// offset of the position in that part.
    #[must_use]
    pub fn excerpt(&self, limit: usize) -> (&str, usize) {
        let text = &self.block.text;
        let offset = self.offset as usize;
        let mut start = memchr::memrchr(b'\n', &text.as_bytes()[..offset]).map_or(0, |n| n + 1);
        if offset - start > limit / 2 {
            start = offset - limit / 2;
        }
        let end =
            memchr::memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |n| start + n);
        let mut end = end.max(offset).min(start + limit);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let part = text.get(start..end).unwrap_or("").trim_end_matches('\r');
        (part, offset.saturating_sub(start).min(part.len()))
    }
}

impl fmt::Debug for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let l = self.location();
        write!(f, "{}:{}:{}", l.file, l.line, l.column)
    }
}

/// Returns the number of characters that start in these bytes of UTF-8.
fn characters(bytes: &[u8]) -> u32 {
    // Counts that fit into a byte are added many at a time.
    let count = |part: &[u8]| part.iter().map(|b| u8::from(*b & 0xc0 != 0x80)).sum::<u8>();
    bytes.chunks(128).map(|part| u32::from(count(part))).sum()
}

/// File, line, column and byte of an item in a trace.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Location {
    /// File name as given on input.
    #[serde(serialize_with = "as_str")]
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Byte in the decompressed file, from 0.
    pub byte: u64,
}

fn as_str<S: serde::Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_found_wherever_they_are() {
        for length in 0..40 {
            let mut bytes = vec![b'[' | 0x80; length];
            assert!(!has_escape(&bytes));
            for at in 0..length {
                bytes[at] = b'\\';
                assert!(has_escape(&bytes), "{at} of {length}");
                bytes[at] = [b'[', b']', 0xdc, 0][at % 4];
                assert!(!has_escape(&bytes), "{at} of {length}");
            }
        }
    }

    #[test]
    fn a_text_knows_its_place() {
        let text = "one\ntw\u{f6} \\n x\n".into();
        let block = Shared::new(Block::new(text, 100, 7, 0, "f".into()));
        let text = Text::escaped(&block, 9, 13);
        assert_eq!(text.raw(), "\\n x");
        assert_eq!(text.get(), "\n x");
        let l = text.at().location();
        assert_eq!((l.line, l.column, l.byte), (8, 5, 109));
        assert_eq!(text.at().line_text(100), "two \\n x".replace('o', "\u{f6}"));
        assert_eq!(Text::owned("a"), "a");
    }

    #[test]
    fn the_start_of_a_text_is_that_of_the_decoded_one() {
        let pair = "\\ud83d\\ude00";
        for raw in [
            "plain \u{f6}\u{20ac} text".repeat(9),
            "a\\n\\\\\\u00e9b".repeat(40),
            format!("{}x", pair.repeat(30)),
            "\\\\".repeat(200),
            format!("{}{}", "\u{20ac}".repeat(50), "\\t".repeat(3)),
        ] {
            let block = Shared::new(Block::new(raw.clone(), 0, 1, 0, "f".into()));
            let text = Text::escaped(&block, 0, raw.len());
            let whole = text.get();
            for bytes in (0..whole.len() + 3).chain([usize::MAX]) {
                assert_eq!(text.start(bytes), whole[..floor(&whole, bytes)], "{bytes} of {raw}");
            }
        }
    }

    #[test]
    fn lines_and_characters_are_counted_from_where_the_block_starts() {
        let text = "a\u{f6}b\ncd\n\n\u{20ac}x y\nend";
        let block = Shared::new(Block::new(text.into(), 5, 3, 10, "f".into()));
        let places: Vec<At> =
            text.char_indices().map(|(offset, _)| At::new(&block, offset)).collect();
        let last = places[places.len() - 1].location();
        assert_eq!((last.line, last.column, last.byte), (7, 3, 23));
        assert_eq!(places[1].location().column, 12);
        assert_eq!(At::recorded(&last).location(), last);
    }

    #[test]
    fn places_in_a_long_text_are_found_in_any_order() {
        let text = format!("{}\n", "\u{f6}x".repeat(700)).repeat(9) + &"y".repeat(9000);
        let block = Shared::new(Block::new(text.clone(), 5, 3, 2, "f".into()));
        let offsets = (0..text.len()).step_by(97);
        for offset in offsets.clone().rev().chain(offsets).filter(|o| text.is_char_boundary(*o)) {
            let before = &text[..offset];
            let line = 3 + before.matches('\n').count() as u32;
            let characters = |text: &str| text.chars().count() as u32;
            let column = match before.rfind('\n') {
                Some(at) => characters(&before[at + 1..]),
                None => 2 + characters(before),
            };
            let found = At::new(&block, offset).location();
            assert_eq!((found.line, found.column), (line, column + 1), "{offset}");
        }
    }

    #[test]
    fn an_excerpt_is_around_its_place() {
        let text = format!("first\n{}X{}\r\nlast", "\u{f6}".repeat(50), "b".repeat(50));
        let place = text.find('X').unwrap();
        let block = Shared::new(Block::new(text, 0, 1, 0, "f".into()));
        for (place, want) in [
            (place, ("\u{f6}\u{f6}\u{f6}\u{f6}\u{f6}Xbbbbbbbbb", 10)),
            (2, ("first", 2)),
            (block.text.len(), ("last", 4)),
        ] {
            assert_eq!(At::new(&block, place).excerpt(20), want);
        }
    }
}
