//! # What it does
//!
//! Finds calls that open a file or a directory that does not exist and that
//! nothing earlier in the session names: no prompt, no result, and no call that
//! worked. The name alone is enough, but the same name in another directory is
//! not. What the agent says itself does not count. Shell commands that show or
//! run one path (`ls src/x`, `cat src/x.rs`, `python src/x.py`) count too.
//!
//! A path that omits or mixes up a part of a path that an earlier call got
//! right is reported too. A guess that hits an existing file is not reported.
//! If the missing file is a configuration file that many projects have, the
//! finding has low confidence.
//!
//! # Why
//!
//! A search would have found the file, or shown that it does not exist. Guesses
//! waste steps, and a guessed path that happens to exist is worse: it may be
//! the wrong file.
//!
//! # What to do
//!
//! Search by name or list the directory before opening a file by its path.
//!
//! # Examples
//!
//! ```fires
//! user: fix the login
//! Read {"file_path":"/w/src/auth/login.py"} !> "File does not exist."
//! ```
//!
//! ```fires
//! Glob {"pattern":"src/*.rs"} -> "/w/src/main.rs"
//! Read {"file_path":"/w/src/config.rs"} !> "File does not exist."
//! ```
//!
//! ```fires
//! host: gemini-cli
//! user: what does it depend on?
//! read_file {"file_path":"lib/deps.py"} !> "File not found: /w/lib/deps.py"
//! ```
//!
//! An earlier call had the right path:
//!
//! ```fires
//! user: go on
//! Grep {"pattern":"fn main","path":"/w/cmd/app/cli/run.rs"} -> "12:fn main() {}"
//! Read {"file_path":"/w/cli/run.rs"} !> "File does not exist."
//! ```
//!
//! ```fires
//! user: where is it called?
//! Grep {"pattern":"x","path":"/w/src/commands"} !> "Path does not exist: /w/src/commands"
//! ```
//!
//! The file is known, but from another directory:
//!
//! ```fires
//! user: what is on the start page?
//! Glob {"pattern":"**/*.html"} -> "/w/pages/ui/start.html"
//! Read {"file_path":"/w/pages/start.html"} !> "File does not exist."
//! ```
//!
//! ```fires
//! user: list the commands
//! Bash {"command":"ls src/commands"} !2 "ls: cannot access 'src/commands': No such file or directory"
//! ```
//!
//! ```quiet
//! user: list the commands
//! Bash {"command":"ls src"} -> "commands\nmain.rs"
//! Bash {"command":"ls src/commands src/cli"} !2 "ls: cannot access 'src/cli': No such file or directory"
//! ```
//!
//! The agent looks whether a usual configuration file exists:
//!
//! ```quiet
//! user: format it
//! Read {"file_path":"/w/.prettierrc"} !> "File does not exist."
//! ```
//!
//! ```quiet
//! user: look at src/auth/login.py
//! Read {"file_path":"/w/src/auth/login.py"} !> "File does not exist."
//! ```
//!
//! ```quiet
//! Grep {"pattern":"include"} -> "a.c:1:#include \"conf.h\""
//! Read {"file_path":"/w/conf.h"} !> "File does not exist."
//! ```
//!
//! The file existed before:
//!
//! ```quiet
//! Write {"file_path":"/w/a.txt","content":"x"} -> "ok"
//! Bash {"command":"make clean"} -> ""
//! Read {"file_path":"/w/a.txt"} !> "File does not exist."
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/README.md"} -> "1\tx"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use memchr::memmem;
use std::borrow::Cow;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::error_class::{ErrorClass, classify};
use toolmark_session::path::resolve;
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::words::SearchWords;
use toolmark_trace::EventKind;

pub(crate) static RULE: Rule = Rule {
    code: "A205",
    name: "guessed-path",
    axis: Axis::Arguments,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "opens a file that does not exist, by a path that nothing in the session mentions",
    remedy: "search by name or list the directory first",
    source: page!("a205_guessed_path.rs"),
    check,
};

