//! The only place that prints.
//!
//! Commands make [`Line`]s of styled text; the printer decides about colour and
//! writes them. Text is made harmless when it enters a line, so that no command
//! can forget it.

use crate::redact::Veil;
use crate::text::{cut, is_obeyed, neutral, width};
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

/// What the colours mean. Nothing is said by colour alone.
pub(crate) mod style {
    use super::{AnsiColor, Style};

    pub(crate) const PLAIN: Style = Style::new();
    /// Names: tools, agents, headings.
    pub(crate) const STRONG: Style = Style::new().bold();
    /// What can be skipped when reading.
    pub(crate) const DIM: Style = Style::new().dimmed();
    /// The model's reasoning.
    pub(crate) const THOUGHT: Style = Style::new().dimmed().italic();
    /// It worked.
    pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
    /// It failed.
    pub(crate) const BAD: Style = AnsiColor::Red.on_default();
    /// It was refused, cut off or left open.
    pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
    /// The user, and where to look further.
    pub(crate) const USER: Style = AnsiColor::Cyan.on_default();
}

/// One line of output in several styles.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line {
    parts: Vec<(Style, String)>,
}

impl Line {
    /// An empty line.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A line of one style.
    pub(crate) fn of(style: Style, text: &str) -> Self {
        Self::new().with(style, text)
    }

    /// With more text at its end.
    pub(crate) fn with(mut self, style: Style, text: &str) -> Self {
        self.push(style, text);
        self
    }

    /// Adds text at the end.
    pub(crate) fn push(&mut self, style: Style, text: &str) {
        if !text.is_empty() {
            self.parts.push((style, neutral(text).into_owned()));
        }
    }

    /// Adds another line at the end.
    pub(crate) fn append(&mut self, other: Self) {
        self.parts.extend(other.parts);
    }

    /// The columns it takes.
    pub(crate) fn width(&self) -> usize {
        self.parts.iter().map(|(_, text)| width(text)).sum()
    }

    /// Adds spaces up to a column.
    pub(crate) fn pad(&mut self, column: usize) {
        let used = self.width();
        if used < column {
            self.parts.push((style::PLAIN, " ".repeat(column - used)));
        }
    }

    /// The line cut to so many columns.
    pub(crate) fn fit(mut self, limit: usize) -> Self {
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

    fn write(&self, out: &mut String) {
        let visible = self.parts.iter().rposition(|(_, text)| !text.trim_end().is_empty());
        let Some(last) = visible else { return };
        for (at, (style, text)) in self.parts.iter().enumerate().take(last + 1) {
            let text = if at == last { text.trim_end() } else { text };
            if *style == style::PLAIN {
                out.push_str(text);
            } else {
                let _ = write!(out, "{style}{text}{style:#}");
            }
        }
    }
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR or CLICOLOR=0 says otherwise.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How much to say beside the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Errors only.
    Quiet,
    /// What a reader needs.
    Normal,
    /// Everything.
    Verbose,
}

/// Writes to the terminal, or to what stands in its place.
pub(crate) struct Printer {
    /// How much to say.
    pub(crate) verbosity: Verbosity,
    /// What is kept from sight.
    pub(crate) veil: Veil,
    out: AutoStream<io::Stdout>,
    err: AutoStream<io::Stderr>,
    buffer: String,
}

/// Text is handed to the system in pieces of about this size.
const PIECE: usize = 32 << 10;
/// The width of output that goes to no terminal.
const WIDTH_ELSEWHERE: usize = 100;

impl Printer {
    pub(crate) fn new(color: Color, verbosity: Verbosity, veil: Veil) -> Self {
        let choice = |auto: ColorChoice| match color {
            Color::Auto => auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        let (out, err) = (io::stdout(), io::stderr());
        let (for_out, for_err) = (AutoStream::choice(&out), AutoStream::choice(&err));
        Self {
            verbosity,
            veil,
            out: AutoStream::new(out, choice(for_out)),
            err: AutoStream::new(err, choice(for_err)),
            buffer: String::new(),
        }
    }

    /// Prints a line of the result.
    pub(crate) fn line(&mut self, line: &Line) -> io::Result<()> {
        line.write(&mut self.buffer);
        self.buffer.push('\n');
        if self.buffer.len() >= PIECE { self.flush() } else { Ok(()) }
    }

    /// Prints a line about the result, to stderr.
    pub(crate) fn notice(&mut self, line: &Line) -> io::Result<()> {
        self.flush()?;
        let mut text = String::new();
        line.write(&mut text);
        text.push('\n');
        self.err.write_all(text.as_bytes())
    }

    /// Prints text about the result that is already laid out, to stderr.
    pub(crate) fn notice_text(&mut self, text: &str) -> io::Result<()> {
        self.flush()?;
        self.err.write_all(text.as_bytes())?;
        if text.ends_with('\n') { Ok(()) } else { self.err.write_all(b"\n") }
    }

    /// Prints a question and leaves the cursor behind it.
    pub(crate) fn ask(&mut self, line: &Line) -> io::Result<()> {
        line.write(&mut self.buffer);
        self.buffer.push(' ');
        self.flush()
    }

    /// Prints a value as JSON, indented.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.raw(&(to_json(value, Layout::Indented)? + "\n"))
    }

