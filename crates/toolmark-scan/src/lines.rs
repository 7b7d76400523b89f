//! The first pass over many lines of JSON at once.

use crate::index::{Carry, Positions, carried, padded};
use crate::vector::{Best, Breaks, Unit, on_unit};

/// The lines of a text, and the structural characters of each, found in one pass.
///
/// JSON has no raw line break inside strings, so each line is indexed as if it
/// stood alone, whatever the line before it is like.
#[derive(Debug, Default)]
pub struct Lines {
    index: Vec<u32>,
    lines: Vec<Line>,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    start: u32,
    end: u32,
    /// Its entries in the index.
    first: u32,
    last: u32,
    /// Can the index be used? Where it cannot, the line is not JSON.
    is_sound: bool,
}

/// Buffers larger than this are given back when a smaller text comes.
const KEEP_ENTRIES: usize = 1 << 18;

impl Lines {
    /// Finds the lines of `text`, in place of those of the text before.
    pub fn find(&mut self, text: &str) {
        self.lines.clear();
        if u32::try_from(text.len()).is_err() {
            return;
        }
        if self.index.len() > KEEP_ENTRIES && text.len() < KEEP_ENTRIES {
            self.index = Vec::new();
        }
        find_on(Best::get(), text.as_bytes(), &mut self.index, &mut self.lines);
    }

    /// How many there are; none of a text that is too long to be indexed.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// Where a line starts and ends, its line break left out.
    #[must_use]
    #[inline]
    pub fn span(&self, line: usize) -> Option<(usize, usize)> {
        self.lines.get(line).map(|line| (line.start as usize, line.end as usize))
    }

    /// The structural characters of a line, by their place in the text.
    #[inline]
    pub(crate) fn index_of(&self, line: usize) -> Option<&[u32]> {
        let line = self.lines.get(line).filter(|line| line.is_sound)?;
        self.index.get(line.first as usize..line.last as usize)
    }
}

on_unit!(fn find_on(bytes: &[u8], index: &mut Vec<u32>, lines: &mut Vec<Line>) -> () = find_with);

#[inline(always)]
fn find_with<U: Unit>(unit: U, bytes: &[u8], index: &mut Vec<u32>, lines: &mut Vec<Line>) {
    let mut walk = Walk {
        unit,
        bytes,
        carry: Carry::default(),
        positions: Positions { buffer: index, count: 0 },
        is_bad: false,
        ends: Ends { start: 0, first: 0, lines },
    };
    walk.positions.expect(bytes.len());
    let (blocks, tail) = bytes.as_chunks::<64>();
    for (n, block) in blocks.iter().enumerate() {
        walk.step(n * 64, block);
    }
    if !tail.is_empty() {
        walk.step(blocks.len() * 64, &padded(tail));
    }
    if (walk.ends.start as usize) < bytes.len() {
        let is_sound = !walk.is_bad && walk.carry.in_string == 0;
        walk.ends.add(bytes.len(), walk.positions.count, is_sound);
    }
}

/// A walk over a text, block by block. Few blocks have a line break: what those need
/// is kept out of the way of the others.
struct Walk<'a, U> {
    unit: U,
    bytes: &'a [u8],
    carry: Carry,
    positions: Positions<'a>,
    /// Is something wrong with the line, as far as it was seen?
    is_bad: bool,
    ends: Ends<'a>,
}

impl<U: Unit> Walk<'_, U> {
    #[inline(always)]
    fn step(&mut self, base: usize, block: &[u8; 64]) {
        let unit = self.unit;
        let m = unit.masks(block);
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
/// outside. Returns what is inside strings then, and the control characters that may
/// not be where they are.
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
    /// Where the line that has not ended yet starts, in the text and in the index.
    start: u32,
    first: u32,
    lines: &'a mut Vec<Line>,
}

impl Ends<'_> {
    /// Ends a line at each line break of a block. `before` entries of the index were there
    /// before the block, `found` are its own; `is_bad` and `bad` say the same of errors.
    /// Returns whether the line that goes on has one.
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

    /// Ends the line before this byte and this entry of the index.
    fn add(&mut self, at: usize, last: usize, is_sound: bool) {
        let (start, first, end, last) = (self.start, self.first, at as u32, last as u32);
        self.lines.push(Line { start, end, first, last, is_sound });
        self.start = end.saturating_add(1);
        self.first = last;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index;
    use proptest::prelude::*;

    /// Each line is what it would be alone.
    fn check(text: &str) -> Result<(), TestCaseError> {
        for unit in Best::all() {
            let mut lines = Lines::default();
            find_on(unit, text.as_bytes(), &mut lines.index, &mut lines.lines);
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

    proptest! {
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
