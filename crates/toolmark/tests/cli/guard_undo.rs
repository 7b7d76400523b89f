//! Tests of `toolmark guard undo`: what a call destroys is kept before it and put back exactly.

use crate::toolmark;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// A real repository with changed, untracked and committed files.
struct Stage {
    dir: tempfile::TempDir,
    calls: std::cell::Cell<u32>,
}

/// Files of a work tree: kind and permissions, modification time, content.
type Snapshot = BTreeMap<PathBuf, (u32, Option<SystemTime>, Vec<u8>)>;

impl Stage {
    /// Returns a stage; `None` without git, or if the project is among temporary files, which are
    /// not kept.
    fn new() -> Option<Self> {
        let temporary = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
        let here = Path::new(env!("CARGO_TARGET_TMPDIR"));
        if temporary.iter().any(|directory| here.starts_with(directory)) {
            toolmark_testing::skip("the project is among the temporary files");
            return None;
        }
        let dir = tempfile::tempdir_in(here).unwrap();
        let stage = Self { dir, calls: std::cell::Cell::new(0) };
        fs::create_dir_all(stage.tree()).unwrap();
        if Command::new("git").arg("--version").output().is_err() {
            toolmark_testing::skip("git is not installed");
            return None;
        }
        stage.sh("git init -q -b main . && git config user.email a@example.com && \
            git config user.name a && mkdir src && echo one > src/one.txt && echo two > two.txt && \
            git add . && git commit -qm one && echo 2 >> two.txt && git commit -qam two");
        // Older than the index, so that git and the guard see from the times alone what changed.
        let old = SystemTime::now() - Duration::from_secs(3600);
        for name in ["src/one.txt", "two.txt"] {
            fs::File::open(stage.tree().join(name)).unwrap().set_modified(old).unwrap();
        }
        stage.sh("git update-index --refresh");
        stage.sh("echo changed >> src/one.txt; echo note > note.txt; chmod 640 note.txt; \
            mkdir -p data/deep; echo x > data/deep/x; ln -s note.txt link; printf 'a\\0b' > data/bin");
        Some(stage)
    }

    fn tree(&self) -> PathBuf {
        self.dir.path().join("home/app")
    }

    fn sh(&self, script: &str) {
        let output = Command::new("sh").args(["-c", script]).current_dir(self.tree()).output();
        output.unwrap();
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("state/guard.jsonl")
    }

    /// Sends one event of a call to the hook and returns its answer.
    fn hook(&self, event: &str, tool: &str, input: &Value) -> Value {
        let id = format!("call-{}", self.calls.get());
        let log = self.log();
        let payload = json!({"hook_event_name": event, "session_id": "s", "cwd": self.tree(),
            "permission_mode": "default", "tool_name": tool, "tool_input": input,
            "tool_use_id": id, "tool_response": {"stdout": "", "stderr": ""}});
        let args = ["guard", "--host", "claude-code", "--log", log.to_str().unwrap()];
        let output = toolmark(&args).write_stdin(payload.to_string()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        answer["hookSpecificOutput"].clone()
    }

    /// Runs a command as an agent would, with the hook before and after it; returns the decision
    /// and the note to the agent.
    fn call(&self, command: &str) -> (String, String) {
        self.calls.set(self.calls.get() + 1);
        let input = json!({"command": command});
        let answer = self.hook("PreToolUse", "Bash", &input);
        let decision = answer["permissionDecision"].as_str().unwrap_or("allow").to_owned();
        if decision == "allow" {
            self.sh(command);
            self.hook("PostToolUse", "Bash", &input);
        }
        (decision, answer["additionalContext"].as_str().unwrap_or_default().to_owned())
    }

    fn undo(&self, args: &[&str]) -> std::process::Output {
        let mut command = toolmark(&[&["guard", "undo"], args].concat());
        command.current_dir(self.tree()).env("TOOLMARK_GUARD_LOG", self.log()).output().unwrap()
    }

    fn snapshot(&self) -> Snapshot {
        let mut found = Snapshot::new();
        let mut pending = vec![self.tree()];
        while let Some(directory) = pending.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let about = fs::symlink_metadata(&path).unwrap();
                if path.ends_with(".git") {
                    continue;
                }
                let mode = std::os::unix::fs::MetadataExt::mode(&about);
                let (time, content) = match () {
                    () if about.is_dir() => {
                        pending.push(path.clone());
                        (None, Vec::new())
                    }
                    () if about.is_symlink() => {
                        let target = fs::read_link(&path).unwrap();
                        (None, target.into_os_string().into_encoded_bytes())
                    }
                    () => (about.modified().ok(), fs::read(&path).unwrap()),
                };
                found.insert(path, (mode, time, content));
            }
        }
        found
    }

    /// Returns a snapshot to compare after a command. Files that git itself checks out again get
    /// new times.
    fn comparable(&self, command: &str) -> Snapshot {
        let mut snapshot = self.snapshot();
        if command.contains("HEAD~1") {
            snapshot.values_mut().for_each(|(_, time, _)| *time = None);
        }
        snapshot
    }

    fn head(&self) -> Vec<u8> {
        let script = "git rev-parse HEAD; git symbolic-ref HEAD; git diff --cached";
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(self.tree()).output().unwrap().stdout
    }
}

