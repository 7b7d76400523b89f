//! # What it does
//!
//! Finds reads that return only lines the agent already has from earlier reads
//! of the same file, when nothing gave it a reason to look again. Files that
//! are read in the shell (`cat`, `nl`, `sed -n`, `head`, `tail`) count too,
//! several at once as well.
//!
//! If a command in between may have changed files, or the user sent a message,
//! the finding has lower confidence; a session has one such finding, with all
//! its calls. Not reported: a read after a change or a
//! failed edit of the file, after a command that names the file, after the
//! context was compacted, and a read of a file that programs write to while
//! they run.
//!
//! # Why
//!
//! Every repeated read costs a step and all tokens of the file again. Several
//! of them are a sign that the agent has lost track.
//!
//! # What to do
//!
//! Work from the earlier result. If files are read over and over, say in the
//! instructions that a file has to be read again only after it has changed.
//!
//! # Examples
//!
//! ```fires
//! Read {"file_path":"/w/a.rs"} -> "1\tfn main() {}"
//! Grep {"pattern":"main"} -> "a.rs"
//! Read {"file_path":"/w/a.rs"} -> "1\tfn main() {}"
//! ```
//!
//! A read-only command changes nothing, and the same path can be written in
//! several ways:
//!
//! ```fires
//! Read {"file_path":"/w/src/a.rs","offset":10,"limit":1} -> "10\tx"
//! Bash {"command":"git status && ls"} -> "clean"
//! Read {"file_path":"src/a.rs","offset":10,"limit":1} -> "10\tx"
//! ```
//!
//! The lines were already in the first result:
//!
//! ```fires
//! Read {"file_path":"/w/a.rs"} -> "1\tone\n2\ttwo\n3\tthree"
//! Read {"file_path":"/w/a.rs","offset":2,"limit":1} -> "2\ttwo"
//! ```
//!
//! ```fires
//! host: opencode
//! read {"filePath":"/w/a.ts"} -> "<path>/w/a.ts</path>\n<type>file</type>\n<content>1: x\n2: y\n\n(End of file - total 2 lines)\n</content>"
//! read {"filePath":"/w/a.ts","offset":2} -> "<path>/w/a.ts</path>\n<type>file</type>\n<content>2: y\n\n(End of file - total 2 lines)\n</content>"
//! ```
//!
//! The host says so itself:
//!
//! ```fires
//! Read {"file_path":"/w/a.rs"} -> "1\tone"
//! Bash {"command":"make"} -> "ok"
//! Read {"file_path":"/w/a.rs"} -> "File unchanged since last read. Refer to the earlier result."
//! ```
//!
//! The lines are known from several reads, and nothing has changed them:
//!
//! ```fires
//! Read {"file_path":"/w/a.rs","limit":2} -> "1\tone\n2\ttwo"
//! Read {"file_path":"/w/a.rs","offset":3,"limit":2} -> "3\tthree\n4\tfour"
//! Bash {"command":"mv x.txt y.txt"} -> ""
//! Read {"file_path":"/w/a.rs"} -> "1\tone\n2\ttwo\n3\tthree\n4\tfour"
//! ```
//!
//! In the shell, on a host without a reading tool:
//!
//! ```fires
//! host: codex
//! shell {"command":["bash","-lc","cat src/a.rs"]} -> "one\ntwo\nthree\nfour\nfive"
//! shell {"command":["bash","-lc","sed -n '2,4p' src/a.rs"]} -> "two\nthree\nfour"
//! ```
//!
//! With line numbers, or several files at once:
//!
//! ```fires
//! host: codex
//! shell {"command":["bash","-lc","sed -n '1,200p' src/a.rs"]} -> "one\ntwo\nthree\nfour\nfive"
//! shell {"command":["bash","-lc","nl -ba src/a.rs"]} -> "     1\tone\n     2\ttwo\n     3\tthree\n     4\tfour\n     5\tfive"
//! ```
//!
//! ```fires
//! host: codex
//! shell {"command":["bash","-lc","cat a.rs"]} -> "one\ntwo\nthree\nfour\nfive"
//! shell {"command":["bash","-lc","cat b.rs"]} -> "1\n2\n3\n4\n5"
//! shell {"command":["bash","-lc","cat a.rs && echo --- && cat b.rs"]} -> "one\ntwo\nthree\nfour\nfive\n---\n1\n2\n3\n4\n5"
//! ```
//!
//! The file was changed in between, or there is a reason to look:
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs"} -> "1\tone"
//! Edit {"file_path":"/w/a.rs","old_string":"one","new_string":"two"} -> "ok"
//! Read {"file_path":"/w/a.rs"} -> "1\ttwo"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs"} -> "1\tone"
//! Bash {"command":"git stash"} -> ""
//! Read {"file_path":"/w/a.rs"} -> "1\tone"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs"} -> "1\tone"
//! user: I have changed it, look again
//! Read {"file_path":"/w/a.rs"} -> "1\tone"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs"} -> "1\tone"
//! Edit {"file_path":"/w/a.rs","old_string":"two","new_string":"2"} !> "String to replace not found in file."
//! Read {"file_path":"/w/a.rs"} -> "1\tone"
//! ```
//!
//! The host requires a read with its own tool before an edit:
//!
//! ```quiet
//! Bash {"command":"cat a.rs"} -> "one\ntwo\nthree"
//! Read {"file_path":"/w/a.rs"} -> "1\tone\n2\ttwo\n3\tthree"
//! ```
//!
//! The agent no longer has the lines, or never had them:
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs"} -> "1\tone"
//! compaction
//! Read {"file_path":"/w/a.rs"} -> "1\tone"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs"} !> "File does not exist."
//! Read {"file_path":"/w/a.rs"} -> "1\tone"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs","limit":1} -> "1\tone"
//! Read {"file_path":"/w/a.rs","offset":2,"limit":1} -> "2\ttwo"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use foldhash::quality::FixedState;
use foldhash::{HashMap, HashMapExt, HashSet};
use memchr::{memchr_iter, memmem};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::hash::BuildHasher;
use toolmark_hosts::toolset::{ToolRole, ToolsetName};
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::path::resolve;
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::shell::stand_in::{Deed, Equivalence, LineSpan};
use toolmark_session::text::{Numbering, find, head, lines};
use toolmark_trace::{Event, EventKind, Status};

