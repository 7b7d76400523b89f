//! Writing what was read, reading it and writing it again gives the same bytes,
//! and every target takes every real trajectory.
//!
//! The traces are not part of the project. Where `../shared` is absent, the
//! tests say so and end.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests")]

use std::io::Cursor;
use std::path::{Path, PathBuf};
use toolmark_trace::{EXPORTERS, Options, Summary, Trajectory, exporter_by_id, read, read_path};

/// The shared traces; those this version does not read are passed over.
fn files() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let only = std::env::var("TOOLMARK_TRUTH").unwrap_or_default();
    let mut files = Vec::new();
    let mut folders = vec![dir];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().contains(&only) {
                files.push(path);
            }
        }
    }
    files.sort();
    if files.is_empty() {
        eprintln!("SKIPPED: no ../shared/traces beside the project");
    }
    files
}

fn runs(file: &Path) -> Vec<Trajectory> {
    read_path(file, &Options::default()).map(Iterator::collect).unwrap_or_default()
}

fn written(runs: &[Trajectory]) -> Vec<u8> {
    let toolmark = exporter_by_id("toolmark").unwrap();
    let mut bytes = Vec::new();
    for run in runs {
        let losses = toolmark.export(run, &mut bytes).unwrap();
        assert!(losses.is_empty(), "{losses}");
    }
    bytes
}

fn counts(runs: &[Trajectory]) -> serde_json::Value {
    let mut summary = Summary::default();
    runs.iter().for_each(|run| summary.add(run));
    serde_json::to_value(&summary).unwrap()
}

#[test]
fn toolmark_json_gives_back_what_it_was_given() {
    let (mut read_back, mut bytes) = (0, 0);
    for file in files() {
        let before = runs(&file);
        if before.is_empty() {
            continue;
        }
        let first = written(&before);
        let mut trajectories =
            read(Cursor::new(first.clone()), "written", &Options::default()).unwrap();
        assert_eq!(trajectories.format().info().id, "toolmark");
        let after: Vec<Trajectory> = trajectories.by_ref().collect();
        assert_eq!(trajectories.skipped(), 0, "{}", file.display());
        assert!(trajectories.diagnostics().is_empty(), "{}", file.display());
        assert!(first == written(&after), "{} differs the second time", file.display());
        assert_eq!(counts(&before), counts(&after), "{}", file.display());
        read_back += 1;
        bytes += first.len();
    }
    eprintln!("{read_back} files, {bytes} bytes written twice");
}

#[test]
fn every_target_takes_every_trajectory() {
    for file in files() {
        for run in runs(&file) {
            for exporter in EXPORTERS {
                let mut bytes = Vec::new();
                exporter.export(&run, &mut bytes).unwrap();
                let id = exporter.info().id;
                let text = String::from_utf8(bytes).unwrap();
                assert!(text.ends_with('\n'));
                for line in text.lines() {
                    let value: Result<serde_json::Value, _> = serde_json::from_str(line);
                    assert!(value.is_ok_and(|v| v.is_object()), "{id}: {}", file.display());
                }
            }
        }
    }
}
