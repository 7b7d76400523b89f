//! # What it does
//!
//! Finds edits and writes that the host rejects because the agent has not read
//! the file: it never read the file with the host's reading tool, or only
//! searched it or printed it in the shell.
//!
//! An edit of a file that has changed since the agent read it counts too, if the
//! agent ran a command or an edit in between that may have changed it, or sends
//! the rejected edit again without reading the file.
//!
//! On hosts that reject nothing, a tool that says that it overwrote a file is
//! reported if the session has neither read the file nor run a command before.
//!
//! If the context was compacted since the agent read the file, or only another
//! process can have changed it, the first rejection has low confidence.
//!
//! # Why
//!
//! The step is wasted, and the text to replace comes from a search result or
//! from memory. The next call is usually the read that should have come first.
//!
//! # What to do
//!
//! Read the lines around the place before the first edit of a file.
//!
//! # Examples
//!
//! ```fires
//! Grep {"pattern":"x"} -> "a.rs:1:x"
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} !> "File has not been read yet. Read it first before writing to it."
//! ```
//!
//! ```fires
//! Bash {"command":"head -20 package.json"} -> "{}"
//! Edit {"file_path":"/w/package.json","old_string":"{}","new_string":"{ }"} !> "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
//! ```
//!
//! ```fires
//! Write {"file_path":"/w/notes.md","content":"x"} !> "File has not been read yet. Read it first before writing to it."
//! ```
//!
//! A command has changed the file:
//!
//! ```fires
//! Read {"file_path":"/w/a.rs"} -> "1\tx"
//! Bash {"command":"cargo fmt"} -> ""
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} !> "File has been modified since read, either by the user or by a linter."
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs"} -> "1\tx"
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} -> "ok"
//! ```
//!
//! The file had been read, and the agent no longer has it:
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs"} -> "1\tx"
//! compaction
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} !> "File has not been read yet. Read it first before writing to it."
//! ```
//!
//! Another process changed the file:
//!
//! ```quiet
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} !> "File has been modified since read, either by the user or by a linter."
//! ```

//! A tool that replaces a file which was never read:
//!
//! ```fires
//! host: gemini-cli
//! user: describe the project in the README
//! write_file {"file_path":"/w/README.md","content":"x"} -> "Successfully overwrote file: /w/README.md."
//! ```
//!
//! ```quiet
//! host: gemini-cli
//! user: write the README again
//! read_file {"file_path":"/w/README.md"} -> "old"
//! write_file {"file_path":"/w/README.md","content":"x"} -> "Successfully overwrote file: /w/README.md."
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use foldhash::{HashMap, HashMapExt};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::error_class::{ErrorClass, classify};
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::text::head;
use toolmark_trace::EventKind;

pub(crate) static RULE: Rule = Rule {
    code: "A208",
    name: "edit-before-read",
    axis: Axis::Arguments,
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "edits a file before reading it",
    remedy: "read the lines around the place before the first edit of a file",
    source: page!("a208_edit_before_read.rs"),
    check,
};

/// Phrases with which hosts report that a file was not read.
const REFUSALS: &[&str] = &["has not been read yet", "must read file", "must read the file"];
/// Phrases with which hosts report that a file has changed since it was read.
const CHANGES: &[&str] = &["modified since read", "unexpectedly modified"];

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let mut files: HashMap<&str, FileState> = HashMap::new();
    for call in session.calls() {
        let Some(path) = call.path.as_deref() else { continue };
        match (call.role, call.ended) {
            // Some traces have no status, but the text of the refusal.
            (ToolRole::Edits | ToolRole::Writes, ended)
                if ended == Ended::Failed || classify(call) == Some(ErrorClass::EditStale) =>
            {
                let file = files.entry(path).or_default();
                refused(session, recorder, call, path, file);
            }
            (ToolRole::Edits | ToolRole::Writes, _) => {
                recorder.count_opportunity(call);
                let file = files.entry(path).or_default();
                if file.seen.is_none() && is_overwritten(call) && !is_shown(session, call, path) {
                    overwritten(session, recorder, call, path);
                }
                file.known(call);
            }
            (ToolRole::Reads, Ended::Ok) => files.entry(path).or_default().known(call),
            _ => {}
        }
    }
}

