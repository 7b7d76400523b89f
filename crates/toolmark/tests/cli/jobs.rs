//! Tests that the number of `--jobs` does not affect the output.

use crate::{DISK_FULL, EVERYTHING, FLAKY_TEST, root, toolmark, transcript};
use std::fs;
use std::path::Path;

const FAULTS: &str = "crates/toolmark/tests/fixtures/faults.jsonl";

/// Many files, large and small, some of them damaged, empty or not traces.
fn files() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let samples = [DISK_FULL, FLAKY_TEST, EVERYTHING, FAULTS];
    let samples = samples.map(|file| fs::read(root().join(file)).unwrap());
    for n in 0..120 {
        let mut text = samples[n % samples.len()].clone();
        if n % 7 == 0 {
            text.extend_from_slice(b"{\"cut\": ");
        }
        fs::write(dir.path().join(format!("{n}.jsonl")), text).unwrap();
    }
    fs::write(dir.path().join("empty.jsonl"), "").unwrap();
    fs::write(dir.path().join("notes.txt"), "no trace\n").unwrap();
    dir
}

fn run(dir: &Path, command: &str, jobs: &[&str]) -> String {
    let args: Vec<&str> = command.split(' ').chain(jobs.iter().copied()).collect();
    transcript(toolmark(&args).current_dir(dir))
}

#[test]
fn every_command_prints_the_same_at_any_number_of_jobs() {
    let dir = files();
    let spec = root().join("samples/toolmark.yaml");
    fs::copy(spec, dir.path().join("toolmark.yaml")).unwrap();
    for command in [
        "stats . --format table",
        "stats . --format json",
        "stats . --format csv",
        "feed . --format text",
        "feed . --format jsonl --occurrences",
        "check . --format text",
        "check . --format json --exit-zero",
        "check . --limit 3 --format jsonl",
        "convert . --to toolmark",
        "convert . --to atif",
        "guard replay . --format text",
        "guard replay . --limit 5 --format jsonl",
        "grade toolmark.yaml . --format json",
        "grade toolmark.yaml . --fail-fast",
        "lint toolmark.yaml --traces . --vacuity",
    ] {
        let one = run(dir.path(), command, &["--jobs", "1"]);
        assert!(!one.ends_with("--- exit 2\n"), "{command}: {one}");
        for jobs in ["2", "8"] {
            assert_eq!(one, run(dir.path(), command, &["-j", jobs]), "{command} -j {jobs}");
        }
    }
}

#[test]
fn the_option_was_called_threads_at_first() {
    let dir = files();
    let command = "stats . --format jsonl";
    let (old, new) = (["--threads", "2"], ["--jobs", "2"]);
    assert_eq!(run(dir.path(), command, &old), run(dir.path(), command, &new));
}

#[test]
fn a_limit_counts_files_with_a_session_and_reads_no_further() {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(root().join(FLAKY_TEST), dir.path().join("a.jsonl")).unwrap();
    fs::write(dir.path().join("b.txt"), "not a trace").unwrap();
    fs::copy(root().join(DISK_FULL), dir.path().join("c.jsonl")).unwrap();
    fs::write(dir.path().join("d.jsonl"), "").unwrap();
    for command in ["check . --exit-zero", "guard replay ."] {
        let two = run(dir.path(), command, &["--limit", "2"]);
        assert!(two.contains("c.jsonl") && !two.contains("d.jsonl"), "{two}");
        let one = run(dir.path(), command, &["--limit", "1"]);
        assert!(!one.contains("c.jsonl"), "{one}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_work() {
    let dir = files();
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("toolmark"));
    command.args(["convert", ".", ".", ".", "--to", "toolmark", "--jobs", "4"]);
    command.current_dir(dir.path()).stdout(std::process::Stdio::piped());
    let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success(), "a closed pipe is not an error");
}
