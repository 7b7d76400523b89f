//! Tests of `grade` and `lint` on the command line.

use crate::{root, toolmark};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Two runs from AgentV's documentation: one that searched and saved, one that only saved.
const TRACES: &str = r#"{"id":"good","output_messages":[{"role":"assistant","content":"done","tool_calls":[{"tool":"search","input":{"q":"x"},"duration_ms":5},{"tool":"save","input":{}}]}]}
{"id":"bad","output_messages":[{"role":"assistant","content":"done","tool_calls":[{"tool":"save","input":{}},{"tool":"rm","input":{"path":"/"}}]}]}
"#;

const AGENTV: &str = "\
description: page
evalcases:
  - id: good
    expected_outcome: finds it
    input_messages: [{role: user, content: go}]
    execution:
      evaluators:
        - {name: flow, type: tool_trajectory, mode: in_order, expected: [{tool: search, max_duration_ms: 10}, {tool: save}]}
  - id: bad
    expected_outcome: finds it
    input_messages: [{role: user, content: go}]
    execution:
      evaluators:
        - {name: flow, type: tool_trajectory, mode: in_order, expected: [{tool: search}, {tool: save}]}
";

const NATIVE: &str = "\
cases:
  - id: good
    expect: {sequence: [search, save], forbidden: [rm]}
  - id: bad
    expect: {sequence: [search, save], forbidden: [rm]}
";

fn files(spec: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("spec.yaml"), spec).unwrap();
    fs::write(dir.path().join("traces.jsonl"), TRACES).unwrap();
    dir
}

/// Returns the exit code and the JSON lines of a run.
fn grade(dir: &Path, more: &[&str]) -> (i32, Vec<Value>) {
    let mut args = vec!["grade", "spec.yaml", "traces.jsonl", "--format", "jsonl"];
    args.extend(more);
    let output = toolmark(&args).current_dir(dir).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (output.status.code().unwrap(), lines)
}

#[test]
fn a_failed_verdict_is_exit_1_and_names_the_calls() {
    let dir = files(NATIVE);
    let (code, lines) = grade(dir.path(), &[]);
    assert_eq!(code, 1);
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["case"], "good");
    assert_eq!(lines[0]["verdict"], "pass");
    assert_eq!(lines[1]["verdict"], "fail");
    let grader = &lines[1]["graders"][0];
    assert_eq!(grader["type"], "expect");
    let evidence = grader["evidence"].as_array().unwrap();
    assert!(evidence.iter().any(|e| e["call"]["tool"] == "rm" && e["call"]["place"]["line"] == 2));
    assert_eq!(lines[2]["type"], "summary");
    assert_eq!((&lines[2]["passed"], &lines[2]["failed"]), (&Value::from(1), &Value::from(1)));
    assert_eq!(grade(dir.path(), &["--exit-zero"]).0, 0);
    assert_eq!(grade(dir.path(), &["--case", "good"]).0, 0);
}

#[test]
fn agentv_pairs_by_id_and_profiles_give_its_numbers() {
    let dir = files(AGENTV);
    let (code, lines) = grade(dir.path(), &[]);
    assert_eq!(code, 1);
    let flow = |line: &Value| line["graders"][0].clone();
    assert_eq!(flow(&lines[0])["metrics"]["aspects"], 3);
    assert_eq!(flow(&lines[1])["score"], 0.5);
    assert_eq!(flow(&lines[1])["contrast"]["score"], 0.0, "{}", lines[1]);
    let (_, lines) = grade(dir.path(), &["--profile", "agentv@1"]);
    assert_eq!(flow(&lines[1])["score"], 0.0);
    assert_eq!(flow(&lines[1])["profile"], "agentv@1");
}

#[test]
fn traces_are_dumped_and_included() {
    let dir = files(NATIVE);
    let (_, lines) = grade(dir.path(), &["--dump-traces", "out", "--include-trace"]);
    assert!(lines[0]["trace"].is_object());
    assert!(dir.path().join("out/good.json").exists());
    assert!(dir.path().join("out/bad.json").exists());
}

