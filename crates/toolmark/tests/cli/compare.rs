//! Tests of `compare` on the command line.

use crate::{DISK_FULL, FLAKY_TEST, root, run_in, session, toolmark};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn fixtures() -> PathBuf {
    root().join("crates/toolmark/tests/fixtures/compare")
}

fn compare(args: &[&str]) -> String {
    run_in(&fixtures(), &[&["compare"], args].concat())
}

/// Exit code of a comparison in a directory.
fn code(dir: &Path, args: &[&str]) -> i32 {
    let args = [&["compare"], args].concat();
    toolmark(&args).current_dir(dir).output().unwrap().status.code().unwrap()
}

fn json_of(dir: &Path, args: &[&str]) -> Value {
    let args = [&["compare", "--format", "json"], args].concat();
    let output = toolmark(&args).current_dir(dir).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn every_format() {
    let gates =
        ["before.json", "after.json", "--fail-on", "regression", "--fail-on", "significant"];
    for format in ["text", "markdown", "json", "html"] {
        let mut page = compare(&[&gates[..], &["--format", format]].concat());
        if let Some((_, rest)) = page.split_once("<main id=\"static\">") {
            // Script and styles are those of every page.
            page = rest
                .rsplit_once("<script type=\"text/javascript\">")
                .unwrap()
                .0
                .replace('>', ">\n");
        }
        assert_snapshot!(format!("compare_{format}"), page);
    }
}

#[test]
fn by_target_and_by_grader() {
    assert_snapshot!(session(
        &fixtures(),
        &[
            &[
                "compare",
                "run-a.jsonl",
                "run-b.jsonl",
                "--by",
                "target",
                "--fail-on",
                "significant"
            ],
            &["compare", "before.json", "after.json", "--by", "grader", "--format", "markdown"],
            &["compare", "before.json", "after.json", "--quiet"],
        ],
    ));
}

#[test]
fn the_targets_of_one_run_side_by_side() {
    assert_snapshot!(session(
        &fixtures(),
        &[
            &["compare", "run-a.jsonl", "--by", "target"],
            &["compare", "run-a.jsonl", "--by", "target", "--format", "markdown"],
            &["compare", "run-a.jsonl"],
            &["compare", "before.json", "--by", "target"],
        ],
    ));
    let found = json_of(&fixtures(), &["run-a.jsonl", "--by", "target"]);
    let table = &found["targets"];
    let names = table["targets"].as_array().unwrap();
    let cells = table["cases"][0]["cells"].as_array().unwrap();
    assert_eq!((names.len(), cells.len()), (2, 2));
    assert_eq!(table["pairs"].as_array().unwrap().len(), 1);
    assert_eq!(found["verdict"], Value::Null);
}

#[test]
fn lines_and_directories_are_reports_too() {
    let fixtures = fixtures();
    let of = |after: &str| {
        let mut found = json_of(&fixtures, &["before.json", after]);
        found["after"] = Value::Null;
        found
    };
    let want = of("after.json");
    assert_eq!(of("after.jsonl"), want);
    let dir = tempfile::tempdir().unwrap();
    fs::copy(fixtures.join("after.json"), dir.path().join("report.json")).unwrap();
    assert_eq!(of(dir.path().to_str().unwrap()), want);
    let mut stdin = toolmark(&["compare", "-", "after.json", "--format", "json"]);
    let text = fs::read(fixtures.join("before.json")).unwrap();
    let output = stdin.current_dir(&fixtures).write_stdin(text).output().unwrap();
    let mut found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["before"], "standard input");
    (found["before"], found["after"]) = (want["before"].clone(), Value::Null);
    assert_eq!(found, want);
}

