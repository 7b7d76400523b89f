//! # What it does
//!
//! Finds calls that are made at least three times in the same way, with the
//! same result each time and nothing changed in between: a single call, or a
//! cycle of several. Calls that differ only in whitespace, case, punctuation or
//! the filters after a pipe are near duplicates, and are reported with low
//! confidence.
//!
//! A build or a test run that is repeated at least three times with nothing
//! changed, each time to see another part of its output, is reported too: the
//! output could have been saved.
//!
//! Polling (waiting, asking for a status, reading from a running command) and
//! paging (another offset, page or cursor) are not loops. Calls whose arguments
//! are not recorded are not compared.
//!
//! # Why
//!
//! A third identical result adds nothing. The agent is stuck, and spends tokens
//! until a limit stops it.
//!
//! # What to do
//!
//! Tell the agent to take another approach after the second identical result.
//! Limit identical calls in the host.
//!
//! # Examples
//!
//! ```fires
//! Grep {"pattern":"frob"} -> "No matches found"
//! Grep {"pattern":"frob"} -> "No matches found"
//! Grep {"pattern":"frob"} -> "No matches found"
//! ```
//!
//! ```fires
//! Bash {"command":"cargo build"} !101 "error[E0308]: mismatched types"
//! Bash {"command":"cargo build"} !101 "error[E0308]: mismatched types"
//! Bash {"command":"cargo build"} !101 "error[E0308]: mismatched types"
//! ```
//!
//! A cycle of two calls:
//!
//! ```fires
//! Read {"file_path":"/w/a"} -> "1\tx"
//! Bash {"command":"make"} !2 "make: *** Error 1"
//! Read {"file_path":"/w/a"} -> "1\tx"
//! Bash {"command":"make"} !2 "make: *** Error 1"
//! Read {"file_path":"/w/a"} -> "1\tx"
//! Bash {"command":"make"} !2 "make: *** Error 1"
//! ```
//!
//! Repeated for another part of the output:
//!
//! ```fires
//! Bash {"command":"npx tsc --noEmit"} !2 "a.ts(1,2): error TS1\nb.ts(1,2): error TS2"
//! Bash {"command":"npx tsc --noEmit 2>&1 | grep a.ts"} -> "a.ts(1,2): error TS1"
//! Bash {"command":"npx tsc --noEmit 2>&1 | grep b.ts"} -> "b.ts(1,2): error TS2"
//! ```
//!
//! ```quiet
//! Bash {"command":"npx tsc --noEmit"} !2 "a.ts(1,2): error TS1"
//! Bash {"command":"npx tsc --noEmit 2>&1 | grep a.ts"} -> "a.ts(1,2): error TS1"
//! Edit {"file_path":"/w/a.ts","old_string":"1","new_string":"2"} -> "ok"
//! Bash {"command":"npx tsc --noEmit 2>&1 | grep b.ts"} -> "b.ts(1,2): error TS2"
//! ```
//!
//! Paging and polling:
//!
//! ```quiet
//! Read {"file_path":"/w/a","offset":1,"limit":9} -> "x"
//! Read {"file_path":"/w/a","offset":10,"limit":9} -> "x"
//! Read {"file_path":"/w/a","offset":19,"limit":9} -> "x"
//! ```
//!
//! ```quiet
//! BashOutput {"bash_id":"1"} -> "running"
//! BashOutput {"bash_id":"1"} -> "running"
//! BashOutput {"bash_id":"1"} -> "running"
//! ```
//!
//! ```quiet
//! Bash {"command":"sleep 30; gh run view 1"} -> "in progress"
//! Bash {"command":"sleep 30; gh run view 1"} -> "in progress"
//! Bash {"command":"sleep 30; gh run view 1"} -> "in progress"
//! ```
//!
//! The result changes, or something changed before the call:
//!
//! ```quiet
//! Bash {"command":"cargo test"} !101 "3 failed"
//! Bash {"command":"cargo test"} !101 "2 failed"
//! Bash {"command":"cargo test"} !101 "1 failed"
//! ```
//!
//! ```quiet
//! Bash {"command":"cargo build"} !101 "error"
//! Edit {"file_path":"/w/a","old_string":"1","new_string":"2"} -> "ok"
//! Bash {"command":"cargo build"} !101 "error"
//! Edit {"file_path":"/w/a","old_string":"2","new_string":"3"} -> "ok"
//! Bash {"command":"cargo build"} !101 "error"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use foldhash::quality::FixedState;
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use std::hash::BuildHasher;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::shell::CommandLine;
use toolmark_trace::EventKind;

