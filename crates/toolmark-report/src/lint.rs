//! Machine-readable lint results: JSON, and SARIF for code scanning.

use crate::sarif::{document, location, log_of, pascal, result, words};
use crate::{ReportError, ReportOptions};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write;
use toolmark_check::fingerprint::of as fingerprint;
use toolmark_redact::{Printable, SharedName};

/// Severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LintLevel {
    /// The spec cannot be used.
    Error,
    /// The spec can be used, but probably does not do what its author intended.
    Warning,
    /// Additional information.
    Note,
}

/// A related source position.
#[derive(Debug, Clone, Serialize)]
pub struct LintNote {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// Relation to the problem.
    pub message: Printable,
}

/// A problem in a spec. Lines and columns count from 1, columns in characters; they are `None` if
/// the problem concerns the whole file.
#[derive(Debug, Clone, Serialize)]
pub struct LintProblem {
    /// File name.
    pub file: SharedName<Printable>,
    /// Start line.
    pub line: Option<u32>,
    /// Start column.
    pub column: Option<u32>,
    /// End line.
    pub end_line: Option<u32>,
    /// End column, exclusive.
    pub end_column: Option<u32>,
    /// Kind of problem, in kebab case.
    pub code: &'static str,
    /// Severity.
    pub severity: LintLevel,
    /// Description of the problem.
    pub message: Printable,
    /// Suggested fix.
    pub help: Option<Printable>,
    /// Related source positions.
    pub notes: Vec<LintNote>,
}

/// All problems of the linted specs.
#[derive(Debug, Clone, Serialize)]
pub struct LintReport {
    /// Number of linted specs.
    pub specs: u64,
    /// Number of errors.
    pub errors: u64,
    /// Number of warnings.
    pub warnings: u64,
    /// All problems.
    pub problems: Vec<LintProblem>,
}

impl LintReport {
    /// Writes the report as SARIF 2.1.0.
    pub fn write_sarif(
        &self,
        options: &ReportOptions,
        out: &mut dyn Write,
    ) -> Result<(), ReportError> {
        let mut codes: Vec<&str> = Vec::new();
        let mut results = Vec::new();
        for problem in &self.problems {
            let known = codes.iter().position(|code| *code == problem.code);
            let rule = known.unwrap_or_else(|| {
                codes.push(problem.code);
                codes.len() - 1
            });
            results.push(problem.result(rule));
        }
        let rules = codes.into_iter().map(|code| {
            json!({
                "id": code,
                "name": pascal(code),
                "shortDescription": { "text": code.replace('-', " ") },
            })
        });
        let properties =
            json!({ "specs": self.specs, "errors": self.errors, "warnings": self.warnings });
        let log = log_of(rules.collect(), results, properties, options);
        document(&[log], out)
    }
}

impl LintProblem {
    fn result(&self, rule: usize) -> Value {
        let level = match self.severity {
            LintLevel::Error => "error",
            LintLevel::Warning => "warning",
            LintLevel::Note => "note",
        };
        let message = match &self.help {
            Some(help) => format!("{}\n{}", &*self.message, &**help),
            None => self.message.to_string(),
        };
        let at = |line: Option<u32>| line.unwrap_or(0);
        let mut own = location(&self.file, at(self.line), at(self.column), &self.message);
        if let Some(region) = own.pointer_mut("/physicalLocation/region") {
            for (key, value) in [("endLine", self.end_line), ("endColumn", self.end_column)] {
                if let Some(value) = value {
                    region[key] = json!(value);
                }
            }
        }
        let notes = self.notes.iter();
        let notes = notes.map(|note| location(&self.file, note.line, note.column, &note.message));
        let places = std::iter::once(own).chain(notes).collect();
        let print = fingerprint(&[&self.file, self.code, &words(&self.message)]);
        result(self.code, rule, level, &message, places, &print)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_redact::Redactor;

    #[test]
    fn a_problem_is_a_result_at_its_place() {
        let redactor = Redactor::new(true);
        let problem = |code, line| LintProblem {
            file: redactor.name("evals/a.yaml".into()),
            line,
            column: line,
            end_line: line,
            end_column: line.map(|line| line + 4),
            code,
            severity: LintLevel::Error,
            message: redactor.apply("unknown key \"x\""),
            help: Some(redactor.apply("did you mean y?")),
            notes: Vec::new(),
        };
        let report = LintReport {
            specs: 1,
            errors: 3,
            warnings: 0,
            problems: vec![
                problem("unknown-key", Some(3)),
                problem("unreadable-file", None),
                problem("unknown-key", Some(5)),
            ],
        };
        let mut text = Vec::new();
        report.write_sarif(&ReportOptions::default(), &mut text).unwrap();
        let log: Value = serde_json::from_slice(&text).unwrap();
        let run = &log["runs"][0];
        let rules: Vec<&str> = run["tool"]["driver"]["rules"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rule| rule["id"].as_str().unwrap())
            .collect();
        assert_eq!(rules, ["unknown-key", "unreadable-file"]);
        let third = &run["results"][2];
        assert_eq!((&third["ruleIndex"], &third["level"]), (&json!(0), &json!("error")));
        assert_eq!(
            third["locations"][0]["physicalLocation"]["region"],
            json!({"startLine": 5, "startColumn": 5, "endLine": 5, "endColumn": 9})
        );
        let whole = &run["results"][1]["locations"][0]["physicalLocation"];
        assert_eq!(*whole, json!({"artifactLocation": {"uri": "evals/a.yaml"}}));
    }
}
