//! The salient line of an error: its exception, `fatal:`, an unknown flag, a conflict and so on,
//! without wrapper exceptions.

use crate::template::cut;
use aho_corasick::AhoCorasick;
use memchr::{memchr2, memmem};
use std::sync::LazyLock;

/// Number of bytes of an error that are searched, from its start and from its end.
const MAX_SEARCHED: usize = 4 << 10;

/// Maximum length of a line; a longer one is searched in part.
const MAX_LINE: usize = 800;

/// Weight of a line without a keyword.
pub(crate) const PLAIN: u8 = 0;

/// The identifying line of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Salient<'t> {
    /// Line without its wrappers.
    pub line: &'t str,
    /// Certainty that this line describes the error; [`PLAIN`] if it is only the first line.
    pub weight: u8,
}

/// Keywords and their weights: the highest weight in a line counts, and the line with the highest
/// weight is chosen.
const WORDS: &[(&str, u8)] = &[
    ("conflict (", 90),
    ("unknown flag", 60),
    ("unknown option", 60),
    ("unrecognized option", 60),
    ("unrecognized argument", 60),
    ("unrecognized flag", 60),
    ("unknown command", 60),
    ("unknown subcommand", 60),
    ("unrecognized subcommand", 60),
    ("unexpected argument", 60),
    ("invalid option", 60),
    ("illegal option", 60),
    ("unknown shorthand flag", 60),
    ("no such option", 60),
    ("unknown argument", 60),
    ("accepts at most", 60),
    ("required flag", 60),
    ("unexpected parameter", 60),
    ("unknown json field", 60),
    ("merge conflict", 58),
    ("would be overwritten", 58),
    ("unmerged", 58),
    ("rejected", 56),
    ("not found", 54),
    ("no such ", 54),
    ("does not exist", 54),
    ("cannot find", 54),
    ("could not find", 54),
    ("can't find", 54),
    ("did not match any", 54),
    ("no matches", 54),
    ("doesn't exist", 54),
    ("cannot open", 54),
    ("can't cd", 54),
    ("not a git repository", 54),
    ("denied", 52),
    ("forbidden", 52),
    ("unauthorized", 52),
    ("not permitted", 52),
    ("not allowed", 52),
    ("refused", 52),
    ("timed out", 50),
    ("timeout", 50),
    ("parse error", 50),
    ("syntax error", 50),
    ("unexpected token", 50),
    ("unexpected eof", 50),
    ("failed", 30),
    ("cannot ", 30),
    ("can't ", 30),
    ("could not ", 30),
    ("unable to ", 30),
    ("invalid ", 30),
    ("missing ", 30),
    (": fatal: ", 72),
    ("fatal error", 66),
    (": error: ", 70),
    ("panicked at", 78),
];

static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let words = WORDS.iter().map(|(word, _)| word);
    let builder = AhoCorasick::builder().ascii_case_insensitive(true).build(words);
    builder.ok()
});

/// Returns the salient line of an error.
#[must_use]
pub(crate) fn find(text: &str) -> Option<Salient<'_>> {
    find_for(text, "")
}

/// Returns the salient line of a command's output. Programs put their name before the error.
#[must_use]
pub(crate) fn find_for<'t>(text: &'t str, command: &str) -> Option<Salient<'t>> {
    let (start, end) = ends(printed(text), MAX_SEARCHED);
    let mut best: Option<Salient<'_>> = None;
    for part in [start, end] {
        find_in(part, command, &mut best);
    }
    best
}

/// Returns the output of a program without the header that a host adds.
pub(crate) fn printed(text: &str) -> &str {
    const HEAD: usize = 400;
    let text = text.trim_start();
    let has_head =
        ["Chunk ID: ", "Wall time: ", "Exit code: "].iter().any(|head| text.starts_with(head));
    let head = if has_head { cut(text, HEAD) } else { "" };
    match head.find("\nOutput:") {
        Some(at) => text[at + "\nOutput:".len()..].trim_start(),
        None => text,
    }
}

fn find_in<'t>(part: &'t str, command: &str, best: &mut Option<Salient<'t>>) {
    // Hardly any line has one of the words: they are looked for in all lines at once.
    let found = FINDER.as_ref().into_iter().flat_map(|finder| finder.find_overlapping_iter(part));
    let mut words = found
        .filter_map(|found| Some((found.start(), WORDS.get(found.pattern().as_usize())?.1)))
        .peekable();
    let mut from = 0;
    while from < part.len() {
        let rest = &part.as_bytes()[from..];
        let length = memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let whole = &part[from..from + length];
        let line = unwrap(whole);
        let end = from + length;
        let mut of_words = PLAIN;
        // Matches come in the order of their ends, which is nearly that of the lines.
        while let Some((_, weight)) = words.next_if(|(start, _)| *start < end) {
            of_words = of_words.max(weight);
        }
        from = end + 1;
        if line.is_empty() || is_frame(line) {
            continue;
        }
        let (mut weight, start) = weigh(line, of_words);
        if weight < PROGRAM && is_by_program(line, command) {
            weight = PROGRAM;
        }
        let is_better = match *best {
            None => true,
            // The last exception is the one that was raised in the end; of other lines
            // the first is the cause.
            Some(best) if weight == EXCEPTION => weight >= best.weight,
            Some(best) => weight > best.weight,
        };
        if is_better {
            let said = &line[start..];
            let said = if weight > PLAIN { with_next(part, said) } else { said };
            *best = Some(Salient { line: said, weight });
        }
    }
}

