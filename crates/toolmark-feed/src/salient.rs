//! The line of an error that says what is wrong: its exception, `fatal:`, an unknown
//! flag, a conflict and so on, with wrapper exceptions peeled off.

use crate::template::cut;

/// So much of an error is looked at, from its start and from its end.
const LOOKED_AT: usize = 4 << 10;

/// A longer line is looked at in part.
const MAX_LINE: usize = 800;

/// The weight of a line that says nothing in particular.
pub(crate) const PLAIN: u8 = 0;

/// The line of an error to tell it by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Salient<'t> {
    /// The line, without what wraps it.
    pub line: &'t str,
    /// How sure it is that this line says what is wrong; [`PLAIN`] where it is only the
    /// first.
    pub weight: u8,
}

/// What a line says, and how much that weighs. The first that fits counts, and of two
/// lines the heavier.
const WORDS: &[(&[&str], u8)] = &[
    (&["conflict ("], 90),
    (
        &[
            "unknown flag",
            "unknown option",
            "unrecognized option",
            "unrecognized argument",
            "unknown command",
            "unknown subcommand",
            "unexpected argument",
            "invalid option",
            "illegal option",
            "unknown shorthand flag",
            "no such option",
            "unknown argument",
            "accepts at most",
            "required flag",
            "unexpected parameter",
            "unknown json field",
        ],
        60,
    ),
    (&["merge conflict", "would be overwritten", "unmerged"], 58),
    (&["[rejected]", "rejected"], 56),
    (
        &[
            "not found",
            "no such ",
            "does not exist",
            "cannot find",
            "could not find",
            "can't find",
            "did not match any",
            "no matches",
            "doesn't exist",
            "cannot open",
            "can't cd",
            "not a git repository",
        ],
        54,
    ),
    (&["denied", "forbidden", "unauthorized", "not permitted", "not allowed", "refused"], 52),
    (&["timed out", "timeout"], 50),
    (&["parse error", "syntax error", "unexpected token", "unexpected eof"], 50),
    (&["failed", "cannot ", "can't ", "could not ", "unable to ", "invalid ", "missing "], 30),
];

/// The line of an error that says most.
#[must_use]
pub(crate) fn find(text: &str) -> Option<Salient<'_>> {
    let mut best: Option<Salient<'_>> = None;
    for line in lines(text) {
        let (weight, start) = weigh(line);
        let is_better = match best {
            None => true,
            // The last exception is the one that was raised in the end; of other lines
            // the first is the cause.
            Some(best) if weight == EXCEPTION => weight >= best.weight,
            Some(best) => weight > best.weight,
        };
        if is_better {
            best = Some(Salient { line: &line[start..], weight });
        }
    }
    best
}

const EXCEPTION: u8 = 80;

/// The weight of a line, and where what it says starts.
fn weigh(line: &str) -> (u8, usize) {
    let line = cut(line, MAX_LINE);
    if let Some(start) = innermost_exception(line) {
        return (EXCEPTION, start);
    }
    let lower = line.to_ascii_lowercase();
    let starts = |word: &str| lower.starts_with(word);
    let of_words = WORDS.iter().find(|(words, _)| words.iter().any(|word| lower.contains(word)));
    let of_words = of_words.map_or(PLAIN, |(_, weight)| *weight);
    let of_start = match () {
        () if starts("fatal:") || lower.contains(": fatal: ") => 72,
        () if starts("error:") || starts("error[") || lower.contains(": error: ") => 70,
        () if starts("panic:") || starts("thread '") && lower.contains("panicked at") => 78,
        () => PLAIN,
    };
    // Usage is for the reader, and hints are not the error.
    let is_advice =
        ["hint:", "usage:", "note:", "warning:", "see ", "try "].iter().any(|w| starts(w));
    (if is_advice { PLAIN } else { of_start.max(of_words) }, 0)
}

/// Ends of the names of exceptions.
const ENDS: &[&str] = &["Error", "Exception", "Failure", "Fault", "Timeout", "Interrupt", "Exit"];

/// Is it what an exception is called, with or without its module?
pub(crate) fn is_exception_name(word: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':' | '$');
    let last = word.rsplit(['.', ':', '$']).next().unwrap_or(word);
    let starts_upper = last.starts_with(|c: char| c.is_ascii_uppercase());
    let has_module = last.len() < word.len() && word.contains('.');
    let has_lower = last.chars().any(|c| c.is_ascii_lowercase());
    word.len() <= 120
        && word.chars().all(is_name)
        && starts_upper
        && has_lower
        && (ENDS.iter().any(|end| last.ends_with(end) && last != "Exit")
            || has_module && last.len() >= 6)
}

