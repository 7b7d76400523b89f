//! # What it does
//!
//! Measures how much of an edit is really a change, by comparing the text to
//! replace with its replacement line by line. The score is one of:
//!
//! - 1.0: little more than the lines that change, or than the edit needs to be
//!   unique in the file;
//! - 0.5: many more lines are copied than changed;
//! - 0.0: the edit replaces at least 90 % of the file, a rewrite disguised as
//!   an edit. This needs a file of more than 20 lines whose content is known
//!   from the trace.
//!
//! Ten copied lines, plus one for every changed line, are always allowed. If an
//! edit has several replacements, the worst one counts. The scores are the
//! measure `edit.minimal`.
//!
//! An edit that copies too much is reported only if it copies at least 24 lines
//! that it does not need to be unique, and at least 12 for each place it
//! changes. Several changes close together are fine: separate edits would copy
//! as much.
//!
//! # Why
//!
//! Every copied line costs tokens twice, and the model can change it by
//! mistake. A rewrite disguised as an edit also gets past reviews that only
//! look at which tool was called.
//!
//! # What to do
//!
//! Replace only the lines that change, plus as many around them as it takes to
//! be unique. Use two edits for two changes that are far apart.
//!
//! # Examples
//!
//! One of 25 lines changes:
//!
//! ```fires
//! Edit {"file_path":"/w/a.txt","old_string":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n23\n24\n25","new_string":"1\n2\n3\n4\n5\n6\n7\neight\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n23\n24\n25"} -> "ok"
//! ```
//!
//! The whole file is replaced:
//!
//! ```fires
//! Write {"file_path":"/w/a.txt","content":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n"} -> "ok"
//! Edit {"file_path":"/w/a.txt","old_string":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n","new_string":"a\nb\nc\nd\n"} -> "ok"
//! ```
//!
//! Two changes far apart in one edit:
//!
//! ```fires
//! host: copilot-cli
//! edit {"path":"/w/a.txt","old_str":"a\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n23\n24\n25\n26\n27\n28\n29\nz","new_str":"A\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n23\n24\n25\n26\n27\n28\n29\nZ"} -> "ok"
//! ```
//!
//! Three changes close together; three edits would be no better:
//!
//! ```quiet
//! Edit {"file_path":"/w/a.txt","old_string":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n21\n22\n23\n24","new_string":"1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\ntwelve\n13\n14\n15\n16\n17\n18\nend\n20\n21\n22\n23\n24"} -> "ok"
//! ```
//!
//! A few lines around the change:
//!
//! ```quiet
//! Edit {"file_path":"/w/a.txt","old_string":"1\n2\n3\n4\n5\n6\n7","new_string":"1\n2\n3\nfour\n5\n6\n7"} -> "ok"
//! ```
//!
//! Most of the lines change:
//!
//! ```quiet
//! Edit {"file_path":"/w/a.txt","old_string":"1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12","new_string":"a\nb\nc\nd\ne\nf\ng\nh\ni\n10\n11\n12"} -> "ok"
//! ```
//!
//! Fewer lines would not be unique in the file:
//!
//! ```quiet
//! Write {"file_path":"/w/a.txt","content":"one\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nend\ntwo\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nend\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"} -> "ok"
//! Edit {"file_path":"/w/a.txt","old_string":"two\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nend","new_string":"two\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nx\nEND"} -> "ok"
//! ```
//!
//! A short file may be replaced as a whole:
//!
//! ```quiet
//! Write {"file_path":"/w/a.txt","content":"1\n2\n3\n4\n"} -> "ok"
//! Edit {"file_path":"/w/a.txt","old_string":"1\n2\n3\n4\n","new_string":"a\n2\n3\n4\n"} -> "ok"
//! ```

use crate::diff::{self, TextChange};
use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use std::cell::OnceCell;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::files::{FileSnapshot, count};
use toolmark_session::session::{Ended, Replacement, Session, SessionCall};
use toolmark_session::text::lines;

pub(crate) static RULE: Rule = Rule {
    code: "A203",
    name: "wide-edit",
    axis: Axis::Arguments,
    severity: Severity::Info,
    confidence: Confidence::High,
    summary: "an edit copies many unchanged lines, or replaces the whole file",
    remedy: "replace only the lines that change, and enough around them to be unique",
    source: page!("a203_wide_edit.rs"),
    check,
};

/// Number of lines that may always be copied.
pub(crate) const FREE: usize = 10;
/// Minimum number of copied lines that can be out of proportion to a change.
const MANY_COPIED: usize = 24;
/// Number of copied lines per change that is out of proportion.
const COPIED_PER_PLACE: usize = 12;
/// Number of context lines around a change.
const AROUND: usize = 3;
/// Maximum length of a file that may be replaced as a whole.
pub(crate) const SHORT: usize = 20;

