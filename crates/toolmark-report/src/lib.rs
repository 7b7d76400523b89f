//! Reports: the results of grading and checking, for people and for programs.
//!
//! The input is a [`Report`]: graded cases, checked sessions, recurring issues, measures over time,
//! and changes since another run. The output is one file. Each format is one file or folder of this
//! crate and one line in [`FORMATS`]. A report makes no decisions and does not access the clock,
//! the environment or the terminal, so the same result with the same [`ReportOptions`] gives the same
//! bytes.
//!
//! ```
//! use toolmark_report::{ReportOptions, format_by_id};
//! # fn graded() -> toolmark_outcome::RunResult {
//! #     toolmark_outcome::RunResult {
//! #         spec: "evals/toolmark.yaml".into(),
//! #         dialect: "toolmark",
//! #         name: None,
//! #         outcomes: Vec::new(),
//! #         cases: Vec::new(),
//! #         notes: Vec::new(),
//! #         summary: toolmark_outcome::Summary {
//! #             cases: 0,
//! #             outcomes: 0,
//! #             passed: 0,
//! #             failed: 0,
//! #             unknown: 0,
//! #             score: None,
//! #             threshold: None,
//! #             verdict: toolmark_outcome::Verdict::Pass,
//! #             aggregates: Default::default(),
//! #             trials: Vec::new(),
//! #         },
//! #     }
//! # }
//!
//! // As `Grading::finish` of toolmark-grade returns it, without its secrets.
//! let run = graded().redact(toolmark_outcome::Redactor::new(true));
//! let junit = format_by_id("junit").unwrap().to_text(&run, &ReportOptions::default())?;
//! assert!(junit.starts_with("<?xml"));
//! # Ok::<(), toolmark_report::ReportError>(())
//! ```

#![forbid(unsafe_code)]

mod agentv;
mod alignment;
pub mod calibration;
mod checked;
mod compared;
mod csv;
mod html;
mod json;
mod jsonl;
mod junit;
pub mod lint;
mod markdown;
mod model;
pub mod page;
mod parquet;
mod sarif;
mod shown;
mod stream;
mod table;
mod targets;
pub mod terminal;
#[cfg(test)]
mod testing;
mod text;
mod trends;
mod vally;

pub use json::SCHEMA_VERSION;
pub use parquet::ParquetWriter;
pub use stream::{OutcomeRow, Outcomes, ReportStream};
pub use table::{ColumnKind, RowTable, TableCell, TableRow};

use model::{CheckRun, FeedRun, RunResult, TrendRun};
use std::io::{self, Write};
use std::time::Duration;
use toolmark_compare::Comparison;

/// Level of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Only problems, one line each.
    Quiet,
    /// The usual details.
    Normal,
    /// All details.
    Verbose,
}

/// Content of the rows of a table, for formats with a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowContent {
    /// One row per finding or outcome.
    #[default]
    Findings,
    /// One row per call, if the checker kept the calls.
    Calls,
    /// One row per grader of an outcome.
    Graders,
}

/// Settings of a report in addition to the result.
#[derive(Debug, Clone)]
pub struct ReportOptions {
    /// Whether text for a terminal may be coloured.
    pub colour: bool,
    /// Maximum width of a line of text, in columns.
    pub width: usize,
    /// Level of detail.
    pub verbosity: Verbosity,
    /// Duration of grading.
    pub elapsed: Option<Duration>,
    /// Creation time of the report, if it is to be shown.
    pub generated_at: Option<jiff::Timestamp>,
    /// Directory that file names are relative to, for formats with relative names.
    pub directory: Option<String>,
    /// Content of the rows of tables.
    pub rows: RowContent,
    /// Looks up the summary and the page of a type of grader.
    pub describe: Describe,
}

/// Returns the summary and the page of a type of grader, if it is known.
pub type Describe = fn(&str) -> Option<(&'static str, &'static str)>;

impl Default for ReportOptions {
    fn default() -> Self {
        Self {
            colour: false,
            width: 100,
            verbosity: Verbosity::Normal,
            elapsed: None,
            generated_at: None,
            directory: None,
            rows: RowContent::Findings,
            describe: |id| toolmark_peers::grader_by_id(id).map(|info| (info.summary, info.docs)),
        }
    }
}

