//! Expectations that users write, on the command line: each passes when it is met, and fails when
//! it is not.

use crate::toolmark;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A row of a run: calls as `[tool, arguments, output]`.
fn row(id: &str, calls: &Value) -> String {
    let calls: Vec<Value> = calls
        .as_array()
        .unwrap()
        .iter()
        .map(|call| {
            let output = call.get(2).cloned().unwrap_or_else(|| json!("done"));
            json!({"tool": call[0], "input": call.get(1).cloned().unwrap_or_else(|| json!({})), "output": output})
        })
        .collect();
    let message = json!({"role": "assistant", "content": "done", "tool_calls": calls});
    json!({"id": id, "output_messages": [message]}).to_string()
}

/// Grades calls against an expectation and returns the exit code.
fn grade(dir: &Path, expect: &str, calls: &Value) -> (i32, String) {
    fs::write(dir.join("toolmark.yaml"), format!("cases:\n  - id: a\n    expect: {expect}\n"))
        .unwrap();
    fs::write(dir.join("run.jsonl"), row("a", calls)).unwrap();
    let output =
        toolmark(&["grade", "toolmark.yaml", "run.jsonl"]).current_dir(dir).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    (output.status.code().unwrap(), text)
}

#[test]
fn each_wish_passes_when_met_and_fails_when_not() {
    let dir = tempfile::tempdir().unwrap();
    let read = |path: &str| json!(["Read", {"file_path": path}, "1\tx"]);
    let edit =
        |path: &str| json!(["Edit", {"file_path": path, "old_string": "x", "new_string": "y"}]);
    let bash = |command: &str| json!(["Bash", {"command": command}]);
    let failed = |command: &str| json!(["exec_command", {"cmd": command}, "Process exited with code 1\nOutput:\nFAILED tests"]);
    let wishes: Vec<(&str, Value, Value)> = vec![
        (
            "{forbidden: [{tool: 'class:edit', bind: {f: path}, not_after: {tool: 'class:read', path: $f}}]}",
            json!([read("/w/a"), edit("/w/a")]),
            json!([read("/w/a"), edit("/w/b")]),
        ),
        (
            "{calls: [{tool: class:shell, command: /test/, after_last: class:edit}]}",
            json!([edit("/w/a"), bash("npm test")]),
            json!([bash("npm test"), edit("/w/a")]),
        ),
        (
            "[{tool: create_order, bind: {id: result.id}}, {tool: pay, args: {order: $id}}]",
            json!([["create_order", {}, {"id": "o-7"}], ["pay", {"order": "o-7"}]]),
            json!([["create_order", {}, {"id": "o-7"}], ["pay", {"order": "o-8"}]]),
        ),
        (
            "{calls: [{tool: book, from: {flight: search}}]}",
            json!([["search", {}, "LH12 and LH340"], ["book", {"flight": "LH340"}]]),
            json!([["search", {}, "LH12 and LH340"], ["book", {"flight": "LH99"}]]),
        ),
        (
            "{forbidden: [{command: /git push/, after: {command: /test/, exit_code: {not: 0}}}]}",
            json!([["exec_command", {"cmd": "npm test"}, "Process exited with code 0\nOutput:\nok"], ["exec_command", {"cmd": "git push"}, "Process exited with code 0"]]),
            json!([failed("npm test"), ["exec_command", {"cmd": "git push"}, "Process exited with code 0"]]),
        ),
        (
            "{forbidden: [class:shell]}",
            json!([read("/w/a")]),
            json!([["exec_command", {"cmd": "ls"}]]),
        ),
        (
            "{forbidden: [{one_of: [delete_user, {tool: update_user, args: {role: admin}}]}]}",
            json!([["update_user", {"role": "guest"}]]),
            json!([["update_user", {"role": "admin"}]]),
        ),
        (
            "{forbidden: [{tool: class:edit, path: {not: '/(^|\\/)src\\//'}}]}",
            json!([edit("src/a.rs")]),
            json!([edit("Cargo.toml")]),
        ),
        (
            "{only: [class:read, class:search]}",
            json!([read("/w/a"), ["Grep", {"pattern": "x"}]]),
            json!([read("/w/a"), bash("cat b")]),
        ),
        (
            "[Read, Edit, Bash]",
            json!([read("/w/a"), edit("/w/a"), bash("ls")]),
            json!([edit("/w/a"), read("/w/a"), bash("ls")]),
        ),
        (
            "{never: [{call: Edit, after: {command: /git commit/}}]}",
            json!([edit("/w/a"), bash("git commit -am x")]),
            json!([bash("git commit -am x"), edit("/w/a")]),
        ),
        (
            "{forbidden: [{command: /rm -rf/}]}",
            json!([["run_shell_command", {"command": "rm a.txt"}]]),
            json!([["run_shell_command", {"command": "rm -rf /"}]]),
        ),
    ];
    for (expect, met, violated) in wishes {
        let (code, text) = grade(dir.path(), expect, &met);
        assert_eq!(code, 0, "{expect} {met}\n{text}");
        let (code, text) = grade(dir.path(), expect, &violated);
        assert_eq!(code, 1, "{expect} {violated}\n{text}");
    }
}

