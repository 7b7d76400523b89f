//! Classifies the error of a failed call by the messages and codes of its host.
//!
//! Exit codes take precedence over messages, because messages are translated and may come
//! from the files that a command shows. The purpose of a command takes precedence over an
//! exit code that only reports a failure.

use crate::purpose::Purpose;
use crate::session::{Ended, SessionCall};
use crate::shell::CommandLine;
use crate::tool_effect::ToolEffect;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use memchr::memmem;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolmark_hosts::toolset::ToolRole;
use toolmark_trace::Status;

/// Classes of errors for which the right next step is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorClass {
    /// The file to read, search or edit does not exist.
    Missing,
    /// The file is too large to read at once.
    TooLarge,
    /// The file is a directory or not text.
    Binary,
    /// The text to be replaced does not occur in the file.
    EditNoMatch,
    /// The text to be replaced occurs more than once in the file.
    EditAmbiguous,
    /// The file was not read before, or has changed since.
    EditStale,
    /// The edit would change nothing.
    EditNoop,
    /// Exit code 127: the program does not exist.
    CommandNotFound,
    /// A required library is missing.
    Dependency,
    /// Exit code 126: the file is not executable.
    NotExecutable,
    /// The operating system denied permission.
    NoPermission,
    /// Timeout.
    Timeout,
    /// The arguments or the tool name were rejected.
    BadArguments,
    /// The user, a hook or a policy denied the call.
    Denied,
    /// Transient errors: the network, a rate limit, a lock held by another process.
    Network,
    /// Git reports a conflict, or changes prevent the operation.
    Conflict,
    /// Tests failed.
    Tests,
    /// A build, a type check or a linter failed.
    Build,
    /// A search without matches, which is an answer and not a fault.
    NothingFound,
    /// The call was cancelled for another reason.
    Cancelled,
    /// Another failed shell command.
    ExitCode,
    /// A tool that is not part of the host reports a failure.
    ToolError,
    /// Any other error.
    Other,
}

impl ErrorClass {
    /// Returns the word used as the name of the bucket.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::TooLarge => "too-large",
            Self::Binary => "binary",
            Self::EditNoMatch => "no-match",
            Self::EditAmbiguous => "ambiguous",
            Self::EditStale => "stale",
            Self::EditNoop => "no-op",
            Self::CommandNotFound => "127",
            Self::Dependency => "dependency",
            Self::NotExecutable => "126",
            Self::NoPermission => "permission",
            Self::Timeout => "timeout",
            Self::BadArguments => "bad-arguments",
            Self::Denied => "denied",
            Self::Network => "network",
            Self::Conflict => "conflict",
            Self::Tests => "tests",
            Self::Build => "build",
            Self::NothingFound => "none-found",
            Self::Cancelled => "cancelled",
            Self::ExitCode => "exit",
            Self::ToolError => "error",
            Self::Other => "other",
        }
    }

    /// Whether the agent has to recover from the error. A search without matches has given
    /// its answer, and a cancelled call says nothing about the agent.
    #[must_use]
    pub fn is_fault(self) -> bool {
        !matches!(self, Self::NothingFound | Self::Cancelled)
    }
}

/// Maximum number of bytes to examine at the start and at the end of an error's text.
const MAX_EXAMINED: usize = 4 << 10;

type ErrorWords = &'static [(&'static str, ErrorClass)];

/// Messages of editing tools. Only the results of such tools are searched, because files may
/// contain the same words.
const EDIT_WORDS: ErrorWords = &[
    ("`new_str` and `old_str` must be different", ErrorClass::EditNoop),
    ("String to replace not found", ErrorClass::EditNoMatch),
    ("0 occurrences found for old_string", ErrorClass::EditNoMatch),
    ("could not find the string to replace", ErrorClass::EditNoMatch),
    ("Failed to find expected lines", ErrorClass::EditNoMatch),
    ("Failed to find context", ErrorClass::EditNoMatch),
    ("No match found", ErrorClass::EditNoMatch),
    ("No replacement was performed", ErrorClass::EditNoMatch),
    ("did not appear verbatim", ErrorClass::EditNoMatch),
    ("matches of the string to replace, but", ErrorClass::EditAmbiguous),
    ("Expected 1 occurrence but found", ErrorClass::EditAmbiguous),
    ("Multiple matches found", ErrorClass::EditAmbiguous),
    ("Multiple occurrences of old_str", ErrorClass::EditAmbiguous),
    ("File has not been read yet", ErrorClass::EditStale),
    ("File has been modified since read", ErrorClass::EditStale),
    ("File has been unexpectedly modified", ErrorClass::EditStale),
    ("No changes to make", ErrorClass::EditNoop),
    ("old_string and new_string are identical", ErrorClass::EditNoop),
    ("old_string and new_string are exactly the same", ErrorClass::EditNoop),
];

