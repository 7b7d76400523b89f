//! Splits a file into records with as little of it in memory as possible.
//!
//! Lines and array elements are read in blocks of a few hundred kilobytes; only a file that is
//! one JSON value (or several, spread over many lines) is in memory as a whole, because no
//! part of it is complete before its end.

use super::buffers::{self, BLOCK_SIZE};
use super::decode::{Head, fill};
use super::limits::ReadLimits;
use crate::diagnostic::{Diagnostic, DiagnosticSeverity};
use crate::format::{Out, RecordLayout};
use crate::model::{At, Block};
use std::io::Read;
use std::sync::Arc;
use toolmark_scan::{
    Doc, ScanError, Scanner, Shared, Split, TextLines, Utf8, into_utf8, value_end,
};

/// Position of a record in a block.
#[derive(Clone)]
pub(crate) struct RecordFrame {
    pub(crate) block: Shared<Block>,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Line index within the block, for line-based input.
    line: Option<usize>,
}

impl RecordFrame {
    /// Returns whether both are the same range of the same block.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.block.ptr_eq(&other.block) && (self.start, self.end) == (other.start, other.end)
    }

    /// Returns another range of the same block.
    pub(crate) fn part(&self, start: usize, end: usize) -> Self {
        Self { block: Shared::clone(&self.block), start, end, line: None }
    }

    #[inline]
    pub(crate) fn text(&self) -> &str {
        &self.block.text[self.start..self.end]
    }
}

/// The frames of a text file.
pub(crate) struct Frames {
    source: Box<dyn Read + Send>,
    pending: Vec<u8>,
    at_end: bool,
    shape: RecordLayout,
    limits: ReadLimits,
    file: Arc<str>,
    base: u64,
    line: u32,
    column: u32,
    block: Option<Shared<Block>>,
    cursor: usize,
    /// Range of the first value, until it is read, if known.
    first: Option<(usize, usize)>,
    /// The lines of the last block that consists of lines.
    lines: TextLines,
    lines_of: Option<Shared<Block>>,
    /// Line that contains the cursor, or an earlier one.
    at_line: usize,
    /// Number of times lines were joined to check whether they are one value.
    joins: u32,
    /// Number of times that joining went beyond a block without success.
    far_joins: u32,
}

impl Frames {
    /// Creates the frames of a stream whose head (without the BOM) has been read.
    pub(crate) fn new(
        head: Head,
        skipped: u64,
        shape: RecordLayout,
        limits: ReadLimits,
        file: Arc<str>,
    ) -> Self {
        Self {
            source: head.rest,
            pending: head.bytes,
            at_end: head.complete,
            shape,
            limits,
            file,
            base: skipped,
            line: 1,
            column: 0,
            block: None,
            cursor: 0,
            first: None,
            lines: buffers::lines(),
            lines_of: None,
            at_line: 0,
            joins: 0,
            far_joins: 0,
        }
    }

    /// Sets the range of the first value, which has been found before.
    pub(crate) fn starting_with(mut self, start: usize, end: usize) -> Self {
        self.first = Some((start, end));
        self
    }

    /// Returns the layout of the records.
    pub(crate) fn shape(&self) -> RecordLayout {
        self.shape
    }

    /// Returns the next record, or `None` at the end of the file.
    pub(crate) fn next(&mut self, out: &mut Out) -> Option<RecordFrame> {
        loop {
            if let Some(block) = self.block.clone() {
                let (found, line) = match self.shape {
                    RecordLayout::Array => (next_element(&block.text, self.cursor), None),
                    RecordLayout::Values => {
                        let first = self.first.take();
                        (first.or_else(|| next_value(&block.text, self.cursor)), None)
                    }
                    _ if self.has_lines_of(&block) => self.next_indexed_line(&block.text),
                    _ => (next_line(&block.text, self.cursor), None),
                };
                if let Some((start, end)) = found {
                    self.cursor = end;
                    return Some(RecordFrame { block, start, end, line });
                }
            }
            self.block = None;
            if !self.next_block(out) {
                return None;
            }
        }
    }

    fn has_lines_of(&self, block: &Shared<Block>) -> bool {
        self.lines_of.as_ref().is_some_and(|known| known.ptr_eq(block))
    }

    /// Returns the next line of the block, from the cursor on, that is not blank; with its index
    /// if the line is complete.
    fn next_indexed_line(&mut self, text: &str) -> (Option<(usize, usize)>, Option<usize>) {
        while let Some((line_start, end)) = self.lines.span(self.at_line) {
            let start = line_start.max(self.cursor);
            let rest = text.as_bytes().get(start..end).unwrap_or_default().trim_ascii_start();
            if !rest.is_empty() {
                let line = (start == line_start).then_some(self.at_line);
                return (Some((end - rest.len(), end)), line);
            }
            self.at_line += 1;
        }
        (None, None)
    }

