//! Tests of runs with several targets, of chosen cases, and of what earlier runs left.

use super::{Stage, text, wait_for};
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;

/// Two targets, of which the second one never gives the right answer.
const SPEC: &str = "
targets:
  first: {command: [sh, -c, 'echo good']}
  second: {command: [sh, -c, 'echo bad']}
run: {trials: 2, retries: 0, workspace: {}}
graders: [{type: output-matches, config: {pattern: good}}]
cases: [{id: a, prompt: p}, {id: b, prompt: p}, {id: c, prompt: p}]
";

#[test]
fn a_run_with_several_targets_shows_them_side_by_side() {
    let stage = Stage::new(SPEC);
    // Without a spec, toolmark.yaml is run.
    let output = stage.run(&[
        "run",
        "--out",
        "out",
        "--report",
        "markdown=run.md",
        "--report",
        "junit=run.xml",
    ]);
    let page = text(&output);
    assert_eq!(output.status.code(), Some(1), "{page}");
    assert!(page.contains("3 cases \u{d7} 2 targets"), "{page}");
    let (_, table) = page.split_once("\ntarget ").unwrap_or_default();
    let line = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    assert!(
        line("a ").contains("\u{2713} 2 of 2")
            && line("a ").contains("\u{2717} 0 of 1, 1 not needed"),
        "{page}"
    );
    assert!(line("passed ").contains("3 of 3") && line("passed ").contains("0 of 3"), "{page}");
    assert!(page.contains("first \u{2192} second"), "{page}");
    let markdown = fs::read_to_string(stage.path("run.md")).unwrap();
    assert!(markdown.contains("| case | first | second |"), "{markdown}");
    assert!(fs::read_to_string(stage.path("run.xml")).unwrap().contains("name=\"time\""));
    let again = stage.run(&["compare", "out", "--by", "target"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again));
    assert!(text(&again).contains("0 of 1, 1 not needed"), "{}", text(&again));
    let report = stage.json(&["compare", "out", "--by", "target"]);
    assert_eq!(report["targets"]["pairs"][0]["regressions"], 3, "{report}");
}

