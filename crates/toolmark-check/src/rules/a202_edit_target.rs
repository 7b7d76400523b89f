//! # What it does
//!
//! Finds edits whose text to be replaced is not in the file, or is there more
//! than once without saying that all of them are meant. The file is the one the
//! trace proves: what was read, written and edited before. Where the host's
//! answer says it, that is proof enough.
//!
//! # Why
//!
//! Such an edit is refused, and usually it shows that the agent edits from
//! memory: the text is from before an earlier change, or was never there.
//!
//! # What to do
//!
//! Read the lines around the place before the edit and copy the text from the
//! result; take in a line above and below where it is not unique.
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
//! Nothing says whether the call worked, but the file does:
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
//! It failed for another reason, which is another rule's business:
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

use crate::error_class::{ErrorClass, classify};
use crate::files::Occurrences;
use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use crate::session::{Ended, Replacement, Session, SessionCall};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::Role;
use toolmark_outcome::{Axis, Confidence, Severity};

pub(crate) static RULE: Rule = Rule {
    code: "A202",
    name: "edit-target",
    axis: Axis::Arguments,
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "the text to be replaced is not in the file exactly once",
    remedy: "read the lines around the place and copy enough of them to be unique",
    source: page!("a202_edit_target.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for call in session.calls().iter().filter(|call| call.role == ToolRole::Edits) {
        let Some(path) = call.path.as_deref() else { continue };
        match call.ended {
            // The tool itself has looked.
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

/// Nothing says how it ended, so the file must.
fn unmarked(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    path: &str,
    call: &SessionCall<'_>,
) {
    // Later edits of one call see what the earlier ones made.
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

/// What is wrong with a replacement of something that occurs so often; `None`
/// where nobody can tell.
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
        draft =
            draft.evidence(session.result_evidence(Role::Context, "what the tool answered", call));
    }
    let shows = snapshot.proof.filter(|_| !snapshot.stale);
    let proof = shows.and_then(|index| session.calls().iter().find(|call| call.index == index));
    if let Some(proof) = proof {
        draft = draft.evidence(session.evidence(Role::Context, "the file as it was then", proof));
    }
    recorder.find(draft);
}