/// Maximum number of guesses per session to examine.
const MAX_GUESSES: usize = 64;
/// Maximum number of files of the same name to compare.
const COMPARED: usize = 16;
/// Maximum number of bytes per session to search for names.
const SEARCHED: usize = 256 << 20;

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let mut left = SEARCHED;
    let mut guesses = 0;
    // Files that calls have found, by name.
    let mut known: HashMap<&str, Vec<&SessionCall<'_>>> = HashMap::new();
    let mut guessed: HashSet<String> = HashSet::new();
    for (at, call) in session.calls().iter().enumerate() {
        let missing = match call.ended {
            Ended::Ok => {
                if let Some(path) = opened(call) {
                    recorder.count_opportunity(call);
                    known.entry(name_of(path)).or_default().push(call);
                }
                continue;
            }
            Ended::Failed => missing_path(session, call, at),
            Ended::Unknown => None,
        };
        let Some(path) = missing.map(Cow::into_owned) else { continue };
        // The same path once more is a question of recovery.
        if !guessed.insert(path.clone()) {
            continue;
        }
        guesses += 1;
        if guesses > MAX_GUESSES {
            return;
        }
        let right = known.get(name_of(&path)).into_iter().flatten().rev().take(COMPARED);
        let right = right.copied().find(|other| is_mistaken(&path, other));
        match is_named(session, call, &path, &mut left) {
            None => return,
            Some(true) => match right {
                Some(right) => found_mistaken(session, recorder, call, &path, right),
                None => recorder.count_opportunity(call),
            },
            Some(false) => found(session, recorder, call, &path),
        }
    }
}

/// The path that a call of a tool opens.
fn opened<'c>(call: &'c SessionCall<'_>) -> Option<&'c str> {
    let is_open = matches!(
        call.role,
        ToolRole::Reads | ToolRole::Edits | ToolRole::SearchesContent | ToolRole::Lists
    );
    call.path.as_deref().filter(|_| is_open)
}

fn name_of(path: &str) -> &str {
    path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path)
}

/// The path that a failed call did not find.
fn missing_path<'c>(
    session: &Session<'_>,
    call: &'c SessionCall<'_>,
    at: usize,
) -> Option<Cow<'c, str>> {
    if call.line().is_some() {
        let directory = session.directories().get(at)?;
        return missing_operand(call, directory).map(Cow::Owned);
    }
    let path = opened(call)?;
    let is_it = classify(call) == Some(ErrorClass::Missing) && is_missing(call);
    is_it.then_some(Cow::Borrowed(path))
}

/// Programs that only show what they are given, and the number of their operands that are not
/// paths.
const SHOWING: &[(&str, usize)] = &[
    ("ls", 0),
    ("cat", 0),
    ("head", 0),
    ("tail", 0),
    ("nl", 0),
    ("wc", 0),
    ("tree", 0),
    ("sed", 1),
    ("grep", 1),
    ("rg", 1),
];

/// The only path that a command shows or runs, if it does not exist. A command with several
/// paths explores.
fn missing_operand(call: &SessionCall<'_>, directory: &str) -> Option<String> {
    if !call.may_say(&MISSING) {
        return None;
    }
    let (line, text) = (call.line()?, call.result()?);
    let mut directory = Cow::Borrowed(directory);
    for command in &line.simple_commands().commands {
        let (program, words) = command.words.split_first()?;
        if let ("cd", [to]) = (program.as_str(), words) {
            directory = Cow::Owned(resolve(Some(&directory), to));
            continue;
        }
        let passed = SHOWING.iter().find(|(name, _)| name == program).map(|(_, passed)| *passed);
        let mut paths: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
        match passed {
            Some(passed) => drop(paths.drain(..passed.min(paths.len()))),
            // Operands of other programs may be anything.
            None => paths.retain(|word| is_like_path(word)),
        }
        let [path] = paths[..] else { continue };
        let is_plain = !path.contains(['*', '?', '$', '~', '{', '[']);
        let mut found = text.match_indices(path.as_str()).map(|(at, path)| (at, at + path.len()));
        if is_plain && path.len() > 1 && found.any(|(start, end)| is_missed(&text, start, end)) {
            return Some(resolve(Some(&directory), path));
        }
    }
    None
}