/// Error while creating a report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The writer failed.
    #[error("the report could not be written: {0}")]
    Write(#[from] io::Error),
    /// A part of the report cannot be represented as JSON.
    #[error("the report has no JSON form: {0}")]
    Json(#[from] serde_json::Error),
}

/// The parts of a report: graded cases, checked sessions, recurring issues, measures over time, and
/// changes since another run.
#[derive(Clone, Copy, Default)]
pub struct Report<'r> {
    /// Result of grading.
    pub graded: Option<&'r RunResult>,
    /// Result of checking.
    pub checked: Option<&'r CheckRun>,
    /// Recurring issues.
    pub feed: Option<&'r FeedRun>,
    /// Changes of measures over time.
    pub trend: Option<&'r TrendRun>,
    /// Changes since another run.
    pub compared: Option<&'r Comparison>,
}

impl<'r> Report<'r> {
    /// Writes the parts one after another, for text formats.
    #[allow(clippy::too_many_arguments, reason = "one writer per part")]
    fn write_parts(
        &self,
        options: &ReportOptions,
        out: &mut dyn Write,
        graded: WritePart<'r, RunResult>,
        checked: WritePart<'r, CheckRun>,
        feed: WritePart<'r, FeedRun>,
        trend: WritePart<'r, TrendRun>,
        compared: WritePart<'r, Comparison>,
    ) -> Result<(), ReportError> {
        if let Some(run) = self.graded {
            graded(run, options, out)?;
        }
        if let Some(run) = self.checked {
            if self.graded.is_some() {
                out.write_all(b"\n")?;
            }
            checked(run, options, out)?;
        }
        if let Some(run) = self.feed {
            feed(run, options, out)?;
        }
        if let Some(run) = self.trend {
            trend(run, options, out)?;
        }
        if let Some(comparison) = self.compared {
            if self.graded.is_some() || self.checked.is_some() {
                out.write_all(b"\n")?;
            }
            compared(comparison, options, out)?;
        }
        Ok(())
    }
}

/// Writes one part of a report.
type WritePart<'r, T> = fn(&'r T, &ReportOptions, &mut dyn Write) -> Result<(), ReportError>;

impl<'r> From<&'r RunResult> for Report<'r> {
    fn from(run: &'r RunResult) -> Self {
        Self { graded: Some(run), ..Self::default() }
    }
}

impl<'r> From<&'r CheckRun> for Report<'r> {
    fn from(run: &'r CheckRun) -> Self {
        Self { checked: Some(run), ..Self::default() }
    }
}

impl<'r> From<&'r FeedRun> for Report<'r> {
    fn from(run: &'r FeedRun) -> Self {
        Self { feed: Some(run), ..Self::default() }
    }
}

impl<'r> From<&'r TrendRun> for Report<'r> {
    fn from(run: &'r TrendRun) -> Self {
        Self { trend: Some(run), ..Self::default() }
    }
}

impl<'r> From<&'r Comparison> for Report<'r> {
    fn from(comparison: &'r Comparison) -> Self {
        Self { compared: Some(comparison), ..Self::default() }
    }
}

