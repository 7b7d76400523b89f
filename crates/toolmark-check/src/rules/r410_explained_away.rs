//! # What it does
//!
//! Finds a failed check that the agent dismisses with an excuse
//! ("pre-existing", "unrelated", "expected") that the session contradicts: the
//! same check passed before, an earlier run did not complain about these files,
//! or the failure is about a file that the session wrote. It also finds code
//! that does not compile after an edit and is called pre-existing, if nothing
//! in the session shows the state before the edit: no earlier build, no stash,
//! worktree or other checkout, no look at the history or at CI. A check that
//! passes later in the turn is not reported.
//!
//! Any other excuse that nothing in the session contradicts is a question for a
//! judge (`check --judge`), and is not reported without one.
//!
//! # Why
//!
//! "Pre-existing" ends the search for the cause. If it is wrong, the agent
//! ships what it broke.
//!
//! # What to do
//!
//! Run the same check on the base (a worktree, a clean clone) before calling a
//! failure pre-existing, and read what it says about the agent's own files.
//!
//! # Examples
//!
//! The same check passed before:
//!
//! ```fires
//! Bash {"command":"make lint"} -> "0 issues"
//! Edit {"file_path":"/w/a.go","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"go build ./... && make lint"} !1 "b.go:3: unused\n6 issues"
//! assistant: These lint issues are pre-existing, not from our changes.
//! Bash {"command":"make lint 2>&1 | grep -v unused"} -> "6 issues"
//! ```
//!
//! The failure is about a file that the session wrote:
//!
//! ```fires
//! Write {"file_path":"/w/action.yml","content":"a: b: c"} -> "ok"
//! Bash {"command":"ruby -ryaml -e \"YAML.load_file('action.yml')\""} !1 "did not find expected key (Psych::SyntaxError)"
//! assistant: The YAML parse error is expected: template expressions confuse the parser. Here is what I built.
//! ```
//!
//! The complaints are about other files than before:
//!
//! ```fires
//! Bash {"command":"make lint"} !1 "a.go:3: unused"
//! Edit {"file_path":"/w/a.go","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"make lint"} !1 "strategy/b.go:9: ireturn"
//! assistant: These issues are pre-existing; they are in files I did not touch.
//! Bash {"command":"git commit -am x"} -> "[main 1a2b3c] x"
//! ```
//!
//! The code does not compile after an edit, and there is no baseline:
//!
//! ```fires
//! Edit {"file_path":"/w/dep.go","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"go build ./... 2>&1 | tail -5"} -> "b.go:3:1: undefined: Handler"
//! assistant: These errors are pre-existing, not related to the change.
//! Bash {"command":"git commit -am x"} -> "[main 1a2b3c] x"
//! ```
//!
//! ```quiet
//! Bash {"command":"go build ./cmd"} !1 "b.go:3:1: undefined: Handler"
//! Edit {"file_path":"/w/dep.go","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"go build ./..."} !1 "b.go:3:1: undefined: Handler"
//! assistant: These errors are pre-existing.
//! ```
//!
//! ```quiet
//! Edit {"file_path":"/w/dep.go","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"go build ./..."} !1 "b.go:3:1: undefined: Handler"
//! assistant: These errors are pre-existing.
//! Bash {"command":"git stash && go build ./..."} !1 "b.go:3:1: undefined: Handler"
//! ```
//!
//! Nothing contradicts it, or it was fixed anyway:
//!
//! ```quiet
//! Bash {"command":"make lint"} !1 "b.go:3: unused"
//! assistant: This issue is pre-existing, not from our changes.
//! Bash {"command":"git status"} -> "clean"
//! ```
//!
//! ```quiet
//! Bash {"command":"make lint"} -> "0 issues"
//! Bash {"command":"make lint"} !1 "b.go:3: unused"
//! assistant: This issue is unrelated to my change, but let me fix it.
//! Edit {"file_path":"/w/b.go","old_string":"x","new_string":"y"} -> "ok"
//! ```
//!
//! ```quiet
//! Bash {"command":"make lint"} -> "0 issues"
//! Bash {"command":"make lint"} !1 "b.go:3: unused"
//! assistant: These errors are pre-existing. Let me verify.
//! Bash {"command":"git checkout b.go"} -> ""
//! Bash {"command":"make lint"} -> "0 issues"
//! ```

use super::r404_claimed_success::changes_code;
use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::error_class::ErrorClass;
use toolmark_session::purpose::Purpose;
use toolmark_session::recovery::{RecoveryFault, SessionFailure};
use toolmark_session::session::{Session, SessionCall};
use toolmark_trace::EventKind;

