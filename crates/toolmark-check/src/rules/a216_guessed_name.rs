//! # What it does
//!
//! Finds edits that use a function, a method, a member, an argument or an export
//! which does not exist, as the next run of a compiler, a checker or an
//! interpreter says, and which nothing in the session had shown or named before:
//! no file that was read, no search, no message. Names that the agent defines
//! itself, before or after, are not reported.
//!
//! # Why
//!
//! A name from memory costs a run and another edit. Often the next guess is as
//! wrong as the first.
//!
//! # What to do
//!
//! Look the name up before it is used: search the library or its
//! documentation, or read the file that defines it.
//!
//! # Examples
//!
//! ```fires
//! Read {"file_path":"/w/a.py"} -> "1\timport lib"
//! Edit {"file_path":"/w/a.py","old_string":"import lib","new_string":"import lib\nlib.open_all()"} -> "ok"
//! Bash {"command":"python a.py"} !1 "Exit code 1\nAttributeError: module 'lib' has no attribute 'open_all'"
//! ```
//!
//! ```fires
//! Write {"file_path":"/w/a.ts","content":"user.fullName()"} -> "ok"
//! Bash {"command":"npx tsc --noEmit"} !2 "Exit code 2\na.ts(1,6): error TS2339: Property 'fullName' does not exist on type 'User'."
//! ```
//!
//! ```fires
//! Edit {"file_path":"/w/a.go","old_string":"x","new_string":"repo.GetHeadCommit()"} -> "ok"
//! Bash {"command":"go build ./... | tail -5"} -> "a.go:1:6: repo.GetHeadCommit undefined (type *Repo has no field or method GetHeadCommit)"
//! ```
//!
//! Something had shown the name:
//!
//! ```quiet
//! Read {"file_path":"/w/b.py"} -> "1\tlib.open_all()"
//! Edit {"file_path":"/w/a.py","old_string":"x","new_string":"lib.open_all()"} -> "ok"
//! Bash {"command":"python a.py"} !1 "AttributeError: module 'lib' has no attribute 'open_all'"
//! ```
//!
//! The test comes before the code:
//!
//! ```quiet
//! Edit {"file_path":"/w/a_test.py","old_string":"x","new_string":"lib.open_all()"} -> "ok"
//! Bash {"command":"pytest"} !1 "AttributeError: module 'lib' has no attribute 'open_all'"
//! Edit {"file_path":"/w/lib.py","old_string":"x","new_string":"def open_all():\n    pass"} -> "ok"
//! ```
//!
//! The agent did not write the name:
//!
//! ```quiet
//! Bash {"command":"python a.py"} !1 "AttributeError: module 'lib' has no attribute 'open_all'"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use foldhash::{HashSet, HashSetExt};
use memchr::memmem;
use std::borrow::Cow;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::words::SearchWords;
use toolmark_trace::EventKind;

pub(crate) static RULE: Rule = Rule {
    code: "A216",
    name: "guessed-name",
    axis: Axis::Arguments,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "uses a name in code that does not exist and that nothing had shown",
    remedy: "look the name up in the library or the file that defines it",
    source: page!("a216_guessed_name.rs"),
    check,
};

/// Maximum number of bytes of an output to examine, from its start.
const MAX_EXAMINED: usize = 16 << 10;
/// Minimum length of a name; shorter ones occur everywhere.
const MIN_NAME: usize = 4;
/// Maximum number of names per session to look for.
const MAX_NAMES: usize = 64;
/// Maximum number of bytes per session to search for names.
const MAX_SEARCHED: usize = 64 << 20;

/// Text before a name that does not exist, and the text after it.
const MESSAGES: &[(&str, &str)] = &[
    ("has no attribute '", "'"),
    ("cannot import name '", "'"),
    ("Property '", "' does not exist on type"),
    ("has no exported member '", "'"),
    ("has no exported member named '", "'"),
    ("does not provide an export named '", "'"),
    ("has no field or method ", ")"),
    ("no method named `", "`"),
    ("no function or associated item named `", "`"),
    ("no variant or associated item named `", "`"),
    ("no field `", "`"),
    ("cannot find function `", "`"),
    ("cannot find method `", "`"),
    ("got an unexpected keyword argument '", "'"),
    ("Object literal may only specify known properties, and '", "'"),
    ("Cannot find member \"", "\""),
    ("Nonexistent function '", "'"),
    ("undefined: ", ""),
];

/// Words without which an output names no such thing. They stand in no file by chance.
static MESSAGE: SearchWords = SearchWords::new(|| {
    SearchWords::searcher(&[
        "has no attribute ",
        "cannot import name ",
        "does not exist on type",
        "has no exported member ",
        "provide an export named ",
        "has no field or method ",
        "named `",
        "no field `",
        "cannot find function `",
        "cannot find method `",
        "unexpected keyword argument ",
        "only specify known properties",
        "Cannot find member ",
        "Nonexistent function ",
        "undefined: ",
    ])
});

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let mut told: HashSet<String> = HashSet::new();
    let mut left = MAX_SEARCHED;
    let mut has_edits = false;
    for call in session.calls() {
        if is_edit(call) {
            recorder.count_opportunity(call);
            has_edits = true;
        }
        let runs = call.line().is_some() && !call.only_looks();
        if !has_edits || !runs || !call.may_say(&MESSAGE) {
            continue;
        }
        let shown = call.result_start(MAX_EXAMINED).unwrap_or_default();
        let mut guesses: Vec<(&str, &SessionCall<'_>)> = Vec::new();
        for name in names(&shown) {
            if told.len() >= MAX_NAMES || !told.insert(name.to_owned()) {
                continue;
            }
            let Some(edit) = introduced(session, call, name) else { continue };
            match is_known(session, call, name, &mut left) {
                None => return,
                Some(true) => {}
                Some(false) => guesses.push((name, edit)),
            }
        }
        let Some((name, edit)) = guesses.first() else { continue };
        let more = match guesses.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let message = format!("uses {name}{more}, which does not exist");
        let answer = session.result_evidence(EvidenceRole::Context, "the run says so", call);
        let others = guesses.iter().skip(1).filter(|(_, other)| other.index != edit.index);
        let draft = Draft::new(edit, message).evidence(answer);
        recorder.find(others.fold(draft, |draft, (name, other)| {
            draft.evidence(session.evidence(
                EvidenceRole::Context,
                format!("{name} is used here"),
                other,
            ))
        }));
    }
}