const FILE_WORDS: ErrorWords = &[
    ("exceeds maximum allowed", ErrorClass::TooLarge),
    ("exceeds the maximum", ErrorClass::TooLarge),
    ("File too large", ErrorClass::TooLarge),
    ("EISDIR", ErrorClass::Binary),
    ("Is a directory", ErrorClass::Binary),
    ("Path is a directory", ErrorClass::Binary),
    ("cannot read binary files", ErrorClass::Binary),
    ("Cannot display content of binary file", ErrorClass::Binary),
    ("File not found", ErrorClass::Missing),
    ("Directory not found", ErrorClass::Missing),
    ("Path not found", ErrorClass::Missing),
    ("does not exist", ErrorClass::Missing),
    ("No such file or directory", ErrorClass::Missing),
    ("ENOENT", ErrorClass::Missing),
    ("Path must be absolute", ErrorClass::BadArguments),
];

/// Messages of hosts about any tool.
const HOST_WORDS: ErrorWords = &[
    // The host could not start one of its own programs, so the path is not the cause.
    ("posix_spawn '", ErrorClass::Other),
    ("doesn't want to proceed with this tool use", ErrorClass::Denied),
    ("doesn't want to take this action", ErrorClass::Denied),
    ("has been denied", ErrorClass::Denied),
    ("Permission for this tool use was denied", ErrorClass::Denied),
    ("requested permissions to", ErrorClass::Denied),
    ("PreToolUse:", ErrorClass::Denied),
    ("hook denied", ErrorClass::Denied),
    ("rejected by user", ErrorClass::Denied),
    ("patch rejected", ErrorClass::Denied),
    ("Permission denied and could not request permission", ErrorClass::Denied),
    ("url_not_allowed", ErrorClass::Denied),
    ("Sibling tool call errored", ErrorClass::Cancelled),
    ("Cancelled: parallel tool call", ErrorClass::Cancelled),
    ("[Request interrupted by user", ErrorClass::Cancelled),
    ("aborted by user", ErrorClass::Cancelled),
    ("cancelled by user", ErrorClass::Cancelled),
    ("Command aborted", ErrorClass::Cancelled),
    ("InputValidationError", ErrorClass::BadArguments),
    ("failed to parse function arguments", ErrorClass::BadArguments),
    ("Invalid inputs:", ErrorClass::BadArguments),
    ("is required for command", ErrorClass::BadArguments),
    ("Invalid `view_range` parameter", ErrorClass::BadArguments),
    ("Invalid patch", ErrorClass::BadArguments),
    ("invalid patch", ErrorClass::BadArguments),
    ("unsupported call", ErrorClass::BadArguments),
    ("params must have required property", ErrorClass::BadArguments),
    ("No such tool available", ErrorClass::BadArguments),
    ("not found in registry", ErrorClass::BadArguments),
    ("validation error for", ErrorClass::BadArguments),
    ("not found. Available ", ErrorClass::BadArguments),
    ("is not a prompt-based skill", ErrorClass::BadArguments),
    ("missing 1 required positional argument", ErrorClass::BadArguments),
    ("got an unexpected keyword argument", ErrorClass::BadArguments),
    ("Command timed out after", ErrorClass::Timeout),
    ("command timed out after", ErrorClass::Timeout),
    ("exceeded the timeout", ErrorClass::Timeout),
    ("TimeoutError", ErrorClass::Timeout),
    ("timed out after", ErrorClass::Timeout),
];

