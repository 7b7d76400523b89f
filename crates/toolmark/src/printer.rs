//! The only module that prints.
//!
//! Commands build [`StyledLine`]s of styled text; the printer decides about colour and writes them.

use crate::diagnostics::print_file;
use crate::progress::Bar;
use anstream::{AutoStream, ColorChoice};
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use toolmark_app::{ActionEvents, FileDiagnostics, Progress, Tone};
use toolmark_config::{Problem, RenderStyle, SourceText, render};
use toolmark_redact::{Printable, Redactor, Untrusted};
use toolmark_report::SCHEMA_VERSION;
pub(crate) use toolmark_report::Verbosity;
use toolmark_report::terminal::markdown;
use toolmark_report::terminal::table::TerminalTable;
pub(crate) use toolmark_report::terminal::{StyledLine, harmless_json, style};

/// Colour mode of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// Colour on terminals, unless NO_COLOR or CLICOLOR=0 disables it.
    Auto,
    /// Colour on every output.
    Always,
    /// No colour.
    Never,
}

/// Writes to the terminal or to the stream that replaces it.
pub(crate) struct Printer {
    /// Level of detail.
    pub(crate) verbosity: Verbosity,
    /// Redacts text before it is printed.
    pub(crate) redactor: Redactor,
    out: AutoStream<io::Stdout>,
    err: AutoStream<io::Stderr>,
    buffer: String,
}

/// Settings for output beside the printer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PrinterSettings {
    /// Level of detail.
    pub(crate) verbosity: Verbosity,
    /// Redacts text before it is printed.
    pub(crate) redactor: Redactor,
    /// Line width in columns.
    pub(crate) width: usize,
}

/// Approximate size of each write to the system.
const PIECE: usize = 32 << 10;
/// Output width without a terminal.
const WIDTH_ELSEWHERE: usize = 100;

impl Printer {
    pub(crate) fn new(color: Color, verbosity: Verbosity, redactor: Redactor) -> Self {
        let choice = |auto: ColorChoice| match color {
            Color::Auto => auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        let (out, err) = (io::stdout(), io::stderr());
        let (for_out, for_err) = (AutoStream::choice(&out), AutoStream::choice(&err));
        Self {
            verbosity,
            redactor,
            out: AutoStream::new(out, choice(for_out)),
            err: AutoStream::new(err, choice(for_err)),
            buffer: String::new(),
        }
    }

    /// Settings for output beside the printer.
    pub(crate) fn look(&self) -> PrinterSettings {
        let Self { verbosity, redactor, .. } = *self;
        PrinterSettings { verbosity, redactor, width: self.width() }
    }

    /// Redacts text for printing.
    pub(crate) fn redact(&self, text: impl Into<Untrusted>) -> Printable {
        self.redactor.apply(text)
    }

    /// Prints a line of the result.
    pub(crate) fn line(&mut self, line: &StyledLine) -> io::Result<()> {
        line.write_ansi(&mut self.buffer);
        self.buffer.push('\n');
        if self.buffer.len() >= PIECE { self.flush() } else { Ok(()) }
    }

    /// Prints a line about the result to stderr.
    pub(crate) fn notice(&mut self, line: &StyledLine) -> io::Result<()> {
        self.flush()?;
        let mut text = String::new();
        line.write_ansi(&mut text);
        text.push('\n');
        self.err.write_all(text.as_bytes())
    }

    /// Prints formatted text about the result to stderr.
    pub(crate) fn notice_text(&mut self, text: &Printable) -> io::Result<()> {
        self.flush()?;
        self.err.write_all(text.as_bytes())?;
        if text.ends_with('\n') { Ok(()) } else { self.err.write_all(b"\n") }
    }

    /// Prints a question and leaves the cursor after it.
    pub(crate) fn ask(&mut self, line: &StyledLine) -> io::Result<()> {
        line.write_ansi(&mut self.buffer);
        self.buffer.push(' ');
        self.flush()
    }

    /// Prints a value as indented JSON with the schema version, in the object or in every object of
    /// a list.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.document(&versioned(value)?)
    }

    /// Prints a value as JSON with the schema version on one line.
    pub(crate) fn json_line(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.raw(&(to_json(&versioned(value)?, JsonLayout::Compact)? + "\n"))
    }

    /// Prints JSON whose shape another project defines, such as a JSON Schema.
    pub(crate) fn document(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.raw(&(to_json(value, JsonLayout::Indented)? + "\n"))
    }

