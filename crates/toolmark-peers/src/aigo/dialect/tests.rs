//! End-to-end tests of task files: from text to verdicts.

use super::AiGo;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use toolmark_config::Problem;
use toolmark_config::{SourceText, parse};
use toolmark_grade::Dialect;
use toolmark_grade::{Grading, Plan, RunSelection};
use toolmark_grade::{LoadOptions, Loading};
use toolmark_outcome::{Environment, Profile, RunResult};
use toolmark_trace::{ReadOptions, read};

struct LoadedDialect {
    plan: Option<Plan>,
    problems: Vec<Problem>,
    text: String,
}

impl LoadedDialect {
    fn good(self) -> Plan {
        let errors: Vec<_> = self.problems.iter().filter(|problem| problem.is_error()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        self.plan.unwrap()
    }

    /// Returns codes and messages.
    fn said(&self) -> Vec<(&str, &str)> {
        self.problems.iter().map(|problem| (problem.code, problem.message.as_str())).collect()
    }

    /// Returns the text to which a problem points.
    fn shown(&self, n: usize) -> &str {
        let span = self.problems[n].span.unwrap();
        &self.text[span.start as usize..span.end as usize]
    }
}

fn load_with(text: &str, directory: &Path, options: &LoadOptions) -> LoadedDialect {
    let source = SourceText::new("task.yaml", text);
    let parsed = parse(&source);
    let root = parsed.node.unwrap();
    assert!(AiGo.detect(&root) > 80, "{text}");
    let mut loading = Loading::new("task.yaml".into(), text, directory, options, crate::ALL);
    loading.problems = parsed.problems;
    let plan = AiGo.load(&root, &mut loading);
    LoadedDialect { plan, problems: loading.problems, text: text.to_owned() }
}

fn load(text: &str) -> LoadedDialect {
    load_with(text, Path::new("."), &LoadOptions::default())
}

/// Creates a directory with a dataset.
fn with_rows(name: &str, rows: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, rows).unwrap();
    (dir, path)
}

/// Builds a trace that names its case, with calls.
fn trace(id: &str, prompt: &str, calls: &[&str], answer: &str) -> Value {
    let mut output: Vec<Value> = Vec::new();
    let user = json!({"type": "message", "role": "user", "content": prompt});
    for (n, call) in calls.iter().enumerate() {
        let call_id = format!("c{n}");
        output.push(json!({
            "type": "function_call", "call_id": call_id, "name": call, "arguments": "{}",
        }));
    }
    output.push(json!({
        "type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": answer}],
    }));
    let items = [vec![user], output].concat();
    json!({
        "id": id,
        "trace": {"FORMAT": "open_responses", "items": items},
    })
}

fn grade(plan: &Plan, traces: &[Value]) -> RunResult {
    let lines: Vec<String> = traces.iter().map(Value::to_string).collect();
    let stream = std::io::Cursor::new(lines.join("\n").into_bytes());
    let grading = Grading::new(plan, None, Environment::default(), RunSelection::default());
    let runs = read(stream, "traces.jsonl", &ReadOptions::default()).unwrap();
    let results = runs.map(|run| grading.grade(&run).unwrap()).collect();
    grading.finish(results, Vec::new())
}

fn verdicts(result: &RunResult) -> Vec<(&str, &str)> {
    let words = result.outcomes.iter().map(|o| (o.case.raw(), o.verdict.word()));
    words.collect()
}

const COVERAGE: &str = r#"
display_name: "Tools"
key: "tools"
description: "Are the tools used?"
tags: [agents]
definition:
  dataset:
    key: "some-dataset"
  solver:
    type: "pass_through_solver"
    message_format: "open_responses"
    trace_column: "trace"
  scorers:
    - type: "function_call_coverage"
      function_calls: "{{ sample.function_calls }}"
      mode: "in_order"
      metrics:
        - type: mean
          field: all_required_calls_made
          name: Accuracy
        - type: std_dev
          field: required_calls_coverage
"#;

