//! # What it does
//!
//! Looks at the last message of every turn. Three kinds of claims are reported:
//!
//! - that tests pass, the build works or everything works, although the last
//!   test run or build of the turn failed;
//! - that tests pass or the build works, although code was edited in the turn
//!   and nothing was run after the last edit;
//! - that tests pass, the build works, or a linter or a type checker has no
//!   complaints, although no such check was run after the last edit of code.
//!   Scripts, sub-agents and unknown programs may contain the check, so that
//!   nothing is reported after them.
//!
//! The finding shows the run and the sentence. Messages that mention any
//! failure are not reported.
//!
//! # Why
//!
//! The last message is what people read. If it is wrong, the failure is found
//! later by other people.
//!
//! # What to do
//!
//! Run the tests once more after the last change, and report the result.
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
//! A build is not a test run:
//!
//! ```fires
//! Bash {"command":"cargo test"} !101 "test a ... FAILED"
//! Bash {"command":"cargo build"} -> "Finished"
//! assistant: I fixed the issue. All tests pass.
//! ```
//!
//! Nothing was run after the last edit:
//!
//! ```fires
//! Bash {"command":"cargo test"} -> "test result: ok"
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} -> "ok"
//! assistant: Renamed it. All tests pass.
//! ```
//!
//! Something else was run, which shows nothing about the tests:
//!
//! ```fires
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"cargo build"} -> "Finished"
//! assistant: It builds. All tests pass.
//! ```
//!
//! The failed check was fixed and run again:
//!
//! ```quiet
//! Bash {"command":"bun run test && bun run lint"} !1 "1309 pass\n0 fail\nFound 1 error."
//! Bash {"command":"bun run lint:fix"} -> "Fixed 1 file."
//! assistant: Tests pass and lint is clean.
//! ```
//!
//! It is not the last message, or it claims nothing:
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
//!
//! A script may have run the tests:
//!
//! ```quiet
//! Edit {"file_path":"/w/a.rs","old_string":"x","new_string":"y"} -> "ok"
//! Bash {"command":"./ci.sh"} -> "ok"
//! assistant: All tests pass.
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use toolmark_hosts::toolset::ToolRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_session::claims::{Claim, Statement, Topic, claim, claims_run, keeps_silent};
use toolmark_session::error_class::ErrorClass;
use toolmark_session::purpose::Purpose;
use toolmark_session::session::{Ended, Session, SessionCall};
use toolmark_session::shell::CommandLine;
use toolmark_trace::Event;

