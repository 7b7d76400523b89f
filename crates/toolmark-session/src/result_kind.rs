//! The meaning of the result of a call, for shell commands and for tools of hosts.

use crate::error_class::{ErrorClass, TextEnds, classify};
use crate::session::{Ended, SessionCall};
use crate::shell::CommandLine;
use std::borrow::Cow;
use toolmark_hosts::results::{note_of_host, note_of_tool, unframe};
use toolmark_hosts::toolset::ToolRole;
use toolmark_shell::results::{
    Ending, ResultKind, ResultReading, kind_of_message, kind_of_object, read,
};
use toolmark_trace::Status;

/// The meaning of the result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallReading {
    /// Meaning of the result.
    pub kind: ResultKind,
    /// The line that shows it, if one does.
    pub line: Option<String>,
    /// Name of the program that it is about, if the call runs a command.
    pub program: Option<String>,
    /// Whether the status of the call does not tell it: the command hides its exit code, or the
    /// host reports success.
    pub is_masked: bool,
}

impl From<ResultKind> for CallReading {
    fn from(kind: ResultKind) -> Self {
        Self { kind, line: None, program: None, is_masked: false }
    }
}

/// Returns what the result of a call means.
#[must_use]
pub fn result_kind(call: &SessionCall<'_>) -> ResultKind {
    reading(call).kind
}

/// Returns what the result of a call means, and the line that shows it. The result is read only
/// once.
#[must_use]
pub fn reading<'c>(call: &'c SessionCall<'_>) -> &'c CallReading {
    call.reading(|| read_result(call))
}

fn read_result(call: &SessionCall<'_>) -> CallReading {
    match call.call.status {
        Status::Denied => return ResultKind::Refused.into(),
        Status::Interrupted => return ResultKind::CutOff.into(),
        Status::Unanswered => return ResultKind::Unknown.into(),
        _ if !call.has_result() => return ResultKind::Unknown.into(),
        _ => {}
    }
    let text = unwrapped(call.result().unwrap_or_default());
    let reads = matches!(call.role, ToolRole::Reads);
    // A file that was read may contain any words.
    let may_be_content = reads && call.ended == Ended::Ok;
    let note = if may_be_content { None } else { note_of_host(&text) };
    if let Some(note) = note {
        return found(call, note.kind, Some(note.line));
    }
    match call.line() {
        Some(command) => {
            let code = call.call.exit_code;
            match read_command(command, call.ended, code, &text) {
                Some(ResultReading { kind, line, program, is_masked }) => {
                    let line = line.map(str::to_owned);
                    let is_masked = is_masked || hides(call, kind);
                    CallReading { kind, line, program, is_masked }
                }
                None => ResultKind::Unknown.into(),
            }
        }
        None => of_tool(call, &text),
    }
}

/// Returns the output inside an object of the first versions of Codex:
/// `{"output":"…","metadata":{"exit_code":0}}`.
fn unwrapped(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.starts_with("{\"output\":\"") {
        return text;
    }
    match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(mut value) => match value.get_mut("output").map(serde_json::Value::take) {
            Some(serde_json::Value::String(output)) => Cow::Owned(output),
            _ => text,
        },
        Err(_) => text,
    }
}

/// Reads the output of a command without the frame of its host.
pub(crate) fn read_command<'t>(
    command: &CommandLine<'_>,
    ended: Ended,
    exit_code: Option<i64>,
    text: &'t str,
) -> Option<ResultReading<'t>> {
    let frame = unframe(text);
    let code = exit_code.or(frame.exit_code);
    let ending = match (ended, code) {
        (Ended::Failed, code) => Ending::Failed(code.filter(|code| *code != 0)),
        (_, Some(0)) | (Ended::Ok, None) => Ending::Succeeded,
        (_, Some(code)) => Ending::Failed(Some(code)),
        (Ended::Unknown, None) => Ending::Unrecorded,
    };
    Some(read(command.parsed()?, ending, TextEnds::new(frame.body).parts()))
}

/// Whether the host reports success for a failure.
fn hides(call: &SessionCall<'_>, kind: ResultKind) -> bool {
    call.ended == Ended::Ok && kind.is_failure()
}

fn found(call: &SessionCall<'_>, kind: ResultKind, line: Option<&str>) -> CallReading {
    let line = line.map(str::to_owned);
    CallReading { kind, line, program: None, is_masked: hides(call, kind) }
}

