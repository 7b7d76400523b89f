//! Shapes of recently read calls.

use super::quick::{CallSpans, may_have_pattern, name};
use smallvec::SmallVec;
use std::ops::Range;
use toolmark_config::plain::{JsonCursor, ShapePieces, ShapePosition, ValueShape};
use toolmark_match::call_match::{ArgsMatch, KeySpans};

/// Maximum number of shapes kept.
const MAX_SHAPES: usize = 8;

/// Maximum excess of calls without a known shape over matching calls, after which
/// shapes are no longer used.
const MAX_EXCESS: usize = 64;

/// Shapes of recently read expected calls: most calls in a file
/// are written like an earlier one.
#[derive(Debug, Default)]
pub struct CallShapes {
    /// Recorded shapes, the most frequently matching first.
    kept: Vec<CallShape>,
    pieces: ShapePieces,
    fitted: usize,
    missed: usize,
}

/// The shape of a call, and the positions of its parts.
#[derive(Debug)]
struct CallShape {
    shape: ValueShape,
    tool: Range<ShapePosition>,
    args: Option<Range<ShapePosition>>,
    keys: SmallVec<[Range<ShapePosition>; 4]>,
    how: Option<ArgsMatch>,
}

impl CallShapes {
    /// Reads the call at the cursor if its shape is known. The positions of
    /// its argument keys are only returned if `keys` is set.
    #[inline]
    pub(super) fn read(
        &mut self,
        cursor: &mut JsonCursor<'_, '_>,
        keys: bool,
    ) -> Option<CallSpans> {
        if !self.is_worth_it() {
            return None;
        }
        let (start, pieces) = (*cursor, &mut self.pieces);
        let found = self.kept.iter().position(|call| call.shape.fit(cursor, pieces).is_some());
        let call =
            found.and_then(|found| self.kept.get(found)?.written(cursor, &self.pieces, keys));
        match (found, &call) {
            (Some(found), Some(_)) => {
                self.fitted += 1;
                if let Some(before) = found.checked_sub(1) {
                    self.kept.swap(before, found);
                }
            }
            _ => {
                *cursor = start;
                self.missed += 1;
            }
        }
        call
    }

    fn is_worth_it(&self) -> bool {
        self.missed <= self.fitted + MAX_EXCESS
    }

    /// Records the shape of a call that was read from the cursor to `end`. Its
    /// comparison mode is at `how`.
    pub(super) fn add(
        &mut self,
        start: &JsonCursor<'_, '_>,
        end: usize,
        call: &CallSpans,
        how: Option<usize>,
    ) {
        let shape = self.is_worth_it().then(|| CallShape::of(start, end, call, how)).flatten();
        if let Some(shape) = shape {
            self.kept.truncate(MAX_SHAPES - 1);
            self.kept.push(shape);
        }
    }
}

impl CallShape {
    fn of(
        start: &JsonCursor<'_, '_>,
        end: usize,
        call: &CallSpans,
        how: Option<usize>,
    ) -> Option<Self> {
        let (shape, pieces) = ValueShape::of(start, end, how)?;
        let place = |range: &Range<u32>| {
            let start = shape.place(&pieces, range.start as usize)?;
            Some(start..shape.place(&pieces, range.end as usize)?)
        };
        let tool = place(&call.tool)?;
        let (args, keys) = match &call.args {
            None => (None, SmallVec::new()),
            Some((args, keys)) => {
                (Some(place(args)?), keys.iter().map(place).collect::<Option<_>>()?)
            }
        };
        Some(Self { shape, tool, args, keys, how: call.how })
    }

    /// Returns a call of this shape.
    #[inline]
    fn written(
        &self,
        text: &JsonCursor<'_, '_>,
        pieces: &ShapePieces,
        keys: bool,
    ) -> Option<CallSpans> {
        let at = |range: &Range<ShapePosition>| pieces.at(range.start)..pieces.at(range.end);
        let tool = at(&self.tool);
        name(text.slice(&tool)?)?;
        let mut spans = KeySpans::new();
        if keys {
            self.keys.iter().for_each(|key| spans.push(at(key)));
        }
        let args = self.args.as_ref().map(|args| (at(args), spans));
        if args.as_ref().is_some_and(|(args, _)| text.slice(args).is_none_or(may_have_pattern)) {
            return None;
        }
        Some(CallSpans { tool, args, how: self.how })
    }
}

