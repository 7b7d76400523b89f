//! Checks that unknown records are not ignored: with the kinds of its records renamed, no
//! reader returns a run that seems to have fewer calls.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests")]

use serde_json::Value;
use std::io::Cursor;
use std::path::Path;
use toolmark_testing::files_below;
use toolmark_trace::{ReadOptions, RecordedCalls, Trajectory, format_by_id, read};

/// Keys that hold the kind of an object.
const KINDS: &[&str] = &["type", "kind", "part_kind", "event", "openinference.span.kind"];

/// Words that mark a kind as a call.
const CALLS: &[&str] = &["tool", "call", "function", "exec", "command"];

/// Renames the kinds of calls; returns their number.
fn rename(value: &mut Value) -> usize {
    match value {
        Value::Array(items) => items.iter_mut().map(rename).sum(),
        Value::Object(map) => {
            let mut renamed = 0;
            for (key, value) in map {
                match value {
                    Value::String(kind) if KINDS.contains(&key.as_str()) => {
                        let word = kind.to_ascii_lowercase();
                        let is_call = CALLS.iter().any(|sign| word.contains(sign))
                            && !["result", "output", "end", "response"]
                                .iter()
                                .any(|end| word.contains(end));
                        if is_call {
                            *kind = format!("brand_new_{kind}");
                            renamed += 1;
                        }
                    }
                    value => renamed += rename(value),
                }
            }
            renamed
        }
        _ => 0,
    }
}

fn calls(run: &Trajectory) -> usize {
    run.flatten().iter().map(|run| run.calls.len()).sum()
}

#[test]
fn calls_of_an_unknown_kind_are_missed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/readers");
    let (mut tried, mut green) = (0, Vec::new());
    for file in files_below(&folder) {
        let id = file.file_stem().unwrap().to_string_lossy().into_owned();
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let values: Result<Vec<Value>, _> =
            serde_json::Deserializer::from_str(&text).into_iter().collect();
        let Ok(mut values) = values else { continue };
        let options = ReadOptions { force: format_by_id(&id), ..ReadOptions::default() };
        let runs = |text: String| -> Vec<Trajectory> {
            read(Cursor::new(text), "x", &options).into_iter().flatten().collect()
        };
        let before: usize = runs(text).iter().map(calls).sum();
        if values.iter_mut().map(rename).sum::<usize>() == 0 {
            continue;
        }
        tried += 1;
        let changed: String = values.iter().map(|value| format!("{value}\n")).collect();
        let after = runs(changed);
        let left: usize = after.iter().map(calls).sum();
        let is_full = |run: &Trajectory| {
            run.flatten().iter().all(|run| run.calls_recorded() == RecordedCalls::Fully)
        };
        if left < before && !after.is_empty() && after.iter().all(is_full) {
            green.push(format!("{id}: {before} calls became {left}"));
        }
    }
    assert!(tried > 20, "only {tried} formats have kinds");
    assert!(green.is_empty(), "{} of {tried} seem complete:\n{}", green.len(), green.join("\n"));
}
