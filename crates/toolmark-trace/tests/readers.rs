//! Snapshots of a small file of every format, in toolmark's own JSON, which show the effects of
//! changes to a reader or the model.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use toolmark_testing::files_below;
use toolmark_trace::{FORMATS, ReadOptions, exporter_by_id, read};

fn directory(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// Writes a trajectory with one event, step, call and sub-agent per line.
fn write_lines(out: &mut String, indent: &str, run: &Value) {
    for (key, value) in run.as_object().unwrap() {
        match value {
            Value::Array(items) if !items.is_empty() => {
                writeln!(out, "{indent}{key}:").unwrap();
                for item in items {
                    if key == "children" {
                        write_lines(out, &format!("{indent}    "), item);
                    } else {
                        writeln!(out, "{indent}    {item}").unwrap();
                    }
                }
            }
            value => writeln!(out, "{indent}{key}: {value}").unwrap(),
        }
    }
}

/// Returns the snapshot text of a file.
fn read_to_text(file: &Path, id: &str) -> String {
    let bytes = Cursor::new(std::fs::read(file).unwrap());
    let name = file.file_name().unwrap().to_string_lossy();
    let mut runs = read(bytes, &name, &ReadOptions::default()).unwrap();
    assert_eq!(runs.format().info().id, id, "{}", file.display());
    let mut text = String::new();
    for run in runs.by_ref() {
        let mut bytes = Vec::new();
        exporter_by_id("toolmark").unwrap().export(&run, &mut bytes).unwrap();
        write_lines(&mut text, "", &serde_json::from_slice(&bytes).unwrap());
    }
    for diagnostic in runs.diagnostics() {
        writeln!(text, "diagnostic: {}", diagnostic.message).unwrap();
    }
    text
}

#[test]
fn every_format_reads_its_file_as_before() {
    let files = files_below(&directory("fixtures/readers"));
    let named = |file: &Path| file.file_stem().unwrap().to_string_lossy().into_owned();
    let ids: BTreeSet<String> = FORMATS.iter().map(|format| format.info().id.to_owned()).collect();
    let with_file: BTreeSet<String> = files.iter().map(|file| named(file)).collect();
    assert_eq!(ids, with_file, "the formats, and those that have a file in fixtures/readers");
    for file in &files {
        let id = named(file);
        insta::with_settings!({
            snapshot_path => "snapshots/readers",
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(id.as_str(), read_to_text(file, &id));
        });
    }
    let snapshots = files_below(&directory("snapshots/readers"));
    let known: BTreeSet<String> = snapshots.iter().map(|file| named(file)).collect();
    assert_eq!(ids, known, "the formats, and those that have a snapshot");
}