pub(crate) static RULE: Rule = Rule {
    code: "S101",
    name: "repeated-read",
    axis: Axis::Selection,
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "reads a file again that has not changed",
    remedy: "work from the earlier result; read a file again only after it has changed",
    source: page!("s101_repeated_read.rs"),
    check,
};

/// Maximum number of earlier shell reads of a file with which a read is compared.
const COMPARED: usize = 16;
/// Minimum number of unnumbered lines to compare; fewer may occur elsewhere in the file.
const FEW_LINES: usize = 3;
/// Maximum number of lines of one file to remember.
const MAX_LINES: usize = 200_000;

/// Maximum number of commands between two reads to examine.
const MAX_COMMANDS: usize = 512;

/// Message of a host that knows that nothing has changed.
const UNCHANGED: &str = "File unchanged since last read";

/// Parts of a file that one agent has seen since the last change.
#[derive(Default)]
struct KnownParts<'s, 'a> {
    /// Last read. Its text is processed lazily, because most files are read only once.
    unread: Option<SuccessfulRead<'s, 'a>>,
    /// Line numbers with the hash of their text and the call that showed it.
    lines: HashMap<usize, (u64, usize)>,
    /// Texts without line numbers.
    texts: Vec<(Cow<'s, str>, &'s SessionCall<'a>)>,
    /// Line ranges that commands requested and returned.
    spans: Vec<(LineSpan, &'s SessionCall<'a>)>,
    /// Last call that showed a part of the file or wrote it.
    last: Option<&'s SessionCall<'a>>,
}

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let mut compactions = compactions(session).into_iter().peekable();
    let mut seen: HashMap<(Option<Cow<'_, str>>, String), KnownParts<'_, '_>> = HashMap::new();
    let mut doubts = Doubts::new(session);
    for call in session.calls() {
        if compactions.next_if(|at| *at < call.event).is_some() {
            while compactions.next_if(|at| *at < call.event).is_some() {}
            seen.clear();
        }
        let agent = call.call.agent.as_ref().map(|agent| agent.get());
        match read_of(call) {
            Some(read) => {
                recorder.count_opportunity(call);
                let key = (agent, read.path.clone());
                let before = seen.entry(key).or_default();
                let text = before.is_known().then(|| read.text());
                let repeated = text.as_ref().and_then(|text| {
                    before.settle();
                    repeats(session, before, &read, text)
                });
                let is_said = text.is_some_and(|text| text.starts_with(UNCHANGED));
                if let Some(first) = repeated
                    && (is_said || !doubts.excuse(first, call, &read.path))
                {
                    let confidence = match doubts.is_disturbed(first, call) && !is_said {
                        true => Confidence::Medium,
                        false => Confidence::High,
                    };
                    found(session, recorder, &read.path, first, call, confidence);
                }
                before.unread = Some(read);
            }
            None => match several(call) {
                Some(paths) => {
                    let mut compare = Several { session, doubts: &doubts, agent, call };
                    compare.check(recorder, &mut seen, paths);
                }
                None => forget(session, call, &mut seen),
            },
        }
        doubts.note(call);
    }
}

fn compactions(session: &Session<'_>) -> Vec<usize> {
    /// First words of the message with which Cline resumes a task, maybe in another directory.
    const RESUMED: &str = "[TASK RESUMPTION]";
    let is_resumed = |event: &Event| {
        let text = event.text.as_ref().filter(|_| event.kind == EventKind::Context);
        text.is_some_and(|text| text.plain().trim_start().starts_with(RESUMED))
    };
    let is_boundary = |event: &Event| event.kind == EventKind::Compaction || is_resumed(event);
    let events = session.events().iter().enumerate();
    events.filter(|(_, event)| is_boundary(event)).map(|(at, _)| at).collect()
}

/// A successful read.
struct SuccessfulRead<'s, 'a> {
    call: &'s SessionCall<'a>,
    path: String,
    /// Separators between the number of a line and its text.
    marks: &'a [ToolsetName],
    is_shell: bool,
    /// Whether a command numbers the lines.
    is_numbered: bool,
    /// Lines that a command requests.
    span: Option<LineSpan>,
}

impl<'s> SuccessfulRead<'s, '_> {
    /// Returns the text of the result.
    fn text(&self) -> Cow<'s, str> {
        let text = self.call.result().unwrap_or_default();
        let text = if self.is_shell { cut(text, output) } else { text };
        match self.is_numbered {
            true => Cow::Owned(unnumbered(&text)),
            false => text,
        }
    }
}

