//! # What it does
//!
//! Finds test commands that ran no tests but still exited with success: the
//! filter matches nothing, or it never reached the test runner (`npm test -- --
//! --filter x`).
//!
//! # Why
//!
//! Exit code 0 is read as "the tests pass", but nothing was tested.
//!
//! # What to do
//!
//! Check how many tests ran, and pass the filter to the program that
//! understands it.
//!
//! # Examples
//!
//! ```fires
//! Bash {"command":"pnpm --filter api test -- --testPathPattern=shares"} -> "> jest --passWithNoTests -- --testPathPattern=shares\n\nNo tests found, exiting with code 0"
//! ```
//!
//! ```fires
//! Bash {"command":"cargo test parses_it"} -> "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 12 filtered out"
//! ```
//!
//! ```fires
//! Bash {"command":"go test ./cli -run TestNothing"} -> "ok  \texample.com/cli\t0.1s [no tests to run]"
//! ```
//!
//! ```quiet
//! Bash {"command":"cargo test parses_it"} -> "running 1 test\ntest parses_it ... ok\nrunning 0 tests"
//! ```
//!
//! One of several packages has the test:
//!
//! ```quiet
//! Bash {"command":"go test ./... -run TestIt"} -> "ok  \texample.com/cli\t0.1s\nok  \texample.com/lib\t0.1s [no tests to run]"
//! ```
//!
//! The agent checks whether another version has the test:
//!
//! ```quiet
//! Bash {"command":"git stash && git checkout origin/main && go test ./cli -run TestNew"} -> "ok  \texample.com/cli\t0.1s [no tests to run]"
//! ```
//!
//! The tests are meant to be listed or compiled, not run:
//!
//! ```quiet
//! Bash {"command":"pytest --collect-only -q tests/x.py"} -> "no tests ran in 0.02s"
//! Bash {"command":"go test -run '^$' ./..."} -> "ok  \texample.com/cli\t0.1s [no tests to run]"
//! Bash {"command":"go test -run=NONE ./..."} -> "ok  \texample.com/cli\t0.1s [no tests to run]"
//! ```
//!
//! The command failed, so it does not look like a pass:
//!
//! ```quiet
//! Bash {"command":"npx vitest run nothing"} !1 "Exit code 1\nNo test files found, exiting with code 1"
//! ```

use crate::recorder::{Draft, Recorder};
use crate::rule::{Rule, page};
use memchr::memmem;
use toolmark_outcome::EvidenceRole;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::session::{Ended, Session};
use toolmark_session::shell::CommandLine;

pub(crate) static RULE: Rule = Rule {
    code: "A212",
    name: "no-tests-run",
    axis: Axis::Arguments,
    severity: Severity::Warning,
    confidence: Confidence::High,
    summary: "a test command runs no tests and still exits with success",
    remedy: "pass the filter to the program that understands it, and check how many tests ran",
    source: page!("a212_no_tests_run.rs"),
    check,
};

fn check(session: &Session<'_>, recorder: &mut Recorder<'_, '_>) {
    for call in session.calls() {
        let Some(command) = call.line() else { continue };
        // Test runners have many names and are started in many ways.
        let is_run = command.contains("test") && !call.only_looks();
        if call.ended == Ended::Failed || !is_run || is_not_meant(command) {
            continue;
        }
        let Some(result) = call.result() else { continue };
        recorder.count_opportunity(call);
        if let Some(words) = nothing_ran(&result) {
            let said = session.result_evidence(EvidenceRole::Context, "what it printed", call);
            let message = format!("the test run ran no test: {words}");
            recorder.find(Draft::new(call, message).evidence(said));
        }
    }
}

/// Whether the command is not a test run, or tests a version that may have no tests, so that
/// their absence is an answer.
fn is_not_meant(command: &CommandLine<'_>) -> bool {
    command.simple_commands().commands.iter().any(|simple| {
        let words: Vec<&str> = simple.words.iter().map(String::as_str).collect();
        match words.split_first() {
            Some((&"git", rest)) => rest
                .iter()
                .any(|word| matches!(*word, "checkout" | "switch" | "bisect" | "worktree")),
            _ => {
                let matches_nothing =
                    |pair: &[&str]| matches!(pair, ["-run" | "--run", name] if is_no_name(name));
                words.windows(2).any(matches_nothing)
                    || words.iter().any(|word| match word.split_once('=') {
                        Some(("-run" | "--run", name)) => is_no_name(name),
                        _ => matches!(*word, "--collect-only" | "--co" | "--listTests" | "--list"),
                    })
            }
        }
    })
}

/// Whether a filter is meant to match nothing, so that tests are compiled and not run.
fn is_no_name(name: &str) -> bool {
    const NOTHING: &[&str] = &["^$", "$^", "a^", "none", "^none$", "xxx", "^xxx$", "nothing", "-"];
    NOTHING.contains(&name.to_lowercase().as_str())
}

/// Returns the phrase that reports that no test ran.
fn nothing_ran(result: &str) -> Option<&'static str> {
    /// Messages of test runners.
    const SAID: &[&str] = &[
        "No tests found, exiting with code 0",
        "no tests ran in",
        "collected 0 items",
        "Ran 0 tests in",
        "No tests found!",
    ];
    let has = |words: &str| memmem::find(result.as_bytes(), words.as_bytes()).is_some();
    // Most results contain no such message, and are not split into lines.
    let running = if has("running ") { result } else { "" };
    let counts = || {
        let lines = running.lines().filter_map(|line| line.trim().strip_prefix("running "));
        lines.filter_map(|rest| rest.split(' ').next()?.parse::<u64>().ok())
    };
    if let Some(words) = SAID.iter().find(|words| has(words)) {
        // A file that cannot be loaded is a failure, not a filter.
        let has_run = result.contains(" passed")
            || result.contains(" error")
            || counts().any(|count| count > 0);
        return (!has_run).then_some(*words);
    }
    let (mut runs, mut ran) = (0, 0);
    for count in counts() {
        runs += 1;
        ran += count;
    }
    if runs > 0 {
        let is_filtered = result.contains("filtered out") && !result.contains("; 0 filtered out");
        return (ran == 0 && is_filtered).then_some("running 0 tests");
    }
    let packages = if has("[no tests to run]") { result } else { "" };
    let packages =
        packages.lines().filter(|line| line.starts_with("ok  \t") || line.starts_with("FAIL\t"));
    let (mut all, mut without) = (0, 0);
    for line in packages {
        all += 1;
        without += u32::from(line.contains("[no tests to run]"));
    }
    (all > 0 && all == without).then_some("no tests to run")
}
