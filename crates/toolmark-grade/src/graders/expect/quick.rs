//! Reads plain `expect` entries directly from the text of a case.
//!
//! Generated case files contain thousands of lists of calls with their
//! arguments. Those are read without a tree; all other expectations are
//! left to [`build`](super::build), which also reports problems.

use super::links::Links;
use super::shapes::CallShapes;
use super::{Expect, Leaf, UnorderedCall};
use crate::grader::Grader;
use memchr::memmem::Finder;
use std::ops::Range;
use std::sync::{Arc, LazyLock};
use toolmark_config::NodeSpan;
use toolmark_config::plain::{JsonCursor, ObjectKeys};
use toolmark_hosts::toolset::CLASS_PREFIX;
use toolmark_match::call_match::{
    ArgsMatch, ArgsRule, CallPattern, ExpectedArgs, KeySpans, NamePattern, Parallel,
};
use toolmark_match::engine::{Element, ExpectedItem, Extras};

/// A plain expectation in a text.
#[derive(Debug, Clone, Copy)]
pub struct PlainExpect {
    has_sequence: bool,
    has_calls: bool,
    extras: Extras,
}

/// Typical length in bytes of a call with arguments.
const USUAL_CALL: usize = 128;

/// Maximum number of calls for which capacity is reserved in advance.
const MAX_ROOM: usize = 256;

/// Shapes of earlier calls, and whether the positions of keys are needed.
struct KnownShapes<'s> {
    shapes: &'s mut CallShapes,
    keys: bool,
}

/// List that contains a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallList {
    Sequence,
    Calls,
}

/// Positions of the parts of a call in the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CallSpans {
    pub(super) tool: Range<u32>,
    pub(super) args: Option<(Range<u32>, KeySpans)>,
    pub(super) how: Option<ArgsMatch>,
}

impl PlainExpect {
    /// Reads past an expectation. `None` if it is not plain, or if there is
    /// any problem or warning about it.
    pub fn check(cursor: &mut JsonCursor<'_, '_>, shapes: &mut CallShapes) -> Option<Self> {
        read(cursor, &mut KnownShapes { shapes, keys: false }, &mut |_, _| {})
    }

    /// Builds the expectation at the cursor; `text` is the text of the cursor.
    pub fn build(
        cursor: &mut JsonCursor<'_, '_>,
        text: &Arc<str>,
        shapes: &mut CallShapes,
    ) -> Option<Arc<dyn Grader>> {
        let (mut ordered, mut any) = (Vec::new(), Vec::new());
        let found = read(cursor, &mut KnownShapes { shapes, keys: true }, &mut |list, call| {
            let patterns = match list {
                CallList::Sequence => &mut ordered,
                CallList::Calls => &mut any,
            };
            if patterns.is_empty() {
                patterns.reserve((text.len() / USUAL_CALL).clamp(1, MAX_ROOM));
            }
            patterns.push(pattern(text, call));
        })?;
        let leaf = |id| {
            let item = ExpectedItem { id, column: id, count: 1, more: false, optional: false };
            Leaf { item, span: NodeSpan::default() }
        };
        let leaves: Vec<Leaf> = (0..ordered.len()).map(leaf).collect();
        let sequence = || leaves.iter().map(|leaf| Element::Item(leaf.item)).collect();
        let sequence = found.has_sequence.then(sequence);
        let first = ordered.len();
        let wanted = |at| UnorderedCall { pattern: first + at, min: 1, more: false, max: None };
        let calls = (0..any.len()).map(wanted).collect();
        let patterns = match ordered.is_empty() {
            true => any,
            false => {
                ordered.append(&mut any);
                ordered
            }
        };
        let expect = Expect {
            patterns,
            leaves,
            sequence,
            calls,
            has_calls: found.has_calls,
            is_none: false,
            only: Vec::new(),
            extras: found.extras,
            forbidden: Vec::new(),
            sequences: Vec::new(),
            never: Vec::new(),
            links: Links::default(),
            binds: false,
            parallel: Parallel::default(),
            counts_failed: false,
            agents: None,
        };
        Some(Arc::new(expect))
    }
}

fn pattern(text: &Arc<str>, call: CallSpans) -> CallPattern {
    let expected = call.args.map(|(args, keys)| ExpectedArgs::written(text, args, keys));
    let args = ArgsRule { expected, how: call.how.unwrap_or_default(), ignore: Vec::new() };
    let tool = text.get(call.tool.start as usize..call.tool.end as usize);
    CallPattern::with_args(NamePattern::word(tool.unwrap_or_default()), args)
}

