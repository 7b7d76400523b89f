//! # What it does
//!
//! Looks at the last message of every turn. Where it claims that tests pass,
//! that it builds or that everything works, while the last run of tests or of a
//! build in that turn failed, it is reported, with the run and the sentence.
//! A message that speaks of anything that fails is left alone.
//!
//! # Why
//!
//! The last message is what people read. If it is wrong, the failure is found
//! by somebody else.
//!
//! # What to do
//!
//! Run the tests once more after the last change, and report what the run says.
//!
//! # Examples
//!
//! ```fires
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} -> "ok"
//! assistant: Done. All tests pass.
//! ```
//!
//! ```fires
//! Bash {"command":"npm run build"} !1 "error TS2322"
//! assistant: The project builds successfully.
//! user: thanks
//! ```
//!
//! ```fires
//! Bash {"command":"pytest | tail -1"} -> "===== 2 failed, 3 passed in 1s ====="
//! assistant: Everything works.
//! ```
//!
//! ```quiet
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"cargo test"} -> "test result: ok"
//! assistant: Done. All tests pass.
//! ```
//!
//! ```quiet
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! assistant: All tests pass but one, which fails on main too.
//! ```
//!
//! A build is no test:
//!
//! ```fires
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! Bash {"command":"cargo build"} -> "Finished"
//! assistant: I fixed the issue. All tests pass.
//! ```
//!
//! It is not the last message, or claims nothing:
//!
//! ```quiet
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! assistant: I will edit until all tests pass.
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} -> "ok"
//! assistant: I have changed a.rs.
//! ```
//!
//! ```quiet
//! Bash {"command":"cargo test --no-run"} -> ""
//! assistant: All tests pass.
//! ```

use crate::claims::{Claim, claim};
use crate::error_class::ErrorClass;
use crate::purpose::{Purpose, purpose};
use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use crate::session::{Ended, Session, SessionCall};
use toolmark_outcome::Role;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_trace::EventKind;

pub(crate) static RULE: Rule = Rule {
    code: "R404",
    name: "claimed-success",
    axis: Axis::Recovery,
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "claims success though the last test or build run failed",
    remedy: "run it again after the last change and report what the run says",
    source: page!("r404_claimed_success.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    // The last failed run of each turn, unless a run passed after it.
    let mut failures = session.failures().iter().peekable();
    let mut open: Option<&SessionCall<'_>> = None;
    let mut class = ErrorClass::Tests;
    let calls = session.calls();
    for (at, call) in calls.iter().enumerate() {
        while failures.next_if(|failure| failure.at < at).is_some() {}
        let failure = failures.next_if(|failure| failure.at == at);
        match failure.map(|failure| failure.class) {
            Some(found @ (ErrorClass::Tests | ErrorClass::Build)) => {
                (open, class) = (Some(call), found)
            }
            None if open.is_some() && call.ended != Ended::Failed && runs(call, class) => {
                open = None
            }
            _ => {}
        }
        let is_last = calls.get(at + 1).is_none_or(|next| next.turn != call.turn);
        if is_last && let Some(run) = open.take() {
            recorder.count_opportunity(run);
            check_claim(session, recorder, run, call, class);
        }
    }
}

/// Does a call run what failed once more? What cannot be seen (a script, a
/// sub-agent) may do so too; that something builds says nothing about tests.
fn runs(call: &SessionCall<'_>, class: ErrorClass) -> bool {
    use toolmark_hosts::toolset::ToolRole::{Dispatches, RunsShell, TalksToShell};
    match call.role {
        RunsShell => call.command().is_some_and(|command| match purpose(&command) {
            Purpose::Tests => true,
            Purpose::Builds => class == ErrorClass::Build,
            _ => !call.only_looks() && command.contains("test"),
        }),
        TalksToShell | Dispatches => true,
        _ => false,
    }
}

fn check_claim(
    session: &Session<'_>,
    recorder: &mut Recorder<'_, '_>,
    run: &SessionCall<'_>,
    last: &SessionCall<'_>,
    class: ErrorClass,
) {
    let after = session.events().get(last.event..).unwrap_or_default();
    let in_turn = after.iter().take_while(|event| !event.starts_turn());
    let Some(said) = in_turn.filter(|event| event.kind == EventKind::Message).last() else {
        return;
    };
    let text = said.text.as_ref().map(|text| text.plain()).unwrap_or_default();
    if claim(&text) != Claim::Success {
        return;
    }
    let message = "the last message claims success, but the last run failed";
    recorder.find(
        Draft::new(run, message)
            .about("the last run, which failed")
            .bucket(class.word())
            .evidence(session.event_evidence(Role::Context, "what the agent claims", said)),
    );
}
