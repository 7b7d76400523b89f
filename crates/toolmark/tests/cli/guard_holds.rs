//! The guard holds against the agent and the repository: modes without prompts, environments set by
//! a project, and restrictions that only the user may lift.

use crate::toolmark;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A home directory, a project in it, and the policy at the time of installation.
struct Stage(TempDir);

impl Stage {
    fn new() -> Self {
        let stage = Self(TempDir::new().unwrap());
        fs::create_dir_all(stage.path("app/.git")).unwrap();
        fs::create_dir_all(stage.path("config")).unwrap();
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes the user's policy.
    fn policy(&self, text: &str) {
        self.write("config/toolmark.yaml", text);
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path("log.jsonl")).unwrap_or_default()
    }

    fn command(&self, args: &[&str]) -> assert_cmd::Command {
        let mut command = toolmark(args);
        command.current_dir(self.path("app")).env("HOME", self.path("home"));
        command.env("TOOLMARK_GUARD_LOG", self.path("log.jsonl"));
        command.env_remove("XDG_CONFIG_HOME").env_remove("TOOLMARK_GUARD_POLICY");
        command
    }

    /// Returns the answer of the Claude Code hook: the decision and the reason.
    fn asked(&self, mode: &str, call: (&str, Value), env: &[(&str, PathBuf)]) -> (String, String) {
        let policy = self.path("config/toolmark.yaml");
        let (policy, log) = (policy.to_str().unwrap(), self.path("log.jsonl"));
        let args = ["guard", "--host", "claude-code", "--policy", policy, "--log"];
        let args: Vec<&str> = args.into_iter().chain(log.to_str()).collect();
        let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s",
            "cwd": self.path("app"), "permission_mode": mode, "tool_name": call.0,
            "tool_input": call.1});
        let mut hook = self.command(&args);
        hook.envs(env.iter().map(|(name, value)| (name, value)));
        let output = hook.write_stdin(payload.to_string()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        if output.stdout.is_empty() {
            return ("-".to_owned(), String::new());
        }
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = |key: &str| answer["hookSpecificOutput"][key].as_str().unwrap_or("-").to_owned();
        (text("permissionDecision"), text("permissionDecisionReason"))
    }

    fn bash(&self, mode: &str, command: &str) -> (String, String) {
        self.asked(mode, ("Bash", json!({"command": command})), &[])
    }
}

