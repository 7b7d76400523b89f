//! # What it does
//!
//! Finds a message that says that something does not exist ("no PR exists for
//! this branch"), although the only look-up of it in the turn failed for another
//! reason: no login, too many requests, a missing program, a rejected command
//! line, a wrong directory. A text that the command itself prints on failure
//! (`|| echo "none"`) is not an answer.
//!
//! # Why
//!
//! A failed look-up says nothing about what exists. The user decides on a fact
//! without a check.
//!
//! # What to do
//!
//! Say that it could not be looked up, and why. Do not hide errors of a look-up.
//!
//! # Examples
//!
//! ```fires
//! Bash {"command":"gh pr list --head x 2>/dev/null || echo \"No PR\""} -> "No PR"
//! Bash {"command":"gh pr list"} !4 "To get started with GitHub CLI, please run:  gh auth login"
//! assistant: There is no PR for this branch.
//! ```
//!
//! ```fires
//! Bash {"command":"gh release list"} !4 "To get started with GitHub CLI, please run:  gh auth login"
//! assistant: No release exists yet.
//! ```
//!
//! ```fires
//! Bash {"command":"gh issue list --search crash"} !127 "bash: gh: command not found"
//! assistant: There are no issues about the crash.
//! ```
//!
//! A later look-up worked, the message is about the failure, or about something else:
//!
//! ```quiet
//! Bash {"command":"gh pr list"} !4 "To get started with GitHub CLI, please run:  gh auth login"
//! Bash {"command":"gh pr list"} -> "no pull requests match your search"
//! assistant: There is no PR for this branch.
//! ```
//!
//! ```quiet
//! Bash {"command":"gh pr list"} !4 "To get started with GitHub CLI, please run:  gh auth login"
//! assistant: There is no login for GitHub, so I cannot list pull requests.
//! ```
//!
//! ```quiet
//! Bash {"command":"gh pr list"} !4 "To get started with GitHub CLI, please run:  gh auth login"
//! Bash {"command":"ls docs"} -> "a.md"
//! assistant: There is no changelog in the folder.
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_outcome::{Axis, Confidence, EvidenceRole, Severity};
use toolmark_session::claims::{Statement, Topic};
use toolmark_session::result_kind::result_kind;
use toolmark_session::session::{Session, SessionCall};
use toolmark_shell::results::ResultKind;

pub(crate) static RULE: Rule = Rule {
    code: "R416",
    name: "absent-after-failure",
    axis: Axis::Recovery,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "says that something does not exist although the look-up failed",
    remedy: "say that it could not be looked up, and why",
    source: page!("r416_absent_after_failure.rs"),
    check,
};

/// Number of calls before a message in which to look for the failed look-up.
const REACH: usize = 8;

/// Words of a sentence that admits the failure.
const ADMITS: &[&str] = &[
    "login",
    "log in",
    "auth",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "unable",
    "fail",
    "install",
];

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let calls = session.calls();
    for said in session.statements().iter().filter(|one| one.topic == Topic::Absent) {
        let next = calls.partition_point(|call| call.event < said.event);
        let before = calls.get(next.saturating_sub(REACH)..next).unwrap_or_default();
        let Some((failed, noun)) = before.iter().rev().find_map(|call| {
            (is_failed_lookup(call)).then(|| Some((call, noun_of(call, said)?)))?
        }) else {
            continue;
        };
        let turns = session.events().get(failed.event..said.event).unwrap_or_default();
        let works = |call: &SessionCall<'_>| {
            is_about(call, noun) && !has_fallback(call) && !is_failed_lookup(call)
        };
        if turns.iter().any(|event| event.starts_turn()) || before.iter().any(works) {
            continue;
        }
        let Some(event) = session.events().get(said.event) else { continue };
        recorder.find(
            Draft::new(failed, "the message says that it does not exist, but the look-up failed")
                .about("the look-up that failed")
                .bucket(result_kind(failed).word())
                .place(session.place(&event.at))
                .evidence(session.event_evidence(
                    EvidenceRole::Context,
                    "what the agent claims",
                    event,
                )),
        );
    }
}

/// Whether a call failed for a reason that says nothing about what exists.
fn is_failed_lookup(call: &SessionCall<'_>) -> bool {
    call.line().is_some()
        && matches!(
            result_kind(call),
            ResultKind::NotAuthenticated
                | ResultKind::RateLimited
                | ResultKind::MissingProgram
                | ResultKind::UsageError
                | ResultKind::WrongDirectory
        )
}

/// Whether a command prints a text of its own if it fails.
fn has_fallback(call: &SessionCall<'_>) -> bool {
    call.line().is_some_and(|line| line.contains("|| echo") || line.contains("|| printf"))
}

/// Returns the word of a command that a sentence says does not exist: `pr` of `gh pr list`.
fn noun_of<'c>(call: &'c SessionCall<'_>, said: &Statement) -> Option<&'c str> {
    // Another part of the sentence may be about the failure.
    let mut clauses = said.sentence.split([',', ':']).flat_map(|part| part.split(" and "));
    let clause = clauses.find(|clause| clause.contains(said.phrase.trim()))?;
    if ADMITS.iter().any(|words| clause.contains(words)) {
        return None;
    }
    let has = |noun: &str| {
        let mut words = clause.split(|c: char| !c.is_alphanumeric());
        words.any(|word| word == noun || word.strip_suffix('s') == Some(noun))
    };
    let line: &str = call.line()?;
    let mut words = line.split_whitespace().filter(|word| word.chars().all(char::is_alphanumeric));
    words.find(|word| word.len() > 1 && has(word.trim_end_matches('s')))
}

fn is_about(call: &SessionCall<'_>, noun: &str) -> bool {
    call.line().is_some_and(|line| line.split_whitespace().any(|word| word == noun))
}