/// Reads an expectation and passes its calls to the callback.
fn read(
    cursor: &mut JsonCursor<'_, '_>,
    known: &mut KnownShapes<'_>,
    show: &mut impl FnMut(CallList, CallSpans),
) -> Option<PlainExpect> {
    let mut found = PlainExpect { has_sequence: false, has_calls: false, extras: Extras::Allowed };
    let mut keys = ObjectKeys::default();
    cursor.take(b'{')?;
    while let Some(key) = cursor.key(&mut keys)? {
        match key {
            b"sequence" => {
                found.has_sequence = true;
                list(cursor, known, &mut |call| show(CallList::Sequence, call))?;
            }
            b"calls" => {
                found.has_calls = true;
                list(cursor, known, &mut |call| show(CallList::Calls, call))?;
            }
            b"extras" => {
                found.extras = match cursor.string()? {
                    "allow" => Extras::Allowed,
                    "forbid" => Extras::Forbidden,
                    _ => return None,
                };
            }
            _ => return None,
        }
    }
    (found.has_sequence || found.has_calls).then_some(found)
}

fn list(
    cursor: &mut JsonCursor<'_, '_>,
    known: &mut KnownShapes<'_>,
    show: &mut impl FnMut(CallSpans),
) -> Option<()> {
    cursor.take(b'[')?;
    let mut items = 0;
    while cursor.item(items)? {
        show(match known.shapes.read(cursor, known.keys) {
            Some(call) => call,
            None => {
                let start = *cursor;
                let (call, how) = call(cursor)?;
                known.shapes.add(&start, cursor.at(), &call, how);
                call
            }
        });
        items += 1;
    }
    // An empty list is a mistake.
    (items > 0).then_some(())
}

/// Reads a call. Also returns the position of the comparison mode.
pub(super) fn call(cursor: &mut JsonCursor<'_, '_>) -> Option<(CallSpans, Option<usize>)> {
    if cursor.peek()? == b'"' {
        return Some((CallSpans { tool: tool(cursor)?, args: None, how: None }, None));
    }
    let (mut named, mut args, mut how, mut how_at) = (None, None, None, None);
    let mut keys = ObjectKeys::default();
    cursor.take(b'{')?;
    while let Some(key) = cursor.key(&mut keys)? {
        match key {
            b"tool" | b"name" if named.is_none() => named = Some(tool(cursor)?),
            b"args" if cursor.peek()? == b'{' => {
                let start = cursor.at();
                let mut spans = KeySpans::new();
                cursor.skip_object(|key| spans.push(short(key)))?;
                let place = short(start..cursor.at());
                if may_have_pattern(cursor.slice(&place)?) {
                    return None;
                }
                args = Some((place, spans));
            }
            b"args_match" => {
                cursor.peek()?;
                how_at = Some(cursor.at() + 1);
                how = Some(match cursor.string()? {
                    "contains" => ArgsMatch::Contains,
                    "exact" => ArgsMatch::Exact,
                    "within" => ArgsMatch::Within,
                    _ => return None,
                });
            }
            _ => return None,
        }
    }
    // How to compare what is not there is worth a warning.
    let is_complete = args.is_some() || how.is_none();
    Some((CallSpans { tool: named.filter(|_| is_complete)?, args, how }, how_at))
}

/// Whether a value in the text of arguments may be a regular expression between slashes.
pub(super) fn may_have_pattern(args: &str) -> bool {
    static END: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("/\""));
    static START: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"/"));
    static ESCAPED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"\\/"));
    let has = |part: &Finder<'_>| part.find(args.as_bytes()).is_some();
    has(&END) && (has(&START) || has(&ESCAPED))
}

/// Converts a range in a line, whose length fits into a span.
fn short(range: Range<usize>) -> Range<u32> {
    let cut = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    cut(range.start)..cut(range.end)
}

/// Reads the name of a tool and returns its range.
fn tool(cursor: &mut JsonCursor<'_, '_>) -> Option<Range<u32>> {
    let length = name(cursor.string()?)?.len();
    let end = cursor.at() - 1;
    Some(short(end - length..end))
}

/// Returns the name of a tool, unless it is a regular expression, a class or empty.
pub(super) fn name(word: &str) -> Option<&str> {
    let is_plain = !word.starts_with('/') && !word.starts_with(CLASS_PREFIX);
    (is_plain && !word.chars().all(char::is_whitespace)).then_some(word)
}
