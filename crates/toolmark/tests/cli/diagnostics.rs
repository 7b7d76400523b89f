//! Messages of `check` and `judge` about errors in options, in their sections of `toolmark.yaml`,
//! and in files of labels.

use crate::{root, session};
use insta::assert_snapshot;
use std::fs;
use tempfile::TempDir;

/// A session with a repeated read and a failing edit.
const FAULTS: &str = "crates/toolmark/tests/fixtures/faults.jsonl";

/// Returns a directory with the session as `run.jsonl`, and these files.
fn directory(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(root().join(FAULTS), dir.path().join("run.jsonl")).unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    dir
}

#[test]
fn gates() {
    let gates = [
        "selecton >= 0.5",
        "speed >= 0.5",
        "selection",
        "selection => 0.5",
        "selection ~ 0.5",
        "selection >= high",
        "selection >= 1.5",
        "selection[Read >= 0.5",
        "selection[] >= 0.5",
        "selection >= 0.5 per tol",
        "selection >= 0.5 min 3",
        "selection >= 0.5 min support none",
        "selection >= 0.5 for all",
    ]
    .map(|gate| format!("--gate={gate}"));
    let lines: Vec<Vec<&str>> = gates.iter().map(|gate| vec!["check", "run.jsonl", gate]).collect();
    let lines: Vec<&[&str]> = lines.iter().map(Vec::as_slice).collect();
    assert_snapshot!(session(directory(&[]).path(), &lines));
}

#[test]
fn rules_and_filters() {
    let lines = [
        &["check", "--explain", "S999"][..],
        &["check", "--explain", "repeated-reed"],
        &["check", "--explain", ""],
        &["check", "run.jsonl", "--select", "S1O1"],
        &["check", "run.jsonl", "--ignore", "Q"],
        &["check", "run.jsonl", "--select", "S101", "--ignore", "S"],
        &["check", "run.jsonl", "--min-confidence", "sure"],
        &["check", "run.jsonl", "--fail-on", "fatal"],
        &["check", "--since", "soon"],
        &["check", "--project", "/nonexistent"],
        &["check", "run.jsonl", "--limit", "0"],
        &["check", "none/*.jsonl"],
        &["check", "run.jsonl", "--report", "pdf=x"],
        &["check", "run.jsonl", "--report", "html"],
        &["check", "run.jsonl", "--baseline", "run.jsonl"],
        &["check", "run.jsonl", "--baseline", "none.json"],
        &["check", "run.jsonl", "--cases", "3"],
        &["check", "run.jsonl", "--judge-model", "claude-x"],
    ];
    assert_snapshot!(session(directory(&[]).path(), &lines));
}

