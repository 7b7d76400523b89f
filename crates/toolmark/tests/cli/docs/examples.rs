//! Blocks of output in the pages.
//!
//! A line `<!-- output of: COMMAND -->` stands above the block that shows what
//! the command prints in a terminal of 80 columns in UTC. All commands of one
//! page run in one directory, which has the samples in it, and in a home with
//! two sessions.

use super::{keep, page, pages};
use crate::{root, sessions};
use std::path::Path;
use std::process::Command;

const MARK: &str = "<!-- output of: ";

#[test]
fn blocks_of_output_are_what_is_printed() {
    let home = sessions::home();
    for name in pages() {
        let text = page(&name);
        if !text.contains(MARK) {
            continue;
        }
        let place = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root().join("samples"), place.path().join("samples")).unwrap();
        keep(&name, &renewed(&text, place.path(), home.path()));
    }
}

/// The page with what its commands print now.
fn renewed(text: &str, place: &Path, home: &Path) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some(command) = line.strip_prefix(MARK).and_then(|l| l.strip_suffix(" -->")) else {
            continue;
        };
        let mut old = Vec::new();
        if lines.next_if(|l| l.starts_with("```")).is_some() {
            old.extend(lines.by_ref().take_while(|l| *l != "```"));
        }
        let new = match missing_tool(command) {
            true => old.join("\n") + "\n",
            false => format!("$ {command}\n{}", printed(command, place, home)),
        };
        out.push_str(&format!("```console\n{new}```\n"));
    }
    out
}

/// A machine without jq cannot renew what goes through it.
fn missing_tool(command: &str) -> bool {
    command.contains("| jq ") && Command::new("jq").arg("--version").output().is_err()
}

/// What a command prints, errors included, and its exit code if that is not 0.
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
