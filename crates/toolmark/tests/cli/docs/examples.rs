//! Runs the commands of the pages, and compares output blocks with what they print.
//!
//! - A line `<!-- output of: COMMAND -->` above a block: the block is the output of the
//!   command on a terminal of 80 columns in UTC.
//! - `<!-- run -->` above a block of commands: the commands must succeed.
//! - `<!-- file: NAME -->` above a block: the block is the text of a file.
//!
//! All commands of one page run in one directory, which contains the samples, with a home directory
//! that has two sessions.

use super::{keep, page, pages};
use crate::{root, sessions};
use std::path::Path;
use std::process::Command;

const MARK: &str = "<!-- output of: ";
const RUN: &str = "<!-- run -->";
const FILE: &str = "<!-- file: ";
/// Marks commands that cannot be run in a test; the reason follows.
const NOT_RUN: &str = "<!-- not run: ";
/// Pages on which every command is run.
const FOLLOWED: [&str; 2] = ["docs/quick-start.md", "docs/tutorial.md"];

#[test]
fn blocks_of_output_are_what_is_printed() {
    let home = sessions::home();
    for name in pages() {
        let text = page(&name);
        if !text.contains(MARK) {
            continue;
        }
        let place = tempfile::tempdir().unwrap();
        for name in ["samples", "docs"] {
            std::os::unix::fs::symlink(root().join(name), place.path().join(name)).unwrap();
        }
        keep(&name, &renewed(&name, &text, place.path(), home.path()));
    }
}

#[test]
fn no_block_of_commands_is_left_out() {
    for name in pages() {
        let text = page(&name);
        let lines: Vec<&str> = text.lines().collect();
        let mut is_code = false;
        for (at, line) in lines.iter().enumerate() {
            let Some(kind) = line.strip_prefix("```") else { continue };
            is_code = !is_code;
            let above = at.checked_sub(1).map_or("", |above| lines[above]);
            let is_run = above.starts_with(MARK) || above == RUN || above.starts_with(NOT_RUN);
            let is_followed = FOLLOWED.contains(&&*name);
            let asks = kind == "console" || (kind == "sh" && is_followed);
            assert!(!is_code || !asks || is_run, "{name}:{}: nothing runs this", at + 1);
        }
    }
}

/// Returns the page with the current output of its commands.
fn renewed(name: &str, text: &str, place: &Path, home: &Path) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let file = line.strip_prefix(FILE).and_then(|l| l.strip_suffix(" -->"));
        if let Some(file) = file {
            std::fs::write(place.join(file), block(&mut lines, Some(&mut out))).unwrap();
        } else if line == RUN {
            let commands = block(&mut lines, Some(&mut out));
            let printed = printed(&format!("set -e\n{commands}"), place, home);
            assert!(!printed.contains("\n$ echo $?\n"), "{name}:\n{commands}\n{printed}");
        }
        let Some(command) = line.strip_prefix(MARK).and_then(|l| l.strip_suffix(" -->")) else {
            continue;
        };
        let old = block(&mut lines, None);
        let new = match missing_tool(command) {
            true => old,
            false => format!("$ {command}\n{}", printed(command, place, home)),
        };
        out.push_str(&format!("```console\n{new}```\n"));
    }
    out
}

/// Returns the text of the block that begins here, if there is one; the block itself is kept.
fn block<'t>(
    lines: &mut std::iter::Peekable<impl Iterator<Item = &'t str>>,
    mut kept: Option<&mut String>,
) -> String {
    let mut text = String::new();
    let Some(first) = lines.next_if(|line| line.starts_with("```")) else { return text };
    let mut keep = |line: &str| {
        if let Some(kept) = &mut kept {
            kept.push_str(&format!("{line}\n"));
        }
    };
    keep(first);
    for line in lines.by_ref() {
        keep(line);
        if line == "```" {
            break;
        }
        text.push_str(&format!("{line}\n"));
    }
    text
}

/// Whether a command needs a missing tool: without jq, its output cannot be updated.
fn missing_tool(command: &str) -> bool {
    command.contains("| jq ") && Command::new("jq").arg("--version").output().is_err()
}

/// Returns the output of a command, errors included, and its exit code if that is not 0.
fn printed(command: &str, place: &Path, home: &Path) -> String {
    let binary = assert_cmd::cargo::cargo_bin("toolmark");
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths =
        binary.parent().map(Path::to_owned).into_iter().chain(std::env::split_paths(&paths));
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("exec 2>&1\n{command}"))
        .current_dir(place)
        .env_clear()
        .env("PATH", std::env::join_paths(paths).unwrap())
        .env("HOME", home)
        .env("TZ", "UTC")
        .env("COLUMNS", "80")
        .output()
        .unwrap();
    let mut text = String::from_utf8(output.stdout).unwrap();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let code = output.status.code().unwrap();
    if code != 0 {
        text.push_str(&format!("$ echo $?\n{code}\n"));
    }
    text
}

/// The specs on the pages of the dialects pass their own lint.
#[test]
fn examples_of_specs_lint() {
    let mut linted = 0;
    for name in pages().iter().filter(|name| name.starts_with("docs/specs/")) {
        let text = page(name);
        let blocks = text.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
        for block in blocks {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join("spec.yaml"), block).unwrap();
            let output =
                crate::toolmark(&["lint", "spec.yaml"]).current_dir(dir.path()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{name}:\n{block}\n{said}");
            linted += 1;
        }
    }
    assert!(linted >= 3, "{linted}");
}