/// Returns the text without the line numbers of `nl` and `cat -n`.
fn unnumbered(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in lines(text) {
        let bare = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        out.push_str(bare.strip_prefix('\t').unwrap_or(line));
        out.push('\n');
    }
    out
}

/// Returns the files that a command shows, if there are several.
fn several(call: &SessionCall<'_>) -> Option<Vec<String>> {
    if call.role != ToolRole::RunsShell || call.ended == Ended::Failed || !call.has_result() {
        return None;
    }
    let shown = call.line()?.shown_files()?;
    let base = call.directory();
    let place = |(directory, file): &(Option<String>, String)| {
        let moved = directory.as_deref().map(|dir| resolve(base.as_deref(), dir));
        resolve(moved.as_deref().or(base.as_deref()), file)
    };
    Some(shown.files.iter().map(place).collect())
}

/// A command that shows several files.
struct Several<'d, 's, 'a> {
    session: &'s Session<'a>,
    doubts: &'d Doubts<'s, 'a>,
    agent: Option<Cow<'a, str>>,
    call: &'s SessionCall<'a>,
}

impl<'s, 'a> Several<'_, 's, 'a> {
    fn check(
        &mut self,
        recorder: &mut Recorder<'_, '_>,
        seen: &mut HashMap<(Option<Cow<'a, str>>, String), KnownParts<'s, 'a>>,
        paths: Vec<String>,
    ) {
        let call = self.call;
        recorder.count_opportunity(call);
        let mut known = HashSet::default();
        let mut first: Option<&SessionCall<'_>> = None;
        let mut is_known = true;
        for path in &paths {
            let parts = seen.entry((self.agent.clone(), path.clone())).or_default();
            parts.settle();
            is_known &= parts.collect(&mut known);
            let earlier = parts.last.filter(|last| first.is_none_or(|f| last.index < f.index));
            first = earlier.or(first);
        }
        if let (true, Some(first)) = (is_known, first)
            && self.shows_only(&known)
            && !paths.iter().any(|path| self.doubts.excuse(first, call, path))
            && let Some(path) = paths.first()
        {
            let confidence = match self.doubts.is_disturbed(first, call) {
                true => Confidence::Medium,
                false => Confidence::High,
            };
            found(self.session, recorder, path, first, call, confidence);
        }
        for path in paths {
            let key = (self.agent.clone(), path.clone());
            let read = SuccessfulRead {
                call,
                path,
                marks: &[],
                is_shell: true,
                is_numbered: true,
                span: None,
            };
            seen.entry(key).or_default().unread = Some(read);
        }
    }

    /// Whether the result has nothing but known lines, and those that separate the files.
    fn shows_only(&self, known: &HashSet<u64>) -> bool {
        let separators = self.call.line().and_then(|line| line.shown_files());
        let separators = separators.map_or(0, |shown| shown.separators);
        let text = self.call.result().map(|text| unnumbered(output(&text))).unwrap_or_default();
        holds_lines(known, &text, separators)
    }
}