/// A report format.
pub struct ReportFormat {
    /// Name on the command line.
    pub id: &'static str,
    /// Short description.
    pub title: &'static str,
    /// File extension, without the dot.
    pub extension: &'static str,
    /// Whether the format supports findings. The records of other systems do not.
    pub has_findings: bool,
    /// Whether the format supports issues.
    pub has_issues: bool,
    /// Whether the format supports measures over time. Every format that supports issues does.
    pub has_trends: bool,
    /// Whether the format supports comparisons with another run.
    pub has_comparisons: bool,
    /// Whether the format is text. Binary formats are written to files, never to a terminal.
    pub is_text: bool,
    /// Writes a report.
    pub write: fn(&Report<'_>, &ReportOptions, &mut dyn Write) -> Result<(), ReportError>,
}

impl ReportFormat {
    /// Returns the report as a string, for text formats.
    pub fn to_text<'r>(
        &self,
        report: impl Into<Report<'r>>,
        options: &ReportOptions,
    ) -> Result<String, ReportError> {
        let mut bytes = Vec::new();
        (self.write)(&report.into(), options, &mut bytes)?;
        // Every format writes UTF-8: nothing is lost here.
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

macro_rules! formats {
    ($($id:ident, $extension:literal, $findings:literal, $issues:literal, $comparisons:literal, $text:literal, $title:literal;)*) => {
        /// Every format.
        pub static FORMATS: &[ReportFormat] = &[$(ReportFormat {
            id: stringify!($id),
            title: $title,
            extension: $extension,
            has_findings: $findings,
            has_issues: $issues,
            has_trends: $issues,
            has_comparisons: $comparisons,
            is_text: $text,
            write: $id::write,
        }),*];
    };
}

formats! {
    text, "txt", true, true, true, true, "a summary for people at a terminal";
    json, "json", true, true, true, true, "everything in one JSON object";
    jsonl, "jsonl", true, true, false, true, "one JSON line per outcome, finding, issue or measure, then a summary";
    junit, "xml", true, false, false, true, "JUnit XML, for the test view of a CI system";
    sarif, "sarif", true, false, false, true, "SARIF 2.1.0, for code scanning";
    csv, "csv", true, true, false, true, "rows for spreadsheets and data frames";
    parquet, "parquet", true, true, false, false, "the rows of csv with types, for data frames and databases";
    markdown, "md", true, true, true, true, "Markdown, for the summary of a CI job";
    html, "html", true, true, true, true, "one web page with everything on it";
    vally, "jsonl", false, false, false, true, "the result records of Vally";
    agentv, "jsonl", false, false, false, true, "the result rows of AgentV";
}

/// Returns the format with this ID.
#[must_use]
pub fn format_by_id(id: &str) -> Option<&'static ReportFormat> {
    FORMATS.iter().find(|format| format.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text formats.
    fn texts() -> impl Iterator<Item = &'static ReportFormat> {
        FORMATS.iter().filter(|format| format.is_text)
    }

    #[test]
    fn every_report_is_the_same_each_time_and_harmless() {
        let run = testing::sample();
        for format in texts() {
            let options = ReportOptions::default();
            let report = format.to_text(&run, &options).unwrap();
            assert!(report.ends_with('\n'), "{} ends within a line", format.id);
            assert_eq!(report, format.to_text(&run, &options).unwrap(), "{}", format.id);
            let obeyed =
                report.chars().find(|c| !matches!(c, '\n') && terminal::text::is_obeyed(*c));
            assert_eq!(obeyed, None, "{} lets a control character through", format.id);
            assert!(report.contains("refund"), "{} says nothing", format.id);
        }
    }

    #[test]
    fn an_empty_run_is_reported_too() {
        for format in texts() {
            let report = format.to_text(&testing::empty(), &ReportOptions::default()).unwrap();
            // A format with rows of outcomes is empty without outcomes.
            assert!(report.ends_with('\n') || format.id == "agentv", "{}", format.id);
        }
    }

    #[test]
    fn both_are_in_one_report() {
        let (graded, checked) = (testing::sample(), checked::tests::sample());
        let both = Report { graded: Some(&graded), checked: Some(&checked), ..Report::default() };
        for format in texts().filter(|format| format.has_findings) {
            let report = format.to_text(both, &ReportOptions::default()).unwrap();
            for word in ["refund", "S101"] {
                assert!(report.contains(word), "{} does not say {word}", format.id);
            }
            match format.id {
                "json" | "sarif" => {
                    drop(serde_json::from_str::<serde_json::Value>(&report).unwrap())
                }
                "junit" => assert_eq!(report.matches("<testsuites").count(), 1),
                "html" => assert_eq!(report.matches("<main id=\"static\">").count(), 1),
                _ => {}
            }
        }
    }

    #[test]
    fn ids_are_unique() {
        for format in FORMATS {
            assert!(std::ptr::eq(format_by_id(format.id).unwrap(), format), "{}", format.id);
        }
        assert!(format_by_id("pdf").is_none());
    }
}