#[test]
fn one_case_per_row_of_every_kind_of_dataset() {
    let rows = json!([
        {"id": "one", "function_calls": ["a", "b"]},
        {"id": "two", "function_calls": ["a"]},
        {"id": "three", "function_calls": []},
    ]);
    let lines: Vec<String> = rows.as_array().unwrap().iter().map(Value::to_string).collect();
    let csv = "id,function_calls\none,\"[\"\"a\"\", \"\"b\"\"]\"\ntwo,['a']\nthree,[]\n";
    for (name, content) in
        [("d.jsonl", lines.join("\n")), ("d.json", rows.to_string()), ("d.csv", csv.to_owned())]
    {
        let (dir, path) = with_rows(name, &content);
        let options = LoadOptions { dataset: Some(path), ..LoadOptions::default() };
        let plan = load_with(COVERAGE, dir.path(), &options).good();
        assert_eq!(plan.name.as_deref(), Some("Tools"));
        assert!(plan.cases.iter().all(|case| case.tags.contains_key("agents")));
        let result = grade(
            &plan,
            &[
                trace("two", "x", &["b"], ""),
                trace("one", "x", &["a", "x", "b"], ""),
                trace("three", "x", &[], ""),
            ],
        );
        assert_eq!(
            verdicts(&result),
            [("one", "pass"), ("two", "fail"), ("three", "pass")],
            "{name}"
        );
        let aggregates = &result.summary.aggregates;
        assert_eq!(aggregates["Accuracy"], json!(2.0 / 3.0), "{name}");
        let spread = aggregates["required_calls_coverage_std_dev"].as_f64().unwrap();
        assert!((spread - (2.0_f64 / 9.0).sqrt()).abs() < 1e-12, "{name} {spread}");
    }
}

#[test]
fn the_task_may_name_its_file() {
    let rows = "{\"task\": \"t1\", \"tools\": [{\"name\": \"a\"}]}\n";
    let (dir, _) = with_rows("rows.jsonl", rows);
    for dataset in [
        "rows.jsonl",
        "{file_path: rows.jsonl, id_field: task}",
        "{source: {type: local, file_path: ./rows.jsonl}, id_field: task}",
    ] {
        let text = format!(
            "key: t\ndefinition:\n  dataset: {dataset}\n  scorers:\n    \
             - type: function_call_coverage\n      \
             function_calls: \"{{{{ sample.tools | map(attribute='name') | list }}}}\"\n"
        );
        let plan = load_with(&text, dir.path(), &LoadOptions::default()).good();
        let id = if dataset.contains("id_field") { "t1" } else { "1" };
        assert_eq!(plan.cases[0].id, id, "{dataset}");
        assert_eq!(plan.cases[0].place.line, 1);
        let result = grade(&plan, &[trace(id, "x", &["a"], "")]);
        assert_eq!(verdicts(&result), [(id, "pass")], "{dataset}");
    }
    // A dataset file of AI GO! names the file of rows.
    std::fs::write(
        dir.path().join("d.yaml"),
        "key: d\nsource:\n  type: local\n  file_path: rows.jsonl\n",
    )
    .unwrap();
    let options =
        LoadOptions { dataset: Some(dir.path().join("d.yaml")), ..LoadOptions::default() };
    let text = "scorers: [{type: function_call_coverage, function_calls: [a]}]";
    assert_eq!(load_with(text, dir.path(), &options).good().cases.len(), 1);
}

#[test]
fn traces_are_paired_by_prompt() {
    let rows = "{\"question\": \"how far?\", \"calls\": [\"a\"]}\n{\"question\": \"how long?\", \"calls\": [\"b\"]}\n";
    let (dir, path) = with_rows("d.jsonl", rows);
    let text = r#"
definition:
  solver:
    input_builder:
      input_messages:
        - {role: system, content: be good}
        - {role: user, content: "Tell me {{ sample.question }}"}
  scorers:
    - type: function_call_coverage
      function_calls: "{{ sample.calls }}"
"#;
    let options = LoadOptions { dataset: Some(path), ..LoadOptions::default() };
    let plan = load_with(text, dir.path(), &options).good();
    let traces = [trace("x", "Tell me how long?", &["b"], ""), trace("y", "how far?", &["b"], "")];
    assert_eq!(verdicts(&grade(&plan, &traces)), [("1", "fail"), ("2", "pass")]);
}

#[test]
fn without_rows_every_trace_is_a_case() {
    let text = r#"
scorers:
  - type: "function_call_coverage"
    function_calls: '["search", "calculator"]'
    mode: "in_order"
  - type: function_call_disallowed
    function_names: [drop]
"#;
    let plan = load(text).good();
    let result = grade(
        &plan,
        &[
            trace("1", "x", &["search", "calculator"], ""),
            trace("2", "x", &["calculator", "search"], ""),
            trace("3", "x", &["search", "drop", "calculator"], ""),
        ],
    );
    assert_eq!(verdicts(&result), [("1", "pass"), ("2", "fail"), ("3", "fail")]);
}

