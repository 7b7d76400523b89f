//! Failures behind exit code 0: the exit code proves nothing because of the command itself
//! (`|| true`, `| tail`, `; echo done`), and the output shows that something failed.

use crate::error_class::{ErrorClass, TextEnds, is_not_found, of_command};
use crate::purpose::Purpose;
use crate::session::{Ended, SessionCall};
use crate::shell::CommandLine;
use crate::words::Words;
use std::borrow::Cow;

/// A failure that the exit code does not show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenFailure {
    /// Class of the failure.
    pub class: ErrorClass,
    /// Line that shows the failure.
    pub line: String,
}

/// Words without which only the output of tests and builds can show a failure.
static SIGNS: Words = Words::new(|| {
    Words::searcher(&[
        "not found",
        "EADDRINUSE",
        "already in use",
        "is not available",
        "Traceback (most recent call last)",
    ])
});

/// Header of a Python traceback.
const TRACEBACK: &str = "Traceback (most recent call last):";

/// Returns the failure that a call hides, if any.
#[must_use]
pub fn find(call: &SessionCall<'_>) -> Option<HiddenFailure> {
    if call.ended == Ended::Failed {
        return None;
    }
    find_in_line(call.line()?, |purpose| {
        let is_run = matches!(purpose, Purpose::Tests | Purpose::Builds);
        if is_run || call.may_say(&SIGNS) { call.result() } else { None }
    })
}

/// Returns the failure hidden in the output of a command that reports success.
#[must_use]
pub fn find_in<'t>(
    command: &str,
    printed: impl FnOnce() -> Option<Cow<'t, str>>,
) -> Option<HiddenFailure> {
    find_in_line(&CommandLine::new(command), |_| printed())
}

fn find_in_line<'t>(
    command: &CommandLine<'_>,
    printed: impl FnOnce(Purpose) -> Option<Cow<'t, str>>,
) -> Option<HiddenFailure> {
    if !command.proves_nothing() || command.only_looks() {
        return None;
    }
    let purpose = command.purpose();
    let text = printed(purpose)?;
    let text = TextEnds::new(&text);
    let is_python = command.contains("python");
    let line = text
        .lines()
        .find(|line| shows_failure(line, purpose) || (is_python && line.trim() == TRACEBACK))?;
    let class = match is_not_found(line) {
        true => ErrorClass::CommandNotFound,
        false => of_command(command, None, &text),
    };
    let line = line.trim().chars().take(200).collect();
    Some(HiddenFailure { class, line })
}

/// Whether the line is only printed by a failure. Lines of tests and builds are only
/// recognized for commands that test or build.
fn shows_failure(line: &str, purpose: Purpose) -> bool {
    let line = line.trim();
    if is_not_found(line) {
        return true;
    }
    match purpose {
        Purpose::Tests => is_test_failure(line) || is_build_failure(line),
        Purpose::Builds => is_build_failure(line),
        _ => is_port_taken(line),
    }
}

/// Whether a server reports that it could not start, rather than that it uses another port.
fn is_port_taken(line: &str) -> bool {
    let is_port = line.contains("EADDRINUSE")
        || line.contains("ddress already in use")
        || (line.contains("Port ") && line.ends_with(" is not available"))
        || (line.contains("ort ") && line.ends_with(" is already in use"));
    is_port && !line.contains("trying") && !line.contains("using ")
}

fn is_test_failure(line: &str) -> bool {
    line.starts_with("test result: FAILED")
        || line.starts_with("FAILED (")
        || line == "FAIL"
        || line.starts_with("FAIL\t")
        || line.starts_with("--- FAIL: ")
        || line.starts_with("error: test failed")
        || line.starts_with("npm ERR! Test failed")
        || line.starts_with("ERROR: No matching tests")
        || (counts(line, "failed") && !line.starts_with("test result: ok"))
}

/// Whether a summary line has a count above zero, such as `3 failed`.
fn counts(line: &str, word: &str) -> bool {
    let sums_up = line.starts_with("Tests:")
        || line.starts_with("Test Suites:")
        || line.starts_with("Tests  ")
        || line.starts_with("Test Files  ")
        || line.starts_with("=====")
        || line.starts_with(|c: char| c.is_ascii_digit());
    let mut before = "";
    sums_up
        && line.split([' ', ',', '|', '(', ')']).filter(|part| !part.is_empty()).any(|part| {
            let is_count = part == word && before.parse::<u64>().is_ok_and(|n| n > 0);
            before = part;
            is_count
        })
}

fn is_build_failure(line: &str) -> bool {
    line.starts_with("error[E")
        || line.starts_with("error: could not compile")
        || line.starts_with("make: *** ")
        || line.starts_with("npm ERR! code ELIFECYCLE")
        || line.starts_with("BUILD FAILED")
        || line.starts_with("FAILURE: Build failed")
        || line.contains(": error TS")
        || line.contains(": fatal error: ")
        || (line.starts_with("Found ") && line.contains(" error") && !line.contains("Found 0 "))
        || line.starts_with("[build failed]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;
    use crate::session::Session;
    use toolmark_hosts::toolset::Toolsets;

    #[test]
    fn what_hides_a_failure() {
        for (trace, want) in [
            (
                r#"Bash {"command":"cargo test 2>&1 | tail -5"} -> "test result: FAILED. 1 passed; 2 failed""#,
                Some("tests"),
            ),
            (
                r#"Bash {"command":"npm test || true"} -> "Tests: 2 failed, 3 passed""#,
                Some("tests"),
            ),
            (
                r#"Bash {"command":"make; echo done"} -> "make: *** [all] Error 2\ndone""#,
                Some("build"),
            ),
            (
                r#"Bash {"command":"npx tsc --noEmit | head"} -> "a.ts(1,2): error TS2322: no""#,
                Some("build"),
            ),
            (
                r#"Bash {"command":"frob x || true"} -> "bash: line 1: frob: command not found""#,
                Some("127"),
            ),
            (
                r#"Bash {"command":"cargo test 2>&1 | tail -5"} -> "test result: ok. 1 passed; 0 failed""#,
                None,
            ),
            (r#"Bash {"command":"cargo test"} -> "test result: FAILED. 1 passed; 2 failed""#, None),
            (
                r#"Bash {"command":"cat log | tail -5"} -> "test result: FAILED. 1 passed; 2 failed""#,
                None,
            ),
            (r#"Bash {"command":"pytest | tail"} -> "===== 3 passed, 0 failed in 1s =====""#, None),
            (r#"Bash {"command":"cargo test | tail"} !1 "test result: FAILED.""#, None),
        ] {
            let run = notation::parse(trace).unwrap();
            let toolsets = Toolsets::default();
            let session = Session::new(&run, &toolsets);
            let found = session.calls().first().and_then(find).map(|m| m.class.word());
            assert_eq!(found, want, "{trace}");
        }
    }
}
