//! Compares the OTLP data of Claude Code and Codex with the session files of the same runs.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Cursor;
use std::path::Path;
use toolmark_testing::{files_below, find_shared};
use toolmark_trace::{Fact, ReadOptions, RecordedCalls, Trajectory, read, read_path};

/// A call: tool, arguments and whether it failed.
type Facts = (String, Option<serde_json::Value>, bool);

fn calls(run: &Trajectory) -> Vec<Facts> {
    let facts = |c: &toolmark_trace::Call| {
        (c.name.full().into_owned(), c.args.as_ref().map(|a| a.to_value()), c.status.is_error())
    };
    run.calls.iter().map(facts).collect()
}

/// Returns all requests of a directory whose names contain `part`, one per line.
fn requests(directory: &Path, part: &str) -> Vec<u8> {
    let mut all = Vec::new();
    for file in files_below(directory) {
        if file.to_string_lossy().contains(part) {
            all.extend(std::fs::read(&file).unwrap());
            all.push(b'\n');
        }
    }
    all
}

/// Returns all binary requests of a directory, each with a length prefix.
fn binary_requests(directory: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for file in files_below(directory).iter().filter(|f| f.extension().is_some_and(|e| e == "pb")) {
        let bytes = std::fs::read(file).unwrap();
        let mut length = bytes.len();
        while length >= 0x80 {
            all.push((length & 0x7f) as u8 | 0x80);
            length >>= 7;
        }
        all.push(length as u8);
        all.extend(bytes);
    }
    all
}

fn runs(bytes: Vec<u8>) -> Vec<Trajectory> {
    let mut runs = read(Cursor::new(bytes), "requests", &ReadOptions::default()).unwrap();
    let all: Vec<_> = runs.by_ref().collect();
    assert_eq!(runs.skipped(), 0);
    all
}

#[test]
fn claude_code_sends_the_calls_of_its_session_but_those_it_refuses() {
    let Some(dir) = find_shared("otel") else { return };
    let session = dir.join("claude-code-2.1.197-session.jsonl");
    let session = read_path(session, &ReadOptions::default()).unwrap().next().unwrap();
    // Edits that failed validation are not sent, under any setting.
    let mut expected = calls(&session);
    let before = expected.len();
    expected.retain(|(name, ..)| name != "Edit");
    assert_eq!(before - expected.len(), 2);
    assert!(expected.iter().filter(|c| c.2).count() >= 3);

    let all = dir.join("claude-code-2.1.197-otlp-json-all");
    let default = dir.join("claude-code-2.1.197-otlp-json-default");
    let binary = dir.join("claude-code-2.1.197-otlp-protobuf-default");
    for (name, bytes, has_args) in [
        ("all", requests(&all, ".json"), true),
        ("logs of all", requests(&all, "_v1_logs"), true),
        ("traces of all", requests(&all, "_v1_traces"), false),
        ("default", requests(&default, ".json"), false),
        ("binary", binary_requests(&binary), false),
    ] {
        let runs = runs(bytes);
        let run = &runs[0];
        let found = calls(run);
        let plain = |calls: &[Facts]| -> Vec<(String, bool)> {
            calls.iter().map(|(name, _, failed)| (name.clone(), *failed)).collect()
        };
        assert_eq!(plain(&found), plain(&expected), "{name}");
        if has_args {
            let args = |calls: &[Facts]| calls.iter().map(|c| c.1.clone()).collect::<Vec<_>>();
            if name != "all" {
                assert_eq!(args(&found), args(&expected), "{name}");
            }
        }
        assert!(run.fidelity.lacks(Fact::Calls), "{name}");
        assert_eq!(run.calls_recorded(), RecordedCalls::Partly, "{name}");
        assert_eq!(run.user_turns, 1, "{name}");
    }
}

#[test]
fn codex_sends_the_calls_of_its_session() {
    let Some(dir) = find_shared("otel") else { return };
    let rollout = dir.join("codex-0.166.0-rollout.jsonl");
    let session = read_path(rollout, &ReadOptions::default()).unwrap().next().unwrap();
    let expected = calls(&session);
    let requests_of = |part| requests(&dir.join("codex-0.166.0-otlp-json"), part);
    for part in [".json", "_v1_logs"] {
        let runs = runs(requests_of(part));
        let run = runs.iter().find(|r| r.id == session.id).unwrap();
        assert_eq!(calls(run), expected, "{part}");
        let codes = |run: &Trajectory| run.calls.iter().map(|c| c.exit_code).collect::<Vec<_>>();
        assert_eq!(codes(run), codes(&session), "{part}");
    }
    // Spans have no arguments, no output, and so no way to tell how a command ended.
    let runs = runs(requests_of("_v1_traces"));
    let run = runs.iter().find(|r| r.id == session.id).unwrap();
    let names: Vec<_> = run.calls.iter().map(|c| c.name.full()).collect();
    assert_eq!(names, expected.iter().map(|c| c.0.as_str()).collect::<Vec<_>>());
    for gap in [Fact::Arguments, Fact::Results, Fact::Status] {
        assert!(run.fidelity.lacks(gap), "{gap}");
    }
}
