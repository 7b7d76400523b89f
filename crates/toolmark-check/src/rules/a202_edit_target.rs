//! # What it does
//!
//! Finds edits whose text to replace does not occur in the file, or occurs more
//! than once when the edit does not ask to replace all occurrences. The content
//! of the file is reconstructed from earlier reads, writes and edits in the
//! trace. An error message of the host that says so is also enough.
//!
//! # Why
//!
//! The host rejects such an edit. It usually means that the agent edits from
//! memory: the text dates from before an earlier change, or was never there.
//!
//! # What to do
//!
//! Read the lines around the place before editing, and copy the text from the
//! result. If the text is not unique, include a line above and below.
//!
//! # Examples
//!
//! ```fires
//! Read {"file_path":"/w/a.rs"} -> "1\tlet a = 1;\n2\tlet b = 1;"
//! Edit {"file_path":"/w/a.rs","old_string":"= 1;","new_string":"= 2;"} !> "Found 2 matches of the string to replace, but replace_all is false."
//! ```
//!
//! ```fires
//! Read {"file_path":"/w/a.rs"} -> "1\tlet a = 1;"
//! Edit {"file_path":"/w/a.rs","old_string":"let a = 1;","new_string":"let a = 2;"} -> "ok"
//! Edit {"file_path":"/w/a.rs","old_string":"let a = 1;","new_string":"let a = 3;"} !> "String to replace not found in file."
//! ```
//!
//! The result does not say whether the call succeeded, but the known content of
//! the file does:
//!
//! ```fires
//! Write {"file_path":"/w/a.rs","content":"one\ntwo\n"} -> "ok"
//! Edit {"file_path":"/w/a.rs","old_string":"three","new_string":"four"} ?> "done"
//! ```
//!
//! ```fires
//! host: gemini-cli
//! replace {"file_path":"a.rs","old_string":"x","new_string":"y"} !> "Failed to edit, 0 occurrences found for old_string"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs"} -> "1\tlet a = 1;\n2\tlet b = 1;"
//! Edit {"file_path":"/w/a.rs","old_string":"a = 1;","new_string":"a = 2;"} -> "ok"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs"} -> "1\tone one"
//! Edit {"file_path":"/w/a.rs","old_string":"one","new_string":"two","replace_all":true} -> "ok"
//! ```
//!
//! The edit failed for another reason, which A208 reports:
//!
//! ```quiet
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} !> "File has not been read yet. Read it first before writing to it."
//! ```
//!
//! The file may have changed since it was read:
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs"} -> "1\tone"
//! Bash {"command":"make generate"} -> ""
//! Edit {"file_path":"/w/a.rs","old_string":"two","new_string":"2"} ?> "done"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::error_class::{ErrorClass, classify};
use toolmark_session::files::Occurrences;
use toolmark_session::session::{Ended, Replacement, Session, SessionCall};

pub(crate) static RULE: Rule = Rule {
    code: "A202",
    name: "edit-target",
    axis: Axis::Arguments,
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "the text to replace is missing from the file or occurs more than once",
    remedy: "read the lines around the place and copy enough of them to be unique",
    source: page!("a202_edit_target.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for call in session.calls().iter().filter(|call| call.role == ToolRole::Edits) {
        let Some(path) = call.path.as_deref() else { continue };
        match call.ended {
            // The tool itself checked the file.
            Ended::Ok => {
                recorder.count_opportunity(call);
                recorder.measure("edit.target", call, 1.0);
            }
            Ended::Failed => {
                let class = classify(call);
                let is_fault = |c: &ErrorClass| {
                    matches!(c, ErrorClass::EditNoMatch | ErrorClass::EditAmbiguous)
                };
                if let Some(class) = class.filter(is_fault) {
                    found(session, recorder, path, call, class);
                }
            }
            Ended::Unknown => unmarked(session, recorder, path, call),
        }
    }
}

/// Checks an edit without a status against the content of the file.
fn unmarked(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    path: &str,
    call: &SessionCall<'_>,
) {
    // Later replacements of a call see the result of earlier ones.
    let [edit] = call.edits()[..] else { return };
    match fault(session.files().before(session, call, path).occurrences(edit.old), &edit) {
        Some(Some(class)) => found(session, recorder, path, call, class),
        Some(None) => {
            recorder.count_opportunity(call);
            recorder.measure("edit.target", call, 1.0);
        }
        None => {}
    }
}

/// Returns the fault of a replacement whose text has this many occurrences; `None` if it is
/// unknown.
fn fault(occurrences: Occurrences, edit: &Replacement<'_>) -> Option<Option<ErrorClass>> {
    let is_many = |n: usize| n > 1 && !edit.all && edit.count != Some(n);
    match occurrences {
        _ if edit.old.is_empty() => None,
        Occurrences::Exactly(0) => Some(Some(ErrorClass::EditNoMatch)),
        Occurrences::Exactly(n) => Some(is_many(n).then_some(ErrorClass::EditAmbiguous)),
        Occurrences::AtLeast(n) if is_many(n) && edit.count.is_none() => {
            Some(Some(ErrorClass::EditAmbiguous))
        }
        _ => None,
    }
}

fn found(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    path: &str,
    call: &SessionCall<'_>,
    class: ErrorClass,
) {
    recorder.measure("edit.target", call, 0.0);
    let shown = session.shown(path);
    let snapshot = session.files().before(session, call, path);
    let counted = match call.edits()[..] {
        [edit] => snapshot.occurrences(edit.old),
        _ => Occurrences::Unknown,
    };
    let message = match (class, counted) {
        (ErrorClass::EditAmbiguous, Occurrences::Exactly(n)) if n > 1 => {
            format!("the text to be replaced occurs {n} times in {shown}")
        }
        (ErrorClass::EditAmbiguous, _) => {
            format!("the text to be replaced occurs more than once in {shown}")
        }
        _ => format!("the text to be replaced is not in {shown}"),
    };
    let mut draft = Draft::new(call, message).bucket(class.word());
    if call.ended == Ended::Failed {
        draft = draft.evidence(session.result_evidence(
            EvidenceRole::Context,
            "what the tool answered",
            call,
        ));
    }
    let shows = snapshot.proof.filter(|_| !snapshot.stale);
    let proof = shows.and_then(|index| session.calls().iter().find(|call| call.index == index));
    if let Some(proof) = proof {
        draft = draft.evidence(session.evidence(
            EvidenceRole::Context,
            "the file as it was then",
            proof,
        ));
    }
    recorder.find(draft);
}
