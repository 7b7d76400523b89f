//! The first pass over many lines of JSON at once.

use crate::index::{Carry, Positions, carried, padded};
use crate::utf8::{Utf8, into_utf8};
use crate::vector::{Best, Breaks, VectorUnit, on_unit};

/// The lines of a text, and the structural characters of each, found in one pass.
///
/// JSON has no raw line breaks inside strings, so each line is indexed independently of
/// the lines before it.
#[derive(Debug, Default)]
pub struct TextLines {
    index: Vec<u32>,
    lines: Vec<ScanLine>,
}

#[derive(Debug, Clone, Copy)]
struct ScanLine {
    start: u32,
    end: u32,
    /// First entry of the line in the index.
    first: u32,
    last: u32,
    /// Whether the index is valid. If not, the line is not JSON.
    is_sound: bool,
}

/// Buffers larger than this are freed when a smaller text follows.
const KEEP_ENTRIES: usize = 1 << 18;

impl TextLines {
    /// Converts a buffer to text and finds its lines in the same pass. Replaces the lines of
    /// the previous text.
    pub fn find(&mut self, bytes: Vec<u8>) -> Utf8 {
        if self.find_in(&bytes) {
            // SAFETY: all bytes were found to be UTF-8, and are not touched in between.
            return Utf8::Valid(unsafe { String::from_utf8_unchecked(bytes) });
        }
        let made = into_utf8(bytes);
        let (Utf8::Valid(text) | Utf8::Lossy { text, .. }) = &made;
        self.find_in(text.as_bytes());
        made
    }

    /// Finds the lines of `bytes`; returns whether the bytes are known to be valid UTF-8.
    fn find_in(&mut self, bytes: &[u8]) -> bool {
        self.lines.clear();
        if u32::try_from(bytes.len()).is_err() {
            return false;
        }
        if self.index.len() > KEEP_ENTRIES && bytes.len() < KEEP_ENTRIES {
            self.index = Vec::new();
        }
        find_on(Best::get(), bytes, &mut self.index, &mut self.lines)
    }

    /// Returns the number of lines; 0 for a text that is too long to be indexed.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// Returns the start and end of a line, without its line break.
    #[must_use]
    #[inline]
    pub fn span(&self, line: usize) -> Option<(usize, usize)> {
        self.lines.get(line).map(|line| (line.start as usize, line.end as usize))
    }

    /// Returns the structural characters of a line, as offsets in the text.
    #[inline]
    pub(crate) fn index_of(&self, line: usize) -> Option<&[u32]> {
        let line = self.lines.get(line).filter(|line| line.is_sound)?;
        self.index.get(line.first as usize..line.last as usize)
    }
}

on_unit!(fn find_on(bytes: &[u8], index: &mut Vec<u32>, lines: &mut Vec<ScanLine>) -> bool = find_with);

/// Number of blocks per stretch. Non-ASCII bytes are recorded for whole stretches only.
const STRETCH: usize = 32;

#[inline(always)]
fn find_with<U: VectorUnit>(
    unit: U,
    bytes: &[u8],
    index: &mut Vec<u32>,
    lines: &mut Vec<ScanLine>,
) -> bool {
    let mut walk = LineWalk {
        unit,
        bytes,
        carry: Carry::default(),
        positions: Positions { buffer: index, count: 0 },
        is_bad: false,
        foreign: 0,
        ends: Ends { start: 0, first: 0, lines },
    };
    walk.positions.expect(bytes.len());
    let mut check = Utf8Check { bytes, foreign_from: None, is_valid: true };
    let (blocks, tail) = bytes.as_chunks::<64>();
    let mut base = 0;
    for stretch in blocks.chunks(STRETCH) {
        let start = base;
        walk.foreign = 0;
        for block in stretch {
            walk.step(base, block);
            base += 64;
        }
        check.stretch(start, walk.foreign != 0);
    }
    walk.foreign = 0;
    if !tail.is_empty() {
        walk.step(base, &padded(tail));
    }
    check.stretch(base, walk.foreign != 0);
    if (walk.ends.start as usize) < bytes.len() {
        let is_sound = !walk.is_bad && walk.carry.in_string == 0;
        walk.ends.add(bytes.len(), walk.positions.count, is_sound);
    }
    check.end(bytes.len())
}