/// Messages of the operating system and the network about any tool.
const SYSTEM_WORDS: ErrorWords = &[
    ("EACCES", ErrorClass::NoPermission),
    ("EPERM", ErrorClass::NoPermission),
    ("ermission denied", ErrorClass::NoPermission),
    ("Operation not permitted", ErrorClass::NoPermission),
    ("a password is required", ErrorClass::NoPermission),
    ("a terminal is required to read the password", ErrorClass::NoPermission),
    ("403 Forbidden", ErrorClass::NoPermission),
    ("error 403", ErrorClass::NoPermission),
    ("401 Unauthorized", ErrorClass::NoPermission),
    ("ECONNRESET", ErrorClass::Network),
    ("ECONNREFUSED", ErrorClass::Network),
    ("ETIMEDOUT", ErrorClass::Network),
    ("ENOTFOUND", ErrorClass::Network),
    ("EAI_AGAIN", ErrorClass::Network),
    ("Connection refused", ErrorClass::Network),
    ("Connection reset", ErrorClass::Network),
    ("Connection timed out", ErrorClass::Network),
    ("Could not resolve host", ErrorClass::Network),
    ("Temporary failure in name resolution", ErrorClass::Network),
    ("Temporary failure resolving", ErrorClass::Network),
    ("Network is unreachable", ErrorClass::Network),
    ("Too Many Requests", ErrorClass::Network),
    ("rate limit", ErrorClass::Network),
    ("status code 429", ErrorClass::Network),
    ("503 Service Unavailable", ErrorClass::Network),
    ("url_not_accessible", ErrorClass::Network),
    ("index.lock': File exists", ErrorClass::Network),
    // A key agent that did not answer.
    ("agent refused operation", ErrorClass::Network),
    ("agent returned an error", ErrorClass::Network),
    ("gpg failed to sign the data", ErrorClass::Network),
    ("failed to write commit object", ErrorClass::Network),
    ("Could not get lock", ErrorClass::Network),
    ("database is locked", ErrorClass::Network),
];

/// Messages of git about operations that cannot proceed.
const GIT_WORDS: ErrorWords = &[
    ("CONFLICT (", ErrorClass::Conflict),
    ("would be overwritten by", ErrorClass::Conflict),
    ("You have unstaged changes", ErrorClass::Conflict),
    ("your index contains uncommitted changes", ErrorClass::Conflict),
    ("You have not concluded your merge", ErrorClass::Conflict),
    ("unmerged files", ErrorClass::Conflict),
    ("needs merge", ErrorClass::Conflict),
    ("[rejected]", ErrorClass::Conflict),
    ("divergent branches", ErrorClass::Conflict),
    ("could not apply", ErrorClass::Conflict),
    ("Not possible to fast-forward", ErrorClass::Conflict),
    // The answer to a commit that is not needed.
    ("nothing to commit", ErrorClass::NothingFound),
];

/// Messages of interpreters about missing libraries.
const DEPENDENCY_WORDS: ErrorWords = &[
    ("ModuleNotFoundError", ErrorClass::Dependency),
    ("No module named", ErrorClass::Dependency),
    ("Cannot find module", ErrorClass::Dependency),
    ("ERR_MODULE_NOT_FOUND", ErrorClass::Dependency),
    ("cannot load such file", ErrorClass::Dependency),
    ("cannot open shared object file", ErrorClass::Dependency),
    ("no required module provides package", ErrorClass::Dependency),
];

/// Messages of programs about invalid command lines.
const USAGE_WORDS: ErrorWords = &[
    ("unknown option", ErrorClass::BadArguments),
    ("unrecognized option", ErrorClass::BadArguments),
    ("unrecognized arguments", ErrorClass::BadArguments),
    ("invalid option", ErrorClass::BadArguments),
    ("illegal option", ErrorClass::BadArguments),
    ("unexpected argument", ErrorClass::BadArguments),
    ("unknown flag", ErrorClass::BadArguments),
    ("unknown command", ErrorClass::BadArguments),
    ("Unknown command", ErrorClass::BadArguments),
    ("syntax error near unexpected token", ErrorClass::BadArguments),
    ("unexpected EOF while looking for", ErrorClass::BadArguments),
    ("unrecognized argument", ErrorClass::BadArguments),
    ("Unknown JSON field", ErrorClass::BadArguments),
];