#[test]
fn where_nobody_is_asked_it_is_a_no() {
    let stage = Stage::new();
    for (mode, want) in [
        ("default", "ask"),
        ("plan", "ask"),
        ("acceptEdits", "ask"),
        ("bypassPermissions", "deny"),
        ("dontAsk", "deny"),
        ("auto", "deny"),
    ] {
        let (decision, reason) = stage.bash(mode, "cat .env");
        assert_eq!(decision, want, "{mode}");
        assert_eq!(
            reason.contains(&format!("does not ask the user in the mode {mode}")),
            want == "deny"
        );
        assert_eq!(stage.bash(mode, "ls").0, "-", "{mode}");
    }
    assert!(stage.log().contains(r#""mode":"bypassPermissions""#), "{}", stage.log());
}

#[test]
fn only_the_user_says_otherwise() {
    let rule = |unattended: &str| {
        format!(
            "guard:\n  rules:\n    - {{name: env, command: cat .env, decision: ask, \
             unattended: {unattended}, examples: {{match: [cat .env]}}}}\n"
        )
    };
    let stage = Stage::new();
    for (unattended, want) in [("allow", "-"), ("ask", "ask"), ("deny", "deny")] {
        stage.policy(&rule(unattended));
        assert_eq!(stage.bash("bypassPermissions", "cat .env").0, want, "{unattended}");
        assert_eq!(stage.bash("default", "cat .env").0, "ask", "{unattended}");
    }
    // A project's word does not count, and does not pass unseen.
    fs::remove_file(stage.path("config/toolmark.yaml")).unwrap();
    stage.write("app/toolmark.yaml", &rule("allow"));
    assert_eq!(stage.bash("bypassPermissions", "cat .env").0, "deny");
    assert!(stage.log().contains("`unattended: allow` has no effect"), "{}", stage.log());
}

#[test]
fn no_environment_loosens_it() {
    let stage = Stage::new();
    let observe = "guard: {preset: observe}\n";
    stage.write("app/lax.yaml", observe);
    stage.write("app/xdg/toolmark/toolmark.yaml", observe);
    stage.write("app/home/.config/toolmark/toolmark.yaml", observe);
    for (name, value) in [
        ("TOOLMARK_GUARD_POLICY", "app/lax.yaml"),
        ("XDG_CONFIG_HOME", "app/xdg"),
        ("HOME", "app/home"),
    ] {
        let env = [(name, stage.path(value))];
        let call = ("Bash", json!({"command": "git push --force"}));
        let (decision, _) = stage.asked("default", call, &env);
        assert_eq!(decision, "deny", "{name}");
        let log = stage.log();
        let last = log.lines().last().unwrap();
        assert!(last.contains(&format!("\"ignored\":\"{name} names ")), "{last}");
        // People hear of it as well.
        for args in [["guard", "policy"], ["guard", "status"]] {
            let mut command = stage.command(&args);
            let output = command.env(name, stage.path(value)).output().unwrap();
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8(said).unwrap();
            let is_named = said.contains(&format!("{name} names "));
            // Without a user that the system knows, HOME says where the home is.
            assert!(is_named || name == "HOME", "{args:?} {name}: {said}");
        }
    }
    // What is stricter counts.
    stage.write("app/strict.yaml", "guard: {tools: {deny: [Bash]}}\n");
    let env = [("TOOLMARK_GUARD_POLICY", stage.path("app/strict.yaml"))];
    assert_eq!(stage.asked("default", ("Bash", json!({"command": "ls"})), &env).0, "deny");
    // What was fixed counts in full.
    stage.policy(observe);
    assert_eq!(stage.bash("default", "git push --force").0, "-");
}

#[test]
fn a_spec_may_be_edited_and_its_guard_part_not() {
    let stage = Stage::new();
    let text = "graders: [error-count]\nguard:\n  tools: {deny: [WebFetch]}\n";
    stage.write("app/toolmark.yaml", text);
    let file = stage.path("app/toolmark.yaml");
    let edit = |old: &str, new: &str| {
        ("Edit", json!({"file_path": file, "old_string": old, "new_string": new}))
    };
    for (call, asked, unasked) in [
        (edit("error-count", "call-count"), "-", "-"),
        (edit("WebFetch", "Nothing"), "ask", "deny"),
        (("Write", json!({"file_path": file, "content": "graders: []\n"})), "ask", "deny"),
        (("Write", json!({"file_path": file, "content": format!("{text}# more\n")})), "-", "-"),
        (("Bash", json!({"command": "echo x >> toolmark.yaml"})), "ask", "deny"),
    ] {
        assert_eq!(stage.asked("default", call.clone(), &[]).0, asked, "{call:?}");
        assert_eq!(stage.asked("bypassPermissions", call.clone(), &[]).0, unasked, "{call:?}");
    }
    // The user's own, wherever it is.
    let own = json!({"file_path": stage.path("config/toolmark.yaml"), "content": "graders: []\n"});
    assert_eq!(stage.asked("default", ("Write", own), &[]).0, "deny");
    let hook = std::path::Path::new(env!("CARGO_BIN_EXE_toolmark")).with_file_name("toolmark-hook");
    for command in [format!("rm {}", hook.display()), "rm ../log.jsonl".to_owned()] {
        assert_eq!(stage.bash("default", &command).0, "deny", "{command}");
    }
}

#[test]
fn the_user_allows_one_command() {
    let stage = Stage::new();
    let allow = |args: &[&str]| {
        let mut command = stage.command(&[&["guard", "allow"], args].concat());
        command.env("TOOLMARK_GUARD_POLICY", stage.path("config/toolmark.yaml"));
        let output = command.output().unwrap();
        output.status.code()
    };
    let force = "git push --force origin fix";
    assert_eq!(stage.bash("default", force).0, "deny");
    assert_eq!(allow(&[force]), Some(2), "how often has to be said");
    assert_eq!(allow(&["--once", force]), Some(0));
    assert_eq!(stage.bash("default", &format!("{force} --all")).0, "deny");
    assert_eq!(stage.bash("default", force).0, "-");
    assert!(stage.log().lines().last().unwrap().contains("allowed.once"), "{}", stage.log());
    assert_eq!(stage.bash("default", force).0, "deny");
    assert_eq!(allow(&["--always", "cat .env"]), Some(0));
    for mode in ["default", "bypassPermissions"] {
        assert_eq!(stage.bash(mode, "cat .env").0, "-", "{mode}");
    }
    // What was stopped last needs not be typed again.
    let script = "git push --force origin fix <<'E'\nline\nE";
    let (decision, words) = stage.bash("default", script);
    assert!(decision == "deny" && words.contains("toolmark guard allow --last"), "{words}");
    assert_eq!(allow(&["--last"]), Some(0));
    assert_eq!(stage.bash("default", script).0, "-");
    assert_eq!(stage.bash("default", script).0, "deny", "once");
    assert_eq!(allow(&["--list"]), Some(0));
    assert_eq!(allow(&["--revoke", "cat .env"]), Some(0));
    assert_eq!(allow(&["--revoke", "cat .env"]), Some(1));
    assert_eq!(stage.bash("default", "cat .env").0, "ask");
    // Not what would take the guard away.
    let disarm = "rm ~/.claude/settings.json";
    assert_eq!(allow(&["--always", disarm]), Some(0));
    assert_eq!(stage.bash("default", disarm).0, "deny");
    // Agents may not ask for it.
    assert_eq!(stage.bash("default", "toolmark guard allow --once 'rm -rf /'").0, "deny");
    let list = json!({"file_path": stage.path("config/allowed.jsonl"), "content": "{}"});
    assert_eq!(stage.asked("default", ("Write", list), &[]).0, "deny");
}

#[test]
fn status_and_doctor_tell_the_truth() {
    let stage = Stage::new();
    fs::create_dir_all(stage.path("home/.claude")).unwrap();
    let run = |args: &[&str]| {
        let output = stage.command(&[&["guard"], args].concat()).output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), text)
    };
    let (code, text) = run(&["doctor", "claude-code"]);
    assert!(code == Some(1) && text.contains("not installed"), "{text}");
    for host in ["claude-code", "codex", "copilot-cli", "gemini-cli", "cursor"] {
        assert_eq!(run(&["install", host]).0, Some(0), "{host}");
        let (code, text) = run(&["doctor", host]);
        assert!(code == Some(0) && text.contains("is stopped ("), "{host}: {text}");
    }
    let (code, text) = run(&["status", "claude-code", "--scope", "user"]);
    assert!(code == Some(0) && text.contains("no decision in the log yet"), "{text}");
    stage.bash("default", "git push --force");
    let (_, text) = run(&["status", "claude-code", "--scope", "user"]);
    assert!(text.contains("last decision: deny at 20"), "{text}");

    // A hook that cannot run, and one that lets everything through.
    let settings = stage.path("home/.claude/settings.json");
    let good = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, good.replace("/toolmark-hook", "/nowhere/toolmark-hook")).unwrap();
    let (code, text) = run(&["doctor", "claude-code"]);
    assert!(code == Some(1) && text.contains("it failed"), "{text}");
    fs::write(&settings, &good).unwrap();
    stage.write("home/.config/toolmark/toolmark.yaml", "guard: {preset: observe}\n");
    let (code, text) = run(&["doctor", "claude-code"]);
    assert!(code == Some(1) && text.contains("only observe"), "{text}");
    // One that Claude Code does not accept.
    fs::write(&settings, good.replacen('{', "{\n  // mine", 1)).unwrap();
    let (code, text) = run(&["status", "claude-code", "--scope", "user"]);
    assert!(code == Some(1) && text.contains("does not accept"), "{text}");
}

