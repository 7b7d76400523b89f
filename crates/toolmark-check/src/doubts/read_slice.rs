//! `read-slice-coverage`: whether the part that was read covers what was needed.
//!
//! No rule tracks the purpose of a partial read; A204 only checks whether the lines exist. A
//! question is the first partial read of a file in a user's turn if there is evidence to
//! compare it with: the user's message names lines, a symbol in the file, or the file itself;
//! or the agent reads more of the same file afterwards, without changing it in between. Later
//! parts of the same file in the turn belong to the same doubt.
//!
//! The score of the rules depends only on line numbers: 1 if the named lines or symbols are
//! in the part, 0.5 if some are, 0 if none is. If only the file is named, or more of it was
//! read later, the rules cannot decide. A sufficient part with all the lines that the user
//! names and few others is not a question.

use super::{Candidate, DoubtKind, Scene};
use toolmark_base::{SortedMap, SortedSet};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::Axis;
use toolmark_session::session::{Ended, LineRange, Session, SessionCall};

pub(super) static KIND: DoubtKind = DoubtKind {
    rubric: "read-slice-coverage",
    measure: "judged.read-slice-coverage",
    axis: Axis::Arguments,
    rules: &["A204"],
    instead: &[],
    find,
};

/// Maximum length of the user's message to read.
const LONGEST: usize = 16 << 10;
/// Maximum number of symbols and ranges in the message to look for.
const MAX_SYMBOLS: usize = 20;
/// Maximum number of additional lines in a close match.
const LITTLE: i64 = 200;

/// The first part of a file that is read in a turn, and the next.
struct FilePart<'s, 'a> {
    first: &'s SessionCall<'a>,
    again: Option<&'s SessionCall<'a>>,
    /// Whether the file was changed since.
    is_over: bool,
}

fn find(scene: &Scene<'_, '_>, out: &mut Vec<Candidate>) {
    let session = scene.session;
    let mut request: Option<(u32, SliceRequest)> = None;
    for part in parts(session) {
        let (call, turn) = (part.first, part.first.turn);
        if request.as_ref().is_none_or(|(of, _)| *of != turn) {
            request = Some((turn, SliceRequest::before(session, call)));
        }
        let Some((_, request)) = &request else { continue };
        let candidate = in_doubt(session, &part, request);
        out.extend(candidate.map(|one| Candidate { finding: scene.finding(call, "A204"), ..one }));
    }
}

/// Returns the first part of each file that is read in a turn, in the order of calls.
fn parts<'s, 'a>(session: &'s Session<'a>) -> Vec<FilePart<'s, 'a>> {
    let mut parts: Vec<FilePart<'s, 'a>> = Vec::new();
    let mut at: SortedMap<&str, usize> = SortedMap::new();
    let (mut turn, mut patched) = (0, None);
    for call in session.calls() {
        if call.turn != turn {
            at.clear();
            turn = call.turn;
        }
        let Some(path) = call.path.as_deref() else {
            // Determining the files of a patch is not worth the effort.
            if call.role == ToolRole::Patches {
                patched = Some(call.index);
            }
            continue;
        };
        let known = at.get(path).copied();
        match (call.role, known.and_then(|at| parts.get_mut(at))) {
            (ToolRole::Reads, Some(part)) if call.ended == Ended::Ok => {
                let is_more =
                    part.first.lines() != call.lines() && part.first.call.agent == call.call.agent;
                let is_over = part.is_over || patched > Some(part.first.index);
                if part.again.is_none() && !is_over && is_more {
                    part.again = Some(call);
                }
            }
            (ToolRole::Reads, None) if call.ended == Ended::Ok && !call.lines().is_whole() => {
                at.insert(path, parts.len());
                parts.push(FilePart { first: call, again: None, is_over: false });
            }
            (ToolRole::Writes | ToolRole::Edits, Some(part)) => part.is_over = true,
            _ => {}
        }
    }
    parts
}