/// Messages of a shell or a program about missing files.
const MISSING_WORDS: ErrorWords = &[
    ("No such file or directory", ErrorClass::Missing),
    ("cannot find the path", ErrorClass::Missing),
    ("can't cd to", ErrorClass::Missing),
    ("did not match any file", ErrorClass::Missing),
    ("unknown revision or path not in the working tree", ErrorClass::Missing),
    ("not a git repository", ErrorClass::Missing),
    (": no matches found: ", ErrorClass::Missing),
    ("Unable to locate package", ErrorClass::Missing),
];

/// Word lists, in the order of [`LISTS`].
#[derive(Debug, Clone, Copy)]
enum ErrorWordList {
    Edit,
    File,
    Host,
    System,
    Git,
    Dependency,
    Usage,
    Missing,
    Runner,
}

/// All lists, so that a text is searched once for all of them.
const LISTS: &[ErrorWords] = &[
    EDIT_WORDS,
    FILE_WORDS,
    HOST_WORDS,
    SYSTEM_WORDS,
    GIT_WORDS,
    DEPENDENCY_WORDS,
    USAGE_WORDS,
    MISSING_WORDS,
    MISSING_RUNNER,
];

/// Returns all words, in the order of their lists.
fn all_words() -> impl Iterator<Item = &'static str> {
    LISTS.iter().flat_map(|list| list.iter().map(|(words, _)| *words))
}

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(all_words()).ok()
});

/// Number of texts searched so far. Building the searcher costs as much as searching for
/// every word in some hundred texts, and a hook has only one text.
static LOOKED_THROUGH: AtomicUsize = AtomicUsize::new(0);
const MANY: usize = 64;

/// Set of the words in a text, as one bit each in the order of the lists.
type FoundWords = [u64; 4];

/// Prefixes of failed results of built-in tools, for hosts that do not mark failures.
const STARTS: &[&str] = &["<tool_use_error>", "ERROR:\n", "Error: "];
const LONGEST_START: usize = 32;

/// Returns the class of a call's error. `None` if the call did not fail: the host did not
/// mark it as failed, and, if the host does not mark calls, the result of a built-in tool has
/// no such prefix.
#[must_use]
pub fn classify(call: &SessionCall<'_>) -> Option<ErrorClass> {
    call.class(|| class_of(call))
}

fn class_of(call: &SessionCall<'_>) -> Option<ErrorClass> {
    if !is_failed(call) {
        return None;
    }
    if call.call.status == Status::Denied {
        return Some(ErrorClass::Denied);
    }
    let text = call.result().unwrap_or(Cow::Borrowed(""));
    let exit_code = call.call.exit_code;
    Some(match call.line() {
        Some(command) => of_failure(call.role, command, exit_code, &text),
        None => of_failure(call.role, &CommandLine::new(""), exit_code, &text),
    })
}

/// Whether there is any sign that the call failed.
#[must_use]
pub fn is_failed(call: &SessionCall<'_>) -> bool {
    match call.ended {
        Ended::Failed => true,
        Ended::Unknown if changes(call) => call
            .result_start(LONGEST_START)
            .is_some_and(|text| STARTS.iter().any(|start| text.starts_with(start))),
        _ => false,
    }
}

/// Whether the name of the tool says that the call changes something.
fn changes(call: &SessionCall<'_>) -> bool {
    call.tool_effect().is_some_and(ToolEffect::is_change)
}

/// Returns the class of a failure, from the role of its tool, its command, the recorded exit
/// code and the text of the result.
#[must_use]
pub fn of_failure(
    role: ToolRole,
    command: &CommandLine<'_>,
    exit_code: Option<i64>,
    text: &str,
) -> ErrorClass {
    let text = TextEnds::new(text);
    match role {
        ToolRole::RunsShell | ToolRole::TalksToShell => {
            of_command(command, exit_code.or_else(|| exit_code_in(&text)), &text)
        }
        role => of_tool(role, &text),
    }
}

