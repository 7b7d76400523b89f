//! Notes of hosts and tools in results, whose meaning is data of their toolsets.

use super::unframe;
use crate::HOSTS;
use crate::toolset::{List, Name, Tool};
use toolmark_shell::results::ResultKind;

/// A note in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note<'t> {
    /// Meaning of the result.
    pub kind: ResultKind,
    /// Line with the note.
    pub line: &'t str,
}

/// Maximum number of bytes of a line that are examined; notes are short.
const MAX_LINE: usize = 600;

/// Returns what a host says about any call: in the head, the first lines or the last line of its
/// result.
#[must_use]
pub fn note_of_host(text: &str) -> Option<Note<'_>> {
    let lists = || HOSTS.iter().filter_map(|host| host.toolset).map(|set| &set.results);
    lines(text).find_map(|line| lists().find_map(|results| find(results, line)))
}

/// Returns what a tool says about its call.
#[must_use]
pub fn note_of_tool<'t>(tool: &Tool, text: &'t str) -> Option<Note<'t>> {
    match tool.results.is_empty() {
        true => None,
        false => lines(text).find_map(|line| find(&tool.results, line)),
    }
}

/// Returns the lines of a result in which notes are written.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    /// Number of lines at the start.
    const FIRST: usize = 3;
    let frame = unframe(text);
    let body = frame.body.trim();
    let first = body.lines().take(FIRST);
    let last = body.lines().next_back().into_iter();
    let after = text.trim_end().lines().next_back().into_iter();
    frame.head.lines().chain(first).chain(last).chain(after).map(|line| start(line.trim()))
}

fn start(line: &str) -> &str {
    let mut end = MAX_LINE.min(line.len());
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

fn find<'t>(results: &List<(Name, List<Name>)>, line: &'t str) -> Option<Note<'t>> {
    let has = |(_, texts): &&(Name, List<Name>)| texts.iter().any(|text| says(line, text));
    let (kind, _) = results.iter().find(has)?;
    Some(Note { kind: ResultKind::from_word(kind)?, line })
}

/// Whether a line has a text, in which `*` is any text; after `^` the line begins with it.
fn says(line: &str, text: &str) -> bool {
    let (text, is_start) = match text.strip_prefix('^') {
        Some(text) => (text, true),
        None => (text, false),
    };
    let mut parts = text.split('*');
    let first = parts.next().unwrap_or_default();
    let rest = match is_start {
        true => line.strip_prefix(first),
        false => line.split_once(first).map(|(_, rest)| rest),
    };
    let step = |rest: Option<&'_ str>, part: &str| {
        rest.and_then(|rest| rest.find(part).map(|at| at + part.len())).map(|at| at)
    };
    let mut rest = rest;
    for part in parts {
        rest = step(rest, part).and_then(|at| rest?.get(at..));
    }
    rest.is_some()
}