pub(crate) static RULE: Rule = Rule {
    code: "R407",
    name: "loop",
    axis: Axis::Recovery,
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "makes the same calls over and over with the same results",
    remedy: "take another approach after the second identical result",
    source: page!("r407_loop.rs"),
    check,
};

/// Minimum number of identical calls in a loop.
const MIN_CALLS: usize = 3;
/// Maximum number of reported loops with which a new one is compared.
const COMPARED: usize = 256;
/// Maximum distance of two calls of one loop.
const APART: usize = 6;

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    if session.calls().len() < MIN_CALLS {
        return;
    }
    // A tool with fewer calls is not in a loop.
    let mut often: HashMap<&str, usize> = HashMap::new();
    session.calls().iter().for_each(|call| *often.entry(&call.tool).or_default() += 1);
    let mut exact = Vec::with_capacity(session.calls().len());
    let mut near = Vec::with_capacity(session.calls().len());
    for (call, key) in session.calls().iter().zip(session.keys()) {
        exact.push(key.text);
        near.push(match call.role {
            ToolRole::RunsShell => key.work,
            // White space and punctuation matter in written text.
            ToolRole::Writes | ToolRole::Edits | ToolRole::Patches => key.text,
            _ if call.call.args.is_none() => key.text,
            _ if often.get(&*call.tool).is_none_or(|calls| *calls < MIN_CALLS) => key.text,
            _ => letters(call),
        });
    }
    let mut told = Vec::new();
    loops(session, recorder, &exact, Confidence::High, &mut told);
    loops(session, recorder, &near, Confidence::Low, &mut told);
    refiltered(session, recorder, &mut told);
}

/// Reports a build or a test run that is repeated with nothing changed, only to show another
/// part of its output.
fn refiltered(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    told: &mut Vec<(usize, usize)>,
) {
    let mut chain: Vec<usize> = Vec::new();
    let mut shown: HashSet<u64> = HashSet::new();
    let mut run = None;
    let (calls, keys) = (session.calls(), session.keys());
    for (at, (call, key)) in calls.iter().zip(keys).enumerate() {
        let this = run_of(call);
        let last = chain.last().and_then(|last| Some((*last, calls.get(*last)?)));
        let is_next = last.is_some_and(|(place, last)| {
            this.is_some()
                && run == this
                && keys.get(place).is_some_and(|of_last| of_last.place == key.place)
                && at - place <= APART
                && last.turn == call.turn
                && last.call.agent == call.call.agent
                && (last.call.step.is_none() || last.call.step != call.call.step)
                && !is_compacted(session, last, call)
        });
        if !is_next && call.only_looks() {
            continue;
        }
        if !is_next {
            found_refiltered(session, recorder, &chain, &shown, told);
            chain.clear();
            shown.clear();
            run = this;
        }
        if run.is_some() {
            chain.push(at);
            shown.insert(key.text);
        }
    }
    found_refiltered(session, recorder, &chain, &shown, told);
}

/// Whether the context was compacted between two calls, so that the agent lost the output of
/// the first.
fn is_compacted(session: &Session<'_>, first: &SessionCall<'_>, second: &SessionCall<'_>) -> bool {
    let between = session.events().get(first.event..second.event).unwrap_or_default();
    between.iter().any(|event| event.kind == EventKind::Compaction)
}

