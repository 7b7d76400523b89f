//! Tests that the guard's own log is read like any other trace.

use crate::{root, stdout, toolmark, transcript};
use serde_json::Value;
use std::fs;

const LOG: &str = "crates/toolmark/tests/fixtures/guard.jsonl";

#[test]
fn a_log_is_shown_by_session() {
    let run = |number: &str| -> Value {
        let args = ["show", LOG, "--run", number, "--format", "json"];
        serde_json::from_str(&stdout(&args)).unwrap()
    };
    let ended = |run: &Value| -> Vec<String> {
        let calls = run["calls"].as_array().unwrap().iter();
        calls.map(|call| call["status"].as_str().unwrap().to_owned()).collect()
    };
    let (first, second) = (run("1"), run("2"));
    assert_eq!(first["id"], "5f1c");
    assert_eq!(ended(&first), ["succeeded", "denied", "unknown"]);
    assert_eq!(ended(&second), ["unknown"]);
    let full = stdout(&["show", LOG, "--run", "1", "--full"]);
    assert!(full.contains("guard: allow, would deny (observe): only observed"), "{full}");
}

#[test]
fn check_knows_the_tools_of_the_host() {
    let report = transcript(&mut toolmark(&["check", LOG, "--format", "json"]));
    let report = report.split("\n--- ").next().unwrap();
    assert!(report.contains("rm -rf ~/archive") && report.contains("I301"), "{report}");
    let tools = stdout(&["stats", LOG, "--format", "csv"]);
    assert!(tools.contains("Bash") && tools.contains("shell"), "{tools}");
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

#[test]
fn what_was_asked_and_denied_is_marked() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("guard.jsonl");
    let row = |id: &str, command: &str, decision: &str| {
        let row = serde_json::json!({"toolmark_guard": 1, "time": "2026-05-04T09:00:07Z",
            "host": "claude-code", "session": "s", "event": "PreToolUse", "moment": "before",
            "call_id": id, "tool": "Bash", "args": {"command": command}, "decision": decision,
            "rule": "effect", "reason": "because", "duration_us": 1, "pid": 1});
        format!("{row}\n")
    };
    let rows = [row("1", "ls", "allow"), row("2", "cat .env", "ask"), row("3", "rm x", "deny")];
    fs::write(&log, rows.concat()).unwrap();
    let shown = stdout(&["show", log.to_str().unwrap()]);
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    let after = |call: &str| {
        let at = lines.iter().position(|line| line.ends_with(call)).unwrap();
        lines.get(at + 1).copied().unwrap_or_default()
    };
    assert_eq!(after("cat .env"), "guard: ask (effect): because", "{shown}");
    assert_eq!(after("rm x"), "denied: because", "{shown}");
}

#[test]
fn a_changed_log_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("guard.jsonl");
    let path = log.to_str().unwrap();
    for command in ["ls", "git push --force origin main", "pwd"] {
        let payload = serde_json::json!({"hook_event_name": "PreToolUse", "session_id": "s",
            "cwd": dir.path(), "tool_name": "Bash", "tool_input": {"command": command}});
        let args = ["guard", "--host", "claude-code", "--log", path];
        toolmark(&args).write_stdin(payload.to_string()).output().unwrap();
    }
    let verify = || {
        let output = toolmark(&["guard", "log", "verify", path]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let whole = fs::read_to_string(&log).unwrap();
    let (code, text) = verify();
    assert!(code == Some(0) && text.starts_with("3 records in the chain, from number 1"), "{text}");
    assert_eq!(stdout(&["guard", "log", "export", path]), whole);
    let events = stdout(&["guard", "log", "export", path, "--format", "ocsf"]);
    let events: Vec<Value> =
        events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let actions: Vec<&str> = events.iter().map(|event| event["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["Allowed", "Denied", "Allowed"]);
    let without_last = whole.lines().take(2).collect::<Vec<_>>().join("\n") + "\n";
    for changed in
        [without_last, whole.replace("--force ", ""), whole.replace("\"deny\"", "\"allow\"")]
    {
        fs::write(&log, changed).unwrap();
        let (code, text) = verify();
        assert_eq!(code, Some(1), "{text}");
    }
    fs::write(&log, &whole).unwrap();
    assert_eq!(verify().0, Some(0));
    assert_eq!(
        toolmark(&["guard", "log", "verify", "/nowhere"]).output().unwrap().status.code(),
        Some(3)
    );
}
