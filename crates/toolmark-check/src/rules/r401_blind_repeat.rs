//! # What it does
//!
//! Finds a failed call that is repeated in the same way and fails in the same
//! way, with nothing read, changed or run in between. Another directory, more
//! permissions, a longer timeout or a different error count as a change. For
//! errors where one retry is reasonable (network, locks, a signing agent), the
//! third attempt is reported.
//!
//! It also finds a command that is started in the background twice with nothing
//! done in between.
//!
//! # Why
//!
//! The same call in the same state fails in the same way. An agent that repeats
//! it has not read the error.
//!
//! # What to do
//!
//! Read the error and fix what it names: the path, the argument, the code. If a
//! retry is reasonable (network, locks), wait first.
//!
//! # Examples
//!
//! ```fires
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! ```
//!
//! ```fires
//! Read {"file_path":"/w/a.rs"} !> "File does not exist."
//! Read {"file_path":"a.rs"} !> "File does not exist."
//! ```
//!
//! ```fires
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} !> "String to replace not found in file."
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} !> "String to replace not found in file."
//! ```
//!
//! Part of the command again, with the same error:
//!
//! ```fires
//! Bash {"command":"node -v && pnpm -v"} !1 "v22\nThis project is configured to use yarn"
//! Bash {"command":"pnpm -v && ls"} !1 "This project is configured to use yarn"
//! ```
//!
//! The user refused it:
//!
//! ```fires
//! Bash {"command":"vercel deploy"} x> "The user doesn't want to proceed with this tool use. The tool use was rejected."
//! Bash {"command":"vercel deploy"} x> "The user doesn't want to proceed with this tool use. The tool use was rejected."
//! ```
//!
//! The third attempt, where one retry is reasonable:
//!
//! ```fires
//! Bash {"command":"curl x.org"} !6 "curl: (6) Could not resolve host: x.org"
//! Bash {"command":"curl x.org"} !6 "curl: (6) Could not resolve host: x.org"
//! Bash {"command":"curl x.org"} !6 "curl: (6) Could not resolve host: x.org"
//! ```
//!
//! ```fires
//! Bash {"command":"python fetch.py","run_in_background":true} -> "running with ID 1"
//! Bash {"command":"python fetch.py","run_in_background":true} -> "running with ID 2"
//! ```
//!
//! A tool whose name says that it changes something, where the trace has no status:
//!
//! ```fires
//! host: openai
//! pay_bill {"bill":"7","amount":20} ?> "Error: the amount is not that of the bill"
//! calculate {"expression":"10 + 10"} ?> "20"
//! pay_bill {"bill":"7","amount":20} ?> "Error: the amount is not that of the bill"
//! ```
//!
//! The state was read in between, and may have changed:
//!
//! ```quiet
//! host: openai
//! approve_report {"report_id":"7"} ?> "Error: the report is still being processed"
//! get_report_status {"report_id":"7"} ?> "processed"
//! approve_report {"report_id":"7"} ?> "ok"
//! ```
//!
//! A fix came in between:
//!
//! ```quiet
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! ```
//!
//! Run again to see more output, or in another directory:
//!
//! ```quiet
//! Bash {"command":"cargo test | tail -1"} !101 "1 failed"
//! Bash {"command":"cargo test | tail -50"} !101 "test a ... FAILED"
//! ```
//!
//! ```quiet
//! Bash {"command":"make"} !2 "make: *** No rule to make target"
//! Bash {"command":"cd sub && make"} !2 "make: *** No rule to make target"
//! ```
//!
//! The shell was in another directory before:
//!
//! ```quiet
//! Bash {"command":"cd /w/web && make css"} -> "ok"
//! Bash {"command":"make lint"} !2 "make: *** No rule to make target"
//! Bash {"command":"cd /w && make lint"} !2 "make: *** No rule to make target"
//! ```
//!
//! Both calls were made before either had a result:
//!
//! ```quiet
//! Read {"file_path":"/w/a.rs"} !> "File does not exist."
//! & Read {"file_path":"/w/a.rs"} !> "File does not exist."
//! ```
//!
//! The host could not judge the call, and asks for another try:
//!
//! ```quiet
//! Bash {"command":"vercel deploy"} x> "m is temporarily unavailable, so auto mode cannot determine the safety of Bash right now. Wait briefly and then try this action again."
//! Bash {"command":"vercel deploy"} x> "m is temporarily unavailable, so auto mode cannot determine the safety of Bash right now. Wait briefly and then try this action again."
//! ```
//!
//! The user sent a message, or one retry is reasonable:
//!
//! ```quiet
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! user: try again
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! ```
//!
//! ```quiet
//! Bash {"command":"curl x.org"} !6 "curl: (6) Could not resolve host: x.org"
//! Bash {"command":"curl x.org"} !6 "curl: (6) Could not resolve host: x.org"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_base::SortedSet;
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::effects::{IN_BACKGROUND, is_set};
use toolmark_session::error_class::ErrorClass;
use toolmark_session::recovery::RecoveryFault;
use toolmark_session::session::{Ended, Session, SessionCall};