#[test]
fn a_seed_chooses_the_same_cases() {
    let cases: Vec<Value> =
        (0..20).map(|n| json!({"id": format!("case-{n}"), "prompt": "p"})).collect();
    let stage = Stage::new(
        &json!({
            "targets": {"one": {"command": ["true"]}}, "cases": cases,
            "graders": [{"type": "output-matches", "config": {"pattern": "x"}}],
        })
        .to_string(),
    );
    let plan = |args: &[&str]| {
        let output = stage.run(&[&["run", "--dry-run"], args].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let words = text(&output);
        let mut found: Vec<String> = Vec::new();
        for word in words.split(|c: char| !c.is_alphanumeric() && c != '-') {
            if word.starts_with("case-") && !found.contains(&word.to_owned()) {
                found.push(word.to_owned());
            }
        }
        found
    };
    let (one, two) =
        (plan(&["--sample", "5", "--seed", "1"]), plan(&["--sample", "5", "--seed", "2"]));
    assert_eq!((one.len(), two.len()), (5, 5), "{one:?} {two:?}");
    assert_eq!(one, plan(&["--sample", "5", "--seed", "1"]));
    assert_ne!(one, two);
    let (usual, shuffled) = (plan(&[]), plan(&["--shuffle", "--seed", "3"]));
    assert_eq!((usual.len(), shuffled.len()), (20, 20));
    assert_ne!(usual, shuffled);
}

#[test]
fn trials_of_earlier_runs_are_used_where_nothing_changed() {
    let stage = Stage::new(
        "targets: {one: {command: [sh, -c, 'echo x >> {spec_dir}/count; echo good']}}\n\
         run: {workspace: {}}\n\
         graders: [{type: output-matches, config: {pattern: good}}]\n\
         cases: [{id: a, prompt: p}]\n",
    );
    let count = || fs::read_to_string(stage.path("count")).unwrap_or_default().lines().count();
    assert_eq!(stage.run(&["run"]).status.code(), Some(0));
    assert_eq!(count(), 1);
    let output = stage.run(&["run", "--reuse"]);
    assert_eq!((output.status.code(), count()), (Some(0), 1), "{}", text(&output));
    assert!(text(&output).contains("1 trial of earlier runs"), "{}", text(&output));
    assert_eq!(stage.run(&["run"]).status.code(), Some(0));
    assert_eq!(count(), 2, "only --reuse takes them");
    let spec = fs::read_to_string(stage.path("toolmark.yaml")).unwrap();
    stage.write("toolmark.yaml", &spec.replace("prompt: p", "prompt: q"));
    assert_eq!(stage.run(&["run", "--reuse"]).status.code(), Some(0));
    assert_eq!(count(), 3, "another prompt is another trial");
}

#[test]
fn other_causes_can_be_retried() {
    let spec = "targets: {one: {command: [sh, -c, 'echo x >> {spec_dir}/count; exit 3'], trace: output.json}}\n\
        run: {retries: 1, RETRY workspace: {}}\n\
        cases: [{id: a, prompt: p, expect: [x]}]\n";
    for (retry, want) in [("", 1), ("retry_on: [start, no_trace],", 2), ("retry_on: [timeout],", 1)]
    {
        let stage = Stage::new(&spec.replace("RETRY", retry));
        let output = stage.run(&["run"]);
        let count = fs::read_to_string(stage.path("count")).unwrap_or_default().lines().count();
        assert_eq!(count, want, "{retry} {}", text(&output));
    }
    let stage = Stage::new(&spec.replace("RETRY", "retry_on: [bad_luck],"));
    let output = stage.run(&["lint", "toolmark.yaml"]);
    assert!(text(&output).contains("unknown cause bad_luck"), "{}", text(&output));
}

#[test]
fn files_outside_of_a_copy_are_named() {
    let stage = Stage::new(
        "targets: {one: {command: [\"{spec_dir}/agent.sh\"]}}\n\
         run: {workspace: {}}\n\
         cases: [{id: a, prompt: p, expect: [Bash]}]\n",
    );
    let outside = stage.path("outside.txt");
    let outside = outside.to_str().unwrap();
    let call = json!({"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "Bash", "arguments": json!({"command": format!("echo x > {outside}")}).to_string()}}]});
    stage.program(
        "agent.sh",
        &format!(
            "#!/bin/sh\nsleep 0.05\necho x > {outside}\ncat <<'END'\n{}\n{call}\n{}\n{}\nEND\n",
            json!({"role": "user", "content": "p"}),
            json!({"role": "tool", "tool_call_id": "a", "content": "ok"}),
            json!({"role": "assistant", "content": "done"}),
        ),
    );
    let output = stage.run(&["run", "--out", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let notes = stage.result("out", "one", "a", 1)["notes"].to_string();
    assert!(
        notes.contains("files outside of its workspace changed") && notes.contains(outside),
        "{notes}"
    );
}

#[test]
fn workspaces_of_a_killed_run_are_removed() {
    let stage = Stage::new(SPEC);
    assert_eq!(stage.run(&["run", "--out", "out"]).status.code(), Some(1));
    let left = stage.path("left-behind");
    fs::create_dir_all(left.join("trial-1/workspace")).unwrap();
    let mut info: Value =
        serde_json::from_str(&fs::read_to_string(stage.path("out/run.json")).unwrap()).unwrap();
    info["work"] = json!(left);
    stage.write("out/run.json", &info.to_string());
    stage.run(&["run", "--resume", "out"]);
    assert!(!left.exists(), "its workspaces are left");
}

#[test]
fn a_watched_spec_is_graded_again_when_it_changes() {
    let stage = Stage::new("expect: [x]\n");
    stage.write("run.jsonl", "{\"id\":\"a\",\"output_messages\":[{\"role\":\"assistant\",\"content\":\"d\",\"tool_calls\":[{\"tool\":\"x\",\"input\":{}}]}]}\n");
    let mut command = stage.command(&["grade", "toolmark.yaml", "run.jsonl", "--watch"]);
    let seen = stage.path("seen");
    let file = fs::File::create(&seen).unwrap();
    let mut child = command.stdout(file).stderr(Stdio::null()).spawn().unwrap();
    let has = |words: &str| fs::read_to_string(&seen).unwrap_or_default().contains(words);
    wait_for(|| has("1 passed"), "the first result");
    stage.write("toolmark.yaml", "expect: [y, z]\n");
    wait_for(|| has("1 failed"), "the second result");
    child.kill().unwrap();
    child.wait().unwrap();
}