const CHECK: &str = r#"check:
  selct: [S]
  select: [S999, repeated-reed]
  ignore: [7]
  severity: {S101: fatal, S9: info}
  min_confidence: hihg
  fail_on: nevr
  gates:
    - selecton >= 0.5
    - recovery[Bash >= 1
  toolsets:
    - tools: {peek: {role: reeds}}
    - id: shop
      tools: {buy: {schema: {type: 7}}}
      confusable: [[buy, sell]]
"#;

/// The invalid section without the type errors that hide all other errors.
fn check_without_wrong_types() -> String {
    let left = |line: &&str| !["selct", "ignore", "reeds"].iter().any(|word| line.contains(word));
    CHECK.lines().filter(left).map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_check_section() {
    let dir = directory(&[
        ("toolmark.yaml", CHECK),
        ("later.yaml", &check_without_wrong_types()),
        ("list.yaml", "check: [S]\n"),
        ("none.yaml", "graders: [error-count]\n"),
        ("broken.yaml", "check:\n  select: [S\n"),
    ]);
    let lines = [
        &["check", "run.jsonl"][..],
        &["check", "run.jsonl", "--config", "later.yaml"],
        &["check", "run.jsonl", "--config", "list.yaml"],
        &["check", "run.jsonl", "--config", "none.yaml"],
        &["check", "run.jsonl", "--config", "broken.yaml"],
        &["check", "run.jsonl", "--config", "missing.yaml"],
        &["lint", "later.yaml"],
    ];
    assert_snapshot!(session(dir.path(), &lines));
}

#[test]
fn gold_labels() {
    let dir = directory(&[
        ("rows.jsonl", "{\"id\":\"a\",\"tool\":\"Read\"}\nnope\n{\"id\":\"b\"}\n"),
        (
            "labels.jsonl",
            "{\"tool\":\"Read\"}\n{\"id\":\"b\"}\n{\"id\":[1],\"tool\":\"Read\"}\n{\"id\":\"d\",\"tool\":7}\n{\"id\":\"e\",\"tool\":[\"Read\",\"none\"]}\n",
        ),
        ("twice.csv", "id,tool\na,Read\na,Grep\n"),
        ("columns.csv", "session,answer\na,Read\n"),
        ("cells.csv", "id,tool\na,Read,extra\n"),
        ("empty.jsonl", ""),
        ("map.yaml", "tool: Read\n"),
        ("broken.yaml", "- id: a\n  tool: [Read\n"),
        ("broken.json", "[{\"id\": \"a\" \"tool\": \"Read\"}]"),
        ("others.csv", "id,tool\nnobody,Read\n"),
    ]);
    let files = [
        "rows.jsonl",
        "labels.jsonl",
        "twice.csv",
        "columns.csv",
        "cells.csv",
        "empty.jsonl",
        "map.yaml",
        "broken.yaml",
        "broken.json",
        "others.csv",
        "missing.csv",
    ];
    let lines = files.map(|file| ["check", "run.jsonl", "--gold", file]);
    let lines: Vec<&[&str]> = lines.iter().map(<[&str; 4]>::as_slice).collect();
    assert_snapshot!(session(dir.path(), &lines));
}

const JUDGE: &str = r#"judge:
  modle: claude-x
  model: 7
  provider: openia
  retries: 21
  cache: true
  base_url: localhost:8080
  budget: {tokens: -1, usd: free}
  retrys: 3
  models:
    fast: {model: claude-x, modle: 1}
    "": {provider: anthropic}
"#;

/// Invalid values of the right type.
const JUDGE_VALUES: &str = r#"judge:
  model: claude-x
  retries: 21
  concurrency: 0
  timeout: soon
  max_tokens: 0
  base_url: localhost:8080
  key_env: sk-ant-api03-a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8
  price: {input: -1, output: 2}
  budget: {usd: -1}
  floor: {accuracy: 2}
  models:
    nameless: {effort: high}
    unknown: {model: qwen3}
    runs: {provider: command, model: x}
    both: {model: claude-y, key_env: KEY, key_command: [get-key]}
"#;

#[test]
fn the_judge_section() {
    let dir = directory(&[
        ("toolmark.yaml", JUDGE),
        ("values.yaml", JUDGE_VALUES),
        ("none.yaml", "graders: [error-count]\n"),
        ("list.yaml", "judge: [claude-x]\n"),
        ("broken.yaml", "judge:\n  model: \"claude-x\n"),
    ]);
    let judge = ["check", "run.jsonl", "--judge"];
    let configured = |file| [&judge[..], &["--judge-config", file]].concat();
    let files = ["values.yaml", "none.yaml", "list.yaml", "broken.yaml", "missing.yaml"];
    let mut lines: Vec<Vec<&str>> = vec![judge.to_vec()];
    lines.extend(files.map(configured));
    lines.push(vec!["lint", "toolmark.yaml"]);
    let lines: Vec<&[&str]> = lines.iter().map(Vec::as_slice).collect();
    assert_snapshot!(session(dir.path(), &lines));
    let dir = directory(&[]);
    let lines = [&judge[..], &["check", "run.jsonl", "--judge", "--judge-model", "claud"]];
    assert_snapshot!("no_judge", session(dir.path(), &lines));
}

const LABELS: &str = r#"{"id":"a","label":"pass","inputs":{"answer":"x"}}
{"id":"a","label":"fail","inputs":{"answer":"x"}}
{"label":"pass","inputs":{"answer":"x"}}
{"id":"c","inputs":{"answer":"x"}}
{"id":"d","label":"good","inputs":{"answer":"x"}}
{"id":"e","label":"pass"}
{"id":"f","label":"pass","trace":"run.jsonl","inputs":{"answer":"x"}}
{"id":"g","label":"pass","trace":"none.jsonl"}
{"id":"h","label":"pass","trace":"run.jsonl","call":-1}
{"id":"i","label":"pass","trace":"run.jsonl","call":99}
{"id":"j","label":"pass","trace":"run.jsonl","run":7}
{"id":"k","label":"pass","lable":"pass","inputs":{"answer":"x"}}
{"id":"l","label":"pass","inputs":["x"]}
{"id":"m","label":"pass","rubric":"tool-selektion","inputs":{"answer":"x"}}
{"id":"n","label":9,"inputs":{"answer":"x"}}
"#;

#[test]
fn calibration_labels() {
    let dir = directory(&[
        ("labels.jsonl", LABELS),
        ("rows.jsonl", "{\"id\":\"a\",\nnope\n"),
        ("empty.csv", "id,label\n"),
        ("tidy.md", "Is it tidy?"),
        ("empty.md", ""),
        (
            "rubric.yaml",
            "criteria:\n  - {text: a, weight: -1, id: x}\n  - {text: b, id: x, marks: {'7': seven}}\nscale: 1-5\nthreshold: 3\ninputs: {request: nonsense, said: 3}\n",
        ),
        ("scale.yaml", "criteria: [a]\nscale: 1-7\nscael: 1-5\n"),
    ]);
    let calibrate = |more: &[&'static str]| [&["judge", "calibrate"][..], more].concat();
    let mut lines: Vec<Vec<&str>> = Vec::new();
    lines.push(calibrate(&["labels.jsonl", "--rubric", "tidy.md", "--verbose"]));
    lines.push(calibrate(&["labels.jsonl", "--rubric", "tidy.md"]));
    for labels in ["rows.jsonl", "empty.csv", "missing.jsonl"] {
        lines.push(calibrate(&[labels, "--rubric", "tidy.md"]));
    }
    lines.push(calibrate(&["labels.jsonl"]));
    for rubric in ["tool-selektion", "empty.md", "rubric.yaml", "scale.yaml"] {
        lines.push(calibrate(&["labels.jsonl", "--rubric", rubric]));
    }
    for option in ["--scale=1-7", "--threshold=7", "--floor=kappa", "--floor=f1=0.5", "--probe=x"] {
        lines.push(calibrate(&["labels.jsonl", "--rubric", "tidy.md", option]));
    }
    let lines: Vec<&[&str]> = lines.iter().map(Vec::as_slice).collect();
    assert_snapshot!(session(dir.path(), &lines));
}
