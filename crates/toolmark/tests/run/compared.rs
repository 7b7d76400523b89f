//! Tests that compare runs.

use super::{Stage, text};
use serde_json::json;
use std::fs;

/// An agent whose answer depends on a variable: the first words are those of trial 1.
const SPEC: &str = "
targets:
  scripted:
    command: [sh, -c, 'set -- ANSWERS; shift $(({trial} - 1)); echo $1 {case}']
run: {target: scripted, trials: 3, pass: any, early_stop: false, workspace: {}}
graders: [{type: output-matches, config: {pattern: good}}]
cases: [{id: a, prompt: p}, {id: b, prompt: p}]
";

#[test]
fn two_runs_are_compared_by_their_names() {
    let stage = Stage::new("");
    for (answers, out) in [("bad good bad", "first"), ("bad bad bad", "second")] {
        stage.write("toolmark.yaml", &SPEC.replace("ANSWERS", answers));
        let run = format!(".toolmark/runs/{out}");
        let output = stage.run(&["run", "toolmark.yaml", "--out", &run]);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}", text(&output));
    }
    // One good trial of three is a pass where any will do, and the summary says so.
    let found = stage.json(&["compare", "fir", "last", "--fail-on", "regression"]);
    let total = &found["graded"]["total"];
    assert_eq!((&total["cases"], &total["regressions"]), (&json!(2), &json!(2)), "{found}");
    let case = &found["graded"]["cases"][0];
    assert_eq!((&case["case"], &case["target"]), (&json!("a"), &json!("scripted")), "{case}");
    assert_eq!(
        (&case["before"]["passed"], &case["before"]["verdict"]),
        (&json!(1), &json!("pass"))
    );
    assert!(total["measures"]["duration_ms"]["before"].is_number(), "{total}");
    assert_eq!(found["notes"], json!([]), "{found}");
    assert_eq!(found["verdict"], "fail");

    let same = stage.run(&["compare", "first", "first", "--fail-on", "regression"]);
    assert_eq!(same.status.code(), Some(0), "{}", text(&same));
    let again = ["grade", ".toolmark/runs/second", "--baseline", "first"];
    let output = stage.run(&again);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("2 cases that passed fail now"), "{}", text(&output));
    let output = stage.run(&["grade", ".toolmark/runs/second", "--baseline", "second"]);
    assert_eq!(output.status.code(), Some(0), "nothing is worse: {}", text(&output));
}

#[test]
fn a_run_that_was_stopped_is_compared_as_far_as_it_came() {
    let stage = Stage::new(&SPEC.replace("ANSWERS", "good good good"));
    let output = stage.run(&["run", "toolmark.yaml", "--out", "whole"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let output = stage.run(&["run", "toolmark.yaml", "--out", "cut"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    for file in ["summary.json", "results.jsonl"] {
        fs::remove_file(stage.path("cut").join(file)).unwrap();
    }
    fs::remove_dir_all(stage.path("cut/trials/scripted/b")).unwrap();
    let output = stage.run(&["compare", "whole", "cut", "--fail-on", "regression"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    let said = text(&output);
    assert!(said.contains("only in whole: b [scripted] (pass)"), "{said}");
    fs::remove_dir_all(stage.path("cut/trials")).unwrap();
    let output = stage.run(&["compare", "whole", "cut"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    let info = fs::read_to_string(stage.path("whole/run.json")).unwrap();
    stage.write("whole/run.json", &info.replacen("\"version\": 1", "\"version\": 9", 1));
    let output = stage.run(&["compare", "whole", "whole"]);
    assert!(text(&output).contains("version 9 of the files of a run"), "{}", text(&output));
}