#[test]
fn commands_are_undone_exactly() {
    for command in [
        "rm note.txt",
        "rm -rf data",
        "rm -rf data note.txt link src",
        "cp two.txt note.txt",
        "echo x > note.txt",
        "echo x > link",
        "echo x | tee note.txt",
        "truncate -s 0 note.txt",
        "sed -i s/note/x/ note.txt",
        "rm *.txt",
        "find data -name 'x' -delete",
        "cp two.txt data/deep/x && rm -r data",
        "shred note.txt",
        "git checkout -- src/one.txt",
        "git restore .",
        "git reset --hard",
        "git reset --hard HEAD~1",
        "git clean -fdx",
        "git add src && git reset --hard",
        "git add . && git reset --hard",
    ] {
        let Some(stage) = Stage::new() else { return };
        let before = (stage.comparable(command), stage.head());
        let (decision, note) = stage.call(command);
        assert_eq!(decision, "allow", "{command}");
        assert!(note.contains("toolmark guard undo "), "{command}: {note}");
        assert_ne!(before.0, stage.comparable(command), "{command} changes nothing");
        let output = stage.undo(&["--last"]);
        assert_eq!(output.status.code(), Some(0), "{command}: {output:?}");
        assert_eq!(before.0, stage.comparable(command), "{command}");
        if !command.starts_with("git add") {
            assert_eq!(before.1, stage.head(), "{command}");
        }
    }
}

/// Branches, tags and stashes come back with their objects, even if git has removed those.
#[test]
fn references_are_undone() {
    for command in [
        "git branch -D side",
        "git branch -D side other",
        "git checkout -q main && git branch -D side 2>&1 | tail -1",
        "cd src && git branch -D side",
        "git -C src branch -D side",
        "git branch -f side main",
        "git branch -M side other",
        "git checkout -q -B side main",
        "git checkout -q -B main HEAD~1",
        "git update-ref -d refs/heads/side",
        "git update-ref refs/heads/side HEAD~1",
        "git reset -q --hard HEAD~1",
        "git stash drop -q",
        "git stash clear",
        "git tag -d light heavy",
        "git tag -f light HEAD~1",
        "git stash drop -q; git branch -D side",
    ] {
        let Some(stage) = Stage::new() else { return };
        stage.sh(
            "git stash -q && echo second > two.txt && git stash -q && rm -rf note.txt data link; \
            git checkout -q -b side && echo s > side.txt && git add . && git commit -qm side && \
            git branch other HEAD~1 && git tag light side && git tag -a -m x heavy side~1 && \
            git config branch.side.description text && git checkout -q main",
        );
        let script = "git for-each-ref; cat .git/HEAD; git stash list; git config --list --local | \
            grep '^branch.side' | sort; git status --porcelain; ls; git fsck --connectivity-only";
        let state = || {
            let output = Command::new("sh").args(["-c", script]).current_dir(stage.tree()).output();
            String::from_utf8(output.unwrap().stdout).unwrap()
        };
        let state = || {
            state().lines().filter(|line| !line.contains("dangling")).collect::<Vec<_>>().join("\n")
        };
        let before = state();
        let (decision, note) = stage.call(command);
        assert_eq!(decision, "allow", "{command}");
        assert!(note.contains("toolmark guard undo "), "{command}: {note}");
        assert_ne!(before, state(), "{command} changes nothing");
        stage.sh("git gc -q --prune=now");
        let output = stage.undo(&["--last"]);
        assert_eq!(output.status.code(), Some(0), "{command}: {output:?}");
        assert_eq!(before, state(), "{command}");
    }
    // A branch with newer commits stays, and the old one gets another name.
    let Some(stage) = Stage::new() else { return };
    stage.sh("git branch side HEAD~1");
    stage.call("git branch -f side main");
    stage.sh("git stash -qu; git checkout -q side && echo n > n && git add n && git commit -qm n");
    assert_eq!(stage.undo(&["--last"]).status.code(), Some(1));
    let kept = stage.tree().join(".git/refs/heads/side.kept");
    assert!(kept.exists());
}