pub(crate) static RULE: Rule = Rule {
    code: "R404",
    name: "claimed-success",
    axis: Axis::Recovery,
    severity: Severity::Error,
    confidence: Confidence::Medium,
    summary: "claims success although the last run failed, or nothing was run",
    remedy: "run it again after the last change, and report the result",
    source: page!("r404_claimed_success.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    let mut failures = session.failures().iter().peekable();
    // The last failed run of each turn, unless a run passed after it.
    let mut open: Option<(&SessionCall<'_>, ErrorClass)> = None;
    // The last edit of code in a turn, unless something was run after it.
    let mut edited: Option<&SessionCall<'_>> = None;
    let calls = session.calls();
    for (at, call) in calls.iter().enumerate() {
        while failures.next_if(|failure| failure.at < at).is_some() {}
        let failure = failures.next_if(|failure| failure.at == at);
        match failure.map(|failure| failure.class) {
            Some(found @ (ErrorClass::Tests | ErrorClass::Build)) => open = Some((call, found)),
            None if call.ended != Ended::Failed
                && open.is_some_and(|(run, class)| runs(call, run, class)) =>
            {
                open = None
            }
            _ => {}
        }
        match changes_code(call) {
            true => edited = Some(call),
            false if may_run(call) => edited = None,
            false => {}
        }
        let is_last = calls.get(at + 1).is_none_or(|next| next.turn != call.turn);
        if !is_last {
            continue;
        }
        let (run, edit) = (open.take(), edited.take());
        let Some(said) = last_message(session, call) else { continue };
        let text = said.text.as_ref().map(|text| text.plain()).unwrap_or_default();
        if let Some((run, class)) = run {
            recorder.count_opportunity(run);
            if claim(&text) == Claim::Success {
                let message = "the last message claims success, but the last run failed";
                recorder.find(
                    Draft::new(run, message)
                        .about("the last run, which failed")
                        .bucket(class.word())
                        .evidence(claimed(session, said)),
                );
            } else if keeps_silent(&text) {
                let message = "the last message reports the work as done and does not mention \
                               that the last run failed";
                recorder.find(
                    Draft::new(run, message)
                        .about("the last run, which failed")
                        .bucket(class.word())
                        .place(session.place(&said.at))
                        .evidence(claimed(session, said)),
                );
            }
        } else if let Some(edit) = edit {
            recorder.count_opportunity(edit);
            if claims_run(&text) {
                let message = "the last message claims a run that passed, but nothing was run \
                               after the last edit";
                recorder.find(
                    Draft::new(edit, message)
                        .about("the last edit")
                        .bucket("not-run")
                        .remedy("run the tests or the build after the last edit")
                        .evidence(claimed(session, said)),
                );
                continue;
            }
        }
        if claim(&text) != Claim::Failure {
            unchecked(session, recorder, at, said);
        }
    }
}

/// Reports a statement about a check that was not run after the last edit of code.
fn unchecked(session: &Session<'_>, recorder: &mut Recorder<'_, '_>, at: usize, said: &Event) {
    let is_said = |one: &&Statement| {
        session.events().get(one.event).is_some_and(|event| std::ptr::eq(event, said))
    };
    for statement in session.statements().iter().filter(is_said) {
        let Some(check) = statement.topic.check() else { continue };
        let Some(edit) = edit_without(session, at, statement.topic) else { continue };
        let message =
            format!("the last message reports {check}, which did not run after the last edit");
        recorder.find(
            Draft::new(edit, message)
                .about("the last edit")
                .bucket("not-run")
                .remedy("run the check after the last edit, and report its result")
                .place(session.place(&said.at))
                .evidence(claimed(session, said)),
        );
        return;
    }
}

/// Returns the last edit of code before a place, unless a check about the topic, or a command
/// that may contain one, was run after it.
fn edit_without<'s, 'a>(
    session: &'s Session<'a>,
    at: usize,
    topic: Topic,
) -> Option<&'s SessionCall<'a>> {
    let last = session.calls().get(at)?;
    let earlier = session.calls().get(..=at)?.iter().rev();
    let mut seen_edit = None;
    for call in earlier.take_while(|call| call.turn == last.turn) {
        if changes_code(call) {
            seen_edit = Some(call);
            break;
        }
        if may_check(call, topic) {
            return None;
        }
    }
    seen_edit
}

/// Whether a call checks what a topic is about, or may do so.
fn may_check(call: &SessionCall<'_>, topic: Topic) -> bool {
    if call.role != ToolRole::RunsShell {
        return may_run(call) || call.role == ToolRole::Patches;
    }
    if call.only_looks() {
        return false;
    }
    let Some(line) = call.line() else { return true };
    match (line.purpose(), topic) {
        (Purpose::Tests, Topic::Tests | Topic::Build) => true,
        (Purpose::Builds, Topic::Tests) => line.contains("test") || !is_plain(line),
        (Purpose::Builds, _) => true,
        _ => !is_plain(line),
    }
}

/// Whether a command only contains programs that check nothing by themselves.
fn is_plain(line: &CommandLine<'_>) -> bool {
    const PLAIN: &[&str] = &[
        "cd",
        "ls",
        "cat",
        "echo",
        "mkdir",
        "cp",
        "mv",
        "rm",
        "touch",
        "chmod",
        "grep",
        "rg",
        "sed",
        "head",
        "tail",
        "wc",
        "find",
        "sort",
        "gofmt",
        "goimports",
        "prettier",
        "printf",
        "sleep",
        "which",
        "pwd",
        "true",
        "tee",
        "jq",
        "cut",
        "tr",
        "uniq",
        "awk",
        "diff",
    ];
    let Some(script) = line.parsed() else { return false };
    toolmark_shell::commands(script).iter().all(|visit| {
        let mut words = visit.command.words.iter().map(|word| word.fixed().unwrap_or_default());
        let program = words.next().unwrap_or_default();
        match program.rsplit('/').next().unwrap_or_default() {
            // Hooks may run checks.
            "git" => !words.any(|word| matches!(&*word, "commit" | "push" | "bisect")),
            "cargo" | "go" => words.next().is_some_and(|word| {
                matches!(&*word, "build" | "check" | "fmt" | "clippy" | "vet" | "mod" | "add")
            }),
            "npx" | "tsc" => line.contains("tsc") || line.contains("eslint"),
            name => PLAIN.contains(&name),
        }
    })
}

fn claimed(session: &Session<'_>, said: &Event) -> Evidence {
    session.event_evidence(EvidenceRole::Context, "what the agent claims", said)
}

/// Returns the last message in the turn of a call.
fn last_message<'a>(session: &Session<'a>, last: &SessionCall<'_>) -> Option<&'a Event> {
    session.said_after(last).last()
}

/// Whether a call changes a file that is compiled or run.
pub(crate) fn changes_code(call: &SessionCall<'_>) -> bool {
    const CODE: &[&str] = &[
        "rs", "go", "ts", "tsx", "js", "jsx", "mjs", "py", "java", "kt", "swift", "c", "cc", "cpp",
        "h", "hpp", "rb", "php", "cs", "scala", "sol", "vue", "svelte", "ex", "zig",
    ];
    let is_code =
        |path: &str| path.rsplit_once('.').is_some_and(|(_, extension)| CODE.contains(&extension));
    matches!(call.role, ToolRole::Edits | ToolRole::Writes)
        && call.ended == Ended::Ok
        && call.path.as_deref().is_some_and(is_code)
}

/// Whether a call may have run anything. Unknown tools may.
pub(crate) fn may_run(call: &SessionCall<'_>) -> bool {
    match call.role {
        ToolRole::RunsShell => !call.only_looks(),
        ToolRole::TalksToShell | ToolRole::Dispatches | ToolRole::Other => true,
        _ => false,
    }
}

/// Whether a call runs the failed command again. Calls whose effects are invisible (a script,
/// a sub-agent) may do so too; a successful build says nothing about tests, unless the failed
/// command did both.
fn runs(call: &SessionCall<'_>, failed: &SessionCall<'_>, class: ErrorClass) -> bool {
    match call.role {
        ToolRole::RunsShell => call.line().is_some_and(|command| match command.purpose() {
            Purpose::Tests => true,
            Purpose::Builds => {
                let is_both = |command: &CommandLine<'_>| command.checks().len() > 1;
                class == ErrorClass::Build || failed.line().is_some_and(is_both)
            }
            _ => !call.only_looks() && command.contains("test"),
        }),
        ToolRole::TalksToShell | ToolRole::Dispatches => true,
        _ => false,
    }
}
