//! Tests of the hook, for either program.

use super::PROGRAM;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Returns the hook with a log and an empty home directory.
fn hook(log: &Path) -> Command {
    let mut command = Command::new(PROGRAM[0]);
    prepare(command.args(&PROGRAM[1..]), log);
    command
}

fn prepare<'c>(command: &'c mut Command, log: &Path) -> &'c mut Command {
    command
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .env("HOME", "/nonexistent")
        .env_remove("XDG_CONFIG_HOME")
        .arg("--log")
        .arg(log)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
}

/// A payload of the plain protocol.
fn payload(id: &str, command: &str) -> Vec<u8> {
    json!({"tool": "Bash", "args": {"command": command}, "id": id, "session": "s", "host": "claude-code"})
        .to_string()
        .into_bytes()
}

fn told(mut child: Child, payload: &[u8]) -> Output {
    let mut stdin = child.stdin.take().unwrap();
    let handed = stdin.write_all(payload);
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    handed.unwrap();
    output
}

/// Passes a payload to the hook.
fn asked(log: &Path, payload: &[u8]) -> Output {
    told(hook(log).spawn().unwrap(), payload)
}

/// Returns the answer in the plain protocol, and stderr.
fn answer(output: &Output) -> (Value, String) {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    (answer, String::from_utf8(output.stderr.clone()).unwrap())
}

/// Returns the decision, and checks that stderr is empty.
fn decision(output: &Output) -> String {
    let (answer, errors) = answer(output);
    assert_eq!(errors, "");
    answer["decision"].as_str().unwrap().to_owned()
}

/// Returns the records of a log; all of them must be complete.
fn records(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "the last record is torn");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn last(log: &Path) -> Value {
    records(log).pop().unwrap()
}

#[test]
fn fifty_at_once() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("state/guard.jsonl");
    let command = |n: usize| ["ls", "git push --force", "cat .env"][n % 3];
    let want = |n: usize| ["allow", "deny", "ask"][n % 3];
    std::thread::scope(|scope| {
        for n in 0..50 {
            let log = &log;
            scope.spawn(move || {
                let output = asked(log, &payload(&n.to_string(), command(n)));
                assert_eq!(decision(&output), want(n), "{n}");
            });
        }
    });
    let mut seen: Vec<(usize, String)> = records(&log)
        .iter()
        .map(|record| {
            let id = record["call_id"].as_str().unwrap().parse().unwrap();
            (id, record["decision"].as_str().unwrap().to_owned())
        })
        .collect();
    seen.sort();
    let wanted: Vec<_> = (0..50).map(|n| (n, want(n).to_owned())).collect();
    assert_eq!(seen, wanted);
}

#[test]
fn killed_at_any_moment() {
    const KILLS: u64 = 60;
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("guard.jsonl");
    // How long an undisturbed hook takes here, so that kills fall all over it.
    let started = Instant::now();
    assert_eq!(decision(&asked(&log, &payload("first", "ls"))), "allow");
    let whole = started.elapsed();
    let mut answered = vec!["first".to_owned()];
    let mut draw = 7_u64;
    for kill in 0..KILLS {
        let id = format!("k{kill}");
        let mut child = hook(&log).spawn().unwrap();
        // The hook may already have ended.
        let _ = child.stdin.take().unwrap().write_all(&payload(&id, "git push --force"));
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        std::thread::sleep(whole.mul_f64((draw >> 40) as f64 / (1 << 24) as f64 * 1.2));
        child.kill().unwrap();
        let mut said = String::new();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        child.wait().unwrap();
        if serde_json::from_str::<Value>(&said).is_ok() {
            answered.push(id);
        }
    }
    assert_eq!(decision(&asked(&log, &payload("last", "ls"))), "allow");
    answered.push("last".into());
    let text = fs::read_to_string(&log).unwrap();
    let mut kept = Vec::new();
    for line in text.lines() {
        match serde_json::from_str::<Value>(line) {
            Ok(record) => kept.push(record["call_id"].as_str().unwrap().to_owned()),
            // Cut off in the middle of its write: alone on its line.
            Err(_) => assert!(line.matches("toolmark_guard").count() <= 1, "{line}"),
        }
    }
    // A decision that was heard is in the log.
    let missing: Vec<_> = answered.iter().filter(|id| !kept.contains(id)).collect();
    assert!(missing.is_empty(), "{missing:?} are not in {kept:?}");
}

