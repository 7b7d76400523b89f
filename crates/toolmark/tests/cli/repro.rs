//! Regression tests with files that `grade` and `lint` once judged wrongly.

use crate::toolmark;
use serde_json::Value;
use toolmark_testing::find_shared;

/// Returns the exit code and the JSON lines of grading a trace.
fn grade(folder: &str, args: &[&str]) -> Option<(i32, Vec<Value>)> {
    let dir = find_shared(&format!("repro/{folder}"))?;
    let args = [&["grade"], args, &["--format", "jsonl"]].concat();
    let output = toolmark(&args).current_dir(dir).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    Some((output.status.code().unwrap(), lines))
}

/// `bash` also matches `read_bash`, which has no command.
#[test]
fn an_absent_command_is_a_mistake_under_vally() {
    let Some((code, lines)) = grade("grade", &["ab.yaml", "ab.json"]) else { return };
    assert_eq!(code, 3);
    assert_eq!(lines[0]["graders"][0]["cause"], "configuration");
    let (code, _) = grade("grade", &["ab.yaml", "ab.json", "--profile", "toolmark"]).unwrap();
    assert_eq!(code, 0);
}

#[test]
fn a_skill_that_was_not_found_was_not_used() {
    let args = ["skill.yaml", "min_skill.jsonl"];
    let Some((code, lines)) = grade("readers", &args) else { return };
    assert_eq!(code, 1);
    assert_eq!(lines[0]["graders"][0]["verdict"], "fail");
}

/// `^$` matches one text only; the other errors of the file remain.
#[test]
fn lint_has_no_false_alarm_about_patterns() {
    let Some(dir) = find_shared("repro/grade") else { return };
    for (spec, code, errors) in [("ok.yaml", 0, 0), ("eval.yaml", 2, 4)] {
        let args = ["lint", spec, "--format", "json"];
        let output = toolmark(&args).current_dir(&dir).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{report}");
        assert_eq!(report["errors"], errors, "{report}");
        let problems = report["problems"].as_array().unwrap();
        assert!(problems.iter().all(|problem| problem["code"] != "pattern-matches-all"));
    }
}

#[test]
fn promptfoo_files_are_linted() {
    let Some(dir) = find_shared("repro/grade") else { return };
    let output = toolmark(&["lint", "promptfooconfig.yaml"]).current_dir(&dir).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}
