//! Tests of completion, requested as the shell scripts do.

use crate::{sessions, stdout, toolmark};
use std::path::Path;

/// Completions that bash receives for the last word.
fn bash(words: &[&str], home: &Path) -> Vec<String> {
    let mut command = toolmark(&[&["--", "toolmark"], words].concat());
    command
        .env("TOOLMARK_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_COMPLETE_SPACE", "true")
        .env("_CLAP_IFS", "\n")
        .env("HOME", home);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn what_is_completed() {
    let home = sessions::home();
    for (words, wanted) in [
        (&["che"][..], &["check"][..]),
        (&["feed", "res"], &["resolve"]),
        (&["rules", "S10"], &["S101", "S102", "S103", "S104", "S105", "S106", "S107", "S108"]),
        (&["check", "--select", "R41"], &["R410", "R411", "R412", "R413", "R414", "R415", "R416"]),
        (
            &["check", "--ignore", "S101,A21"],
            &[
                "S101,A210",
                "S101,A211",
                "S101,A212",
                "S101,A213",
                "S101,A214",
                "S101,A215",
                "S101,A216",
            ],
        ),
        (&["check", "--explain", "S106"], &["S106"]),
        (&["graders", "tool-call"], &["tool-calls", "tool-call-count", "tool-call-f1"]),
        (&["stats", "--as", "codex"], &["codex-exec", "codex-rollout"]),
        (&["convert", "--to", "ati"], &["atif"]),
        (&["help", "guard-p"], &["guard-policy", "guard-programs"]),
        (&["help", "S106"], &["S106"]),
        (&["help", "ser"], &["serve"]),
        (&["guard", "install", "cla"], &["claude-code"]),
        (&["runs", "la"], &["last"]),
        (&["check", "samples/claude-code/disk"], &["samples/claude-code/disk-full.jsonl"]),
    ] {
        let mut found = bash(words, home.path());
        let mut wanted: Vec<&str> = wanted.to_vec();
        found.sort();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{words:?}");
    }
}

#[test]
fn ids_of_sessions_are_those_of_this_machine() {
    let home = sessions::home();
    let found = bash(&["show", ""], home.path());
    let one = "51ea40b0-7088-4482-8231-74d06cde3e3a";
    let other = "51effdae-67be-4034-8a8a-fad2e36bade1";
    assert_eq!(found[..2], [other, one], "the newest first, then files: {found:?}");
    assert_eq!(bash(&["show", "51ea"], home.path()), [one]);
    // Without sessions there are files.
    let files = bash(&["show", "samples/co"], Path::new("/nonexistent"));
    assert_eq!(files, ["samples/codex/"]);
}

#[test]
fn scripts_for_every_shell_call_the_program() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stdout(&["completions", shell]);
        assert!(script.contains("TOOLMARK_COMPLETE"), "{shell}: {script}");
    }
}

/// Each shell has its own request and response format; the response includes descriptions.
#[test]
fn every_shell_is_answered() {
    for (shell, first) in [
        ("bash", "S101"),
        ("zsh", "S101:reads a file again that has not changed"),
        ("fish", "S101\treads a file again that has not changed"),
        ("powershell", "S101\treads a file again that has not changed"),
        ("elvish", "S101"),
    ] {
        let mut command = toolmark(&["--", "toolmark", "rules", "S10"]);
        command.env("TOOLMARK_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", "2");
        command.env("_CLAP_IFS", "\n");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{shell}: {output:?}");
        let words = String::from_utf8(output.stdout).unwrap();
        assert_eq!(words.lines().next(), Some(first), "{shell}: {words}");
        assert_eq!(words.lines().count(), 8, "{shell}: {words}");
    }
}

/// The script in a real bash, with the program that it calls.
#[test]
fn bash_itself() {
    if std::process::Command::new("bash").arg("--version").output().is_err() {
        toolmark_testing::skip("completion: there is no bash");
        return;
    }
    let script = stdout(&["completions", "bash"]);
    let binary = assert_cmd::cargo::cargo_bin("toolmark");
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let lines = format!(
        "{script}\nCOMP_WORDS=(toolmark rules S10); COMP_CWORD=2; COMP_TYPE=9\n\
         _clap_complete_toolmark toolmark S10 rules\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let output = std::process::Command::new("bash")
        .args(["--norc", "-c", &lines])
        .env("PATH", path)
        .output()
        .unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        words.lines().next(),
        Some("S101"),
        "{words}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(words.lines().count(), 8, "{words}");
}

/// A variable that names an unknown shell must not stop the program.
#[test]
fn other_programs_variables_are_left_alone() {
    let output = toolmark(&["rules", "S106"]).env("COMPLETE", "bash").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), stdout(&["rules", "S106"]));
}
