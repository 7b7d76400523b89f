//! AgentV's eval files and targets, run unchanged.

use super::{Stage, text};
use serde_json::Value;

/// A command that answers in every format that AgentV supports, by case ID.
const AGENT: &str = r#"#!/bin/sh
out="$1"; id="$2"; prompt="$3"
case "$id" in
  json) printf '%s' '{"output_messages":[{"role":"assistant","content":"done","tool_calls":[{"tool":"search","input":{"q":"a"},"output":"x"}]}],"token_usage":{"input":3,"output":4},"cost_usd":0.5}' > "$out" ;;
  list) printf '%s' '{"output":[{"role":"assistant","content":"done"}]}' > "$out" ;;
  quoted) printf '%s' "{\"text\":\"$prompt\",\"token_usage\":{\"input\":3,\"output\":4},\"cost_usd\":0.25}" > "$out" ;;
  text) printf 'done\n' > "$out" ;;
  missing) ;;
  broken) printf done > "$out"; exit 3 ;;
  slow) sleep 60 ;;
esac
"#;

/// The cases; the prompt of `quoted` must be quoted for the shell.
const CASES: &str = "
  - id: json
  - id: list
  - id: quoted
  - id: text
  - id: missing
  - id: broken
  - id: slow
";

fn cases(key: &str, input: &str, graders: &str) -> String {
    let prompt = "it''s $(touch pwned) done";
    let rest = format!("\n    {input}: [{{role: user, content: '{prompt}'}}]\n    {graders}");
    let cases: Vec<String> = CASES
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| {
            let calls = match line.contains("json") || line.ends_with(" text") {
                true => "type: tool_trajectory, mode: any_order, minimums: {search: 1}",
                false => "type: contains, value: done",
            };
            format!("{line}{}", rest.replace("CALLS", calls))
        })
        .collect();
    format!("{key}:\n{}\n", cases.join("\n"))
}

fn verdicts(stage: &Stage) -> Vec<(String, String, Option<String>)> {
    let report = stage.json(&["run", "evals/test.yaml", "--out", "out"]);
    let rows = report["cases"].as_array().unwrap();
    let word = |row: &Value, key: &str| row[key].as_str().map(str::to_owned);
    let one = |row: &Value| {
        let id = word(row, "case").or_else(|| word(row, "id")).unwrap();
        (id, word(row, "verdict").unwrap(), word(row, "cause"))
    };
    rows.iter().map(one).collect()
}

fn check(stage: &Stage) {
    let expected = [
        ("json", "pass", "completed"),
        ("list", "pass", "completed"),
        ("quoted", "pass", "completed"),
        // An answer alone says nothing about calls.
        ("text", "unknown", "completed"),
        ("missing", "unknown", "no_trace"),
        ("broken", "unknown", "start"),
        ("slow", "unknown", "timeout"),
    ];
    let found = verdicts(stage);
    for ((id, verdict, ended), (found_id, found_verdict, _)) in expected.iter().zip(&found) {
        assert_eq!((*id, *verdict), (found_id.as_str(), found_verdict.as_str()));
        let result = stage.result("out", "agent", id, 1);
        assert_eq!(result["ended"], *ended, "{id}: {result}");
    }
    assert_eq!(found.len(), expected.len());
    let used = &stage.result("out", "agent", "quoted", 1)["used"];
    assert_eq!(used["usd"].as_f64(), Some(0.25), "{used}");
    assert!(!stage.path("evals/pwned").exists() && !stage.path("pwned").exists());
}

#[test]
fn a_cli_target_of_2_x() {
    let stage = Stage::new("{}");
    stage.program("agent.sh", AGENT);
    stage.write(
        ".agentv/targets.yaml",
        "targets:\n  - name: agent\n    provider: cli\n    timeout_seconds: 1\n    cwd: ..\n    \
         command_template: ./agent.sh {OUTPUT_FILE} {EVAL_ID} {PROMPT}\n",
    );
    let graders = "execution: {evaluators: [{name: g, CALLS}]}";
    let spec = cases("evalcases", "input_messages", graders);
    let spec = spec.replace("    execution", "    expected_outcome: it works\n    execution");
    stage.write("evals/test.yaml", &format!("execution: {{target: agent}}\n{spec}"));
    check(&stage);
}

#[test]
fn a_cli_target_of_4_x_and_of_5() {
    for (file, targets) in [
        (
            "targets.yaml",
            "targets:\n  - {name: agent, use_target: '${{ WHO }}'}\n  - name: real\n    provider: cli\n    \
             timeout_seconds: 1\n    command: ../agent.sh {OUTPUT_FILE} {EVAL_ID} {PROMPT}\n",
        ),
        (
            "providers.yaml",
            "- id: cli\n  label: agent\n  config:\n    timeout_seconds: 1\n    \
             command: ../agent.sh {OUTPUT_FILE} {EVAL_ID} {PROMPT}\n",
        ),
    ] {
        let stage = Stage::new("{}");
        stage.program("agent.sh", AGENT);
        stage.write(&format!(".agentv/{file}"), targets);
        stage.write(".env", "WHO=real\n");
        let spec = cases("tests", "input", "assertions: [{name: g, CALLS}]");
        let spec = spec.replace("    assertions", "    criteria: it works\n    assertions");
        let target = "execution: {targets: [agent], workers: 4}\n";
        stage.write("evals/test.yaml", &format!("{target}{spec}"));
        check(&stage);
    }
}

#[test]
fn what_cannot_be_run_is_named_before_anything_starts() {
    let spec = "execution: {target: agent}\ntests:\n  - {id: a, criteria: x, input: hi, \
                assertions: [{type: contains, value: x}]}\n";
    for (target, complaint) in [
        ("provider: cli, command: './a {PROMT}'", "targets.yaml:1:"),
        ("provider: cli, command: './a {PROMT}'", "unknown placeholder {PROMT}"),
        ("provider: cli, command: '${{ NOT_SET }}'", "the variable NOT_SET is not set"),
        ("use_target: nobody", "stands for nobody"),
        ("provider: codex, executable: not-there", "there is no program not-there"),
        ("provider: cli", "needs a command"),
        ("provider: cli, command: 'true', runtime: sandbox", "runtime sandbox"),
    ] {
        let stage = Stage::new("{}");
        stage.write(".agentv/targets.yaml", &format!("targets: [{{name: agent, {target}}}]\n"));
        stage.write("evals/test.yaml", spec);
        let output = stage.run(&["run", "evals/test.yaml"]);
        assert_eq!(output.status.code(), Some(2), "{target}: {}", text(&output));
        let said = text(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(complaint), "{target}: {said}");
    }
    // A provider that cannot be run makes its trials unknown, by name.
    let stage = Stage::new("{}");
    stage.write(".agentv/targets.yaml", "targets: [{name: agent, provider: vscode}]\n");
    stage.write("evals/test.yaml", spec);
    let output = stage.run(&["run", "evals/test.yaml", "--out", "out"]);
    assert!(text(&output).contains("vscode"), "{}", text(&output));
    assert_eq!(stage.result("out", "agent", "a", 1)["ended"], "unsupported");
}