    /// Parses a record, using the index of its line if it is a line.
    pub(crate) fn parse<'a>(
        &self,
        frame: &'a RecordFrame,
        scanner: &'a mut Scanner,
    ) -> Result<Doc<'a>, ScanError> {
        match frame.line.filter(|_| self.has_lines_of(&frame.block)) {
            Some(line) => scanner.parse_line(frame.text(), frame.start, &self.lines, line),
            None => scanner.parse(frame.text()),
        }
    }

    /// After a line that did not parse: returns the value that starts with it and continues on the
    /// following lines, if there is one.
    pub(crate) fn join_lines(&mut self, frame: &RecordFrame) -> Option<RecordFrame> {
        const MAX_JOINS: u32 = 256;
        let text = &frame.block.text;
        if self.shape != RecordLayout::Lines
            || self.joins >= MAX_JOINS
            || !text[frame.start..].starts_with(['{', '['])
        {
            return None;
        }
        let in_block = text.get(self.cursor..)?.as_bytes().iter();
        let mut below = in_block.chain(&self.pending).skip_while(|b| matches!(b, b'\r' | b'\n'));
        match below.next() {
            Some(b' ' | b'\t' | b'}' | b']' | b'{' | b'"') => {}
            None if !self.at_end => {}
            _ => return None,
        }
        self.joins += 1;
        match value_end(&text.as_bytes()[frame.start..]) {
            Split::End(length) if frame.start + length > frame.end => {
                Some(frame.part(frame.start, frame.start + length))
            }
            Split::Incomplete if !self.is_read() => self.join_beyond_block(frame),
            _ => None,
        }
    }

    /// Returns whether the whole file has been read into the block.
    fn is_read(&self) -> bool {
        self.at_end && self.pending.is_empty()
    }

    /// Returns a value that starts with this line and ends in a later block: a pretty-printed
    /// document after a line of text.
    fn join_beyond_block(&mut self, frame: &RecordFrame) -> Option<RecordFrame> {
        const MAX_IN_VAIN: u32 = 4;
        let block = &frame.block;
        let line = frame.text().trim_end();
        if self.far_joins >= MAX_IN_VAIN || !line.ends_with(['{', '[', ',']) {
            return None;
        }
        let known = block.text.len() - frame.start;
        let mut bytes = block.text.as_bytes()[frame.start..].to_vec();
        bytes.append(&mut self.pending);
        let mut found = value_end(&bytes);
        while found == Split::Incomplete && !self.at_end && bytes.len() < self.limits.record {
            let more = bytes.len().max(BLOCK_SIZE);
            // An error here occurs again, and is reported, when lines are read.
            self.at_end = fill(&mut self.source, &mut bytes, more).unwrap_or(true);
            found = value_end(&bytes);
        }
        let Split::End(length) = found else {
            self.far_joins += 1;
            self.pending = bytes.split_off(known);
            return None;
        };
        let place = At::new(block, frame.start).location();
        if length <= known {
            self.pending = bytes.split_off(known);
            return None;
        }
        self.pending = bytes.split_off(length);
        let (Utf8::Valid(text) | Utf8::Lossy { text, .. }) = into_utf8(bytes);
        let newlines = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u32;
        let tail = memchr::memrchr(b'\n', text.as_bytes()).map_or(0, |n| n + 1);
        self.base = place.byte + length as u64;
        self.line = place.line + newlines;
        self.column = text[tail..].chars().count() as u32;
        let column = place.column.saturating_sub(1);
        let joined =
            Shared::new(Block::new(text, place.byte, place.line, column, Arc::clone(&self.file)));
        let end = joined.text.len();
        // Should it not be a value after all, reading goes on behind its first line.
        self.cursor = frame.end - frame.start;
        self.block = Some(Shared::clone(&joined));
        Some(RecordFrame { block: joined, start: 0, end, line: None })
    }

    /// Accepts joined lines as one value and continues after it.
    pub(crate) fn accept(&mut self, joined: &RecordFrame) {
        self.cursor = joined.end;
    }

    /// Reads the next block of complete records; returns false at the end.
    fn next_block(&mut self, out: &mut Out) -> bool {
        let mut want = BLOCK_SIZE;
        loop {
            if !self.at_end && self.pending.len() < want {
                let more = want - self.pending.len();
                match fill(&mut self.source, &mut self.pending, more) {
                    Ok(at_end) => self.at_end = at_end,
                    Err(error) => {
                        let message = format!("reading stopped: {error}");
                        out.report(Diagnostic::file(
                            DiagnosticSeverity::Error,
                            &self.file,
                            message,
                        ));
                        out.skipped += 1;
                        self.at_end = true;
                    }
                }
            }
            if self.pending.is_empty() {
                return false;
            }
            let cut = if self.at_end { Some(self.pending.len()) } else { self.cut() };
            if let Some(cut) = cut {
                self.take_block(cut, out);
                return true;
            }
            if self.pending.len() >= self.limits.record {
                self.give_up(out);
                return false;
            }
            want = self.pending.len() * 2;
        }
    }

    /// Returns the offset at which the pending bytes can be split after a complete record.
    fn cut(&self) -> Option<usize> {
        match self.shape {
            RecordLayout::Array => {
                let mut at = 0;
                if self.at_start() {
                    at = memchr::memchr(b'[', &self.pending)? + 1;
                }
                let mut last = None;
                while let Some((_, end)) = next_element_bytes(&self.pending, at) {
                    // An element that ends with the bytes may go on in the next.
                    if end >= self.pending.len() {
                        break;
                    }
                    last = Some(end);
                    at = end;
                }
                last
            }
            RecordLayout::Values => None,
            _ => memchr::memrchr(b'\n', &self.pending).map(|n| n + 1),
        }
    }

    fn take_block(&mut self, cut: usize, out: &mut Out) {
        let mut rest = Vec::new();
        if cut < self.pending.len() {
            rest = buffers::take();
            rest.extend_from_slice(&self.pending[cut..]);
            self.pending.truncate(cut);
        } else if !self.at_end {
            rest = buffers::take();
        }
        let bytes = std::mem::replace(&mut self.pending, rest);
        let length = bytes.len() as u64;
        let has_lines = !matches!(self.shape, RecordLayout::Array | RecordLayout::Values);
        let made = if has_lines { self.lines.find(bytes) } else { into_utf8(bytes) };
        let (text, broken) = match made {
            Utf8::Valid(text) => (text, None),
            Utf8::Lossy { text, first } => (text, Some(first)),
        };
        let (base, line, column) = (self.base, self.line, self.column);
        let block = Shared::new(Block::new(text, base, line, column, Arc::clone(&self.file)));
        if let Some(first) = broken {
            out.skip(&At::new(&block, first), "invalid UTF-8, read with replacement characters");
        }
        self.cursor = 0;
        if self.shape == RecordLayout::Array && self.at_start() {
            self.cursor = memchr::memchr(b'[', block.text.as_bytes()).map_or(0, |n| n + 1);
        }
        if has_lines && self.lines.count() > 0 {
            self.lines_of = Some(Shared::clone(&block));
            self.at_line = 0;
        }
        self.base += length;
        // No block starts at the end of the last one.
        if !self.is_read() {
            self.end_at(&block);
        }
        self.block = Some(block);
    }

    /// Records the end of this block as the start of the next.
    fn end_at(&mut self, block: &Shared<Block>) {
        let bytes = block.text.as_bytes();
        let last_break = memchr::memrchr(b'\n', bytes);
        let tail = block.text[last_break.map_or(0, |n| n + 1)..].chars().count() as u32;
        self.column = if last_break.is_some() { tail } else { self.column + tail };
        self.line += if self.has_lines_of(block) {
            self.lines.count() as u32 - u32::from(!block.text.ends_with('\n'))
        } else {
            memchr::memchr_iter(b'\n', bytes).count() as u32
        };
    }

    /// Returns whether the current block is the first of the file.
    fn at_start(&self) -> bool {
        self.line == 1 && self.column == 0 && self.base <= 3
    }

    /// Stops at a record over the limit: the start of the next record cannot be found reliably.
    fn give_up(&mut self, out: &mut Out) {
        let message = format!(
            "a record is larger than {} MB; it and everything after it were not read",
            self.limits.record >> 20
        );
        out.skipped += 1;
        out.report(Diagnostic::file(DiagnosticSeverity::Error, &self.file, message));
        self.pending = Vec::new();
        self.at_end = true;
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        buffers::keep_lines(std::mem::take(&mut self.lines));
    }
}