/// Words without which no output says that a path is missing.
static MISSING: SearchWords = SearchWords::new(|| {
    SearchWords::searcher(&[
        "o such file or directory",
        "did not match any file",
        "Cannot find module",
    ])
});

fn is_like_path(word: &str) -> bool {
    let name = name_of(word);
    !word.contains([':', '=', ' ', '@', '(']) && (word.contains('/') || is_file_name(name))
}

fn is_file_name(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=5).contains(&ending.len())
            && ending.bytes().all(|b| b.is_ascii_alphanumeric())
            && !ending.bytes().all(|b| b.is_ascii_digit())
    })
}

/// Whether an output says that the path at a position is missing.
fn is_missed(text: &str, start: usize, end: usize) -> bool {
    let after = text.get(end..).unwrap_or_default().trim_start_matches(['\'', '"', '`']);
    let before = text.get(..start).unwrap_or_default();
    let says = [": No such file", ": no such file", ": [Errno 2] No such file"];
    says.iter().any(|words| after.starts_with(words))
        || ["pathspec '", "Cannot find module '", "no such file or directory, open '"]
            .iter()
            .any(|words| before.ends_with(words))
}

/// Whether the file is missing. A host program that cannot be started has the same message.
fn is_missing(call: &SessionCall<'_>) -> bool {
    call.result().is_none_or(|result| !result.contains("spawn"))
}

/// Whether a path is a mistaken form of a path in an earlier call, with a part omitted or
/// mixed up.
fn is_mistaken(path: &str, right: &SessionCall<'_>) -> bool {
    /// Minimum number of equal components: the name and its directory; one of them alone is
    /// common.
    const ALIKE: usize = 2;
    let Some(right) = right.path.as_deref() else { return false };
    let alike = path.rsplit('/').zip(right.rsplit('/')).take_while(|(a, b)| a == b).count();
    path != right && alike >= ALIKE
}

fn found_mistaken(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    call: &SessionCall<'_>,
    path: &str,
    right: &SessionCall<'_>,
) {
    let shown = right.path.as_deref().map_or("", |path| session.shown(path));
    let message = format!("{} is not there; it is {shown}", session.shown(path));
    let answer = session.result_evidence(EvidenceRole::Context, "what the tool answered", call);
    let known = session.evidence(EvidenceRole::Context, "the path was right here", right);
    recorder.find(Draft::new(call, message).evidence(answer).evidence(known));
}

/// Whether the path is a common file at the top of a project.
fn is_usual(session: &Session<'_>, path: &str) -> bool {
    let shown = session.shown(path);
    let ending = shown.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_settings = matches!(
        ending,
        "json" | "yaml" | "yml" | "toml" | "cfg" | "ini" | "md" | "lock" | "xml" | "env" | "rc"
    );
    let is_config = shown.contains("config") || shown.contains("rc.");
    let name = name_of(shown);
    let is_common = ["README", "LICENSE", "CHANGELOG", "CONTRIBUTING", "Makefile", "Dockerfile"];
    if is_common.iter().any(|start| name.starts_with(start)) {
        return true;
    }
    !shown.contains('/') && (shown.starts_with('.') || is_settings || is_config)
}

