//! Replayed file state: the facts that the trace proves about each file at each call.
//!
//! Reads show content, writes and patches create it, edits change it, and a shell command may
//! change anything. The calls that touch a file are listed once; the facts about a file are
//! computed on first use, so that unused files cost nothing.

use crate::patch::{self, FileChange};
use crate::path::resolve;
use crate::session::{Ended, Replacement, Session, SessionCall};
use crate::shell::{CommandLine, FileEffect};
use crate::text::{self, Numbering};
use foldhash::{HashMap, HashMapExt};
use memchr::{memchr, memmem};
use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::sync::Arc;
use toolmark_hosts::toolset::{ToolRole, ToolsetName};

/// Maximum size of a retained content.
const LARGEST: usize = 8 << 20;
/// Maximum size of all retained contents per session.
const MAX_KEPT: usize = 256 << 20;
/// Number of lines that hosts show of a file read as a whole.
const LINES_SHOWN: usize = 2000;
/// Number of columns that hosts show of a line.
const COLUMNS_SHOWN: usize = 2000;

/// Knowledge about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKnowledge {
    /// Nothing is known.
    Nothing,
    /// The file does not exist.
    Absent,
    /// The file exists; its content is unknown.
    Exists,
    /// Some lines of the file.
    Lines(Arc<[KnownLines]>),
    /// The whole content. It may be unknown whether the last line ends in a line break; it is
    /// stored as if it did.
    Whole(Arc<str>),
}

/// Consecutive lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownLines {
    /// Number of the first line, from 1.
    pub first: usize,
    /// Text of the lines, each with its line break.
    pub text: Arc<str>,
}

/// Knowledge about a file at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSnapshot {
    /// Known content.
    pub known: FileKnowledge,
    /// Whether something else may have changed the file since: a shell command, a sub-agent,
    /// the user.
    pub stale: bool,
    /// Last call that showed the content, as an index into the trajectory's calls.
    pub proof: Option<usize>,
}

impl FileSnapshot {
    const NOTHING: Self = Self { known: FileKnowledge::Nothing, stale: false, proof: None };

    /// Returns the whole content, if it is known and not stale.
    #[must_use]
    pub fn content(&self) -> Option<&Arc<str>> {
        match &self.known {
            FileKnowledge::Whole(text) if !self.stale => Some(text),
            _ => None,
        }
    }

    /// Returns the number of occurrences of a text: exact if the whole content is known,
    /// otherwise a lower bound from the known lines.
    #[must_use]
    pub fn occurrences(&self, text: &str) -> Occurrences {
        match &self.known {
            _ if self.stale => Occurrences::Unknown,
            FileKnowledge::Whole(content) => Occurrences::Exactly(count(content, text)),
            FileKnowledge::Lines(lines) => {
                Occurrences::AtLeast(lines.iter().map(|part| count(&part.text, text)).sum())
            }
            _ => Occurrences::Unknown,
        }
    }
}

/// Number of occurrences in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurrences {
    /// Exact number.
    Exactly(usize),
    /// Number in the known lines.
    AtLeast(usize),
    /// Unknown number.
    Unknown,
}

/// Counts the occurrences of a text in another, ignoring the difference between Windows and
/// Unix line breaks.
#[must_use]
pub fn count(content: &str, text: &str) -> usize {
    if text.is_empty() {
        return 0;
    }
    let text = match memmem::find(text.as_bytes(), b"\r\n") {
        Some(_) => Cow::Owned(text.replace("\r\n", "\n")),
        None => Cow::Borrowed(text),
    };
    let (mut from, mut found) = (0, 0);
    while let Some(at) = text::find(content, &text, from) {
        found += 1;
        from = at + text.len();
    }
    found
}

/// Facts that the trace proves about files.
pub struct Files {
    logs: HashMap<String, FileCalls>,
    /// Indexes of the calls after which any file may have changed.
    barriers: Vec<usize>,
    kept: Cell<usize>,
}

/// Calls that touch one file, and the resulting facts.
#[derive(Default)]
struct FileCalls {
    /// Indexes into the calls of the session.
    touches: Vec<usize>,
    history: OnceCell<Vec<Moment>>,
}

struct Moment {
    /// Call after which the snapshot applies, and its turn.
    after: usize,
    turn: u32,
    snapshot: FileSnapshot,
}

impl Files {
    /// Lists which calls touch which files.
    pub fn new(session: &Session<'_>) -> Self {
        let mut files = Self { logs: HashMap::new(), barriers: Vec::new(), kept: Cell::new(0) };
        for (position, call) in session.calls().iter().enumerate() {
            files.list(session, call, position);
        }
        files
    }