#[test]
fn later_work_is_not_replaced() {
    let Some(stage) = Stage::new() else { return };
    stage.call("echo agent > note.txt");
    let note = stage.tree().join("note.txt");
    fs::write(&note, "written by the user later").unwrap();
    let output = stage.undo(&["--last"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(fs::read_to_string(&note).unwrap(), "written by the user later");
    let beside = stage.tree().join("note.txt.kept");
    assert_eq!(fs::read_to_string(beside).unwrap(), "note\n");
    // With consent it is replaced, and the user's text is kept in turn.
    let output = stage.undo(&["--last", "--replace"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(fs::read_to_string(&note).unwrap(), "note\n");
    let list = stage.undo(&["--format", "json"]);
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!(list["entries"][0]["tool"], "undo", "{list}");
    let id = list["entries"][0]["id"].as_str().unwrap();
    assert_eq!(stage.undo(&[id, "--replace"]).status.code(), Some(0));
    assert_eq!(fs::read_to_string(&note).unwrap(), "written by the user later");
}

#[test]
fn parts_differences_and_unknown_entries() {
    let Some(stage) = Stage::new() else { return };
    assert_eq!(stage.undo(&["--last"]).status.code(), Some(2), "nothing is kept yet");
    stage.call("rm -rf data note.txt");
    let diff = stage.undo(&["--last", "--diff"]);
    let text = String::from_utf8(diff.stdout).unwrap();
    assert!(text.contains("note.txt  deleted"), "{text}");
    assert!(!stage.tree().join("note.txt").exists(), "--diff changes nothing");
    let list = stage.undo(&["--format", "json"]);
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    let id = list["entries"][0]["id"].as_str().unwrap();
    assert_eq!(stage.undo(&[id, "data/deep"]).status.code(), Some(0));
    assert!(stage.tree().join("data/deep/x").exists());
    assert!(!stage.tree().join("note.txt").exists());
    assert_eq!(stage.undo(&[id, "src"]).status.code(), Some(2), "not in the entry");
    assert_eq!(stage.undo(&["9999"]).status.code(), Some(2));
    assert_eq!(stage.undo(&["--session", "s"]).status.code(), Some(0));
    assert!(stage.tree().join("note.txt").exists());
}

#[test]
fn what_cannot_be_kept_is_not_let_through() {
    let Some(stage) = Stage::new() else { return };
    let large = fs::File::create(stage.tree().join("large.bin")).unwrap();
    large.set_len(300 << 20).unwrap();
    fs::create_dir(stage.tree().join("many")).unwrap();
    for n in 0..2_100 {
        fs::write(stage.tree().join(format!("many/{n}")), "").unwrap();
    }
    stage.sh("mkdir ../precious nested && git init -q nested && ln -s src folder");
    for (command, want) in [
        ("echo x > large.bin", "ask"),
        ("rm -rf many", "deny"),
        ("rm -rf .git", "deny"),
        ("rm -rf \"$DIRECTORY\"", "ask"),
        ("git commit -qam x && git branch -D side", "ask"),
        ("git branch -D $BRANCH", "ask"),
        ("git stash && git stash drop", "ask"),
        ("git reflog expire --expire=now --all", "deny"),
        ("git push --force origin main", "deny"),
        ("git --work-tree=src reset --hard", "deny"),
        // One of the paths is not there before the command runs, or leads elsewhere.
        ("mv ../precious moved && rm -rf moved data", "deny"),
        ("find folder/ -delete; rm -rf data", "deny"),
        ("rm -rf nested data", "deny"),
        ("find . -name '*.txt' -delete", "ask"),
    ] {
        assert_eq!(stage.call(command).0, want, "{command}");
    }
    // A policy may do without copies.
    let (policy, log) = (stage.dir.path().join("toolmark.yaml"), stage.log());
    fs::write(&policy, "guard: {keep: false}\n").unwrap();
    let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": stage.tree(),
        "permission_mode": "default", "tool_name": "Bash", "tool_input": {"command": "rm -rf data"}});
    let args = [
        "guard",
        "--host",
        "claude-code",
        "--log",
        log.to_str().unwrap(),
        "--policy",
        policy.to_str().unwrap(),
    ];
    let output = toolmark(&args).write_stdin(payload.to_string()).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("deny"));
}

#[test]
fn kept_files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let Some(stage) = Stage::new() else { return };
    stage.call("echo x > note.txt");
    let kept = stage.dir.path().join("state/kept");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&kept), 0o700);
    let entry = fs::read_dir(&kept).unwrap().flatten().map(|entry| entry.path());
    let entry = entry.into_iter().find(|path| path.is_dir()).unwrap();
    assert_eq!((mode(&entry), mode(&entry.join("0"))), (0o700, 0o600));
    // A hook that was killed leaves a draft, which is not listed.
    fs::create_dir(kept.join(".draft-20200101T000000000-0001")).unwrap();
    let list = stage.undo(&["--format", "json"]);
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!(list["entries"].as_array().unwrap().len(), 1, "{list}");
}