pub(crate) static RULE: Rule = Rule {
    code: "R410",
    name: "explained-away",
    axis: Axis::Recovery,
    severity: Severity::Warning,
    confidence: Confidence::Medium,
    summary: "dismisses a failed check although the session contradicts the excuse",
    remedy: "run the same check on the base branch before calling a failure pre-existing",
    source: page!("r410_explained_away.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for failure in session.failures().iter().filter(|failure| failure.asks) {
        let Some(failed) = session.calls().get(failure.at) else { continue };
        let Some(excuse) = failure.excuse else { continue };
        recorder.count_opportunity(failed);
        let edit = match failure.is_fault(RecoveryFault::ExplainedAway) {
            true => None,
            false => edit_without_baseline(session, failure),
        };
        if edit.is_none() && !failure.is_fault(RecoveryFault::ExplainedAway) {
            continue;
        }
        let (tool, class) = (&failed.tool, failure.class.word());
        let message = match edit {
            None => format!("{tool} failed ({class}) and was explained away"),
            Some(_) => {
                format!("{tool} failed ({class}) and was called pre-existing without a baseline")
            }
        };
        let mut draft =
            Draft::new(failed, message).about("the check that failed").bucket(failure.class.word());
        if let Some(said) = session.events().get(excuse.event) {
            draft =
                draft.evidence(session.event_evidence(EvidenceRole::Context, "the excuse", said));
        }
        if let Some(call) = excuse.contradicted_by.and_then(|at| session.calls().get(at)) {
            draft = draft.evidence(session.evidence(
                EvidenceRole::Context,
                "what contradicts it",
                call,
            ));
        }
        if let Some(edit) = edit {
            draft = draft.evidence(session.evidence(
                EvidenceRole::Context,
                "the first edit of code",
                edit,
            ));
        }
        if let Some(next) = failure.by.and_then(|at| session.calls().get(at)) {
            draft = draft.evidence(session.evidence(EvidenceRole::Context, "the next move", next));
        }
        recorder.find(draft);
    }
}

/// Number of calls after an excuse in which to look for a baseline.
const REACH: usize = 6;

/// Returns the first edit of code before a failed build, if nothing shows the state before it.
/// A compaction may hide a baseline, and linters also complain about unedited code.
fn edit_without_baseline<'s, 'a>(
    session: &'s Session<'a>,
    failure: &SessionFailure,
) -> Option<&'s SessionCall<'a>> {
    const LINTERS: &[&str] = &["lint", "clippy", "ruff", "flake8", "vet", "biome", "check", "fmt"];
    let calls = session.calls();
    let failed = calls.get(failure.at)?;
    let line = failed.line()?;
    let excuse = failure.excuse.filter(|_| failure.class == ErrorClass::Build)?;
    if LINTERS.iter().any(|word| line.contains(word)) || said_by_user(session, excuse.event) {
        return None;
    }
    let events = session.events().get(..excuse.event)?;
    // An excuse that names a file rests on the output.
    let said = session.events().get(excuse.event)?.text.as_ref()?.plain();
    let output = failed.result().unwrap_or_default();
    let names = |word: &str| word.len() > 4 && word.contains('.') && output.contains(word);
    if said.split([' ', '`', '(', ')', ',', '\n']).any(names) {
        return None;
    }
    if events.iter().any(|event| event.kind == EventKind::Compaction) {
        return None;
    }
    let first = calls.get(..failure.at)?.iter().position(changes_code)?;
    let next = calls.partition_point(|call| call.event < excuse.event);
    let seen = calls.get(..calls.len().min(next + REACH))?.iter().enumerate();
    let is_baseline = |(at, call): (usize, &SessionCall<'_>)| match call.role {
        ToolRole::Dispatches => at > first,
        ToolRole::RunsShell => call.line().is_some_and(|line| match at < first {
            true => matches!(line.purpose(), Purpose::Tests | Purpose::Builds),
            false => looks_at_base(line),
        }),
        _ => false,
    };
    let mut seen = seen;
    if seen.any(is_baseline) { None } else { calls.get(first) }
}

/// Whether a command examines the state before the edits.
fn looks_at_base(command: &str) -> bool {
    const LOOKS: &[&str] = &[
        "git stash",
        "git worktree",
        "git checkout",
        "git switch",
        "git clone",
        "git diff",
        "git log",
        "git blame",
        "git show",
        "git bisect",
        "git status",
        "gh run",
        "gh pr",
        "gh api",
        "gh issue",
    ];
    LOOKS.iter().any(|words| command.contains(words))
}

/// Whether the user, or a text given to the model, mentions such failures.
fn said_by_user(session: &Session<'_>, event: usize) -> bool {
    const KNOWN: &[&str] =
        &["pre-existing", "preexisting", "known issue", "already fail", "already broken"];
    session.given_before(event).any(|given| {
        let text = given.text.as_ref().map(|text| text.plain().to_lowercase());
        text.is_some_and(|text| KNOWN.iter().any(|words| text.contains(words)))
    })
}
