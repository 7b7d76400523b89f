//! # What it does
//!
//! Finds commands whose exit code proves nothing (`|| true`, `| tail`, `; echo
//! done`), whose output shows that tests, a build or a program failed, and
//! after which the agent says that it worked, commits or publishes. If the
//! agent only continues, the finding has low confidence: it may have read the
//! output.
//!
//! An exit code that a command prints (`$?`) after a pipe is reported too, if
//! tests or a build are in front of the pipe: it is that of `tail` or `head`.
//!
//! # Why
//!
//! The host reports success, and the agent believes it. Later work builds on a
//! failure that was never noticed.
//!
//! # What to do
//!
//! Let the exit code through: use `set -o pipefail`, no `|| true`, and no `;
//! echo` at the end. Read the last lines of the output before continuing.
//!
//! # Examples
//!
//! ```fires
//! Bash {"command":"cargo test 2>&1 | tail -3"} -> "test result: FAILED. 4 passed; 1 failed"
//! assistant: All tests pass now.
//! ```
//!
//! ```fires
//! Bash {"command":"npm test || true"} -> "Tests: 2 failed, 3 passed"
//! Bash {"command":"git commit -am 'Add the parser'"} -> "[main 1a2b3c] Add the parser"
//! ```
//!
//! ```fires
//! Bash {"command":"make; echo done"} -> "make: *** [all] Error 2\ndone"
//! assistant: The build succeeds. I'll write the summary.
//! Write {"file_path":"/w/summary.md","content":"x"} -> "ok"
//! ```
//!
//! The server did not start, and another one answers:
//!
//! ```fires
//! Bash {"command":"(npm run dev -- --port 8765 &) ; sleep 4; curl -s localhost:8765; echo done"} -> "Port 8765 is not available\n<html>\ndone"
//! Bash {"command":"git commit -am 'Add the page' && git push"} -> "[main 1a2b3c] Add the page"
//! ```
//!
//! The agent noticed the failure:
//!
//! ```quiet
//! Bash {"command":"npm test 2>&1 | tail -5; npm run lint 2>&1 | tail -5"} -> "1321 pass\n0 fail\nFound 2 errors."
//! assistant: Tests pass. Two lint errors. Let me fix them.
//! Bash {"command":"npm run lint -- --fix"} -> "Fixed 1 file."
//! ```
//!
//! ```quiet
//! Bash {"command":"cargo test 2>&1 | tail -3"} -> "test result: FAILED. 4 passed; 1 failed"
//! assistant: One test still fails; let me look.
//! Read {"file_path":"/w/a.rs"} -> "1\tx"
//! ```
//!
//! ```quiet
//! Bash {"command":"cargo test 2>&1 | tail -3"} -> "test result: FAILED. 4 passed; 1 failed"
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} -> "ok"
//! ```
//!
//! The command prints its own text for any failure:
//!
//! ```fires
//! Bash {"command":"gh pr list --head x 2>/dev/null || echo \"none open\""} -> "none open"
//! Bash {"command":"gh pr list"} !4 "To get started with GitHub CLI, please run:  gh auth login"
//! ```
//!
//! ```quiet
//! Bash {"command":"gh pr list --head x 2>/dev/null || echo \"none open\""} -> "none open"
//! Bash {"command":"gh pr list"} -> "12 fix the page"
//! ```
//!
//! Nothing failed, or the output is that of another run:
//!
//! ```quiet
//! Bash {"command":"cargo test 2>&1 | tail -3"} -> "test result: ok. 5 passed; 0 failed"
//! assistant: All tests pass now.
//! ```
//!
//! ```quiet
//! Bash {"command":"cat ci.log | tail -3"} -> "test result: FAILED. 4 passed; 1 failed"
//! Bash {"command":"git commit -am x"} -> "ok"
//! ```

//! An exit code that belongs to another program:
//!
//! ```fires
//! Bash {"command":"make test 2>&1 | tail -6; echo \"EXIT: $?\""} -> "OK\nEXIT: 0"
//! ```
//!
//! ```quiet
//! Bash {"command":"set -o pipefail; make test 2>&1 | tail -6; echo \"EXIT: $?\""} -> "OK\nEXIT: 0"
//! Bash {"command":"make test > out.txt; echo $?"} -> "0"
//! Bash {"command":"git log | head -3; echo $?"} -> "0"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_session::claims::{Claim, claim, notices_trouble};
use toolmark_session::purpose::Purpose;
use toolmark_session::recovery::{effects, moves};
use toolmark_session::result_kind::result_kind;
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::shell::CommandLine;
use toolmark_shell::EffectKind;
use toolmark_shell::ir::{IrNode, WordPart};
use toolmark_shell::results::ResultKind;
use toolmark_trace::EventKind;

pub(crate) static RULE: Rule = Rule {
    code: "R402",
    name: "masked-failure",
    axis: Axis::Recovery,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "continues after a failure that the exit code hides",
    remedy: "let the exit code through (set -o pipefail, no || true), and read the last lines",
    source: page!("r402_masked_failure.rs"),
    check,
};

