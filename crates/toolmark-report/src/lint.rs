//! What is wrong with specs, for programs: JSON, and SARIF for code scanning.

use crate::sarif::{document, location, log_of, pascal, result, words};
use crate::{Options, ReportError};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write;
use toolmark_check::fingerprint::of as fingerprint;
use toolmark_redact::{Name, Printable};

/// How much a problem matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The spec cannot be used.
    Error,
    /// It can, and probably does not mean what was wanted.
    Warning,
    /// Worth knowing.
    Note,
}

/// Another place that belongs to a problem.
#[derive(Debug, Clone, Serialize)]
pub struct LintNote {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// Why it belongs to it.
    pub message: Printable,
}

/// One thing that is wrong with a spec. Places count from 1, columns in characters;
/// `None` where it is about the file as a whole.
#[derive(Debug, Clone, Serialize)]
pub struct LintProblem {
    /// The file.
    pub file: Name<Printable>,
    /// The line it starts in.
    pub line: Option<u32>,
    /// The column it starts at.
    pub column: Option<u32>,
    /// The line it ends in.
    pub end_line: Option<u32>,
    /// The column after it.
    pub end_column: Option<u32>,
    /// Its kind, in kebab case.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Level,
    /// What is wrong.
    pub message: Printable,
    /// What to do about it.
    pub help: Option<Printable>,
    /// Other places that belong to it.
    pub notes: Vec<LintNote>,
}

/// Everything that is wrong with some specs.
#[derive(Debug, Clone, Serialize)]
pub struct LintReport {
    /// How many specs were looked at.
    pub specs: u64,
    /// How many errors there are.
    pub errors: u64,
    /// How many warnings there are.
    pub warnings: u64,
    /// All of it.
    pub problems: Vec<LintProblem>,
}

impl LintReport {
    /// Writes it as SARIF 2.1.0.
    pub fn write_sarif(&self, options: &Options, out: &mut dyn Write) -> Result<(), ReportError> {
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
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
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
            severity: Level::Error,
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
        report.write_sarif(&Options::default(), &mut text).unwrap();
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
