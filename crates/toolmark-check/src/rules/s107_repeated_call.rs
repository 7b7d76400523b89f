//! # What it does
//!
//! Finds searches, listings and read-only commands that are repeated in the
//! same turn with the same result, when nothing in between could have changed
//! it. Tests, builds and checks that gave the same verdict count too, and tools
//! whose name says that they read (`get_product`). Repeated reads of files are
//! reported by S101.
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
//! ```fires
//! Bash {"command":"npm run check | grep Profile"} -> ""
//! Read {"file_path":"/w/a.ts"} -> "1\tx"
//! Bash {"command":"npm run check | grep Profile"} -> ""
//! ```
//!
//! ```fires
//! host: openai
//! get_product {"id":"7"} -> "{\"name\":\"lamp\",\"price\":20}"
//! get_product {"id":"8"} -> "{\"name\":\"desk\",\"price\":90}"
//! get_product {"id":"7"} -> "{\"name\":\"lamp\",\"price\":20}"
//! ```
//!
//! ```quiet
//! host: openai
//! get_order {"id":"7"} -> "{\"status\":\"pending\"}"
//! cancel_order {"id":"7"} -> "ok"
//! get_order {"id":"7"} -> "{\"status\":\"pending\"}"
//! ```
//!
//! The user asked to look again:
//!
//! ```quiet
//! host: openai
//! get_stock {"id":"7"} -> "{\"left\":2}"
//! user: please check that again
//! get_stock {"id":"7"} -> "{\"left\":2}"
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
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::purpose::Purpose;
use toolmark_session::result_kind::result_kind;
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::shell::Simple;
use toolmark_session::shell::stand_in::Deed;
use toolmark_session::tool_effect::ToolEffect;
use toolmark_shell::results::ResultKind;
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
    let mut lookups: HashMap<u64, &SessionCall<'_>> = HashMap::new();
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
        let is_change = may_change(call);
        if call.turn != turn || is_forgotten || is_change {
            earlier.clear();
        }
        // In a new turn the user may have asked to look again.
        if call.turn != turn || is_forgotten || (is_change && !is_lookup(call)) {
            lookups.clear();
        }
        turn = call.turn;
        let (first, is_same) = if is_lookup(call) {
            let first = lookups.insert(key.text, call);
            (first, first.is_some_and(|first| has_same_answer(first, call)))
        } else if is_question(call) {
            let first = earlier.insert(key.work, call);
            (first, first.is_some_and(|first| has_same_answer(first, call)))
        } else if is_check(call) {
            let first = earlier.insert(key.text, call);
            (first, first.is_some_and(|first| has_same_verdict(first, call)))
        } else {
            continue;
        };
        recorder.count_opportunity(call);
        let Some(first) = first.filter(|_| is_same) else { continue };
        if is_other_agent_or_batch(first, call) || is_long_ago(first, call) {
            continue;
        }
        let message = format!("{} was asked for the same again", call.tool);
        let evidence = session.evidence(EvidenceRole::Context, "the answer came here", first);
        recorder.find(Draft::new(call, message).about("the repeat").evidence(evidence));
    }
}

fn is_other_agent_or_batch(first: &SessionCall<'_>, call: &SessionCall<'_>) -> bool {
    first.call.agent != call.call.agent
        || (first.call.step.is_some() && first.call.step == call.call.step)
}

fn has_same_answer(first: &SessionCall<'_>, call: &SessionCall<'_>) -> bool {
    call.ended != Ended::Failed && first.has_result_of(call) == Some(true) && is_answer(call)
}

/// Whether two runs of a check have the same verdict; times and sizes in it may differ.
fn has_same_verdict(first: &SessionCall<'_>, call: &SessionCall<'_>) -> bool {
    if first.has_result_of(call) == Some(true) {
        return true;
    }
    let kind = result_kind(call);
    matches!(kind, ResultKind::Passed | ResultKind::NothingMatched) && result_kind(first) == kind
}

/// Whether the call runs tests, a build or a checker and does nothing else.
fn is_check(call: &SessionCall<'_>) -> bool {
    call.ended == Ended::Ok
        && call.line().is_some_and(|line| {
            let commands = &line.simple_commands().commands;
            let is_only = commands.iter().filter(|command| !passes(command)).count() == 1;
            is_only && matches!(line.purpose(), Purpose::Tests | Purpose::Builds)
        })
}

/// Whether a command only prepares another or selects lines of its output.
fn passes(command: &Simple) -> bool {
    const PASSED: &[&str] = &["cd", "head", "tail", "grep", "echo", "sort", "uniq", "wc"];
    command.words.first().is_none_or(|program| PASSED.contains(&program.as_str()))
}

/// Whether a tool looks something up that does not change by itself.
fn is_lookup(call: &SessionCall<'_>) -> bool {
    /// Words in the names of tools whose answers change by themselves.
    const MOVING: &[&str] = &[
        "status",
        "wait",
        "poll",
        "job",
        "task",
        "progress",
        "log",
        "time",
        "date",
        "snapshot",
        "screenshot",
        "console",
        "page",
        "random",
        "health",
        "process",
        "state",
        "todo",
        "message",
        "event",
        "balance",
        "next",
    ];
    call.tool_effect() == Some(ToolEffect::Read) && {
        let name = call.tool.to_ascii_lowercase();
        !MOVING.iter().any(|word| name.contains(word))
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
    let is_read = || call.tool_effect() == Some(ToolEffect::Read);
    !call.only_looks() && call.role != ToolRole::Plans && !is_read() && !is_check(call)
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
