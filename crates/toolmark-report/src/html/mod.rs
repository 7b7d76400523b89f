//! One web page with everything on it, for people who look around.
//!
//! The page needs no network. What folds does so by itself; a small script of its own
//! searches, sorts and opens what a link leads to, and without it everything is still
//! there to read. A content security policy forbids everything but its own styles and
//! that one script by its hash, and whatever comes from a trace or a spec is escaped
//! where it enters.

mod checked;
mod compared;
mod detail;
mod graded;
mod issues;
mod matrix;
mod plots;
mod sessions;
mod trend;

use crate::shown;
use crate::terminal::text::sanitize;
use crate::{Options, Report, ReportError};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::io::Write;
use toolmark_outcome::{Printable, Verdict};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
/// What a page may do; its own script is known by its hash.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; \
    form-action 'none'";
const SCRIPT_HASH: &str = "sha256-4VpvuNvZrh8R3bW7duT35hIwho0dfgpvGFDlVDZ0OBM=";

/// A part of the page: what was graded, what was checked, or what changed.
struct Section {
    title: String,
    header: Markup,
    content: Markup,
    /// Does it need the script?
    has_script: bool,
}

pub(crate) fn write(
    report: &Report<'_>,
    options: &Options,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let graded = report.graded.map(|run| graded::section(run, options));
    let checked = report.checked.map(|run| checked::section(run, options));
    let compared = report.compared.map(|run| compared::section(run, options));
    let feed = report.feed.map(issues::section);
    let trend = report.trend.map(trend::section);
    let sections: Vec<Section> =
        graded.into_iter().chain(checked).chain(feed).chain(trend).chain(compared).collect();
    let body = html! {
        @for section in &sections { (section.header) }
        main { @for section in &sections { (section.content) } }
    };
    let has_script = sections.iter().any(|section| section.has_script);
    let title = sections.first().map_or("toolmark", |section| &section.title);
    out.write_all(page(title, &body, has_script).into_string().as_bytes())?;
    out.write_all(b"\n")?;
    Ok(())
}

/// A page that needs nothing from elsewhere and runs nothing but its own script.
fn page(title: &str, body: &Markup, has_script: bool) -> Markup {
    let policy = match has_script {
        true => format!("{POLICY}; script-src '{SCRIPT_HASH}'"),
        false => POLICY.to_owned(),
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="toolmark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (body)
                @if has_script { script type="text/javascript" { (PreEscaped(SCRIPT)) } }
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use sha2::Digest as _;

    #[test]
    fn the_policy_allows_the_script_of_the_page_and_no_other() {
        let digest = sha2::Sha256::digest(SCRIPT);
        let hash = base64::engine::general_purpose::STANDARD.encode(digest);
        assert_eq!(SCRIPT_HASH, format!("sha256-{hash}"));
        assert!(!SCRIPT.contains("innerHTML") && !SCRIPT.contains("eval"));
    }
}