/// Where the innermost exception of a line starts: `Outer: while doing: Inner: why`.
fn innermost_exception(line: &str) -> Option<usize> {
    let mut found = None;
    let mut start = 0;
    // A name stands at the start, behind a colon, or behind a bracket.
    while start < line.len() {
        let rest = &line[start..];
        let end = rest.find([':', ' ', '\'', '"', ',', ')', ']', '}']).unwrap_or(rest.len());
        let is_end = rest[end..].is_empty();
        let is_named =
            rest[end..].starts_with(": ") || rest[end..].starts_with(":") && rest.len() == end + 1;
        if end > 0
            && (is_named || is_end && found.is_none() && start == 0)
            && is_exception_name(&rest[..end])
        {
            found = Some(start);
        }
        let Some(next) = rest.find(": ") else { break };
        start += next + 2;
    }
    found
}

/// The lines that may say something: without colours, wrappers of hosts, prefixes of
/// task runners and empty ones.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let (start, end) = ends(text, LOOKED_AT);
    let lines = start.split(['\n', '\r']).chain(end.split(['\n', '\r']));
    lines.map(unwrap).filter(|line| !line.is_empty() && !is_frame(line))
}

/// The start and the end of a long text.
pub(crate) fn ends(text: &str, each: usize) -> (&str, &str) {
    if text.len() <= 2 * each {
        return (text, "");
    }
    let mut from = text.len() - each;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    (cut(text, each), &text[from..])
}

/// What hosts and runners put before a line.
const PREFIXES: &[&str] =
    &["<tool_use_error>", "Error: ", "ERROR: ", "E   ", "Uncaught ", "error during execution: "];

fn unwrap(line: &str) -> &str {
    let mut line = line.trim().trim_end_matches("</tool_use_error>").trim_end();
    loop {
        let before = line;
        // `[lint:go] …`: the name of a task.
        if let Some(rest) = line.strip_prefix('[')
            && let Some((name, rest)) = rest.split_once("] ")
            && name.len() <= 40
            && !name.contains(' ')
            && !name.eq_ignore_ascii_case("rejected")
        {
            line = rest.trim_start();
        }
        for prefix in PREFIXES {
            // `Error:` alone is a label; in front of a name it only wraps it.
            line = line.strip_prefix(prefix).unwrap_or(line).trim_start();
        }
        if let Some((_, rest)) = line.split_once(" due to: ") {
            line = rest;
        }
        if line.len() == before.len() {
            return line;
        }
    }
}

/// Is the line only a part of a frame: an exit code, a caret, a stack frame?
fn is_frame(line: &str) -> bool {
    let is_code =
        ["Exit code ", "Exit code: ", "Process exited with code ", "Command exited with code "]
            .iter()
            .any(|mark| {
                line.strip_prefix(mark)
                    .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'-'))
            });
    // A label alone: what it says is on the next line.
    let is_label = line.strip_suffix(':').is_some_and(|word| {
        ["error", "fatal", "failed", "stderr", "output", "errors"]
            .iter()
            .any(|label| word.eq_ignore_ascii_case(label))
    });
    is_code
        || is_label
        || line.starts_with("Traceback (most recent call last)")
        || line.starts_with("File \"")
        || line.starts_with("at ") && line.contains(':')
        || !line.contains(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_says_most() {
        for (text, want) in [
            (
                "Exit code 1\nTraceback (most recent call last):\n  File \"a.py\", line 3\n    x()\nValueError: no",
                "ValueError: no",
            ),
            ("A: B: TypeError: f() got x", "TypeError: f() got x"),
            (
                "AgentError: tool x with {'a': 'b: c'}: Exception: No results",
                "Exception: No results",
            ),
            ("OuterError: it broke\nInnerError: why", "InnerError: why"),
            ("some output\nfatal: bad object\nhint: error: no", "fatal: bad object"),
            ("Usage: x\nunknown flag: --y\nfailed", "unknown flag: --y"),
            (
                "error: could not apply 9d\nCONFLICT (content): Merge conflict in a",
                "CONFLICT (content): Merge conflict in a",
            ),
            ("<tool_use_error>Error: x is not found</tool_use_error>", "x is not found"),
            ("failed at line 'x' due to: error: look-behind", "error: look-behind"),
            ("[lint] Error: wrong thing\n[lint] more", "wrong thing"),
            ("ERROR:\nNo replacement was made", "No replacement was made"),
            ("only words\nand more", "only words"),
        ] {
            assert_eq!(find(text).unwrap().line, want, "{text}");
        }
        assert_eq!(find("Exit code 1\n\n----"), None);
    }

    #[test]
    fn names_of_exceptions() {
        for (word, want) in [
            ("ValueError", true),
            ("java.io.IOException", true),
            ("django.core.exceptions.ImproperlyConfigured", true),
            ("Error", true),
            ("Exit", false),
            ("main.go", false),
            ("std::io", false),
            ("error", false),
        ] {
            assert_eq!(is_exception_name(word), want, "{word}");
        }
    }
}