pub(crate) static RULE: Rule = Rule {
    code: "R401",
    name: "blind-repeat",
    axis: Axis::Recovery,
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "repeats a failed call without changing anything",
    remedy: "fix what the error names before trying again",
    source: page!("r401_blind_repeat.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let mut told = SortedSet::new();
    for failure in session.failures() {
        let Some(failed) = session.calls().get(failure.at) else { continue };
        // What the user refused asks for nothing, but it is not to be called again either.
        let is_refused = failure.class == ErrorClass::Denied && !has_feedback(failed);
        if failure.asks {
            recorder.count_opportunity(failed);
        } else if !is_refused {
            continue;
        }
        let is_repeat = failure.is_fault(RecoveryFault::Repeat) && failure.blind;
        let Some(by) = failure.by.filter(|by| is_repeat && told.insert(*by)) else { continue };
        let Some(again) = session.calls().get(by) else { continue };
        let message = format!(
            "{} failed ({}) and was called again in the same way",
            again.tool,
            failure.class.word()
        );
        let mut draft = Draft::new(again, message)
            .about("the repeat")
            .bucket(failure.class.word())
            .evidence(session.result_evidence(EvidenceRole::Context, "it had failed here", failed));
        // If one retry is reasonable, there is an attempt in between.
        if let Some(second) = failure.repeat.filter(|second| *second != by) {
            let second = session.calls().get(second);
            draft = second.into_iter().fold(draft, |draft, call| {
                draft.evidence(session.evidence(EvidenceRole::Context, "and here", call))
            });
        }
        recorder.find(draft);
    }
    started_twice(session, recorder);
}

/// Returns whether a refusal contains feedback from the user, which may ask for the same call.
fn has_feedback(call: &SessionCall<'_>) -> bool {
    call.result().is_some_and(|text| text.to_lowercase().contains("the user said"))
}

/// Reports a background command that is started again, with only reads in between and without
/// its output having been read.
fn started_twice(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let mut last: Option<(u64, &SessionCall<'_>)> = None;
    for (call, key) in session.calls().iter().zip(session.keys()) {
        let runs_on = call.ended != Ended::Failed && is_in_background(call);
        match last {
            Some((text, first)) if runs_on && text == key.text && first.turn == call.turn => {
                recorder.find(
                    Draft::new(call, format!("{} was started again while it ran", call.tool))
                        .about("the second start")
                        .evidence(session.evidence(
                            EvidenceRole::Context,
                            "it was started here",
                            first,
                        )),
                );
                last = None;
            }
            _ if runs_on => last = Some((key.text, call)),
            // Any read may be a look at the effects of the command.
            _ => last = None,
        }
    }
}

fn is_in_background(call: &SessionCall<'_>) -> bool {
    call.role == ToolRole::RunsShell && call.args().is_some_and(|args| is_set(args, IN_BACKGROUND))
}
