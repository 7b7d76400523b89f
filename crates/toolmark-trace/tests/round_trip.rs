//! Checks that writing, reading and writing again gives the same bytes, and that every target
//! accepts every real trajectory.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Cursor;
use std::path::Path;
use toolmark_testing::{assert_compared, find_traces};
use toolmark_trace::{
    EXPORTERS, FileSummary, ReadOptions, Trajectory, exporter_by_id, read, read_path,
};

/// Returns the runs of a file; empty if it is not a trace.
fn runs(file: &Path) -> Vec<Trajectory> {
    read_path(file, &ReadOptions::default()).map(Iterator::collect).unwrap_or_default()
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
    let mut summary = FileSummary::default();
    runs.iter().for_each(|run| summary.add(run));
    serde_json::to_value(&summary).unwrap()
}

#[test]
fn toolmark_json_gives_back_what_it_was_given() {
    let Some(files) = find_traces() else { return };
    let mut read_back = 0;
    for file in files {
        let before = runs(&file);
        if before.is_empty() {
            continue;
        }
        let first = written(&before);
        let mut trajectories =
            read(Cursor::new(first.clone()), "written", &ReadOptions::default()).unwrap();
        assert_eq!(trajectories.format().info().id, "toolmark");
        let after: Vec<Trajectory> = trajectories.by_ref().collect();
        assert_eq!(trajectories.skipped(), 0, "{}", file.display());
        assert!(trajectories.diagnostics().is_empty(), "{}", file.display());
        assert!(first == written(&after), "{} differs the second time", file.display());
        assert_eq!(counts(&before), counts(&after), "{}", file.display());
        read_back += 1;
    }
    assert_compared(read_back, 335, "files");
}

#[test]
fn every_target_takes_every_trajectory() {
    let Some(files) = find_traces() else { return };
    let mut written = 0;
    for file in files {
        for run in runs(&file) {
            for exporter in EXPORTERS {
                written += 1;
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
    assert_compared(written, 37_000, "conversions");
}
