//! Definition of a rule and of its reference page.
//!
//! A rule is one file in `rules/` and one line in [`RULES`](crate::RULES). The doc comment of
//! the file *is* its page: four headings and, under the last one, examples that a shared test
//! runs. A fenced block marked `fires` is a trace (see [`notation`](toolmark_session::notation)) in
//! which the rule must report a finding, and a block marked `quiet` is a trace in which it
//! must not.

use crate::recorder::Recorder;
use std::fmt::Write as _;
use toolmark_outcome::{Axis, Confidence, Severity};
use toolmark_session::session::Session;

/// A check that needs no spec.
pub struct Rule {
    /// Code: the letter and digit of the axis, then a number.
    pub code: &'static str,
    /// Name, as words joined by hyphens.
    pub name: &'static str,
    /// Axis of the rule.
    pub axis: Axis,
    /// Default severity of its findings.
    pub severity: Severity,
    /// Default confidence of its findings.
    pub confidence: Confidence,
    /// Description of the findings, as a fragment.
    pub summary: &'static str,
    /// Default remedy, for findings without their own.
    pub remedy: &'static str,
    /// Doc comment of the file: [`page!`](crate::rule::page).
    pub source: &'static str,
    /// Checks a session and records the findings.
    pub check: fn(&Session<'_>, &mut Recorder<'_, '_>),
}

/// Expected result of an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation {
    /// The rule reports a finding.
    Fires,
    /// The rule reports nothing.
    Quiet,
}

/// An example trace of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleExample {
    /// Expected result.
    pub expectation: Expectation,
    /// Trace, in the notation of [`notation`](toolmark_session::notation).
    pub trace: String,
}

impl Rule {
    /// Returns the page in Markdown.
    #[must_use]
    pub fn page(&self) -> String {
        let mut page = String::new();
        for line in self.page_lines() {
            let _ = writeln!(page, "{line}");
        }
        page
    }

    /// Returns the lines of the page.
    pub fn page_lines(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.source.lines().map(|line| {
            let text = line.strip_prefix("//!").unwrap_or(line);
            text.strip_prefix(' ').unwrap_or(text)
        })
    }

    /// Returns the examples of the page.
    #[must_use]
    pub fn examples(&self) -> Vec<RuleExample> {
        let mut examples = Vec::new();
        let mut open: Option<RuleExample> = None;
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
                open = Some(RuleExample { expectation, trace: String::new() });
            }
        }
        examples
    }
}

/// Returns the length of the doc comment at the start of a file.
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

/// Returns the doc comment alone, so that the rest of the file is not part of the program.
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

/// Returns the doc comment of the file with this name, as text.
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