/// Maximum number of reads between a failure and a call that builds on it.
const LOOKS: usize = 1;

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let mut failures = session.failures().iter().peekable();
    for (at, call) in session.calls().iter().enumerate() {
        while failures.next_if(|failure| failure.at < at).is_some() {}
        let failure = failures.next_if(|failure| failure.at == at);
        if let Some(program) = call.line().and_then(borrowed_exit) {
            let message = format!("the exit code that it prints is that of `{program}`");
            let draft = Draft::new(call, message).about("the check is in front of the pipe");
            recorder.find(draft.bucket("pipe"));
        }
        let Some((failure, line)) = failure.and_then(|f| Some((f, f.masked.as_deref()?))) else {
            if call.line().is_some_and(CommandLine::proves_nothing) {
                recorder.count_opportunity(call);
                fallback(session, recorder, call);
            }
            continue;
        };
        recorder.count_opportunity(call);
        let message = format!("the exit code hides a failure: {line}");
        let draft = Draft::new(call, message)
            .about("its exit code proves nothing")
            .bucket(failure.class.word());
        match goes_on(session, at, call) {
            Reaction::AsIfItWorked(evidence) => recorder.find(draft.evidence(*evidence)),
            Reaction::Unclear => recorder.find(draft.confidence(Confidence::Low)),
            Reaction::Seen => {}
        }
    }
}

/// Returns the program at the end of a pipe whose exit code a command prints (`$?`) as if it were
/// that of the tests or the build in front of it.
fn borrowed_exit(line: &CommandLine<'_>) -> Option<String> {
    // What `grep` returns may be the question.
    const FILTERS: &[&str] = &["head", "tail", "sed", "awk", "tee", "cut", "sort", "uniq"];
    let is_piped = line.contains("$?") && line.contains('|');
    if !is_piped || line.contains("pipefail") || line.contains("PIPESTATUS") {
        return None;
    }
    if !matches!(line.purpose(), Purpose::Tests | Purpose::Builds) {
        return None;
    }
    line.parsed()?.items.windows(2).find_map(|items| {
        let [piped, next] = items else { return None };
        let (first, last) = (piped.pipeline.stages.first()?, piped.pipeline.stages.last()?);
        let (IrNode::Simple(first), IrNode::Simple(last)) = (first, last) else { return None };
        let program = last.words.first()?.fixed().filter(|name| FILTERS.contains(&&**name))?;
        let is_filter = first.words.first()?.fixed().is_some_and(|n| FILTERS.contains(&&*n));
        let [IrNode::Simple(print)] = next.pipeline.stages.as_slice() else { return None };
        let prints = print.words.first()?.fixed().is_some_and(|n| n == "echo" || n == "printf");
        let shows =
            |part: &WordPart| matches!(part, WordPart::Parameter { name, .. } if name == "?");
        let is_shown = print.words.iter().any(|word| word.parts.iter().any(shows));
        let is_it = piped.pipeline.stages.len() > 1 && !is_filter && prints && is_shown;
        is_it.then(|| program.into_owned())
    })
}

/// Finds a command that prints a text of its own instead of the error (`2>/dev/null || echo
/// none`), if the same program says soon afterwards that a login is missing, or cannot be
/// started.
fn fallback(session: &Session<'_>, recorder: &mut Recorder<'_, '_>, call: &SessionCall<'_>) {
    /// Number of later calls in which the program may say it.
    const NEAR: usize = 10;
    let Some(line) = call.line().filter(|line| line.contains("|| echo")) else { return };
    let Some((_, text)) = line.rsplit_once("|| echo") else { return };
    let text = text.trim().trim_matches(['"', '\'']);
    let is_shown = call.result().is_some_and(|result| !text.is_empty() && result.trim() == text);
    if !is_shown {
        return;
    }
    let program = line.program();
    let says = |other: &&SessionCall<'_>| {
        other.ended == Ended::Failed
            && other.line().and_then(CommandLine::program) == program
            && matches!(
                result_kind(other),
                ResultKind::NotAuthenticated | ResultKind::MissingProgram
            )
    };
    let Some(later) = session.after(call).take(NEAR).find(says) else { return };
    let message = format!("its own text hides why the command failed: {text}");
    let evidence =
        session.result_evidence(EvidenceRole::Context, "the program says why here", later);
    let draft = Draft::new(call, message).about("the text is printed for any failure");
    recorder.find(draft.bucket("fallback").evidence(evidence));
}

/// Reaction of the agent to a masked failure.
enum Reaction {
    AsIfItWorked(Box<Evidence>),
    Seen,
    Unclear,
}

fn goes_on(session: &Session<'_>, at: usize, call: &SessionCall<'_>) -> Reaction {
    let next = moves(session, at).next();
    let end = next.map_or(session.events().len(), |(_, next)| next.event);
    // Later messages are about later calls.
    let between = session.events().get(call.event..end).unwrap_or_default();
    let said = between
        .iter()
        .take_while(|event| !event.starts_turn())
        .find(|event| event.kind == EventKind::Message);
    if let Some(said) = said {
        let text = said.text.as_ref().map(|text| text.plain()).unwrap_or_default();
        if notices_trouble(&text) {
            return Reaction::Seen;
        }
        if claim(&text) == Claim::Success {
            let words = "the agent says that it worked";
            return Reaction::AsIfItWorked(Box::new(session.event_evidence(
                EvidenceRole::Context,
                words,
                said,
            )));
        }
    }
    // A read in between only concerns the failure if it names its subject.
    let acts = moves(session, at).take(LOOKS + 1).find(|(_, next)| !next.only_looks());
    let Some((_, next)) = acts else {
        return match next {
            Some(_) => Reaction::Seen,
            None => Reaction::Unclear,
        };
    };
    let publishes = next.command().is_some_and(|command| {
        (command.contains("git commit") && !command.contains("git init"))
            || effects(session, next)
                .iter()
                .any(|effect| matches!(effect.kind, EffectKind::RemoteState | EffectKind::Spend))
    });
    match publishes {
        true => {
            let words = "the next change builds upon it";
            Reaction::AsIfItWorked(Box::new(session.evidence(EvidenceRole::Context, words, next)))
        }
        // Reads and changes usually follow a failure that was noticed.
        false => Reaction::Seen,
    }
}