/// Returns a line that only announces the error, together with the line that contains it.
fn with_next<'t>(part: &'t str, line: &'t str) -> &'t str {
    const ANNOUNCES: &[&str] =
        &["issue", "issues", "error", "errors", "problem", "problems", "reason", "to", "because"];
    let Some(words) = line.strip_suffix(':') else { return line };
    let last = words.rsplit(' ').next().unwrap_or(words);
    if !ANNOUNCES.contains(&last) {
        return line;
    }
    // Both are slices of the same text.
    let start = line.as_ptr() as usize - part.as_ptr() as usize;
    let rest = &part[start + line.len()..];
    let next = rest.trim_start();
    let end = next.find(['\n', '\r']).unwrap_or(next.len());
    let announced = unwrap(&next[..end]);
    if announced.is_empty() || is_frame(announced) {
        return line;
    }
    let end = start + line.len() + (rest.len() - next.len()) + end;
    part[start..end].trim_end().trim_end_matches("</tool_use_error>")
}

/// Weight of a line that starts with the name of the program: higher than that of a word for
/// failure, lower than that of a word for its cause.
const PROGRAM: u8 = 40;

/// Whether the line starts with the name of a program of the command: `gh: Not Found`.
fn is_by_program(line: &str, command: &str) -> bool {
    const MAX_NAME: usize = 24;
    let Some((name, rest)) = cut(line, MAX_NAME + 2).split_once(": ") else { return false };
    let is_name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    name.len() > 1
        && !rest.is_empty()
        && name.bytes().all(is_name)
        && command
            .split(|c: char| c.is_whitespace() || matches!(c, ';' | '|' | '&' | '(' | ')' | '/'))
            .any(|word| word == name)
}

const EXCEPTION: u8 = 80;

/// Returns the weight of a line, given the weight of its words, and the start of its message.
fn weigh(line: &str, of_words: u8) -> (u8, usize) {
    let line = cut(line, MAX_LINE);
    if let Some(start) = innermost_exception(line) {
        return (EXCEPTION, start);
    }
    let starts =
        |word: &str| line.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let of_start = match line.as_bytes().first().map(u8::to_ascii_lowercase) {
        Some(b'f') if starts("fatal:") => 72,
        Some(b'e') if starts("error:") || starts("error[") => 70,
        Some(b'p') if starts("panic:") => 78,
        _ => PLAIN,
    };
    // Usage is for the reader, and hints are not the error.
    let is_advice =
        || ["hint:", "usage:", "note:", "warning:", "see ", "try "].iter().any(|word| starts(word));
    let weight = of_start.max(of_words);
    (if weight > PLAIN && is_advice() { PLAIN } else { weight }, 0)
}

/// Suffixes of exception names.
const ENDS: &[&str] = &["Error", "Exception", "Failure", "Fault", "Timeout", "Interrupt", "Exit"];

/// Whether a word is the name of an exception, with or without its module.
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

/// Returns the start of the innermost exception of a line: `Outer: while doing: Inner: why`.
fn innermost_exception(line: &str) -> Option<usize> {
    let is_alone = !line.contains(':');
    if is_alone {
        return is_exception_name(line).then_some(0);
    }
    let mut found = None;
    let mut start = 0;
    // A name is at the start, after a colon, or after a bracket.
    while start < line.len() {
        let rest = &line[start..];
        let end = rest.find([':', ' ', '\'', '"', ',', ')', ']', '}']).unwrap_or(rest.len());
        let is_named = rest[end..].starts_with(": ") || &rest[end..] == ":";
        if end > 0 && is_named && is_exception_name(&rest[..end]) {
            found = Some(start);
        }
        let Some(next) = rest.find(": ") else { break };
        start += next + 2;
    }
    found
}

/// Returns the start and the end of a long text.
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

/// Prefixes that hosts and runners add to a line.
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
        if line.starts_with(['<', 'E', 'U', 'e']) {
            for prefix in PREFIXES {
                // `Error:` alone is a label; in front of a name it only wraps it.
                line = line.strip_prefix(prefix).unwrap_or(line).trim_start();
            }
        }
        if let Some(at) = memmem::find(line.as_bytes(), b" due to: ") {
            line = &line[at + " due to: ".len()..];
        }
        if line.len() == before.len() {
            return line;
        }
    }
}

/// Whether the line only belongs to a frame: an exit code, a caret, a stack frame.
fn is_frame(line: &str) -> bool {
    let is_code =
        ["Exit code ", "Exit code: ", "Process exited with code ", "Command exited with code "]
            .iter()
            .any(|mark| {
                line.strip_prefix(mark)
                    .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'-'))
            });
    // A label alone: what it says is on the next line.
    let heading = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim());
    let is_label = heading.or(line.strip_suffix(':')).is_some_and(|word| {
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
            ("### Error\nError: no page is open", "no page is open"),
            (
                "ReadError: Read failed due to:\nThe field x is a string",
                "ReadError: Read failed due to:\nThe field x is a string",
            ),
            (
                "Chunk ID: a\nWall time: 1 s\nProcess exited with code 1\nOutput:\nit is so\n",
                "it is so",
            ),
        ] {
            assert_eq!(find(text).unwrap().line, want, "{text}");
        }
        assert_eq!(find("Exit code 1\n\n----"), None);
    }

    #[test]
    fn programs_say_their_name() {
        let text = "some output\ngh: Branch not protected (HTTP 404)\nnote: x";
        for (command, want) in [
            ("gh api repos/x | jq .", "gh: Branch not protected (HTTP 404)"),
            ("/usr/bin/gh api x", "gh: Branch not protected (HTTP 404)"),
            ("curl x", "some output"),
            ("", "some output"),
        ] {
            assert_eq!(find_for(text, command).unwrap().line, want, "{command}");
        }
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
