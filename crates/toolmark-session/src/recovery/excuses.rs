//! Excuses with which agents leave a failure alone ("pre-existing", "unrelated", "expected"),
//! and the evidence against them in the session.
//!
//! Excuses are often right. They count as a fault only if the session itself contradicts
//! them: the same check passed before, an earlier run of it did not report these files, or it
//! reports a file that the session wrote. Every other excuse is a question for a judge.

use crate::error_class::ErrorClass;
use crate::session::{Ended, Session, SessionCall};
use crate::shell::CommandLine;
use std::collections::BTreeSet;
use toolmark_hosts::toolset::ToolRole;
use toolmark_trace::EventKind;

/// An excuse, and the call that contradicts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excuse {
    /// The place of the message among the events.
    pub event: usize,
    /// The call that contradicts it, by its place in [`Session::calls`].
    pub contradicted_by: Option<usize>,
}

/// Maximum distance in calls from a failure to its evidence.
const REACH: usize = 400;
/// Maximum length of a message to examine.
const MAX_MESSAGE: usize = 16 << 10;

/// Phrases that dismiss responsibility for a failure.
const EXCUSES: &[&str] = &[
    "pre-existing",
    "preexisting",
    "unrelated",
    "not related to",
    "n't related to",
    "not caused by",
    "n't caused by",
    "not from our",
    "not from my",
    "not due to",
    "existed before",
    "already existed",
    "already failing",
    "already broken",
    "known issue",
    "can be ignored",
    "safe to ignore",
    "safely ignore",
    "false positive",
];

/// Phrases for checks that are not tests, because a test may be meant to fail.
const EXPECTED: &[&str] = &["is expected", "are expected", "error is normal", "is harmless"];

/// Phrases that announce a fix despite the excuse.
const MENDING: &[&str] = &[
    "let me fix",
    "i'll fix",
    "i will fix",
    "need to fix",
    "needs fixing",
    "needs to be fixed",
    "fix it",
    "fix this",
    "fix these",
    "fix them",
    "fix the",
    "fixing",
];

/// Phrases that announce a look at the cause.
const LOOKING: &[&str] =
    &["let me check", "let me verify", "let me look", "let me see", "let me confirm", "which of"];

/// Words for diagnostics of an editor or a language server.
const DIAGNOSTICS: &[&str] =
    &["diagnostic", "lsp ", "lsp's", "language server", "ide error", "ide warning", "gopls"];

/// Phrases that dismiss a diagnostic because of its origin. Calling it stale is not a
/// dismissal, because the next build verifies it.
const DISMISSALS: &[&str] = &[
    "pre-existing",
    "preexisting",
    "unrelated",
    "not related",
    "n't related",
    "not from our",
    "not from my",
    "not caused by",
    "can be ignored",
    "safe to ignore",
    "safely ignore",
];

fn sentences(text: &str) -> Vec<String> {
    let mut end = MAX_MESSAGE.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = text[..end].to_lowercase().replace('\u{2019}', "'");
    text.split(['!', '?', '\n']).flat_map(|line| line.split(". ")).map(str::to_owned).collect()
}

fn has(sentence: &str, words: &[&str]) -> bool {
    words.iter().any(|words| sentence.contains(words))
}

/// Whether a message explains a failure of this class away without announcing a fix.
fn explains_away(text: &str, class: ErrorClass) -> bool {
    let sentences = sentences(text);
    let is_excuse = |sentence: &String| {
        has(sentence, EXCUSES) || (class != ErrorClass::Tests && has(sentence, EXPECTED))
    };
    sentences.iter().any(is_excuse) && !sentences.iter().any(|sentence| has(sentence, MENDING))
}

/// Whether a message dismisses the diagnostics that were shown.
pub fn dismisses_diagnostics(text: &str) -> bool {
    sentences(text).iter().any(|sentence| has(sentence, DIAGNOSTICS) && has(sentence, DISMISSALS))
}

/// Returns the agent's excuse for a failed check, before its next call.
pub(super) fn find(
    session: &Session<'_>,
    at: usize,
    failed: &SessionCall<'_>,
    class: ErrorClass,
    next: Option<&SessionCall<'_>>,
) -> Option<Excuse> {
    let command = failed.line()?;
    let is_check = matches!(class, ErrorClass::Tests | ErrorClass::Build);
    let end = next.map_or(session.events().len(), |next| next.event);
    let between = session.events().get(failed.event..end)?;
    let event = between
        .iter()
        .take_while(|event| !event.starts_turn())
        .position(|event| event.kind == EventKind::Message)
        .filter(|n| {
            let text = between.get(*n).and_then(|event| event.text.as_ref());
            text.is_some_and(|text| explains_away(&text.plain(), class))
        })?;
    let said = between.get(event).and_then(|event| event.text.as_ref());
    let said = said.map(|text| text.plain()).unwrap_or_default();
    let output = failed.result().unwrap_or_default();
    let checks = failing_check(command, &output, &said);
    let event = failed.event + event;
    if is_mended(session, at, failed, &checks) {
        return None;
    }
    let contradicted_by = match is_check {
        true => contradiction(session, at, failed, &checks),
        false if sentences(&said).iter().any(|sentence| has(sentence, LOOKING)) => None,
        false => own_file(session, at, command),
    };
    (is_check || contradicted_by.is_some()).then_some(Excuse { event, contradicted_by })
}

