//! Tests of the proxy with servers that misbehave as configured.

use crate::{beside, proxy};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use toolmark_testing::http::unused_address;
use toolmark_testing::peers;

/// Time limit for every operation.
const LIMIT: Duration = Duration::from_secs(30);

/// A client with scripted messages.
pub(crate) struct Session {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: JoinHandle<String>,
}

impl Session {
    /// Starts the proxy in front of the fake server; `None` without Python.
    #[track_caller]
    fn start(folder: &Path, options: &[&str], behaviour: &str) -> Option<Self> {
        let python = peers::or_skip(peers::find_python())?;
        let mut command = proxy(folder);
        command
            .args(options)
            .args(["--", python, "-u"])
            .arg(beside("fake_server.py"))
            .arg(behaviour);
        Some(Self::of(&mut command))
    }

    pub(crate) fn of(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut stderr = child.stderr.take().unwrap();
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                let _ = sender.send(line.unwrap());
            }
        });
        let stderr = thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).unwrap();
            text
        });
        Self { child, stdin, lines, stderr }
    }

    pub(crate) fn send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    pub(crate) fn heard(&self) -> Value {
        serde_json::from_str(&self.lines.recv_timeout(LIMIT).unwrap()).unwrap()
    }

    pub(crate) fn ask(&mut self, id: u32, method: &str, params: &Value) -> Value {
        self.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        );
        let answer = self.heard();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub(crate) fn hello(&mut self) {
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"}});
        self.ask(0, "initialize", &params);
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    fn echo(&mut self, id: u32, text: &str) -> Value {
        self.ask(id, "tools/call", &json!({"name": "echo", "arguments": {"text": text}}))
    }

    /// Ends the session as a client does; returns exit code and stderr.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        self.stdin = None;
        self.wait()
    }

    pub(crate) fn wait(mut self) -> (Option<i32>, String) {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(start.elapsed() < LIMIT, "the proxy hangs");
            thread::sleep(Duration::from_millis(20));
        };
        (status.code(), self.stderr.join().unwrap())
    }
}

#[test]
fn a_session_from_start_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut session) = Session::start(folder.path(), &[], "good") else { return };
    session.hello();
    let tools = session.ask(1, "tools/list", &json!({}));
    assert_eq!(tools["result"]["tools"][0]["name"], "echo");
    assert_eq!(session.echo(2, "hi")["result"]["content"][0]["text"], "hi");
    assert_eq!(session.ask(3, "vendor/x", &json!([1]))["error"]["code"], -32601);
    let wrong = session.ask(4, "tools/call", &json!({"name": "echo", "arguments": {"text": 1}}));
    assert_eq!(wrong["result"]["isError"], true);
    session.send("nonsense");
    assert_eq!(session.heard()["error"]["code"], -32600);
    let (code, stderr) = session.end();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("the server is here"), "{stderr}");
    let log = fs::read_to_string(folder.path().join("log.jsonl")).unwrap();
    let records: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let calls: Vec<_> = records.iter().filter(|record| record["event"] == "call").collect();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0]["decision"], "allow");
    assert_eq!((&calls[1]["decision"], &calls[1]["rule"]), (&json!("deny"), &json!("arguments")));
    assert_eq!(calls[1]["tool"], "mcp__peer__echo");
    assert!(records.iter().all(|record| record["time"].is_string()));
}

#[test]
fn a_call_that_breaks_a_condition_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let policy =
        "tools:\n  exchange_items: {needs: {get_order.status: delivered}, once: per order_id}\n";
    fs::write(folder.path().join("toolmark.yaml"), policy).unwrap();
    let Some(mut session) = Session::start(folder.path(), &[], "shop") else { return };
    session.hello();
    let mut id = 0;
    let mut call = |tool: &str, order: &str| {
        id += 1;
        let params = json!({"name": tool, "arguments": {"order_id": order}});
        let answer = session.ask(id, "tools/call", &params);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        (answer["result"]["isError"] == true, text)
    };
    for (tool, order, words) in [
        ("exchange_items", "W1", Some("needs a result of get_order")),
        ("get_order", "W1", None),
        ("exchange_items", "W1", Some("to be delivered, and it is pending")),
        ("exchange_items", "W2", Some("needs a result of get_order")),
        ("get_order", "W2", None),
        ("exchange_items", "W2", None),
        ("exchange_items", "W2", Some("was already called for order_id W2")),
    ] {
        let (is_stopped, text) = call(tool, order);
        assert_eq!(is_stopped, words.is_some(), "{tool} {order}: {text}");
        assert!(text.contains(words.unwrap_or_default()), "{tool} {order}: {text}");
    }
    let (code, stderr) = session.end();
    assert_eq!(code, Some(0), "{stderr}");
    let log = fs::read_to_string(folder.path().join("log.jsonl")).unwrap();
    assert!(log.contains("\"rule\":\"tools.needs\""), "{log}");
}

