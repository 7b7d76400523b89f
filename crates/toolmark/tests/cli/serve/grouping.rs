//! Tests that the issues of the page equal those of `toolmark feed`, also when only a part was read
//! again.

use super::{Served, binary, start, watched};
use crate::root;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The issues by ID, each with all fields of `toolmark feed`.
fn sorted(issues: &Value) -> Vec<Value> {
    let mut issues = issues.as_array().unwrap().clone();
    issues.sort_by_key(|issue| issue["id"].to_string());
    issues
}

/// Describes the first difference between the issues of the page and of `toolmark feed`.
fn difference(shown: &[Value], printed: &[Value]) -> Option<String> {
    if shown.len() != printed.len() {
        return Some(format!("{} issues instead of {}", shown.len(), printed.len()));
    }
    shown.iter().zip(printed).find_map(|(shown, printed)| {
        let mut fields = printed.as_object().unwrap().iter();
        let (field, value) = fields.find(|(field, value)| &shown[field] != *value)?;
        Some(format!("{field} of {}: {} instead of {value}", printed["title"], shown[field]))
    })
}

/// Polls until both agree, because calls are counted before they are complete.
fn assert_same(served: &Served, home: &Path, folder: &str) {
    let printed =
        binary().args(["feed", "--format", "json", folder]).env("HOME", home).output().unwrap();
    let printed: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let printed = sorted(&printed["issues"]);
    assert!(!printed.is_empty());
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let shown = sorted(&served.get("/api/v1/issues?limit=1000").json()["items"]);
        let Some(difference) = difference(&shown, &printed) else { return };
        assert!(Instant::now() < end, "{difference}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn issues_are_those_of_the_feed_whatever_was_read_again() {
    let (dir, folder, db) = watched();
    let home = dir.path();
    let folders = ["samples/claude-code", "samples/codex"].map(|name| root().join(name));
    let mut files: Vec<_> = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    let (last, first) = files.split_last().unwrap();
    let put = |file: &Path, lines: usize| {
        let text = fs::read_to_string(file).unwrap();
        let kept: Vec<&str> = text.lines().take(lines).collect();
        let to = Path::new(&folder).join(file.file_name().unwrap());
        fs::write(to, kept.join("\n") + "\n").unwrap();
    };
    first.iter().for_each(|file| put(file, usize::MAX));
    let args = ["--watch", &folder, "--db", &db];
    let served = start(home, &args);
    let count = first.len();
    served.wait("/api/v1/sessions", |page| page["total"] == count);
    assert_same(&served, home, &folder);
    let calls =
        || -> u64 { served.get("/api/v1/info").json()["counts"]["calls"].as_u64().unwrap() };
    // Each of them is cut in half and whole again: examples are lost and found.
    for file in first {
        let (before, text) = (calls(), fs::read_to_string(file).unwrap());
        put(file, text.lines().count() / 2);
        served.wait("/api/v1/info", |info| info["counts"]["calls"].as_u64() < Some(before));
        assert_same(&served, home, &folder);
        put(file, usize::MAX);
        served.wait("/api/v1/info", |info| info["counts"]["calls"] == before);
        assert_same(&served, home, &folder);
    }
    // A new one, and the same after a start.
    put(last, usize::MAX);
    served.wait("/api/v1/sessions", |page| page["total"] == count + 1);
    assert_same(&served, home, &folder);
    drop(served);
    assert_same(&start(home, &args), home, &folder);
}
