//! Compares `stats --format json` of real traces with independent counts.
//!
//! The tests of `toolmark-trace` compare every field of every file without the binary; these tests
//! check the output of the binary.

use crate::toolmark;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use toolmark_testing::{assert_compared, find_shared};

/// Folders with undisputed counts.
const FOLDERS: [&str; 6] =
    ["claude_code", "codex_exec_json", "copilot_cli", "pi_session", "swe_agent", "vally"];

/// Checks the type of a value.
type Check<'a> = &'a dyn Fn(&Value) -> bool;

/// Returns the rows of `stats` by file.
fn rows(dir: &Path, arguments: &[&str]) -> BTreeMap<String, Value> {
    let mut command = toolmark(&["stats", "--format", "json", "--quiet"]);
    let output = command.current_dir(dir).args(arguments).output().unwrap();
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    rows.into_iter().map(|row| (row["file"].as_str().unwrap().to_owned(), row)).collect()
}

#[test]
fn the_binary_prints_the_true_counts() {
    let Some(dir) = find_shared("traces") else { return };
    let truth: BTreeMap<String, Value> =
        serde_json::from_slice(&std::fs::read(dir.join("truth.json")).unwrap()).unwrap();
    let rows = rows(&dir, &FOLDERS);
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (file, expected) in &truth {
        if !FOLDERS.contains(&file.split('/').next().unwrap_or_default()) {
            continue;
        }
        let Some(row) = rows.get(file) else {
            wrong.push(format!("{file} has no row"));
            continue;
        };
        compared += 1;
        // The counts name formats by folder.
        for (field, want) in expected.as_object().unwrap().iter().filter(|(f, _)| *f != "format") {
            let got = &row[field];
            if row.get(field).is_some() && !want.is_null() && want != got {
                wrong.push(format!("{file} {field}: want {want}, got {got}"));
            }
        }
    }
    assert_compared(compared, 100, "files");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_row_has_the_promised_keys_and_types() {
    let Some(dir) = find_shared("traces") else { return };
    let count = |v: &Value| v.is_u64();
    let maybe = |v: &Value| v.is_u64() || v.is_null();
    let words = |v: &Value| v.as_array().is_some_and(|a| a.iter().all(Value::is_string));
    let tokens = |v: &Value| {
        let keys = ["cache_read", "cache_write", "input", "output", "reasoning", "total"];
        v.is_null()
            || v.as_object().is_some_and(|t| {
                t.len() == keys.len() && keys.iter().all(|k| t.get(*k).is_some_and(Value::is_u64))
            })
    };
    let text = |v: &Value| v.is_string();
    let time = |v: &Value| v.is_null() || v.as_str().is_some_and(|v| v.ends_with('Z'));
    let money = |v: &Value| v.is_null() || v.is_number();
    let promised: [(&str, Check<'_>); 23] = [
        ("file", &text),
        ("format", &text),
        ("trajectories", &count),
        ("tool_calls", &count),
        ("tool_results", &count),
        ("tool_errors", &maybe),
        ("unanswered", &count),
        ("orphans", &count),
        ("assistant_turns", &maybe),
        ("user_turns", &maybe),
        ("max_parallel", &maybe),
        ("tool_names", &words),
        ("tokens", &tokens),
        ("bad_lines", &count),
        ("unknown_records", &count),
        ("fidelity_gaps", &words),
        ("projects", &words),
        ("models", &words),
        ("started", &time),
        ("duration_ms", &maybe),
        ("cost_usd", &money),
        ("recorded_cost_usd", &money),
        ("schema_version", &count),
    ];
    let rows = rows(&dir, &["."]);
    assert!(rows.len() > 300, "{}", rows.len());
    for (file, row) in rows {
        let row = row.as_object().unwrap();
        let keys: Vec<&str> = row.keys().map(String::as_str).collect();
        assert_eq!(keys, promised.map(|(key, _)| key), "{file}");
        for (key, is_right) in promised {
            assert!(is_right(&row[key]), "{file} {key}: {}", row[key]);
        }
    }
}
