//! `toolmark stats`

use crate::{DISK_FULL, EVERYTHING, FLAKY_TEST, root, run, stdout, toolmark, transcript};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;

#[test]
fn a_table() {
    let mut wide = toolmark(&["stats", DISK_FULL, FLAKY_TEST, EVERYTHING]);
    wide.env_remove("COLUMNS");
    assert_snapshot!(transcript(&mut wide));
}

#[test]
fn a_table_in_a_narrow_terminal() {
    assert_snapshot!(run(&["stats", DISK_FULL, FLAKY_TEST, EVERYTHING]));
}

#[test]
fn csv() {
    assert_snapshot!(run(&["stats", "samples/claude-code", "--format", "csv"]));
}

#[test]
fn json_has_exactly_the_promised_keys() {
    let rows: Value =
        serde_json::from_str(&stdout(&["stats", DISK_FULL, "--format", "json"])).unwrap();
    let keys: Vec<&str> = rows[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "file",
            "format",
            "trajectories",
            "tool_calls",
            "tool_results",
            "tool_errors",
            "unanswered",
            "orphans",
            "assistant_turns",
            "user_turns",
            "max_parallel",
            "tool_names",
            "tokens",
            "bad_lines",
            "unknown_records",
            "fidelity_gaps",
        ]
    );
    assert_eq!(rows.as_array().unwrap().len(), 1, "no total among the files");
    assert_eq!(rows[0]["tool_names"], serde_json::json!(["Bash", "Grep", "Read", "Write"]));
    assert_eq!(rows[0]["tokens"]["total"], 238_317);
}

#[test]
fn jsonl_is_json_line_by_line() {
    let lines = stdout(&["stats", DISK_FULL, FLAKY_TEST, "--format", "jsonl"]);
    let rows: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let whole: Value =
        serde_json::from_str(&stdout(&["stats", DISK_FULL, FLAKY_TEST, "--format", "json"]))
            .unwrap();
    assert_eq!(Value::Array(rows), whole);
}

#[test]
fn rows_come_in_the_order_of_the_input() {
    let csv = stdout(&["stats", FLAKY_TEST, DISK_FULL, "--format", "csv"]);
    let files: Vec<&str> = csv.lines().filter_map(|l| l.split(',').next()).collect();
    assert_eq!(files, ["file", FLAKY_TEST, DISK_FULL]);
}

#[test]
fn patterns_are_expanded_where_the_shell_did_not() {
    let csv = stdout(&["stats", "samples/claude-code/*.jsonl", "--format", "csv"]);
    assert_eq!(csv, stdout(&["stats", "samples/claude-code", "--format", "csv"]));
}

#[test]
fn other_files_in_a_directory_are_named_and_no_error() {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(root().join(FLAKY_TEST), dir.path().join("a.jsonl")).unwrap();
    for name in ["notes.txt", "picture.png", "x.log", "y.log", "z.log"] {
        fs::write(dir.path().join(name), "hello\n").unwrap();
    }
    let mut command = toolmark(&["stats", "."]);
    assert_snapshot!(transcript(command.current_dir(dir.path())));
}

#[test]
fn numbers_that_are_not_recorded_are_null() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("short.jsonl");
    fs::write(&file, r#"{"type":"summary","summary":"s","leafUuid":"l"}"#).unwrap();
    let rows = stdout(&["stats", file.to_str().unwrap(), "--format", "jsonl"]);
    let row: Value = serde_json::from_str(&rows).unwrap();
    assert_eq!((&row["tokens"], &row["max_parallel"]), (&Value::Null, &Value::Null));
}
