//! # What it does
//!
//! Finds a tool that gives the same error three times, with nothing changed in
//! between: the arguments differ, the error does not. For shell commands, it is
//! the same error of the same program.
//!
//! The second time is enough if the first error has already said what is wrong
//! with the call itself: the program rejects the command line, it is not
//! installed, it does not belong in this directory, a login is missing, or the
//! same path does not exist. Other calls may lie in between, if they cannot have
//! removed the cause.
//!
//! Calls that a rule or a mode of the host denies for the same reason again are
//! one finding of the second one.
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
//! The first error was clear, and other calls lie in between:
//!
//! ```fires
//! Bash {"command":"gh api x --jq '.[] | {body[0:8]}'"} !1 "failed to parse jq expression (line 1, column 13)"
//! Read {"file_path":"/w/a.rs"} -> "1\tx"
//! Bash {"command":"gh api y --jq '.[] | {title, body[0:80]}'"} !1 "failed to parse jq expression (line 1, column 20)"
//! ```
//!
//! ```fires
//! Read {"file_path":"/w/src/old.rs"} !> "File does not exist."
//! Glob {"pattern":"**/old.rs"} -> "No files found"
//! Read {"file_path":"/w/src/old.rs"} !> "File does not exist."
//! ```
//!
//! ```fires
//! Bash {"command":"git stash"} !1 "Exit code 1\nerror: could not write index"
//! Bash {"command":"df -h ."} -> "80%"
//! Bash {"command":"git stash 2>&1"} !1 "Exit code 1\nerror: could not write index"
//! ```
//!
//! ```quiet
//! Bash {"command":"git commit -m x"} !1 "[STARTED] Running the checks of staged files"
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"git commit -m x"} !1 "[STARTED] Running the checks of staged files"
//! ```
//!
//! ```quiet
//! Read {"file_path":"/w/src/old.rs"} !> "File does not exist."
//! Bash {"command":"make generate"} -> "ok"
//! Read {"file_path":"/w/src/old.rs"} !> "File does not exist."
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

//! A mode of the host:
//!
//! ```fires
//! host: gemini-cli
//! write_file {"file_path":"/w/a.ts","content":"x"} x> "Tool execution denied by policy. You are in Plan Mode."
//! user: go on
//! replace {"file_path":"/w/a.ts","old_string":"x","new_string":"y"} x> "Tool execution denied by policy. You are in Plan Mode."
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use foldhash::HashMap;
use std::collections::BTreeSet;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::error_class::{ErrorClass, classify};
use toolmark_session::purpose::Purpose;
use toolmark_session::result_kind::result_kind;
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::text::error_line;
use toolmark_session::tool_effect::ToolEffect;
use toolmark_shell::results::ResultKind;
use toolmark_trace::{DeniedBy, Status};

pub(crate) static RULE: Rule = Rule {
    code: "R414",
    name: "same-error",
    axis: Axis::Recovery,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "gets the same error again, with other arguments",
    remedy: "after the second identical error, look up what it asks for instead of guessing",
    source: page!("r414_same_error.rs"),
    check,
};

/// Number of identical errors that are reported.
const ERRORS: usize = 3;
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
    let mut known = KnownErrors::default();
    let mut told = BTreeSet::new();
    for (call, key) in session.calls().iter().zip(session.keys()) {
        let error = error_of(call);
        known.note(session, call, error.as_deref(), key.work);
        let Some(error) = error else {
            // A call that changed something may have removed the cause.
            let is_same = streak.as_ref().is_some_and(|streak| streak.tool == tool_of(call));
            if is_same || changes(call) {
                tell(session, recorder, streak.take(), &mut told);
            }
            continue;
        };
        recorder.count_opportunity(call);
        let tool = tool_of(call);
        match &mut streak {
            Some(open) if open.tool == tool && open.error == error => {
                // Calls of one response are made before the first of them has failed.
                let last = open.calls.last().and_then(|last| last.call.step);
                if last.is_none() || last != call.call.step {
                    open.calls.push(call);
                }
            }
            // Another tool may be tried in between.
            Some(open) if open.tool != tool && open.calls.len() > 1 => {}
            _ => {
                tell(session, recorder, streak.take(), &mut told);
                streak = Some(Streak { tool, error, calls: vec![call] });
            }
        }
    }
    tell(session, recorder, streak, &mut told);
    tell_denied(session, recorder, &told);
    for (first, again) in known.repeats {
        if told.contains(&again.index) || recorder.is_found(again) {
            continue;
        }
        let message = format!("{} gives an error again that it gave before", again.tool);
        let earlier = session.result_evidence(EvidenceRole::Context, "the same error", first);
        let answer = session.result_evidence(EvidenceRole::Context, "and here", again);
        let draft = Draft::new(again, message).about("the second time");
        recorder.find(draft.bucket(again.tool.to_string()).evidence(earlier).evidence(answer));
    }
}