#[test]
fn lint_names_the_tool_that_is_meant() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("run.jsonl"),
        row("a", &json!([["exec_command", {"cmd": "ls"}], ["rеad", {}]])),
    )
    .unwrap();
    for (expect, want) in [
        ("{forbidden: [Bash]}", "did you mean exec_command, or class:shell for every such tool?"),
        ("{calls: [Bash]}", "did you mean exec_command, or class:shell for every such tool?"),
        ("{forbidden: [read]}", "read never matched in these traces"),
        ("{forbidden: [Exec_Command]}", "did you mean exec_command?"),
        ("{required: [exec_command]}", "did you mean \"calls\"?"),
        ("{disallowed: [exec_command]}", "did you mean \"forbidden\"?"),
        ("{calls: [{tol: exec_command}]}", "did you mean \"tool\"?"),
    ] {
        fs::write(dir.path().join("s.yaml"), format!("expect: {expect}\n")).unwrap();
        let mut lint = toolmark(&["lint", "s.yaml", "--traces", "run.jsonl"]);
        let output = lint.current_dir(dir.path()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert!(text.contains(want), "{expect}\n{text}");
    }
    // A forbidden tool that nothing resembles is rightly absent.
    fs::write(dir.path().join("s.yaml"), "expect: {forbidden: [delete_everything]}\n").unwrap();
    let mut lint = toolmark(&["lint", "s.yaml", "--traces", "run.jsonl"]);
    let output = lint.current_dir(dir.path()).output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains("never matched"));
}

#[test]
fn one_case_and_one_trace_belong_together() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    fs::write(path("spec.yaml"), "cases:\n  - id: a\n    expect: [x]\n").unwrap();
    fs::write(path("one.jsonl"), row("other", &json!([["x"]]))).unwrap();
    let two = format!("{}\n{}\n", row("b", &json!([["x"]])), row("c", &json!([["x"]])));
    fs::write(path("two.jsonl"), two).unwrap();
    let run = |spec: &str, trace: &str| {
        let output = toolmark(&["grade", spec, trace]).current_dir(dir.path()).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(run("spec.yaml", "one.jsonl").0, 0);
    let (code, words) = run("spec.yaml", "two.jsonl");
    assert!(code == 2 && words.contains("--for CASE"), "{code} {words}");
    // A case that says which prompt it is about is not about another one.
    fs::write(path("prompt.yaml"), "cases:\n  - {id: a, prompt: Book it, expect: [x]}\n").unwrap();
    assert_eq!(run("prompt.yaml", "one.jsonl").0, 2);
}

#[test]
fn sub_agents_are_forbidden_what_their_agent_is() {
    let dir = tempfile::tempdir().unwrap();
    let line = |value: Value| format!("{value}\n");
    let call = |uuid: &str, parent: Value, side: bool, id: &str, name: &str, input: Value| {
        line(
            json!({"type": "assistant", "uuid": uuid, "parentUuid": parent, "isSidechain": side, "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z",
            "message": {"role": "assistant", "model": "m", "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}}),
        )
    };
    let result = |uuid: &str, parent: &str, side: bool, id: &str| {
        line(
            json!({"type": "user", "uuid": uuid, "parentUuid": parent, "isSidechain": side, "sessionId": "s", "timestamp": "2026-01-01T00:00:01Z",
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "ok"}]}}),
        )
    };
    let mut text = line(
        json!({"type": "user", "uuid": "u0", "parentUuid": null, "isSidechain": false, "sessionId": "s", "cwd": "/w", "version": "2.1.0", "timestamp": "2026-01-01T00:00:00Z", "message": {"role": "user", "content": "go"}}),
    );
    text += &call(
        "a1",
        json!("u0"),
        false,
        "t1",
        "Task",
        json!({"prompt": "do it", "description": "d", "subagent_type": "x"}),
    );
    text += &line(
        json!({"type": "user", "uuid": "s0", "parentUuid": null, "isSidechain": true, "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z", "message": {"role": "user", "content": "do it"}}),
    );
    text += &call("s1", json!("s0"), true, "t2", "Bash", json!({"command": "rm -rf build"}));
    text += &result("s2", "s1", true, "t2");
    text += &result("u1", "a1", false, "t1");
    fs::write(dir.path().join("a.jsonl"), text).unwrap();
    for (expect, want) in [
        ("{forbidden: [Bash]}", 1),
        ("{forbidden: [Bash], agents: main}", 0),
        ("{only: [Task]}", 1),
        ("{calls: [Task], forbidden: [WebFetch]}", 0),
        ("{calls: [Bash], forbidden: [WebFetch]}", 1),
        ("{sequence: [{tool: Task, last: true}], extras: forbid, forbidden: [WebFetch]}", 0),
        ("{forbidden: [class:shell]}", 1),
    ] {
        fs::write(dir.path().join("s.yaml"), format!("expect: {expect}\n")).unwrap();
        let mut grade = toolmark(&["grade", "s.yaml", "a.jsonl"]);
        let output = grade.current_dir(dir.path()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(want), "{expect}\n{text}");
    }
}
