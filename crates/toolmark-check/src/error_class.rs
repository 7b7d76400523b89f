//! What kind of error a failed call met, by the words and codes of its host.

use crate::session::{Ended, SessionCall};
use crate::toolset::ToolRole;
use std::borrow::Cow;
use toolmark_trace::Status;

/// The kinds of errors whose next move can be told right from wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorClass {
    /// The file to read, search or edit is not there.
    Missing,
    /// The file is too large to read at once.
    TooLarge,
    /// The text to be replaced is not in the file.
    EditNoMatch,
    /// The text to be replaced is in the file more than once.
    EditAmbiguous,
    /// The file was not read before, or has changed since.
    EditStale,
    /// The edit would change nothing.
    EditNoop,
    /// Exit code 127.
    CommandNotFound,
    /// Exit code 126.
    NotExecutable,
    /// It took too long.
    Timeout,
    /// The arguments were refused.
    BadArguments,
    /// A person, a hook or a policy refused it.
    Denied,
    /// Another command of the shell that failed.
    ExitCode,
    /// Anything else.
    Other,
}

impl ErrorClass {
    /// The word for it, which buckets are called by.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::TooLarge => "too-large",
            Self::EditNoMatch => "no-match",
            Self::EditAmbiguous => "ambiguous",
            Self::EditStale => "stale",
            Self::EditNoop => "no-op",
            Self::CommandNotFound => "127",
            Self::NotExecutable => "126",
            Self::Timeout => "timeout",
            Self::BadArguments => "bad-arguments",
            Self::Denied => "denied",
            Self::ExitCode => "exit",
            Self::Other => "other",
        }
    }
}

/// How much of an error's text is looked at.
const LOOKED_AT: usize = 4 << 10;

/// Words of hosts, by class. Those of editing tools are only looked for in
/// their results: files may hold such words too.
const EDIT_WORDS: &[(&str, ErrorClass)] = &[
    ("String to replace not found", ErrorClass::EditNoMatch),
    ("0 occurrences found for old_string", ErrorClass::EditNoMatch),
    ("Failed to find expected lines", ErrorClass::EditNoMatch),
    ("Failed to find context", ErrorClass::EditNoMatch),
    ("No match found", ErrorClass::EditNoMatch),
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
];

const FILE_WORDS: &[(&str, ErrorClass)] = &[
    ("exceeds maximum allowed", ErrorClass::TooLarge),
    ("File does not exist", ErrorClass::Missing),
    ("Path does not exist", ErrorClass::Missing),
    ("File not found", ErrorClass::Missing),
    ("No such file or directory", ErrorClass::Missing),
    ("ENOENT", ErrorClass::Missing),
];

const ANY_WORDS: &[(&str, ErrorClass)] = &[
    ("InputValidationError", ErrorClass::BadArguments),
    ("failed to parse function arguments", ErrorClass::BadArguments),
    ("Invalid inputs:", ErrorClass::BadArguments),
    ("Invalid patch", ErrorClass::BadArguments),
    ("params must have required property", ErrorClass::BadArguments),
    ("Command timed out after", ErrorClass::Timeout),
    ("command timed out after", ErrorClass::Timeout),
    ("exceeded the timeout", ErrorClass::Timeout),
    ("doesn't want to proceed with this tool use", ErrorClass::Denied),
    ("rejected by user", ErrorClass::Denied),
];

/// The class of a call's error; `None` where the call is not known to have failed.
#[must_use]
pub fn classify(call: &SessionCall<'_>) -> Option<ErrorClass> {
    if call.ended != Ended::Failed {
        return None;
    }
    if call.call.status == Status::Denied {
        return Some(ErrorClass::Denied);
    }
    let text = call.result().unwrap_or(Cow::Borrowed(""));
    let text = head(&text);
    let said = |words: &[(&str, ErrorClass)]| {
        words.iter().find(|(words, _)| text.contains(words)).map(|(_, class)| *class)
    };
    let by_role = match call.role {
        ToolRole::Edits | ToolRole::Patches | ToolRole::Writes => {
            said(EDIT_WORDS).or_else(|| said(FILE_WORDS))
        }
        ToolRole::Reads | ToolRole::Lists | ToolRole::SearchesNames | ToolRole::SearchesContent => {
            said(FILE_WORDS)
        }
        ToolRole::RunsShell => match call.call.exit_code {
            Some(127) => Some(ErrorClass::CommandNotFound),
            Some(126) => Some(ErrorClass::NotExecutable),
            Some(124) => Some(ErrorClass::Timeout),
            _ => None,
        },
        _ => None,
    };
    let fallback = match call.role {
        ToolRole::RunsShell => ErrorClass::ExitCode,
        _ => ErrorClass::Other,
    };
    Some(by_role.or_else(|| said(ANY_WORDS)).unwrap_or(fallback))
}

fn head(text: &str) -> &str {
    let mut end = LOOKED_AT.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation;
    use crate::session::Session;
    use crate::toolset::Toolsets;

    #[test]
    fn classes_by_host() {
        for (trace, want) in [
            (
                r#"Read {"file_path":"/a"} !> "<tool_use_error>File does not exist.</tool_use_error>""#,
                Some("missing"),
            ),
            (
                r#"Read {"file_path":"/a"} !> "File content (9 tokens) exceeds maximum allowed tokens (8).""#,
                Some("too-large"),
            ),
            (
                r#"Edit {"file_path":"/a","old_string":"x","new_string":"y"} !> "String to replace not found in file.""#,
                Some("no-match"),
            ),
            (
                r#"Edit {"file_path":"/a","old_string":"x","new_string":"y"} !> "Found 3 matches of the string to replace, but replace_all is false.""#,
                Some("ambiguous"),
            ),
            (
                r#"Edit {"file_path":"/a","old_string":"x","new_string":"y"} !> "File has not been read yet.""#,
                Some("stale"),
            ),
            (
                r#"Bash {"command":"nope"} !127 "Exit code 127\nnope: command not found""#,
                Some("127"),
            ),
            (
                r#"Bash {"command":"make"} !2 "Exit code 2\nNo such file or directory""#,
                Some("exit"),
            ),
            (r#"Bash {"command":"make"} !> "Command timed out after 2m 0.0s""#, Some("timeout")),
            (r#"Bash {"command":"make"} x> "The user doesn't want to proceed""#, Some("denied")),
            (r#"Bash {"command":"make"} -> "File does not exist""#, None),
        ] {
            let run = notation::parse(trace).unwrap();
            let toolsets = Toolsets::default();
            let session = Session::new(&run, &toolsets);
            let found = session.calls().first().and_then(classify).map(ErrorClass::word);
            assert_eq!(found, want, "{trace}");
        }
    }
}