/// Whether anything that the agent was given before the call names the path; `None` if there is
/// too much to search. What the agent says itself, and calls that failed, prove nothing.
fn is_named(
    session: &Session<'_>,
    call: &SessionCall<'_>,
    path: &str,
    left: &mut usize,
) -> Option<bool> {
    let needle = Needle::new(session.shown(path));
    let mut search = |text: &str, is_prose: bool| -> Option<bool> {
        *left = left.checked_sub(text.len())?;
        Some(needle.is_in(text, is_prose))
    };
    for event in session.events().get(..call.event).unwrap_or_default() {
        // Results are separate events; arguments are searched with the event of the call.
        let has = match event.kind {
            EventKind::Call(index) => {
                let own = session.call_at(index as usize);
                if own.is_some_and(|own| own.ended == Ended::Failed) {
                    continue;
                }
                let one = session.trajectory().calls.get(index as usize)?;
                let args = one.args.as_ref().map(|args| args.raw());
                args.map_or(Some(false), |args| search(&args, false))?
            }
            EventKind::Result(index) => {
                let one = session.trajectory().calls.get(index as usize)?;
                let payload = one.result.as_ref().and_then(|result| result.payload.as_ref());
                match session.call_at(index as usize) {
                    Some(own) if missing_path(session, own, usize::MAX).is_some() => false,
                    Some(own) => own.result().map_or(Some(false), |text| search(&text, false))?,
                    None => {
                        payload.map_or(Some(false), |payload| search(&payload.plain(), false))?
                    }
                }
            }
            EventKind::Message | EventKind::Reasoning => false,
            _ => match &event.text {
                Some(text) => search(&text.plain(), true)?,
                None => false,
            },
        };
        if has {
            return Some(true);
        }
    }
    Some(false)
}

/// Searches for a path: its name alone, or after the name of its directory. The same name in
/// another directory is another file.
struct Needle<'p> {
    finder: memmem::Finder<'p>,
    name: &'p str,
    parent: Option<&'p str>,
}

impl<'p> Needle<'p> {
    fn new(path: &'p str) -> Self {
        let mut parts = path.trim_end_matches('/').rsplit('/').filter(|part| !part.is_empty());
        let name = parts.next().unwrap_or(path);
        Self { finder: memmem::Finder::new(name), name, parent: parts.next() }
    }

    /// Whether a text contains the path. In prose, a common word is not the name of a file.
    fn is_in(&self, text: &str, is_prose: bool) -> bool {
        const SEPARATORS: [char; 2] = ['/', '\\'];
        self.finder.find_iter(text.as_bytes()).any(|at| {
            let before = text.get(..at).unwrap_or_default();
            let after = text.get(at + self.name.len()..).unwrap_or_default();
            // Part of another name.
            let is_inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            if before.ends_with(is_inside) || after.starts_with(is_inside) {
                return false;
            }
            let directory = before.trim_end_matches(SEPARATORS);
            if directory.len() == before.len() || directory.ends_with('.') {
                let is_word = is_prose && !self.name.contains(['.', '_', '-']);
                let is_marked = before.ends_with(['/', '`', '"']) || after.starts_with('/');
                return !is_word || is_marked;
            }
            self.parent.is_none_or(|parent| directory.ends_with(parent))
        })
    }
}

fn found(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    call: &SessionCall<'_>,
    path: &str,
) {
    let message = format!("{} is not there, and nothing had named it", session.shown(path));
    let answer = session.result_evidence(EvidenceRole::Context, "what the tool answered", call);
    // If the start of the session is missing, the path may have been named in it.
    let is_whole = session.events().iter().any(|event| event.starts_turn())
        && session.trajectory().parent.is_none();
    // The file exists under another name.
    let is_near_miss = call.result().is_some_and(|result| result.contains("Did you mean"));
    let is_probe = is_usual(session, path) && !is_near_miss;
    let is_sure = (is_whole || call.index > 0) && !is_probe;
    let confidence = if is_sure { Confidence::Medium } else { Confidence::Low };
    recorder.find(Draft::new(call, message).confidence(confidence).evidence(answer));
}
