//! Tests of trials: their number, and their combined result.

use super::{Stage, text};
use serde_json::Value;
use std::fs;

/// An agent whose answer depends on the trial.
const SPEC: &str = "
targets:
  scripted:
    command: [sh, -c, 'case {trial} in 1|3|4) echo good;; *) echo bad;; esac']
run: {target: scripted, trials: 5, workspace: {}}
graders: [{type: output-matches, config: {pattern: good}}]
cases: [{id: a, prompt: p}]
";

fn close(value: &Value, expected: f64) -> bool {
    (value.as_f64().unwrap() - expected).abs() < 1e-9
}

#[test]
fn statistics_are_exact() {
    let stage = Stage::new(SPEC);
    let report = stage.json(&["run", "toolmark.yaml", "--all-trials", "--pass", "any"]);
    let case = &report["summary"]["trials"][0];
    assert_eq!((&case["passed"], &case["failed"]), (&3.into(), &2.into()), "{report}");
    // c = 3, n = 5: 1 − C(2,2)/C(5,2) and C(3,2)/C(5,2).
    assert!(close(&case["pass_at_k"][0], 0.6) && close(&case["pass_at_k"][1], 0.9), "{case}");
    assert!(close(&case["pass_hat_k"][1], 0.3) && close(&case["pass_hat_k"][2], 0.1), "{case}");
    assert!(close(&case["interval"][0], 0.230_724_281_276_012_85), "{case}");
    assert!(close(&case["interval"][1], 0.882_379_225_767_352_1), "{case}");
    assert_eq!((&case["flaky"], &case["verdict"]), (&true.into(), &"pass".into()));
    assert_eq!(report["summary"]["verdict"], "pass");
}

#[test]
fn trials_stop_once_the_rule_is_decided() {
    for (rule, ran, verdict, code) in [
        ("all", 2, "fail", 1),
        ("any", 1, "pass", 0),
        ("2", 3, "pass", 0),
        ("80%", 5, "fail", 1),
        ("60%", 4, "pass", 0),
    ] {
        for jobs in ["1", "4"] {
            let stage = Stage::new(SPEC);
            let args = ["run", "toolmark.yaml", "--pass", rule, "--jobs", jobs, "--out", "r"];
            let output = stage.run(&[&args[..], &["--format", "json"]].concat());
            assert_eq!(output.status.code(), Some(code), "{rule}: {}", text(&output));
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(report["summary"]["outcomes"], ran, "{rule} {jobs}: {report}");
            assert_eq!(report["summary"]["verdict"], verdict, "{rule} {jobs}");
            // Without all of them there is no pass@k.
            let sample = report["summary"]["trials"][0]["pass_at_k"].as_array().map(Vec::len);
            assert_eq!(sample.is_some(), ran == 5, "{rule} {jobs}: {report}");
            let made = fs::read_dir(stage.path("r/trials/scripted/a")).unwrap().count();
            assert_eq!(made, ran, "{rule} {jobs}");
        }
    }
}

#[test]
fn the_table_of_trials_is_there_where_some_were_left_out() {
    let stage = Stage::new(SPEC);
    let said = text(&stage.run(&["run", "toolmark.yaml", "--pass", "80%"]));
    assert!(said.contains("3 of 5, flaky") && said.contains("0.23\u{2013}0.88"), "{said}");
    let said = text(&stage.run(&["run", "toolmark.yaml", "--pass", "all"]));
    assert!(said.contains("1 of 2, flaky, 3 not needed"), "{said}");
}

#[test]
fn a_dry_run_says_what_is_known_of_the_costs() {
    let answer = r#"{"output_messages":[{"role":"assistant","content":"good"}],"token_usage":{"input":600,"output":400},"cost_usd":0.25}"#;
    let stage = Stage::new(
        "
targets: {priced: {command: [sh, -c, 'cat {spec_dir}/answer.json > \"$1\"', sh, '{output_file}'], trace: output-file}}
graders: [{type: output-matches, config: {pattern: good}}]
cases: [{id: a, prompt: p}]
",
    );
    stage.write("answer.json", answer);
    let dry =
        |args: &[&str]| text(&stage.run(&[&["run", "toolmark.yaml", "--dry-run"], args].concat()));
    assert!(dry(&[]).contains("costs       not known"), "{}", dry(&[]));
    assert!(
        dry(&["--budget", "2"]).contains("at most $2.00 by budget"),
        "{}",
        dry(&["--budget", "2"])
    );
    let output = stage.run(&["run", "toolmark.yaml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let said = dry(&["--trials", "4"]);
    assert!(said.contains("about $1.00 for 4 trials of priced, as in the last run"), "{said}");
}

#[test]
fn targets_and_models_are_a_matrix() {
    let stage = Stage::new(
        "
targets:
  one: {command: [sh, -c, 'echo {target} {model}'], model: [small, large]}
  two: {command: [sh, -c, 'echo {target} {model}']}
graders: [{type: output-matches, config: {pattern: 'one/large|two'}}]
cases: [{id: a, prompt: p}, {id: b, prompt: p, run: {target: two}}]
",
    );
    let report = stage.json(&["run", "toolmark.yaml"]);
    let rows: Vec<String> = report["outcomes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{} {} {}", row["case"], row["target"], row["verdict"]).replace('"', ""))
        .collect();
    assert_eq!(rows, ["a one/small fail", "a one/large pass", "a two pass", "b two pass"]);
    let report = stage.json(&["run", "toolmark.yaml", "--target", "two", "--case", "a"]);
    assert_eq!(report["summary"]["outcomes"], 1);
    // What is replayed needs no agent.
    stage.write(
        "old/a.jsonl",
        "{\"role\":\"user\",\"content\":\"p\"}\n{\"role\":\"assistant\",\"content\":\"two\"}\n",
    );
    stage.write(
        "replay.yaml",
        "targets: {old: {agent: replay, traces: old}}\n\
         graders: [{type: output-matches, config: {pattern: two}}]\ncases: [{id: a, prompt: p}]\n",
    );
    let output = stage.run(&["run", "replay.yaml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}
