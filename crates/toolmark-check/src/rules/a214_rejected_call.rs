//! # What it does
//!
//! Finds calls that a program, the shell or a tool rejects for the way they are
//! made: an option or a subcommand that does not exist, a missing argument, an
//! expression that cannot be parsed, syntax of another shell. The exit code does
//! not matter: a pipe may hide it, and the output of the program decides.
//!
//! Not reported: calls that another rule about arguments reports, and files that
//! are too large or not text.
//!
//! # Why
//!
//! The program has done nothing, and the step is lost. Behind a pipe, the usage
//! text is easily taken for a result.
//!
//! # What to do
//!
//! Look up the options once (`--help`), and write commands that fail often into
//! the agent's instructions in the form that works.
//!
//! # Examples
//!
//! ```fires
//! Bash {"command":"gh run view | tail -5"} -> "run or job ID required when not running interactively\n\nUsage:  gh run view [<run-id>] [flags]"
//! ```
//!
//! ```fires
//! Bash {"command":"cargo test --no-such-option"} !1 "error: unexpected argument '--no-such-option' found\n\nUsage: cargo test [OPTIONS] [TESTNAME] [-- [ARGS]...]"
//! ```
//!
//! ```fires
//! Bash {"command":"make lint | grep -E '--- FAIL'"} !2 "grep: unrecognized option '--- FAIL'\nUsage: grep [OPTION]... PATTERNS [FILE]..."
//! ```
//!
//! The program did its work, or the agent asks for the usage text:
//!
//! ```quiet
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! ```
//!
//! ```quiet
//! Bash {"command":"gh run view --help | head -20"} -> "View a summary of a workflow run.\n\nUsage:  gh run view [<run-id>] [flags]"
//! ```
//!
//! The text belongs to a file:
//!
//! ```quiet
//! Bash {"command":"cat docs/usage.md"} -> "Usage: tool [OPTIONS]"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use crate::rules::s105_tool_not_offered::is_refused;
use foldhash::{HashSet, HashSetExt};
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::error_class::ErrorClass;
use toolmark_session::recovery::SessionFailure;
use toolmark_session::result_kind::result_kind;
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::text::error_line;
use toolmark_session::words::SearchWords;
use toolmark_shell::results::ResultKind;

pub(crate) static RULE: Rule = Rule {
    code: "A214",
    name: "rejected-call",
    axis: Axis::Arguments,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "a program rejects the way it is called",
    remedy: "look up the options of the program before the next call",
    source: page!("a214_rejected_call.rs"),
    check,
};

/// Maximum number of characters of an error in the message.
const MAX_SAID: usize = 80;

/// Words of a program that fails after it has started.
static TRACEBACK: SearchWords =
    SearchWords::new(|| SearchWords::searcher(&["Traceback (most recent call last)"]));

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let mut failures = session.failures().iter().peekable();
    // The same rejection once more is a question of recovery.
    let mut told = HashSet::new();
    for (at, call) in session.calls().iter().enumerate() {
        while failures.next_if(|failure| failure.at < at).is_some() {}
        let failure = failures.next_if(|failure| failure.at == at);
        if !is_rejected(call, failure) || recorder.is_found(call) {
            continue;
        }
        let bucket = call.line().and_then(|line| line.errand()).unwrap_or(&call.tool);
        let said = match failure.and_then(|failure| failure.masked.clone()) {
            Some(line) => Some(line),
            None => call.result().as_deref().and_then(error_line).map(str::to_owned),
        };
        let said: String = said.unwrap_or_default().chars().take(MAX_SAID).collect();
        if !told.insert((bucket.to_owned(), said.clone())) {
            continue;
        }
        let subject = if call.line().is_some() { "a program" } else { &*call.tool };
        let message = format!("{subject} rejects how it is called: {said}");
        let answer = session.result_evidence(EvidenceRole::Context, "what it answered", call);
        recorder.find(Draft::new(call, message).bucket(bucket).evidence(answer));
    }
}

fn is_of_edit(class: ErrorClass) -> bool {
    matches!(
        class,
        ErrorClass::EditNoMatch
            | ErrorClass::EditAmbiguous
            | ErrorClass::EditStale
            | ErrorClass::EditNoop
    )
}

fn is_rejected(call: &SessionCall<'_>, failure: Option<&SessionFailure>) -> bool {
    // A program that starts and fails was called in the right way.
    if call.may_say(&TRACEBACK) {
        return false;
    }
    match failure {
        Some(failure) if failure.masked.is_some() => failure.class == ErrorClass::BadArguments,
        // What a file is like is often learned by opening it.
        Some(failure) if matches!(failure.class, ErrorClass::TooLarge | ErrorClass::Binary) => {
            false
        }
        // Other rules decide about edits, and about tools that are not there.
        Some(failure) if is_of_edit(failure.class) || is_refused(call) => false,
        Some(_) => result_kind(call) == ResultKind::UsageError,
        // Hosts that do not mark failures.
        None => {
            call.ended == Ended::Unknown
                && call.line().is_none()
                && result_kind(call) == ResultKind::UsageError
        }
    }
}