    /// Prints text that is made for programs, as it is.
    pub(crate) fn raw(&mut self, text: &str) -> io::Result<()> {
        self.buffer.push_str(text);
        if self.buffer.len() >= PIECE { self.flush() } else { Ok(()) }
    }

    /// Writes what is still held back.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(self.buffer.as_bytes())?;
        self.buffer.clear();
        self.out.flush()
    }

    /// The columns a line may take; `COLUMNS` overrules the terminal.
    pub(crate) fn width(&self) -> usize {
        self.terminal_width().unwrap_or(WIDTH_ELSEWHERE)
    }

    /// The columns of the terminal, or of the one `COLUMNS` claims there is.
    pub(crate) fn terminal_width(&self) -> Option<usize> {
        let claimed = std::env::var("COLUMNS").ok().and_then(|c| c.parse::<usize>().ok());
        let columns = claimed.or_else(|| {
            let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
            Some(usize::from(width.0))
        });
        columns.filter(|c| *c > 0).map(|c| c.max(40))
    }

    /// Can somebody answer a question?
    pub(crate) fn is_interactive(&self) -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal()
    }
}

/// How JSON is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// On one line.
    Compact,
    /// Over many lines.
    Indented,
}

/// JSON in which everything a terminal would obey is escaped: it may end up on one.
pub(crate) fn to_json(value: &impl Serialize, layout: Layout) -> io::Result<String> {
    let text = match layout {
        Layout::Compact => serde_json::to_string(value)?,
        Layout::Indented => serde_json::to_string_pretty(value)?,
    };
    Ok(harmless_json(text))
}

/// Escapes what a terminal would obey. A JSON writer has escaped all below
/// U+0020; what is left stands inside strings.
pub(crate) fn harmless_json(text: String) -> String {
    let obeyed = |c: char| c != '\n' && is_obeyed(c);
    if !text.contains(obeyed) {
        return text;
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if obeyed(c) {
            let _ = write!(safe, "\\u{:04x}", c as u32);
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(line: &Line) -> String {
        let mut out = String::new();
        line.write(&mut out);
        anstream::adapter::strip_str(&out).to_string()
    }

    #[test]
    fn lines_pad_and_fit() {
        let mut line = Line::of(style::GOOD, "ok").with(style::PLAIN, " then");
        line.pad(10);
        line.push(style::DIM, "x");
        assert_eq!((plain(&line).as_str(), line.width()), ("ok then   x", 11));
        assert_eq!(plain(&line.clone().fit(5)), "ok t\u{2026}");
        assert_eq!(plain(&line.fit(2)), "ok");
        assert_eq!(plain(&Line::of(style::DIM, "   ")), "");
    }

    #[test]
    fn what_enters_a_line_is_harmless() {
        let line = Line::of(style::PLAIN, "a\u{1b}]0;t\u{7}\nb");
        assert_eq!(plain(&line), "a\u{241b}]0;t\u{2407}\u{240a}b");
    }

    #[test]
    fn json_is_harmless_and_equal() {
        let hostile = "\u{1b}[2J \u{9b}1m \u{202e} \u{7f} é";
        let json = to_json(&hostile, Layout::Compact).unwrap();
        assert_eq!(json, r#""\u001b[2J \u009b1m \u202e \u007f é""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }
}
