//! # What it does
//!
//! Finds a failed edit whose text was not in the file, or was there more than
//! once, followed within ten calls and without a successful edit by one of
//! these: the whole file is rewritten, with a tool or a command (`cat >`), or
//! lines are changed by their numbers (`sed -i 12d`).
//!
//! A script that makes the same replacement (`sed -i s/a/b/`, a few lines of
//! Python) counts as a recovery. It is reported only with severity `info`,
//! because its changes are not visible. Appending (`>>`) is not reported.
//!
//! # Why
//!
//! The edit failed because the agent did not know the file. Rewriting the file
//! overwrites the parts it did not know, and the difference goes unnoticed.
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
//! After several attempts:
//!
//! ```fires
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} !> "String to replace not found in file."
//! Read {"file_path":"/w/a.rs"} -> "1\tz"
//! Edit {"file_path":"/w/a.rs","old_string":"w","new_string":"y"} !> "String to replace not found in file."
//! Bash {"command":"cat -v a.rs"} -> "z"
//! Write {"file_path":"/w/a.rs","content":"y"} -> "ok"
//! ```
//!
//! Appended, not overwritten:
//!
//! ```quiet
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} !> "String to replace not found in file."
//! Bash {"command":"cat >> /w/a.rs <<'E'\ny\nE"} -> ""
//! ```
//!
//! Another file:
//!
//! ```quiet
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} !> "String to replace not found in file."
//! Write {"file_path":"/w/b.rs","content":"y"} -> "ok"
//! ```
//!
//! The write failed and is repeated after a read:
//!
//! ```quiet
//! Write {"file_path":"/w/a.rs","content":"y"} !> "File has not been read yet."
//! Read {"file_path":"/w/a.rs"} -> "1\tz"
//! Write {"file_path":"/w/a.rs","content":"y"} -> "ok"
//! ```
//!
//! The file to edit does not exist:
//!
//! ```quiet
//! Edit {"file_path":"/w/a.rs","old_string":"","new_string":"y"} !> "File does not exist."
//! Write {"file_path":"/w/a.rs","content":"y"} -> "ok"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_base::SortedMap;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_session::error_class::ErrorClass;
use toolmark_session::recovery::{RecoveryFault, SessionFailure};
use toolmark_session::session::Session;

pub(crate) static RULE: Rule = Rule {
    code: "R405",
    name: "overwrite-after-failed-edit",
    axis: Axis::Recovery,
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "overwrites a file after an edit of it failed",
    remedy: "read the lines around the place and edit again",
    source: page!("r405_overwrite_after_failed_edit.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    // Several failed edits may lead to one such call.
    let mut writes: SortedMap<usize, Vec<&SessionFailure>> = SortedMap::new();
    for failure in session.failures() {
        let Some(edit) = session.calls().get(failure.at) else { continue };
        if edit.role != ToolRole::Edits || edit.path.is_none() || !is_unknown_text(failure.class) {
            continue;
        }
        recorder.count_opportunity(edit);
        let is_told = failure.is_fault(RecoveryFault::Overwrite) || failure.scripted;
        if let Some(by) = failure.by.filter(|_| is_told) {
            writes.entry(by).or_default().push(failure);
        }
    }
    for (by, edits) in writes {
        let (Some(over), Some(last)) = (session.calls().get(by), edits.last()) else { continue };
        let Some(path) = session.calls().get(last.at).and_then(|edit| edit.path.as_deref()) else {
            continue;
        };
        let path = session.shown(path);
        let is_script = last.scripted;
        let message = match is_script {
            true => format!("{path} was changed by a script after an edit of it failed"),
            false => format!("{path} was written over after an edit of it failed"),
        };
        let mut draft = Draft::new(over, message)
            .about(if is_script { "it changes the file" } else { "it writes over the file" })
            .bucket(last.class.word());
        if is_script {
            draft = draft.severity(Severity::Info).remedy("edit with the tool for it");
        }
        for edit in edits.iter().filter_map(|failure| session.calls().get(failure.at)) {
            let words = "the edit that failed";
            let evidence = match is_script {
                // The script recovers from that failure, so it is not a fault itself.
                true => {
                    Evidence::words(EvidenceRole::Context, words).at(session.place(&edit.call.at))
                }
                false => session.result_evidence(EvidenceRole::Context, words, edit),
            };
            draft = draft.evidence(evidence);
        }
        recorder.find(draft);
    }
}

/// Whether the edit failed because the agent did not know the text.
fn is_unknown_text(class: ErrorClass) -> bool {
    matches!(class, ErrorClass::EditNoMatch | ErrorClass::EditAmbiguous)
}
