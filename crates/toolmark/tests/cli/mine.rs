//! Tests of `toolmark mine`.

use crate::{session, toolmark};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A call, in the format of rows.
fn call(tool: &str, input: Value) -> Value {
    json!({"role": "assistant", "tool_calls": [{"tool": tool, "input": input, "output": "ok", "status": "ok"}]})
}

/// A run with this prompt and these calls.
fn row(id: &str, prompt: &str, calls: Vec<Value>) -> String {
    let mut messages = vec![json!({"role": "user", "content": prompt})];
    messages.extend(calls);
    messages.push(json!({"role": "assistant", "content": "done"}));
    format!("{}\n", json!({"id": id, "output_messages": messages}))
}

/// Calls that book a flight: search, price and weather in any order, then the booking.
fn booked(n: usize) -> Vec<Value> {
    let mut between = vec![
        call("get_price", json!({"flight": "AF12", "at": format!("2026-03-{:02}", 10 + n)})),
        call("get_weather", json!({"city": "Paris"})),
    ];
    if n % 2 == 1 {
        between.reverse();
    }
    if n == 2 {
        between.push(call("get_weather", json!({"city": "Paris"})));
    }
    let mut calls = vec![call("search_flights", json!({"to": "Paris", "limit": n}))];
    calls.extend(between);
    let file = format!("/home/user{n}/tickets/paris.pdf");
    calls.push(call("book", json!({"flight": "AF12", "seat": format!("{n}A")})));
    calls.push(call("save", json!({"path": file})));
    calls
}

/// Writes six runs that passed and two that failed.
fn runs(dir: &Path) {
    let good: String =
        (0..6).map(|n| row(&format!("good-{n}"), "Book a flight to Paris", booked(n))).collect();
    let mut too_early = booked(1);
    too_early.swap(0, 3);
    let mut deleted = booked(2);
    deleted.push(call("delete_booking", json!({"flight": "AF12"})));
    let bad = row("bad-0", "Book a flight to Paris", too_early)
        + &row("bad-1", "Book a flight to Paris", deleted);
    fs::write(dir.join("good.jsonl"), good).unwrap();
    fs::write(dir.join("bad.jsonl"), bad).unwrap();
}

/// Returns exit code, stdout and stderr.
fn run(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let output = toolmark(args).current_dir(dir).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn mined(dir: &Path, args: &[&str]) -> String {
    let (code, spec, said) = run(dir, args);
    assert_eq!(code, 0, "{said}");
    fs::write(dir.join("toolmark.yaml"), &spec).unwrap();
    spec
}

#[test]
fn what_runs_have_in_common_and_what_tells_them_apart() {
    let dir = tempfile::tempdir().unwrap();
    runs(dir.path());
    let lines: [&[&str]; 2] =
        [&["mine", "good.jsonl"], &["mine", "good.jsonl", "--fail", "bad.jsonl"]];
    assert_snapshot!(session(dir.path(), &lines));
}

#[test]
fn the_spec_lints_and_grades() {
    let dir = tempfile::tempdir().unwrap();
    runs(dir.path());
    mined(dir.path(), &["mine", "good.jsonl", "--fail", "bad.jsonl"]);
    let lint = |args: &[&str]| {
        let (code, out, said) =
            run(dir.path(), &[&["lint", "--strict", "toolmark.yaml"], args].concat());
        assert_eq!(code, 0, "{out}{said}");
    };
    lint(&[]);
    lint(&["--vacuity", "--traces", "good.jsonl", "bad.jsonl"]);
    assert_eq!(run(dir.path(), &["grade", "toolmark.yaml", "good.jsonl"]).0, 0);
    let (code, out, _) =
        run(dir.path(), &["grade", "toolmark.yaml", "bad.jsonl", "--format", "json"]);
    let result: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, result["summary"]["failed"].as_u64()), (1, Some(2)), "{out}");
}