    fn list(&mut self, session: &Session<'_>, call: &SessionCall<'_>, position: usize) {
        let mut touch = |path: String| {
            let log = self.logs.entry(path).or_default();
            if log.touches.last() != Some(&position) {
                log.touches.push(position);
            }
        };
        match call.role {
            ToolRole::Reads | ToolRole::Writes | ToolRole::Edits => {
                call.path.clone().into_iter().for_each(touch);
            }
            ToolRole::Patches => match call.patch() {
                Some(patch) => paths_of(session, &patch).into_iter().for_each(touch),
                None => self.barriers.push(call.index),
            },
            ToolRole::RunsShell => {
                if call.ended == Ended::Ok {
                    effects(call).into_iter().for_each(|(path, _)| touch(path));
                }
                if !call.only_looks() {
                    self.barriers.push(call.index);
                }
            }
            _ if call.only_looks() => {}
            _ => self.barriers.push(call.index),
        }
    }

    /// Whether any file may have changed between two calls, other than by calls that name it.
    #[must_use]
    pub fn is_disturbed(&self, from: usize, to: usize) -> bool {
        let first = self.barriers.partition_point(|barrier| *barrier <= from);
        self.barriers.get(first).is_some_and(|barrier| *barrier < to)
    }

    /// Returns the state of a file just before a call.
    #[must_use]
    pub fn before(
        &self,
        session: &Session<'_>,
        call: &SessionCall<'_>,
        path: &str,
    ) -> FileSnapshot {
        let Some(log) = self.logs.get(path) else { return FileSnapshot::NOTHING };
        let history = log.history.get_or_init(|| self.replay(session, path, &log.touches));
        let end = history.partition_point(|moment| moment.after < call.index);
        let Some(moment) = end.checked_sub(1).and_then(|last| history.get(last)) else {
            return FileSnapshot::NOTHING;
        };
        let mut snapshot = moment.snapshot.clone();
        snapshot.stale |= moment.turn != call.turn || self.is_disturbed(moment.after, call.index);
        snapshot
    }

    fn replay(&self, session: &Session<'_>, path: &str, touches: &[usize]) -> Vec<Moment> {
        let mut history: Vec<Moment> = Vec::with_capacity(touches.len());
        for call in touches.iter().filter_map(|position| session.calls().get(*position)) {
            let mut before = history.last().map_or(FileSnapshot::NOTHING, |m| m.snapshot.clone());
            if let Some(last) = history.last() {
                before.stale |= last.turn != call.turn || self.is_disturbed(last.after, call.index);
            }
            let snapshot = self.bounded(after(session, path, call, before));
            history.push(Moment { after: call.index, turn: call.turn, snapshot });
        }
        history
    }

    /// Discards content that exceeds the limits.
    fn bounded(&self, mut snapshot: FileSnapshot) -> FileSnapshot {
        let size = match &snapshot.known {
            FileKnowledge::Whole(text) => text.len(),
            FileKnowledge::Lines(lines) => lines.iter().map(|part| part.text.len()).sum(),
            _ => return snapshot,
        };
        let kept = self.kept.get().saturating_add(size);
        if size > LARGEST || kept > MAX_KEPT {
            snapshot.known = FileKnowledge::Exists;
        } else {
            self.kept.set(kept);
        }
        snapshot
    }
}

/// The files that the patch of a call changes, resolved.
pub fn patched_files(session: &Session<'_>, call: &SessionCall<'_>) -> Vec<String> {
    call.patch().map(|patch| paths_of(session, &patch)).unwrap_or_default()
}

fn paths_of(session: &Session<'_>, text: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for file in patch::parse(text) {
        paths.push(at_home(session, file.path));
        if let FileChange::Update { to: Some(to), .. } = file.change {
            paths.push(at_home(session, to));
        }
    }
    paths
}

fn at_home(session: &Session<'_>, path: &str) -> String {
    resolve(session.trajectory().cwd.as_ref().map(|cwd| cwd.get()).as_deref(), path)
}

/// Returns the certain effects of a shell command, with resolved paths.
fn effects(call: &SessionCall<'_>) -> Vec<(String, FileKnowledge)> {
    let effects = call.line().map(CommandLine::file_effects).unwrap_or_default();
    if effects.is_empty() {
        return Vec::new();
    }
    let directory = call.directory();
    let directory = directory.as_deref();
    let known = |effect: &FileEffect| match effect {
        FileEffect::Written(path) => (resolve(directory, path), FileKnowledge::Exists),
        FileEffect::Removed(path) => (resolve(directory, path), FileKnowledge::Absent),
    };
    effects.iter().map(known).collect()
}

