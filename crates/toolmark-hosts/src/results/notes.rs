//! Notes of hosts and tools in results, whose meaning is data of their toolsets.

use super::unframe;
use crate::HOSTS;
use crate::toolset::{Tool, ToolsetList, ToolsetName};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::sync::LazyLock;
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
    let may_have = |line: &&str| STARTS.as_ref().is_none_or(|starts| starts.is_match(*line));
    let mut lines = lines(text).filter(may_have);
    lines.find_map(|line| lists().find_map(|results| find(results, line)))
}

fn lists() -> impl Iterator<Item = &'static ToolsetList<(ToolsetName, ToolsetList<ToolsetName>)>> {
    HOSTS.iter().filter_map(|host| host.toolset).map(|set| &set.results)
}

/// Searcher for the first parts of all notes of hosts; most lines have none of them.
static STARTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let texts = lists().flat_map(|results| results.iter()).flat_map(|(_, texts)| texts.iter());
    let parts = texts.filter_map(|text| text.trim_start_matches('^').split('*').next());
    AhoCorasick::builder().kind(Some(AhoCorasickKind::NoncontiguousNFA)).build(parts).ok()
});

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
    /// Number of lines at the end, with the notes behind the output.
    const LAST: usize = 2;
    let frame = unframe(text);
    let body = frame.body.trim();
    let first = body.lines().take(FIRST);
    let last = body.lines().next_back().into_iter();
    let after = text.trim_end().lines().rev().take(LAST);
    frame.head.lines().chain(first).chain(last).chain(after).map(str::trim).flat_map(ends)
}

/// Returns the start of a line, and of a long one its end.
fn ends(line: &str) -> impl Iterator<Item = &str> {
    /// Maximum number of bytes at the end.
    const MAX_END: usize = 100;
    let mut at = line.len().saturating_sub(MAX_END);
    while !line.is_char_boundary(at) {
        at += 1;
    }
    let end = line.get(at..).filter(|_| line.len() > MAX_LINE);
    std::iter::once(start(line)).chain(end)
}

fn start(line: &str) -> &str {
    let mut end = MAX_LINE.min(line.len());
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

fn find<'t>(
    results: &ToolsetList<(ToolsetName, ToolsetList<ToolsetName>)>,
    line: &'t str,
) -> Option<Note<'t>> {
    let has = |(_, texts): &&(ToolsetName, ToolsetList<ToolsetName>)| {
        texts.iter().any(|text| says(line, text))
    };
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
    let after = |rest: Option<_>, part| rest.and_then(|rest| cut_after(rest, part));
    parts.fold(rest, after).is_some()
}

/// Returns the rest of a text behind the first occurrence of a part.
fn cut_after<'t>(text: &'t str, part: &str) -> Option<&'t str> {
    text.split_once(part).map(|(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::{note_of_host, note_of_tool, says};
    use crate::toolset::builtin;
    use serde_json::json;
    use toolmark_shell::results::ResultKind;

    #[test]
    fn texts() {
        for (line, text, want) in [
            ("Skill \"x\" not found.", "^Skill \"*\" not found", true),
            ("the Skill \"x\" not found.", "^Skill \"*\" not found", false),
            ("Found 3 matches, but more", "matches, but", true),
            ("a b c", "a*c*b", false),
        ] {
            assert_eq!(says(line, text), want, "{line} {text}");
        }
    }

    #[test]
    fn notes_of_hosts() {
        for (text, want) in [
            (
                "<tool_use_error>Sibling tool call errored</tool_use_error>",
                Some(ResultKind::CutOff),
            ),
            ("Command running in background with ID: b1.", Some(ResultKind::StillRunning)),
            (
                "Chunk ID: 1\nProcess running with session ID 7\nOutput:\n",
                Some(ResultKind::StillRunning),
            ),
            ("a\nb\n\nCommand aborted", Some(ResultKind::CutOff)),
            ("patch rejected by user", Some(ResultKind::Refused)),
            ("2 validation errors for Order", Some(ResultKind::UsageError)),
            ("a\nb\nc\nd\nThe user doesn't want to proceed with this tool use\ne\nf", None),
        ] {
            assert_eq!(note_of_host(text).map(|note| note.kind), want, "{text}");
        }
    }

    #[test]
    fn notes_of_tools() {
        let tools = builtin("claude-code").unwrap();
        for (tool, text, want) in [
            ("Edit", "File has been modified since read, by a linter.", ResultKind::Failed),
            ("Edit", "String to replace not found in file.", ResultKind::Failed),
            ("Edit", "File has not been read yet. Read it first.", ResultKind::UsageError),
            (
                "Read",
                "File content (30000 tokens) exceeds maximum allowed tokens",
                ResultKind::UsageError,
            ),
            ("Grep", "No files found", ResultKind::NothingMatched),
            ("TaskOutput", "<status>running</status>", ResultKind::StillRunning),
        ] {
            let note = note_of_tool(tools.tool(tool).unwrap(), text);
            assert_eq!(note.map(|note| note.kind), Some(want), "{tool}: {text}");
        }
    }

    #[test]
    fn ignored_arguments() {
        let grep = builtin("claude-code").unwrap().tool("Grep").unwrap();
        let args = json!({"pattern": "x", "-C": 3, "-i": true});
        assert_eq!(grep.ignored_arguments(&args).collect::<Vec<_>>(), ["-C"]);
        let args = json!({"pattern": "x", "-C": 3, "output_mode": "content"});
        assert_eq!(grep.ignored_arguments(&args).count(), 0);
    }
}
