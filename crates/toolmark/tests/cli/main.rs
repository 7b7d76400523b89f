//! Tests of the real binary.
//!
//! Snapshots show the output on a terminal of 80 columns in UTC.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on should say so"
)]

mod architecture;
mod check;
mod compare;
#[cfg(unix)]
mod complete;
mod diagnostics;
mod docs;
mod errors;
mod feed;
mod formats;
mod gold;
mod grade;
mod guard;
mod guard_holds;
mod guard_install;
mod guard_log;
mod guard_policy;
mod guard_session;
mod guard_tools;
#[cfg(unix)]
mod guard_undo;
mod help;
mod incomplete;
mod jobs;
mod judge;
mod lists;
mod mine;
mod prices;
mod repro;
mod robust;
#[cfg(unix)]
mod schemas;
mod secrets;
mod serve;
mod sessions;
mod show;
mod stats;
mod trend;
mod truth;
mod unreadable;
mod wishes;
mod words;

use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Root of the workspace; file names are relative to it.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Cargo metadata of the workspace crates.
fn metadata() -> Value {
    let output = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the binary with a known environment and an empty home directory.
fn toolmark(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("toolmark").unwrap();
    command.current_dir(root()).args(args);
    // The hook takes no variable's word for where its log is.
    if let ["guard"] | ["guard", "--host" | "--policy", ..] = args
        && !args.contains(&"--log")
    {
        command.args(["--log", "off"]);
    }
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CLAUDE_CONFIG_DIR", "CODEX_HOME"] {
        command.env_remove(variable);
    }
    command.env("COLUMNS", "80").env("TZ", "UTC").env("HOME", "/nonexistent");
    command.env("TOOLMARK_GUARD_LOG", "off");
    command.env("SOURCE_DATE_EPOCH", "1771000000");
    command
}

/// Returns exit code, stdout and stderr as one text.
fn run(args: &[&str]) -> String {
    transcript(&mut toolmark(args))
}

/// Like `run`, in another directory, so that paths are short and the same everywhere.
fn run_in(dir: &Path, args: &[&str]) -> String {
    transcript(toolmark(args).current_dir(dir))
}

/// Returns the output of several command lines, each after the line itself.
fn session(dir: &Path, command_lines: &[&[&str]]) -> String {
    let one = |args: &&[&str]| {
        let args: Vec<String> = args.iter().map(|arg| as_typed(arg)).collect();
        args.join(" ")
    };
    let text: Vec<String> = command_lines
        .iter()
        .map(|args| format!("$ toolmark {}\n{}", one(args), run_in(dir, args)))
        .collect();
    text.join("\n")
}

/// Quotes an argument as for a shell.
fn as_typed(arg: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=".contains(c);
    if !arg.is_empty() && arg.chars().all(plain) { arg.to_owned() } else { format!("'{arg}'") }
}

fn transcript(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let mut text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    if !errors.is_empty() {
        text.push_str("--- stderr\n");
        text.push_str(&errors);
    }
    text.push_str(&format!("--- exit {}\n", output.status.code().unwrap()));
    text
}

/// Returns the output of a command that must succeed.
fn stdout(args: &[&str]) -> String {
    let output = toolmark(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const DISK_FULL: &str = "samples/claude-code/disk-full.jsonl";
const FLAKY_TEST: &str = "samples/claude-code/flaky-test.jsonl";
const EVERYTHING: &str = "crates/toolmark/tests/fixtures/everything.jsonl";