fn in_doubt(
    session: &Session<'_>,
    part: &FilePart<'_, '_>,
    request: &SliceRequest,
) -> Option<Candidate> {
    let call = part.first;
    let path = call.path.as_deref()?;
    let read = shown(call.lines());
    let names_file = request.names(path);
    let again = part.again.map(|again| format!("; then it read {}", shown(again.lines())));
    let also = again.as_deref().unwrap_or_default();
    // Lines refer to the named file, or to the only possible one.
    let lines = request.lines.iter().filter(|_| names_file || !request.names_files);
    let covered: Vec<Cover> = lines.map(|lines| cover(call.lines(), *lines)).collect();
    if let Some(score) = share(&covered) {
        let is_close = covered.iter().all(|cover| *cover == Cover::Closely);
        if (is_close && again.is_none()) || (score < 1.0 && !names_file) {
            return None;
        }
        let why = format!("the user names lines, and {read} were read{also}");
        return Some(Candidate::new(call, Some(score), why));
    }
    let symbols = symbols(session, call, path, request);
    if let Some(score) = share(&symbols) {
        let why = format!("the user names symbols of the file, and {read} were read{also}");
        return Some(Candidate::new(call, Some(score), why));
    }
    if names_file {
        let why = format!("the user names the file, and {read} were read{also}");
        return Some(Candidate::new(call, None, why));
    }
    let again = again?;
    Some(Candidate::new(call, None, format!("{read} were read first{again}")))
}

fn shown(lines: LineRange) -> String {
    match (lines.from, lines.count) {
        (Some(from), Some(count)) if count > 0 => {
            format!("lines {from} to {}", from.saturating_add(count - 1))
        }
        (Some(from), _) => format!("the lines from {from} on"),
        (None, Some(count)) => format!("the first {count} lines"),
        (None, None) => "all lines".to_owned(),
    }
}

/// Coverage of the named lines or symbols by a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cover {
    /// Every named line or symbol, and few other lines.
    Closely,
    /// Every named line or symbol.
    Yes,
    /// Some of the named lines or symbols.
    Partly,
    /// None of the named lines or symbols.
    No,
}

/// Returns the combined score, if there is anything to score.
fn share(covers: &[Cover]) -> Option<f64> {
    let is_in = |cover: &Cover| matches!(cover, Cover::Closely | Cover::Yes);
    match covers {
        [] => None,
        all if all.iter().all(is_in) => Some(1.0),
        all if all.iter().all(|cover| *cover == Cover::No) => Some(0.0),
        _ => Some(0.5),
    }
}

fn cover(part: LineRange, (first, last): (i64, i64)) -> Cover {
    let from = part.from.unwrap_or(1).max(1);
    let to = part.count.filter(|count| *count > 0).map(|count| from.saturating_add(count - 1));
    let end = to.unwrap_or(i64::MAX);
    let spare = to.map(|to| to.saturating_sub(from).saturating_sub(last - first));
    match (from <= first && last <= end, from <= last && first <= end) {
        (true, _) if spare.is_some_and(|spare| spare <= LITTLE) => Cover::Closely,
        (true, _) => Cover::Yes,
        (false, true) => Cover::Partly,
        (false, false) => Cover::No,
    }
}

/// Returns, for the named symbols that the file is known to contain, whether they are in the
/// part.
fn symbols(
    session: &Session<'_>,
    call: &SessionCall<'_>,
    path: &str,
    request: &SliceRequest,
) -> Vec<Cover> {
    let Some(result) = call.result().filter(|_| !request.symbols.is_empty()) else {
        return Vec::new();
    };
    let before = session.files().before(session, call, path);
    let has = |symbol: &String| match result.contains(symbol.as_str()) {
        true => Some(Cover::Yes),
        false => before.content()?.contains(symbol.as_str()).then_some(Cover::No),
    };
    request.symbols.iter().filter_map(has).collect()
}

/// References in the user's message of a turn.
#[derive(Debug, Default)]
struct SliceRequest {
    /// Words, in the spelling of file names.
    words: SortedSet<String>,
    /// Whether the message names any file.
    names_files: bool,
    lines: Vec<(i64, i64)>,
    symbols: Vec<String>,
}

impl SliceRequest {
    /// Returns the last message of the user before a call.
    fn before(session: &Session<'_>, call: &SessionCall<'_>) -> Self {
        let events = session.events().get(..call.event).unwrap_or_default();
        let asked = events.iter().rev().find(|event| event.starts_turn());
        match asked.and_then(|event| event.text.as_ref()) {
            Some(text) => Self::of(&text.plain()),
            None => Self::default(),
        }
    }

    fn of(text: &str) -> Self {
        let mut end = text.len().min(LONGEST);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = text.get(..end).unwrap_or_default();
        let mut request = Self { lines: lines(text), ..Self::default() };
        let is_apart = |c: char| c.is_whitespace() || "\"'`()[]{}<>,;=".contains(c);
        for word in text.split(is_apart) {
            let word = word.trim_end_matches(['.', '!', '?', ':']);
            let file = word.split(':').next().unwrap_or(word).trim_start_matches('@');
            let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
            if is_file(name) {
                request.names_files = true;
                request.words.insert(name.to_owned());
            } else if is_symbol(word) && request.symbols.len() < MAX_SYMBOLS {
                let last = word.rsplit("::").next().unwrap_or(word);
                let last = last.rsplit('.').next().unwrap_or(last).to_owned();
                if !request.symbols.contains(&last) {
                    request.symbols.push(last);
                }
            }
        }
        request
    }