/// Checks whether non-ASCII stretches are UTF-8: stretches of ASCII begin and end on
/// character boundaries, so that the bytes between them can be validated on their own.
struct Utf8Check<'a> {
    bytes: &'a [u8],
    /// Start of the current non-ASCII stretches, if the last stretch was non-ASCII.
    foreign_from: Option<usize>,
    is_valid: bool,
}

impl Utf8Check<'_> {
    /// Adds the stretch that starts at this byte.
    #[inline(always)]
    fn stretch(&mut self, start: usize, is_foreign: bool) {
        if is_foreign {
            self.foreign_from.get_or_insert(start);
        } else if self.foreign_from.is_some() {
            self.end(start);
        }
    }

    /// Finishes the check before this byte; returns whether all bytes were valid.
    #[inline(never)]
    fn end(&mut self, end: usize) -> bool {
        if let Some(start) = self.foreign_from.take() {
            self.is_valid &= simdutf8::basic::from_utf8(&self.bytes[start..end]).is_ok();
        }
        self.is_valid
    }
}

/// A walk over a text, block by block. Few blocks contain a line break: the code for those
/// is kept out of the path of the others.
struct LineWalk<'a, U> {
    unit: U,
    bytes: &'a [u8],
    carry: Carry,
    positions: Positions<'a>,
    /// Whether the line has an error so far.
    is_bad: bool,
    /// Non-ASCII bytes, by their position in their block.
    foreign: u64,
    ends: Ends<'a>,
}

impl<U: VectorUnit> LineWalk<'_, U> {
    #[inline(always)]
    fn step(&mut self, base: usize, block: &[u8; 64]) {
        let unit = self.unit;
        let m = unit.masks(block);
        self.foreign |= m.foreign;
        let mut strings = self.carry.strings(unit, m.quote, m.backslash);
        let (mut newline, mut bad) = (0, 0);
        if m.control != 0 {
            let breaks = unit.breaks(block);
            newline = breaks.newline;
            (strings.in_string, bad) = break_strings(strings.in_string, m.control, &breaks);
        }
        self.carry.in_string = carried(strings.in_string);
        bad |= strings.bad_escapes(unit, block, self.bytes, base);
        let found = self.carry.structure(&m, &strings);
        let before = self.positions.count;
        self.positions.add(unit, base, found);
        self.is_bad = if newline == 0 {
            self.is_bad | (bad != 0)
        } else {
            self.ends.add_all(base, newline, (before, found), (self.is_bad, bad))
        };
    }
}

/// Ends every string at the line break that it runs into, so that the next line starts
/// outside a string. Returns the resulting bytes inside strings, and the disallowed
/// control characters.
#[inline(never)]
fn break_strings(mut in_string: u64, control: u64, breaks: &Breaks) -> (u64, u64) {
    let mut bad = 0;
    loop {
        let open = breaks.newline & in_string;
        if open == 0 {
            break;
        }
        let bit = open & open.wrapping_neg();
        bad |= bit;
        in_string ^= !(bit - 1);
    }
    (in_string, bad | control & (in_string | !(breaks.newline | breaks.other)))
}

/// The ends of lines.
struct Ends<'a> {
    /// Start of the current line, in the text and in the index.
    start: u32,
    first: u32,
    lines: &'a mut Vec<ScanLine>,
}

