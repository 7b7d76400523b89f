//! # What it does
//!
//! Finds files that are rewritten as a whole although only a few lines change.
//! The previous content is known from reads, writes and edits in the session.
//! Both versions are compared line by line, and the finding says how many lines
//! differ.
//!
//! Files of up to 20 lines are not reported: rewriting them costs no more than
//! an edit.
//!
//! # Why
//!
//! An edit says what changes, and fails if the file is not what the agent
//! thinks it is. Rewriting the file costs the tokens of all lines, and lines
//! that were not meant to change can change unnoticed.
//!
//! # What to do
//!
//! Use the editing tool for existing files. Write whole files only if they are
//! new or really rewritten.
//!
//! # Examples
//!
//! ```fires
//! Write {"file_path":"/w/a.txt","content":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n"} -> "ok"
//! Write {"file_path":"/w/a.txt","content":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\nthirteen\n14\n15\n16\n17\n18\n19\n20\n21\n22\n"} -> "ok"
//! ```
//!
//! Nothing changed at all:
//!
//! ```fires
//! Write {"file_path":"/w/a.txt","content":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n"} -> "ok"
//! Write {"file_path":"/w/a.txt","content":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n"} -> "ok"
//! ```
//!
//! ```fires
//! host: gemini-cli
//! write_file {"file_path":"a.txt","content":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n"} -> "ok"
//! replace {"file_path":"a.txt","old_string":"12","new_string":"twelve"} -> "ok"
//! write_file {"file_path":"a.txt","content":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\ntwelve\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n23\n"} -> "ok"
//! ```
//!
//! A short file, a new file, a real rewrite:
//!
//! ```quiet
//! Write {"file_path":"/w/a.txt","content":"1\n2\n3\n"} -> "ok"
//! Write {"file_path":"/w/a.txt","content":"1\n2\n4\n"} -> "ok"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/a.txt"} !> "File does not exist."
//! Write {"file_path":"/w/a.txt","content":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n"} -> "ok"
//! ```
//!
//! ```quiet
//! Write {"file_path":"/w/a.txt","content":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n"} -> "ok"
//! Write {"file_path":"/w/a.txt","content":"a\nb\nc\nd\ne\nf\ng\nh\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n"} -> "ok"
//! ```
//!
//! No editing tool is available:
//!
//! ```quiet
//! tools: Write, Read
//! Write {"file_path":"/w/a.txt","content":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n"} -> "ok"
//! Write {"file_path":"/w/a.txt","content":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n23\n"} -> "ok"
//! ```

use crate::diff;
use crate::offered_tools::offered;
use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::files::FileKnowledge;
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::text::lines;

pub(crate) static RULE: Rule = Rule {
    code: "S104",
    name: "edit-as-write",
    axis: Axis::Selection,
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "rewrites a whole file to change a few lines",
    remedy: "edit only the lines that change",
    source: page!("s104_edit_as_write.rs"),
    check,
};

/// Maximum length of a file that is rewritten as quickly as it is edited.
pub(crate) const SHORT: usize = 20;
/// Reciprocal of the maximum share of lines in a small change: a fifth.
pub(crate) const SMALL: usize = 5;

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let mut editor = None;
    for call in session.calls().iter().filter(|call| call.role == ToolRole::Writes) {
        let (Some(path), Some(content)) = (call.path.as_deref(), call.content()) else { continue };
        if call.ended == Ended::Failed {
            continue;
        }
        let editor =
            editor.get_or_insert_with(|| offered(session, &[ToolRole::Edits, ToolRole::Patches]));
        let Some(editor) = editor else { return };
        let before = session.files().before(session, call, path);
        let FileKnowledge::Whole(known) = &before.known else {
            let is_absent = before.known == FileKnowledge::Absent && !before.stale;
            if is_absent || says_new(call) {
                recorder.count_opportunity(call);
            }
            continue;
        };
        if !before.stale {
            recorder.count_opportunity(call);
        }
        // A larger change is never small.
        let farthest = 2 * (lines(known).count() / SMALL);
        let change = diff::lines(known, &content.replace("\r\n", "\n"), farthest);
        let Some(change) = change else { continue };
        let is_small = change.old > SHORT && change.lines().saturating_mul(SMALL) <= change.old;
        if !is_small {
            continue;
        }
        let shown = session.shown(path);
        let message = match change.lines() {
            0 => format!("{shown} was written as a whole with no line of {} changed", change.old),
            lines => {
                format!("{shown} was written as a whole to change {lines} of {} lines", change.old)
            }
        };
        let confidence = match (before.stale, editor.is_proven) {
            // The write may revert other changes to the rest of the file.
            (true, _) => Confidence::Low,
            (false, true) => Confidence::High,
            (false, false) => Confidence::Medium,
        };
        let about = format!("{} lines gone, {} lines new", change.removed, change.added);
        let mut draft = Draft::new(call, message)
            .confidence(confidence)
            .about(about)
            .remedy(format!("call {} for the lines that change", editor.name));
        let proof = before.proof.and_then(|index| session.call_at(index));
        if let Some(proof) = proof {
            draft = draft.evidence(session.evidence(
                EvidenceRole::Context,
                "the file as it was then",
                proof,
            ));
        }
        recorder.find(draft);
    }
}

/// Whether the host reports that the file did not exist before.
fn says_new(call: &SessionCall<'_>) -> bool {
    /// Maximum number of bytes to search; the report is at the start.
    const MAX_EXAMINED: usize = 120;
    let Some(result) = call.result().filter(|_| call.ended == Ended::Ok) else { return false };
    let start = result.char_indices().nth(MAX_EXAMINED).map_or(result.len(), |(at, _)| at);
    result.get(..start).is_some_and(|words| words.to_ascii_lowercase().contains("created"))
}