/// One destructive step on the files of a stage.
fn step() -> impl Strategy<Value = String> {
    let file = prop::sample::select(vec!["note.txt", "src/one.txt", "two.txt", "data/bin", "link"]);
    let directory = prop::sample::select(vec!["data", "src", "data/deep"]);
    let git = prop::sample::select(vec![
        "git checkout -- .",
        "git reset --hard",
        "git reset --hard HEAD~1",
        "git clean -fd",
        "git restore src",
    ]);
    prop_oneof![
        file.clone().prop_map(|file| format!("rm -f {file}")),
        file.clone().prop_map(|file| format!("echo new > {file}")),
        file.clone().prop_map(|file| format!("cp two.txt {file}")),
        file.prop_map(|file| format!("truncate -s 1 {file}")),
        directory.prop_map(|directory| format!("rm -rf {directory}")),
        git.prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 20, ..Default::default() })]

    /// Steps are undone in the reverse order; each brings back every file from before the step.
    #[test]
    fn sequences_are_undone_step_by_step(steps in prop::collection::vec(step(), 1..5)) {
        let Some(stage) = Stage::new() else { return Ok(()) };
        let mut states = Vec::new();
        for command in &steps {
            let has_moved = steps.iter().any(|step| step.contains("HEAD~1"));
            let times = if has_moved { "HEAD~1" } else { "" };
            let before = stage.comparable(times);
            let (decision, note) = stage.call(command);
            if decision != "allow" {
                continue;
            }
            let is_changed = before != stage.comparable(times);
            // The session may change again what it wrote itself.
            let id = note.rsplit(' ').next().filter(|_| !note.is_empty()).map(str::to_owned);
            states.push((command, before, id, is_changed));
        }
        // A step without a copy touches only what the session made or git has.
        let is_kept = |state: &(&String, Snapshot, Option<String>, bool)| state.2.is_some();
        let last = states.iter().rposition(|state| !is_kept(state) && state.3);
        let undone = &states[last.map_or(0, |at| at + 1)..];
        for (command, before, id, _) in undone.iter().rev() {
            let Some(id) = id else { continue };
            let output = stage.undo(&[id]);
            let code = output.status.code();
            prop_assert!(matches!(code, Some(0 | 1)), "{} in {:?}: {:?}", command, steps, output);
            let times = if steps.iter().any(|step| step.contains("HEAD~1")) { "HEAD~1" } else { "" };
            // Files that a command made stay; one that a later step made again is not replaced.
            let after = stage.comparable(times);
            for (path, was) in before {
                let beside = format!("{}.kept", path.display());
                let is_beside = |(path, now): (&PathBuf, _)| {
                    now == was && path.to_string_lossy().starts_with(&beside)
                };
                let is_back = after.get(path) == Some(was) || after.iter().any(is_beside);
                prop_assert!(is_back, "{:?}: {} in {:?}: {:?}", path, command, steps, output);
            }
        }
    }
}

/// Number of random sequences: a few with the other tests, more where they are asked for.
fn cases() -> u32 {
    std::env::var("TOOLMARK_SEQUENCES").ok().and_then(|n| n.parse().ok()).unwrap_or(12)
}
