//! What a rule is, and its page of the reference.
//!
//! A rule is one file in `rules/` and one line in [`RULES`](crate::RULES). The
//! doc comment of the file *is* its page: four headings, and under the last one
//! the examples, which a shared test runs. A fenced block marked `fires` is a
//! trace (see [`notation`](toolmark_session::notation)) in which the rule must find
//! something, one marked `quiet` a trace in which it must not.

use crate::recorder::Recorder;
use std::fmt::Write as _;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::session::Session;

/// A question that needs no spec.
pub struct Rule {
    /// Its code: the letter and digit of the axis, then its number.
    pub code: &'static str,
    /// Its name, in words joined by hyphens.
    pub name: &'static str,
    /// What it asks about.
    pub axis: Axis,
    /// How bad its findings usually are.
    pub severity: Severity,
    /// How sure they usually are.
    pub confidence: Confidence,
    /// What it finds, as a fragment.
    pub summary: &'static str,
    /// What to do about a finding, where the finding does not know better.
    pub remedy: &'static str,
    /// The doc comment of its file: [`page!`](crate::rule::page).
    pub source: &'static str,
    /// Looks at a session and reports what it finds.
    pub check: fn(&Session<'_>, &mut Recorder<'_, '_>),
}

/// What an example must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation {
    /// The rule finds something.
    Fires,
    /// It does not.
    Quiet,
}

/// A trace of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// What must happen.
    pub expectation: Expectation,
    /// The trace, in our notation.
    pub trace: String,
}

impl Rule {
    /// Its page, in Markdown.
    #[must_use]
    pub fn page(&self) -> String {
        let mut page = String::new();
        for line in self.page_lines() {
            let _ = writeln!(page, "{line}");
        }
        page
    }

    /// The lines of its page.
    pub fn page_lines(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.source.lines().map(|line| {
            let text = line.strip_prefix("//!").unwrap_or(line);
            text.strip_prefix(' ').unwrap_or(text)
        })
    }

    /// The examples of its page.
    #[must_use]
    pub fn examples(&self) -> Vec<Example> {
        let mut examples = Vec::new();
        let mut open: Option<Example> = None;
        for line in self.page().lines() {
            let expectation = match line.trim() {
                "```fires" => Some(Expectation::Fires),
                "```quiet" => Some(Expectation::Quiet),
                "```" => {
                    examples.extend(open.take());
                    None
                }
                _ => {
                    if let Some(example) = &mut open {
                        example.trace.push_str(line);
                        example.trace.push('\n');
                    }
                    None
                }
            };
            if let Some(expectation) = expectation {
                open = Some(Example { expectation, trace: String::new() });
            }
        }
        examples
    }
}

/// The length of the doc comment at the start of a file.
#[doc(hidden)]
#[must_use]
pub const fn page_len(source: &str) -> usize {
    let bytes = source.as_bytes();
    let mut at = 0;
    while at + 2 < bytes.len()
        && bytes[at] == b'/'
        && bytes[at + 1] == b'/'
        && bytes[at + 2] == b'!'
    {
        while at < bytes.len() && bytes[at] != b'\n' {
            at += 1;
        }
        at += 1;
    }
    if at > bytes.len() { bytes.len() } else { at }
}

/// The doc comment itself, so that the rest of the file stays out of the program.
#[doc(hidden)]
#[must_use]
pub const fn page_bytes<const LEN: usize>(source: &str) -> [u8; LEN] {
    let bytes = source.as_bytes();
    let mut page = [0; LEN];
    let mut at = 0;
    while at < LEN && at < bytes.len() {
        page[at] = bytes[at];
        at += 1;
    }
    page
}

/// The doc comment of the file with this name, as text.
macro_rules! page {
    ($file:literal) => {{
        const LEN: usize = $crate::rule::page_len(include_str!($file));
        static PAGE: [u8; LEN] = $crate::rule::page_bytes(include_str!($file));
        match core::str::from_utf8(&PAGE) {
            Ok(page) => page,
            Err(_) => "",
        }
    }};
}
pub(crate) use page;