#[test]
fn qa_scorers_are_shown_and_do_not_count() {
    let text = r#"
scorers:
  - type: function_call_coverage
    function_calls: [a]
  - type: labeler_via_model
    key: language
    purpose: qa
    model_key: m
  - type: string_equals
    purpose: qa
    ground_truth: "yes"
"#;
    let plan = load(text).good();
    let result = grade(&plan, &[trace("1", "x", &["a"], "no"), trace("2", "x", &[], "yes")]);
    assert_eq!(verdicts(&result), [("1", "pass"), ("2", "fail")]);
    let graders: Vec<_> = result.outcomes[0]
        .graders
        .iter()
        .map(|g| (g.name.raw(), g.type_word.raw(), g.weight, g.outcome.verdict.word()))
        .collect();
    assert_eq!(
        graders,
        [
            ("function_call_coverage", "function_call_coverage", 1.0, "pass"),
            ("language", "labeler_via_model", 0.0, "unknown"),
            ("string_equals", "string_equals", 0.0, "fail"),
        ]
    );
}

#[test]
fn what_only_a_judge_can_tell_stays_unknown() {
    let text = r#"
scorers:
  - type: python
    compute_scores_snippet: x
    metrics: [{type: mean, field: score}]
  - type: function_call_coverage
    function_calls: [a]
    metrics: [{type: mean, field: num_unrequired_calls}]
"#;
    let plan = load(text).good();
    let result = grade(&plan, &[trace("1", "x", &["a"], ""), trace("2", "x", &[], "")]);
    assert_eq!(verdicts(&result), [("1", "unknown"), ("2", "fail")]);
    assert_eq!(result.summary.aggregates["score_mean"]["value"], Value::Null);
    assert_eq!(result.summary.aggregates["num_unrequired_calls_mean"], json!(0.0));
}

#[test]
fn answers_are_compared_with_the_row() {
    let (dir, path) = with_rows("d.jsonl", "{\"id\": \"1\", \"target\": \"Tokyo\"}\n");
    for value in ["", "value: '{{ solver_output.output }}'"] {
        let text = format!(
            "scorers:\n  - type: string_equals\n    ground_truth: '{{{{ sample.target }}}}'\n    {value}\n"
        );
        let options = LoadOptions { dataset: Some(path.clone()), ..LoadOptions::default() };
        let plan = load_with(&text, dir.path(), &options).good();
        let result = grade(&plan, &[trace("1", "?", &[], "Tokyo")]);
        assert_eq!(verdicts(&result), [("1", "pass")]);
    }
}

#[test]
fn profiles() {
    let text = "scorers: [{type: function_call_coverage, function_calls: [{name: a, arguments: {n: true}}]}]";
    let items = json!([
        {"type": "message", "role": "user", "content": "x"},
        {"type": "function_call", "call_id": "c", "name": "a", "arguments": "{\"n\": 1}"},
    ]);
    let run = json!({"id": "1", "trace": {"items": items}});
    let own = grade(&load(text).good(), std::slice::from_ref(&run));
    assert_eq!(verdicts(&own), [("1", "fail")]);
    let contrast = own.outcomes[0].graders[0].outcome.contrast.as_ref().unwrap();
    assert_eq!((contrast.profile, contrast.verdict.word()), (Profile::AiGo, "pass"));
    let options = LoadOptions { profile: Some(Profile::AiGo), ..LoadOptions::default() };
    let theirs = grade(&load_with(text, Path::new("."), &options).good(), &[run]);
    assert_eq!(verdicts(&theirs), [("1", "pass")]);
}

