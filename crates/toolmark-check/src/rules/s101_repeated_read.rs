//! # What it does
//!
//! Finds reads of a file whose content the agent already has: the same file and
//! the same lines (or lines of a file it has read whole), with the same result,
//! and nothing in between that could have changed the file or made the agent
//! forget it.
//!
//! # Why
//!
//! Every repeat costs a step and pays again for every token of the file. A run
//! of them is a sign that the agent lost its thread.
//!
//! # What to do
//!
//! Work from the earlier result. If files are read over and over, say in the
//! instructions that a file needs to be read again only after it has changed.
//!
//! # Examples
//!
//! ```fires
//! Read {"file_path":"/w/a.rs"} -> "1\tfn main() {}"
//! Grep {"pattern":"main"} -> "a.rs"
//! Read {"file_path":"/w/a.rs"} -> "1\tfn main() {}"
//! ```
//!
//! A command that only looks changes nothing, and a path may be written in many ways:
//!
//! ```fires
//! Read {"file_path":"/w/src/a.rs","offset":10,"limit":1} -> "10\tx"
//! Bash {"command":"git status && ls"} -> "clean"
//! Read {"file_path":"src/a.rs","offset":10,"limit":1} -> "10\tx"
//! ```
//!
//! The lines were in the first result already:
//!
//! ```fires
//! Read {"file_path":"/w/a.rs"} -> "1\tone\n2\ttwo\n3\tthree"
//! Read {"file_path":"/w/a.rs","offset":2,"limit":1} -> "2\ttwo"
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
//! The file was changed in between, or may have been:
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs"} -> "1\tone"
//! Edit {"file_path":"/w/a.rs","old_string":"one","new_string":"two"} -> "ok"
//! Read {"file_path":"/w/a.rs"} -> "1\ttwo"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs"} -> "1\tone"
//! Bash {"command":"cargo fmt"} -> ""
//! Read {"file_path":"/w/a.rs"} -> "1\tone"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs"} -> "1\tone"
//! user: I have changed it, look again
//! Read {"file_path":"/w/a.rs"} -> "1\tone"
//! ```
//!
//! The agent no longer has it, or never had:
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
use crate::session::{Ended, Session, SessionCall};
use std::collections::HashMap;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::Role;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_trace::EventKind;

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

/// Reads of one file are compared with so many before them.
const COMPARED: usize = 16;

/// What a host answers where it knows that nothing has changed.
const UNCHANGED: &str = "File unchanged since last read";

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let forgotten: Vec<usize> = session
        .events()
        .iter()
        .enumerate()
        .filter(|(_, event)| event.kind == EventKind::Compaction)
        .map(|(at, _)| at)
        .collect();
    let mut earlier: HashMap<&str, Vec<&SessionCall<'_>>> = HashMap::new();
    for call in session.calls() {
        let Some(path) = call.path.as_deref() else {
            if call.role == ToolRole::Patches {
                // Which files it changed is not worth the effort.
                earlier.clear();
            }
            continue;
        };
        match call.role {
            ToolRole::Reads if call.ended == Ended::Ok => {
                recorder.count_opportunity(call);
                let before = earlier.entry(path).or_default();
                let seen = before.iter().rev().take(COMPARED).find(|first| {
                    !lies_between(&forgotten, first.event, call.event)
                        && repeats(session, first, call)
                });
                match seen {
                    Some(first) => found(session, recorder, path, first, call),
                    None => before.push(call),
                }
            }
            ToolRole::Writes | ToolRole::Edits if call.ended != Ended::Failed => {
                earlier.remove(path);
            }
            _ => {}
        }
    }
}

fn lies_between(places: &[usize], from: usize, to: usize) -> bool {
    places.get(places.partition_point(|place| *place <= from)).is_some_and(|place| *place < to)
}

fn repeats(session: &Session<'_>, first: &SessionCall<'_>, again: &SessionCall<'_>) -> bool {
    // A sub-agent does not have what another has read.
    let same_agent = first.call.agent == again.call.agent;
    let (Some(then), Some(now)) = (first.result(), again.result()) else { return false };
    if !same_agent || now.is_empty() {
        return false;
    }
    if now.starts_with(UNCHANGED) {
        return first.lines() == again.lines();
    }
    let disturbed =
        first.turn != again.turn || session.files().is_disturbed(first.index, again.index);
    if disturbed {
        return false;
    }
    if first.lines() == again.lines() {
        return bare(&then) == bare(&now);
    }
    // Numbered lines can be told apart; others may be like lines elsewhere.
    let is_numbered = again.spec.is_some_and(|spec| !spec.line_marks.is_empty());
    is_numbered && first.lines().is_whole() && bare(&then).contains(bare(&now))
}

/// The result without what the host adds to it.
fn bare(result: &str) -> &str {
    result.split("<system-reminder>").next().unwrap_or(result).trim_end()
}

fn found(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    path: &str,
    first: &SessionCall<'_>,
    again: &SessionCall<'_>,
) {
    let message = format!("{} was read again with nothing changed in between", session.shown(path));
    let evidence = session.evidence(Role::Context, "what it shows was read here", first);
    recorder.find(Draft::new(again, message).about("the repeat").evidence(evidence));
}