#[test]
fn no_room_for_the_log() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        return toolmark_testing::skip("/dev/full does not exist");
    }
    for (command, want) in [("ls", "allow"), ("git push --force", "deny"), ("cat .env", "ask")] {
        let (answer, errors) = answer(&asked(full, &payload("1", command)));
        assert_eq!(answer["decision"], want);
        let words = "toolmark guard: the decision was not logged: /dev/full: ";
        assert!(errors.starts_with(words) && errors.lines().count() == 1, "{errors}");
    }
}

#[test]
fn a_record_that_was_cut_off_spoils_no_other() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("guard.jsonl");
    // The limit of file blocks leaves room for the first record and a part of the second.
    let limited = |payload: &[u8]| {
        let mut shell = Command::new("sh");
        let script = "ulimit -f 4 && exec \"$0\" \"$@\"";
        let command = prepare(shell.arg("-c").arg(script).args(PROGRAM), &log);
        told(command.spawn().unwrap(), payload)
    };
    let long = format!("echo {}", "x".repeat(3_900));
    assert_eq!(decision(&limited(&payload("1", "ls"))), "allow");
    let (answer, errors) = answer(&limited(&payload("2", &long)));
    assert_eq!(answer["decision"], "allow");
    assert!(errors.contains(" bytes were written"), "{errors}");
    assert_eq!(decision(&asked(&log, &payload("after", "git push --force"))), "deny");
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<_> = text.lines().map(serde_json::from_str::<Value>).collect();
    assert_eq!(lines.iter().filter(|line| line.is_err()).count(), 1, "one is torn");
    assert_eq!(lines.last().unwrap().as_ref().unwrap()["call_id"], "after");
}

#[test]
fn a_log_that_cannot_be_there() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "mine\n").unwrap();
    let link = home.path().join("link");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    for (log, words) in [
        (file.join("guard.jsonl"), "file/guard.jsonl: "),
        (Path::new("/proc/none/guard.jsonl").to_owned(), "/proc/none/guard.jsonl: "),
        (home.path().to_owned(), "the log is not a file"),
        (link, "the log is a symbolic link"),
    ] {
        let (answer, errors) = answer(&asked(&log, &payload("1", "git push --force")));
        assert_eq!(answer["decision"], "deny");
        assert!(errors.contains("was not logged") && errors.contains(words), "{errors}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine\n");
}

#[test]
fn no_log_is_wanted() {
    let output = asked(Path::new("off"), &payload("1", "git push --force"));
    assert_eq!(decision(&output), "deny");
    assert!(!Path::new(env!("CARGO_TARGET_TMPDIR")).join("off").exists());
}

#[test]
fn no_home_moves_the_log() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("guard.jsonl");
    let mut command = hook(&log);
    command.env("HOME", home.path()).env("XDG_STATE_HOME", home.path().join("state"));
    let child = command.spawn().unwrap();
    assert_eq!(decision(&told(child, &payload("1", "ls"))), "allow");
    assert_eq!(records(&log).len(), 1);
    assert!(!home.path().join(".local").exists() && !home.path().join("state").exists());
}

#[test]
fn payloads_without_sense() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("guard.jsonl");
    let cases: [&[u8]; 6] =
        [b"", b"\n", b"{", b"[]", b"{\"tool\":\"Bash\",\"args\":{\"command\":\"\xff\"}}", b"\0\0"];
    for payload in cases {
        assert_eq!(decision(&asked(&log, payload)), "ask", "{payload:?}");
        let record = last(&log);
        assert_eq!((&record["decision"], &record["rule"]), (&json!("ask"), &json!("error")));
    }
    assert_eq!(records(&log).len(), cases.len());
    // In the protocol of a host that is named.
    let child = hook(&log).args(["--host", "claude-code"]).spawn().unwrap();
    let (answer, _) = answer(&told(child, b"{"));
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask");
}

