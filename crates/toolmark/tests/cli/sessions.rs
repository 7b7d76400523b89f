//! Tests of `toolmark show` without a file: the sessions of this machine.

use crate::{DISK_FULL, FLAKY_TEST, root, toolmark, transcript};
use assert_cmd::Command;
use insta::assert_snapshot;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A home directory with two sessions and a sub-agent's file.
pub(crate) fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join(".claude/projects/-home-mira-src-harbour");
    put(DISK_FULL, &project.join("51ea40b0-7088-4482-8231-74d06cde3e3a.jsonl"), 7200);
    put(FLAKY_TEST, &project.join("51effdae-67be-4034-8a8a-fad2e36bade1.jsonl"), 300);
    put(FLAKY_TEST, &project.join("agent-1.jsonl"), 0);
    home
}

fn put(sample: &str, path: &Path, seconds_ago: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::copy(root().join(sample), path).unwrap();
    let time = SystemTime::now() - Duration::from_secs(seconds_ago);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

fn at_home(home: &Path, args: &[&str]) -> Command {
    let mut command = toolmark(args);
    command.env("HOME", home);
    command
}

#[test]
fn the_newest_first() {
    let home = home();
    assert_snapshot!(transcript(&mut at_home(home.path(), &["show"])));
}

#[test]
fn by_the_start_of_the_id() {
    let home = home();
    let text = transcript(&mut at_home(home.path(), &["show", "51ea"]));
    assert!(text.contains("/home/mira/src/harbour"), "{text}");
    let text = transcript(&mut at_home(home.path(), &["show", "51e"]));
    assert!(text.contains("2 sessions start with 51e"), "{text}");
    assert!(text.ends_with("--- exit 2\n"), "{text}");
}

#[test]
fn a_variable_moves_the_folder() {
    let home = home();
    let mut command = toolmark(&["show"]);
    command.env("CLAUDE_CONFIG_DIR", home.path().join(".claude"));
    assert!(transcript(&mut command).contains("51ea40b0"));
}