#[test]
fn mistakes_are_found_at_their_place() {
    // (text, code, a part of the message, the text it points at)
    for (text, code, said, shown) in [
        (
            "scorers: [{type: function_call_coverag}]",
            "unknown-scorer-type",
            "unknown scorer",
            "function_call_coverag",
        ),
        (
            "scorers: [{type: function_call_coverage}]",
            "missing-key",
            "function_calls",
            "{type: function_call_coverage}",
        ),
        (
            "scorers: [{type: string_equals, ground_truth: x, purpose: eval}]",
            "unknown-purpose",
            "`score` or `qa`",
            "eval",
        ),
        (
            "scorers: [{type: function_call_coverage, function_calls: '{{ sample.x | nosuch }}'}]",
            "missing-dataset",
            "has no dataset",
            "scorers: [{type: function_call_coverage, function_calls: '{{ sample.x | nosuch }}'}]",
        ),
        (
            "scorers: [{type: function_call_coverage, function_calls: '{{ sample. }}'}]",
            "invalid-template",
            "unexpected",
            "}}",
        ),
        (
            "scorers: [{type: function_call_coverage, function_calls: '{{ trace.x }}'}]",
            "unknown-variable",
            "`trace`",
            "'{{ trace.x }}'",
        ),
        (
            "scorers: [{type: function_call_coverage, function_calls: 'a, b'}]",
            "invalid-list",
            "not a list: a, b",
            "'a, b'",
        ),
        (
            "scorers: [{type: function_call_coverage, function_calls: '<< config.calls >>'}]",
            "missing-config-value",
            "config.calls",
            "'<< config.calls >>'",
        ),
        (
            "scorers: [{type: function_call_coverage, function_calls: [a], metrics: [{type: meen, field: x}]}]",
            "unknown-metric-type",
            "meen",
            "meen",
        ),
        (
            "scorers: [{type: function_call_coverage, function_calls: [a], metrics: [{type: precision, num_true_positives_field: x}]}]",
            "missing-key",
            "num_false_positives_field",
            "{type: precision, num_true_positives_field: x}",
        ),
        (
            "scorers: [{type: function_call_coverage, function_calls: [a], modus: x}]",
            "unknown-key",
            "modus",
            "modus",
        ),
        ("scorers: [{$ref: no.yaml}]", "unreadable-file", "no.yaml", "{$ref: no.yaml}"),
        ("scorers: [{$ref: '#/none'}]", "unknown-reference", "#/none", "{$ref: '#/none'}"),
        (
            "scorers: [{$ref: '#/a'}]\na: {$ref: '#/a'}",
            "deep-reference",
            "without an end",
            "{$ref: '#/a'}",
        ),
        (
            "scorers: [{type: function_call_coverage, function_calls: ['<< config.a >>']}]",
            "missing-config-value",
            "config.a",
            "'<< config.a >>'",
        ),
    ] {
        let loaded = load(text);
        let found = loaded.problems.iter().position(|problem| problem.code == code);
        let Some(at) = found else { panic!("{text}: {:?}", loaded.said()) };
        assert!(loaded.problems[at].message.contains(said), "{text}: {:?}", loaded.said());
        assert_eq!(loaded.shown(at), shown, "{text}");
        assert!(loaded.problems[at].is_error(), "{text}");
    }
}

#[test]
fn what_is_not_applied_is_mentioned() {
    let text = r#"
key: t
colour: red
definition:
  dataset: {key: d}
  trials: {num_trials: 3, score_aggregators: [{score_name: x}]}
  actions: [{key: a}]
  scorers:
    - type: function_call_coverage
      function_calls: [a]
      metrics: [{type: python, compute_snippet: x}]
"#;
    let loaded = load(text);
    let codes: Vec<_> = loaded.problems.iter().map(|problem| problem.code).collect();
    assert_eq!(
        codes,
        ["unknown-key", "not-applied", "not-computed", "missing-dataset", "not-applied"]
    );
    assert!(loaded.problems.iter().all(|problem| !problem.is_error()));
    assert_eq!(loaded.good().every.unwrap().trials, Some(3));
}

#[test]
fn bad_rows_are_named_and_not_all_of_them() {
    let mut rows = String::from("{\"calls\": [\"a\"]}\n{\"other\": 1}\n{\"calls\": [3]}\n");
    rows.push_str(&"{\"calls\": \"x\"}\n".repeat(100));
    let (dir, path) = with_rows("d.jsonl", &rows);
    let text =
        "scorers:\n  - type: function_call_coverage\n    function_calls: \"{{ sample.calls }}\"\n";
    let options = LoadOptions { dataset: Some(path.clone()), ..LoadOptions::default() };
    let loaded = load_with(text, dir.path(), &options);
    let place = |line: u32| format!(", for {}:{line}", path.display());
    assert_eq!(loaded.problems.len(), 10);
    let first = &loaded.problems[0];
    assert_eq!(first.message, format!("the row has no value for `sample.calls`{}", place(2)));
    assert_eq!(loaded.shown(0).trim(), "sample.calls");
    let second = &loaded.problems[1];
    assert_eq!(
        second.message,
        format!("expected a name or an object with a `name`, found a number{}", place(3))
    );
    assert_eq!(loaded.shown(1), "\"{{ sample.calls }}\"");
    let gone = LoadOptions { dataset: Some("no/such.jsonl".into()), ..LoadOptions::default() };
    let loaded = load_with(text, dir.path(), &gone);
    assert_eq!(loaded.problems[0].code, "invalid-dataset");
    assert!(loaded.plan.is_none());
}

