//! Policies that `toolmark-hook` delegates to `toolmark guard`.

use serde_json::{Value, json};
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

const HOOK: &str = env!("CARGO_BIN_EXE_toolmark-hook");

/// Allows only numbers of up to three digits.
const SCHEMA: &str = r#"
guard:
  rules:
    - name: small-draws
      tool: draw
      where: {count: {not: {schema: {type: integer, maximum: 999}}}}
      decision: deny
      examples:
        match: [{tool: draw, args: {count: 1000}}]
        not_match: [{tool: draw, args: {count: 999}}]
"#;

/// A tool whose argument is a command.
const TOOLSET: &str = r#"
guard:
  preset: standard
check:
  toolsets:
    - id: plain
      tools:
        launch: {role: runs_shell, command: line}
"#;

/// Returns a program's decision about a call under a policy, and its reason.
fn asked(program: &Path, policy: &str, tool: &str, args: &Value) -> (String, String) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("policy.yaml");
    fs::write(&file, policy).unwrap();
    let mut command = Command::new(program);
    command
        .args(["--log", "off"])
        .env("HOME", "/nonexistent")
        .env("TOOLMARK_GUARD_POLICY", &file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    // A program that was just copied may still be open for writing in a process that
    // another test is starting.
    let mut child = loop {
        match command.spawn() {
            Err(busy) if busy.kind() == ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(10));
            }
            started => break started.unwrap(),
        }
    };
    let payload = json!({"tool": tool, "args": args, "host": "plain"}).to_string();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |key: &str| answer[key].as_str().unwrap().to_owned();
    (text("decision"), text("reason"))
}

#[test]
fn schemas_and_toolsets_count() {
    let hook = Path::new(HOOK);
    for (policy, tool, args, decision) in [
        (SCHEMA, "draw", json!({"count": 1000}), "deny"),
        (SCHEMA, "draw", json!({"count": 999}), "allow"),
        (TOOLSET, "launch", json!({"line": "git push --force"}), "deny"),
        (TOOLSET, "launch", json!({"line": "ls"}), "allow"),
    ] {
        let (decided, reason) = asked(hook, policy, tool, &args);
        assert_eq!(decided, decision, "{tool} {args}: {reason}");
    }
}

#[test]
fn without_the_other_program_somebody_is_asked() {
    let directory = tempfile::tempdir().unwrap();
    let alone = directory.path().join("toolmark-hook");
    fs::copy(HOOK, &alone).unwrap();
    let (decided, reason) = asked(&alone, SCHEMA, "draw", &json!({"count": 1}));
    assert_eq!(decided, "ask");
    let words = format!("failed to run {}/toolmark: ", directory.path().display());
    assert!(reason.contains("need `toolmark guard`") && reason.contains(&words), "{reason}");
    // A program that fails is treated like a missing one.
    let other = directory.path().join("toolmark");
    fs::write(&other, "#!/bin/sh\nexit 1\n").unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    let (decided, reason) = asked(&alone, SCHEMA, "draw", &json!({"count": 1}));
    assert_eq!(decided, "ask");
    assert!(reason.contains("exit status: 1"), "{reason}");
    // Other policies need it not.
    let (decided, _) = asked(&alone, "guard: {preset: standard}", "draw", &json!({"count": 1}));
    assert_eq!(decided, "allow");
}
