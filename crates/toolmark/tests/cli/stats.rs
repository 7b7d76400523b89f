//! Tests of `toolmark stats`.

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
            "projects",
            "models",
            "started",
            "duration_ms",
            "cost_usd",
            "recorded_cost_usd",
            "schema_version",
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

/// The rest of a document in a directory may have been a trace, and is not skipped as another file.
#[test]
fn a_cut_document_in_a_directory_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(root().join(FLAKY_TEST), dir.path().join("a.jsonl")).unwrap();
    for (name, text, exit) in [
        ("b.json", "{\"messages\": [{\"role\": \"user\", \"content\": \"go\"}, {\"ro", 3),
        ("b.json", "{\"name\": \"a package\" // with a comment\n}\n", 0),
        ("b.txt", "{\"messages\": [", 0),
    ] {
        fs::write(dir.path().join(name), text).unwrap();
        let mut command = toolmark(&["stats", "."]);
        let text = transcript(command.current_dir(dir.path()));
        assert!(text.contains(&format!("--- exit {exit}")), "{name}: {text}");
        assert_eq!(text.contains("JSON that ends within a value"), exit == 3, "{name}: {text}");
        fs::remove_file(dir.path().join(name)).unwrap();
    }
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

/// The groups of the samples, by name.
fn groups(by: &str, more: &[&str]) -> Vec<Value> {
    let text = stdout(&[&["stats", "samples", "--by", by, "--format", "json"], more].concat());
    serde_json::from_str::<Vec<Value>>(&text).unwrap()
}

#[test]
fn groups_add_up_to_the_files() {
    let rows: Vec<Value> =
        serde_json::from_str(&stdout(&["stats", "samples", "--format", "json"])).unwrap();
    let sum = |rows: &[Value], of: fn(&Value) -> &Value| -> u64 {
        rows.iter().filter_map(|row| of(row).as_u64()).sum()
    };
    for by in ["day", "month", "project", "model"] {
        let groups = groups(by, &[]);
        assert_eq!(sum(&groups, |g| &g["calls"]), sum(&rows, |r| &r["tool_calls"]), "{by}");
        assert_eq!(sum(&groups, |g| &g["failed"]), sum(&rows, |r| &r["tool_errors"]), "{by}");
        assert_eq!(sum(&groups, |g| &g["turns"]), sum(&rows, |r| &r["user_turns"]), "{by}");
        assert_eq!(
            sum(&groups, |g| &g["tokens"]["total"]),
            sum(&rows, |r| &r["tokens"]["total"]),
            "{by}"
        );
        assert_eq!(sum(&groups, |g| &g["duration_ms"]), sum(&rows, |r| &r["duration_ms"]), "{by}");
    }
    let tools = groups("tool", &[]);
    assert_eq!(sum(&tools, |g| &g["calls"]), sum(&rows, |r| &r["tool_calls"]));
    assert!(tools.iter().all(|tool| tool["turns"].is_null()), "tools have no turns");
}

#[test]
fn a_table_by_day_and_csv_by_tool() {
    assert_snapshot!(run(&["stats", "samples", "--by", "day"]));
    assert_snapshot!(run(&["stats", "samples", "--by", "tool", "--format", "csv"]));
}

#[test]
fn without_traces_the_sessions_of_this_machine() {
    let home = crate::sessions::home();
    for by in [&["stats", "--format", "jsonl"][..], &["stats", "--by", "day", "--format", "jsonl"]]
    {
        let mut command = toolmark(by);
        let output = command.env("HOME", home.path()).output().unwrap();
        assert!(output.status.success());
        assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 2);
    }
    let text = transcript(&mut toolmark(&["stats"]));
    assert!(text.contains("found no sessions") && text.ends_with("--- exit 3\n"), "{text}");
}

#[test]
fn a_session_that_is_resumed_counts_once() {
    let dir = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(root().join(FLAKY_TEST)).unwrap();
    fs::write(dir.path().join("a.jsonl"), &text).unwrap();
    let path = dir.path().to_str().unwrap();
    let one = stdout(&["stats", path, "--by", "model", "--format", "json"]);
    // The session after it starts with all of it.
    fs::write(dir.path().join("b.jsonl"), &text).unwrap();
    let two = run(&["stats", path, "--by", "model", "--format", "json"]);
    assert!(two.starts_with(&one), "{two}");
    assert!(two.contains("4 responses met again in other files and counted once"), "{two}");
}