#[test]
fn exit_codes_tell_worse_from_unknown() {
    let fixtures = fixtures();
    let dir = tempfile::tempdir().unwrap();
    let outcome = |case: &str, verdict: &str, score: Value| json!({"type": "outcome", "case": case, "trial": 0, "verdict": verdict, "score": score});
    let write = |name: &str, outcomes: &[Value]| {
        let report = json!({"toolmark": "0.1.0", "outcomes": outcomes});
        fs::write(dir.path().join(name), report.to_string()).unwrap();
    };
    write("pass.json", &[outcome("a", "pass", json!(1.0))]);
    write("unknown.json", &[outcome("a", "unknown", json!(null))]);
    write("fail.json", &[outcome("a", "fail", json!(0.0))]);
    write("other.json", &[outcome("b", "pass", json!(1.0))]);
    write("none.json", &[]);
    for (a, b, regression, significant) in [
        ("pass.json", "pass.json", 0, 0),
        ("pass.json", "fail.json", 1, 3),
        ("fail.json", "pass.json", 0, 0),
        ("pass.json", "unknown.json", 3, 3),
        ("unknown.json", "fail.json", 3, 3),
        ("unknown.json", "pass.json", 0, 3),
        ("unknown.json", "unknown.json", 0, 3),
        ("fail.json", "unknown.json", 0, 3),
        ("pass.json", "other.json", 3, 3),
        ("none.json", "none.json", 3, 3),
    ] {
        assert_eq!(code(dir.path(), &[a, b]), regression, "{a} {b}");
        assert_eq!(code(dir.path(), &[a, b, "--fail-on", "never"]), 0, "{a} {b}");
        assert_eq!(code(dir.path(), &[a, b, "--fail-on", "regression"]), regression, "{a} {b}");
        assert_eq!(code(dir.path(), &[a, b, "--fail-on", "significant"]), significant, "{a} {b}");
    }
    let (a, b) = ("run-a.jsonl", "run-b.jsonl");
    for (a, b, want) in [(a, b, 1), (b, a, 0), (a, a, 0)] {
        for on in ["regression", "significant", "regression,significant"] {
            assert_eq!(code(&fixtures, &[a, b, "--fail-on", on]), want, "{a} {b} {on}");
        }
    }
}

#[test]
fn a_run_does_not_differ_from_itself() {
    for name in ["before.json", "after.jsonl", "run-a.jsonl"] {
        let text = compare(&[name, name, "--fail-on", "regression"]);
        assert!(text.contains("no case differs") && text.ends_with("--- exit 0\n"), "{text}");
    }
}

#[test]
fn one_target_against_another() {
    let dir = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(fixtures().join("run-b.jsonl")).unwrap();
    for target in ["codex", "claude-code"] {
        let mark = format!("\"target\":\"{target}\"");
        let lines = text.lines().filter(|line| line.contains(&mark));
        let lines: String = lines.map(|line| format!("{line}\n")).collect();
        fs::create_dir(dir.path().join(target)).unwrap();
        fs::write(dir.path().join(target).join("trials.jsonl"), lines).unwrap();
    }
    assert_snapshot!(run_in(dir.path(), &["compare", "codex", "claude-code", "--by", "target"]));
}