/// Returns the next line that is not blank.
fn next_line(text: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut start = from;
    loop {
        while bytes.get(start).is_some_and(u8::is_ascii_whitespace) {
            start += 1;
        }
        if start >= bytes.len() {
            return None;
        }
        let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |n| start + n);
        if start < end {
            return Some((start, end));
        }
        start = end + 1;
    }
}

fn next_element(text: &str, from: usize) -> Option<(usize, usize)> {
    next_element_bytes(text.as_bytes(), from)
}

/// Returns the next element of an array, between commas. Text that is not a value extends to
/// the next line, so that the rest can still be read.
fn next_element_bytes(bytes: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut start = from;
    while bytes.get(start).is_some_and(|b| b.is_ascii_whitespace() || *b == b',') {
        start += 1;
    }
    // A closing bracket with nothing but white space behind it ends the array.
    if bytes.get(start) == Some(&b']') && bytes[start + 1..].trim_ascii_start().is_empty() {
        return None;
    }
    if start >= bytes.len() {
        return None;
    }
    Some((start, value_or_line_end(bytes, start)))
}

fn next_value(text: &str, from: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut start = from;
    // Some exporters put commas between the objects they append.
    while bytes.get(start).is_some_and(|b| b.is_ascii_whitespace() || *b == b',') {
        start += 1;
    }
    (start < bytes.len()).then(|| (start, value_or_line_end(bytes, start)))
}

