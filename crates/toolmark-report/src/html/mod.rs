//! One web page with everything on it, for people who look around.
//!
//! The page needs no network and runs no script: what folds and filters does so
//! by itself. A content security policy forbids everything but its own styles,
//! and whatever comes from a trace or a spec is escaped where it enters.

mod checked;
mod detail;
mod graded;
mod matrix;
mod plots;

use crate::shown;
use crate::terminal::text::sanitize;
use crate::{Options, Report, ReportError};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::io::Write;
use toolmark_outcome::{Printable, Verdict};

const STYLE: &str = include_str!("page.css");
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// A part of the page: what was graded, or what was checked.
struct Section {
    title: String,
    header: Markup,
    content: Markup,
}

pub(crate) fn write(
    report: &Report<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let graded = report.graded.map(|run| graded::section(run, options));
    let checked = report.checked.map(|run| checked::section(run, options));
    let sections: Vec<Section> = graded.into_iter().chain(checked).collect();
    let body = html! {
        @for section in &sections { (section.header) }
        main { @for section in &sections { (section.content) } }
    };
    let title = sections.first().map_or("toolmark", |section| &section.title);
    out.write_all(page(title, &body).into_string().as_bytes())?;
    out.write_all(b"\n")?;
    Ok(())
}

/// A page that needs nothing from elsewhere and runs nothing.
fn page(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="toolmark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    }
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

/// A verdict as a sign that is read aloud as a word.
fn badge(verdict: Verdict) -> Markup {
    html! {
        span class={ "sign " (verdict.word()) } role="img" aria-label=(verdict.word())
            title=(verdict.word()) { (shown::sign(verdict)) }
    }
}

/// Where in the page an outcome is.
fn anchor(at: usize) -> String {
    format!("o{at}")
}

fn notes(notes: &[Printable]) -> Markup {
    html! {
        @if !notes.is_empty() {
            ul class="notes" aria-label="Notes" {
                @for note in notes { li { (safe_lines(note)) } }
            }
        }
    }
}
