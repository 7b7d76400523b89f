//! Failures behind exit code 0: the exit code proves nothing because of the command itself
//! (`|| true`, `| tail`, `; echo done`), and the output shows that something failed.

use crate::error_class::{ErrorClass, TextEnds, of_command};
use crate::result_kind::read_command;
use crate::session::{Ended, SessionCall};
use crate::shell::CommandLine;
use std::borrow::Cow;
use toolmark_shell::results::ResultKind;

/// A failure that the exit code does not show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenFailure {
    /// Class of the failure.
    pub class: ErrorClass,
    /// Line that shows the failure.
    pub line: String,
}

/// Returns the failure that a call hides, if any. The result is read only once.
#[must_use]
pub fn find<'c>(call: &'c SessionCall<'_>) -> Option<&'c HiddenFailure> {
    call.hidden(|| find_in_call(call))
}

fn find_in_call(call: &SessionCall<'_>) -> Option<HiddenFailure> {
    let command = call.line()?;
    match call.ended {
        Ended::Failed => None,
        Ended::Ok => find_in_line(command, || call.result()),
        // Without a status, no exit code hides anything.
        Ended::Unknown => read_failure(command, &call.result()?),
    }
}

/// Returns the failure hidden in the output of a command that reports success.
#[must_use]
pub fn find_in<'t>(
    command: &str,
    printed: impl FnOnce() -> Option<Cow<'t, str>>,
) -> Option<HiddenFailure> {
    find_in_line(&CommandLine::new(command), printed)
}

fn find_in_line<'t>(
    command: &CommandLine<'_>,
    printed: impl FnOnce() -> Option<Cow<'t, str>>,
) -> Option<HiddenFailure> {
    if !command.proves_nothing() || command.only_looks() {
        return None;
    }
    read_failure(command, &printed()?)
}

/// Returns the failure that the output of a command shows.
fn read_failure(command: &CommandLine<'_>, text: &str) -> Option<HiddenFailure> {
    let reading = read_command(command, Ended::Unknown, None, text)?;
    let text = TextEnds::new(text);
    // A resource that does not exist is often what the command was to find out.
    if !reading.kind.is_failure() || reading.kind == ResultKind::NotFound {
        return None;
    }
    let class = match reading.kind {
        ResultKind::MissingProgram => ErrorClass::CommandNotFound,
        ResultKind::UsageError => ErrorClass::BadArguments,
        ResultKind::CutOff => ErrorClass::Timeout,
        ResultKind::RateLimited => ErrorClass::Network,
        ResultKind::NotAuthenticated | ResultKind::Refused => ErrorClass::NoPermission,
        _ => of_command(command, None, &text),
    };
    let line = reading.line?.trim().chars().take(200).collect();
    Some(HiddenFailure { class, line })
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
            let found = session.calls().first().and_then(|call| find(call));
            let found = found.map(|hidden| hidden.class.word());
            assert_eq!(found, want, "{trace}");
        }
    }
}
