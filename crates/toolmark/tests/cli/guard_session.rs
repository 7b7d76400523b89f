//! Tests that the hook knows the earlier effects of its session: files that the session created may
//! be deleted, and scripts that it wrote are read when they run.

use crate::toolmark;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A work tree with a log beside it.
struct Stage {
    dir: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        fs::create_dir_all(dir.path().join("work/app/src")).unwrap();
        // The root of the tree, which is otherwise that of the project this is a test of.
        fs::create_dir_all(dir.path().join("work/app/.git")).unwrap();
        // Decisions without copies, which would replace most questions.
        fs::write(dir.path().join("policy.yaml"), "guard: {keep: false}\n").unwrap();
        Self { dir }
    }

    /// Returns a stage outside temporary directories, where deletion is always allowed; `None` if
    /// the project itself is in one.
    fn outside_temporary() -> Option<Self> {
        let temporary = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
        let here = Path::new(env!("CARGO_TARGET_TMPDIR"));
        if temporary.iter().any(|directory| here.starts_with(directory)) {
            toolmark_testing::skip("the project is among the temporary files");
            return None;
        }
        Some(Self::new())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("work").join(name)
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("log.jsonl")
    }

    /// Returns the hook's decision about a call of a session: `allow`, `ask` or `deny`.
    fn ask(&self, session: &str, tool: &str, input: Value) -> String {
        let (log, policy) = (self.log(), self.dir.path().join("policy.yaml"));
        let mut args = vec!["guard", "--host", "claude-code", "--log", log.to_str().unwrap()];
        args.extend(["--policy", policy.to_str().unwrap()]);
        let payload = json!({"hook_event_name": "PreToolUse", "session_id": session,
            "cwd": self.path("app"), "permission_mode": "default", "tool_name": tool,
            "tool_input": input});
        let output = toolmark(&args).write_stdin(payload.to_string()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        if output.stdout.is_empty() {
            return "allow".to_owned();
        }
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap().to_owned()
    }

    /// Returns the decision about a command, and runs the command if it is allowed.
    fn run(&self, command: &str) -> String {
        let decision = self.ask("s", "Bash", json!({"command": command}));
        if decision != "deny" {
            let app = self.path("app");
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(command).current_dir(app).output().unwrap();
        }
        decision
    }
}

#[test]
fn what_the_session_made_may_go() {
    let Some(stage) = Stage::outside_temporary() else { return };
    fs::create_dir_all(stage.path("old")).unwrap();
    for (command, want) in [
        ("rm -rf ../old", "deny"),
        ("mkdir -p ../old ../new ../links ../filled", "allow"),
        ("rm -rf ../old", "deny"),
        ("echo x > ../new/a.txt", "allow"),
        ("rm -rf ../new", "allow"),
        ("rm -rf ../never-there", "allow"),
        // What comes from elsewhere is not its own.
        ("ln -s ../app ../links/app", "allow"),
        ("rm -rf ../links/app/src", "deny"),
        ("mv ../old ../filled/", "allow"),
        ("rm -rf ../filled", "deny"),
        ("mv ../app ../gone && rm -rf ../gone", "deny"),
    ] {
        assert_eq!(stage.run(command), want, "{command}");
    }
    stage.run("mkdir ../mine");
    let other = json!({"command": "rm -rf ../mine"});
    assert_eq!(stage.ask("t", "Bash", other), "deny", "another session");
}