/// Width of an edit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Width {
    Minimal,
    /// The edit copies more than it changes.
    Wide(TextChange),
    /// The edit replaces a large part of a file.
    Rewrite {
        replaced: usize,
        lines: usize,
    },
}

impl Width {
    pub(crate) fn score(self) -> f64 {
        match self {
            Self::Minimal => 1.0,
            Self::Wide(_) => 0.5,
            Self::Rewrite { .. } => 0.0,
        }
    }
}

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for call in session.calls().iter().filter(|call| call.role == ToolRole::Edits) {
        let Some(path) = call.path.as_deref() else { continue };
        let Some((worst, before)) = measured(session, call) else { continue };
        recorder.count_opportunity(call);
        recorder.measure("edit.minimal", call, worst.score());
        found(session, recorder, path, call, worst, before.as_ref());
    }
}

/// Returns the width of an edit, and the file before it if it is relevant; `None` if nothing
/// was replaced.
pub(crate) fn measured(
    session: &Session<'_>,
    call: &SessionCall<'_>,
) -> Option<(Width, Option<FileSnapshot>)> {
    let path = call.path.as_deref()?;
    let edits = call.edits();
    if call.ended == Ended::Failed {
        return None;
    }
    // Determining the file before the second of several replacements is not
    // worth the effort, and is irrelevant for most edits.
    let known = OnceCell::new();
    let before = || -> Option<&FileSnapshot> {
        let file = || session.files().before(session, call, path);
        (edits.len() == 1).then(|| known.get_or_init(file))
    };
    let widths = edits.iter().map(|edit| width(edit, before));
    let worst = widths.min_by(|a, b| a.score().total_cmp(&b.score()))?;
    Some((worst, known.into_inner()))
}

fn width<'b>(edit: &Replacement<'_>, before: impl FnOnce() -> Option<&'b FileSnapshot>) -> Width {
    // Replacing all occurrences cannot be narrower, and an empty old text creates the file.
    if edit.all || edit.old.is_empty() {
        return Width::Minimal;
    }
    // The copied lines are below the free allowance.
    let replaced = lines(edit.old).count();
    if replaced <= FREE {
        return Width::Minimal;
    }
    let rewrites = |lines: usize| replaced.saturating_mul(10) >= lines.saturating_mul(9);
    let change = diff::lines(edit.old, edit.new, replaced - FREE);
    let change = change.filter(|it| it.kept() > FREE + it.removed + it.added);
    // The content of the file only matters for edits of this size.
    let matters = change.is_some() || rewrites(SHORT + 1);
    let content = matters.then(before).flatten().and_then(FileSnapshot::content);
    if let Some(content) = content {
        let of = lines(content).count();
        if of > SHORT && rewrites(of) {
            return Width::Rewrite { replaced, lines: of };
        }
    }
    match change {
        Some(change) if content.is_none_or(|it| would_do(edit.old, change, it)) => {
            Width::Wide(change)
        }
        _ => Width::Minimal,
    }
}

/// Whether the change with a few lines around it would be unique in the file.
fn would_do(old: &str, change: TextChange, content: &str) -> bool {
    let from = change.prefix.saturating_sub(AROUND);
    let to = (change.old - change.suffix + AROUND).min(change.old);
    let part: Vec<&str> = old.lines().skip(from).take(to - from).collect();
    count(content, &part.join("\n")) <= 1
}

/// Whether the edit copies so much that even a separate edit for each change would copy less.
fn is_out_of_proportion(change: TextChange) -> bool {
    let kept = change.kept();
    kept >= MANY_COPIED && kept >= COPIED_PER_PLACE.saturating_mul(change.places)
}

fn found(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    path: &str,
    call: &SessionCall<'_>,
    width: Width,
    before: Option<&FileSnapshot>,
) {
    let shown = session.shown(path);
    let draft = match width {
        Width::Minimal => return,
        Width::Wide(change) if !is_out_of_proportion(change) => return,
        Width::Wide(change) => {
            let message = format!(
                "an edit of {shown} changes {} of {} lines and copies {}",
                change.lines(),
                change.old.max(change.new),
                change.kept()
            );
            let about = format!(
                "{} lines gone, {} new, {} the same at the start and {} at the end",
                change.removed, change.added, change.prefix, change.suffix
            );
            Draft::new(call, message).about(about).bucket("wide")
        }
        Width::Rewrite { replaced, lines } => {
            let message = format!("an edit replaces {replaced} of the {lines} lines of {shown}");
            let draft = Draft::new(call, message).bucket("rewrite");
            draft.remedy("edit the lines that change, or write the file and say so")
        }
    };
    let proof = before.and_then(|before| before.proof).and_then(|index| session.call_at(index));
    let draft = match proof {
        Some(proof) => draft.evidence(session.evidence(
            EvidenceRole::Context,
            "the file as it was then",
            proof,
        )),
        None => draft,
    };
    recorder.find(draft);
}
