//! Tests of unreadable input and invalid command lines.

use crate::{DISK_FULL, FLAKY_TEST, root, run, run_in, session};
use insta::assert_snapshot;
use std::fs;

/// A session with noise between its lines and a truncated last line.
fn damaged() -> String {
    let whole = fs::read_to_string(root().join(FLAKY_TEST)).unwrap();
    let mut lines: Vec<String> = whole.lines().take(9).map(str::to_owned).collect();
    for n in 1..=6 {
        lines.insert(2 * n, format!("[{n}] starting with password=hunter2 \u{1b}[31mnow\u{1b}[0m"));
    }
    let last: String = whole.lines().nth(9).unwrap().chars().take(600).collect();
    lines.join("\n") + "\n" + &last
}

#[test]
fn skipped_lines_are_shown_with_their_place() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("damaged.jsonl"), damaged()).unwrap();
    assert_snapshot!(run_in(dir.path(), &["stats", "damaged.jsonl"]));
    let all = run_in(dir.path(), &["stats", "damaged.jsonl", "--verbose"]);
    assert_eq!(all.matches("skipped: ").count(), 7, "{all}");
    let quiet = run_in(dir.path(), &["stats", "damaged.jsonl", "--quiet"]);
    assert!(!quiet.contains("stderr") && quiet.ends_with("--- exit 3\n"), "{quiet}");
    let shown = run_in(dir.path(), &["show", "damaged.jsonl"]);
    assert!(shown.contains("\u{2026} and 2 more") && shown.ends_with("--- exit 3\n"), "{shown}");
}

#[test]
fn files_that_cannot_be_read() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("empty.jsonl"), "").unwrap();
    fs::write(dir.path().join("hello.txt"), "hello\n").unwrap();
    let files = ["stats", "empty.jsonl", "hello.txt", "missing.jsonl", "none*.jsonl"];
    assert_snapshot!(run_in(dir.path(), &files));
    assert_snapshot!(
        "unread_json",
        run_in(dir.path(), &["stats", "empty.jsonl", "--format", "json"])
    );
    assert_snapshot!("unread_show", run_in(dir.path(), &["show", "hello.txt"]));
}

#[test]
fn an_empty_file_in_a_directory_counts() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("empty.jsonl"), "").unwrap();
    let text = run_in(dir.path(), &["stats", "."]);
    assert!(text.contains("empty.jsonl: it is empty") && text.ends_with("--- exit 3\n"), "{text}");
}

#[test]
fn usage() {
    let asked = [
        &["show", DISK_FULL, "--step", "40"][..],
        &["show", DISK_FULL, "--run", "7"],
        &["show", DISK_FULL, "--run", "zzz"],
        &["show", DISK_FULL, "--format", "json", "--calls"],
        &["show", "samples"],
        &["show", "no-such-session"],
        &["show"],
    ];
    assert_snapshot!(session(&root(), &asked));
}

#[test]
fn an_unknown_format_suggests_the_nearest() {
    let text = run(&["stats", "--as", "claud-code", DISK_FULL]);
    assert!(text.contains("a similar value exists: 'claude-code'"), "{text}");
    assert!(text.ends_with("--- exit 2\n"), "{text}");
}

#[test]
fn help_has_examples_everywhere() {
    for command in [
        &["--help"][..],
        &["show", "-h"],
        &["stats", "-h"],
        &["grade", "-h"],
        &["lint", "-h"],
        &["init", "-h"],
        &["graders", "-h"],
        &["schema", "-h"],
        &["formats", "-h"],
        &["completions", "-h"],
        &["help", "-h"],
        &["man", "-h"],
    ] {
        let help = crate::stdout(command);
        assert!(help.contains("Examples:\n  toolmark "), "{command:?}");
        assert!(help.lines().all(|l| l.chars().count() <= 100), "{help}");
    }
    assert_snapshot!(crate::stdout(&["--help"]));
    assert!(run(&[]).ends_with("--- exit 2\n"));
}
