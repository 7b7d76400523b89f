//! Expected failures: a test that was announced to fail, a check for a file, a call that the
//! user refused.

use crate::error_class::ErrorClass;
use crate::session::{Session, SessionCall};
use crate::shell::CommandLine;
use crate::words::SearchWords;
use toolmark_trace::{DeniedBy, Status};

/// Phrases before a run of tests that is meant to fail.
const MEANT_TO_FAIL: &[&str] = &[
    "should fail",
    "expect it to fail",
    "expect them to fail",
    "expected to fail",
    "expect this to fail",
    "expect the test to fail",
    "verify it fails",
    "verify they fail",
    "still fail",
    "verify that it fails",
    "verify the test fails",
    "verify the tests fail",
    "confirm it fails",
    "confirm they fail",
    "confirm the test fails",
    "confirm the tests fail",
    "confirm that it fails",
    "see it fail",
    "see them fail",
    "watch it fail",
    "make sure it fails",
    "ensure it fails",
    "reproduce",
    "red phase",
    "failing test first",
    "confirm red",
];

/// Messages of a host about a call that the user refused.
const REFUSED_BY_USER: &[&str] = &[
    "doesn't want to proceed with this tool use",
    "doesn't want to take this action",
    "rejected by user",
    "rejected by the user",
    "User rejected",
    "user rejected",
    "declined by user",
    "The user said",
    "the user said",
];

/// Programs that are run to check whether something exists.
const PROBES: &[&str] =
    &["ls", "stat", "test", "[", "which", "type", "where", "whereis", "pgrep", "lsof", "file"];

/// Whether this failure is the expected answer.
pub(super) fn is_expected(
    session: &Session<'_>,
    call: &SessionCall<'_>,
    class: ErrorClass,
) -> bool {
    match class {
        ErrorClass::Tests | ErrorClass::Build => is_announced(session, call),
        ErrorClass::Denied => is_refused_by_user(call),
        ErrorClass::Missing | ErrorClass::ExitCode | ErrorClass::CommandNotFound => is_probe(call),
        _ => false,
    }
}

/// Phrases that request failing tests.
const ASKED_TO_FAIL: &[&str] = &["failing test", "test-driven", "tdd", "tests that fail"];

/// Substrings without which a request contains none of these phrases.
static ASKED: SearchWords = SearchWords::new(|| SearchWords::any_case(&["driven", "tdd", "fail"]));

/// Maximum number of events before a run to search for the request.
const MAX_EVENTS: usize = 2000;

/// Whether the agent announced before the run, or in its description, that the run would
/// fail, or whether the user requested failing tests.
fn is_announced(session: &Session<'_>, call: &SessionCall<'_>) -> bool {
    let says = |text: &str| {
        let text = text.to_lowercase();
        MEANT_TO_FAIL.iter().any(|words| text.contains(words))
    };
    let described = call.args().and_then(|args| args.get("description")?.as_str());
    let before = session.events().get(..call.event).unwrap_or_default();
    let request = before.iter().rev().take(MAX_EVENTS).find(|event| event.starts_turn());
    let is_asked = request.and_then(|event| event.text.as_ref()).is_some_and(|text| {
        ASKED.may_be_in(text.source().raw()) && {
            let text = text.plain().to_lowercase();
            ASKED_TO_FAIL.iter().any(|words| text.contains(words))
        }
    });
    is_asked
        || described.is_some_and(says)
        || session
            .said_before(call)
            .next()
            .and_then(|event| event.text.as_ref())
            .is_some_and(|text| says(&text.plain()))
}

/// Whether the user refused the call.
pub(super) fn is_refused_by_user(call: &SessionCall<'_>) -> bool {
    let is_denied = call.call.status == Status::Denied;
    match call.result() {
        Some(text) if toolmark_trace::denial(&text).is_some_and(|d| d.by == DeniedBy::User) => true,
        Some(text) => REFUSED_BY_USER.iter().any(|words| text.contains(words)),
        None => is_denied,
    }
}

/// Whether the command only checks whether something exists.
fn is_probe(call: &SessionCall<'_>) -> bool {
    let Some(script) = call.line().map(CommandLine::simple_commands) else { return false };
    let is_asking = |name: &str| PROBES.contains(&name) || matches!(name, "cd" | "echo" | "head");
    let mut names = script.commands.iter().filter_map(|one| one.words.first());
    !script.opaque
        && !script.commands.is_empty()
        && names.clone().any(|name| PROBES.contains(&name.as_str()))
        && names.all(|name| is_asking(name))
}