#[test]
fn repeated_ids_are_told_apart() {
    let (dir, path) = with_rows("d.jsonl", "{\"id\": 1}\n{\"id\": 1}\n{\"id\": 2}\n");
    let text = "scorers: [{type: function_call_coverage, function_calls: [a]}]";
    let options = LoadOptions { dataset: Some(path), ..LoadOptions::default() };
    let loaded = load_with(text, dir.path(), &options);
    assert_eq!(loaded.problems[0].code, "repeated-id");
    let ids: Vec<String> = loaded.good().cases.iter().map(|case| case.id.clone()).collect();
    assert_eq!(ids, ["1", "1 (row 2)", "2"]);
}

#[test]
fn the_schema_knows_every_scorer() {
    let schema = AiGo.schema(&[]);
    let words = schema["$defs"]["Scorer"]["properties"]["type"]["enum"].as_array().unwrap();
    let words: Vec<&str> = words.iter().map(|word| word.as_str().unwrap()).collect();
    for word in
        ["function_call_coverage", "function_call_output_contains", "string_equals", "python"]
    {
        assert!(words.contains(&word), "{word}");
    }
}

#[test]
fn references_are_followed() {
    let dir = tempfile::tempdir().unwrap();
    let shared = "key: strict\ndefinition: {type: function_call_coverage, function_calls: [a], mode: any_order}";
    std::fs::write(dir.path().join("strict.yaml"), shared).unwrap();
    let text = r#"
scorers:
  - {$ref: strict.yaml, mode: in_order}
  - $ref: '#/config/names'
config:
  names: {type: function_call_disallowed, function_names: ["<< config.tool >>"]}
  tool: rm
"#;
    let loaded = load_with(text, dir.path(), &LoadOptions::default());
    assert!(loaded.problems.iter().all(|problem| !problem.is_error()), "{:?}", loaded.said());
    let every = loaded.good().every.unwrap();
    let names: Vec<&str> = every.graders.iter().map(|grader| grader.name.as_str()).collect();
    assert_eq!(names, ["strict", "function_call_disallowed"]);
}

#[test]
fn a_task_without_its_rows_can_be_linted() {
    let text = "scorers: [{type: function_call_coverage, function_calls: '{{ sample.x }}'}]";
    let options = LoadOptions { is_lint: true, ..LoadOptions::default() };
    for (options, is_error) in [(LoadOptions::default(), true), (options, false)] {
        let loaded = load_with(text, Path::new("."), &options);
        assert_eq!(loaded.problems[0].code, "missing-dataset");
        assert_eq!(loaded.problems[0].is_error(), is_error);
    }
}

#[test]
fn trials_of_a_sample_make_one() {
    let text = r#"
trials: {num_trials: 3, score_aggregators: [pass_hat_k, {type: pass_at_k, k: 1, field: all_required_calls_made}, {type: max, name: best}]}
scorers: [{type: function_call_coverage, function_calls: [a]}]
"#;
    let plan = load(text).good();
    let row = |tool: &str| {
        format!(
            r#"{{"id":"s","output_messages":[{{"role":"assistant","content":"x","tool_calls":[{{"tool":"{tool}","input":{{}},"output":"ok"}}]}}]}}"#
        )
    };
    let rows = [row("a"), row("b"), row("a")].join("\n");
    let stream = std::io::Cursor::new(rows.into_bytes());
    let grading = Grading::new(&plan, None, Environment::default(), RunSelection::default());
    let outcomes = read(stream, "rows", &ReadOptions::default()).unwrap();
    let outcomes = outcomes.map(|run| grading.grade(&run).unwrap()).collect();
    let result = grading.finish(outcomes, Vec::new());
    let aggregates = &result.summary.aggregates;
    assert_eq!(aggregates["function_call_coverage: pass_hat_k of trials"], json!(0.0));
    let one = aggregates["function_call_coverage: all_required_calls_made pass_at_k"].as_f64();
    assert!((one.unwrap() - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(aggregates["best"], json!(1.0));
}