#[cfg(test)]
mod tests {
    use super::super::quick::call;
    use super::*;
    use proptest::prelude::*;
    use toolmark_config::plain::PlainText;

    /// A call and the position after it.
    type CallRead = Option<(CallSpans, usize)>;

    fn alone(text: &str, shapes: &mut CallShapes) -> CallRead {
        let whole = PlainText::new(text)?;
        let mut cursor = whole.start();
        let (written, how) = call(&mut cursor)?;
        shapes.add(&whole.start(), cursor.at(), &written, how);
        Some((written, cursor.at()))
    }

    fn by_shape(text: &str, shapes: &mut CallShapes) -> CallRead {
        let whole = PlainText::new(text)?;
        let mut cursor = whole.start();
        let read = shapes.read(&mut cursor, true);
        assert_eq!(read.is_none(), cursor.at() == 0, "{text}");
        read.map(|written| (written, cursor.at()))
    }

    #[test]
    fn a_call_like_one_before() {
        let mut shapes = CallShapes::default();
        let first = r#"{"tool":"a","args":{"k":1,"l":["x"]},"args_match":"exact"}"#;
        assert_eq!(by_shape(first, &mut shapes), None);
        let read = alone(first, &mut shapes);
        assert_eq!(by_shape(first, &mut shapes), read);
        for (other, is_like) in [
            (r#"{"tool":"long name","args":{"k":-5.25,"l":[""]},"args_match":"exact"}]"#, true),
            (r#"{"tool":"a","args":{"k":1,"l":["x"]},"args_match":"within"}"#, false),
            (r#"{"tool":"/a/","args":{"k":1,"l":["x"]},"args_match":"exact"}"#, false),
            (r#"{"tool":" ","args":{"k":1,"l":["x"]},"args_match":"exact"}"#, false),
            (r#"{"tool":"a","args":{"k":1,"k":["x"]},"args_match":"exact"}"#, false),
        ] {
            let read = by_shape(other, &mut shapes);
            assert_eq!(read.is_some(), is_like, "{other}");
            if is_like {
                assert_eq!(read, alone(other, &mut CallShapes::default()));
            }
        }
    }

    #[test]
    fn calls_that_are_never_alike_are_given_up_on() {
        let mut shapes = CallShapes::default();
        for n in 0..=MAX_EXCESS {
            let text = format!(r#"{{"tool":"a","args":{{"k{n}":1}}}}"#);
            assert_eq!(by_shape(&text, &mut shapes), None);
            assert!(alone(&text, &mut shapes).is_some());
            assert!(shapes.kept.len() <= MAX_SHAPES);
        }
        let text = format!(r#"{{"tool":"a","args":{{"k{MAX_EXCESS}":1}}}}"#);
        assert_eq!(by_shape(&text, &mut shapes), None);
    }

    const CALL: &str = concat!(
        r#"\{"(tool|name)": ?"[ab/ ]{0,2}"(,"args":\{("[ab]":(""|"[ab]{1,9}"|1|-2.5|null|"#,
        r#"\["x"\]|\{"c":true\})(,"[ab]":("[ab]"|\[\])){0,2})?\}(,"args_match":"(exact|within)")?)?\}"#,
    );

    proptest! {
        /// Whatever was read before, a call is read in the same way as alone.
        #[test]
        fn shapes_say_what_the_call_says(texts in prop::collection::vec(CALL, 1..20)) {
            let mut shapes = CallShapes::default();
            for text in &texts {
                let wanted = alone(text, &mut CallShapes::default());
                match by_shape(text, &mut shapes) {
                    Some(read) => prop_assert_eq!(Some(read), wanted),
                    None => {
                        prop_assert_eq!(&alone(text, &mut shapes), &wanted);
                        prop_assert_eq!(by_shape(text, &mut shapes), wanted);
                    }
                }
            }
        }
    }
}