/// Returns the command of a build or a test run, without the filters after its first pipe.
fn run_of(call: &SessionCall<'_>) -> Option<String> {
    let command = call.line()?;
    let run = command.split('|').next()?;
    // Without quotes or brackets, splitting at the first bar is exact.
    let is_plain = !run.bytes().any(|b| matches!(b, b'\'' | b'"' | b'`' | b'('));
    let is_all = run.len() == command.len();
    if (is_all || is_plain) && command.checks().is_empty() {
        return None;
    }
    if !is_all && CommandLine::new(run).checks().is_empty() {
        return None;
    }
    let words: Vec<&str> =
        run.split_whitespace().filter(|word| !matches!(*word, "2>&1" | "2>/dev/null")).collect();
    Some(words.join(" "))
}

fn found_refiltered(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    chain: &[usize],
    shown: &HashSet<u64>,
    told: &mut Vec<(usize, usize)>,
) {
    // The first run and one more look at its output are normal.
    if chain.len() >= MIN_CALLS && shown.len() + 1 >= MIN_CALLS {
        found(session, recorder, chain, Manner::OtherFilter, told);
    }
}

/// Maps letters to lower case, keeps digits and bytes beyond ASCII, and maps everything else
/// to 0.
const LETTERS: [u8; 256] = {
    let mut letters = [0; 256];
    let mut byte = 1;
    while byte < letters.len() {
        let own = byte as u8;
        if own.is_ascii_alphanumeric() || !own.is_ascii() {
            letters[byte] = own.to_ascii_lowercase();
        }
        byte += 1;
    }
    letters
};

/// Hashes the tool and the letters and digits of its arguments.
fn letters(call: &SessionCall<'_>) -> u64 {
    let raw = call.call.args.as_ref().map(|args| args.raw()).unwrap_or_default();
    let mut letters = raw.into_owned().into_bytes();
    let mut kept = 0;
    for at in 0..letters.len() {
        let byte = LETTERS[usize::from(letters[at])];
        letters[kept] = byte;
        kept += usize::from(byte != 0);
    }
    letters.truncate(kept);
    FixedState::default().hash_one((&call.tool, letters))
}

/// Finds chains of calls with the same key. `told` are the ranges, from the first call to the
/// last, of chains that were already reported.
fn loops(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    keys: &[u64],
    confidence: Confidence,
    told: &mut Vec<(usize, usize)>,
) {
    let calls = session.calls();
    // Most sessions have no call with so many repetitions.
    let mut sorted = keys.to_vec();
    sorted.sort_unstable();
    if !sorted.windows(MIN_CALLS).any(|alike| alike.first() == alike.last()) {
        return;
    }
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, key) in keys.iter().enumerate() {
        places.entry(*key).or_default().push(at);
    }
    let often: HashSet<u64> =
        places.iter().filter(|(_, at)| at.len() >= MIN_CALLS).map(|(key, _)| *key).collect();
    // Restores the order of the session.
    for (first, key) in keys.iter().enumerate() {
        let Some(places) =
            places.get(key).filter(|p| p.len() >= MIN_CALLS && p.first() == Some(&first))
        else {
            continue;
        };
        if calls.get(first).is_none_or(polls) {
            continue;
        }
        let mut chain = vec![first];
        let mut cycle = false;
        for at in places.iter().skip(1).copied().map(Some).chain([None]) {
            let link = at
                .zip(chain.last().copied())
                .and_then(|(at, last)| Some((at, linked(calls, keys, &often, last, at)?)));
            if let (Some((at, between)), Some(call)) = (link, at.and_then(|at| calls.get(at))) {
                recorder.count_opportunity(call);
                cycle |= between;
                chain.push(at);
                continue;
            }
            if chain.len() >= MIN_CALLS {
                let manner = match (confidence, cycle) {
                    (Confidence::Low, _) => Manner::Near,
                    (_, true) => Manner::Cycle,
                    (_, false) => Manner::Same,
                };
                found(session, recorder, &chain, manner, told);
            }
            chain.clear();
            chain.extend(at);
            cycle = false;
        }
    }
}

