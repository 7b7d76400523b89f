//! Benchmark of grouping a million failures: `cargo run --release -p toolmark-feed --example
//! million [FILE]`, with a file of failures, one JSON line each (tool, input, text), or generated
//! ones.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a measurement for people")]

use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Instant;
use toolmark_feed::role::{command_of, role_of_name};
use toolmark_feed::{FailedCall, IssueId, IssueKey};
use toolmark_hosts::toolset::{ToolRole, Toolsets};
use toolmark_trace::ToolName;

const MANY: usize = 1_000_000;

fn main() {
    let rows: Vec<Value> = match std::env::args().nth(1) {
        Some(file) => {
            let text = std::fs::read_to_string(file).unwrap();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        }
        None => made_up(),
    };
    let toolsets = Toolsets::default();
    // What reading gives: roles, commands and texts are at hand.
    let read: Vec<(ToolRole, &str, &Value, Option<String>, &str)> = rows
        .iter()
        .map(|row| {
            let tool = row["tool"].as_str().unwrap();
            let role = role_of_name(&ToolName::new(tool), Some(&row["input"]), &toolsets);
            let command = command_of(Some(&row["input"])).filter(|_| role == ToolRole::RunsShell);
            (role, tool, &row["input"], command, row["text"].as_str().unwrap())
        })
        .collect();
    let started = Instant::now();
    let mut issues: HashMap<IssueId, u64> = HashMap::new();
    for n in 0..MANY {
        let (role, tool, args, command, text) = &read[n % read.len()];
        let key = IssueKey::of_call(&FailedCall {
            role: *role,
            tool,
            args: Some(args),
            command: command.as_deref(),
            exit_code: None,
            is_denied: false,
            is_interrupted: false,
            error: None,
            text,
        });
        *issues.entry(key.id()).or_default() += 1;
    }
    let seconds = started.elapsed().as_secs_f64();
    println!("{MANY} failures, {} issues, {seconds:.2} s", issues.len());
}

fn made_up() -> Vec<Value> {
    [
        ("Read", json!({"file_path": "/w/a.rs"}), "File does not exist."),
        ("Bash", json!({"command": "gh pr diff 88 --stat"}), "Exit code 1\nunknown flag: --stat\n"),
        ("Bash", json!({"command": "python a.py"}), "Exit code 1\nTraceback (most recent call last):\n  File \"a.py\", line 3\nModuleNotFoundError: No module named 'x'"),
        ("Edit", json!({"file_path": "/w/a.rs"}), "String to replace not found in file."),
        ("Bash", json!({"command": "go test ./..."}), "Exit code 1\n--- FAIL: TestX (0.00s)\nFAIL\nFAIL\tx\t0.1s\nFAIL"),
    ]
    .into_iter()
    .map(|(tool, input, text)| json!({"tool": tool, "input": input, "text": text}))
    .collect()
}
