//! Lines of styled text.
//!
//! A line accepts only static and redacted text, and sanitizes it for display, so that neither step
//! can be forgotten.

use super::text::{cut, width};
use anstyle::Style;
use std::fmt::Write as _;
use toolmark_redact::Harmless;

/// Meaning of the colours. No information is conveyed by colour alone.
pub mod style {
    use anstyle::{AnsiColor, Style};

    /// No style.
    pub const PLAIN: Style = Style::new();
    /// Names: tools, agents, headings.
    pub const STRONG: Style = Style::new().bold();
    /// Less important text.
    pub const DIM: Style = Style::new().dimmed();
    /// Reasoning of the model.
    pub const THOUGHT: Style = Style::new().dimmed().italic();
    /// Success.
    pub const GOOD: Style = AnsiColor::Green.on_default();
    /// Failure.
    pub const BAD: Style = AnsiColor::Red.on_default();
    /// Refused, truncated or unfinished.
    pub const WARN: Style = AnsiColor::Yellow.on_default();
    /// User messages, and references.
    pub const USER: Style = AnsiColor::Cyan.on_default();
}

/// One line of output with several styles.
#[derive(Debug, Clone, Default)]
pub struct StyledLine {
    parts: Vec<(Style, String)>,
}

impl StyledLine {
    /// Returns an empty line.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a line with one style.
    #[must_use]
    pub fn of(style: Style, text: impl Harmless) -> Self {
        Self::new().with(style, text)
    }

    /// Returns a line that begins with `columns` spaces.
    #[must_use]
    pub fn indent(columns: usize) -> Self {
        let mut line = Self::new();
        line.pad(columns);
        line
    }

    /// Appends text, for chaining.
    #[must_use]
    pub fn with(mut self, style: Style, text: impl Harmless) -> Self {
        self.push(style, text);
        self
    }

    /// Appends text.
    pub fn push(&mut self, style: Style, text: impl Harmless) {
        let text = text.to_string();
        if !text.is_empty() {
            self.parts.push((style, text));
        }
    }

    /// Appends a symbol `times` times.
    pub fn repeat(&mut self, style: Style, sign: &'static str, times: usize) {
        self.parts.push((style, sign.repeat(times)));
    }

    /// Appends another line.
    pub fn append(&mut self, other: Self) {
        self.parts.extend(other.parts);
    }

    /// Width in columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.parts.iter().map(|(_, text)| width(text)).sum()
    }

    /// Pads the line with spaces up to a column.
    pub fn pad(&mut self, column: usize) {
        let used = self.width();
        if used < column {
            self.parts.push((style::PLAIN, " ".repeat(column - used)));
        }
    }

    /// Cuts the line to `limit` columns.
    #[must_use]
    pub fn fit(mut self, limit: usize) -> Self {
        let mut left = limit;
        for at in 0..self.parts.len() {
            let text = &mut self.parts[at].1;
            let needs = width(text);
            if needs > left {
                *text = cut(text, left).into_owned();
                self.parts.truncate(at + 1);
                break;
            }
            left -= needs;
        }
        self
    }

    /// Writes the line with its colours, without a line break.
    pub fn write_ansi(&self, out: &mut String) {
        for (style, text) in self.visible() {
            if style == style::PLAIN {
                out.push_str(text);
            } else {
                let _ = write!(out, "{style}{text}{style:#}");
            }
        }
    }

    /// Writes the text of the line without styles, without a line break.
    pub fn write_plain(&self, out: &mut String) {
        for (_, text) in self.visible() {
            out.push_str(text);
        }
    }

    /// The parts without trailing white space.
    fn visible(&self) -> impl Iterator<Item = (Style, &str)> {
        let count = self.parts.iter().rposition(|(_, text)| !text.trim_end().is_empty());
        let count = count.map_or(0, |last| last + 1);
        self.parts.iter().enumerate().take(count).map(move |(at, (style, text))| {
            (*style, if at + 1 == count { text.trim_end() } else { text })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_redact::Redactor;

    fn plain(line: &StyledLine) -> String {
        let mut out = String::new();
        line.write_plain(&mut out);
        out
    }

    #[test]
    fn lines_pad_and_fit() {
        let mut line = StyledLine::of(style::GOOD, "ok").with(style::PLAIN, " then");
        line.pad(10);
        line.push(style::DIM, "x");
        assert_eq!((plain(&line).as_str(), line.width()), ("ok then   x", 11));
        assert_eq!(plain(&line.clone().fit(5)), "ok t\u{2026}");
        assert_eq!(plain(&line.fit(2)), "ok");
        assert_eq!(plain(&StyledLine::of(style::DIM, "   ")), "");
    }

    #[test]
    fn what_enters_a_line_is_harmless() {
        let hostile = Redactor::new(true).apply("a\u{1b}]0;t\u{7}\nb");
        let line = StyledLine::of(style::PLAIN, hostile);
        assert_eq!(plain(&line), "a\u{241b}]0;t\u{2407}\u{240a}b");
    }
}
