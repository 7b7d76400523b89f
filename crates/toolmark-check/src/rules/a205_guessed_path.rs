//! # What it does
//!
//! Finds calls that open a file that does not exist and whose name appears
//! nowhere earlier in the session: not in a prompt, a result or the arguments
//! of a call. If the file's name appeared anywhere, the path is not called a
//! guess.
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
use foldhash::{HashMap, HashMapExt};
use memchr::memmem;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::Role;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::error_class::{ErrorClass, classify};
use toolmark_session::session::{Ended, Session, SessionCall};
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
    for call in session.calls() {
        let is_open = matches!(
            call.role,
            ToolRole::Reads | ToolRole::Edits | ToolRole::SearchesContent | ToolRole::Lists
        );
        let Some(path) = call.path.as_deref().filter(|_| is_open) else { continue };
        let Some(name) = path.rsplit('/').find(|part| !part.is_empty()) else { continue };
        match call.ended {
            Ended::Ok => {
                recorder.count_opportunity(call);
                known.entry(name).or_default().push(call);
            }
            Ended::Failed if classify(call) == Some(ErrorClass::Missing) && is_missing(call) => {
                guesses += 1;
                if guesses > MAX_GUESSES {
                    return;
                }
                let right = known.get(name).into_iter().flatten().rev().take(COMPARED);
                let right = right.copied().find(|other| is_mistaken(path, other));
                match is_named(session, call, name, &mut left) {
                    None => return,
                    Some(true) => match right {
                        Some(right) => found_mistaken(session, recorder, call, path, right),
                        None => recorder.count_opportunity(call),
                    },
                    Some(false) => found(session, recorder, call, path),
                }
            }
            _ => {}
        }
    }
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
    let answer = session.result_evidence(Role::Context, "what the tool answered", call);
    let known = session.evidence(Role::Context, "the path was right here", right);
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
    !shown.contains('/') && (shown.starts_with('.') || is_settings || is_config)
}

/// Whether anything before the call contains the name; `None` if there is too much to search.
fn is_named(
    session: &Session<'_>,
    call: &SessionCall<'_>,
    name: &str,
    left: &mut usize,
) -> Option<bool> {
    let finder = memmem::Finder::new(name);
    let mut holds = |text: &str| -> Option<bool> {
        *left = left.checked_sub(text.len())?;
        Some(finder.find(text.as_bytes()).is_some())
    };
    for event in session.events().get(..call.event).unwrap_or_default() {
        // Results are separate events; arguments are searched with the event of the call.
        let has = match event.kind {
            EventKind::Call(index) => {
                let one = session.trajectory().calls.get(index as usize)?;
                let args = one.args.as_ref().map(|args| args.raw());
                args.map_or(Some(false), |args| holds(&args))?
            }
            EventKind::Result(index) => {
                let one = session.trajectory().calls.get(index as usize)?;
                let payload = one.result.as_ref().and_then(|result| result.payload.as_ref());
                match session.call_at(index as usize) {
                    Some(own) => own.result().map_or(Some(false), |text| holds(&text))?,
                    None => payload.map_or(Some(false), |payload| holds(&payload.plain()))?,
                }
            }
            _ => match &event.text {
                Some(text) => holds(&text.plain())?,
                None => false,
            },
        };
        if has {
            return Some(true);
        }
    }
    Some(false)
}

fn found(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    call: &SessionCall<'_>,
    path: &str,
) {
    let message = format!("{} is not there, and nothing had named it", session.shown(path));
    let answer = session.result_evidence(Role::Context, "what the tool answered", call);
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