impl Ends<'_> {
    /// Ends a line at each line break of a block. `before` is the number of index entries before
    /// the block, and `found` marks its own entries; `is_bad` and `bad` do the same for errors.
    /// Returns whether the line that continues has an error.
    #[inline(never)]
    fn add_all(
        &mut self,
        base: usize,
        mut newline: u64,
        (before, found): (usize, u64),
        (mut is_bad, mut bad): (bool, u64),
    ) -> bool {
        while newline != 0 {
            let below = (newline & newline.wrapping_neg()) - 1;
            let through = below << 1 | 1;
            let last = before + (found & below).count_ones() as usize;
            let at = base + newline.trailing_zeros() as usize;
            self.add(at, last, !is_bad && bad & through == 0);
            is_bad = false;
            bad &= !through;
            newline &= newline - 1;
        }
        bad != 0
    }

    /// Ends the current line before this byte and this entry of the index.
    fn add(&mut self, at: usize, last: usize, is_sound: bool) {
        let (start, first, end, last) = (self.start, self.first, at as u32, last as u32);
        self.lines.push(ScanLine { start, end, first, last, is_sound });
        self.start = end.saturating_add(1);
        self.first = last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index;
    use proptest::prelude::*;

    /// Checks that each line is indexed as if it were parsed alone.
    fn check(text: &str) -> Result<(), TestCaseError> {
        for unit in Best::all() {
            let mut lines = TextLines::default();
            let is_utf8 = find_on(unit, text.as_bytes(), &mut lines.index, &mut lines.lines);
            prop_assert!(is_utf8);
            let alone: Vec<&str> = text.split_terminator('\n').collect();
            prop_assert_eq!(lines.count(), alone.len());
            for (n, line) in alone.into_iter().enumerate() {
                let (start, end) = lines.span(n).unwrap();
                prop_assert_eq!(&text[start..end], line);
                let mut wanted = Vec::new();
                let count = index::build(line.as_bytes(), &mut wanted);
                let moved = |at: &u32| at - start as u32;
                let found: Option<Vec<u32>> =
                    lines.index_of(n).map(|index| index.iter().map(moved).collect());
                prop_assert_eq!(
                    found,
                    count.ok().map(|count| wanted[..count].to_vec()),
                    "{}",
                    line
                );
            }
        }
        Ok(())
    }

    #[test]
    fn a_buffer_becomes_a_text_with_lines() {
        let mut lines = TextLines::default();
        assert!(matches!(lines.find("[1]\ngr\u{fc}n".into()), Utf8::Valid(t) if t.ends_with('n')));
        assert_eq!((lines.count(), lines.span(1)), (2, Some((4, 9))));
        let found = lines.find(b"a\xffb\nc".to_vec());
        assert!(matches!(found, Utf8::Lossy { text, first: 1 } if text == "a\u{fffd}b\nc"));
        assert_eq!((lines.count(), lines.span(1)), (2, Some((6, 7))));
    }

    /// Characters, parts of characters, and invalid bytes.
    const PIECES: &[&[u8]] = &[
        b"\xc3\xbc",
        b"\xe2\x82\xac",
        b"\xf0\x9f\x98\x80",
        b"\xc3",
        b"\xbc",
        b"\xe2\x82",
        b"\xed\xa0\x80",
        b"\xc0\x80",
        b"\xf4\x90\x80\x80",
        b"\n",
        b"\"",
    ];

    proptest! {
        /// Whole and broken characters anywhere, above all near the ends of stretches.
        #[test]
        fn utf8_is_found_as_std_finds_it(
            parts in prop::collection::vec(
                (
                    prop_oneof![
                        0..70usize,
                        STRETCH * 64 - 5..STRETCH * 64 + 5,
                        STRETCH * 128 - 5..STRETCH * 128 + 5,
                    ],
                    prop::sample::select(PIECES),
                ),
                0..6,
            ),
            whole in any::<bool>(),
        ) {
            let mut bytes = Vec::new();
            for (before, part) in parts {
                bytes.resize(bytes.len() + before, b'x');
                if !whole || std::str::from_utf8(part).is_ok() {
                    bytes.extend_from_slice(part);
                }
            }
            let wanted = std::str::from_utf8(&bytes).is_ok();
            for unit in Best::all() {
                let mut lines = TextLines::default();
                let found = find_on(unit, &bytes, &mut lines.index, &mut lines.lines);
                prop_assert_eq!(found, wanted);
            }
        }

        #[test]
        fn lines_are_indexed_as_if_alone(text in r#"[ "\\{}\[\]:,a-z0-9/\n\n\r\tu\x01é]{0,400}"#) {
            check(&text)?;
        }

        #[test]
        fn long_lines_are_indexed_as_if_alone(
            parts in prop::collection::vec(
                r#"[{}\[\]:, ]{0,70}|"[a-zé]{0,90}"|"(\\[nt"\\/]|\\u00e9|x){0,60}"|-?[0-9]{1,5}|\n|\r\n|"|\\"#,
                0..40,
            )
        ) {
            check(&parts.concat())?;
        }
    }
}
