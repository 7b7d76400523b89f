//! Tests of `guard install`, `uninstall` and `status` in an isolated home directory.

use crate::{toolmark, transcript};
use assert_cmd::Command;
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Returns the binary with a home and a project below a directory, and an empty path.
fn guard(dir: &TempDir, args: &[&str]) -> Command {
    let project = dir.path().join("project/sub");
    fs::create_dir_all(&project).unwrap();
    fs::create_dir_all(dir.path().join("project/.git")).unwrap();
    let mut command = toolmark(&[&["guard"], args].concat());
    command.current_dir(project).env("HOME", dir.path().join("home")).env("PATH", "");
    for variable in [
        "COPILOT_HOME",
        "GEMINI_CLI_HOME",
        "XDG_CONFIG_HOME",
        "TOOLMARK_GUARD_POLICY",
        "TOOLMARK_GUARD_LOG",
    ] {
        command.env_remove(variable);
    }
    command
}

fn said(dir: &TempDir, args: &[&str]) -> String {
    transcript(&mut guard(dir, args))
}

fn rows(dir: &TempDir, args: &[&str]) -> Vec<Value> {
    let args = [args, &["--format", "json"]].concat();
    serde_json::from_slice(&guard(dir, &args).output().unwrap().stdout).unwrap()
}

fn home() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("home/.claude")).unwrap();
    dir
}

const SETTINGS: &str = "{\n  \"model\": \"opus\"\n}\n";

fn settings(dir: &TempDir) -> PathBuf {
    let path = dir.path().join("home/.claude/settings.json");
    fs::write(&path, SETTINGS).unwrap();
    path
}

#[test]
fn in_and_out_again() {
    let dir = home();
    let path = settings(&dir);
    let text = said(&dir, &["install", "--dry-run"]);
    for line in ["  -  \"model\": \"opus\"\n", "  +  \"model\": \"opus\",\n", "--- exit 0\n"] {
        assert!(text.contains(line), "{line:?} is not in {text}");
    }
    let text = said(&dir, &["install"]);
    assert!(text.starts_with("Claude Code: installed ("), "{text}");
    assert!(text.contains("settings.json.toolmark-backup"), "{text}");
    for words in ["preset: observe", "guard doctor", "If this program moves"] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
    assert!(text.lines().count() <= 12, "{text}");
    let written = fs::read_to_string(&path).unwrap();
    assert!(written.starts_with("{\n  \"model\": \"opus\",\n  \"hooks\": {\n"));

    let text = said(&dir, &["install"]);
    assert!(text.starts_with("Claude Code: already installed ("), "{text}");
    assert_eq!(fs::read_to_string(&path).unwrap(), written);
    let text = said(&dir, &["status", "--scope", "user"]);
    assert!(text.starts_with("Claude Code, user: installed (") && text.ends_with("exit 0\n"));

    let text = said(&dir, &["uninstall"]);
    assert!(text.starts_with("Claude Code: removed ("), "{text}");
    assert_eq!(fs::read_to_string(&path).unwrap(), SETTINGS);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no backup is left");
    let text = said(&dir, &["status"]);
    assert!(text.contains("user: not installed") && text.ends_with("--- exit 1\n"), "{text}");
}

#[test]
fn a_dry_run_writes_nothing() {
    let dir = home();
    let path = settings(&dir);
    for scope in ["user", "project"] {
        let text = said(&dir, &["install", "--all", "--dry-run", "--scope", scope]);
        assert_eq!(text.matches("would be installed").count(), 5, "{text}");
        assert!(text.ends_with("--- exit 0\n"));
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), SETTINGS);
    assert_eq!(fs::read_dir(dir.path().join("home")).unwrap().count(), 1);
    assert_eq!(fs::read_dir(dir.path().join("project")).unwrap().count(), 2);
}