/// Whether all lines of a text are known, but for some. A few lines occur in any file.
fn holds_lines(known: &HashSet<u64>, text: &str, but: usize) -> bool {
    /// Minimum number of lines that are not blank.
    const MIN_LINES: usize = 8;
    let (mut all, mut new) = (0_usize, 0_usize);
    for line in lines(text).filter(|line| !line.trim().is_empty()) {
        all += 1;
        new += usize::from(!known.contains(&hash(line)));
        if new > but {
            return false;
        }
    }
    all >= MIN_LINES + but
}

/// Returns a part of a text without copying borrowed text.
fn cut<'t>(text: Cow<'t, str>, part: fn(&str) -> &str) -> Cow<'t, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(part(text)),
        Cow::Owned(text) => Cow::Owned(part(&text).to_owned()),
    }
}

fn read_of<'s, 'a>(call: &'s SessionCall<'a>) -> Option<SuccessfulRead<'s, 'a>> {
    if call.ended == Ended::Failed || !call.has_result() {
        return None;
    }
    match call.role {
        ToolRole::Reads if call.ended == Ended::Ok => {
            let path = call.path.clone()?;
            let marks = call.spec.map_or(&[][..], |spec| &spec.line_marks);
            Some(SuccessfulRead {
                call,
                path,
                marks,
                is_shell: false,
                is_numbered: false,
                span: None,
            })
        }
        ToolRole::RunsShell => {
            let found = call.line()?.stand_in()?;
            // Lines of a growing file are not stable.
            if found.deed != Deed::Read || found.fit == Equivalence::Loose {
                return None;
            }
            let base = call.directory();
            let moved = found.directory.as_deref().map(|dir| resolve(base.as_deref(), dir));
            let path = resolve(moved.as_deref().or(base.as_deref()), found.target.as_deref()?);
            let (span, is_numbered) = (found.span, found.is_numbered);
            Some(SuccessfulRead { call, path, marks: &[], is_shell: true, is_numbered, span })
        }
        _ => None,
    }
}

/// Returns the output of a command, without additions of the host.
fn output(result: &str) -> &str {
    match result.split_once("\nOutput:\n") {
        Some((head, output)) if head.lines().count() <= 6 => output,
        _ => result,
    }
}

/// Returns the result without additions of the host.
fn bare(result: &str) -> &str {
    let body = toolmark_session::files::body(result);
    let end = memmem::find(body.as_bytes(), b"<system-reminder>").unwrap_or(body.len());
    let body = body.get(..end).unwrap_or(body).trim_end();
    // A note about the rest of the file: `[33 more lines in file. Use offset=215 to continue.]`.
    match body.rsplit_once('\n') {
        Some((text, note)) if is_note(note) => text.trim_end(),
        _ => body,
    }
}

/// Whether the last line of a result is a note about lines that it does not show.
fn is_note(line: &str) -> bool {
    let is_bracketed = line.starts_with(['[', '(']) && line.ends_with([']', ')']);
    is_bracketed && (line.contains("offset") || line.contains("more lines"))
}

/// Returns the numbered lines of a result; empty if there are none.
fn numbered<'t>(text: &'t str, marks: &'t [ToolsetName]) -> impl Iterator<Item = (usize, &'t str)> {
    let numbering = Numbering::new(marks);
    lines(text).filter_map(move |line| numbering.split(line))
}

fn hash(text: &str) -> u64 {
    FixedState::default().hash_one(text)
}

impl<'s, 'a> KnownParts<'s, 'a> {
    /// Whether there is anything to compare with.
    fn is_known(&self) -> bool {
        self.unread.is_some() || self.last.is_some()
    }

