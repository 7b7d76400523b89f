//! # What it does
//!
//! Finds edits that change nothing: the text to replace and its replacement are
//! identical.
//!
//! # Why
//!
//! Either the host rejects the edit, or it accepts it and the agent believes
//! that something changed. In both cases the intended change is not made.
//!
//! # What to do
//!
//! Compare both texts before the call, and drop planned edits that are no
//! longer needed.
//!
//! # Examples
//!
//! ```fires
//! Edit {"file_path":"/w/a.rs","old_string":"a","new_string":"a"} !> "No changes to make: old_string and new_string are exactly the same."
//! ```
//!
//! ```fires
//! host: copilot-cli
//! edit {"path":"/w/a.rs","old_str":"a\nb","new_str":"a\nb"} ?> "done"
//! ```
//!
//! ```fires
//! MultiEdit {"file_path":"/w/a.rs","edits":[{"old_string":"a","new_string":"a"}]} !> "error"
//! ```
//!
//! ```quiet
//! Edit {"file_path":"/w/a.rs","old_string":"a","new_string":"b"} -> "ok"
//! ```
//!
//! ```quiet
//! Edit {"file_path":"/w/a.rs","old_string":"a","new_string":"a "} -> "ok"
//! ```
//!
//! The other replacements change something:
//!
//! ```quiet
//! MultiEdit {"file_path":"/w/a.rs","edits":[{"old_string":"a","new_string":"a"},{"old_string":"b","new_string":"c"}]} -> "ok"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::session::Session;

pub(crate) static RULE: Rule = Rule {
    code: "A209",
    name: "no-op-edit",
    axis: Axis::Arguments,
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "an edit replaces a text with the same text",
    remedy: "drop the edit, or put the change into the new text",
    source: page!("a209_no_op_edit.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for call in session.calls().iter().filter(|call| call.role == ToolRole::Edits) {
        let edits = call.edits();
        if edits.is_empty() {
            continue;
        }
        recorder.count_opportunity(call);
        // A text that is not there at all was lost on the way, not copied.
        if edits.iter().all(|edit| !edit.old.is_empty() && edit.old == edit.new) {
            let path = call.path.as_deref().map_or("the file", |path| session.shown(path));
            let message = format!("an edit of {path} replaces a text with itself");
            recorder.find(Draft::new(call, message));
        }
    }
}
