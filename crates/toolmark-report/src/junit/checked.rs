//! One suite with a test case per rule that ran, and one suite of the gates. A finding below the
//! failing severity is not a failure; an undecidable gate is an error.

use super::{JunitTest, Suite, Trouble};
use crate::ReportOptions;
use crate::checked::{gates, judged, overview};
use crate::model::{CheckRun, PrintableFinding};
use crate::shown;
use std::fmt::Write as _;
use std::io;
use toolmark_base::{SortedMap, SortedSet};
use toolmark_outcome::{Printable, Verdict, printable};

/// Maximum number of findings per rule that are printed in full.
const OF_A_RULE: usize = 100;

pub(super) fn suites(run: &CheckRun, options: &ReportOptions) -> io::Result<Vec<Suite>> {
    let time = options.generated_at.map(|time| ("timestamp", time.to_string()));
    let suites = [("runs", of_runs(run)), ("rules", of_rules(run)?), ("gates", of_gates(run))];
    let suites = suites.map(|(name, tests)| Suite {
        name: name.to_owned(),
        attributes: time.iter().cloned().collect(),
        properties: vec![("toolmark".into(), env!("CARGO_PKG_VERSION").into())],
        tests,
    });
    Ok(suites.into_iter().filter(|suite| !suite.tests.is_empty()).collect())
}

/// Whether the runs succeeded by their own record; nothing where none says so.
fn of_runs(run: &CheckRun) -> Vec<JunitTest> {
    let declared = &run.checked.declared;
    let trouble = declared.first.as_ref().map(|_| Trouble {
        tag: if run.accepts_failed_runs { "skipped" } else { "failure" },
        message: overview::declared(run).unwrap_or_default(),
        kind: None,
        body: String::new(),
    });
    let test = JunitTest {
        name: "declared outcome".into(),
        class: "toolmark.runs".to_owned(),
        attributes: Vec::new(),
        trouble,
    };
    if declared.is_empty() { Vec::new() } else { vec![test] }
}

fn of_rules(run: &CheckRun) -> io::Result<Vec<JunitTest>> {
    let mut failing: SortedMap<&str, Failing> = SortedMap::new();
    for finding in run.findings()? {
        let finding = finding?;
        if run.fails(&finding) {
            failing.entry(finding.code).or_default().add(&finding);
        }
    }
    let counts = &run.checked.scorecard.rules;
    let judged: SortedSet<&str> =
        counts.iter().filter(|(_, count)| count.of > 0).map(|((code, _), _)| *code).collect();
    // A rule without a call to judge has not passed.
    let skipped = |rule: &toolmark_check::Rule| {
        (!judged.contains(rule.code)).then(|| Trouble {
            tag: "skipped",
            message: "no call that the rule could judge".into(),
            kind: None,
            body: String::new(),
        })
    };
    let test = |rule: &&toolmark_check::Rule| JunitTest {
        name: printable!("{} {}", rule.code, rule.name),
        class: "toolmark.rules".to_owned(),
        attributes: Vec::new(),
        trouble: failing.remove(rule.code).map(Failing::trouble).or_else(|| skipped(rule)),
    };
    Ok(run.rules.iter().map(test).collect())
}

/// The findings that fail a rule.
#[derive(Default)]
struct Failing {
    count: usize,
    first: Printable,
    body: String,
}

impl Failing {
    fn add(&mut self, finding: &PrintableFinding) {
        if self.count == 0 {
            self.first = finding.message.clone();
        }
        self.count += 1;
        if self.count <= OF_A_RULE {
            spell(finding, &mut self.body);
        }
    }

    fn trouble(self) -> Trouble {
        let more = match self.count {
            1 => Printable::default(),
            n => printable!(" and {} more", n - 1),
        };
        let mut body = format!("\n{}", self.body);
        if self.count > OF_A_RULE {
            let _ = writeln!(body, "and {} more", self.count - OF_A_RULE);
        }
        let message = printable!("{}{}", self.first, more);
        Trouble { tag: "failure", message, kind: None, body }
    }
}

fn spell(finding: &PrintableFinding, body: &mut String) {
    let place = shown::in_trace(&finding.place);
    let _ = writeln!(body, "{place}: {} {}", finding.severity, finding.message);
    for evidence in finding.evidence.iter().skip(1) {
        let at = evidence.location().map(|place| format!("line {}: ", place.line));
        let _ = writeln!(body, "  {}{}", at.unwrap_or_default(), evidence.summary());
    }
    if let Some(objection) = judged::objection(finding) {
        let _ = writeln!(body, "  {objection}");
    }
    let _ = writeln!(body, "  to do: {}", finding.remedy);
}

fn of_gates(run: &CheckRun) -> Vec<JunitTest> {
    let rows = run.gates.iter().map(|row| {
        let element = match row.verdict {
            Verdict::Pass => None,
            Verdict::Fail => Some("failure"),
            Verdict::Unknown(_) => Some("error"),
        };
        let message = printable!("{}, {}", gates::value(row), row.reason);
        let body = format!("\n{message}\n");
        JunitTest {
            name: printable!("{} {} {}", row.subject(), row.op, row.threshold),
            class: "toolmark.gates".to_owned(),
            attributes: Vec::new(),
            trouble: element.map(|tag| Trouble { tag, message, kind: None, body }),
        }
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use crate::checked::tests::report;

    #[test]
    fn the_gates() {
        let text = report("junit");
        let gates = text.split("<testsuite name=\"gates\"").nth(1).unwrap();
        assert!(gates.contains("tests=\"3\"") && gates.contains("errors=\"1\""), "{gates}");
        assert!(text.contains("<failure message="), "{text}");
        insta::assert_snapshot!(gates);
    }
}
