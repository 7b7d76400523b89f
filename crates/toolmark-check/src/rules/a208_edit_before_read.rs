//! # What it does
//!
//! Finds edits and writes that the host rejects because the agent has not read
//! the file: it never read the file with the host's reading tool, or only
//! searched it or printed it in the shell.
//!
//! If the agent had read the file before, or the context was compacted since,
//! the rejection is not the agent's fault and is not reported.
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
//! ```quiet
//! Read {"file_path":"/w/a.rs"} -> "1\tx"
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} -> "ok"
//! ```
//!
//! The file had been read:
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

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use foldhash::{HashSet, HashSetExt};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::Role;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::session::{Ended, Session};
use toolmark_session::text::head;

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

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    /// Maximum number of bytes to search; a refusal is at the start.
    const MAX_EXAMINED: usize = 300;
    let mut known: HashSet<&str> = HashSet::new();
    for call in session.calls() {
        let Some(path) = call.path.as_deref() else { continue };
        match (call.role, call.ended) {
            (ToolRole::Edits | ToolRole::Writes, Ended::Failed) => {
                let result = call.result();
                let start = result.as_deref().map_or("", |result| head(result, MAX_EXAMINED));
                let is_refused = REFUSALS.iter().any(|words| start.contains(words));
                if is_refused && !known.contains(path) {
                    let message = format!("{} was not read before the edit", session.shown(path));
                    let said =
                        session.result_evidence(Role::Context, "what the tool answered", call);
                    recorder.find(Draft::new(call, message).evidence(said));
                }
            }
            (ToolRole::Edits | ToolRole::Writes, _) => {
                recorder.count_opportunity(call);
                known.insert(path);
            }
            (ToolRole::Reads, Ended::Ok) => {
                known.insert(path);
            }
            _ => {}
        }
    }
}