    /// Adds the lines that the agent has; whether there are any.
    fn collect(&self, known: &mut HashSet<u64>) -> bool {
        let before = known.len();
        known.extend(self.lines.values().map(|(line, _)| *line));
        for (text, _) in &self.texts {
            known.extend(lines(text).map(hash));
        }
        known.len() > before
    }

    /// Processes the text of the last read.
    fn settle(&mut self) {
        let Some(read) = self.unread.take() else { return };
        let call = read.call;
        let text = cut(read.text(), bare);
        if text.starts_with(UNCHANGED) {
            return;
        }
        self.last = Some(call);
        if !read.marks.is_empty() {
            self.lines.reserve(memchr_iter(b'\n', text.as_bytes()).count().min(MAX_LINES));
        }
        for (number, line) in numbered(&text, read.marks) {
            if self.lines.len() < MAX_LINES {
                self.lines.insert(number, (hash(line), call.index));
            }
        }
        if read.marks.is_empty() {
            if self.texts.len() >= COMPARED {
                self.texts.remove(0);
                self.spans.clear();
            }
            let count = read.span.map(|_| text.lines().count() as u64);
            let is_empty = text.is_empty();
            self.texts.push((text, call));
            if let Some((span, count)) = read.span.zip(count).filter(|_| !is_empty) {
                // If fewer lines than requested were returned, the file has no more.
                let is_all = match span {
                    LineSpan::Lines(1, last) => count < last,
                    LineSpan::Lines(..) => false,
                    LineSpan::End(lines) => count < lines,
                };
                self.spans.push((if is_all { LineSpan::WHOLE } else { span }, call));
            }
        }
    }
}

/// Returns the earlier read that shows all of the text, if there is one.
fn repeats<'s, 'a>(
    session: &'s Session<'a>,
    before: &KnownParts<'s, 'a>,
    read: &SuccessfulRead<'_, '_>,
    text: &str,
) -> Option<&'s SessionCall<'a>> {
    let text = bare(text);
    if text.starts_with(UNCHANGED) {
        return before.last;
    }
    if text.is_empty() {
        // Without a result, only the requested lines can be compared.
        let span = read.span?;
        let asked = before.spans.iter().rev();
        return asked.into_iter().find(|(earlier, _)| earlier.holds(span)).map(|(_, first)| *first);
    }
    if !read.marks.is_empty() {
        let mut oldest = None;
        for (number, line) in numbered(text, read.marks) {
            let (known, index) = before.lines.get(&number)?;
            if *known != hash(line) {
                return None;
            }
            oldest = Some(oldest.map_or(*index, |oldest: usize| oldest.min(*index)));
        }
        return session.call_at(oldest?);
    }
    let is_whole = read.call.lines().is_whole() && !read.is_shell;
    let holds = |earlier: &str| {
        if earlier == text {
            return true;
        }
        if is_whole || text.len() > earlier.len() || text.lines().count() < FEW_LINES {
            return false;
        }
        let bytes = earlier.as_bytes();
        let mut from = 0;
        while let Some(at) = find(earlier, text, from) {
            let end = at + text.len();
            if (at == 0 || bytes.get(at - 1) == Some(&b'\n'))
                && bytes.get(end).is_none_or(|next| matches!(next, b'\n' | b'\r'))
            {
                return true;
            }
            from = end;
        }
        false
    };
    let earlier = before.texts.iter().rev().find(|(earlier, _)| holds(earlier));
    earlier.map(|(_, first)| *first).or_else(|| {
        // Lines that the reading tool showed with numbers.
        let is_numbered = read.is_shell && !before.lines.is_empty();
        let mut known = HashSet::default();
        let is_known = is_numbered && before.collect(&mut known);
        (is_known && holds_lines(&known, text, 0)).then_some(before.last?)
    })
}

