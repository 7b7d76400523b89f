//! The meaning of the result of a call, for shell commands and for tools of hosts.

use crate::error_class::{ErrorClass, TextEnds, classify};
use crate::session::{Ended, SessionCall};
use toolmark_hosts::toolset::ToolRole;
use toolmark_shell::results::{Ending, ResultKind, read};
use toolmark_trace::Status;

/// Answers of search tools that found nothing.
const NOTHING: &[&str] = &["No matches found", "No files found", "No results found", "Found 0 "];

/// Returns what the result of a call means.
#[must_use]
pub fn result_kind(call: &SessionCall<'_>) -> ResultKind {
    match call.call.status {
        Status::Denied => return ResultKind::Refused,
        Status::Interrupted => return ResultKind::CutOff,
        Status::Unanswered => return ResultKind::Unknown,
        _ if !call.has_result() => return ResultKind::Unknown,
        _ => {}
    }
    match call.line().and_then(|command| command.parsed()) {
        Some(script) => {
            let text = call.result().unwrap_or_default();
            let ending = match call.ended {
                Ended::Ok => Ending::Succeeded,
                Ended::Failed => Ending::Failed(call.call.exit_code),
                Ended::Unknown => Ending::Unrecorded,
            };
            read(script, ending, TextEnds::new(&text).parts()).kind
        }
        None => of_tool(call),
    }
}

fn of_tool(call: &SessionCall<'_>) -> ResultKind {
    if let Some(class) = classify(call) {
        return of_class(class);
    }
    let is_search = matches!(call.role, ToolRole::SearchesContent | ToolRole::SearchesNames);
    let start = call.result_start(64).unwrap_or_default();
    match call.ended {
        _ if is_search && NOTHING.iter().any(|words| start.trim_start().starts_with(words)) => {
            ResultKind::NothingMatched
        }
        Ended::Ok => ResultKind::Passed,
        _ => ResultKind::Unknown,
    }
}

fn of_class(class: ErrorClass) -> ResultKind {
    match class {
        ErrorClass::Missing => ResultKind::NotFound,
        ErrorClass::TooLarge
        | ErrorClass::Binary
        | ErrorClass::EditNoMatch
        | ErrorClass::EditAmbiguous
        | ErrorClass::EditStale
        | ErrorClass::EditNoop
        | ErrorClass::BadArguments => ResultKind::UsageError,
        ErrorClass::CommandNotFound | ErrorClass::Dependency => ResultKind::MissingProgram,
        ErrorClass::Denied | ErrorClass::NoPermission | ErrorClass::NotExecutable => {
            ResultKind::Refused
        }
        ErrorClass::Timeout | ErrorClass::Cancelled => ResultKind::CutOff,
        ErrorClass::NothingFound => ResultKind::NothingMatched,
        ErrorClass::Network
        | ErrorClass::Conflict
        | ErrorClass::Tests
        | ErrorClass::Build
        | ErrorClass::ExitCode
        | ErrorClass::ToolError
        | ErrorClass::Other => ResultKind::Failed,
    }
}