/// Writes reports of `check`: of a session, of its first half, and of another session.
fn checked(dir: &Path) {
    let whole = fs::read_to_string(root().join(DISK_FULL)).unwrap();
    fs::write(dir.join("session.jsonl"), &whole).unwrap();
    let half: String = whole.lines().take(18).map(|line| format!("{line}\n")).collect();
    fs::create_dir(dir.join("half")).unwrap();
    fs::write(dir.join("half/session.jsonl"), half).unwrap();
    fs::copy(root().join(FLAKY_TEST), dir.join("other.jsonl")).unwrap();
    for (trace, report) in
        [("session.jsonl", "whole"), ("half/session.jsonl", "half"), ("other.jsonl", "another")]
    {
        for format in ["json", "jsonl"] {
            let file = format!("{format}={report}.{format}");
            let args = ["check", trace, "--gate=recovery >= 0.1", "--report", &file, "--exit-zero"];
            let output = toolmark(&args).current_dir(dir).output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
    }
}

#[test]
fn findings_are_new_and_gone() {
    let dir = tempfile::tempdir().unwrap();
    checked(dir.path());
    let fail = ["--fail-on", "regression"];
    assert_snapshot!(session(
        dir.path(),
        &[
            &[&["compare", "half.json", "whole.json"], &fail[..]].concat(),
            &[&["compare", "whole.json", "half.json"], &fail[..]].concat(),
            &["compare", "whole.json", "another.json", "--format", "markdown"],
            &["compare", "whole.jsonl", "half.json", "--quiet"],
        ],
    ));
    let page = run_in(dir.path(), &["compare", "half.json", "whole.json", "--format", "html"]);
    assert!(page.contains("I301") && page.contains("<td>new</td>"), "{page}");
    for name in ["whole.json", "whole.jsonl"] {
        let found = json_of(dir.path(), &[name, name, "--fail-on", "regression"]);
        assert_eq!(found["checked"]["new"], json!([]));
        assert_eq!(found["checked"]["gone"], json!([]));
        assert_eq!(found["verdict"], "pass", "{name}");
    }
    let [lines, object] = ["jsonl", "json"].map(|format| {
        json_of(dir.path(), &[&format!("half.{format}"), &format!("whole.{format}")])
    });
    for key in ["new", "gone", "known", "faults", "per_100_calls", "measures", "gates"] {
        assert!(!object["checked"][key].is_null(), "{key}");
        assert_eq!(lines["checked"][key], object["checked"][key], "{key}");
    }
}

#[test]
fn what_is_no_report_is_named_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    let good = fs::read_to_string(fixtures().join("before.json")).unwrap();
    let lines = fs::read_to_string(fixtures().join("after.jsonl")).unwrap();
    write("good.json", &good);
    write("empty.json", "");
    write("newer.json", &good.replace("\"0.1.0\"", "\"7.2.0\""));
    write("cut.json", good.get(..900).unwrap());
    write("cut.jsonl", lines.get(..1500).unwrap());
    write("odd.json", &good.replacen("\"pass\"", "\"passed\"", 1));
    write("vally.jsonl", "{\"type\":\"trial-result\"}\n");
    write("trace.jsonl", &fs::read_to_string(root().join(DISK_FULL)).unwrap());
    write("sarif.json", "{\"version\":\"2.1.0\",\"runs\":[]}");
    fs::write(dir.path().join("bytes.json"), b"{\n\"outcomes\": [\xff]}").unwrap();
    fs::create_dir(dir.path().join("nothing")).unwrap();
    let check = toolmark(&["check", DISK_FULL, "--format", "json"]).output().unwrap().stdout;
    write("check.json", &String::from_utf8(check).unwrap());
    let bad = [
        "empty.json",
        "newer.json",
        "cut.json",
        "cut.jsonl",
        "odd.json",
        "vally.jsonl",
        "trace.jsonl",
        "sarif.json",
        "bytes.json",
        "nothing",
        "missing.json",
        "check.json",
    ];
    let lines: Vec<[&str; 3]> = bad.iter().map(|name| ["compare", "good.json", name]).collect();
    let mut lines: Vec<&[&str]> = lines.iter().map(|line| &line[..]).collect();
    lines.push(&["compare", "check.json", "check.json", "--by", "target"]);
    lines.push(&["compare", "-", "-"]);
    let text = session(dir.path(), &lines);
    // An empty, a missing and a binary file could not be read.
    assert_eq!(text.matches("--- exit 3").count(), 3, "{text}");
    assert_eq!(text.matches("--- exit 2").count(), lines.len() - 3, "{text}");
    assert_snapshot!(text);
}

const SPEC: &str = "\
cases:
  - id: good
    expect: {sequence: [search, save], forbidden: [rm]}
  - id: bad
    expect: {sequence: [search, save], forbidden: [rm]}
";

