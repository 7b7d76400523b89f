//! Small files that were once read incorrectly, with the expected result.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use toolmark_testing::find_shared;
use toolmark_trace::{EventKind, LoadedFile, ReadOptions, RecordedCalls, Trajectory, load_path};

/// Reads a file of the readers' test data; `None` if the data is not available.
fn load(name: &str) -> Option<LoadedFile> {
    let dir = find_shared("repro/readers")?;
    Some(load_path(dir.join(name), &ReadOptions::default()).unwrap())
}

/// Returns the calls of a run and its sub-agents, with tool and status.
fn calls(run: &Trajectory) -> Vec<String> {
    let all = run.flatten();
    let all = all.iter().flat_map(|r| &r.calls);
    all.map(|c| format!("{} {}", c.name.full(), c.status)).collect()
}

#[test]
fn a_turn_is_what_a_person_asked() {
    let Some(loaded) = load("min_turns.jsonl") else { return };
    let run = &loaded.runs[0];
    assert_eq!(run.user_turns, 1);
    let asked = run.events.iter().find(|e| e.kind == EventKind::User).unwrap();
    assert_eq!(asked.text.as_ref().unwrap().plain(), "fix the bug");
    assert!(calls(run).is_empty());
}

#[test]
fn calls_that_only_progress_lines_have_are_found() {
    let Some(loaded) = load("min_progress.jsonl") else { return };
    let run = &loaded.runs[0];
    assert_eq!(calls(run), ["Task succeeded", "Bash succeeded"]);
    assert_eq!(run.calls.len(), 1);
    assert!(run.children[0].calls[0].args.as_ref().unwrap().raw().contains("rm -rf /"));
}

#[test]
fn results_before_their_calls_and_two_values_on_a_line() {
    for name in ["min_order.jsonl", "min_concat.jsonl"] {
        let Some(loaded) = load(name) else { return };
        let run = &loaded.runs[0];
        assert_eq!(calls(run), ["Edit succeeded"], "{name}");
        assert_eq!((run.orphans, loaded.skipped), (0, 0), "{name}");
    }
}

#[test]
fn events_of_claude_code_are_calls() {
    let Some(loaded) = load("otel_logs_claude.json") else { return };
    let run = &loaded.runs[0];
    assert_eq!(calls(run), ["Bash failed"]);
    assert_eq!(run.calls[0].args.as_ref().unwrap().raw(), r#"{"command":"npm test"}"#);
    assert_eq!(run.user_turns, 1);
}

#[test]
fn calls_in_the_messages_of_smolagents_are_calls() {
    let Some(loaded) = load("min_smol.json") else { return };
    let run = &loaded.runs[0];
    assert_eq!(calls(run), ["python_interpreter unknown"]);
    let result = run.calls[0].result.as_ref().unwrap().payload.as_ref().unwrap();
    assert_eq!((&*result.plain(), run.orphans, run.user_turns), ("1", 0, 1));
}

#[test]
fn calls_that_are_not_understood_are_not_none() {
    for (name, expected) in [
        ("probe/converse.json", &[][..]),
        ("probe/goose.jsonl", &[]),
        ("probe/hermes_fc.json", &["g unknown"]),
        ("probe/cohere_like.json", &["g unknown"]),
    ] {
        let Some(loaded) = load(name) else { return };
        let run = &loaded.runs[0];
        // The content must not be mistaken for a run without calls.
        let is_known = calls(run) == expected && !expected.is_empty();
        let is_unsure = run.calls_recorded() != RecordedCalls::Fully || !run.calls.is_empty();
        assert!(is_known || is_unsure, "{name}: {:?}", calls(run));
    }
}
