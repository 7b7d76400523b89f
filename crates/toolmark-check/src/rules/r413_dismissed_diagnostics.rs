//! # What it does
//!
//! Finds a message that dismisses the diagnostics of an editor or a language
//! server ("unrelated", "pre-existing"), if, with no edit in between, the next
//! build or lint fails, or the work is committed without a build, a lint or a
//! full test run since the last edit.
//!
//! # Why
//!
//! The diagnostics appeared because of an edit that was just made. If they are
//! dismissed and never checked, CI or the user finds them.
//!
//! # What to do
//!
//! Build or lint before calling a diagnostic unrelated. One run settles it.
//!
//! # Examples
//!
//! ```fires
//! Edit {"file_path":"/w/a.go","old_string":"x","new_string":"y"} -> "ok"
//! assistant: The LSP diagnostics are about other symbols; those aren't related to our changes. Let me continue.
//! Bash {"command":"git add a.go"} -> ""
//! Bash {"command":"make lint"} !1 "a.go:3: undefined: f"
//! ```
//!
//! ```fires
//! Edit {"file_path":"/w/a.go","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"go test ./a -run TestOne"} -> "ok"
//! assistant: The test passes. The diagnostics are from other tests unrelated to our change.
//! Bash {"command":"git commit -am x"} -> "[main 1a2b3c] x"
//! ```
//!
//! ```fires
//! Edit {"file_path":"/w/a.ts","old_string":"x","new_string":"y"} -> "ok"
//! assistant: Those diagnostics are pre-existing.
//! Bash {"command":"npx tsc --noEmit"} !2 "a.ts(1,2): error TS2322: no"
//! ```
//!
//! A build confirms it, or the message is not about the origin of the
//! diagnostics:
//!
//! ```quiet
//! Edit {"file_path":"/w/a.go","old_string":"x","new_string":"y"} -> "ok"
//! assistant: The diagnostics are pre-existing.
//! Bash {"command":"make lint"} -> "0 issues"
//! Bash {"command":"git commit -am x"} -> "[main 1a2b3c] x"
//! ```
//!
//! ```quiet
//! Edit {"file_path":"/w/a.go","old_string":"x","new_string":"y"} -> "ok"
//! assistant: The diagnostics are stale; the import is used.
//! Bash {"command":"git commit -am x"} -> "[main 1a2b3c] x"
//! ```
//!
//! ```quiet
//! Edit {"file_path":"/w/a.go","old_string":"x","new_string":"y"} -> "ok"
//! assistant: The diagnostics are unrelated.
//! Edit {"file_path":"/w/b.go","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"make lint"} !1 "b.go:3: undefined: f"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_session::error_class::{ErrorClass, classify};
use toolmark_session::purpose::Purpose;
use toolmark_session::recovery::dismisses_diagnostics;
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::words::SearchWords;
use toolmark_trace::{Event, EventKind};

pub(crate) static RULE: Rule = Rule {
    code: "R413",
    name: "dismissed-diagnostics",
    axis: Axis::Recovery,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "dismisses diagnostics without a build that shows they are unrelated",
    remedy: "build or lint before calling a diagnostic unrelated",
    source: page!("r413_dismissed_diagnostics.rs"),
    check,
};

/// Number of calls after a dismissal in which to look for its consequence.
const REACH: usize = 6;

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let calls = session.calls();
    for (place, event) in session.events().iter().enumerate() {
        if event.kind != EventKind::Message {
            continue;
        }
        let Some(text) = &event.text else { continue };
        // Messages after the last call have no consequence.
        let first = calls.partition_point(|call| call.event < place);
        if first == calls.len() {
            continue;
        }
        if DIAGNOSTICS.may_be_in(text.source().raw()) && dismisses_diagnostics(&text.plain()) {
            follow(session, recorder, event, first);
        }
    }
}

/// Words without which a message does not mention diagnostics.
static DIAGNOSTICS: SearchWords = SearchWords::new(|| {
    SearchWords::any_case(&[
        "diagnostic",
        "lsp",
        "language server",
        "ide error",
        "ide warning",
        "gopls",
    ])
});

/// Follows the consequences of the message `said`, starting at the call `first`.
fn follow(session: &Session<'_>, recorder: &mut Recorder<'_, '_>, said: &Event, first: usize) {
    let calls = session.calls();
    let Some(next) = calls.get(first) else { return };
    recorder.count_opportunity(next);
    if is_checked_before(session, first) {
        return;
    }
    for call in calls.iter().skip(first).take(REACH) {
        if call.turn != next.turn || is_edit(call) {
            return;
        }
        let commits = call.command().is_some_and(|command| command.contains("git commit"));
        let (message, about) = match outcome_of_check(call) {
            Some(true) => return,
            Some(false) => (
                "diagnostics were dismissed as unrelated, and the next check fails",
                "the check that fails",
            ),
            None if commits && call.ended == Ended::Ok => {
                ("diagnostics were dismissed as unrelated and never checked", "the commit")
            }
            None => continue,
        };
        // The failed check may be the fix, so it is named as evidence but not at fault.
        let at_fault = match std::ptr::eq(next, call) && call.ended == Ended::Failed {
            true => first.checked_sub(1).and_then(|before| calls.get(before)).unwrap_or(next),
            false => next,
        };
        let shown = Evidence::words(EvidenceRole::Context, about).at(session.place(&call.call.at));
        recorder.find(
            Draft::new(at_fault, message)
                .about("the call beside it")
                .evidence(session.event_evidence(EvidenceRole::Context, "the dismissal", said))
                .evidence(shown),
        );
        return;
    }
}

fn is_edit(call: &SessionCall<'_>) -> bool {
    matches!(call.role, ToolRole::Edits | ToolRole::Writes | ToolRole::Patches)
}

/// Returns whether a check of everything passed; `None` if the call is not such a check, or
/// fails for a reason that no diagnostic reports.
fn outcome_of_check(call: &SessionCall<'_>) -> Option<bool> {
    /// Messages of compilers, also in the output of tests.
    const COMPILERS: &[&str] =
        &["undefined: ", "[build failed]", "error TS", "error[E", "cannot find ", "typecheck"];
    let command = call.line()?;
    let checks = command.checks();
    let is_narrow_test = command.purpose() == Purpose::Tests && checks.iter().all(|c| is_narrow(c));
    if checks.is_empty() || is_narrow_test {
        return None;
    }
    let does_not_compile =
        || call.result().is_some_and(|text| COMPILERS.iter().any(|words| text.contains(words)));
    match classify(call) {
        Some(ErrorClass::Build) => Some(false),
        Some(ErrorClass::Tests) if does_not_compile() => Some(false),
        Some(_) => None,
        None => Some(true),
    }
}

/// Whether a test run is restricted to named tests.
fn is_narrow(check: &str) -> bool {
    const NAMES: &[&str] = &["-run", "-k", "-t", "--filter", "--grep"];
    check.split_whitespace().any(|word| NAMES.contains(&word) || word.contains("::"))
}

/// Whether everything was checked between the last edit and the dismissal.
fn is_checked_before(session: &Session<'_>, first: usize) -> bool {
    let before = session.calls().get(..first).unwrap_or_default();
    before
        .iter()
        .rev()
        .take_while(|call| !is_edit(call))
        .take(REACH)
        .any(|call| outcome_of_check(call) == Some(true))
}