/// Returns the state of a file after a call that touches it.
fn after(
    session: &Session<'_>,
    path: &str,
    call: &SessionCall<'_>,
    before: FileSnapshot,
) -> FileSnapshot {
    let shown = |known| FileSnapshot { known, stale: false, proof: Some(call.index) };
    let uncertain = || FileSnapshot { known: FileKnowledge::Nothing, stale: true, proof: None };
    match (call.role, call.ended) {
        (ToolRole::Reads, Ended::Ok) => match seen(call) {
            None => match before.known {
                FileKnowledge::Nothing | FileKnowledge::Absent => shown(FileKnowledge::Exists),
                _ => before,
            },
            Some(ShownContent { complete: true, lines }) => shown(FileKnowledge::Whole(lines.text)),
            Some(ShownContent { lines, .. }) => shown(joined(before, lines)),
        },
        (ToolRole::Reads, Ended::Failed) => match crate::error_class::classify(call) {
            Some(crate::error_class::ErrorClass::Missing) => shown(FileKnowledge::Absent),
            _ => before,
        },
        (ToolRole::Reads, Ended::Unknown) => before,
        // A failed or refused call changed nothing.
        (ToolRole::Writes | ToolRole::Edits | ToolRole::Patches, Ended::Failed) => before,
        (ToolRole::Writes | ToolRole::Edits | ToolRole::Patches, Ended::Unknown) => uncertain(),
        (ToolRole::Writes, Ended::Ok) => match call.content() {
            Some(content) => shown(FileKnowledge::Whole(unified(content))),
            None => shown(FileKnowledge::Exists),
        },
        (ToolRole::Edits, Ended::Ok) => {
            let stale = before.stale;
            let edited = call.edits().iter().try_fold(before.known, |known, e| edited(&known, e));
            match edited {
                Some(known) => FileSnapshot { known, stale, proof: Some(call.index) },
                None => FileSnapshot {
                    known: FileKnowledge::Exists,
                    stale: false,
                    proof: Some(call.index),
                },
            }
        }
        (ToolRole::Patches, Ended::Ok) => patched(session, path, call, before),
        (ToolRole::RunsShell, _) => {
            let found = effects(call).into_iter().rev().find(|(file, _)| file == path);
            found.map_or(before, |(_, known)| shown(known))
        }
        _ => uncertain(),
    }
}

/// Returns the content with Unix line breaks.
fn unified(content: &str) -> Arc<str> {
    match memmem::find(content.as_bytes(), b"\r\n") {
        Some(_) => content.replace("\r\n", "\n").into(),
        None => content.into(),
    }
}

/// Content shown by a read.
struct ShownContent {
    lines: KnownLines,
    /// Whether it is the whole file.
    complete: bool,
}

fn seen(call: &SessionCall<'_>) -> Option<ShownContent> {
    let result = call.result()?;
    let range = call.lines();
    let marks = &call.spec?.line_marks;
    if marks.is_empty() {
        let is_cut = result.contains("content has been truncated") || result.contains("[truncated");
        // A missing result reveals nothing about the file.
        let complete = range.is_whole() && !is_cut && !result.is_empty();
        let lines = KnownLines { first: 1, text: unified(&result) };
        return complete.then_some(ShownContent { lines, complete });
    }
    let (lines, rest) = numbered(body(&result), marks)?;
    let rest = rest.trim_start();
    let is_all = rest.is_empty()
        || rest.starts_with("<system-reminder>")
        || rest.starts_with("(End of file")
        || rest.starts_with("</");
    let is_short = || {
        let mut all = text::lines(&lines.text).enumerate();
        all.all(|(n, line)| n + 1 < LINES_SHOWN && line.len() < COLUMNS_SHOWN)
    };
    let complete = range.is_whole() && lines.first == 1 && is_all && is_short();
    Some(ShownContent { lines, complete })
}

/// The lines of a file without the tags that some hosts put around them.
pub fn body(result: &str) -> &str {
    /// Maximum number of lines of such tags.
    const LINES: usize = 4;
    if !result.starts_with('<') {
        return result;
    }
    let start = result.match_indices('\n').nth(LINES).map_or(result.len(), |(at, _)| at);
    let opening = result.get(..start).unwrap_or(result);
    let open = ["<content>", "<file>"].iter().find_map(|tag| Some(opening.find(tag)? + tag.len()));
    let inner = open.and_then(|at| result.get(at..)).map(|rest| rest.trim_start_matches('\n'));
    inner.unwrap_or(result)
}

