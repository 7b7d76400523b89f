//! Shapes of values that differ only in their scalars.
//!
//! Programs write the same keys in the same order over and over. The first value read is
//! recorded as a [`ValueShape`]: the text between its strings, numbers and words. Another value that
//! fits the shape is just as plain, and the positions of its parts are known without
//! reading its keys again.

use super::{JsonCursor, Text, number};
use std::ops::Range;

/// Maximum number of pieces of a shape; values with more scalars have no shape.
const MAX_PIECES: usize = 32;

/// The common part of values that differ only in their scalars: pieces of text, each in
/// steps of up to eight bytes.
#[derive(Debug, Default)]
pub struct ValueShape {
    steps: Vec<ShapeStep>,
    /// Number of pieces.
    pieces: usize,
}

/// Up to eight bytes that are the same in all values.
#[derive(Debug, Clone, Copy)]
struct ShapeStep {
    bytes: u64,
    /// Mask of the significant bytes.
    mask: u64,
    length: u32,
    behind: Behind,
}

/// Kind of content that follows a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// More of the same piece, or the end of the value.
    Same,
    /// The content of a string.
    Text,
    Number,
    /// `true`, `false` or `null`.
    Word,
}

/// Positions in a text at which the pieces of a shape begin.
#[derive(Debug, Default)]
pub struct ShapePieces([u32; MAX_PIECES]);

/// A position in all values of a shape.
#[derive(Debug, Clone, Copy)]
pub struct ShapePosition {
    piece: usize,
    behind: u32,
}

impl ShapePieces {
    /// Returns the position in the text.
    #[must_use]
    #[inline]
    pub fn at(&self, place: ShapePosition) -> u32 {
        self.0.get(place.piece).map_or(0, |start| start.wrapping_add(place.behind))
    }
}

impl ValueShape {
    /// Returns the shape of the value from the cursor to `end`, which has already been read, and
    /// its pieces. The string at `fixed` is the same in all values.
    #[must_use]
    pub fn of(
        value: &JsonCursor<'_, '_>,
        end: usize,
        fixed: Option<usize>,
    ) -> Option<(Self, ShapePieces)> {
        let text = value.text();
        let mut shape = Self::default();
        let mut starts = ShapePieces::default();
        let (mut at, mut from) = (value.at, value.at);
        while at < end {
            let (start, behind, next) = match text.byte(at)? {
                b'"' => {
                    let close = text.end_of_string(at + 1)?;
                    let is_key = matches!(text.next(close + 1), Some((_, b':')));
                    if is_key || fixed == Some(at + 1) {
                        at = close + 1;
                        continue;
                    }
                    (at + 1, Behind::Text, close)
                }
                b'{' | b'}' | b'[' | b']' | b',' | b':' | b' ' => {
                    at += 1;
                    continue;
                }
                b't' | b'f' | b'n' => (at, Behind::Word, text.any_word(at)?),
                _ => (at, Behind::Number, number(text.bytes, at)?),
            };
            *starts.0.get_mut(shape.pieces)? = from as u32;
            shape.add(text.bytes.get(from..start)?, behind)?;
            // The quote behind a text is of the next piece.
            (at, from) = (next + usize::from(behind == Behind::Text), next);
        }
        *starts.0.get_mut(shape.pieces)? = from as u32;
        shape.add(text.bytes.get(from..end)?, Behind::Same)?;
        Some((shape, starts))
    }

    /// Adds a piece. Only a lone scalar has an empty piece, and it has no shape.
    fn add(&mut self, piece: &[u8], behind: Behind) -> Option<()> {
        self.steps.extend(piece.chunks(8).map(|part| ShapeStep {
            bytes: up_to_eight(part),
            mask: u64::MAX >> (64 - 8 * part.len()),
            length: part.len() as u32,
            behind: Behind::Same,
        }));
        self.steps.last_mut().filter(|_| !piece.is_empty())?.behind = behind;
        self.pieces += 1;
        Some(())
    }

    /// Returns the place of a byte that is not part of a scalar; `pieces` are those of the value
    /// that contains it.
    #[must_use]
    pub fn place(&self, pieces: &ShapePieces, at: usize) -> Option<ShapePosition> {
        let starts = pieces.0.get(..self.pieces)?;
        let piece = starts.partition_point(|start| *start as usize <= at).checked_sub(1)?;
        Some(ShapePosition { piece, behind: (at as u32).checked_sub(*starts.get(piece)?)? })
    }

    /// Skips a value that fits the shape and records the positions of its pieces.
    #[inline]
    pub fn fit(&self, cursor: &mut JsonCursor<'_, '_>, pieces: &mut ShapePieces) -> Option<()> {
        let text = cursor.text();
        let mut at = cursor.at;
        let mut starts = pieces.0.iter_mut();
        *starts.next()? = at as u32;
        for step in &self.steps {
            let eight = match text.bytes.get(at..at + 8).and_then(|rest| rest.first_chunk()) {
                Some(eight) => u64::from_le_bytes(*eight),
                None => last_bytes(text.bytes, at),
            };
            if (eight ^ step.bytes) & step.mask != 0 {
                return None;
            }
            at += step.length as usize;
            at = match step.behind {
                Behind::Same => continue,
                Behind::Text => text.end_of_string(at)?,
                Behind::Number => number(text.bytes, at)?,
                Behind::Word => text.any_word(at)?,
            };
            *starts.next()? = at as u32;
        }
        cursor.at = at;
        Some(())
    }
}

