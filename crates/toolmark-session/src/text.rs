//! Substrings that end at character boundaries.

use memchr::{memchr, memmem};
pub use toolmark_base::text::head;
use toolmark_hosts::toolset::ToolsetName;

/// The first place of a text, at or behind `from`, where another stands. What is
/// looked for is often many lines: a piece of it is found sooner than all of it is
/// made ready to be looked for.
pub fn find(text: &str, wanted: &str, from: usize) -> Option<usize> {
    /// Number of bytes to search for.
    const PIECE: usize = 32;
    /// Maximum number of mismatches; a more frequent part is not selective enough.
    const TRIES: usize = 32;
    let (bytes, wanted) = (text.as_bytes(), wanted.as_bytes());
    let all = |from: usize| Some(from + memmem::find(bytes.get(from..)?, wanted)?);
    // Blanks occur everywhere.
    let start = wanted.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(0);
    let Some(piece) = wanted.get(start..start + PIECE) else { return all(from) };
    let finder = memmem::Finder::new(piece);
    let mut at = from;
    for _ in 0..TRIES {
        let found = at + finder.find(bytes.get(at + start..)?)?;
        if bytes.get(found..)?.starts_with(wanted) {
            return Some(found);
        }
        at = found + 1;
    }
    all(at)
}

/// The lines of a text, as [`str::lines`] has them.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let line = match memchr(b'\n', rest.as_bytes()) {
            Some(end) => {
                let line = &rest[..end];
                rest = &rest[end + 1..];
                line.strip_suffix('\r').unwrap_or(line)
            }
            None => std::mem::take(&mut rest),
        };
        Some(line)
    })
}

/// Returns the first line of an error that says something: not the exit code or the summary of
/// the host, and of a Python traceback its last line.
#[must_use]
pub fn error_line(text: &str) -> Option<&str> {
    /// Minimum length of a line that says something.
    const MIN_LINE: usize = 12;
    const HOST: &[&str] = &[
        "Exit code",
        "Error: Exit code",
        "Chunk ID:",
        "Wall time:",
        "Process exited with code",
        "Original token count:",
        "Output:",
    ];
    let says = |line: &&str| {
        line.len() >= MIN_LINE
            && !HOST.iter().any(|start| line.starts_with(start))
            && !line.starts_with(['/', '>'])
    };
    let first = text.lines().map(str::trim).find(says)?;
    if !first.starts_with("Traceback (most recent call last)") {
        return Some(first);
    }
    text.lines().map(str::trim).rfind(says)
}

/// Line numbering of a host: the separators between a number and its line.
#[derive(Clone, Copy)]
pub struct Numbering<'m> {
    marks: &'m [ToolsetName],
    /// Whether no separator begins like a number.
    is_plain: bool,
}

impl<'m> Numbering<'m> {
    /// Prepares a search for any of these words.
    pub fn new(marks: &'m [ToolsetName]) -> Self {
        let is_own = |c: char| c == ' ' || c == '+' || c.is_ascii_digit();
        let is_plain = |mark: &ToolsetName| !mark.starts_with(is_own) && !mark.is_empty();
        Self { marks, is_plain: marks.iter().all(is_plain) }
    }

    /// The number that a line of a file is shown with, and the line.
    pub fn split<'t>(&self, line: &'t str) -> Option<(usize, &'t str)> {
        let bytes = line.as_bytes();
        let start = bytes.iter().position(|b| *b != b' ')?;
        let mut at = start;
        let mut number = 0_usize;
        while let Some(digit) = bytes.get(at).filter(|b| b.is_ascii_digit()) {
            number = number.wrapping_mul(10).wrapping_add(usize::from(*digit - b'0'));
            at += 1;
        }
        if at == start || !self.is_plain {
            return self.split_oddly(line, start, at);
        }
        // More digits may overflow.
        let number = match at - start < 19 {
            true => Some(number),
            false => line.get(start..at)?.parse().ok(),
        };
        let rest = line.get(at..)?;
        let body = self.marks.iter().find_map(|mark| rest.strip_prefix(&**mark))?;
        Some((number?, body))
    }

    /// Like `split`, for unusual blanks or a sign, which hosts do not use.
    fn split_oddly<'t>(&self, line: &'t str, start: usize, end: usize) -> Option<(usize, &'t str)> {
        let is_odd =
            || line.get(start..)?.chars().next().filter(|c| *c == '+' || c.is_whitespace());
        if start == end && is_odd().is_none() {
            return None;
        }
        self.marks.iter().find_map(|mark| {
            let (number, body) = line.split_once(&**mark)?;
            Some((number.trim_start().parse().ok()?, body))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_between_characters() {
        assert_eq!(head("abc", 2), "ab");
        assert_eq!(head("aé", 2), "a");
        assert_eq!(head("a", 9), "a");
    }

    #[test]
    fn the_line_of_an_error_that_says_something() {
        for (text, want) in [
            ("Exit code 1\nunknown flag: --statistics", Some("unknown flag: --statistics")),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: no number",
                Some("ValueError: no number"),
            ),
            ("Exit code 1", None),
        ] {
            assert_eq!(error_line(text), want, "{text}");
        }
    }

    #[test]
    fn lines_are_those_of_the_standard_library() {
        for text in ["", "\n", "a", "a\n", "a\r\nb", "a\r", "\n\na\n\n", "é\r\n\r\n→"] {
            assert!(lines(text).eq(text.lines()), "{text:?}");
        }
    }

    #[test]
    fn what_is_found_is_found_where_it_first_stands() {
        let line = "    let value = compute(input, &options)?;\n";
        let text = format!("{}{line}    x\n{line}{line}end", " ".repeat(90)).repeat(40);
        for wanted in [
            "x",
            "end",
            line,
            &line.repeat(2),
            &format!("{line}end"),
            &format!("    x\n{line}{line}end {}", " ".repeat(60)),
            &" ".repeat(80),
            &format!("{line}nowhere"),
            &text,
        ] {
            for from in [0, 1, 50, 200, text.len() / 2, text.len() - 1, text.len()] {
                let want = text.get(from..).and_then(|rest| rest.find(wanted)).map(|at| from + at);
                assert_eq!(find(&text, wanted, from), want, "{wanted:?} from {from}");
            }
        }
    }

    #[test]
    fn numbers_before_lines() {
        let slow = |line: &'static str, marks: &[ToolsetName]| -> Option<(usize, &'static str)> {
            marks.iter().find_map(|mark| {
                let (number, body) = line.split_once(&**mark)?;
                Some((number.trim_start().parse().ok()?, body))
            })
        };
        let sets = [&["→", "\t"][..], &[": "], &[". ", "\t"], &["| ", ": "], &[" "], &["1"]];
        for line in [
            "",
            "    12→fn a() {",
            "12\tx\ty",
            "\t12\tx",
            " \t 7→x",
            "+5: a",
            "5: a: b",
            "12",
            "12 x",
            "3. a",
            "x 3: a",
            "99999999999999999999: a",
            "0012| é",
            "é: 1",
            "\u{a0}4→x",
        ] {
            for marks in sets {
                let marks: Vec<ToolsetName> = marks.iter().map(|mark| (*mark).into()).collect();
                assert_eq!(
                    Numbering::new(&marks).split(line),
                    slow(line, &marks),
                    "{line:?} {marks:?}"
                );
            }
        }
    }
}