fn of_tool(call: &SessionCall<'_>, text: &str) -> CallReading {
    let is_content = matches!(call.role, ToolRole::Reads) && call.ended == Ended::Ok;
    let note = call.spec.filter(|_| !is_content).and_then(|tool| note_of_tool(tool, text));
    if let Some(note) = note {
        return found(call, note.kind, Some(note.line));
    }
    let body = unframe(text).body.trim();
    let line = body.lines().next();
    if call.ended == Ended::Failed {
        let class = classify(call);
        let of_message = || kind_of_message(body);
        let kind = match class {
            // The text to be replaced is not found: the edit failed.
            Some(ErrorClass::EditNoMatch) => Some(ResultKind::Failed),
            _ if edits(call.role) && misses_text(body) => Some(ResultKind::Failed),
            class => of_message().or_else(|| class.map(of_class)),
        };
        return found(call, kind.unwrap_or(ResultKind::Failed), line);
    }
    if is_content {
        return ResultKind::Passed.into();
    }
    match failure_in(call.role, body) {
        Some(kind) => found(call, kind, line),
        None if names_nothing(call.role, body) => found(call, ResultKind::NothingMatched, line),
        None if call.ended == Ended::Unknown && body.is_empty() => ResultKind::Unknown.into(),
        None => ResultKind::Passed.into(),
    }
}

fn edits(role: ToolRole) -> bool {
    matches!(role, ToolRole::Edits | ToolRole::Patches)
}

/// Whether an editor says that it did not find the text to be replaced.
fn misses_text(body: &str) -> bool {
    let line = body.lines().next().unwrap_or_default().to_ascii_lowercase();
    ["not find", "not found", "no match", "did not match", "does not match"]
        .iter()
        .any(|miss| line.contains(miss))
        && ["text", "string", "oldtext", "context", "match", "lines", "hunk"]
            .iter()
            .any(|thing| line.contains(thing))
}

/// Returns the failure that the text of a result reports although its host does not.
fn failure_in(role: ToolRole, body: &str) -> Option<ResultKind> {
    /// Beginnings of texts that are errors.
    const STARTS: &[&str] = &[
        "Error: ",
        "Error:\n",
        "ERROR: ",
        "ERROR:\n",
        "error: ",
        "Error executing ",
        "Error calling ",
        "Error invoking ",
        "Error fetching ",
        "Error reading ",
        "Error occurred",
        "Failed to ",
        "MCP error ",
        "Traceback (most recent call last)",
        "### Error",
        "❌",
    ];
    if let Some(kind) = kind_of_object(body) {
        return Some(kind);
    }
    let line = body.lines().next().unwrap_or_default();
    let is_exception = line.split_once(": ").is_some_and(|(name, _)| {
        (name.ends_with("Error") || name.ends_with("Exception"))
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'_')
    });
    if is_exception || STARTS.iter().any(|start| body.starts_with(start)) {
        return Some(kind_of_message(body).unwrap_or(ResultKind::Failed));
    }
    // A search may find these words, and a short answer may consist of them.
    let is_answer = matches!(role, ToolRole::Other | ToolRole::FetchesWeb);
    let is_miss = is_answer && body.len() <= MAX_ANSWER && is_missing(body);
    is_miss.then_some(ResultKind::NotFound)
}

/// Maximum length of a text that is an answer in a sentence or two.
const MAX_ANSWER: usize = 200;

/// Whether a short answer says that the thing that was asked for does not exist.
fn is_missing(body: &str) -> bool {
    let text = body.to_ascii_lowercase();
    ["not found", "does not exist", "could not be found", "doesn't exist", "no longer exists"]
        .iter()
        .any(|words| text.contains(words))
}

/// Whether a text is the answer of a search or a list that found nothing.
fn names_nothing(role: ToolRole, body: &str) -> bool {
    const NOTHING: &[&str] =
        &["No matches found", "No files found", "No results found", "No matching ", "Found 0 "];
    let searches = matches!(
        role,
        ToolRole::SearchesContent
            | ToolRole::SearchesNames
            | ToolRole::Other
            | ToolRole::FetchesWeb
    );
    if !searches {
        return false;
    }
    let line = body.lines().next().unwrap_or_default();
    NOTHING.iter().any(|words| line.starts_with(words))
        || body.len() <= MAX_ANSWER
            && line.strip_prefix("No ").is_some_and(|rest| {
                ["found", "available", "yet", "match", "results"].iter().any(|w| rest.contains(w))
            })
}

fn of_class(class: ErrorClass) -> ResultKind {
    match class {
        ErrorClass::Missing => ResultKind::NotFound,
        ErrorClass::TooLarge
        | ErrorClass::Binary
        | ErrorClass::EditAmbiguous
        | ErrorClass::EditNoop
        | ErrorClass::BadArguments => ResultKind::UsageError,
        ErrorClass::CommandNotFound | ErrorClass::Dependency => ResultKind::MissingProgram,
        ErrorClass::Denied | ErrorClass::NoPermission | ErrorClass::NotExecutable => {
            ResultKind::Refused
        }
        ErrorClass::Timeout | ErrorClass::Cancelled => ResultKind::CutOff,
        ErrorClass::NothingFound => ResultKind::NothingMatched,
        ErrorClass::Network
        | ErrorClass::EditNoMatch
        | ErrorClass::EditStale
        | ErrorClass::Conflict
        | ErrorClass::Tests
        | ErrorClass::Build
        | ErrorClass::ExitCode
        | ErrorClass::ToolError
        | ErrorClass::Other => ResultKind::Failed,
    }
}
