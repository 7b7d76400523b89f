//! Tests of `toolmark check --gold`.

use crate::{run, stdout, toolmark};
use serde_json::Value;
use std::fs;

/// A session with a repeated read and a failing edit.
const FAULTS: &str = "crates/toolmark/tests/fixtures/faults.jsonl";

#[test]
fn labels_are_held_against_the_first_call() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("gold.csv");
    fs::write(&file, "id,tool\nfaults,Read\nnobody,none\n").unwrap();
    let file = file.to_str().unwrap();
    let output = toolmark(&["check", FAULTS, "--gold", file, "--format", "json"]).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let selection = &json["selection"];
    assert_eq!(selection["tools"]["Read"]["f1"]["value"], 1.0, "{selection}");
    assert_eq!(selection["unpaired"][0]["name"], "nobody");
    let measures = json["scorecard"]["measures"].as_array().unwrap();
    let is_f1 = |m: &&Value| m["name"] == "f1" && m["axis"] == "selection" && m["tool"] == "Read";
    assert_eq!(measures.iter().find(is_f1).unwrap()["tally"]["rate"], 1.0);
    let text = run(&["check", FAULTS, "--gold", file]);
    assert!(text.contains("1 of 1 chosen as the gold labels say"), "{text}");
    assert!(text.contains("unknown: line 3 (nobody)"), "{text}");
}

#[test]
fn labels_of_nothing_are_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("gold.jsonl");
    fs::write(&file, "{\"id\":\"nobody\",\"tool\":\"Read\"}\n").unwrap();
    let text = run(&["check", FAULTS, "--gold", file.to_str().unwrap()]);
    assert!(text.contains("no row has the id or the prompt of a trace"), "{text}");
    assert!(text.ends_with("--- exit 3\n"), "{text}");
    fs::write(&file, "{\"id\":\"x\"}\n").unwrap();
    let text = run(&["check", FAULTS, "--gold", file.to_str().unwrap()]);
    assert!(
        text.contains("gold.jsonl:1: the row has no tool") && text.ends_with("--- exit 3\n"),
        "{text}"
    );
}

#[test]
fn a_template_is_a_file_of_labels() {
    let template = stdout(&["check", "samples/claude-code", "--gold-template"]);
    assert!(template.starts_with("# Gold labels"), "{template}");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("gold.yaml");
    fs::write(&file, &template).unwrap();
    let args =
        ["check", "samples/claude-code", "--gold", file.to_str().unwrap(), "--format", "json"];
    let output = toolmark(&args).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = template.lines().filter(|line| line.starts_with("- ")).count();
    assert!(rows >= 2, "{template}");
    // What agents chose is what the labels say, until a person corrects them.
    for (tool, score) in json["selection"]["tools"].as_object().unwrap() {
        assert_eq!(score["f1"]["value"], 1.0, "{tool}: {score}");
    }
    assert_eq!(json["selection"]["unpaired"].as_array().map_or(0, Vec::len), 0, "{json}");
}
