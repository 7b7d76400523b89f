//! # What it does
//!
//! Finds an edit that failed and after which, instead of another edit, the whole
//! file is written anew, or a command writes over it (`cat >`, `sed -i`).
//!
//! # Why
//!
//! The edit failed because the agent did not know the file. Writing all of it
//! anew replaces what it did not know, and nobody sees the difference.
//!
//! # What to do
//!
//! Read the lines around the place and edit again, with text copied from them.
//!
//! # Examples
//!
//! ```fires
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} !> "String to replace not found in file."
//! Write {"file_path":"/w/a.rs","content":"y"} -> "ok"
//! ```
//!
//! ```fires
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} !> "Found 3 matches of the string to replace, but replace_all is false."
//! Bash {"command":"sed -i 's/x/y/' a.rs"} -> ""
//! ```
//!
//! ```fires
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} !> "String to replace not found in file."
//! Bash {"command":"cat > /w/a.rs <<'E'\ny\nE"} -> ""
//! ```
//!
//! ```quiet
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} !> "String to replace not found in file."
//! Read {"file_path":"/w/a.rs"} -> "1\tz"
//! Edit {"file_path":"/w/a.rs","old_string":"z","new_string":"y"} -> "ok"
//! ```
//!
//! Another file:
//!
//! ```quiet
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} !> "String to replace not found in file."
//! Write {"file_path":"/w/b.rs","content":"y"} -> "ok"
//! ```
//!
//! The write failed, and is made again after a read:
//!
//! ```quiet
//! Write {"file_path":"/w/a.rs","content":"y"} !> "File has not been read yet."
//! Read {"file_path":"/w/a.rs"} -> "1\tz"
//! Write {"file_path":"/w/a.rs","content":"y"} -> "ok"
//! ```
//!
//! There is no such file to edit:
//!
//! ```quiet
//! Edit {"file_path":"/w/a.rs","old_string":"","new_string":"y"} !> "File does not exist."
//! Write {"file_path":"/w/a.rs","content":"y"} -> "ok"
//! ```

use crate::error_class::ErrorClass;
use crate::recorder::{Draft, Recorder};
use crate::recovery::Verdict;
use crate::rule::{Rule, page};
use crate::session::Session;
use std::collections::BTreeSet;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::Role;
use toolmark_outcome::{Axis, Confidence, Severity};

pub(crate) static RULE: Rule = Rule {
    code: "R405",
    name: "overwrite-after-failed-edit",
    axis: Axis::Recovery,
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "writes over a file whose edit failed",
    remedy: "read the lines around the place and edit again",
    source: page!("r405_overwrite_after_failed_edit.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    // Several failures may lead to one such call.
    let mut told = BTreeSet::new();
    for failure in session.failures() {
        let is_edit = matches!(
            failure.class,
            ErrorClass::EditNoMatch
                | ErrorClass::EditAmbiguous
                | ErrorClass::EditStale
                | ErrorClass::EditNoop
        );
        let Some(edit) = session.calls().get(failure.at) else { continue };
        let (true, Some(path), ToolRole::Edits) = (is_edit, edit.path.as_deref(), edit.role) else {
            continue;
        };
        recorder.count_opportunity(edit);
        let Some(over) = failure.by.and_then(|by| session.calls().get(by)) else { continue };
        let is_write = matches!(over.role, ToolRole::Writes | ToolRole::RunsShell);
        if failure.verdict != Verdict::Failed || !is_write || !told.insert(over.index) {
            continue;
        }
        let message =
            format!("{} was written over after an edit of it failed", session.shown(path));
        recorder.find(
            Draft::new(over, message)
                .about("it writes over the file")
                .bucket(failure.class.word())
                .evidence(session.result_evidence(Role::Context, "the edit that failed", edit)),
        );
    }
}
