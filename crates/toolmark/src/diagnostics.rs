//! Prints read errors for people, on stderr.

use crate::exit::Failure;
use crate::printer::{Printer, StyledLine, Verbosity, style};
use crate::text::{sanitize, width};
use anstyle::Style;
use std::io;
use toolmark_app::FileDiagnostics;
use toolmark_redact::{Printable, moved, printable};
use toolmark_trace::{Diagnostic, DiagnosticSeverity};

/// Maximum number of causes without --verbose.
const MAX_SHOWN: usize = 5;

/// Prints the diagnostics of a file.
pub(crate) fn print_file(printer: &mut Printer, file: &FileDiagnostics) -> io::Result<()> {
    for diagnostic in &file.shown {
        print(printer, diagnostic)?;
    }
    if file.more > 0 {
        let words = match (file.shown.is_empty(), printer.verbosity) {
            (true, _) => printable!("{} skipped", file.more),
            (false, Verbosity::Verbose) => printable!("\u{2026} and {} more", file.more),
            (false, _) => printable!("\u{2026} and {} more; --verbose shows them", file.more),
        };
        printer.notice(&StyledLine::of(style::DIM, words))?;
    }
    Ok(())
}

fn print(printer: &mut Printer, diagnostic: &Diagnostic) -> io::Result<()> {
    let (tone, word) = match diagnostic.severity {
        DiagnosticSeverity::Note => (style::DIM, "note"),
        DiagnosticSeverity::Skipped => (style::WARN, "skipped"),
        DiagnosticSeverity::Error => (style::BAD, "error"),
    };
    let place = &diagnostic.location;
    let mut line = StyledLine::of(tone.bold(), word).with(style::PLAIN, ": ");
    if place.line > 0 {
        let place = format!("{}:{}:{}", place.file, place.line, place.column);
        line.push(style::STRONG, printer.redact(place));
        line.push(style::PLAIN, ": ");
    }
    line.push(style::PLAIN, printer.redact(&diagnostic.message));
    printer.notice(&line)?;
    if let Some(excerpt) = diagnostic.excerpt.as_deref().filter(|_| place.line > 0) {
        print_excerpt(printer, excerpt, diagnostic.caret, place.line, tone)?;
    }
    match &diagnostic.hint {
        Some(hint) => printer.notice(&hint_line(printer.redact(hint))),
        None => Ok(()),
    }
}

/// Prints the invalid text with a caret under the offending byte.
fn print_excerpt(
    printer: &mut Printer,
    excerpt: &str,
    caret: usize,
    number: u32,
    tone: Style,
) -> io::Result<()> {
    let text = printer.redact(excerpt);
    let at = if text == *excerpt { caret } else { moved(excerpt, caret) };
    let before = text.get(..at.min(text.len())).unwrap_or(&text);
    let bar = |label: Printable| StyledLine::of(style::DIM, printable!("{:>6} \u{2502} ", label));
    let limit = printer.width().max(60);
    let room = limit - bar(Printable::default()).width();
    // On a narrow terminal the start gives way, so that the place stays in sight.
    let start = first_shown(before, room * 2 / 3);
    let column = width(&sanitize(&before[start..]));
    let shown = bar(printable!("{}", number)).with(style::PLAIN, text.reshape(|t| &t[start..]));
    printer.notice(&shown.fit(limit))?;
    let mut below = bar(Printable::default());
    below.pad(below.width() + column);
    printer.notice(&below.with(tone, "^"))
}

/// Returns the start offset at which the rest of `text` fits into `room` columns.
fn first_shown(text: &str, room: usize) -> usize {
    let mut start = text.len();
    let mut used = 0;
    for (at, c) in text.char_indices().rev() {
        used += width(&sanitize(c.encode_utf8(&mut [0; 4])));
        if used > room {
            break;
        }
        start = at;
    }
    start
}

/// Prints why a command failed.
pub(crate) fn print_failure(printer: &mut Printer, failure: &Failure) -> io::Result<()> {
    let line = StyledLine::of(style::BAD.bold(), "error").with(style::PLAIN, ": ");
    printer.notice(&line.with(style::PLAIN, printer.redact(&failure.message)))?;
    let all = printer.verbosity == Verbosity::Verbose;
    let shown = if all { failure.causes.len() } else { MAX_SHOWN };
    for cause in failure.causes.iter().take(shown) {
        let line = StyledLine::of(style::BAD, "  caused by").with(style::PLAIN, ": ");
        printer.notice(&line.with(style::PLAIN, printer.redact(cause)))?;
    }
    if failure.causes.len() > shown {
        let more = failure.causes.len() - shown;
        let words = printable!("  \u{2026} and {} more; --verbose shows them", more);
        printer.notice(&StyledLine::of(style::DIM, words))?;
    }
    failure.hints.iter().try_for_each(|hint| printer.notice(&hint_line(printer.redact(hint))))
}

fn hint_line(hint: Printable) -> StyledLine {
    StyledLine::of(style::USER, "  hint").with(style::PLAIN, ": ").with(style::PLAIN, hint)
}