#[test]
fn a_server_that_dies_ends_what_waits_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut session) = Session::start(folder.path(), &[], "good") else { return };
    session.hello();
    session.ask(1, "tools/list", &json!({}));
    let call = |id: u32, text: &str| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "echo", "arguments": {"text": text}}})
        .to_string()
    };
    session.send(&call(2, "hang"));
    session.send(&call(3, "die"));
    for id in [2, 3] {
        let answer = session.heard();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32603)));
        assert!(answer["error"]["message"].as_str().unwrap().contains("exit code 7"), "{answer}");
    }
    // Its standard input is still open: the proxy leaves by itself.
    let (code, stderr) = session.wait();
    assert_eq!(code, Some(3), "{stderr}");
    assert!(stderr.contains("exit code 7"), "{stderr}");
}

#[test]
fn what_is_no_message_is_dropped_by_number() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut session) = Session::start(folder.path(), &[], "chatty") else { return };
    session.hello();
    assert_eq!(session.echo(1, "hi")["result"]["content"][0]["text"], "hi");
    let (code, stderr) = session.end();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("line 1 of the server was dropped"), "{stderr}");
    assert!(stderr.contains("line 2 of the server was dropped"), "{stderr}");
}

#[test]
fn a_line_that_is_too_long_fails_its_request_alone() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut session) = Session::start(folder.path(), &["--most-text", "1000"], "good") else {
        return;
    };
    session.hello();
    let huge = session.echo(1, "huge");
    assert!(huge["error"]["message"].as_str().unwrap().contains("a line of"), "{huge}");
    let large = session.echo(2, "large");
    let text = large["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.len() < 1100 && text.contains("toolmark: cut here"), "{} bytes", text.len());
    assert_eq!(session.echo(3, "hi")["result"]["content"][0]["text"], "hi");
    assert_eq!(session.end().0, Some(0));
}

#[cfg(unix)]
#[test]
fn a_server_that_will_not_end_is_ended_with_all_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut session) = Session::start(folder.path(), &[], "stubborn") else { return };
    session.hello();
    let start = Instant::now();
    let (code, stderr) = session.end();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    let helper = stderr.lines().find_map(|line| line.strip_prefix("helper ")).unwrap();
    assert!(!is_running(helper), "its helper {helper} is left");
}

/// Whether a process exists and is not a zombie.
#[cfg(unix)]
fn is_running(pid: &str) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let state = String::from_utf8_lossy(&output.stdout);
    !state.trim().is_empty() && !state.trim_start().starts_with('Z')
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_server_too() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut session) = Session::start(folder.path(), &[], "good") else { return };
    session.hello();
    let pid = session.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert_eq!(session.wait().0, Some(0));
}

#[test]
fn a_change_waits_to_be_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut first) = Session::start(folder.path(), &[], "good") else { return };
    first.hello();
    first.ask(1, "tools/list", &json!({}));
    first.end();

    let mut command = proxy(folder.path());
    command.args(["--", "python3", "-u"]).arg(beside("fake_server.py"));
    command.env("ECHO_SAYS", "Says it again, and again.");
    let mut second = Session::of(&mut command);
    second.hello();
    let tools = second.ask(1, "tools/list", &json!({}));
    assert_eq!(tools["result"]["tools"][0]["description"], "Says it again.");
    assert_eq!(second.echo(2, "hi")["result"]["isError"], true);
    let accept = proxy(folder.path()).args(["--accept", "peer"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&accept.stdout), "accepted  echo\n");
    assert_eq!(second.echo(3, "hi")["result"]["content"][0]["text"], "hi");
    let (code, stderr) = second.end();
    assert_eq!(code, Some(0));
    assert!(stderr.contains("+ Says it again, and again."), "{stderr}");
    let nothing = proxy(folder.path()).args(["--accept", "peer"]).output().unwrap();
    assert_eq!(nothing.status.code(), Some(2));
}

#[test]
fn what_cannot_begin_says_so() {
    let folder = tempfile::tempdir().unwrap();
    for (args, code, words) in [
        (&["--", "/nonexistent/server"][..], 3, "failed to start"),
        (&["--url", "ftp://x"], 2, "neither http nor https"),
        (&["--url", "http://x", "--header", "nothing"], 2, "header"),
        (&[], 2, "SERVER"),
        (&["--rate", "often", "--", "x"], 2, "60/min"),
    ] {
        let output = proxy(folder.path()).args(args).stdin(Stdio::null()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
        assert!(stderr.contains(words), "{args:?}: {stderr}");
    }
    fs::write(folder.path().join("mcp-pins.json"), "{").unwrap();
    let output = proxy(folder.path()).args(["--", "true"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn a_server_that_cannot_be_reached_fails_each_request() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("http://{}/mcp", unused_address());
    let mut session = Session::of(proxy(folder.path()).args(["--url", &url]));
    let answer = session.ask(1, "ping", &json!({}));
    assert!(answer["error"]["message"].as_str().unwrap().contains("no answer"), "{answer}");
    assert_eq!(session.end().0, Some(0));
}
