//! One web page with everything on it, for people who look around.
//!
//! It is the page of `toolmark serve` with the data of the report inside: it filters, sorts
//! and opens what it shows, and needs no network. Beside the data stands the same in short
//! as plain tables: for paper, and for browsers that run no scripts. A content security
//! policy forbids everything but the page's own script and style sheet, by their hashes;
//! whatever comes from a trace or a spec is data of the script or escaped.

mod checked;
mod compared;
mod graded;
mod inlined;
mod issues;
mod sessions;
mod trend;

use crate::shown;
use crate::terminal::text::sanitize;
use crate::{Options, Report, ReportError};
use inlined::Document;
use maud::{Markup, html};
use serde_json::Value;
use std::io::Write;
use toolmark_outcome::{Printable, Verdict};

/// A part of the report: what was graded, what was checked, or what changed.
struct Part {
    /// The page that shows it.
    page: &'static str,
    /// What the window is called.
    title: String,
    /// What the page asks for, by the address it would ask the server for.
    data: Vec<(&'static str, Value)>,
    /// What the reader should know besides.
    notes: Vec<Printable>,
    /// The same in short, without a script.
    tables: Markup,
}

pub(crate) fn write(
    report: &Report<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let graded = report.graded.map(|run| graded::part(run, options));
    let checked = report.checked.map(|run| checked::part(run, options)).transpose()?;
    let feed = report.feed.map(issues::part).transpose()?;
    let trend = report.trend.map(trend::part);
    let compared = report.compared.map(|run| compared::part(run, options)).transpose()?;
    let parts = graded.into_iter().chain(checked).chain(feed).chain(trend).chain(compared);
    let document = Document { parts: parts.collect(), about: about(options) };
    document.write(out)
}

/// Who made it, and when.
fn about(options: &Options) -> String {
    let mut words = format!("toolmark {}", env!("CARGO_PKG_VERSION"));
    if let Some(time) = options.generated_at {
        words.push_str(&format!(" \u{b7} {time}"));
    }
    words
}

/// Text on one line in which every character is seen.
fn safe(text: &str) -> String {
    sanitize(text).into_owned()
}

/// Text of several lines in which every character is seen.
fn safe_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(sanitize).collect();
    lines.join("\n")
}

/// A verdict as a sign and a word.
fn verdict(verdict: Verdict) -> Markup {
    html! { span class=(verdict.word()) { (shown::sign(verdict)) " " (verdict.word()) } }
}

/// A table of rows, with how many more there are.
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
