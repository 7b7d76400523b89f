//! Payloads as hosts send them, in a work tree of git.

use super::*;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::SystemTime;

struct Stage {
    dir: tempfile::TempDir,
    log: Option<PathBuf>,
}

impl Stage {
    /// A work tree with one commit, and a file of the user's that is not in it.
    fn new() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let log = Some(dir.path().join("log.jsonl"));
        let stage = Self { dir, log };
        fs::create_dir(stage.app()).unwrap();
        fs::write(stage.path("main.py"), "print(1)\n").unwrap();
        for args in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "a"]] {
            let mut git = Command::new("git");
            git.current_dir(stage.app()).args(["-c", "user.name=a", "-c", "user.email=a@b"]);
            if !git.args(args).output().is_ok_and(|output| output.status.success()) {
                toolmark_testing::skip("git is not installed");
                return None;
            }
        }
        fs::write(stage.path("todo.md"), "of the user\n").unwrap();
        Some(stage)
    }

    fn app(&self) -> PathBuf {
        self.dir.path().join("app")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.app().join(name)
    }

    fn transcript(&self) -> PathBuf {
        self.dir.path().join("transcript.jsonl")
    }

    /// Sends a call to the hook and returns whether it is allowed. `event` is the host's name of
    /// the event.
    fn send(&self, host: &str, mode: &str, event: &str, tool: &str, input: &Value) -> bool {
        let mut payload = json!({"hook_event_name": event, "session_id": "s", "cwd": self.app(),
            "transcript_path": self.transcript(), "permission_mode": mode, "tool_name": tool,
            "tool_input": input, "tool_use_id": input.to_string()});
        if event == "PostToolUse" {
            payload["tool_response"] = json!({});
        }
        if host == "codex" {
            payload["turn_id"] = json!("1");
        }
        // Decisions without copies, which would replace most questions.
        let policy = self.dir.path().join("policy.yaml");
        fs::write(&policy, "guard: {keep: false}\n").unwrap();
        let log = self.log.clone().unwrap_or_else(|| "off".into());
        let asked = HookArgs { host: Some(host), policy: Some(&policy), log: Some(&log) };
        let hook = GuardHook { asked, readers: None };
        match hook.answer(payload.to_string().as_bytes()) {
            Reply::Answer(answer) => !answer.stops(),
            Reply::LacksReader => panic!("no policy"),
        }
    }

    /// Sends a call and runs it where it is allowed.
    fn run(&self, host: &str, mode: &str, call: &HookCall<'_>) -> bool {
        let (tool, input) = self.input(host, call);
        let is_allowed = self.send(host, mode, "PreToolUse", tool, &input);
        if is_allowed {
            match *call {
                HookCall::Write(name, text) => fs::write(self.path(name), text).unwrap(),
                HookCall::Edit(name) => fs::write(self.path(name), "edited\n").unwrap(),
                HookCall::Shell(command) => {
                    let mut shell = Command::new("sh");
                    shell.args(["-c", command]).current_dir(self.app()).output().unwrap();
                }
            }
            self.send(host, mode, "PostToolUse", tool, &input);
        }
        is_allowed
    }

    fn input(&self, host: &str, call: &HookCall<'_>) -> (&'static str, Value) {
        let patch = |body: String| {
            ("apply_patch", json!({"command": format!("*** Begin Patch\n{body}\n*** End Patch\n")}))
        };
        match *call {
            HookCall::Write(name, text) if host == "codex" => {
                patch(format!("*** Add File: {name}\n+{}", text.trim_end()))
            }
            HookCall::Edit(name) if host == "codex" => {
                patch(format!("*** Update File: {name}\n@@\n-a\n+b"))
            }
            HookCall::Write(name, text) => {
                ("Write", json!({"file_path": self.path(name), "content": text}))
            }
            HookCall::Edit(name) => {
                let file = self.path(name);
                ("Edit", json!({"file_path": file, "old_string": "a", "new_string": "b"}))
            }
            HookCall::Shell(command) => ("Bash", json!({"command": command})),
        }
    }

    /// Gives a file a time as if it had been changed a minute from now.
    fn change_later(&self, name: &str) {
        let later = SystemTime::now() + Duration::from_secs(60);
        let file = fs::File::options().append(true).open(self.path(name)).unwrap();
        file.set_modified(later).unwrap();
    }
}