#[test]
fn large_payloads() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("guard.jsonl");
    let content = "password=hunter2\n".repeat(10 << 20 >> 4);
    let large = json!({"tool": "Write", "args": {"file_path": "a.txt", "content": content}});
    assert_eq!(decision(&asked(&log, large.to_string().as_bytes())), "allow");
    let record = last(&log);
    assert_eq!(record["args"]["file_path"], "a.txt");
    let kept = record["args"]["content"].as_str().unwrap();
    assert!(kept.len() < 8 << 10 && kept.ends_with(" bytes cut]"), "{}", kept.len());
    assert!(!kept.contains("hunter2"));
    let long = format!("echo {}; git push --force", "x".repeat(100_000));
    assert_eq!(decision(&asked(&log, &payload("1", &long))), "deny");
    assert_eq!(last(&log)["decision"], "deny");
    // More commands than the analysis follows: the effect of the last one is unknown.
    let many = format!("{}git push --force", "echo x; ".repeat(12_500));
    assert_eq!(decision(&asked(&log, &payload("2", &many))), "ask");
}

#[test]
fn input_that_never_ends() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("guard.jsonl");
    for begun in [&b""[..], b"{\"tool\":\"Bash\","] {
        let mut child = hook(&log).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(begun).unwrap();
        let started = Instant::now();
        let output = child.wait_with_output().unwrap();
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
        assert_eq!(decision(&output), "ask");
        assert_eq!(last(&log)["rule"], "error");
        drop(stdin);
    }
}

#[test]
fn a_log_that_somebody_holds() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("guard.jsonl");
    assert_eq!(decision(&asked(&log, &payload("1", "ls"))), "allow");
    let held = File::open(&log).unwrap();
    held.lock().unwrap();
    assert_eq!(decision(&asked(&log, &payload("2", "git push --force"))), "deny");
    assert_eq!(records(&log).len(), 2);
}

/// Returns the decisions about a harmless and a harmful command with this policy file.
fn decided_with(policy: &Path, log: &Path) -> [(String, String); 2] {
    ["ls", "git push --force"].map(|command| {
        let child = hook(log).env("TOOLMARK_GUARD_POLICY", policy).spawn().unwrap();
        let (answer, _) = answer(&told(child, &payload("c", command)));
        let text = |key: &str| answer[key].as_str().unwrap().to_owned();
        (text("decision"), text("reason"))
    })
}

#[test]
fn a_policy_that_cannot_be_read() {
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    let log = at("guard.jsonl");
    fs::write(at("broken.yaml"), "guard:\n  preset: [strict\n").unwrap();
    fs::write(at("mistaken.yaml"), "guard:\n  preset: lenient\n").unwrap();
    fs::write(at("empty.yaml"), "").unwrap();
    fs::create_dir(at("folder.yaml")).unwrap();
    for (name, words) in [
        ("nowhere.yaml", "nowhere.yaml"),
        ("folder.yaml", "it is a directory"),
        ("broken.yaml", "broken.yaml:"),
        ("mistaken.yaml", "mistaken.yaml:2"),
        ("empty.yaml", "no `guard:` section"),
    ] {
        let [harmless, harmful] = decided_with(&at(name), &log);
        assert_eq!(harmless.0, "ask", "{name}: {}", harmless.1);
        assert!(harmless.1.contains(words), "{name}: {}", harmless.1);
        assert_eq!(harmful.0, "deny", "{name}: {}", harmful.1);
        assert_eq!(last(&log)["decision"], "deny", "{name}");
    }
    // The readable part of the policy decides what happens on errors.
    fs::write(at("strict.yaml"), "guard:\n  on_error: deny\n  presett: strict\n").unwrap();
    assert_eq!(decided_with(&at("strict.yaml"), &log)[0].0, "deny");
}

/// Runs the hook after a shell line that prepares its environment.
fn behind(script: &str, log: &Path, host: &str, payload: &[u8]) -> Output {
    let mut shell = Command::new("sh");
    let script = format!("{script} exec \"$0\" \"$@\"");
    let command = prepare(shell.arg("-c").arg(script).args(PROGRAM), log);
    told(command.args(["--host", host]).spawn().unwrap(), payload)
}