/// Returns whether two calls with the same key are steps of one loop, and whether there are
/// other calls in between.
fn linked(
    calls: &[SessionCall<'_>],
    keys: &[u64],
    often: &HashSet<u64>,
    first: usize,
    again: usize,
) -> Option<bool> {
    let (a, b) = (calls.get(first)?, calls.get(again)?);
    let apart = again - first;
    let made_later = a.call.step.is_none() || a.call.step != b.call.step;
    if apart > APART || a.turn != b.turn || a.call.agent != b.call.agent || !made_later {
        return None;
    }
    let between = calls.get(first + 1..again)?.iter().zip(keys.get(first + 1..again)?);
    for (call, key) in between {
        let changes = call.ended != Ended::Failed && !call.only_looks();
        if changes && !often.contains(key) {
            return None;
        }
    }
    (a.has_result_of(b)? && a.ended == b.ended).then_some(apart > 1)
}

/// Whether the call waits for something.
fn polls(call: &SessionCall<'_>) -> bool {
    match call.role {
        ToolRole::TalksToShell | ToolRole::Plans | ToolRole::AsksUser | ToolRole::Dispatches => {
            true
        }
        ToolRole::RunsShell => call.line().is_none_or(|command| {
            toolmark_shell::commands(command.script()).iter().any(|visit| {
                let word = |n: usize| visit.command.words.get(n).and_then(|w| w.fixed());
                let (name, verb) = (word(0).unwrap_or_default(), word(1).unwrap_or_default());
                matches!(
                    &*name,
                    "sleep"
                        | "wait"
                        | "watch"
                        | "ps"
                        | "pgrep"
                        | "jobs"
                        | "tail"
                        | "top"
                        | "curl"
                        | "ping"
                        | "nc"
                        | "lsof"
                        | "kubectl"
                        | "systemctl"
                        | "date"
                        | "uptime"
                ) || matches!(
                    (&*name, &*verb),
                    ("gh", "run" | "pr" | "api")
                        | ("git", "status" | "fetch")
                        | ("docker", "ps" | "logs" | "compose")
                )
            })
        }),
        _ => {
            let name = call.tool.to_lowercase();
            [
                "status",
                "wait",
                "poll",
                "output",
                "progress",
                "state",
                "health",
                "job",
                "get_result",
                "screenshot",
            ]
            .iter()
            .any(|word| name.contains(word))
        }
    }
}

/// Similarity of the calls of a loop.
#[derive(Clone, Copy)]
enum Manner {
    Same,
    Cycle,
    Near,
    OtherFilter,
}

fn found(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    chain: &[usize],
    manner: Manner,
    told: &mut Vec<(usize, usize)>,
) {
    let (Some(&from), Some(&to)) = (chain.first(), chain.last()) else { return };
    if told.iter().rev().take(COMPARED).any(|(start, end)| from <= end + APART && *start <= to) {
        return;
    }
    told.push((from, to));
    let (Some(first), Some(last)) = (session.calls().get(from), session.calls().get(to)) else {
        return;
    };
    let (what, confidence) = match manner {
        Manner::Same => ("the same call was made", Confidence::High),
        Manner::Cycle => ("the same call, with others in between, was made", Confidence::High),
        Manner::Near => ("nearly the same call was made", Confidence::Low),
        Manner::OtherFilter => ("the same run was made", Confidence::Medium),
    };
    let end = match manner {
        Manner::OtherFilter => "for another part of its output",
        _ => "with the same result",
    };
    let message = format!("{}: {what} {} times {end}", last.tool, chain.len());
    let mut draft = Draft::new(last, message)
        .about("the last time")
        .confidence(confidence)
        .evidence(session.result_evidence(EvidenceRole::Context, "the first time", first));
    for call in
        chain.iter().skip(1).take(chain.len().min(8) - 2).filter_map(|at| session.calls().get(*at))
    {
        draft = draft.evidence(session.evidence(EvidenceRole::Context, "again", call));
    }
    recorder.find(draft);
}