/// The trace included in another system's report is in that system's format: grading it again gives
/// the same verdicts.
#[test]
fn included_traces_are_graded_alike() {
    let dir = files(NATIVE);
    let verdicts = |lines: &[Value]| -> Vec<(String, String)> {
        let outcomes = lines.iter().filter(|line| line["type"] == "outcome");
        outcomes.map(|line| (line["case"].to_string(), line["verdict"].to_string())).collect()
    };
    let (_, first) = grade(dir.path(), &[]);
    for format in ["vally", "agentv"] {
        let again = format!("again-{format}.jsonl");
        let report = format!("{format}={again}");
        grade(dir.path(), &["--include-trace", "--report", &report]);
        let args = ["grade", "spec.yaml", &again, "--format", "jsonl"];
        let output = toolmark(&args).current_dir(dir.path()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(verdicts(&lines), verdicts(&first), "{format}");
    }
}

/// A call may have been made even if it was not recorded.
#[test]
fn unrecorded_calls_are_unknown() {
    let dir = tempfile::tempdir().unwrap();
    let spec = "graders:\n  - {type: tool-calls, config: {disallowed: [bash]}}\n";
    fs::write(dir.path().join("spec.yaml"), spec).unwrap();
    let row = r#"{"timestamp":"2026-01-01T00:00:00Z","test_id":"c","suite":"x","score":1,"target":"t","scores":[],"execution_status":"ok"}"#;
    fs::write(dir.path().join("traces.jsonl"), format!("{row}\n")).unwrap();
    let (code, lines) = grade(dir.path(), &[]);
    assert_eq!((code, &lines[0]["verdict"]), (3, &Value::from("unknown")), "{lines:?}");
    let run = |args: &[&str]| toolmark(args).current_dir(dir.path()).output().unwrap();
    let checked = run(&["check", "traces.jsonl"]);
    let said = String::from_utf8(checked.stdout).unwrap();
    assert_eq!(checked.status.code(), Some(3), "{said}");
    assert!(said.contains("1 of 1 session has no record of its calls"), "{said}");
    let counts = run(&["stats", "traces.jsonl", "--format", "json"]).stdout;
    let counts: Value = serde_json::from_slice(&counts).unwrap();
    assert!(counts[0]["tool_calls"].is_null(), "{counts}");
}

#[test]
fn reports_are_written_beside() {
    let dir = files(NATIVE);
    let mut more = Vec::new();
    let formats = ["junit", "sarif", "markdown", "html", "json", "vally", "agentv", "text"];
    let names: Vec<String> = formats.iter().map(|f| format!("{f}=report.{f}")).collect();
    for name in &names {
        more.extend(["--report", name.as_str()]);
    }
    assert_eq!(grade(dir.path(), &more).0, 1);
    for format in formats {
        let text = fs::read_to_string(dir.path().join(format!("report.{format}"))).unwrap();
        assert!(text.contains("bad"), "{format}");
    }
}

#[test]
fn what_makes_no_sense_is_exit_2_with_every_mistake() {
    let dir = files("graders:\n  - type: tool-cals\n  - type: token-budget\n    config: {mx: 1}\n");
    let output =
        toolmark(&["grade", "spec.yaml", "traces.jsonl"]).current_dir(dir.path()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    for word in ["spec.yaml:2:11", "did you mean \"tool-calls\"?", "unknown key \"mx\"", "max"] {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn nothing_graded_is_exit_2_and_a_missing_trace_exit_3() {
    let dir = files("cases:\n  - {id: other, expect: {none: true}}\n");
    assert_eq!(grade(dir.path(), &[]).0, 2);
    let dir = files(
        "cases:\n  - {id: good, expect: {calls: [save]}}\n  - {id: other, expect: {none: true}}\n",
    );
    let (code, lines) = grade(dir.path(), &[]);
    assert_eq!(code, 3);
    assert_eq!(lines[1]["verdict"], "unknown");
    assert_eq!(lines[1]["cause"], "no_trajectory");
}

#[test]
fn the_same_bytes_at_any_number_of_jobs() {
    let dir = files(NATIVE);
    assert_eq!(grade(dir.path(), &["--jobs", "1"]), grade(dir.path(), &["--jobs", "4"]));
}

#[test]
fn lint_finds_unseen_tools_and_what_cannot_fail() {
    let dir = files(
        "cases:\n  - {id: good, graders: [{type: tool-calls, config: {disallowed: [serch]}}]}\n",
    );
    let output = toolmark(&["lint", "spec.yaml", "--traces", "traces.jsonl", "--vacuity"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("vacuous-grader"), "{said}");
    assert!(said.contains("unseen-tool") && said.contains("did you mean search?"), "{said}");
}

#[test]
fn the_starter_loads_and_grades() {
    let dir = files("");
    let init = toolmark(&["init", "toolmark.yaml"]).current_dir(dir.path()).output().unwrap();
    assert!(init.status.success());
    let graded = toolmark(&["grade", "toolmark.yaml", "traces.jsonl"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert_eq!(graded.status.code(), Some(0));
    let again = toolmark(&["init", "toolmark.yaml"]).current_dir(dir.path()).output().unwrap();
    assert_eq!(again.status.code(), Some(2));
}

#[test]
fn the_starter_names_a_schema_that_lies_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let init = |file: &str| toolmark(&["init", file]).current_dir(dir.path()).output().unwrap();
    assert!(init("toolmark.yaml").status.success());
    let spec = fs::read_to_string(dir.path().join("toolmark.yaml")).unwrap();
    let first = spec.lines().next().unwrap();
    let named = first.strip_prefix("# yaml-language-server: $schema=").unwrap();
    let schema: Value =
        serde_json::from_str(&fs::read_to_string(dir.path().join(named)).unwrap()).unwrap();
    assert_eq!(schema["title"], "toolmark.yaml");
    // A second spec in the same directory shares it.
    assert!(init("other.yaml").status.success());
}

#[test]
fn lint_has_output_for_programs() {
    let dir = files("cases:\n  - {id: a, expekt: {}}\n  - {id: b}\n");
    let lint = |format: &str| {
        let args = ["lint", "spec.yaml", "--format", format];
        let output = toolmark(&args).current_dir(dir.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let json = lint("json");
    assert_eq!((&json["specs"], &json["errors"]), (&1.into(), &1.into()));
    let first = &json["problems"][0];
    assert_eq!((&first["code"], &first["severity"]), (&"unknown-key".into(), &"error".into()));
    assert_eq!((&first["file"], &first["line"]), (&"spec.yaml".into(), &2.into()));
    let run = &lint("sarif")["runs"][0];
    let result = &run["results"][0];
    assert_eq!(result["ruleId"], "unknown-key");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "spec.yaml");
    assert_eq!(place["region"]["startLine"], 2);
}

#[test]
fn a_directory_of_specs_is_linted_and_graded() {
    let dir = files(NATIVE);
    fs::create_dir(dir.path().join("evals")).unwrap();
    fs::write(dir.path().join("evals/a.yaml"), NATIVE).unwrap();
    fs::write(dir.path().join("evals/b.eval.yaml"), AGENTV.replace("id: bad", "id: worse"))
        .unwrap();
    fs::write(dir.path().join("evals/compose.yaml"), "services: {}\n").unwrap();
    let run = |args: &[&str]| toolmark(args).current_dir(dir.path()).output().unwrap();
    let linted = run(&["lint", "evals", "--format", "json"]);
    let linted: Value = serde_json::from_slice(&linted.stdout).unwrap();
    assert_eq!((&linted["specs"], &linted["errors"]), (&2.into(), &0.into()));
    let graded = run(&["grade", "evals", "traces.jsonl", "--format", "jsonl"]);
    let text = String::from_utf8(graded.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<(&str, &str)> = lines[..4]
        .iter()
        .map(|line| (line["case"].as_str().unwrap(), line["verdict"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [
            ("evals/a.yaml: good", "pass"),
            ("bad", "fail"),
            ("evals/b.eval.yaml: good", "pass"),
            ("worse", "unknown"),
        ]
    );
    assert_eq!((&lines[4]["cases"], &lines[4]["failed"]), (&4.into(), &1.into()));
    assert_eq!(graded.status.code(), Some(1));
    assert_eq!(run(&["grade", ".agentv", "traces.jsonl"]).status.code(), Some(3));
    let chosen = run(&["grade", "evals", "traces.jsonl", "--case", "bad"]);
    assert_eq!(chosen.status.code(), Some(1));
}

#[test]
fn an_error_in_a_shared_grader_is_said_once() {
    let dir = files("graders: [{type: token-budget, config: {max: -1}}]\ncases: ./cases.jsonl\n");
    fs::write(
        dir.path().join("cases.jsonl"),
        "{\"id\": \"a\"}\n{\"id\": \"b\"}\n{\"id\": 3, \"x\": 1}\n",
    )
    .unwrap();
    let output = toolmark(&["lint", "spec.yaml"]).current_dir(dir.path()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.matches("error[").count(), 2, "{said}");
    assert!(said.contains("spec.yaml:1:") && said.contains(" cases.jsonl:3:"), "{said}");
}

#[test]
fn every_example_of_a_grader_loads() {
    let graders: Vec<Value> =
        serde_json::from_str(&crate::stdout(&["graders", "--format", "json"])).unwrap();
    assert!(graders.len() > 50);
    for grader in graders {
        let example = grader["example"].as_str().unwrap().trim_start_matches("- ");
        let mut spec = String::from("graders:\n");
        for (n, line) in example.lines().enumerate() {
            spec.push_str(if n == 0 { "  - " } else { "    " });
            spec.push_str(line);
            spec.push('\n');
        }
        let dir = files(&spec);
        let output = toolmark(&["lint", "spec.yaml"]).current_dir(dir.path()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{}: {spec}\n{said}", grader["type"]);
    }
}

#[test]
fn schemas_are_printed_for_every_dialect() {
    for dialect in ["toolmark", "vally", "agentv", "aigo"] {
        let schema: Value = serde_json::from_str(&crate::stdout(&["schema", dialect])).unwrap();
        assert!(schema["$schema"].is_string(), "{dialect}");
    }
    assert!(root().join("samples/toolmark.yaml").exists());
}

/// Declared plugin types are unknown; undeclared types are errors in a Vally spec.
#[test]
fn grader_types_of_plugins_are_declared() {
    let spec =
        "stimuli: [{name: good, prompt: p, graders: [{type: house-style, config: {x: 1}}]}]\n";
    let dir = files(spec);
    let run = |args: &[&str]| toolmark(args).current_dir(dir.path()).output().unwrap();
    let code = |args: &[&str]| run(args).status.code().unwrap();
    let grade = ["grade", "spec.yaml", "traces.jsonl"];
    assert_eq!(code(&["lint", "spec.yaml"]), 2);
    assert_eq!(code(&grade), 2);
    assert_eq!(code(&["lint", "spec.yaml", "--grader-type", "house-style"]), 0);
    let graded = [&grade[..], &["--grader-type", "house-style", "--format", "jsonl"]].concat();
    let output = run(&graded);
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stdout).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["graders"][0]["type"], "house-style");
    assert_eq!(first["graders"][0]["verdict"], "unknown");
    fs::write(
        dir.path().join("toolmark.yaml"),
        "grader_types: [house-style]\ngraders: [{type: house-style}]\n",
    )
    .unwrap();
    assert_eq!(code(&["lint", "spec.yaml", "toolmark.yaml"]), 0);
    assert_eq!(code(&grade), 3);
}

#[test]
fn traces_are_dumped_to_a_folder_of_their_own_where_none_is_named() {
    let dir = files(NATIVE);
    grade(dir.path(), &["--dump-traces"]);
    assert!(dir.path().join(".toolmark/traces/good.json").is_file());
    grade(dir.path(), &["--dump-traces", "here"]);
    assert!(dir.path().join("here/bad.json").is_file());
}

#[test]
fn graders_say_where_they_stand() {
    let shown = crate::stdout(&["graders", "tool-calls"]);
    for words in ["static", "low", "t1-universal", "reference-free", "trajectory-level", "code"] {
        assert!(shown.lines().any(|line| line.ends_with(words)), "{words}: {shown}");
    }
    let json = crate::stdout(&["graders", "wall-time", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json[0]["taxonomy"]["cost"], "free");
}
