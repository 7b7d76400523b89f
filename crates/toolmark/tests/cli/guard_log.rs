//! The guard's own log, read like any other trace.

use crate::{root, stdout, told, toolmark};
use serde_json::Value;
use std::fs;

const LOG: &str = "crates/toolmark/tests/fixtures/guard.jsonl";

#[test]
fn a_log_is_shown_by_session() {
    let runs: Vec<Value> =
        serde_json::from_str(&stdout(&["show", LOG, "--format", "json"])).unwrap();
    let words = |run: &Value, key: &str| -> Vec<String> {
        let calls = run["calls"].as_array().unwrap().iter();
        calls.map(|call| call[key].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0]["format"], "toolmark-guard");
    assert_eq!(words(&runs[0], "status"), ["succeeded", "denied", "unknown"]);
    assert_eq!(words(&runs[1], "status"), ["unknown"]);
}

#[test]
fn check_knows_the_tools_of_the_host() {
    let report = told(&mut toolmark(&["check", LOG, "--format", "json"]));
    let report = report.split("\n--- ").next().unwrap();
    // What was only observed is found; what was denied never happened.
    assert!(report.contains("rm -rf ~/archive"), "{report}");
}

#[test]
fn logs_that_were_put_aside_are_read_too() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["guard.jsonl", "guard.jsonl.1", "guard.jsonl.2"] {
        fs::copy(root().join(LOG), dir.path().join(name)).unwrap();
    }
    let folder = dir.path().to_str().unwrap();
    let rows = stdout(&["stats", folder, "--format", "csv"]);
    assert_eq!(rows.matches("toolmark-guard").count(), 3, "{rows}");
    let one = dir.path().join("guard.jsonl.1");
    assert!(
        stdout(&["stats", one.to_str().unwrap(), "--format", "csv"]).contains("toolmark-guard")
    );
}
