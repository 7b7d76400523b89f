//! `edit-minimal-scope`: whether an edit is the smallest change that fulfils the request.
//!
//! A203 compares the replaced text with its replacement. It is sure about edits of a few
//! lines, and about those that replace nearly a whole file. Cases in between are questions
//! for a judge:
//!
//! - an edit that copies many more lines than it changes (0.5 by A203): the
//!   lines may be necessary for a unique match, or be an abandoned rewrite;
//! - an edit that changes most of the text it replaces (1 by A203), but replaces
//!   more than half of a longer file, or more than [`SHORT`] lines of a file
//!   that the trace does not show: line counts cannot decide whether all of that
//!   was requested;
//! - a write over a longer file that the trace shows, of which more than a
//!   fifth and less than four fifths of the lines change: too much for S104 to
//!   treat it as an edit, too little for a new file. The rules cannot decide.
//!
//! Failed calls change nothing, and a patch contains only its change and the surrounding
//! lines, so neither is a question.

use super::{Candidate, DoubtKind, Scene};
use crate::diff;
use crate::rules::a203_wide_edit::{FREE, SHORT, Width, measured};
use crate::rules::s104_edit_as_write::SMALL;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::Axis;
use toolmark_session::session::{Ended, Session, SessionCall};

pub(super) static KIND: DoubtKind = DoubtKind {
    rubric: "edit-minimal-scope",
    measure: "judged.edit-minimal-scope",
    axis: Axis::Arguments,
    rules: &["A203", "S104"],
    instead: &[],
    find,
};

fn find(scene: &Scene<'_, '_>, out: &mut Vec<Candidate>) {
    for call in scene.session.calls() {
        match call.role {
            ToolRole::Edits => out.extend(edit(scene, call)),
            ToolRole::Writes => out.extend(write(scene, call)),
            _ => {}
        }
    }
}

fn edit(scene: &Scene<'_, '_>, call: &SessionCall<'_>) -> Option<Candidate> {
    let (width, _) = measured(scene.session, call)?;
    let why = match width {
        Width::Rewrite { .. } => return None,
        Width::Wide(change) => format!(
            "{} of {} lines change and {} are copied; whether they were needed is not in the lines",
            change.lines(),
            change.old.max(change.new),
            change.kept()
        ),
        Width::Minimal => large(scene.session, call)?,
    };
    let finding = scene.finding(call, "A203");
    Some(Candidate { finding, ..Candidate::new(call, Some(width.score()), why) })
}

/// Describes the text that an edit without wasted lines replaces, if it is large.
fn large(session: &Session<'_>, call: &SessionCall<'_>) -> Option<String> {
    let edits = call.edits();
    let [edit] = edits.as_slice() else { return None };
    if edit.all {
        return None;
    }
    let replaced = edit.old.lines().count();
    if replaced <= FREE {
        return None;
    }
    let before = session.files().before(session, call, call.path.as_deref()?);
    match before.content().map(|content| content.lines().count()) {
        Some(lines) if lines > SHORT && replaced.saturating_mul(2) > lines => Some(format!(
            "{replaced} of the {lines} lines of the file are replaced; whether all of it was asked \
             for is not in the lines"
        )),
        Some(_) => None,
        None if replaced > SHORT => Some(format!(
            "{replaced} lines are replaced in a file the trace does not show; it may be most of it"
        )),
        None => None,
    }
}

fn write(scene: &Scene<'_, '_>, call: &SessionCall<'_>) -> Option<Candidate> {
    let (path, content) = (call.path.as_deref()?, call.content()?);
    if call.ended == Ended::Failed {
        return None;
    }
    let before = scene.session.files().before(scene.session, call, path);
    let change = diff::lines(before.content()?, &content.replace("\r\n", "\n"), diff::FARTHEST)?;
    let (lines, old) = (change.lines(), change.old);
    let is_small = lines.saturating_mul(SMALL) <= old;
    let is_new = lines.saturating_mul(SMALL) >= old.saturating_mul(SMALL - 1);
    if old <= SHORT || is_small || is_new {
        return None;
    }
    let why = format!(
        "the file is written as a whole and {lines} of {old} lines change: more than an edit, less \
         than a new file"
    );
    Some(Candidate { finding: scene.finding(call, "S104"), ..Candidate::new(call, None, why) })
}