#[test]
fn no_file_may_grow() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("guard.jsonl");
    for begun in [false, true] {
        if begun {
            fs::write(&log, "{}\n").unwrap();
        }
        let limited = |command| behind("ulimit -f 0 &&", &log, "plain", &payload("1", command));
        for (command, want) in [("git push --force", "deny"), ("ls", "allow")] {
            let (answer, errors) = answer(&limited(command));
            assert_eq!(answer["decision"], want);
            assert!(errors.contains("was not logged"), "{errors}");
        }
    }
}

#[test]
fn nobody_hears_the_answer() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("guard.jsonl");
    let call = |command: &str| {
        json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/w",
            "tool_name": "Bash", "tool_input": {"command": command}})
        .to_string()
    };
    for lost in ["exec >&- &&", "exec >/dev/null &&", "exec >&- 2>&- &&"] {
        for host in ["claude-code", "gemini-cli", "copilot-cli", "cursor"] {
            let payload = match host {
                "claude-code" => call("git push --force"),
                // A payload that no host sends leads to a question.
                _ => "broken".to_owned(),
            };
            let output = behind(lost, &log, host, payload.as_bytes());
            assert_eq!(output.status.code(), Some(2), "{lost} {host}: {output:?}");
        }
        let harmless = behind(lost, &log, "claude-code", call("ls").as_bytes());
        assert_eq!(harmless.status.code(), Some(0), "{lost}: {harmless:?}");
    }
    if Path::new("/dev/full").exists() {
        let payload = call("git push --force");
        let full = behind("exec >/dev/full &&", &log, "claude-code", payload.as_bytes());
        assert_eq!(full.status.code(), Some(2), "{full:?}");
    }
}

#[test]
fn a_payload_of_a_hundred_megabytes() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("guard.jsonl");
    for (tool, key, size, want) in [
        ("Write", "content", 4 << 20, "deny"),
        ("Bash", "command", 4 << 20, "ask"),
        ("Bash", "command", 100 << 20, "deny"),
    ] {
        let large = "x".repeat(size);
        let args = match tool {
            "Write" => json!({"file_path": "/etc/passwd", key: large}),
            _ => json!({key: format!("echo {large}; git push --force")}),
        };
        let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/w",
            "tool_name": tool, "tool_input": args});
        let child = hook(&log).args(["--host", "claude-code"]).spawn().unwrap();
        let (answer, _) = answer(&told(child, payload.to_string().as_bytes()));
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], want, "{tool} {size}");
    }
}

/// With a repository policy that takes too long to process, the hook asks instead.
#[test]
fn a_project_with_a_huge_policy() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("guard.jsonl");
    let project = home.path().join("project");
    fs::create_dir_all(project.join(".git")).unwrap();
    let rule = |n: usize, regex: &str| {
        format!(
            "    - {{name: r{n}, command: {{regex: '{regex}'}}, decision: deny, \
             examples: {{match: [x]}}}}\n"
        )
    };
    let rules = |count: usize, regex: &str| {
        let all: String = (0..count).map(|n| rule(n, regex)).collect();
        format!("guard:\n  rules:\n{all}")
    };
    for (policy, words) in [
        (rules(9_000, "a"), "64 KiB"),
        (rules(400, "a"), "values"),
        (rules(1, r"(\w{100}){100}"), "regular expressions"),
        (rules(1, &"x".repeat(3_000)), "bytes"),
    ] {
        fs::write(project.join("toolmark.yaml"), policy).unwrap();
        let call = json!({"tool": "Bash", "args": {"command": "ls"}, "cwd": project});
        let started = Instant::now();
        let (answer, _) = answer(&asked(&log, call.to_string().as_bytes()));
        assert_eq!(answer["decision"], "ask", "{words}: {answer}");
        assert!(answer["reason"].as_str().unwrap().contains(words), "{words}: {answer}");
        assert!(started.elapsed() < Duration::from_secs(2), "{words}: {:?}", started.elapsed());
    }
}