/// Returns the failed check of a command: the only one, or the last one that the output or
/// the excuse names. A check after a failed one was not run.
fn failing_check(command: &CommandLine<'_>, output: &str, excuse: &str) -> Vec<String> {
    let mut checks = command.checks().to_vec();
    if checks.len() > 1 {
        let is_named = |check: &String| {
            let mut words = check.split_whitespace().skip(1);
            words.any(|word| {
                let is_name = word.len() > 2 && word.starts_with(char::is_alphabetic);
                is_name && word != "run" && (output.contains(word) || excuse.contains(word))
            })
        };
        checks = checks.into_iter().rev().find(is_named).into_iter().collect();
    }
    checks
}

/// Whether a check passed. A meaningless exit code is not evidence of that.
fn is_green(call: &SessionCall<'_>, command: &CommandLine<'_>) -> bool {
    call.ended == Ended::Ok && !command.proves_nothing()
}

/// Whether one of the checks passed later in the turn.
fn is_mended(
    session: &Session<'_>,
    at: usize,
    failed: &SessionCall<'_>,
    checks: &[String],
) -> bool {
    session.calls().iter().skip(at + 1).take(REACH).any(|call| {
        let Some(command) = call.line().filter(|_| call.turn == failed.turn) else {
            return false;
        };
        call.call.agent == failed.call.agent
            && is_green(call, command)
            && match checks.is_empty() {
                true => failed.line().map(|line| &**line) == Some(&**command),
                false => {
                    let later = command.checks();
                    checks.iter().any(|check| later.contains(check))
                }
            }
    })
}

/// Returns an earlier run of the same check that contradicts the excuse: it passed, or it
/// reported none of the files that this run reports.
fn contradiction(
    session: &Session<'_>,
    at: usize,
    failed: &SessionCall<'_>,
    checks: &[String],
) -> Option<usize> {
    let complaints = failed.result().map(|text| files_named(&text)).unwrap_or_default();
    let keys = session.keys();
    let first = at.saturating_sub(REACH);
    let earlier = session.calls().get(first..at)?;
    earlier.iter().enumerate().rev().find_map(|(n, call)| {
        let command = call.line()?;
        if call.call.agent != failed.call.agent {
            return None;
        }
        let before = command.checks();
        let is_same = checks.iter().any(|check| before.contains(check));
        let place = first + n;
        if !is_same {
            return None;
        }
        if is_green(call, command) {
            return Some(Some(place));
        }
        // The nearest run of the same check decides.
        let is_alike = keys.get(place).map(|key| key.text) == keys.get(at).map(|key| key.text);
        let other = call.result().map(|text| files_named(&text)).unwrap_or_default();
        let is_news = is_alike
            && !complaints.is_empty()
            && !other.is_empty()
            && complaints.is_disjoint(&other);
        Some(is_news.then_some(place))
    })?
}

/// Returns the call that wrote a file named by a failed command. A commit names files that the
/// failure may have nothing to do with.
fn own_file(session: &Session<'_>, at: usize, command: &str) -> Option<usize> {
    if command.contains("git add ") || command.contains("git commit") {
        return None;
    }
    let first = at.saturating_sub(REACH);
    let earlier = session.calls().get(first..at)?;
    earlier
        .iter()
        .rposition(|call| {
            let name = call.path.as_deref().and_then(|path| path.rsplit('/').next());
            matches!(call.role, ToolRole::Writes | ToolRole::Edits)
                && call.ended == Ended::Ok
                && name.is_some_and(|name| name.contains('.') && command.contains(name))
        })
        .map(|n| first + n)
}

/// Returns the files that a check reports: `src/a.rs:12`.
fn files_named(text: &str) -> BTreeSet<String> {
    const MAX_FILES: usize = 200;
    text.split(|c: char| c.is_whitespace() || matches!(c, '(' | '"' | '\'' | '`'))
        .filter_map(|word| {
            let (file, rest) = word.split_once(':')?;
            let is_line = rest.starts_with(|c: char| c.is_ascii_digit());
            (is_line && file.contains('.')).then(|| file.to_owned())
        })
        .take(MAX_FILES)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_explained_away() {
        for (text, class, want) in [
            ("These lint errors are pre-existing.", ErrorClass::Build, true),
            (
                "The failures aren\u{2019}t related to my change. Moving on.",
                ErrorClass::Tests,
                true,
            ),
            ("The parse error is expected: templates confuse it.", ErrorClass::ExitCode, true),
            ("The failure is expected, there is no code yet.", ErrorClass::Tests, false),
            ("This is pre-existing, but let me fix it.", ErrorClass::Build, false),
            ("Two tests fail. Let me look.", ErrorClass::Tests, false),
        ] {
            assert_eq!(explains_away(text, class), want, "{text}");
        }
    }

    #[test]
    fn what_dismisses_diagnostics() {
        for (text, want) in [
            ("The LSP diagnostics are unrelated to our change.", true),
            ("The diagnostics are stale. Let me build.", false),
            ("Unrelated. The diagnostics show an error in a.rs.", false),
        ] {
            assert_eq!(dismisses_diagnostics(text), want, "{text}");
        }
    }

    #[test]
    fn files_of_complaints() {
        let text = "src/a.rs:12:3: no\n  --> src/b.rs:9\nat 12:30 o'clock; x: y";
        assert_eq!(files_named(text).into_iter().collect::<Vec<_>>(), ["src/a.rs", "src/b.rs"]);
    }
}
