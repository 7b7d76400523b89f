//! Tests of `toolmark prices`, and of the costs computed with its prices.

use crate::{DISK_FULL, FLAKY_TEST, root, run_in, toolmark, transcript};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const PRICES: &str = "\
date: 2026-11-01
source: made up
models:
  claude-opus-*: {input: 10, output: 50, cache_read: 1, cache_write: 12.5}
  claude-sonnet-4-6: {input: 2, output: 10, cache_read: 0.2}
";

/// Two samples and a price file.
fn place() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("runs")).unwrap();
    for sample in [DISK_FULL, FLAKY_TEST] {
        let name = Path::new(sample).file_name().unwrap();
        fs::copy(root().join(sample), dir.path().join("runs").join(name)).unwrap();
    }
    fs::write(dir.path().join("prices.yaml"), PRICES).unwrap();
    dir
}

fn json_of(dir: &Path, args: &[&str]) -> Value {
    let output = toolmark(args).current_dir(dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_file_its_day_and_what_it_lacks() {
    let dir = place();
    assert_snapshot!(run_in(dir.path(), &["prices", "runs", "--prices", "prices.yaml"]));
    let shown =
        json_of(dir.path(), &["prices", "runs", "--prices", "prices.yaml", "--format", "json"]);
    assert_eq!((&shown["date"], &shown["source"]), (&json!("2026-11-01"), &json!("made up")));
    assert_eq!(shown["models"][1]["cache_write"], Value::Null);
    assert_eq!(shown["unpriced"][0]["model"], "claude-sonnet-4-6");
    assert_eq!(shown["unpriced"][0]["kinds"], json!(["cache_write"]));
}

/// The cost of disk-full.jsonl, computed by hand with the list prices that are shown.
#[test]
fn without_a_file_list_prices_apply() {
    let dir = place();
    let text = run_in(dir.path(), &["prices", "runs"]);
    assert!(text.starts_with("list prices of ") && text.contains("claude-opus-4-6"), "{text}");
    assert!(text.ends_with("--- exit 0\n") && !text.contains("without a price"), "{text}");
    let shown = json_of(dir.path(), &["prices", "runs/disk-full.jsonl", "--format", "json"]);
    assert_eq!((&shown["file"], &shown["models"]), (&Value::Null, &json!([])));
    let price = &shown["list"]["models"][0];
    assert_eq!(price["model"], "claude-opus-4-6");
    let rows = json_of(dir.path(), &["stats", "runs/disk-full.jsonl", "--format", "json"]);
    let cost = |kind: &str| {
        rows[0]["tokens"][kind].as_f64().unwrap() * price[kind].as_f64().unwrap() / 1e6
    };
    let want: f64 = ["input", "output", "cache_read", "cache_write"].map(cost).iter().sum();
    let got = rows[0]["cost_usd"].as_f64().unwrap();
    assert!(got > 0.0 && (got - want).abs() < 1e-6, "{got} {want}");
    assert!(rows[0]["recorded_cost_usd"].is_null(), "{rows}");
    // A machine without sessions.
    assert!(run_in(dir.path(), &["prices"]).ends_with("--- exit 0\n"));
}

#[test]
fn the_file_of_the_user_is_found() {
    let dir = place();
    let settings = dir.path().join("settings/toolmark");
    fs::create_dir_all(&settings).unwrap();
    fs::copy(dir.path().join("prices.yaml"), settings.join("prices.yaml")).unwrap();
    let mut command = toolmark(&["prices", "runs"]);
    command.current_dir(dir.path()).env("XDG_CONFIG_HOME", dir.path().join("settings"));
    assert!(transcript(&mut command).contains("prices of 2026-11-01"));
}

/// Computed by hand: the tokens of disk-full.jsonl at the prices above.
#[test]
fn each_kind_of_tokens_is_priced() {
    let dir = place();
    let args = ["stats", "runs/disk-full.jsonl", "--format", "json", "--prices", "prices.yaml"];
    let row = &json_of(dir.path(), &args)[0];
    let tokens = |kind: &str| row["tokens"][kind].as_f64().unwrap();
    let want = (tokens("input") * 10.0
        + tokens("output") * 50.0
        + tokens("cache_read")
        + tokens("cache_write") * 12.5)
        / 1e6;
    let got = row["cost_usd"].as_f64().unwrap();
    assert!((got - want).abs() < 1e-6, "{got} {want}");
    assert!(tokens("cache_read") > 0.0 && tokens("cache_write") > 0.0);
}

#[test]
fn a_kind_without_a_price_is_said_and_not_free() {
    let dir = place();
    assert_snapshot!(run_in(
        dir.path(),
        &["stats", "runs", "--by", "model", "--prices", "prices.yaml"]
    ));
    let args = ["stats", "runs", "--by", "model", "--format", "json", "--prices", "prices.yaml"];
    let groups = json_of(dir.path(), &args);
    assert_eq!(groups[1]["name"], "claude-sonnet-4-6");
    assert!(groups[1]["cost_usd"].is_null(), "{groups}");
    assert_eq!(groups[1]["unpriced"][0]["kind"], "cache_write");
}

#[test]
fn mistakes_of_the_file_are_shown_where_they_are() {
    let dir = place();
    fs::write(dir.path().join("bad.yaml"), "date: soon\nmodels:\n  m: {inptu: 1}\n").unwrap();
    for args in [&["prices"][..], &["stats", "runs"], &["trend", "runs"]] {
        let text = run_in(dir.path(), &[args, &["--prices", "bad.yaml"]].concat());
        assert!(text.contains("bad.yaml:1:7") && text.contains("inptu"), "{text}");
        assert!(text.ends_with("--- exit 2\n"), "{text}");
    }
}
