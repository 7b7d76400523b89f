//! Expectations of plain calls, straight from the text of a case.
//!
//! Files of cases that programs write hold thousands of lists of calls with their
//! arguments. Those are read without a tree; whatever else an expectation may have is
//! left to [`build`](super::build), which also says what is wrong.

use super::{Expect, Leaf, Wanted};
use crate::call_match::{
    Agents, ArgsMatch, ArgsRule, CallPattern, Expected, KeySpans, NamePattern, Parallel,
};
use crate::engine::{Element, Extras, Item};
use crate::grader::Grader;
use std::ops::Range;
use std::sync::Arc;
use toolmark_config::Span;
use toolmark_config::plain::{Keys, Plain};

/// A plain expectation in a text.
#[derive(Debug, Clone, Copy)]
pub struct PlainExpect {
    has_sequence: bool,
    has_calls: bool,
    extras: Extras,
}

/// So many bytes a call with arguments usually takes.
const USUAL_CALL: usize = 128;

/// Room for more calls than this is not made before they are read.
const MOST_ROOM: usize = 256;

/// Which list a call stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Sequence,
    Calls,
}

/// A call as it is written.
struct Written<'t> {
    tool: &'t str,
    args: Option<(Range<u32>, KeySpans)>,
    how: Option<ArgsMatch>,
}

impl PlainExpect {
    /// Goes over an expectation. `None` where it is not plain, or where there is
    /// anything to say about it.
    pub fn check(cursor: &mut Plain<'_>) -> Option<Self> {
        read(cursor, &mut |_, _| {})
    }

    /// Builds the expectation the cursor is at; `text` is what the cursor goes over.
    pub fn build(cursor: &mut Plain<'_>, text: &Arc<str>) -> Option<Arc<dyn Grader>> {
        let (mut ordered, mut any) = (Vec::new(), Vec::new());
        let found = read(cursor, &mut |list, call| {
            let patterns = match list {
                List::Sequence => &mut ordered,
                List::Calls => &mut any,
            };
            if patterns.is_empty() {
                patterns.reserve((text.len() / USUAL_CALL).clamp(1, MOST_ROOM));
            }
            patterns.push(pattern(text, call));
        })?;
        let leaf = |id| {
            let item = Item { id, column: id, count: 1, more: false, optional: false };
            Leaf { item, span: Span::default() }
        };
        let leaves: Vec<Leaf> = (0..ordered.len()).map(leaf).collect();
        let sequence = || leaves.iter().map(|leaf| Element::Item(leaf.item)).collect();
        let sequence = found.has_sequence.then(sequence);
        let first = ordered.len();
        let wanted = |at| Wanted { pattern: first + at, min: 1, more: false, max: None };
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
            parallel: Parallel::default(),
            counts_failed: false,
            agents: Agents::default(),
        };
        Some(Arc::new(expect))
    }
}

fn pattern(text: &Arc<str>, call: Written<'_>) -> CallPattern {
    let expected = call.args.map(|(args, keys)| Expected::written(text, args, keys));
    let args = ArgsRule { expected, how: call.how.unwrap_or_default(), ignore: Vec::new() };
    CallPattern::with_args(NamePattern::word(call.tool), args)
}

/// Reads an expectation and shows its calls.
fn read<'t>(
    cursor: &mut Plain<'t>,
    show: &mut impl FnMut(List, Written<'t>),
) -> Option<PlainExpect> {
    let mut found = PlainExpect { has_sequence: false, has_calls: false, extras: Extras::Allowed };
    let mut keys = Keys::default();
    cursor.take(b'{')?;
    while let Some(key) = cursor.key(&mut keys)? {
        match key {
            "sequence" => {
                found.has_sequence = true;
                list(cursor, &mut |call| show(List::Sequence, call))?;
            }
            "calls" => {
                found.has_calls = true;
                list(cursor, &mut |call| show(List::Calls, call))?;
            }
            "extras" => {
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

fn list<'t>(cursor: &mut Plain<'t>, show: &mut impl FnMut(Written<'t>)) -> Option<()> {
    cursor.take(b'[')?;
    let mut items = 0;
    while cursor.item(items)? {
        show(call(cursor)?);
        items += 1;
    }
    // An empty list is a mistake.
    (items > 0).then_some(())
}

fn call<'t>(cursor: &mut Plain<'t>) -> Option<Written<'t>> {
    if cursor.peek()? == b'"' {
        return Some(Written { tool: name(cursor.string()?)?, args: None, how: None });
    }
    let (mut tool, mut args, mut how) = (None, None, None);
    let mut keys = Keys::default();
    cursor.take(b'{')?;
    while let Some(key) = cursor.key(&mut keys)? {
        match key {
            "tool" | "name" if tool.is_none() => tool = Some(name(cursor.string()?)?),
            "args" if cursor.peek()? == b'{' => {
                let start = cursor.at();
                let mut spans = KeySpans::new();
                cursor.skip_object(|key| spans.push(short(key)))?;
                args = Some((short(start..cursor.at()), spans));
            }
            "args_match" => {
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
    Some(Written { tool: tool.filter(|_| is_complete)?, args, how })
}

/// A place in a line, which is no longer than spans reach.
fn short(range: Range<usize>) -> Range<u32> {
    let cut = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    cut(range.start)..cut(range.end)
}

/// The name of a tool, unless it is a regular expression or nothing.
fn name(word: &str) -> Option<&str> {
    (!word.starts_with('/') && !word.chars().all(char::is_whitespace)).then_some(word)
}
