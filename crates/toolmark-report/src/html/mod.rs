//! A single self-contained web page, for interactive use.
//!
//! It is the page of `toolmark serve` with the report data embedded: it filters, sorts and expands
//! its content, and needs no network. Beside the data it contains the same results as short plain
//! tables, for printing and for browsers without scripts. A content security policy allows only the
//! page's own script and style sheet, by their hashes; text from a trace or a spec is either data
//! of the script or escaped.

mod checked;
mod compared;
mod graded;
mod inlined;
mod issues;
mod sessions;
mod trend;

use crate::shown;
use crate::terminal::text::sanitize;
use crate::{Report, ReportError, ReportOptions};
use inlined::HtmlDocument;
use maud::{Markup, html};
use serde_json::Value;
use std::io::Write;
use toolmark_outcome::{Printable, Verdict};

/// A part of the report: graded cases, checked sessions, issues, measures or changes.
struct HtmlSection {
    /// Name of the page for this part.
    page: &'static str,
    /// Title of the window.
    title: String,
    /// Responses for the page, by the server address that it would request.
    data: Vec<(&'static str, Value)>,
    /// Notes for the reader.
    notes: Vec<Printable>,
    /// Short tables without a script.
    tables: Markup,
}

pub(crate) fn write(
    report: &Report<'_>,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let graded = report.graded.map(|run| graded::part(run, options));
    let checked = report.checked.map(|run| checked::part(run, options)).transpose()?;
    let feed = report.feed.map(issues::part).transpose()?;
    let trend = report.trend.map(trend::part);
    let compared = report.compared.map(|run| compared::part(run, options)).transpose()?;
    let parts = graded.into_iter().chain(checked).chain(feed).chain(trend).chain(compared);
    let document = HtmlDocument { parts: parts.collect(), about: about(options) };
    document.write(out)
}

/// Version and creation time.
fn about(options: &ReportOptions) -> String {
    let mut words = format!("toolmark {}", env!("CARGO_PKG_VERSION"));
    if let Some(time) = options.generated_at {
        words.push_str(&format!(" \u{b7} {time}"));
    }
    words
}

/// Text on one line with all characters visible.
fn safe(text: &str) -> String {
    sanitize(text).into_owned()
}

/// Text of several lines with all characters visible.
fn safe_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(sanitize).collect();
    lines.join("\n")
}

/// A verdict as symbol and word.
fn verdict(verdict: Verdict) -> Markup {
    html! { span class=(verdict.word()) { (shown::sign(verdict)) " " (verdict.word()) } }
}

/// A table of rows, with the number of omitted rows.
fn table(head: &[&str], rows: &[Markup], more: usize) -> Markup {
    html! {
        table {
            thead { tr { @for word in head { th scope="col" { (word) } } } }
            tbody { @for row in rows { (row) } }
        }
        @if more > 0 { p { "and " (more) " more" } }
    }
}

fn notes(notes: &[Printable]) -> Markup {
    html! {
        @if !notes.is_empty() { ul { @for note in notes { li { (safe_lines(note)) } } } }
    }
}