enum HookCall<'c> {
    Write(&'c str, &'c str),
    Edit(&'c str),
    Shell(&'c str),
}

const MODES: &[(&str, &str)] = &[
    ("claude-code", "default"),
    ("claude-code", "acceptEdits"),
    ("claude-code", "bypassPermissions"),
    ("claude-code", "dontAsk"),
    ("codex", "default"),
    ("codex", "bypassPermissions"),
];

#[test]
fn a_session_edits_and_removes_what_it_wrote() {
    for (host, mode) in MODES {
        let Some(stage) = Stage::new() else { return };
        for (call, want) in [
            (HookCall::Write("calc.py", "a + b\n"), true),
            (HookCall::Edit("calc.py"), true),
            (HookCall::Edit("calc.py"), true),
            (HookCall::Shell("rm calc.py"), true),
            (HookCall::Shell("cat > gen.py <<'E'\nx = 1\nE"), true),
            (HookCall::Edit("gen.py"), true),
            (HookCall::Write("old.py", "x\n"), true),
            // The user's own file is not the session's, before and after.
            (HookCall::Edit("todo.md"), false),
            (HookCall::Write("todo.md", "mine\n"), false),
            (HookCall::Shell("rm todo.md"), false),
            (HookCall::Edit("main.py"), true),
        ] {
            let (tool, input) = stage.input(host, &call);
            assert_eq!(stage.run(host, mode, &call), want, "{host} {mode}: {tool} {input}");
        }
        // Somebody else has changed it since.
        stage.change_later("old.py");
        for call in [HookCall::Edit("old.py"), HookCall::Shell("rm old.py")] {
            assert!(!stage.run(host, mode, &call), "{host} {mode}");
        }
    }
}

#[test]
fn a_patch_in_a_shell_command_adds_files_too() {
    let Some(stage) = Stage::new() else { return };
    let patch = |verb: &str, name: &str| {
        format!("apply_patch <<'E'\n*** Begin Patch\n*** {verb} File: {name}\n+x\n*** End Patch\nE")
    };
    let run = |command: &str| {
        let is_allowed = stage.run("codex", "default", &HookCall::Shell(command));
        // There is no such program here.
        fs::write(stage.path("n.py"), "x\n").unwrap();
        is_allowed
    };
    assert!(run(&patch("Add", "n.py")));
    assert!(run(&patch("Update", "n.py")));
    assert!(!run(&patch("Update", "todo.md")));
}

/// The session is older than the guard, or there is no log.
#[test]
fn the_transcript_says_what_a_session_wrote() {
    for (host, mode) in MODES {
        let Some(stage) = Stage::new() else { return };
        let stage = Stage { log: None, ..stage };
        let now = jiff::Timestamp::now().to_string();
        let (file, user) = (stage.path("calc.py"), stage.path("todo.md"));
        let lines = match *host {
            "codex" => [
                json!({"timestamp": now, "type": "response_item", "payload": {"type":
                    "custom_tool_call", "name": "apply_patch", "call_id": "c", "input":
                    "*** Begin Patch\n*** Add File: calc.py\n+x\n*** End Patch"}}),
                json!({"timestamp": now, "type": "response_item", "payload": {"type":
                    "custom_tool_call_output", "call_id": "c", "output":
                    "Success. Updated the following files:\nA calc.py\n"}}),
            ],
            _ => [
                json!({"type": "assistant", "timestamp": now, "message": {"content": [{"type":
                    "tool_use", "id": "c", "name": "Write", "input":
                    {"file_path": file, "content": "x\n"}}]}}),
                json!({"type": "user", "timestamp": now, "message": {"content": [{"type":
                    "tool_result", "tool_use_id": "c", "content":
                    format!("File created successfully at: {}", file.display())}]}}),
            ],
        };
        fs::write(&file, "x\n").unwrap();
        let edit = |name| stage.run(host, mode, &HookCall::Edit(name));
        assert!(!edit("calc.py"), "{host} {mode}: there is no transcript yet");
        let text = lines.map(|line| line.to_string()).join("\n");
        fs::write(stage.transcript(), &text).unwrap();
        assert!(edit("calc.py"), "{host} {mode}");
        assert!(!edit("todo.md"), "{host} {mode}");
        stage.change_later("calc.py");
        assert!(!edit("calc.py"), "{host} {mode}: changed since");
        // Nobody may write what is believed.
        let forge = format!("cp {} {}", user.display(), stage.transcript().display());
        assert!(!stage.run(host, mode, &HookCall::Shell(&forge)), "{host} {mode}");
    }
}

/// A name such as `build` says nothing about what a link of that name leads to.
#[cfg(unix)]
#[test]
fn links_on_disk_are_followed() {
    use std::os::unix::fs::symlink;
    let Some(stage) = Stage::new() else { return };
    let precious = stage.dir.path().join("precious");
    let srv = Path::new("/usr/share");
    for directory in [&precious, &stage.path("out"), &stage.path("src"), &stage.path("dist")] {
        fs::create_dir(directory).unwrap();
        fs::write(directory.join("file"), "x").unwrap();
    }
    for (target, link) in [
        (srv, "build"),
        (&stage.path("src"), "target"),
        (&stage.path("out"), "coverage"),
        (&stage.path("build"), "htmlcov"),
    ] {
        symlink(target, stage.path(link)).unwrap();
    }
    for (command, want) in [
        ("rm -rf build/*", false),
        ("rm -rf build/", false),
        ("rm -rf build/x", false),
        ("rm -rf htmlcov/*", false),
        ("find build/ -delete", false),
        ("rm -rf target/*", false),
        ("rm -rf coverage/*", true),
        ("rm -rf dist/*", true),
        ("rm -rf dist/", true),
        ("rm -rf build", true),
    ] {
        let input = json!({"command": command});
        let is_allowed = stage.send("claude-code", "default", "PreToolUse", "Bash", &input);
        assert_eq!(is_allowed, want, "{command}");
    }
}
