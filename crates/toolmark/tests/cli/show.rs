//! Tests of `toolmark show FILE`.

use crate::{DISK_FULL, EVERYTHING, FLAKY_TEST, run, stdout, toolmark};
use insta::assert_snapshot;
use serde_json::Value;

#[test]
fn a_run_that_goes_wrong() {
    assert_snapshot!(run(&["show", DISK_FULL]));
}

#[test]
fn a_run_that_goes_well() {
    assert_snapshot!(run(&["show", FLAKY_TEST]));
}

#[test]
fn every_kind_of_event() {
    assert_snapshot!(run(&["show", EVERYTHING]));
}

#[test]
fn every_kind_of_event_in_full() {
    assert_snapshot!(run(&["show", EVERYTHING, "--full"]));
}

#[test]
fn calls() {
    assert_snapshot!(run(&["show", EVERYTHING, "--calls"]));
}

#[test]
fn one_step() {
    assert_snapshot!(run(&["show", DISK_FULL, "--step", "1"]));
}

#[test]
fn a_sub_agent_by_its_id() {
    assert_snapshot!(run(&["show", EVERYTHING, "--run", "a77"]));
}

#[test]
fn in_colour_the_words_are_the_same() {
    let coloured = stdout(&["show", DISK_FULL, "--color", "always"]);
    assert!(coloured.contains("\u{1b}[31m\u{2717}\u{1b}[0m"), "a failure is red");
    assert_eq!(without_styles(&coloured), stdout(&["show", DISK_FULL]));
}

/// Removes `ESC [ … m` sequences.
fn without_styles(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or("").to_owned();
    for part in parts {
        plain.push_str(part.split_once('m').unwrap().1);
    }
    plain
}

#[test]
fn no_color_is_heeded() {
    let output = toolmark(&["show", DISK_FULL, "--color", "auto"]).env("NO_COLOR", "1").output();
    assert!(!String::from_utf8(output.unwrap().stdout).unwrap().contains('\u{1b}'));
}

#[test]
fn nothing_in_a_trace_reaches_the_terminal_as_a_command() {
    for view in [&["--full"][..], &["--calls"], &["--format", "json"], &[]] {
        let text = stdout(&[&["show", EVERYTHING], view].concat());
        let obeyed = |c: char| c.is_control() && c != '\n';
        assert!(!text.contains(obeyed), "{view:?}");
    }
}

#[test]
fn secrets_are_masked_in_every_view() {
    for view in [&["--full"][..], &["--calls"], &["--step", "3"], &[]] {
        let masked = run(&[&["show", EVERYTHING], view].concat());
        assert!(!masked.contains("hunter2") && !masked.contains("abcdef0123456789"), "{masked}");
    }
    let all = run(&["show", EVERYTHING, "--full", "--no-redact"]);
    assert!(all.contains("hunter2") && all.contains("abcdef0123456789"));
}

#[test]
fn lines_fit_the_terminal() {
    for columns in ["40", "63", "80", "200"] {
        for file in [DISK_FULL, FLAKY_TEST] {
            let output = toolmark(&["show", file]).env("COLUMNS", columns).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let widest = text.lines().map(|l| l.chars().count()).max().unwrap();
            assert!(widest <= columns.parse().unwrap(), "{file} at {columns}: {widest}");
        }
    }
}

#[test]
fn json_has_what_the_timeline_has() {
    let run: Value =
        serde_json::from_str(&stdout(&["show", EVERYTHING, "--format", "json"])).unwrap();
    assert_eq!(run["format"], "claude-code");
    assert_eq!(run["calls"].as_array().unwrap().len(), 6);
    assert_eq!(run["calls"][3]["status"], "failed");
    assert_eq!(run["calls"][3]["exit_code"], 6);
    assert_eq!(run["calls"][3]["at"]["line"], 15);
    assert_eq!(run["children"][0]["calls"][0]["args"]["json"]["command"], "ls /w");
    assert_eq!(run["usage"]["input"], 30);
    let kinds: Vec<_> = run["events"].as_array().unwrap().iter().map(|e| &e["kind"]).collect();
    for kind in ["context", "user", "compaction", "error", "orphan_result", "unknown", "skill"] {
        assert!(kinds.iter().any(|k| **k == kind), "{kind}");
    }
}

#[test]
fn stdin_is_a_trace() {
    let trace = std::fs::read(crate::root().join(FLAKY_TEST)).unwrap();
    let from_stdin = toolmark(&["show", "-"]).write_stdin(trace).output().unwrap();
    assert_eq!(String::from_utf8(from_stdin.stdout).unwrap(), stdout(&["show", FLAKY_TEST]));
}