#[test]
fn what_the_session_wrote_is_read_when_it_runs() {
    let stage = Stage::new();
    let write = |name: &str, text: &str| {
        let path = stage.path("app").join(name);
        let call = json!({"file_path": path, "content": text});
        assert_eq!(stage.ask("s", "Write", call), "allow", "{name}");
        fs::write(path, text).unwrap();
    };
    write("clean.sh", "#!/bin/sh\nrm -rf ~\n");
    write("take.sh", "rm -rf \"$1\"\n");
    write("wipe.py", "import shutil\nshutil.rmtree('/home/me/photos')\n");
    write("fine.sh", "echo hello\n");
    for (command, want) in [
        ("bash clean.sh", "deny"),
        ("./clean.sh", "deny"),
        ("source clean.sh", "deny"),
        ("sh take.sh ~", "deny"),
        ("python3 wipe.py", "deny"),
        ("sh fine.sh", "allow"),
        ("cp /bin/rm tool", "allow"),
        ("./tool -rf ~", "deny"),
        ("ln -s /bin/rm link", "allow"),
        ("./link -rf ~", "deny"),
        ("curl -o setup.sh http://127.0.0.1:1/setup.sh", "allow"),
        ("sh setup.sh", "deny"),
    ] {
        assert_eq!(stage.run(command), want, "{command}");
    }
}

#[test]
fn git_loses_nothing_that_is_not_there() {
    let stage = Stage::new();
    let app = stage.path("app");
    let git = |args: &[&str]| {
        let own = ["-c", "user.name=a", "-c", "user.email=a@b"];
        Command::new("git").current_dir(&app).args(own).args(args).output()
    };
    if !git(&["init", "-q", "-b", "main"]).is_ok_and(|output| output.status.success()) {
        toolmark_testing::skip("git is not installed");
        return;
    }
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    let put = |name: &str, text: &str| {
        fs::write(app.join(name), text).unwrap();
        fs::File::options().append(true).open(app.join(name)).unwrap().set_modified(old).unwrap();
    };
    put("a.rs", "one\n");
    put("b.rs", "two\n");
    git(&["add", "."]).unwrap();
    git(&["commit", "-q", "-m", "a"]).unwrap();
    let is_clean = "git checkout -- a.rs";
    assert_eq!(stage.run(is_clean), "allow");
    assert_eq!(stage.run("git reset --hard"), "allow");
    // The user has changed one file, the agent the other.
    put("a.rs", "one, and a day's work\n");
    let edit = |path: &Path| {
        let call = json!({"file_path": path, "old_string": "o", "new_string": "0"});
        assert_eq!(stage.ask("s", "Edit", call), "allow");
    };
    edit(&app.join("b.rs"));
    put("b.rs", "changed by the agent\n");
    edit(&app.join("a.rs"));
    for (command, want) in [
        ("git checkout -- a.rs", "deny"),
        ("git reset --hard", "deny"),
        ("git checkout -- b.rs", "allow"),
        ("git push --force-with-lease", "ask"),
        ("git checkout -q -b feature/x", "allow"),
        ("git push --force-with-lease", "allow"),
        ("git push --force", "deny"),
    ] {
        assert_eq!(stage.run(command), want, "{command}");
    }
}

#[test]
fn no_variable_moves_the_log() {
    let Some(stage) = Stage::outside_temporary() else { return };
    let (log, evil) = (stage.log(), stage.path("evil.jsonl"));
    let made = stage.path("old");
    fs::create_dir_all(&made).unwrap();
    let forged = json!({"session": "s", "left": {"made": [made]}});
    fs::write(&evil, format!("{forged}\n")).unwrap();
    let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s",
        "cwd": stage.path("app"), "tool_name": "Bash", "tool_input": {"command": "rm -rf ../old"}});
    let args = ["guard", "--host", "claude-code", "--log", log.to_str().unwrap()];
    let mut hook = toolmark(&args);
    hook.env("TOOLMARK_GUARD_LOG", &evil).env("XDG_STATE_HOME", stage.path("state"));
    let output = hook.write_stdin(payload.to_string()).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("deny"), "{output:?}");
    let logged = fs::read_to_string(&log).unwrap();
    assert!(logged.contains("TOOLMARK_GUARD_LOG names"), "{logged}");
    assert_eq!(fs::read_to_string(&evil).unwrap().lines().count(), 1);
    let write = json!({"file_path": log, "content": ""});
    assert_eq!(stage.ask("s", "Write", write), "deny", "the log is protected");
}