#[test]
fn a_spec_says_who_passed() {
    let dir = tempfile::tempdir().unwrap();
    runs(dir.path());
    let all = fs::read_to_string(dir.path().join("good.jsonl")).unwrap()
        + &fs::read_to_string(dir.path().join("bad.jsonl")).unwrap()
        // The calls of this run are unknown.
        + "{\"test_id\":\"a\",\"target\":\"t\",\"score\":1,\"output\":\"done\"}\n";
    fs::write(dir.path().join("all.jsonl"), all).unwrap();
    let rule = "expect: {forbidden: [delete_booking], sequence: [search_flights, book]}\n";
    fs::write(dir.path().join("rule.yaml"), rule).unwrap();
    let args = ["mine", "all.jsonl", "--pass-if", "rule.yaml"];
    let (code, spec, said) = run(dir.path(), &args);
    assert_eq!(code, 0, "{said}");
    assert!(spec.contains("# From 6 runs that passed, compared with 2 that failed."), "{spec}");
    assert!(said.contains("1 run left out because its verdict is unknown"), "{said}");
    fs::write(dir.path().join("broken.yaml"), "expekt: {}\n").unwrap();
    assert_eq!(run(dir.path(), &["mine", "all.jsonl", "--pass-if", "broken.yaml"]).0, 2);
}

#[test]
fn cases_are_mined_apart() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for n in 0..5 {
        text += &row(&format!("a{n}"), "List the files", vec![call("list", json!({"n": n}))]);
        text += &row(&format!("b{n}"), "Say hello", Vec::new());
    }
    text += &row("c", "Something else", vec![call("other", json!({}))]);
    fs::write(dir.path().join("runs.jsonl"), text).unwrap();
    let lines: [&[&str]; 1] = [&["mine", "runs.jsonl"]];
    assert_snapshot!(session(dir.path(), &lines));
    mined(dir.path(), &["mine", "runs.jsonl"]);
    let (code, ..) = run(dir.path(), &["grade", "toolmark.yaml", "runs.jsonl"]);
    assert_eq!(code, 0);
    assert!(!mined(dir.path(), &["mine", "runs.jsonl", "--by", "all"]).contains("cases:"));
}

#[test]
fn one_run_says_little_and_none_says_nothing() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("one.jsonl"), row("a", "go", booked(0))).unwrap();
    let spec = mined(dir.path(), &["mine", "one.jsonl"]);
    assert!(
        spec.contains("            - book  # the only run")
            || spec.contains("- book  # the only run")
    );
    assert!(spec.contains("# No cross-validation"), "{spec}");
    assert_eq!(run(dir.path(), &["lint", "--strict", "toolmark.yaml"]).0, 0);
    let unrecorded = "{\"test_id\":\"a\",\"target\":\"t\",\"score\":1,\"output\":\"done\"}\n";
    fs::write(dir.path().join("none.jsonl"), unrecorded).unwrap();
    let lines: [&[&str]; 2] = [&["mine", "none.jsonl"], &["mine", "none.jsonl", "one.jsonl", "-q"]];
    let shown = session(dir.path(), &lines);
    assert!(shown.contains("1 run record"), "{shown}");
}

#[test]
fn threads_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..9 {
        let text = row(&format!("r{n}"), "Book a flight to Paris", booked(n));
        fs::write(dir.path().join(format!("r{n}.json")), text).unwrap();
    }
    let one = run(dir.path(), &["mine", ".", "--jobs", "1"]);
    assert_eq!(one.0, 0, "{}", one.2);
    assert_eq!(one, run(dir.path(), &["mine", ".", "--jobs", "4"]));
}

#[test]
fn secrets_and_hostile_text_do_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let token = concat!("ghp_", "0123456789abcdefghij0123456789abcdef");
    let hostile = "x\"}]\ncases: []\u{1b}[2J # \u{202e}";
    let calls = |n: usize| {
        vec![
            call("login", json!({"token": token, "password": "correct horse", "n": n})),
            call("odd\nname: *", json!({"text": hostile, "key: [": "a"})),
            call("/.*/", json!({"a.b": {"c[0]": "it's"}})),
        ]
    };
    let text: String = (0..5).map(|n| row(&format!("r{n}"), hostile, calls(n))).collect();
    fs::write(dir.path().join("runs.jsonl"), text).unwrap();
    let spec = mined(dir.path(), &["mine", "runs.jsonl"]);
    assert!(!spec.contains(token) && !spec.contains("correct horse"), "{spec}");
    assert!(!spec.contains(['\u{1b}', '\u{202e}']), "{spec}");
    assert!(spec.contains("cases: []\\u001b"), "quoted, not obeyed\n{spec}");
    assert_eq!(run(dir.path(), &["lint", "--strict", "toolmark.yaml"]).0, 0, "{spec}");
    let (code, out, _) = run(dir.path(), &["grade", "toolmark.yaml", "runs.jsonl"]);
    assert_eq!(code, 0, "{out}\n{spec}");
}
