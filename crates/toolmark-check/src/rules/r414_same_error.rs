//! # What it does
//!
//! Finds a tool that gives the same error three times, with nothing changed in
//! between: the arguments differ, the error does not. For shell commands, it is
//! the same error of the same program.
//!
//! Tests, builds and searches are not reported, because their errors are
//! results. Neither are network errors and what the user refused.
//!
//! # Why
//!
//! The second identical error says that the arguments are not what is wrong, or
//! that the next guess is as good as the last. Every further attempt costs a
//! call and brings nothing new.
//!
//! # What to do
//!
//! After the second identical error, look up what the error asks for: list the
//! valid values, read the documentation or the file, or ask the user.
//!
//! # Examples
//!
//! ```fires
//! host: openai
//! move_booking {"booking":"71","room":"12"} ?> "Error: room 12 does not belong to this hotel"
//! move_booking {"booking":"71","room":"14"} ?> "Error: room 14 does not belong to this hotel"
//! move_booking {"booking":"71","room":"21"} ?> "Error: room 21 does not belong to this hotel"
//! ```
//!
//! ```fires
//! Edit {"file_path":"/w/a.md","old_string":"one","new_string":"1"} !> "String to replace not found in file."
//! Read {"file_path":"/w/b.md"} -> "1\tx"
//! Edit {"file_path":"/w/a.md","old_string":"one ","new_string":"1"} !> "String to replace not found in file."
//! Edit {"file_path":"/w/a.md","old_string":" one","new_string":"1"} !> "String to replace not found in file."
//! ```
//!
//! ```fires
//! Bash {"command":"kubectl get pods -n web"} !1 "error: no context exists with the name: \"staging\""
//! Bash {"command":"kubectl get services -n web"} !1 "error: no context exists with the name: \"staging\""
//! Bash {"command":"kubectl get deployments -n web"} !1 "error: no context exists with the name: \"staging\""
//! ```
//!
//! Something was changed in between:
//!
//! ```quiet
//! host: openai
//! move_booking {"booking":"71","room":"12"} ?> "Error: room 12 does not belong to this hotel"
//! update_booking {"booking":"71","hotel":"5"} ?> "ok"
//! move_booking {"booking":"71","room":"14"} ?> "Error: room 14 does not belong to this hotel"
//! move_booking {"booking":"71","room":"21"} ?> "Error: room 21 does not belong to this hotel"
//! ```
//!
//! The errors differ:
//!
//! ```quiet
//! host: openai
//! move_booking {"booking":"71","room":"12"} ?> "Error: room 12 does not belong to this hotel"
//! move_booking {"booking":"71","room":"14"} ?> "Error: room 14 is taken"
//! move_booking {"booking":"71","room":"21"} ?> "Error: room 21 does not belong to this hotel"
//! ```
//!
//! Tests fail until the code is right:
//!
//! ```quiet
//! Bash {"command":"cargo test a"} !101 "error: test failed, to rerun pass `--lib`"
//! Bash {"command":"cargo test b"} !101 "error: test failed, to rerun pass `--lib`"
//! Bash {"command":"cargo test c"} !101 "error: test failed, to rerun pass `--lib`"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::Role;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::error_class::{ErrorClass, classify};
use toolmark_session::purpose::Purpose;
use toolmark_session::session::{Session, SessionCall};
use toolmark_session::tool_effect::ToolEffect;
use toolmark_trace::DeniedBy;

pub(crate) static RULE: Rule = Rule {
    code: "R414",
    name: "same-error",
    axis: Axis::Recovery,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "gets the same error three times in a row, with other arguments",
    remedy: "after the second identical error, look up what it asks for instead of guessing",
    source: page!("r414_same_error.rs"),
    check,
};

/// Number of identical errors that are reported.
const ERRORS: usize = 3;
/// Minimum length of an error that says something.
const MIN_ERROR: usize = 12;
/// Maximum number of bytes of an error to compare.
const MAX_ERROR: usize = 400;
/// Maximum number of errors named as evidence.
const MAX_EVIDENCE: usize = 8;

/// Calls of one tool that gave the same error.
struct Streak<'s, 'a> {
    tool: String,
    error: String,
    calls: Vec<&'s SessionCall<'a>>,
}

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let mut streak: Option<Streak<'_, '_>> = None;
    for call in session.calls() {
        let Some(error) = error_of(call) else {
            // A call that changed something may have removed the cause.
            let is_same = streak.as_ref().is_some_and(|streak| streak.tool == tool_of(call));
            if is_same || changes(call) {
                tell(session, recorder, streak.take());
            }
            continue;
        };
        recorder.count_opportunity(call);
        let tool = tool_of(call);
        match &mut streak {
            Some(open) if open.tool == tool && open.error == error => open.calls.push(call),
            // Another tool may be tried in between.
            Some(open) if open.tool != tool && open.calls.len() > 1 => {}
            _ => {
                tell(session, recorder, streak.take());
                streak = Some(Streak { tool, error, calls: vec![call] });
            }
        }
    }
    tell(session, recorder, streak);
}

fn tell(session: &Session<'_>, recorder: &mut Recorder<'_, '_>, streak: Option<Streak<'_, '_>>) {
    let Some(streak) = streak.filter(|streak| streak.calls.len() >= ERRORS) else { return };
    let Some(last) = streak.calls.get(ERRORS - 1) else { return };
    let message = format!("{} gives the same error {} times", last.tool, streak.calls.len());
    let others = streak.calls.iter().filter(|call| call.index != last.index).take(MAX_EVIDENCE);
    let draft = Draft::new(last, message).about("the third time").bucket(last.tool.to_string());
    recorder.find(others.fold(draft, |draft, call| {
        draft.evidence(session.result_evidence(Role::Context, "the same error", call))
    }));
}

/// Returns the tool of a call; for a shell command, with its program.
fn tool_of(call: &SessionCall<'_>) -> String {
    match call.line().and_then(|line| line.errand()) {
        Some(errand) => format!("{} {errand}", call.tool),
        None => call.tool.to_string(),
    }
}

/// Whether a call without an error may have changed what the error is about.
fn changes(call: &SessionCall<'_>) -> bool {
    match call.role {
        ToolRole::Other => call.tool_effect().is_some_and(ToolEffect::is_change),
        _ => !call.only_looks(),
    }
}

/// Returns the error of a failed call, without the numbers and the quoted values in it.
fn error_of(call: &SessionCall<'_>) -> Option<String> {
    let class = classify(call)?;
    let is_result = call.line().is_some_and(|line| line.purpose() != Purpose::Other);
    let is_other_matter = match class {
        ErrorClass::Network | ErrorClass::Timeout | ErrorClass::Cancelled => true,
        ErrorClass::NothingFound | ErrorClass::Missing => true,
        ErrorClass::Denied => {
            !matches!(call.call.denied_by(), Some(DeniedBy::Rule | DeniedBy::Hook))
        }
        _ => false,
    };
    if is_result || is_other_matter {
        return None;
    }
    let text = call.result_start(MAX_ERROR)?;
    let line = text.lines().map(str::trim).find(|line| says_something(line))?;
    let mut error = String::with_capacity(line.len());
    let mut quote = None;
    for letter in line.chars() {
        match (letter, quote) {
            ('"' | '\'' | '`', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => {}
            (letter, None) if letter.is_ascii_digit() => {}
            (letter, None) => error.push(letter),
        }
    }
    Some(error)
}

fn says_something(line: &str) -> bool {
    line.len() >= MIN_ERROR
        && !line.starts_with("Exit code")
        && !line.starts_with("Error: Exit code")
}