#[test]
fn the_installed_command_answers_the_host() {
    for host in ["claude-code", "codex", "copilot-cli", "gemini-cli", "cursor"] {
        let dir = home();
        let rows = rows(&dir, &["install", host, "--scope", "project"]);
        let path = Path::new(rows[0]["path"].as_str().unwrap());
        assert!(path.starts_with(dir.path().canonicalize().unwrap().join("project")), "{path:?}");
        assert_eq!((&rows[0]["changed"], &rows[0]["written"]), (&true.into(), &true.into()));
        let text = fs::read_to_string(path).unwrap();
        let end = text.find(&format!(" --host {host}\"")).unwrap();
        let start = text[..end].rfind('"').unwrap() + 1;
        let command = format!("{} --host {host}", &text[start..end]);
        assert!(text[..end].ends_with("/toolmark-hook"), "{command}");
        // An invalid payload is not allowed, whatever the agent.
        let output = std::process::Command::new("sh")
            .args(["-c", &format!("echo broken | {command} --log off")])
            .output()
            .unwrap();
        let answer = String::from_utf8(output.stdout).unwrap();
        let stops = output.status.code() == Some(2)
            || answer.contains("\"ask\"")
            || answer.contains("\"deny\"");
        assert!(stops, "{host}: {answer}");
    }
}

#[test]
fn the_files_of_every_host() {
    let mut text = String::new();
    for scope in ["user", "project"] {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for row in rows(&dir, &["install", "--all", "--scope", scope]) {
            let path = Path::new(row["path"].as_str().unwrap());
            let name = path.strip_prefix(&root).unwrap().display();
            let host = row["host"].as_str().unwrap();
            let written = fs::read_to_string(path).unwrap();
            let written = written.replace(root.to_str().unwrap(), "");
            let written = written.replace(dir.path().to_str().unwrap(), "");
            text.push_str(&format!("# {host}, {scope}: {name}\n{written}\n"));
        }
    }
    let binary = assert_cmd::cargo::cargo_bin("toolmark-hook");
    assert_snapshot!(text.replace(binary.to_str().unwrap(), "/bin/toolmark-hook"));
}

#[test]
fn a_broken_file_is_named_and_the_others_go_on() {
    let dir = home();
    let path = settings(&dir);
    fs::write(&path, "{\n  \"model\": \"opus\",\n  oops\n}\n").unwrap();
    let text = said(&dir, &["install", "claude-code", "gemini-cli"]);
    assert!(
        text.contains("settings.json:3:3: expected a key or `}`; nothing was written"),
        "{text}"
    );
    assert!(text.contains("Gemini CLI: installed") && text.ends_with("--- exit 3\n"), "{text}");
    let rows = rows(&dir, &["status", "claude-code", "gemini-cli", "--scope", "user"]);
    assert_eq!(rows[0]["state"], "broken");
    assert_eq!(rows[1]["state"], "installed");
    assert!(said(&dir, &["status", "claude-code"]).ends_with("--- exit 3\n"));
}

#[test]
fn another_binary_is_stale() {
    let dir = home();
    settings(&dir);
    said(&dir, &["install"]);
    let path = dir.path().join("home/.claude/settings.json");
    let text = fs::read_to_string(&path).unwrap();
    let binary = assert_cmd::cargo::cargo_bin("toolmark-hook");
    let text = text.replace(binary.to_str().unwrap(), "/old/toolmark-hook");
    fs::write(&path, text).unwrap();
    let text = said(&dir, &["status", "--scope", "user"]);
    assert!(
        text.contains("user: stale") && text.contains("runs /old/toolmark-hook --host"),
        "{text}"
    );
    assert!(text.ends_with("--- exit 1\n"));
    said(&dir, &["install"]);
    assert!(said(&dir, &["status"]).ends_with("--- exit 0\n"));
    said(&dir, &["uninstall"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), SETTINGS);
}

#[test]
fn hooks_that_are_switched_off_are_said() {
    let dir = home();
    let path = settings(&dir);
    fs::write(&path, "{\"disableAllHooks\": true}").unwrap();
    for command in ["install", "status"] {
        let text = said(&dir, &[command]);
        assert!(text.contains("  but `disableAllHooks = true` in "), "{text}");
        assert!(
            text.ends_with(if command == "install" { "exit 0\n" } else { "exit 1\n" }),
            "{text}"
        );
    }
}

#[test]
fn who_is_not_known_is_not_guessed() {
    let dir = tempfile::tempdir().unwrap();
    let text = said(&dir, &["install", "emacs"]);
    assert!(text.contains("unknown host emacs") && text.ends_with("--- exit 2\n"), "{text}");
    let text = said(&dir, &["install"]);
    assert!(text.contains("no agent was found on this machine"), "{text}");
    assert!(!dir.path().join("home").exists());
}