fn is_edit(call: &SessionCall<'_>) -> bool {
    matches!(call.role, ToolRole::Edits | ToolRole::Writes | ToolRole::Patches)
        && call.ended != Ended::Failed
}

/// Returns the names that an output reports as missing.
fn names(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for (before, after) in MESSAGES {
        for (at, words) in text.match_indices(before) {
            let rest = text.get(at + words.len()..).unwrap_or_default();
            let end = match after.is_empty() {
                true => rest.find(|c: char| c.is_whitespace() || c == ')').unwrap_or(rest.len()),
                false => rest.find(after).unwrap_or(0),
            };
            let name = rest.get(..end).unwrap_or_default();
            // `undefined: git.CreateBranchOptions`
            let name = name.rsplit('.').next().unwrap_or(name);
            let is_name = name.len() >= MIN_NAME
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            if is_name && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// Whether a text contains a name as a whole word.
fn has_name(text: &str, name: &str) -> bool {
    positions(text, name).next().is_some()
}

fn positions<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_part = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let bytes = text.as_bytes();
    memmem::find_iter(bytes, name).filter(move |at| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        !is_part(before) && !is_part(bytes.get(at + name.len()))
    })
}

/// Returns the last edit before a run that brings a name into a file.
fn introduced<'s, 'a>(
    session: &'s Session<'a>,
    run: &SessionCall<'_>,
    name: &str,
) -> Option<&'s SessionCall<'a>> {
    let mut found = None;
    for call in session.calls() {
        let writes = is_edit(call)
            || call.line().is_some_and(|line| line.contains("<<") && !call.only_looks());
        if !writes {
            continue;
        }
        let new = written(call);
        if new.iter().any(|text| defines(text, name)) {
            return None;
        }
        if call.index < run.index && is_edit(call) && new.iter().any(|text| has_name(text, name)) {
            let old = call.edits().iter().any(|edit| has_name(edit.old, name));
            found = if old { found } else { Some(call) };
        }
    }
    found
}

/// Returns the texts that a call writes.
fn written<'c>(call: &'c SessionCall<'_>) -> Vec<Cow<'c, str>> {
    if let Some(patch) = call.patch() {
        let lines = patch.lines().filter(|line| line.starts_with('+'));
        return vec![Cow::Owned(lines.collect::<Vec<_>>().join("\n"))];
    }
    if let Some(line) = call.line() {
        return vec![Cow::Borrowed(&**line.text())];
    }
    match call.content() {
        Some(content) => vec![Cow::Borrowed(content)],
        None => call.edits().iter().map(|edit| Cow::Borrowed(edit.new)).collect(),
    }
}

/// Whether a text defines a name.
fn defines(text: &str, name: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "def",
        "func",
        "fn",
        "function",
        "const",
        "let",
        "var",
        "class",
        "type",
        "struct",
        "enum",
        "interface",
        "trait",
        "static",
        "import",
        "as",
        "async",
        "get",
        "set",
        "val",
        "signal",
    ];
    positions(text, name).any(|at| {
        let before = text.get(..at).unwrap_or_default();
        let trimmed = before.trim_end_matches(' ');
        let word = trimmed.rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        // A method with a receiver, a field of a type, an assigned member.
        let after = text.get(at + name.len()..).unwrap_or_default().trim_start_matches(' ');
        let is_receiver = before.ends_with(") ") && after.starts_with('(');
        let is_set =
            !before.ends_with('.') && after.starts_with([':', '=']) && !after.starts_with("==");
        (before.len() > trimmed.len() && KEYWORDS.contains(&word)) || is_receiver || is_set
    })
}

/// Whether anything before the run, other than the agent's own texts, has the name; `None` if
/// there is too much to search.
fn is_known(
    session: &Session<'_>,
    run: &SessionCall<'_>,
    name: &str,
    left: &mut usize,
) -> Option<bool> {
    let mut search = |text: &str| -> Option<bool> {
        *left = left.checked_sub(text.len())?;
        Some(has_name(text, name))
    };
    for event in session.events().get(..run.event).unwrap_or_default() {
        let has = match event.kind {
            EventKind::Result(index) => match session.call_at(index as usize) {
                // The answer to an edit repeats what the agent wrote.
                Some(call) if is_edit(call) || call.index == run.index => false,
                Some(call) => call.result().map_or(Some(false), |text| search(&text))?,
                None => false,
            },
            EventKind::Call(_) | EventKind::Message | EventKind::Reasoning => false,
            _ => match &event.text {
                Some(text) => search(&text.plain())?,
                None => false,
            },
        };
        if has {
            return Some(true);
        }
    }
    Some(false)
}
