//! One result per finding at the call at fault, with its evidence as related locations, and one
//! result per gate that fails.

use super::{RELATED, in_trace, location, log_of, make_relative, pascal, result, words};
use crate::ReportOptions;
use crate::model::{CheckRun, GateRow, PrintableFinding};
use crate::shown;
use serde::ser::{Error, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::collections::HashMap;
use toolmark_base::SortedMap;
use toolmark_check::{Rule, fingerprint, rule_by_code};
use toolmark_outcome::{Confidence, Severity, Verdict, printable};

/// Rule ID of gates.
const GATE: &str = "gate";

/// The SARIF run of a check; its results are created while they are written.
pub(super) struct SarifCheckRun<'r> {
    run: &'r CheckRun,
    /// The run without its results.
    frame: Value,
    /// Indices of the rules in the list of rules.
    indices: SortedMap<&'static str, usize>,
    directory: Option<&'r str>,
}

impl<'r> SarifCheckRun<'r> {
    /// Creates the run. File names are relative to the directory.
    pub(super) fn new(
        run: &'r CheckRun,
        options: &ReportOptions,
        directory: Option<&'r str>,
    ) -> Self {
        let mut rules: Vec<Value> = Vec::new();
        let mut indices: SortedMap<&'static str, usize> = SortedMap::new();
        let gate = run.gates.iter().any(is_missed).then_some(GATE);
        for code in run.groups().iter().map(|group| group.code).chain(gate) {
            indices.entry(code).or_insert_with(|| {
                rules.push(rule_by_code(code).map_or_else(gate_rule, described));
                rules.len() - 1
            });
        }
        let properties = json!({
            "verdict": run.verdict(),
            "files": run.files,
            "sessions": run.checked.scorecard.sessions,
            "left_out": run.checked.left_out,
            "declared": run.checked.declared,
            "notes": run.notes,
        });
        let frame = log_of(rules, Vec::new(), properties, options);
        Self { run, frame, indices, directory }
    }

    fn index(&self, code: &str) -> usize {
        self.indices.get(code).copied().unwrap_or_default()
    }

    fn relative(&self, mut result: Value) -> Value {
        make_relative(&mut result, self.directory);
        result
    }
}

impl Serialize for SarifCheckRun<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut log = serializer.serialize_map(None)?;
        for (key, value) in self.frame.as_object().into_iter().flatten() {
            match key.as_str() {
                "results" => log.serialize_entry(key, &Results(self))?,
                _ => log.serialize_entry(key, value)?,
            }
        }
        log.end()
    }
}

struct Results<'l, 'r>(&'l SarifCheckRun<'r>);

impl Serialize for Results<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let log = self.0;
        let mut results = serializer.serialize_seq(None)?;
        let mut seen: HashMap<u64, u64> = HashMap::new();
        for finding in log.run.new_findings().map_err(S::Error::custom)? {
            let finding = finding.map_err(S::Error::custom)?;
            let times = seen.entry(fingerprint::number(&finding.fingerprint)).or_default();
            *times += 1;
            let result = found(&finding, log.index(finding.code), *times);
            results.serialize_element(&log.relative(result))?;
        }
        let mut all = log.run.findings().map_err(S::Error::custom)?;
        let first = all.next().transpose().map_err(S::Error::custom)?;
        let file = first.map(|finding| finding.place.file.to_string()).unwrap_or_default();
        for row in log.run.gates.iter().filter(|row| is_missed(row)) {
            let result = gated(row, &file, log.index(GATE));
            results.serialize_element(&log.relative(result))?;
        }
        results.end()
    }
}

fn is_missed(row: &GateRow) -> bool {
    row.verdict != Verdict::Pass
}

fn described(rule: &'static Rule) -> Value {
    let page = rule.page();
    let precision = match rule.confidence {
        Confidence::High => "very-high",
        Confidence::Medium => "high",
        Confidence::Low => "low",
    };
    json!({
        "id": rule.code,
        "name": pascal(rule.name),
        "shortDescription": { "text": words(rule.summary) },
        "help": { "text": page, "markdown": page },
        "helpUri": help_uri(rule),
        "defaultConfiguration": { "level": level(rule.severity) },
        "properties": {
            "tags": [rule.axis.word()],
            "precision": precision,
            "problem.severity": problem_severity(rule.severity),
        },
    })
}

