//! # What it does
//!
//! Finds searches, listings and read-only commands that are repeated in the
//! same turn with the same result, when nothing in between could have changed
//! it. Repeated reads of files are reported by S101.
//!
//! # Why
//!
//! The result is already in the context. Several such calls are a sign that the
//! agent has lost track.
//!
//! # What to do
//!
//! Work from the earlier result.
//!
//! # Examples
//!
//! ```fires
//! Grep {"pattern":"main","path":"/w"} -> "a.rs:1:fn main() {}"
//! Read {"file_path":"/w/a.rs"} -> "1\tfn main() {}"
//! Grep {"pattern":"main","path":"/w"} -> "a.rs:1:fn main() {}"
//! ```
//!
//! ```fires
//! Bash {"command":"git log --oneline -3"} -> "abc one"
//! Bash {"command":"git log --oneline -3","description":"Once more"} -> "abc one"
//! ```
//!
//! ```fires
//! Glob {"pattern":"**/*.rs"} -> "/w/a.rs"
//! Glob {"pattern":"**/*.rs"} -> "/w/a.rs"
//! ```
//!
//! Something may have changed:
//!
//! ```quiet
//! Bash {"command":"git status --short"} -> " M a.rs"
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"git status --short"} -> " M a.rs"
//! ```
//!
//! ```quiet
//! Grep {"pattern":"main","path":"/w"} -> "a.rs:1:fn main() {}"
//! user: look again
//! Grep {"pattern":"main","path":"/w"} -> "a.rs:1:fn main() {}"
//! ```
//!
//! The result can change by itself:
//!
//! ```quiet
//! Bash {"command":"ps aux | grep server"} -> "1 server"
//! Bash {"command":"ps aux | grep server"} -> "1 server"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use foldhash::{HashMap, HashMapExt};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::Role;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::shell::stand_in::Deed;
use toolmark_trace::EventKind;

pub(crate) static RULE: Rule = Rule {
    code: "S107",
    name: "repeated-call",
    axis: Axis::Selection,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "repeats a call whose result it already has",
    remedy: "work from the earlier result",
    source: page!("s107_repeated_call.rs"),
    check,
};

/// Programs whose output depends on ongoing or remote processes.
const LIVE: &[&str] = &[
    "ps",
    "pgrep",
    "lsof",
    "date",
    "sleep",
    "tail",
    "netstat",
    "ss",
    "top",
    "free",
    "df",
    "du",
    "uptime",
    "jobs",
    "wait",
    "ls-remote",
    "fetch",
    "curl",
    "stat",
    "wc",
    ".log",
    ".out",
    "/tmp",
];

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let mut earlier: HashMap<u64, &SessionCall<'_>> = HashMap::new();
    let mut turn = 0;
    let mut compactions = session
        .events()
        .iter()
        .enumerate()
        .filter(|(_, event)| event.kind == EventKind::Compaction)
        .map(|(at, _)| at)
        .peekable();
    for (call, key) in session.calls().iter().zip(session.keys()) {
        let is_forgotten = compactions.next_if(|at| *at < call.event).is_some();
        if call.turn != turn || is_forgotten || may_change(call) {
            earlier.clear();
            turn = call.turn;
        }
        if !is_question(call) {
            continue;
        }
        recorder.count_opportunity(call);
        let Some(first) = earlier.insert(key.text, call) else { continue };
        let is_same = first.call.agent == call.call.agent
            && !is_long_ago(first, call)
            && first.call.step != call.call.step
            && call.ended == Ended::Ok
            && first.has_result_of(call) == Some(true)
            && is_answer(call);
        if is_same {
            let message = format!("{} was asked for the same again", call.tool);
            let evidence = session.evidence(Role::Context, "the answer came here", first);
            recorder.find(Draft::new(call, message).about("the repeat").evidence(evidence));
        }
    }
}

/// Whether so much time has passed that the answer may have changed for other reasons.
fn is_long_ago(first: &SessionCall<'_>, call: &SessionCall<'_>) -> bool {
    const MINUTES: i64 = 30;
    let (Some(then), Some(now)) = (first.call.started, call.call.started) else { return false };
    now.duration_since(then).as_mins() > MINUTES
}

/// Whether the call may change the results of other calls.
fn may_change(call: &SessionCall<'_>) -> bool {
    !call.only_looks() && call.role != ToolRole::Plans
}

/// Whether the call only reads something that does not change by itself.
fn is_question(call: &SessionCall<'_>) -> bool {
    match call.role {
        ToolRole::SearchesContent | ToolRole::SearchesNames | ToolRole::Lists => true,
        ToolRole::RunsShell => call.line().is_some_and(|command| {
            let is_read = || command.stand_in().is_some_and(|found| found.deed == Deed::Read);
            if !call.only_looks() || is_read() {
                return false;
            }
            let words = command.split(|c: char| !(c.is_alphanumeric() || "-./_".contains(c)));
            let is_live = words.into_iter().any(|word| {
                LIVE.iter().any(|live| match live.starts_with(['.', '/']) {
                    true => word.contains(live),
                    false => word == *live,
                })
            });
            !is_live
        }),
        _ => false,
    }
}

/// Whether the call has a result that is not empty.
fn is_answer(call: &SessionCall<'_>) -> bool {
    call.result().is_some_and(|result| !result.trim().is_empty())
}
