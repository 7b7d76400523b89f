//! # What it does
//!
//! Finds patches whose context does not match the file: a hunk expects or
//! removes lines that are not there. The content of the file is reconstructed
//! from earlier calls in the trace. An error message of the host that says so
//! is also enough.
//!
//! # Why
//!
//! The host rejects the whole patch. It means that the agent patches from
//! memory.
//!
//! # What to do
//!
//! Read the lines around the place and copy the context from the result.
//!
//! # Examples
//!
//! ```fires
//! host: codex
//! apply_patch "*** Begin Patch\n*** Update File: a.rs\n@@\n-old\n+new\n*** End Patch" !> "apply_patch verification failed: Failed to find expected lines in /w/a.rs:\nold"
//! ```
//!
//! ```fires
//! host: codex
//! apply_patch "*** Begin Patch\n*** Update File: a.rs\n@@ fn main\n-old\n+new\n*** End Patch" !> "apply_patch verification failed: Failed to find context 'fn main' in /w/a.rs"
//! ```
//!
//! The result does not say whether the patch was applied, but the known content
//! of the file does:
//!
//! ```fires
//! host: codex
//! apply_patch "*** Begin Patch\n*** Add File: a.rs\n+one\n+two\n*** End Patch" -> "ok"
//! apply_patch "*** Begin Patch\n*** Update File: a.rs\n@@\n one\n-three\n+3\n*** End Patch" ?> "done"
//! ```
//!
//! ```quiet
//! host: codex
//! apply_patch "*** Begin Patch\n*** Add File: a.rs\n+one\n+two\n*** End Patch" -> "ok"
//! apply_patch "*** Begin Patch\n*** Update File: a.rs\n@@\n one\n-two\n+2\n*** End Patch" -> "ok"
//! ```
//!
//! The file may have changed since:
//!
//! ```quiet
//! host: codex
//! apply_patch "*** Begin Patch\n*** Add File: a.rs\n+one\n+two\n*** End Patch" -> "ok"
//! shell {"command":["make"]} -> ""
//! apply_patch "*** Begin Patch\n*** Update File: a.rs\n@@\n one\n-three\n+3\n*** End Patch" ?> "done"
//! ```
//!
//! The patch was rejected for another reason:
//!
//! ```quiet
//! host: codex
//! apply_patch "*** Begin Patch\n*** Update File: a.rs\n@@\n-old\n+new\n*** End Patch" !> "patch rejected by user"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::error_class::{ErrorClass, classify};
use toolmark_session::patch::{self, FileChange};
use toolmark_session::path::resolve;
use toolmark_session::session::{Ended, Session, SessionCall};

pub(crate) static RULE: Rule = Rule {
    code: "A206",
    name: "patch-context",
    axis: Axis::Arguments,
    severity: Severity::Error,
    confidence: Confidence::High,
    summary: "the context of a patch is not in the file",
    remedy: "read the lines around the place and copy the context from there",
    source: page!("a206_patch_context.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for call in session.calls().iter().filter(|call| call.role == ToolRole::Patches) {
        match call.ended {
            // The tool itself checked the file.
            Ended::Ok => {
                recorder.count_opportunity(call);
                recorder.measure("patch.context", call, 1.0);
            }
            Ended::Failed if classify(call) == Some(ErrorClass::EditNoMatch) => {
                recorder.measure("patch.context", call, 0.0);
                let said =
                    session.result_evidence(EvidenceRole::Context, "what the tool answered", call);
                let message = "the context of the patch is not in the file";
                recorder.find(Draft::new(call, message).evidence(said));
            }
            Ended::Failed => {}
            Ended::Unknown => unmarked(session, recorder, call),
        }
    }
}

/// Checks a patch without a status against the content of the files.
fn unmarked(session: &Session<'_>, recorder: &mut Recorder<'_, '_>, call: &SessionCall<'_>) {
    let Some(text) = call.patch() else { return };
    let cwd = session.trajectory().cwd.as_ref().map(|cwd| cwd.get());
    let mut is_known = false;
    for file in patch::parse(&text) {
        let FileChange::Update { hunks, .. } = &file.change else { continue };
        let path = resolve(cwd.as_deref(), file.path);
        let before = session.files().before(session, call, &path);
        let Some(content) = before.content() else { continue };
        if patch::apply(content, hunks).is_some() {
            is_known = true;
            continue;
        }
        recorder.measure("patch.context", call, 0.0);
        let message = format!("the context of the patch is not in {}", session.shown(&path));
        let mut draft = Draft::new(call, message).confidence(Confidence::Medium);
        let proof = before.proof.and_then(|index| session.call_at(index));
        if let Some(proof) = proof {
            draft = draft.evidence(session.evidence(
                EvidenceRole::Context,
                "the file as it was then",
                proof,
            ));
        }
        recorder.find(draft);
        return;
    }
    if is_known {
        recorder.count_opportunity(call);
        recorder.measure("patch.context", call, 1.0);
    }
}