/// A file as the agent has it.
#[derive(Default)]
struct FileState {
    /// Call that last showed or wrote it.
    seen: Option<usize>,
    /// Response whose edit was refused last.
    refused: Option<Option<u32>>,
}

impl FileState {
    fn known(&mut self, call: &SessionCall<'_>) {
        *self = Self { seen: Some(call.index), refused: None };
    }
}

/// Whether the tool says that it replaced a file that was there.
fn is_overwritten(call: &SessionCall<'_>) -> bool {
    /// Maximum number of bytes to search; the statement is at the start.
    const MAX_EXAMINED: usize = 200;
    const WORDS: &[&str] = &["overwrote", "overwritten", "Overwrote", "Overwritten"];
    call.role == ToolRole::Writes
        && call.ended == Ended::Ok
        && call
            .result_start(MAX_EXAMINED)
            .is_some_and(|start| WORDS.iter().any(|word| start.contains(word)))
}

/// Whether a command before may have made or shown the file.
fn is_shown(session: &Session<'_>, call: &SessionCall<'_>, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    session.before(call).any(|other| match other.line() {
        Some(line) => !other.only_looks() || line.contains(name),
        None => other.role == ToolRole::Dispatches,
    })
}

fn overwritten(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    call: &SessionCall<'_>,
    path: &str,
) {
    // If the start of the session is missing, the file may have been read in it.
    let is_whole = session.events().iter().any(|event| event.starts_turn());
    let message = format!("{} was replaced without having been read", session.shown(path));
    let said = session.result_evidence(EvidenceRole::Context, "what the tool answered", call);
    let confidence = if is_whole { Confidence::Medium } else { Confidence::Low };
    recorder.find(Draft::new(call, message).confidence(confidence).evidence(said));
}

fn refused(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    call: &SessionCall<'_>,
    path: &str,
    file: &mut FileState,
) {
    /// Maximum number of bytes to search; a refusal is at the start.
    const MAX_EXAMINED: usize = 300;
    let result = call.result();
    let start = result.as_deref().map_or("", |result| head(result, MAX_EXAMINED));
    let says = |phrases: &[&str]| phrases.iter().any(|words| start.contains(words));
    let shown = session.shown(path);
    let before = file.refused.replace(call.call.step);
    // Calls of one response are made before the first of them is refused.
    let is_batch = call.call.step.is_some() && before == Some(call.call.step);
    let seen = file.seen.and_then(|seen| session.call_at(seen));
    let (message, confidence) = if says(REFUSALS) {
        let is_forgotten = |seen: &SessionCall<'_>| {
            let between = session.events().get(seen.event..call.event).unwrap_or_default();
            between.iter().any(|event| event.kind == EventKind::Compaction)
        };
        let confidence = match seen {
            None => Confidence::High,
            Some(seen) if is_forgotten(seen) => Confidence::Low,
            Some(_) => Confidence::Medium,
        };
        (format!("{shown} was not read before the edit"), confidence)
    } else if says(CHANGES) {
        // A hook or a person may have changed it, which the agent learns by the refusal.
        let is_own = seen.is_some_and(|seen| session.files().is_disturbed(seen.index, call.index));
        let confidence = match is_own || before.is_some() {
            true => Confidence::Medium,
            false => Confidence::Low,
        };
        (format!("{shown} was not read again before the edit, and has changed"), confidence)
    } else {
        file.refused = before;
        return;
    };
    if !is_batch {
        let said = session.result_evidence(EvidenceRole::Context, "what the tool answered", call);
        recorder.find(Draft::new(call, message).confidence(confidence).evidence(said));
    }
}