    /// Prints a table within `limit` columns, if there is a limit. Returns the headers of the
    /// dropped columns.
    pub(crate) fn table(
        &mut self,
        table: &TerminalTable,
        limit: Option<usize>,
    ) -> io::Result<Vec<&'static str>> {
        let (lines, dropped) = table.lines(limit);
        lines.iter().try_for_each(|line| self.line(line))?;
        Ok(dropped)
    }

    /// Prints Markdown of toolmark itself.
    pub(crate) fn markdown(&mut self, text: &str) -> io::Result<()> {
        markdown::lines(text, self.width()).iter().try_for_each(|line| self.line(line))
    }

    /// Prints machine-readable text unchanged.
    pub(crate) fn raw(&mut self, text: &str) -> io::Result<()> {
        self.buffer.push_str(text);
        if self.buffer.len() >= PIECE { self.flush() } else { Ok(()) }
    }

    /// Returns a writer for a machine-readable result.
    pub(crate) fn sink(&mut self) -> io::Result<impl Write + use<>> {
        self.flush()?;
        Ok(io::BufWriter::with_capacity(PIECE, io::stdout().lock()))
    }

    /// Returns a writer for formatted text in chunks of whole characters.
    pub(crate) fn text_sink(&mut self) -> TextSink<'_> {
        TextSink(self)
    }

    /// Flushes buffered output.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(self.buffer.as_bytes())?;
        self.buffer.clear();
        self.out.flush()
    }

    /// Line width in columns; `COLUMNS` overrides the width of the terminal.
    pub(crate) fn width(&self) -> usize {
        self.terminal_width().unwrap_or(WIDTH_ELSEWHERE)
    }

    /// Width of the terminal in columns, or the value of `COLUMNS`.
    pub(crate) fn terminal_width(&self) -> Option<usize> {
        let claimed = std::env::var("COLUMNS").ok().and_then(|c| c.parse::<usize>().ok());
        let columns = claimed.or_else(|| {
            let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
            Some(usize::from(width.0))
        });
        columns.filter(|c| *c > 0).map(|c| c.max(40))
    }

    /// Whether a user can answer a question.
    pub(crate) fn is_interactive(&self) -> bool {
        io::stdin().is_terminal() && io::stdout().is_terminal()
    }
}

impl ActionEvents for Printer {
    fn verbosity(&self) -> Verbosity {
        self.verbosity
    }

    fn redactor(&self) -> Redactor {
        self.redactor
    }

    fn note(&mut self, tone: Tone, words: Printable) -> io::Result<()> {
        match tone {
            Tone::Note => self.notice(&StyledLine::of(style::DIM, words)),
            Tone::Warning => self.notice(&StyledLine::of(style::WARN, words)),
            Tone::Error => {
                let line = StyledLine::of(style::BAD.bold(), "error").with(style::PLAIN, ": ");
                self.notice(&line.with(style::PLAIN, words))
            }
        }
    }

    fn problems(&mut self, source: &SourceText, problems: &[Problem]) -> io::Result<()> {
        if problems.is_empty() {
            return Ok(());
        }
        // Problems are printed in file order, not in the order of the checks.
        let mut problems = problems.to_vec();
        problems.sort_by_key(|problem| problem.span);
        // The stream removes the colours if they are disabled.
        let style = RenderStyle { colour: true, width: self.width() };
        let text = self.redact(render(source, &problems, style));
        self.notice_text(&text)
    }

    fn diagnostics(&mut self, file: &FileDiagnostics) -> io::Result<()> {
        print_file(self, file)
    }

    fn progress(&self, many: u64, things: &str) -> Arc<dyn Progress> {
        Arc::new(Bar::new(many, things, self.verbosity))
    }
}

/// A writer for formatted text.
pub(crate) struct TextSink<'p>(&'p mut Printer);

impl Write for TextSink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.raw(&String::from_utf8_lossy(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Layout of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonLayout {
    /// One line.
    Compact,
    /// Indented over several lines.
    Indented,
}

/// Returns a value as JSON with the schema version as the first member.
fn versioned(value: &impl Serialize) -> io::Result<Value> {
    fn with_version(value: Value) -> Value {
        let Value::Object(members) = value else { return value };
        let version = ("schema_version".to_owned(), Value::from(SCHEMA_VERSION));
        std::iter::once(version).chain(members).collect::<Map<_, _>>().into()
    }
    Ok(match serde_json::to_value(value)? {
        Value::Array(all) => all.into_iter().map(with_version).collect(),
        one => with_version(one),
    })
}

/// Formats JSON with all terminal control characters escaped, because it may be printed on a
/// terminal.
pub(crate) fn to_json(value: &impl Serialize, layout: JsonLayout) -> io::Result<String> {
    let text = match layout {
        JsonLayout::Compact => serde_json::to_string(value)?,
        JsonLayout::Indented => serde_json::to_string_pretty(value)?,
    };
    Ok(harmless_json(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_harmless_and_equal() {
        let hostile = "\u{1b}[2J \u{9b}1m \u{202e} \u{7f} é";
        let json = to_json(&hostile, JsonLayout::Compact).unwrap();
        assert_eq!(json, r#""\u001b[2J \u009b1m \u202e \u007f é""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
    }

    #[test]
    fn every_object_of_ours_has_a_version() {
        for (value, want) in [
            (serde_json::json!({"a": {"b": 1}}), r#"{"schema_version":1,"a":{"b":1}}"#),
            (
                serde_json::json!([{"a": 1}, {}]),
                r#"[{"schema_version":1,"a":1},{"schema_version":1}]"#,
            ),
            (serde_json::json!([]), "[]"),
        ] {
            assert_eq!(versioned(&value).unwrap().to_string(), want);
        }
    }
}
