//! Reports of `toolmark check`: one format, one file here, and one line in
//! [`CHECK_FORMATS`].

mod gold;
mod json;
mod jsonl;
mod text;

use crate::{Options, ReportError};
use std::io::Write;
use toolmark_check::{Checked, Severity};

/// What was checked and what it came to.
#[derive(Debug, Default)]
pub struct CheckRun {
    /// Findings, the worst first, and the scorecard.
    pub checked: Checked,
    /// How many files were read.
    pub files: u64,
    /// What the reader should know besides.
    pub notes: Vec<String>,
}

impl CheckRun {
    /// How many findings of this severity were kept.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.checked.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// A way to write down what checking came to.
pub struct CheckFormat {
    /// The word for it on the command line.
    pub id: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// Is it JSON?
    pub is_json: bool,
    /// Writes it.
    pub write: fn(&CheckRun, &Options, &mut dyn Write) -> Result<(), ReportError>,
}

impl CheckFormat {
    /// The report in one piece.
    pub fn to_text(&self, run: &CheckRun, options: &Options) -> Result<String, ReportError> {
        let mut bytes = Vec::new();
        (self.write)(run, options, &mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Every format.
pub static CHECK_FORMATS: &[CheckFormat] = &[
    CheckFormat {
        id: "text",
        title: "a scorecard for people at a terminal",
        is_json: false,
        write: text::write,
    },
    CheckFormat {
        id: "json",
        title: "everything in one JSON object",
        is_json: true,
        write: json::write,
    },
    CheckFormat {
        id: "jsonl",
        title: "one JSON line per finding, then the scorecard",
        is_json: true,
        write: jsonl::write,
    },
];

/// The format with this id.
#[must_use]
pub fn check_format_by_id(id: &str) -> Option<&'static CheckFormat> {
    CHECK_FORMATS.iter().find(|format| format.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::text::is_obeyed;
    use toolmark_check::{Checker, notation};

    fn sample() -> CheckRun {
        let run = notation::parse(
            "Read {\"file_path\":\"/w/a\\u001b[2J.rs\"} -> \"1\\tone\\n2\\tone\"\n\
             Read {\"file_path\":\"/w/a\\u001b[2J.rs\"} -> \"1\\tone\\n2\\tone\"\n\
             Edit {\"file_path\":\"/w/b.rs\",\"old_string\":\"x\",\"new_string\":\"y\"} !> \"String to replace not found in file.\"\n\
             mcp__shop__buy {} -> \"ok\"",
        );
        let mut checked = Checker::default().check(&run.unwrap());
        checked.sort();
        CheckRun { checked, files: 1, notes: vec!["a note".into()] }
    }

    #[test]
    fn every_report_is_the_same_each_time_and_harmless() {
        for format in CHECK_FORMATS {
            let options = Options::default();
            let report = format.to_text(&sample(), &options).unwrap();
            assert!(report.ends_with('\n'), "{}", format.id);
            assert_eq!(report, format.to_text(&sample(), &options).unwrap(), "{}", format.id);
            let obeyed = report.chars().find(|c| *c != '\n' && is_obeyed(*c));
            assert_eq!(obeyed, None, "{} lets a control character through", format.id);
            for word in ["S101", "A202", "shop/buy"] {
                assert!(report.contains(word), "{} does not say {word}", format.id);
            }
            let empty = format.to_text(&CheckRun::default(), &options).unwrap();
            assert!(empty.ends_with('\n'), "{}", format.id);
        }
    }

    #[test]
    fn no_line_is_too_wide() {
        for width in [40, 80, 120] {
            let options = Options { width, ..Options::default() };
            let text = check_format_by_id("text").unwrap().to_text(&sample(), &options).unwrap();
            let widest = text.lines().map(crate::terminal::text::width).max().unwrap();
            assert!(widest <= width, "{widest} of {width}:\n{text}");
        }
    }

    #[test]
    fn lines_of_findings_and_a_summary() {
        let text = check_format_by_id("jsonl").unwrap().to_text(&sample(), &Options::default());
        let text = text.unwrap();
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["type"], "finding");
        assert_eq!(lines[0]["code"], "A202");
        assert_eq!(lines[0]["place"]["line"], 3);
        let last = lines.last().unwrap();
        assert_eq!(last["type"], "scorecard");
        assert_eq!(last["tools"]["Read"]["selection"]["of"], 2);
        assert_eq!(last["tools"]["Read"]["selection"]["rate"], 0.5);
        assert!(last["tools"]["shop/buy"]["selection"]["rate"].is_null());
    }
}