    /// Whether the message names this file.
    fn names(&self, path: &str) -> bool {
        path.rsplit('/').next().is_some_and(|name| self.words.contains(name))
    }
}

/// Whether the name has the form `name.ext`, with a short extension that starts with a
/// letter.
fn is_file(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, end)| {
        let is_end = (1..=5).contains(&end.len()) && end.chars().all(char::is_alphanumeric);
        is_end
            && end.starts_with(char::is_alphabetic)
            && stem.chars().any(char::is_alphabetic)
            && stem.chars().all(|c| c.is_alphanumeric() || "._-+@$".contains(c))
    })
}

/// Whether a word occurs only in programs: `a_b`, `a::b`, `aB`.
fn is_symbol(word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.');
    if word.len() < 4 || !word.chars().all(is_name) || !word.starts_with(char::is_alphabetic) {
        return false;
    }
    let mut before = ' ';
    let has_hump = word.chars().any(|c| {
        let is_hump = before.is_lowercase() && c.is_uppercase();
        before = c;
        is_hump
    });
    word.contains("::") || word.trim_matches('_').contains('_') || has_hump
}

/// Returns the line ranges that a text names: `line 12`, `lines 10-20`, `L7`, `a.rs:42`.
fn lines(text: &str) -> Vec<(i64, i64)> {
    let mut found = Vec::new();
    let lower = text.to_lowercase();
    let mut words =
        lower.split(|c: char| c.is_whitespace() || "\"'`()[]{}<>,;".contains(c)).peekable();
    while let Some(word) = words.next() {
        if found.len() >= MAX_SYMBOLS {
            break;
        }
        let after_word = match word {
            "line" | "lines" => words.peek().and_then(|next| range(next)),
            _ => None,
        };
        let of_file = || {
            let (file, rest) = word.split_once(':')?;
            is_file(file.rsplit('/').next()?).then(|| range(rest.split(':').next()?))?
        };
        let mark = || {
            let digits = word.trim_start_matches('#').strip_prefix('l')?;
            range(digits)
        };
        found.extend(after_word.or_else(of_file).or_else(mark));
    }
    found
}

/// Parses a range: `12`, `12-20`, `12–20`, `12-l20`.
fn range(text: &str) -> Option<(i64, i64)> {
    let text = text.trim_end_matches(['.', '!', '?', ':']);
    let mut ends = text.split(['-', '\u{2013}']).map(|end| end.trim_start_matches('l').parse());
    let first: i64 = ends.next()?.ok()?;
    let last: i64 = match ends.next() {
        Some(last) => last.ok()?,
        None => first,
    };
    (first > 0 && last >= first && ends.next().is_none()).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_messages_name() {
        for (text, file, lines, symbols) in [
            ("look at src/a.rs:42 please", true, &[(42, 42)][..], &[][..]),
            ("what is on lines 10-20 of `a.rs`?", true, &[(10, 20)], &[]),
            ("see line 7.", false, &[(7, 7)], &[]),
            ("see a.rs#L7", false, &[], &[]),
            ("L7-L9 in @src/a.rs", true, &[(7, 9)], &[]),
            ("rename parse_args() and Foo::barBaz", false, &[], &["parse_args", "barBaz"]),
            ("fix the build, e.g. on line one", false, &[], &[]),
            ("lines 20-10", false, &[], &[]),
            ("", false, &[], &[]),
        ] {
            let request = SliceRequest::of(text);
            assert_eq!(request.names("/w/src/a.rs"), file, "{text}");
            assert_eq!(request.lines, lines, "{text}");
            assert_eq!(request.symbols, symbols, "{text}");
        }
    }

    #[test]
    fn how_parts_cover_lines() {
        let part = |from, count| LineRange { from, count };
        for (read, lines, want) in [
            (part(Some(1), Some(50)), (10, 20), Cover::Closely),
            (part(None, Some(2000)), (10, 20), Cover::Yes),
            (part(Some(15), None), (10, 20), Cover::Partly),
            (part(Some(15), None), (15, 20), Cover::Yes),
            (part(Some(21), Some(5)), (10, 20), Cover::No),
            (part(Some(-5), Some(i64::MAX)), (1, i64::MAX), Cover::Closely),
        ] {
            assert_eq!(cover(read, lines), want, "{read:?} {lines:?}");
        }
    }
}