/// Returns the last bytes of a text; bytes past its end are zero, which does not occur in JSON.
#[cold]
#[inline(never)]
fn last_bytes(bytes: &[u8], at: usize) -> u64 {
    up_to_eight(bytes.get(at..).unwrap_or_default())
}

/// Packs up to eight bytes into a word.
fn up_to_eight(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

impl Text<'_> {
    #[inline]
    fn any_word(self, at: usize) -> Option<usize> {
        match self.byte(at)? {
            b't' => self.word(at, b"true"),
            b'f' => self.word(at, b"false"),
            _ => self.word(at, b"null"),
        }
    }
}

impl<'t> JsonCursor<'t, '_> {
    /// Returns a part of the text.
    #[must_use]
    #[inline]
    pub fn slice(&self, range: &Range<u32>) -> Option<&'t str> {
        self.text.get(range.start as usize..range.end as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::super::PlainText;
    use super::*;
    use proptest::prelude::*;

    fn shape(text: &str) -> (ValueShape, ShapePieces) {
        let whole = PlainText::new(text).unwrap();
        let mut cursor = whole.start();
        cursor.skip().unwrap();
        ValueShape::of(&whole.start(), cursor.at(), None).unwrap()
    }

    fn fits(shape: &ValueShape, text: &str) -> Option<usize> {
        let whole = PlainText::new(text)?;
        let mut cursor = whole.start();
        shape.fit(&mut cursor, &mut ShapePieces::default()).map(|()| cursor.at())
    }

    #[test]
    fn scalars_may_differ_and_nothing_else() {
        let (shape, _) = shape(r#"{"a": "x", "b":[1,true,"y"],"c":{}}"#);
        for (other, is_fit) in [
            (r#"{"a": "x", "b":[1,true,"y"],"c":{}}"#, true),
            (r#"{"a": "", "b":[-2.5,null,"{}, é"],"c":{}} and more"#, true),
            (r#"{"a": "x","b":[1,true,"y"],"c":{}}"#, false),
            (r#"{"b": "x", "b":[1,true,"y"],"c":{}}"#, false),
            (r#"{"a": "x", "b":[1e3,true,"y"],"c":{}}"#, false),
            (r#"{"a": "x", "b":[01,true,"y"],"c":{}}"#, false),
            (r#"{"a": "x", "b":[1,truly,"y"],"c":{}}"#, false),
            (r#"{"a": "x", "b":["1",true,"y"],"c":{}}"#, false),
            (r#"{"a": "x", "b":[1,true,"y","z"],"c":{}}"#, false),
            (r#"{"a": "x", "b":[1,true,"y"],"c":{}"#, false),
            (r#"{"a": "x"#, false),
            ("", false),
        ] {
            assert_eq!(fits(&shape, other).is_some(), is_fit, "{other}");
        }
    }

    #[test]
    fn not_everything_has_a_shape() {
        let many = format!("[{}]", ["1"; MAX_PIECES].join(","));
        for text in ["1", "true", &many] {
            let whole = PlainText::new(text).unwrap();
            assert!(ValueShape::of(&whole.start(), text.len(), None).is_none(), "{text}");
        }
        assert!(fits(&shape(r#""a""#).0, r#""b""#).is_some());
        assert!(fits(&shape("{}").0, "{}").is_some());
    }

    #[test]
    fn places_are_found_again() {
        let text = r#"[{"a":"long text","b":5}, 7]"#;
        let (shape, pieces) = shape(text);
        let place = |word: &str| shape.place(&pieces, text.find(word).unwrap()).unwrap();
        let (b, list) = (place("b\":"), place("]"));
        let other = r#"[{"a":"","b":123456}, 7.25]"#;
        let whole = PlainText::new(other).unwrap();
        let mut found = ShapePieces::default();
        shape.fit(&mut whole.start(), &mut found).unwrap();
        assert_eq!(other.find("b\":"), Some(found.at(b) as usize));
        assert_eq!(other.find(']'), Some(found.at(list) as usize));
    }

    proptest! {
        /// Everything that fits a shape is plain, up to the same position.
        #[test]
        fn it_takes_nothing_that_is_not_plain(
            text in r#"\{("a":("[ab]{0,3}"|[0-9]{1,2}|true|\[1?\]),?){1,3}\}"#,
            other in r#"\{("[ab]":("[ab]{0,3}"|[0-9e]{1,2}|true|null|\[1?\]),?){1,3}\}"#,
        ) {
            let Some(whole) = PlainText::new(&text) else { return Ok(()) };
            let mut cursor = whole.start();
            if cursor.skip().is_none() {
                return Ok(());
            }
            let (shape, _) = ValueShape::of(&whole.start(), cursor.at(), None).unwrap();
            prop_assert_eq!(fits(&shape, &text), Some(cursor.at()));
            if let Some(end) = fits(&shape, &other) {
                let whole = PlainText::new(&other).unwrap();
                let mut cursor = whole.start();
                prop_assert!(cursor.skip().is_some(), "{} {}", text, other);
                prop_assert_eq!(cursor.at(), end);
            }
        }
    }
}