/// The class of an error that a shell command shows.
pub fn of_command(
    command: &CommandLine<'_>,
    exit_code: Option<i64>,
    text: &TextEnds<'_>,
) -> ErrorClass {
    match exit_code {
        Some(127) => return ErrorClass::CommandNotFound,
        Some(126) => return ErrorClass::NotExecutable,
        Some(124) => return ErrorClass::Timeout,
        // Unknown host, no connection, timeout, cut off: curl often prints only the code.
        Some(6 | 7 | 28 | 35 | 52 | 56) if command.contains("curl") => return ErrorClass::Network,
        _ => {}
    }
    // The host's message comes first; a command may print anything after it.
    if let Some(class) = text.first_lines().said(ErrorWordList::Host) {
        return class;
    }
    let program = text.said(ErrorWordList::Git).filter(|_| command.contains("git"));
    if let Some(class) = program {
        return class;
    }
    match command.purpose() {
        Purpose::Tests if text.said(ErrorWordList::Runner).is_none() => return ErrorClass::Tests,
        Purpose::Builds if text.said(ErrorWordList::Runner).is_none() => return ErrorClass::Build,
        Purpose::Searches if exit_code.is_none_or(|code| code == 1) && !text.is_complaint() => {
            return ErrorClass::NothingFound;
        }
        _ => {}
    }
    // Without an exit code, and behind wrappers, only the shell's message is available.
    if text.is_not_found() {
        return ErrorClass::CommandNotFound;
    }
    text.said(ErrorWordList::Dependency)
        .or_else(|| text.said(ErrorWordList::System))
        .or_else(|| text.said(ErrorWordList::Usage))
        .or_else(|| text.said(ErrorWordList::Missing))
        .unwrap_or(ErrorClass::ExitCode)
}

/// Messages that show that the tests or the build did not even start.
const MISSING_RUNNER: ErrorWords = &[
    ("No module named pytest", ErrorClass::CommandNotFound),
    ("command not found", ErrorClass::CommandNotFound),
    ("can't cd to", ErrorClass::Missing),
    ("No rule to make target", ErrorClass::Missing),
    ("Missing script:", ErrorClass::BadArguments),
    ("file or directory not found:", ErrorClass::Missing),
    ("could not find `Cargo.toml`", ErrorClass::Missing),
];

/// Returns the class of an answer of an editing tool, in whatever words it says so.
fn of_edit(text: &TextEnds<'_>) -> Option<ErrorClass> {
    let line = text.lines().find(|line| line.len() > "error:".len())?.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| line.contains(word));
    let is_about_text = says(&["text", "string", "old_str", "context", "lines", "hunk", "block"]);
    if is_about_text
        && says(&["multiple", "more than one", "more than once", "not unique", "times"])
    {
        return Some(ErrorClass::EditAmbiguous);
    }
    (is_about_text && misses(&line)).then_some(ErrorClass::EditNoMatch)
}

/// Whether a line in lower case says that a text was not found.
fn misses(line: &str) -> bool {
    ["not find", "not found", "no match", "did not match", "does not match", "doesn't match"]
        .iter()
        .any(|miss| line.contains(miss))
}

fn of_tool(role: ToolRole, text: &TextEnds<'_>) -> ErrorClass {
    let by_role = match role {
        ToolRole::Edits | ToolRole::Patches => text
            .said(ErrorWordList::Edit)
            .or_else(|| of_edit(text))
            .or_else(|| text.said(ErrorWordList::File)),
        ToolRole::Writes => {
            text.said(ErrorWordList::Edit).or_else(|| text.said(ErrorWordList::File))
        }
        ToolRole::Reads | ToolRole::Lists | ToolRole::SearchesNames | ToolRole::SearchesContent => {
            text.said(ErrorWordList::Host).or_else(|| text.said(ErrorWordList::File))
        }
        _ => None,
    };
    let fallback = match role {
        ToolRole::Other | ToolRole::FetchesWeb if !text.is_empty() => ErrorClass::ToolError,
        _ => ErrorClass::Other,
    };
    by_role
        .or_else(|| text.said(ErrorWordList::Host))
        .or_else(|| text.said(ErrorWordList::System))
        .unwrap_or(fallback)
}

/// Returns the exit code in the message of a host.
fn exit_code_in(text: &TextEnds<'_>) -> Option<i64> {
    /// Text before the exit code.
    const MARKS: &[&str] = &[
        "<exited with exit code ",
        "Command exited with code ",
        "Process exited with code ",
        "Exit Code: ",
        "Exit code: ",
        "Exit code ",
    ];
    [text.first_lines().start, text.last_lines()].into_iter().find_map(|part| {
        let rest = MARKS.iter().find_map(|mark| part.split_once(mark))?.1;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(rest.len());
        rest.get(..end)?.parse().ok()
    })
}

