//! Tests of `--files-from` and `--shard`: the list of a directory equals the directory, and its
//! shards add up to the whole.

use crate::{root, toolmark};
use std::fs;

const COMMANDS: &[&[&str]] = &[
    &["stats", "--format", "jsonl"],
    &["check", "--format", "csv", "--exit-zero"],
    &["check", "--format", "csv", "--rows", "calls", "--exit-zero"],
    &["grade", "samples/toolmark.yaml", "--format", "csv", "--exit-zero"],
    &["feed", "--format", "csv", "--occurrences"],
    &["convert", "--to", "toolmark"],
];

fn lines(arguments: &[&str]) -> Vec<String> {
    let output = toolmark(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", arguments.join(" "));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn with<'a>(command: &[&'a str], more: &[&'a str]) -> Vec<String> {
    lines(&[command, more].concat())
}

#[test]
fn the_list_of_a_directory_is_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let mut names = Vec::new();
    for entry in walkdir::WalkDir::new(root().join("samples")).sort_by_file_name() {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let path = entry.path().strip_prefix(root()).unwrap();
            names.push(path.to_string_lossy().into_owned());
        }
    }
    assert!(names.iter().any(|name| name.ends_with(".yaml")), "one that is not a trace");
    let list = dir.path().join("list");
    let list_name = list.to_string_lossy();
    for text in [names.join("\n"), names.join("\0")] {
        fs::write(&list, text).unwrap();
        for command in COMMANDS {
            let listed = with(command, &["--files-from", &list_name]);
            assert_eq!(listed, with(command, &["samples"]), "{}", command.join(" "));
        }
    }
}

#[test]
fn the_parts_are_the_whole() {
    for command in COMMANDS.iter().filter(|command| command[0] != "grade") {
        let mut whole = with(command, &["samples"]);
        let mut parts: Vec<String> = Vec::new();
        for part in ["1/3", "2/3", "3/3"] {
            let found = with(command, &["samples", "--shard", part]);
            // The heads of the tables are the same.
            let head = usize::from(command.contains(&"csv") && !parts.is_empty());
            parts.extend(found.into_iter().skip(head));
        }
        whole.sort();
        parts.sort();
        assert_eq!(parts, whole, "{}", command.join(" "));
    }
}

#[test]
fn a_part_may_be_empty_and_a_list_may_not() {
    for command in COMMANDS {
        let head = usize::from(command.contains(&"csv"));
        let empty = with(command, &["samples", "--shard", "9/9"]);
        // Cases that no part has a trace of are unknown.
        let cases = if command[0] == "grade" { 3 } else { 0 };
        assert_eq!(empty.len(), head + cases, "{}", command.join(" "));
    }
    for command in [
        &["trend"] as &[&str],
        &["trend", "--format", "json"],
        &["trend", "--measure", "faults"],
        &["guard", "replay"],
        &["guard", "replay", "--format", "json"],
        &["prices"],
    ] {
        with(command, &["samples", "--shard", "9/9"]);
    }
    // Nothing was checked, so nothing passed.
    let checked = toolmark(&["check", "samples", "--shard", "9/9"]).output().unwrap();
    assert_eq!(checked.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&checked.stdout).starts_with("? unknown"));
    let dir = tempfile::tempdir().unwrap();
    let list = dir.path().join("list");
    let list_name = list.to_string_lossy();
    fs::write(&list, "\n").unwrap();
    let none = toolmark(&["check", "--files-from", &list_name]).output().unwrap();
    assert_eq!(none.status.code(), Some(2), "no list of everything");
    fs::write(&list, "samples/none.jsonl\n").unwrap();
    let missing = toolmark(&["stats", "--files-from", &list_name]).output().unwrap();
    assert_eq!(missing.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("none.jsonl"));
}

#[test]
fn tables_are_parquet() {
    let commands: [&[&str]; 3] = [
        &["stats", "samples", "--format", "parquet"],
        &["stats", "samples", "--by", "tool", "--format", "parquet"],
        &["grade", "samples/toolmark.yaml", "samples", "--rows", "graders", "--format", "parquet"],
    ];
    for command in commands {
        let output = toolmark(command).output().unwrap();
        assert!(output.stdout.starts_with(b"PAR1") && output.stdout.ends_with(b"PAR1"));
    }
    let rows = toolmark(&["grade", "samples/toolmark.yaml", "samples", "--rows", "graders"]);
    let failed = { rows }.output().unwrap();
    assert_eq!(failed.status.code(), Some(2), "text has no rows");
}

#[cfg(unix)]
#[test]
fn a_listed_name_need_not_be_text() {
    use std::os::unix::ffi::OsStrExt as _;
    let dir = tempfile::tempdir().unwrap();
    let name = dir.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9.jsonl"));
    // Some file systems have no such names.
    if fs::copy(root().join("samples/claude-code/flaky-test.jsonl"), &name).is_err() {
        return;
    }
    let list = dir.path().join("list");
    fs::write(&list, [name.as_os_str().as_bytes(), b"\0"].concat()).unwrap();
    let rows = lines(&["stats", "--format", "jsonl", "--files-from", &list.to_string_lossy()]);
    assert_eq!(rows.len(), 1);
    assert!(rows[0].contains("\"tool_calls\":5"), "{}", rows[0]);
}