/// Reports calls that a rule denies again and again, as one finding of the second one.
fn tell_denied(session: &Session<'_>, recorder: &mut Recorder<'_, '_>, told: &BTreeSet<usize>) {
    let mut denied: Vec<(String, Vec<&SessionCall<'_>>)> = Vec::new();
    for call in session.calls() {
        let Some(words) = denial_of(call) else { continue };
        match denied.iter_mut().find(|(one, _)| *one == words) {
            // Calls of one response are made before the first of them is denied.
            Some((_, calls))
                if calls.last().is_none_or(|last| {
                    last.call.step.is_none() || last.call.step != call.call.step
                }) =>
            {
                calls.push(call);
            }
            Some(_) => {}
            None => denied.push((words, vec![call])),
        }
    }
    for (_, calls) in denied {
        let [first, again, more @ ..] = calls.as_slice() else { continue };
        if told.contains(&again.index) {
            continue;
        }
        let message = format!("{} is denied again for the same reason", again.tool);
        let earlier = session.result_evidence(EvidenceRole::Context, "the same answer", first);
        let draft = Draft::new(again, message).about("the second time").evidence(earlier);
        let draft = draft.bucket(again.tool.to_string());
        recorder.find(more.iter().take(MAX_EVIDENCE).fold(draft, |draft, call| {
            draft.evidence(session.evidence(EvidenceRole::Context, "and again", call))
        }));
    }
}

/// Returns the reason with which a rule, not the user, denied a call.
fn denial_of(call: &SessionCall<'_>) -> Option<String> {
    if call.call.status != Status::Denied {
        return None;
    }
    let is_rule = matches!(call.call.denied_by(), Some(DeniedBy::Rule));
    is_rule.then(|| line_of(call)).flatten()
}

/// Errors that say what is wrong with the call, and the calls that gave them again.
#[derive(Default)]
struct KnownErrors<'s, 'a> {
    first: HashMap<(String, String), (&'s SessionCall<'a>, usize)>,
    /// Number of files that were changed so far.
    changes: usize,
    repeats: Vec<(&'s SessionCall<'a>, &'s SessionCall<'a>)>,
}

/// Durability of the cause of an error.
#[derive(PartialEq, Eq)]
enum Cause {
    /// The call itself: no other call removes it.
    Call,
    /// The environment: a command may have changed it.
    Environment,
}

impl<'s, 'a> KnownErrors<'s, 'a> {
    fn note(
        &mut self,
        session: &Session<'a>,
        call: &'s SessionCall<'a>,
        error: Option<&str>,
        work: u64,
    ) {
        let is_edit = matches!(call.role, ToolRole::Edits | ToolRole::Writes | ToolRole::Patches);
        self.changes += usize::from(is_edit && call.ended != Ended::Failed);
        let Some((cause, error)) = cause_of(call, error, work) else { return };
        let agent = call.call.agent.as_ref().map(|agent| agent.get()).unwrap_or_default();
        let key = (format!("{agent} {}", tool_of(call)), error);
        let Some((first, before)) = self.first.insert(key, (call, self.changes)) else { return };
        let is_batch = call.call.step.is_some() && first.call.step == call.call.step;
        let is_removed = cause == Cause::Environment
            && (first.turn != call.turn
                || before != self.changes
                || session.files().is_disturbed(first.index, call.index));
        if !is_batch && !is_removed {
            self.repeats.push((first, call));
        }
    }
}

/// Returns the cause of a failure and a text that identifies it.
fn cause_of(call: &SessionCall<'_>, error: Option<&str>, work: u64) -> Option<(Cause, String)> {
    if call.ended != Ended::Failed {
        return None;
    }
    let is_edit = matches!(call.role, ToolRole::Edits | ToolRole::Writes | ToolRole::Patches);
    if call.line().is_none() && !is_edit && result_kind(call) == ResultKind::UsageError {
        return Some((Cause::Call, line_of(call)?));
    }
    if call.line().is_none() {
        let is_missing = classify(call) == Some(ErrorClass::Missing);
        let path = call.path.as_ref().filter(|_| is_missing)?;
        return Some((Cause::Environment, format!("missing {path}")));
    }
    let cause = match result_kind(call) {
        ResultKind::UsageError => Cause::Call,
        ResultKind::MissingProgram
        | ResultKind::WrongDirectory
        | ResultKind::NotAuthenticated
        | ResultKind::NotFound => Cause::Environment,
        // The same request with the same error.
        ResultKind::Failed | ResultKind::Refused => {
            return Some((Cause::Environment, format!("{work} {}", error?)));
        }
        _ => return None,
    };
    let error = match error {
        Some(error) => error.to_owned(),
        None => line_of(call)?,
    };
    Some((cause, error))
}

fn tell(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    streak: Option<Streak<'_, '_>>,
    told: &mut BTreeSet<usize>,
) {
    let Some(streak) = streak.filter(|streak| streak.calls.len() >= ERRORS) else { return };
    let Some(last) = streak.calls.get(ERRORS - 1) else { return };
    told.extend(streak.calls.iter().map(|call| call.index));
    let message = format!("{} gives the same error {} times", last.tool, streak.calls.len());
    let others = streak.calls.iter().filter(|call| call.index != last.index).take(MAX_EVIDENCE);
    let draft = Draft::new(last, message).about("the third time").bucket(last.tool.to_string());
    recorder.find(others.fold(draft, |draft, call| {
        draft.evidence(session.result_evidence(EvidenceRole::Context, "the same error", call))
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
    let line = line_of(call)?;
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

/// Returns the line of a result that names the error.
fn line_of(call: &SessionCall<'_>) -> Option<String> {
    let text = call.result_start(MAX_ERROR)?;
    let is_traceback = text.contains("Traceback (most recent");
    // The last line of a traceback names it.
    match is_traceback {
        true => error_line(&call.result()?).map(str::to_owned),
        false => error_line(&text).map(str::to_owned),
    }
}