/// Start and end of a text: the part of a result that is examined.
#[derive(Debug, Clone)]
pub struct TextEnds<'t> {
    start: &'t str,
    end: &'t str,
    /// Words in the text, computed on first use.
    found: OnceCell<FoundWords>,
}

impl<'t> TextEnds<'t> {
    /// Prepares a text for classification.
    pub fn new(text: &'t str) -> Self {
        if text.len() <= 2 * MAX_EXAMINED {
            return Self { start: text, end: "", found: OnceCell::new() };
        }
        let (mut start, mut end) = (MAX_EXAMINED, text.len() - MAX_EXAMINED);
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        while !text.is_char_boundary(end) {
            end += 1;
        }
        Self { start: &text[..start], end: &text[end..], found: OnceCell::new() }
    }

    /// Returns the start and the end; a short text is all start.
    pub fn parts(&self) -> [&'t str; 2] {
        [self.start, self.end]
    }

    fn is_empty(&self) -> bool {
        self.start.trim().is_empty()
    }

    /// Returns the class of the first word of a list that occurs in the text.
    fn said(&self, list: ErrorWordList) -> Option<ErrorClass> {
        let (before, rest) = LISTS.split_at_checked(list as usize)?;
        let first: usize = before.iter().map(|list| list.len()).sum();
        let found = self.found.get_or_init(|| self.find_words());
        let has = |at: usize| found.get(at / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1);
        rest.first()?.iter().zip(first..).find(|(_, at)| has(*at)).map(|((_, class), _)| *class)
    }

    fn find_words(&self) -> FoundWords {
        let mut found = FoundWords::default();
        let mut note = |at: usize| {
            if let Some(bits) = found.get_mut(at / 64) {
                *bits |= 1 << (at % 64);
            }
        };
        let is_many = LOOKED_THROUGH.fetch_add(1, Ordering::Relaxed) >= MANY;
        let finder = if is_many { FINDER.as_ref() } else { None };
        for part in [self.start, self.end] {
            match finder {
                Some(finder) => {
                    let words = finder.find_overlapping_iter(part);
                    words.for_each(|word| note(word.pattern().as_usize()));
                }
                None => {
                    let has = |words: &str| memmem::find(part.as_bytes(), words.as_bytes());
                    let words = all_words().enumerate().filter(|(_, words)| has(words).is_some());
                    words.for_each(|(at, _)| note(at));
                }
            }
        }
        found
    }

    /// Returns only the first lines.
    fn first_lines(&self) -> Self {
        let end = self.start.match_indices('\n').nth(2).map_or(self.start.len(), |(at, _)| at);
        Self { start: &self.start[..end], end: "", found: OnceCell::new() }
    }

    fn last_lines(&self) -> &'t str {
        let part = if self.end.is_empty() { self.start } else { self.end };
        let part = part.trim_end();
        part.rfind('\n').map_or(part, |at| &part[at..])
    }

    /// Every line that is looked at.
    pub fn lines(&self) -> impl Iterator<Item = &'t str> {
        self.start.lines().chain(self.end.lines())
    }

    /// Whether a shell reports that a program does not exist.
    fn is_not_found(&self) -> bool {
        self.lines().take(40).any(is_not_found)
    }

    /// Whether a search reports an error rather than no matches.
    fn is_complaint(&self) -> bool {
        self.lines().any(|line| {
            ["grep: ", "rg: ", "find: ", "ls: ", "fatal: ", "error: "]
                .iter()
                .any(|start| line.starts_with(start))
        })
    }
}

/// Whether this is a shell's message about a missing program.
pub fn is_not_found(line: &str) -> bool {
    /// Maximum number of blanks: `bash: line 12: name` has three.
    const MAX_BLANKS: usize = 3;
    let line = line.trim();
    if let Some(who) = line.strip_suffix(": command not found") {
        return who.matches(' ').count() <= MAX_BLANKS;
    }
    if let Some(who) = line.strip_suffix(": not found") {
        return who.starts_with("sh: ") || who.starts_with("/bin/sh: ");
    }
    line.starts_with("zsh: command not found: ")
        || (line.starts_with("(eval):") && line.contains(": command not found: "))
}

#[cfg(test)]
mod tests;
