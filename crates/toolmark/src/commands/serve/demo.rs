//! Sample traces for `toolmark serve --demo`.

use std::fs;
use std::io;
use tempfile::TempDir;

const SAMPLES: &[(&str, &str)] = &[
    ("disk-full.jsonl", include_str!("../../../../../samples/claude-code/disk-full.jsonl")),
    ("flaky-test.jsonl", include_str!("../../../../../samples/claude-code/flaky-test.jsonl")),
    (
        "rollout-2026-03-15T18-03-27-019cf2b1-6c1e-7a40-9b52-3f0d8e7a4c15.jsonl",
        include_str!(
            "../../../../../samples/codex/rollout-2026-03-15T18-03-27-019cf2b1-6c1e-7a40-9b52-3f0d8e7a4c15.jsonl"
        ),
    ),
    (
        "mean-depth.trajectory.json",
        include_str!("../../../../../samples/atif/mean-depth.trajectory.json"),
    ),
];

/// Writes the samples to a directory that is deleted at the end.
pub(super) fn write() -> io::Result<TempDir> {
    let dir = tempfile::tempdir()?;
    let sessions = dir.path().join("sessions");
    fs::create_dir(&sessions)?;
    for (name, text) in SAMPLES {
        fs::write(sessions.join(name), text)?;
    }
    Ok(dir)
}