fn gate_rule() -> Value {
    let help =
        "Does a number of the scorecard reach its threshold, and is it no worse than before?";
    json!({
        "id": GATE,
        "name": "Gate",
        "shortDescription": { "text": "a number misses its threshold" },
        "help": { "text": help, "markdown": help },
        "defaultConfiguration": { "level": "error" },
    })
}

fn found(finding: &PrintableFinding, index: usize, times: u64) -> Value {
    let message = printable!("{}: {}\nto do: {}", finding.tool, finding.message, finding.remedy);
    let mut locations = vec![in_trace(&finding.place, &finding.message)];
    let proof = finding.evidence.iter().skip(1);
    let places = proof.filter_map(|e| Some((e.location()?, e.summary())));
    locations.extend(places.map(|(place, text)| in_trace(place, &text)).take(RELATED));
    // Like findings have the same fingerprint; code scanning wants its own for each.
    let print = match times {
        1 => finding.fingerprint.clone(),
        times => format!("{}:{times}", finding.fingerprint),
    };
    let level = level(finding.severity);
    let mut result = result(finding.code, index, level, &message, locations, &print);
    if let Some(object) = result.as_object_mut() {
        let mut properties = json!({
            "tool": finding.tool, "axis": finding.axis, "confidence": finding.confidence,
            "bucket": finding.bucket, "session": finding.session,
        });
        if let Some((judge, of_result)) = finding.judge.as_ref().zip(properties.as_object_mut()) {
            of_result.insert("judge".into(), json!(judge));
        }
        object.insert("properties".into(), properties);
    }
    result
}

fn gated(row: &GateRow, file: &str, index: usize) -> Value {
    let level = if row.verdict == Verdict::Fail { "error" } else { "warning" };
    let value = row.value.map_or("unknown".into(), shown::score);
    let message = printable!("{} is {} of {}: {}", row.subject(), value, row.n, row.reason);
    // A gate has no source position, but viewers need one.
    let locations = vec![location(file, 1, 1, "what was checked")];
    let print = fingerprint::of(&[GATE, &row.gate, &row.subject()]);
    result(GATE, index, level, &message, locations, &print)
}

/// URI of the page of a rule, for readers who see only the result.
fn help_uri(rule: &Rule) -> String {
    format!("{}/blob/main/docs/rules/{}.md", env!("CARGO_PKG_REPOSITORY"), rule.code)
}

/// The severity term by which GitHub sorts and filters results.
fn problem_severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "recommendation",
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checked::tests::report;
    use toolmark_base::SortedSet;

    #[test]
    fn has_the_structure_of_sarif() {
        let log: Value = serde_json::from_str(&report("sarif")).unwrap();
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        let mut prints = SortedSet::new();
        let results = run["results"].as_array().unwrap();
        for result in results {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
            assert!(rules[index]["help"]["text"].as_str().unwrap().len() > 20);
            let level = result["level"].as_str().unwrap();
            assert!(["error", "warning", "note"].contains(&level), "{level}");
            let print = result["partialFingerprints"]["toolmark/v1"].as_str().unwrap();
            assert!(prints.insert(print), "two results have the fingerprint {print}");
            let place = &result["locations"][0]["physicalLocation"];
            assert!(place["region"]["startLine"].as_u64().unwrap() >= 1);
        }
        let ids: Vec<&str> = results.iter().map(|r| r["ruleId"].as_str().unwrap()).collect();
        assert!(ids.contains(&"S101") && ids.contains(&GATE), "{ids:?}");
    }

    #[test]
    fn every_rule_has_a_page_in_the_documentation() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for rule in toolmark_check::RULES {
            let uri = help_uri(rule);
            let page = root.join(uri.split_once("/blob/main/").unwrap().1);
            let text = std::fs::read_to_string(page).unwrap_or_default();
            assert!(text.starts_with(&format!("# {} {}\n", rule.code, rule.name)), "{uri}");
        }
    }

    #[test]
    fn a_finding() {
        let log: Value = serde_json::from_str(&report("sarif")).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap();
        let read = results.iter().find(|result| result["ruleId"] == "S101").unwrap();
        insta::assert_json_snapshot!(read);
    }
}