/// Returns the numbered lines at the start of a result, and the text after them.
fn numbered<'t>(result: &'t str, marks: &[ToolsetName]) -> Option<(KnownLines, &'t str)> {
    let numbering = Numbering::new(marks);
    let mut text = String::with_capacity(result.len());
    let mut first = 0;
    let mut rest = result;
    for next in 0.. {
        let (line, after) = match memchr(b'\n', rest.as_bytes()) {
            Some(end) => (&rest[..end], &rest[end + 1..]),
            None => (rest, ""),
        };
        let Some((number, body)) =
            numbering.split(line).filter(|(n, _)| next == 0 || *n == first + next)
        else {
            break;
        };
        if next == 0 {
            first = number;
        }
        text.push_str(body.strip_suffix('\r').unwrap_or(body));
        text.push('\n');
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    (first > 0).then(|| (KnownLines { first, text: text.into() }, rest))
}

/// Merges lines that were just read with the known ones.
fn joined(before: FileSnapshot, lines: KnownLines) -> FileKnowledge {
    /// Maximum number of separate ranges.
    const PIECES: usize = 64;
    let end = |part: &KnownLines| part.first + text::lines(&part.text).count();
    let mut all = match before.known {
        FileKnowledge::Lines(known) if !before.stale => known.to_vec(),
        // A part of known content adds nothing.
        FileKnowledge::Whole(text) if !before.stale => return FileKnowledge::Whole(text),
        _ => Vec::new(),
    };
    // For overlapping lines the newer ones count.
    all.retain(|part| end(part) <= lines.first || end(&lines) <= part.first);
    all.push(lines);
    all.sort_by_key(|part| part.first);
    if all.len() > PIECES {
        all.remove(0);
    }
    FileKnowledge::Lines(all.into())
}

/// Returns the content after one replacement; `None` if it cannot be computed from the known
/// content.
fn edited(known: &FileKnowledge, edit: &Replacement<'_>) -> Option<FileKnowledge> {
    let (old, new) = (unified(edit.old), unified(edit.new));
    match known {
        // An edit with an empty old text creates the file.
        _ if old.is_empty() && matches!(known, FileKnowledge::Nothing | FileKnowledge::Absent) => {
            Some(FileKnowledge::Whole(new))
        }
        _ if old.is_empty() => None,
        FileKnowledge::Whole(text) => match count(text, &old) {
            0 => None,
            1 => Some(FileKnowledge::Whole(replaced(text, &old, &new))),
            n if edit.all || edit.count == Some(n) => {
                Some(FileKnowledge::Whole(text.replace(&*old, &new).into()))
            }
            _ => None,
        },
        FileKnowledge::Lines(parts) => {
            let in_parts: usize = parts.iter().map(|part| count(&part.text, &old)).sum();
            // The text may also occur in other parts of the file.
            if in_parts != 1 || edit.all {
                return None;
            }
            let grown = new.matches('\n').count() as isize - old.matches('\n').count() as isize;
            let mut is_after = false;
            let mut out = Vec::with_capacity(parts.len());
            for part in parts.iter() {
                let mut part = part.clone();
                if is_after {
                    part.first = part.first.checked_add_signed(grown)?;
                } else if count(&part.text, &old) == 1 {
                    part.text = replaced(&part.text, &old, &new);
                    is_after = true;
                }
                out.push(part);
            }
            Some(FileKnowledge::Lines(out.into()))
        }
        _ => None,
    }
}

/// Returns the text with the first occurrence of `old` replaced.
fn replaced(text: &str, old: &str, new: &str) -> Arc<str> {
    let Some(at) = text::find(text, old, 0) else { return text.into() };
    [&text[..at], new, &text[at + old.len()..]].concat().into()
}

fn patched(
    session: &Session<'_>,
    path: &str,
    call: &SessionCall<'_>,
    before: FileSnapshot,
) -> FileSnapshot {
    let shown = |known| FileSnapshot { known, stale: false, proof: Some(call.index) };
    let Some(text) = call.patch() else { return shown(FileKnowledge::Nothing) };
    let mut now = before;
    for file in patch::parse(&text) {
        let is_it = at_home(session, file.path) == path;
        now = match file.change {
            FileChange::Add(content) if is_it => shown(FileKnowledge::Whole(content.into())),
            FileChange::Delete if is_it => shown(FileKnowledge::Absent),
            FileChange::Update { to: Some(to), .. } if is_it && at_home(session, to) != path => {
                shown(FileKnowledge::Absent)
            }
            FileChange::Update { hunks, .. } if is_it => match &now.known {
                FileKnowledge::Whole(content) => match patch::apply(content, &hunks) {
                    Some(content) => {
                        FileSnapshot { known: FileKnowledge::Whole(content.into()), ..now }
                    }
                    None => shown(FileKnowledge::Exists),
                },
                _ => shown(FileKnowledge::Exists),
            },
            FileChange::Update { to: Some(to), .. } if at_home(session, to) == path => {
                shown(FileKnowledge::Exists)
            }
            _ => now,
        };
    }
    now
}

#[cfg(test)]
mod tests;
