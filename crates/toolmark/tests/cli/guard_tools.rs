//! Tests of the `tools:` section: the same file for check, grade, lint, the guard and mining.

use crate::toolmark;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Output;

const POLICY: &str = "guard: {keep: false}\ntools:\n  exchange_items:\n    effect: final\n    \
    needs: {get_order.status: delivered}\n    confirm: true\n";

/// A line of a transcript of Claude Code.
fn line(second: u32, role: &str, content: Value) -> String {
    json!({"type": role, "uuid": format!("u{second}"), "parentUuid": null, "sessionId": "s", "cwd": "/w/shop",
        "version": "2.0.0", "timestamp": format!("2026-03-01T10:00:{second:02}.000Z"),
        "message": {"role": role, "content": content}})
    .to_string()
}

/// Writes a transcript in which an order has a status, and the user agrees or not.
fn transcript(path: &Path, status: &str, answer: &str) {
    let result = json!({"order_id": "W1", "status": status}).to_string();
    let lines = [
        line(1, "user", json!("exchange my order W1")),
        line(
            2,
            "assistant",
            json!([{"type": "tool_use", "id": "t1", "name": "mcp__shop__get_order",
                "input": {"order_id": "W1"}}]),
        ),
        line(3, "user", json!([{"type": "tool_result", "tool_use_id": "t1", "content": result}])),
        line(4, "assistant", json!([{"type": "text", "text": "I would exchange W1. Right?"}])),
        line(5, "user", json!(answer)),
    ];
    fs::write(path, lines.join("\n") + "\n").unwrap();
}

fn hook(folder: &Path, transcript: Option<&Path>) -> Value {
    let policy = folder.join("policy.yaml");
    fs::write(&policy, POLICY).unwrap();
    let mut payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": folder,
        "permission_mode": "default", "tool_name": "mcp__shop__exchange_items",
        "tool_input": {"order_id": "W1"}});
    if let Some(path) = transcript {
        payload["transcript_path"] = json!(path);
    }
    let args = ["guard", "--host", "claude-code", "--log", "off", "--policy"];
    let mut command = toolmark(&args);
    let output = command.arg(&policy).write_stdin(payload.to_string()).output().unwrap();
    if output.stdout.is_empty() {
        return json!({"permissionDecision": "allow"});
    }
    serde_json::from_slice::<Value>(&output.stdout).unwrap()["hookSpecificOutput"].clone()
}

#[test]
fn the_hook_compares_a_call_with_the_transcript() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    for (status, answer, decision, words) in [
        ("delivered", "Yes, please.", "allow", ""),
        ("pending", "Yes, please.", "deny", "needs status of get_order to be delivered"),
        ("delivered", "What does it cost?", "ask", "needs a yes of the user"),
    ] {
        transcript(&path, status, answer);
        let found = hook(folder.path(), Some(&path));
        assert_eq!(found["permissionDecision"], decision, "{status} {answer}: {found}");
        let reason = found["permissionDecisionReason"].as_str().unwrap_or_default();
        assert!(reason.contains(words), "{reason}");
    }
    // Without a transcript it is unknown what happened before.
    let found = hook(folder.path(), None);
    assert_eq!(found["permissionDecision"], "ask", "{found}");
}

fn in_folder(args: &[&str], policy: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("toolmark.yaml"), policy).unwrap();
    let trace = "{\"role\":\"user\",\"content\":\"exchange W1\"}\n\
        {\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"get_order\",\"arguments\":\"{\\\"order_id\\\":\\\"W1\\\"}\"}}]}\n\
        {\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"{\\\"status\\\":\\\"pending\\\"}\"}\n\
        {\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"2\",\"type\":\"function\",\"function\":{\"name\":\"exchange_items\",\"arguments\":\"{\\\"order_id\\\":\\\"W1\\\"}\"}}]}\n\
        {\"role\":\"tool\",\"tool_call_id\":\"2\",\"content\":\"ok\"}\n";
    fs::write(folder.path().join("run.jsonl"), trace).unwrap();
    toolmark(args).current_dir(folder.path()).output().unwrap()
}

#[test]
fn check_and_grade_read_the_same_file() {
    let checked = in_folder(&["check", "run.jsonl", "--format", "json"], POLICY);
    let report: Value = serde_json::from_slice(&checked.stdout).unwrap();
    let codes: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|finding| finding["code"].as_str())
        .filter(|code| ["A223", "I317"].contains(code))
        .collect();
    assert_eq!(codes, ["A223", "I317"], "{report}");
    assert_eq!(checked.status.code(), Some(1));
    let graded = in_folder(&["grade", "toolmark.yaml", "run.jsonl"], POLICY);
    let text = String::from_utf8(graded.stdout).unwrap();
    assert!(text.contains("tool-policy"), "{text}");
    assert_eq!(graded.status.code(), Some(1), "{text}");
}

#[test]
fn mistakes_have_their_place() {
    let policy =
        "tools:\n  exchange_items:\n    needs: {get_order.stats[0]x: 1}\n    effect: finl\n";
    for args in [&["check", "run.jsonl"][..], &["lint", "toolmark.yaml"]] {
        let output = in_folder(args, &policy.replace("[0]x", ".."));
        let text =
            String::from_utf8(output.stderr).unwrap() + &String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("toolmark.yaml:3:"), "{args:?}: {text}");
        assert!(text.contains("unknown effect \"finl\""), "{args:?}: {text}");
        assert_ne!(output.status.code(), Some(0), "{text}");
    }
}