fn value_or_line_end(bytes: &[u8], start: usize) -> usize {
    match value_end(&bytes[start..]) {
        Split::End(length) if length > 0 => start + length,
        Split::Incomplete => bytes.len(),
        _ => memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |n| start + n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn frames(text: &str, shape: RecordLayout) -> Vec<String> {
        let head = Head::read(Box::new(Cursor::new(text.to_owned()))).unwrap();
        let file: Arc<str> = "t".into();
        let mut out = Out::new(Arc::clone(&file));
        let mut frames = Frames::new(head, 0, shape, ReadLimits::default(), file);
        let mut all = Vec::new();
        while let Some(frame) = frames.next(&mut out) {
            all.push(frame.text().to_owned());
        }
        all
    }

    #[test]
    fn lines_arrays_and_values() {
        assert_eq!(frames("a\r\n\n  b\nc", RecordLayout::Lines), ["a\r", "b", "c"]);
        assert_eq!(
            frames("[\n 1, {\"a\":[2]},\n \"x,]\" ]\n", RecordLayout::Array),
            ["1", "{\"a\":[2]}", "\"x,]\""]
        );
        assert_eq!(frames("{\n}\n{\"a\":\n1}", RecordLayout::Values), ["{\n}", "{\"a\":\n1}"]);
        assert_eq!(frames("[]", RecordLayout::Array), [""; 0]);
    }

    #[test]
    fn a_document_behind_text_is_joined_at_any_size() {
        for size in [10, BLOCK_SIZE, BLOCK_SIZE * 5] {
            let long =
                format!("{{\n  \"a\": \"{}\",\n  \"b\": [\n    1\n  ]\n}}", "ä".repeat(size));
            let text = format!("Loading…\n{long}\nend\n");
            let file: Arc<str> = "x".into();
            let head = Head::read(Box::new(Cursor::new(text.into_bytes()))).unwrap();
            let mut out = Out::new(Arc::clone(&file));
            let mut frames = Frames::new(head, 0, RecordLayout::Lines, ReadLimits::default(), file);
            assert_eq!(frames.next(&mut out).unwrap().text(), "Loading…");
            let line = frames.next(&mut out).unwrap();
            let joined = frames.join_lines(&line).unwrap();
            assert_eq!(joined.text(), long);
            frames.accept(&joined);
            let last = frames.next(&mut out).unwrap();
            assert_eq!(last.text(), "end");
            let place = At::new(&last.block, last.start).location();
            assert_eq!((place.line, place.column), (8, 1));
            assert!(frames.next(&mut out).is_none());
        }
    }

    #[test]
    fn records_across_blocks_are_whole() {
        let element = format!("{{\"a\":\"{}\"}}", "x".repeat(10_000));
        let lines = vec![element.clone(); 100].join("\n");
        assert!(frames(&lines, RecordLayout::Lines).iter().all(|f| *f == element));
        assert_eq!(frames(&lines, RecordLayout::Lines).len(), 100);
        let array = format!("[{}]", vec![element.clone(); 100].join(", "));
        let found = frames(&array, RecordLayout::Array);
        assert_eq!(found.len(), 100);
        assert!(found.iter().all(|f| *f == element));
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(BLOCK_SIZE * 3));
        assert_eq!(frames(&format!("{long}\n1\n"), RecordLayout::Lines), [long.as_str(), "1"]);
    }
}