/// No environment of the hook may let a call through: the hook answers, or exits with the blocking
/// code.
#[cfg(unix)]
#[test]
fn the_hook_answers_or_blocks_whatever_surrounds_it() {
    let stage = Stage::new();
    let payload = |content: &str| {
        json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": stage.path("app"),
            "tool_name": "Bash", "tool_input": {"command": format!("rm -rf /etc # {content}")}})
        .to_string()
    };
    stage.write("small.json", &payload("x"));
    stage.write("large.json", &payload(&"x".repeat(100 << 20)));
    let hook = std::path::Path::new(env!("CARGO_BIN_EXE_toolmark")).with_file_name("toolmark-hook");
    let run = |before: &str, file: &str, after: &str| {
        let line = format!("{before} exec \"$0\" --host claude-code < \"$1\" {after}");
        let file = stage.path(file);
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &line]).arg(&hook).arg(file).env("HOME", stage.path("home"));
        command.env("TOOLMARK_GUARD_LOG", stage.path("log.jsonl"));
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for (before, file, after, answer) in [
        ("", "small.json", "", Some("\"deny\"")),
        ("ulimit -f 0;", "small.json", "", Some("\"deny\"")),
        ("", "large.json", "", Some("\"deny\"")),
        ("", "small.json", ">&-", None),
    ] {
        let (code, text) = run(before, file, after);
        match answer {
            Some(answer) => {
                assert!(code == Some(0) && text.contains(answer), "{before} {file} {text}");
            }
            None => assert_eq!(code, Some(2), "{before} {file} {after}"),
        }
    }
    if std::path::Path::new("/dev/full").exists() {
        assert_eq!(run("", "small.json", "> /dev/full").0, Some(2));
    }
}
