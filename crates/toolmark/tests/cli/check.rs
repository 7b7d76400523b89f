//! `toolmark check` and `toolmark rules`

use crate::{DISK_FULL, FLAKY_TEST, run, sessions, stdout, told, toolmark};
use insta::assert_snapshot;
use serde_json::Value;

/// A session with a repeated read and an edit that does not fit.
const FAULTS: &str = "crates/toolmark/tests/fixtures/faults.jsonl";

#[test]
fn a_scorecard_and_findings() {
    assert_snapshot!(run(&["check", FAULTS]));
}

#[test]
fn a_line_each_when_quiet() {
    assert_snapshot!(run(&["check", FAULTS, "--quiet"]));
}

#[test]
fn nothing_found_is_zero() {
    let text = run(&["check", DISK_FULL, "--select", "S101"]);
    assert!(text.contains("no findings in 1 session"), "{text}");
    assert!(text.ends_with("--- exit 0\n"), "{text}");
}

#[test]
fn exit_codes() {
    for (args, code) in [
        (&["check", FAULTS][..], 1),
        (&["check", FAULTS, "--exit-zero"], 0),
        (&["check", FAULTS, "--fail-on", "never"], 0),
        (&["check", FAULTS, "--select", "S", "--fail-on", "error"], 0),
        (&["check", FAULTS, "--select", "S"], 1),
        (&["check", FAULTS, "--select", "X9"], 2),
        (&["check", FAULTS, "--select", "S101", "--ignore", "S"], 2),
        (&["check", "nowhere.jsonl"], 3),
        (&["check"], 3),
        (&["check", "--explain", "S999"], 2),
    ] {
        let text = run(args);
        assert!(text.ends_with(&format!("--- exit {code}\n")), "{args:?}: {text}");
    }
}

#[test]
fn json_has_the_counts() {
    let output = toolmark(&["check", FAULTS, "--format", "json"]).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let codes: Vec<_> =
        json["findings"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["A202", "S101"]);
    for finding in json["findings"].as_array().unwrap() {
        assert!(finding["evidence"][0]["call"]["place"]["line"].as_u64().unwrap() > 0);
    }
    let read = &json["scorecard"]["tools"]["Read"];
    assert_eq!((&read["calls"], &read["selection"]["of"]), (&2.into(), &2.into()));
    assert_eq!(read["selection"]["rate"], 0.5);
    assert!(read["recovery"]["rate"].is_null());
}

#[test]
fn the_number_of_threads_does_not_show() {
    let files = [FAULTS, DISK_FULL, FLAKY_TEST, FAULTS, "samples/codex", "samples/atif"];
    for format in ["text", "json", "jsonl"] {
        let args = |jobs| [&["check"][..], &files, &["--format", format, "--jobs", jobs]].concat();
        let one = run(&args("1"));
        assert_eq!(one, run(&args("4")), "{format}");
    }
}

#[test]
fn sessions_of_this_machine() {
    let home = sessions::home();
    let at_home = |args: &[&str]| {
        let mut command = toolmark(args);
        command.env("HOME", home.path());
        told(&mut command)
    };
    let count = |args: &[&str]| {
        let text = at_home(args);
        let found = text
            .lines()
            .find_map(|line| line.split(" in ").nth(1)?.split(',').next().map(str::to_owned));
        found.unwrap_or(text)
    };
    assert_eq!(count(&["check"]), "2 sessions");
    assert_eq!(count(&["check", "--since", "1h"]), "1 session");
    assert_eq!(count(&["check", "--limit", "1"]), "1 session");
    assert_eq!(count(&["check", "--project", "/home/mira/src/harbour"]), "1 session");
    assert!(at_home(&["check", "--project", "/home/nobody"]).ends_with("--- exit 3\n"));
    assert!(at_home(&["check", "--since", "soon"]).ends_with("--- exit 2\n"));
}

#[test]
fn secrets_are_masked() {
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    let text = std::fs::read_to_string(crate::root().join(FAULTS)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("secret.jsonl");
    std::fs::write(&file, text.replace("not in this file", &secret)).unwrap();
    let file = file.to_str().unwrap();
    let shown = |args: &[&str]| {
        let output = toolmark(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = shown(&["check", file, "--format", "json"]);
    assert!(text.contains("A202") && !text.contains(&secret), "{text}");
    assert!(shown(&["check", file, "--format", "json", "--no-redact"]).contains(&secret));
}

#[test]
fn rules_are_listed_and_explained() {
    let list = stdout(&["rules"]);
    let json: Value = serde_json::from_str(&stdout(&["rules", "--format", "json"])).unwrap();
    for rule in json.as_array().unwrap() {
        let code = rule["code"].as_str().unwrap();
        assert!(list.lines().any(|line| line.trim_start().starts_with(code)), "{code}");
        assert_eq!(stdout(&["rules", code]), stdout(&["check", "--explain", code]));
    }
    assert_snapshot!(stdout(&["rules", "repeated-read"]));
}
