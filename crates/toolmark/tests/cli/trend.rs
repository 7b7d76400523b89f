//! Tests of `toolmark trend`.

use crate::{run, toolmark};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Writes a session of Claude Code that started on a day of March 2026, with ten calls of `ms`
/// milliseconds each, of which `failed` fail.
fn session(folder: &Path, day: usize, failed: usize, ms: usize, version: &str) {
    let mut lines = Vec::new();
    let record = |kind: &str, n: usize, at: usize, content: Value| {
        json!({
            "type": kind, "parentUuid": null, "sessionId": format!("s{day}"), "uuid": format!("{kind}-{day}-{n}"),
            "cwd": "/w", "version": version,
            "timestamp": format!("2026-03-{day:02}T09:{n:02}:{:02}.{:03}Z", at / 1000, at % 1000),
            "message": {"role": kind, "id": format!("m{day}-{n}"), "model": "swan", "content": [content],
                "usage": {"input_tokens": 100, "output_tokens": 10}},
        })
    };
    for n in 0..10 {
        let id = format!("c{day}-{n}");
        let call = json!({"type": "tool_use", "id": id, "name": "Fetch", "input": {"n": n}});
        let result = json!({"type": "tool_result", "tool_use_id": id, "is_error": n < failed, "content": "Error: x"});
        lines.push(record("assistant", n, 0, call));
        lines.push(record("user", n, ms, result));
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(folder.join(format!("{day:02}.jsonl")), text).unwrap();
}

/// Four weeks of sessions; from the third week on, a new version fails and is slow.
fn sessions() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for day in 2..30 {
        match day {
            ..16 => session(dir.path(), day, 1, 100 + day, "2.1.0"),
            _ => session(dir.path(), day, 5, 900 + day, "2.2.0"),
        }
    }
    dir
}

fn trend(dir: &Path, args: &[&str]) -> Value {
    let args = [&["trend", ".", "--format", "json"], args].concat();
    let output = toolmark(&args).current_dir(dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn series<'t>(trend: &'t Value, measure: &str, tool: Option<&str>) -> &'t Value {
    let all = trend["series"].as_array().unwrap();
    let is_one = |one: &&Value| one["measure"] == measure && one["tool"].as_str() == tool;
    all.iter().find(is_one).unwrap_or_else(|| panic!("no {measure}: {trend:#}"))
}

#[test]
fn changes_for_people() {
    let dir = sessions();
    let args =
        ["trend", ".", "--measure", "failures", "--measure", "latency", "--measure", "tokens"];
    let text = crate::run_in(dir.path(), &args);
    assert_snapshot!(text);
}

#[test]
fn changes_for_programs() {
    let dir = sessions();
    let trend = trend(dir.path(), &[]);
    assert_eq!(trend["format"], "toolmark.trend.v1");
    let failures = series(&trend, "failures", None);
    let change = &failures["changes"][0];
    assert_eq!(
        (&change["at"], &change["before"], &change["after"]),
        (&json!("2026-W12"), &json!(0.1), &json!(0.5))
    );
    assert_eq!(change["suspects"][0]["to"], "claude-code 2.2.0");
    // Exact: the 70 calls of a week take 102 to 108 ms, ten of each.
    let p95 = series(&trend, "latency.p95", Some("Fetch"));
    assert_eq!((&p95["points"][0]["value"], &p95["points"][0]["of"]), (&json!(108.0), &json!(70)));
    assert_eq!(series(&trend, "tokens", None)["points"][0]["value"], json!(1100.0));
    assert_eq!(series(&trend, "tokens", None)["changes"], json!([]));
    // Nothing has a price, and no trace records a cost.
    let all = trend["series"].as_array().unwrap();
    assert!(all.iter().all(|one| one["measure"] != "cost" && one["measure"] != "recorded-cost"));
}

#[test]
fn by_day_version_and_model() {
    let dir = sessions();
    let only = ["--measure", "failures"];
    let days = trend(dir.path(), &[&["--by", "day"], &only[..]].concat());
    assert_eq!(days["buckets"].as_array().unwrap().len(), 28);
    assert_eq!(series(&days, "failures", None)["changes"][0]["at"], "2026-03-16");
    let versions = trend(dir.path(), &[&["--by", "version"], &only[..]].concat());
    assert_eq!(versions["buckets"][1]["name"], "claude-code 2.2.0");
    assert_eq!(series(&versions, "failures", None)["changes"][0]["suspects"], json!([]));
    let models = trend(dir.path(), &[&["--by", "model"], &only[..]].concat());
    assert_eq!(series(&models, "failures", None)["untested"], "there is only one bucket");
}

#[test]
fn every_format_has_the_measures() {
    let dir = sessions();
    for format in ["text", "json", "jsonl", "markdown", "html", "csv"] {
        let text = crate::run_in(dir.path(), &["trend", ".", "--format", format]);
        assert!(text.contains("2026-W12") && text.ends_with("--- exit 0\n"), "{format}: {text}");
    }
    let html = crate::run_in(dir.path(), &["trend", ".", "--format", "html"]);
    assert!(html.contains("<svg class=\"series\"") && !html.contains("NaN"), "{html}");
    let csv =
        crate::run_in(dir.path(), &["trend", ".", "--format", "csv", "--measure", "failures"]);
    assert_eq!(csv.lines().filter(|line| line.starts_with("failures,")).count(), 8, "{csv}");
    let report = ["trend", ".", "--report", "parquet=trend.parquet"];
    assert!(crate::run_in(dir.path(), &report).ends_with("--- exit 0\n"));
    assert!(fs::read(dir.path().join("trend.parquet")).unwrap().starts_with(b"PAR1"));
}

#[test]
fn threads_and_order_change_nothing() {
    let dir = sessions();
    let one = trend(dir.path(), &["--jobs", "1"]);
    assert_eq!(one, trend(dir.path(), &["--jobs", "7"]));
}

#[test]
fn what_cannot_be_shown_is_said() {
    let dir = sessions();
    let text = crate::run_in(dir.path(), &["trend", ".", "--measure", "latencies"]);
    assert!(text.contains("no measure latencies") && text.contains("recorded-cost"), "{text}");
    assert!(text.ends_with("--- exit 2\n"), "{text}");
    assert!(run(&["trend", "nowhere.jsonl"]).ends_with("--- exit 3\n"));
}
