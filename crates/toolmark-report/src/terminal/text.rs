//! Text for a terminal: sanitized, measured, wrapped and cut.

use std::borrow::Cow;
pub use toolmark_base::text::head;
use toolmark_redact::Printable;
pub use toolmark_redact::{is_obeyed, sanitize};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Layout of redacted text for a terminal. Text is measured in its sanitized form.
pub trait TextLayout {
    /// Cuts the text to `limit` columns; cut text ends in `…`.
    #[must_use]
    fn cut(&self, limit: usize) -> Printable;
    /// Cuts a path to `limit` columns at its start, because the end is more informative.
    #[must_use]
    fn cut_path(&self, limit: usize) -> Printable;
    /// Wraps the text into lines of at most `limit` columns.
    #[must_use]
    fn wrap(&self, limit: usize) -> Vec<Printable>;
    /// Like [`TextLayout::wrap`], with the continuation lines of a list item indented.
    #[must_use]
    fn wrap_item(&self, limit: usize) -> Vec<Printable>;
    /// Returns the lines.
    #[must_use]
    fn each_line(&self) -> Vec<Printable>;
    /// Joins the text into one line: every run of white space becomes a space.
    #[must_use]
    fn squeezed(&self) -> Printable;
    /// Width in columns.
    #[must_use]
    fn width(&self) -> usize;
}

impl TextLayout for Printable {
    fn cut(&self, limit: usize) -> Printable {
        self.reshape(|text| cut(&sanitize(text), limit).into_owned())
    }

    fn cut_path(&self, limit: usize) -> Printable {
        self.reshape(|text| cut_path(&sanitize(text), limit).into_owned())
    }

    fn wrap(&self, limit: usize) -> Vec<Printable> {
        wrap(&sanitize(self), limit).into_iter().map(|line| self.reshape(|_| line)).collect()
    }

    fn wrap_item(&self, limit: usize) -> Vec<Printable> {
        wrap_item(&sanitize(self), limit).into_iter().map(|line| self.reshape(|_| line)).collect()
    }

    fn each_line(&self) -> Vec<Printable> {
        self.lines().map(|line| self.reshape(|_| line)).collect()
    }

    fn squeezed(&self) -> Printable {
        self.reshape(squeezed)
    }

    fn width(&self) -> usize {
        width(&sanitize(self))
    }
}

/// Joins text into one line: every run of white space becomes a space; outer white space is
/// removed.
#[must_use]
pub fn squeezed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Joins code into one line with visible line breaks.
#[must_use]
pub fn code_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines().map(squeezed).filter(|l| !l.is_empty()) {
        if !out.is_empty() {
            out.push_str(" \u{23ce} ");
        }
        out.push_str(&line);
    }
    out
}

/// Width of a text on a terminal, in columns.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// Cuts text to at most `limit` columns; cut text ends in `…`.
#[must_use]
pub fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit || width(text) <= limit {
        return Cow::Borrowed(text);
    }
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used + 1 > limit {
            let kept = text[..at].trim_end();
            return Cow::Owned(if limit == 0 { String::new() } else { format!("{kept}\u{2026}") });
        }
    }
    Cow::Borrowed(text)
}

/// Cuts a path to at most `limit` columns at its start, because the end is more informative.
#[must_use]
pub fn cut_path(path: &str, limit: usize) -> Cow<'_, str> {
    if width(path) <= limit || limit == 0 {
        return cut(path, limit);
    }
    let mut used = 1;
    let mut start = path.len();
    for (at, c) in path.char_indices().rev() {
        used += c.width().unwrap_or(0);
        if used > limit {
            break;
        }
        start = at;
    }
    Cow::Owned(format!("\u{2026}{}", &path[start..]))
}

/// Like [`wrap`], with the continuation lines of a list item indented like its first line.
#[must_use]
pub fn wrap_item(line: &str, limit: usize) -> Vec<String> {
    let rest = line.trim_start();
    let numbered = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let mark = if rest.starts_with("- ") || rest.starts_with("* ") {
        2
    } else if numbered.len() < rest.len() && numbered.starts_with(". ") {
        rest.len() - numbered.len() + 2
    } else {
        0
    };
    let indent = line.len() - rest.len() + mark;
    if mark == 0 || indent * 2 > limit {
        return wrap(line, limit);
    }
    let mut lines = wrap(&line[indent..], limit - indent);
    for (at, text) in lines.iter_mut().enumerate() {
        let before = if at == 0 { line[..indent].to_owned() } else { " ".repeat(indent) };
        *text = format!("{before}{text}");
    }
    lines
}

/// Wraps one line into lines of at most `limit` columns, broken between words if possible. Leading
/// space is kept on the first.
#[must_use]
pub fn wrap(line: &str, limit: usize) -> Vec<String> {
    let limit = limit.max(8);
    let mut lines = Vec::new();
    let mut current = String::new();
    let mut used = 0;
    for piece in line.split_inclusive(' ') {
        let word = piece.trim_end_matches(' ');
        if used > 0 && used + width(word) > limit {
            lines.push(current.trim_end().to_owned());
            current.clear();
            used = 0;
            if word.is_empty() {
                continue;
            }
        }
        for c in piece.chars() {
            let w = c.width().unwrap_or(0);
            if used + w > limit && c != ' ' {
                lines.push(std::mem::take(&mut current));
                used = 0;
            }
            current.push(c);
            used += w;
        }
    }
    lines.push(current.trim_end().to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_by_columns() {
        for (text, limit, want) in [
            ("short", 5, "short"),
            ("longer", 5, "long\u{2026}"),
            ("日本語", 5, "日本\u{2026}"),
            ("日本語", 6, "日本語"),
            ("ab cd", 4, "ab\u{2026}"),
            ("x", 0, ""),
        ] {
            assert_eq!(cut(text, limit), want, "{text} {limit}");
            assert!(width(&cut(text, limit)) <= limit);
        }
        assert_eq!(cut_path("/a/long/path.rs", 8), "\u{2026}path.rs");
    }

    #[test]
    fn wraps_between_words() {
        assert_eq!(wrap("the quick brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(wrap("  indented", 20), ["  indented"]);
        assert_eq!(wrap("abcdefghijkl", 8), ["abcdefgh", "ijkl"]);
        assert_eq!(wrap("", 8), [""]);
        assert_eq!(wrap("12345678 x", 8), ["12345678", "x"]);
        assert_eq!(wrap_item("- one two three", 9), ["- one two", "  three"]);
        assert_eq!(wrap_item(" 12. a long item", 12), [" 12. a long", "     item"]);
        assert_eq!(wrap_item("2026 was a year", 10), ["2026 was a", "year"]);
    }

    #[test]
    fn one_line() {
        assert_eq!(squeezed("  a\n\t b  c "), "a b c");
        assert_eq!(code_line("cd /w\n\n  make  all\n"), "cd /w \u{23ce} make all");
    }
}
