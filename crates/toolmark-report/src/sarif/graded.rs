//! One result per grader that did not pass, at the deciding source position in the trace.
//!
//! A rule is a type of grader. A failed grader is an error, an unknown one a warning; if the case
//! passes nevertheless, both are notes. File names are as given.

use super::{RELATED, in_trace, location, log_of, pascal, result, words};
use crate::model::{GraderResult, RunResult, SpecPlace, TracePlace};
use crate::shown::{self, NamedOutcome};
use crate::{Describe, ReportOptions};
use serde_json::{Value, json};
use toolmark_check::fingerprint::of as fingerprint;
use toolmark_outcome::{Printable, Verdict, printable};

/// Rule for a case that did not pass although no single grader is the cause.
const CASE: &str = "case";
/// Rule for the overall score.
const GATE: &str = "gate";

pub(super) fn log(run: &RunResult, options: &ReportOptions) -> Value {
    let mut rules =
        SarifRules { describe: options.describe, ids: Vec::new(), described: Vec::new() };
    let mut results = Vec::new();
    for shown in NamedOutcome::all(run) {
        let blamed = shown.troubles().next().is_some() && !shown.is_not_run();
        if blamed {
            for grader in shown.troubles() {
                results.push(trouble(run, &shown, grader, &mut rules));
            }
        } else if shown.result.verdict != Verdict::Pass {
            results.push(case(run, &shown, &mut rules));
        }
    }
    let all = run.outcomes.iter().fold(Verdict::Pass, |sum, o| sum.and(o.verdict));
    if run.summary.verdict != all
        && let Some(words) = shown::overall(&run.summary)
    {
        let place = SpecPlace { file: run.spec.clone(), line: 1, column: 1 };
        let level = level(run.summary.verdict, run.summary.verdict);
        let rule = rules.index(GATE);
        let print = fingerprint(&[&run.spec, GATE]);
        results.push(result(GATE, rule, level, &words, vec![in_spec(&place)], &print));
    }
    let properties = json!({
        "spec": &*run.spec,
        "dialect": run.dialect,
        "verdict": run.summary.verdict,
        "summary": run.summary,
        "notes": run.notes,
    });
    log_of(rules.described, results, properties, options)
}

/// The rules in the order of their first result.
struct SarifRules {
    describe: Describe,
    ids: Vec<String>,
    described: Vec<Value>,
}

impl SarifRules {
    fn index(&mut self, id: &str) -> usize {
        if let Some(at) = self.ids.iter().position(|known| known == id) {
            return at;
        }
        let (summary, help) = match id {
            CASE => ("did the case pass", "Did the case pass as a whole?"),
            GATE => (
                "does the score reach the threshold",
                "Does the mean score of all cases reach the threshold of the spec?",
            ),
            _ => (self.describe)(id).unwrap_or((id, id)),
        };
        self.described.push(json!({
            "id": id,
            "name": pascal(id),
            "shortDescription": { "text": words(summary) },
            "help": { "text": help, "markdown": help },
            "defaultConfiguration": { "level": "error" },
        }));
        self.ids.push(id.to_owned());
        self.ids.len() - 1
    }
}

/// Returns the result of a grader that did not pass.
fn trouble(
    run: &RunResult,
    shown: &NamedOutcome<'_>,
    grader: &GraderResult,
    rules: &mut SarifRules,
) -> Value {
    let mut message = printable!("{}: {}: {}", shown.title, grader.name, grader.outcome.reason);
    if let Some(explanation) = &grader.outcome.explanation {
        for repair in explanation.repair.iter().take(RELATED) {
            message = printable!("{}\nto pass: {}", message, repair);
        }
    }
    // Evidence for what is right points nowhere a reader should look first.
    let places: Vec<(&TracePlace, Printable)> = grader
        .outcome
        .evidence
        .iter()
        .filter(|e| e.role != toolmark_outcome::EvidenceRole::Matched)
        .filter_map(|e| Some((e.location()?, printable!("{}: {}", e.role.word(), e.text))))
        .collect();
    let mut locations: Vec<Value> =
        places.iter().map(|(place, text)| in_trace(place, text)).take(RELATED).collect();
    locations.push(in_spec(&grader.place));
    let rule = rules.index(&grader.type_word);
    let level = level(grader.outcome.verdict, shown.result.verdict);
    let trial = shown.result.trial.to_string();
    let parts = [&*run.spec, &shown.result.case, &trial, &grader.type_word, &grader.name];
    result(&grader.type_word, rule, level, &message, locations, &fingerprint(&parts))
}

/// Returns the result of a case without a deciding grader.
fn case(run: &RunResult, shown: &NamedOutcome<'_>, rules: &mut SarifRules) -> Value {
    let message = printable!("{}: {}", shown.title, shown.result.reason);
    let level = level(shown.result.verdict, shown.result.verdict);
    let locations = vec![in_spec(&shown.result.place)];
    let rule = rules.index(CASE);
    let trial = shown.result.trial.to_string();
    let print = fingerprint(&[&run.spec, &shown.result.case, &trial, CASE]);
    result(CASE, rule, level, &message, locations, &print)
}

fn level(grader: Verdict, case: Verdict) -> &'static str {
    match (grader, case) {
        (_, Verdict::Pass) => "note",
        (Verdict::Fail, _) => "error",
        _ => "warning",
    }
}

fn in_spec(place: &SpecPlace) -> Value {
    location(&place.file, place.line, place.column, "what the spec asks")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use toolmark_base::SortedSet;

    fn log() -> Value {
        serde_json::from_str(&testing::report("sarif")).unwrap()
    }

    /// Checks the schema's requirements for the parts used here.
    #[test]
    fn has_the_structure_of_sarif() {
        let log = log();
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        let ids: SortedSet<&str> = rules.iter().map(|r| r["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), rules.len(), "ids of rules are unique");
        let results = run["results"].as_array().unwrap();
        let mut prints = SortedSet::new();
        for result in results {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(rules[index]["id"], result["ruleId"]);
            assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            assert_eq!(result["locations"].as_array().unwrap().len(), 1);
            let related = result["relatedLocations"].as_array().into_iter().flatten();
            for location in result["locations"].as_array().unwrap().iter().chain(related) {
                let physical = &location["physicalLocation"];
                let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
                assert!(uri.is_ascii() && !uri.contains([' ', '<', '"', '\\']), "{uri}");
                assert!(physical["region"]["startLine"].as_u64().unwrap() >= 1);
            }
            let print = result["partialFingerprints"]["toolmark/v1"].as_str().unwrap();
            assert!(prints.insert(print), "two results have the fingerprint {print}");
        }
        let levels: Vec<&str> = results.iter().map(|r| r["level"].as_str().unwrap()).collect();
        assert_eq!(levels, ["error", "error", "warning", "warning", "error", "warning", "warning"]);
    }

    #[test]
    fn the_first_evidence_with_a_place_is_the_location() {
        let log = log();
        insta::assert_json_snapshot!(log["runs"][0]["results"][0]);
    }

    #[test]
    fn fingerprints_tell_parts_apart() {
        assert_eq!(fingerprint(&["a", "b"]), fingerprint(&["a", "b"]));
        assert_ne!(fingerprint(&["ab", ""]), fingerprint(&["a", "b"]));
    }
}