/// Returns one trace per case that calls these tools.
fn traces(cases: &[(&str, &[&str])]) -> String {
    let one = |(id, tools): &(&str, &[&str])| {
        let calls: Vec<Value> =
            tools.iter().map(|tool| json!({"tool": tool, "input": {}})).collect();
        let message = json!({"role": "assistant", "content": "done", "tool_calls": calls});
        format!("{}\n", json!({"id": id, "output_messages": [message]}))
    };
    cases.iter().map(one).collect()
}

#[test]
fn a_baseline_forgives_what_failed_before() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write("spec.yaml", SPEC);
    let (right, wrong): (&[&str], &[&str]) = (&["search", "save"], &["save", "rm"]);
    write("main.jsonl", &traces(&[("good", right), ("bad", wrong)]));
    write("same.jsonl", &traces(&[("bad", wrong), ("good", right)]));
    write("worse.jsonl", &traces(&[("good", wrong), ("bad", wrong)]));
    write("fixed.jsonl", &traces(&[("good", right), ("bad", right)]));
    write("missing.jsonl", &traces(&[("bad", wrong)]));
    let more = format!("{SPEC}  - id: fresh\n    expect: {{sequence: [search, save]}}\n");
    write("more.yaml", &more);
    write("more.jsonl", &traces(&[("good", right), ("bad", wrong), ("fresh", wrong)]));
    let grade = |args: &[&str]| run_in(dir.path(), &[&["grade"], args].concat());
    let made = grade(&["spec.yaml", "main.jsonl", "--report", "json=main.json"]);
    assert!(made.ends_with("--- exit 1\n"), "{made}");
    for (spec, traces, exit) in [
        ("spec.yaml", "same.jsonl", 0),
        ("spec.yaml", "fixed.jsonl", 0),
        ("spec.yaml", "worse.jsonl", 1),
        ("spec.yaml", "missing.jsonl", 3),
        ("more.yaml", "more.jsonl", 1),
    ] {
        let said = grade(&[spec, traces, "--baseline", "main.json"]);
        assert!(said.ends_with(&format!("--- exit {exit}\n")), "{traces}: {said}");
    }
    let one = grade(&["spec.yaml", "same.jsonl", "--case", "bad", "--baseline", "main.json"]);
    assert!(one.contains("only in main.json: good") && one.ends_with("--- exit 0\n"), "{one}");
    let zero = grade(&["spec.yaml", "worse.jsonl", "--baseline", "main.json", "--exit-zero"]);
    assert!(zero.ends_with("--- exit 0\n"), "{zero}");
    assert_snapshot!(grade(&["spec.yaml", "worse.jsonl", "--baseline", "main.json"]));

    // The comparison is in the reports that have a place for it, and these are still reports.
    for format in ["json", "jsonl", "markdown", "html"] {
        let report = format!("{format}=out.{format}");
        grade(&["spec.yaml", "worse.jsonl", "--baseline", "main.json", "--report", &report]);
        let text = fs::read_to_string(dir.path().join(format!("out.{format}"))).unwrap();
        assert!(text.contains("1 case that passed fails now"), "{format}: {text}");
    }
    for report in ["out.json", "out.jsonl"] {
        assert_eq!(code(dir.path(), &["main.json", report, "--fail-on", "regression"]), 1);
        assert_eq!(code(dir.path(), &[report, report, "--fail-on", "regression"]), 0);
    }
    let found = json_of(dir.path(), &["main.json", "out.json"]);
    let calls = &found["graded"]["total"]["measures"]["calls"];
    assert_eq!(
        (&calls["of"], &calls["before"], &calls["after"]),
        (&json!(2), &json!(4.0), &json!(4.0))
    );

    write("check.json", "{\"findings\": [], \"trajectories\": []}");
    let refused = grade(&["spec.yaml", "same.jsonl", "--baseline", "check.json"]);
    assert!(refused.contains("was not graded") && refused.ends_with("--- exit 2\n"), "{refused}");
}