/// Forgets files that a call changed or tried to change.
fn forget<'s, 'a>(
    session: &'s Session<'a>,
    call: &'s SessionCall<'a>,
    seen: &mut HashMap<(Option<Cow<'a, str>>, String), KnownParts<'s, 'a>>,
) {
    // A denied call has not touched the file, and says so.
    if call.call.status == Status::Denied {
        return;
    }
    match call.role {
        ToolRole::Writes | ToolRole::Edits => {
            if let Some(path) = call.path.as_deref() {
                for (_, known) in seen.iter_mut().filter(|((_, known), _)| known == path) {
                    *known = KnownParts { last: Some(call), ..KnownParts::default() };
                }
                let agent = call.call.agent.as_ref().map(|agent| agent.get());
                let written = KnownParts { last: Some(call), ..KnownParts::default() };
                seen.entry((agent, path.to_owned())).or_insert(written);
            }
        }
        ToolRole::Patches => {
            let changed: HashSet<String> =
                toolmark_session::files::patched_files(session, call).into_iter().collect();
            seen.retain(|(_, known), _| !changed.is_empty() && !changed.contains(known));
        }
        _ => {}
    }
}

/// Events between two reads that may justify the second.
struct Doubts<'s, 'a> {
    session: &'s Session<'a>,
    /// Commands that may change files, by their index among the events.
    commands: Vec<(usize, Cow<'a, str>)>,
    /// Calls after which every file may have changed, by their index among the events.
    upheavals: Vec<usize>,
    /// Messages of the user that justify another read, by their index among the events;
    /// computed when a repeated read needs a reason.
    requests: OnceCell<Vec<usize>>,
}

impl<'s, 'a> Doubts<'s, 'a> {
    fn new(session: &'s Session<'a>) -> Self {
        let (commands, upheavals) = (Vec::new(), Vec::new());
        Self { session, commands, upheavals, requests: OnceCell::new() }
    }

    fn requests(&self) -> &[usize] {
        self.requests.get_or_init(|| {
            let asks = |text: &toolmark_trace::Payload| asks(&text.plain());
            let events = self.session.events().iter().enumerate();
            let turns = events.filter(|(_, event)| event.starts_turn());
            let requests = turns.filter(|(_, event)| event.text.as_ref().is_some_and(asks));
            requests.map(|(at, _)| at).collect()
        })
    }

    fn note(&mut self, call: &SessionCall<'a>) {
        match call.line() {
            Some(_) if call.only_looks() => {}
            Some(command) => {
                if command.rewrites_many() {
                    self.upheavals.push(call.event);
                }
                self.commands.push((call.event, command.text().clone()));
            }
            // A sub-agent may have been started to change the file.
            None if call.role == ToolRole::Dispatches => self.upheavals.push(call.event),
            None => {}
        }
    }

    /// Whether there is a reason to read the file again.
    fn excuse(&self, first: &SessionCall<'_>, call: &SessionCall<'_>, path: &str) -> bool {
        let is_between = |places: &[usize]| {
            let next = places.get(places.partition_point(|at| *at <= first.event));
            next.is_some_and(|at| *at < call.event)
        };
        if is_between(&self.upheavals) || is_between(self.requests()) {
            return true;
        }
        let name = path.rsplit('/').next().unwrap_or(path);
        let commands = self.commands_after(first).iter().take(MAX_COMMANDS);
        commands.into_iter().any(|(_, command)| command.contains(name))
    }

    /// Whether something may have changed the file.
    fn is_disturbed(&self, first: &SessionCall<'_>, call: &SessionCall<'_>) -> bool {
        first.turn != call.turn || !self.commands_after(first).is_empty()
    }

    fn commands_after(&self, first: &SessionCall<'_>) -> &[(usize, Cow<'a, str>)] {
        let start = self.commands.partition_point(|(at, _)| *at <= first.event);
        self.commands.get(start..).unwrap_or_default()
    }
}

/// Whether the user says that something has changed, or asks to look again.
fn asks(text: &str) -> bool {
    /// Maximum length of the message to examine.
    const MAX_EXAMINED: usize = 2000;
    const WORDS: &[&str] = &[
        "look again",
        "check again",
        "read again",
        "again?",
        "re-read",
        "reread",
        "changed it",
        "i changed",
        "i edited",
        "i modified",
        "i updated",
        "i fixed",
        "i added",
        "i removed",
        "i did",
        "i just",
        "i've",
        "i have",
        "was updated",
        "were updated",
        "has changed",
        "have changed",
    ];
    let start = head(text, MAX_EXAMINED).to_lowercase();
    WORDS.iter().any(|words| start.contains(words))
}

fn found(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    path: &str,
    first: &SessionCall<'_>,
    again: &SessionCall<'_>,
    confidence: Confidence,
) {
    let message = format!("{} was read again with nothing changed in between", session.shown(path));
    let evidence = session.evidence(EvidenceRole::Context, "what it shows was read here", first);
    let draft = Draft::new(again, message).about("the repeat").confidence(confidence);
    recorder.find(draft.evidence(evidence));
}
