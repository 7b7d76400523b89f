//! The records of Claude Code say where the shell is: they decide, and not the commands.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use serde_json::{Value, json};
use std::io::Cursor;
use toolmark_check::Checker;
use toolmark_trace::{ReadOptions, Trajectory, exporter_by_id, read};

/// A session whose calls have a directory each: tool, arguments, what came back, is it an
/// error.
fn session(calls: &[(&str, &str, Value, &str, bool)]) -> String {
    let mut lines = vec![json!({
        "type": "user", "uuid": "u", "parentUuid": null, "sessionId": "s", "cwd": "/w", "version": "2.1.0",
        "message": {"role": "user", "content": "go"},
    })];
    for (n, (cwd, tool, input, answer, failed)) in calls.iter().enumerate() {
        let record = |kind: &str, content: Value| {
            json!({
                "type": kind, "uuid": format!("{kind}{n}"), "parentUuid": null, "sessionId": "s", "cwd": cwd,
                "version": "2.1.0", "message": {"role": kind, "id": format!("m{n}"), "content": [content]},
            })
        };
        let id = format!("toolu_{n}");
        lines.push(record(
            "assistant",
            json!({"type": "tool_use", "id": id, "name": tool, "input": input}),
        ));
        lines.push(record(
            "user",
            json!({"type": "tool_result", "tool_use_id": id, "content": answer, "is_error": failed}),
        ));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn run(text: String) -> Trajectory {
    read(Cursor::new(text), "s.jsonl", &ReadOptions::default()).unwrap().next().unwrap()
}

fn codes(run: &Trajectory) -> Vec<&'static str> {
    let findings = Checker::default().check(run).findings;
    findings.iter().map(|finding| finding.code).filter(|code| *code == "A220").collect()
}

#[test]
fn a_cd_of_a_command_that_failed_is_not_kept() {
    let test = json!({"command": "cd packages/core && pnpm test"});
    let search = json!({"pattern": "packages/core/.env*"});
    let calls = |after: &'static str| {
        [
            ("/w", "Bash", test.clone(), "Exit code 1\nexpected 1, got 0", true),
            (after, "Glob", search.clone(), "No files found", false),
        ]
    };
    assert!(codes(&run(session(&calls("/w")))).is_empty(), "the shell is where it was");
    assert_eq!(codes(&run(session(&calls("/w/packages/core")))), ["A220"], "the shell moved");
}

#[test]
fn directories_survive_a_conversion() {
    let list = json!({"command": "ls"});
    let one = run(session(&[
        ("/w", "Bash", list.clone(), "a", false),
        ("/w/a", "Bash", list, "b", false),
    ]));
    let mut bytes = Vec::new();
    let losses = exporter_by_id("toolmark").unwrap().export(&one, &mut bytes).unwrap();
    assert!(losses.is_empty(), "{losses}");
    let back = read(Cursor::new(bytes), "t", &ReadOptions::default()).unwrap().next().unwrap();
    let moves = |run: &Trajectory| -> Vec<(usize, String)> {
        run.moves.iter().map(|moved| (moved.call, moved.to.to_string())).collect()
    };
    assert_eq!(moves(&back), [(1, "/w/a".to_owned())]);
    assert_eq!(moves(&back), moves(&one));
}

#[test]
fn calls_of_one_response_run_one_after_the_other() {
    // Both are recorded before the first has moved the shell.
    let text = session(&[
        ("/w", "Bash", json!({"command": "cd /w/web && make css"}), "ok", false),
        ("/w", "Bash", json!({"command": "make lint"}), "Exit code 2\nno rule", true),
        ("/w/web", "Bash", json!({"command": "cd /w && make lint"}), "Exit code 2\nno rule", true),
    ]);
    let (calls, mut results): (Vec<_>, Vec<_>) =
        text.lines().take(5).partition(|line| !line.contains("\"tool_result\""));
    let calls: Vec<String> = calls.iter().map(|line| line.replace("\"m1\"", "\"m0\"")).collect();
    results.extend(text.lines().skip(5));
    let text = format!("{}\n{}\n", calls.join("\n"), results.join("\n"));
    let findings = Checker::default().check(&run(text)).findings;
    assert!(!findings.iter().any(|finding| finding.code == "R401"), "another directory");
}
