//! Tests of `toolmark serve`, on ports chosen by the system.

mod evaluate;
mod grouping;
mod protocols;
mod store;

use crate::root;
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Time limit for expected events, also on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

struct Served {
    process: Child,
    ui: String,
    http: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{}", self.body))
    }
}

fn binary() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("toolmark"));
    command.current_dir(root()).env_remove("TOOLMARK_GUARD_LOG");
    command
}

fn start(home: &Path, args: &[&str]) -> Served {
    let mut process = binary()
        .args(["serve", "--quiet", "--ui", "127.0.0.1:0", "--http", "127.0.0.1:0", "--grpc", "off"])
        .args(args)
        .env("HOME", home)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    served(process, &line)
}

/// Waits until a server has printed its address.
fn served(process: Child, line: &str) -> Served {
    let ui = line.trim().trim_start_matches("http://").to_owned();
    assert!(ui.starts_with("127.0.0.1:"), "{line}");
    let mut served = Served { process, ui, http: String::new() };
    let info = served.get("/api/v1/info").json();
    served.http = info["receivers"]["http"].as_str().unwrap().to_owned();
    served
}

/// Sends one request on a new connection.
fn request(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        head += &format!("Host: {address}\r\n");
    }
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("Content-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    // A server that rejects a request may not read all of it.
    let _ = stream.write_all(body);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}

impl Served {
    fn get(&self, path: &str) -> Answer {
        request(&self.ui, "GET", path, &[], b"")
    }

    fn send(&self, path: &str, kind: &str, body: &[u8]) -> Answer {
        request(&self.http, "POST", path, &[("Content-Type", kind)], body)
    }

    /// Polls until the answer meets the condition.
    fn wait(&self, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let answer = self.get(path).json();
            if is_so(&answer) {
                return answer;
            }
            assert!(began.elapsed() < TIMEOUT, "{path}: {answer}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn sample() -> String {
    fs::read_to_string(root().join("samples/claude-code/disk-full.jsonl")).unwrap()
}

fn watched() -> (TempDir, String, String) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("sessions")).unwrap();
    let folder = dir.path().join("sessions").to_string_lossy().into_owned();
    let db = dir.path().join("s.db").to_string_lossy().into_owned();
    (dir, folder, db)
}

#[test]
fn a_session_appears_while_it_is_written_and_again_when_it_is_rewritten() {
    let (dir, folder, db) = watched();
    let served = start(dir.path(), &["--watch", &folder, "--db", &db]);
    assert_eq!(served.get("/api/v1/sessions").json()["total"], 0);
    let text = sample();
    let lines: Vec<&str> = text.lines().collect();
    let path = Path::new(&folder).join("disk-full.jsonl");
    // All but the last line, and the start of that.
    let (last, first) = lines.split_last().unwrap();
    let half = &last[..last.len() / 2];
    fs::write(&path, format!("{}\n{half}", first.join("\n"))).unwrap();
    let row = served.wait("/api/v1/sessions", |page| page["total"] == 1)["items"][0].clone();
    let calls = row["calls"].as_u64().unwrap();
    assert!(calls > 3 && row["failed"].as_u64().unwrap() > 0, "{row}");
    assert_eq!((&row["source"], &row["live"]), (&json!("file"), &json!(true)));
    let id = row["id"].as_str().unwrap();
    // The rest of the line.
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    writeln!(file, "{}", &last[half.len()..]).unwrap();
    let whole = served.wait(&format!("/api/v1/sessions/{id}"), |session| {
        session["evaluated_at"] != row["evaluated_at"]
    });
    assert_eq!(whole["strip"].as_array().unwrap().len() as u64, whole["calls"].as_u64().unwrap());
    // Every address of the session answers.
    let timeline = served.get(&format!("/api/v1/sessions/{id}/timeline?limit=1000")).json();
    assert_eq!(timeline["total"], timeline["items"].as_array().unwrap().len());
    let failed =
        whole["strip"].as_array().unwrap().iter().find(|c| c["status"] == "failed").unwrap();
    let call = served.get(&format!("/api/v1/sessions/{id}/calls/{}", failed["n"])).json();
    assert_eq!((&call["status"], call["raw"].as_array().unwrap().len()), (&json!("failed"), 2));
    let around =
        served.get(&format!("/api/v1/sessions/{id}/timeline?around={}&limit=3", failed["n"]));
    assert!(around.json()["items"].as_array().unwrap().iter().any(|e| e["call"] == failed["n"]));
    let found = served.get(&format!("/api/v1/sessions/{id}/search?q=npm")).json();
    assert!(!found["items"].as_array().unwrap().is_empty());
    let diff = served.get(&format!("/api/v1/sessions/{id}/diff/{id}")).json();
    assert!(diff["rows"].as_array().unwrap().iter().all(|row| row["same"] == "equal"));
    assert_eq!(served.get("/api/v1/sessions/none").status, 404);
    // What keeps failing is the feed's own answer.
    let issues = served.get("/api/v1/issues").json();
    let printed = binary()
        .args(["feed", "--format", "json", &path.to_string_lossy()])
        .env("HOME", dir.path())
        .output()
        .unwrap();
    let printed: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let ids = |list: &Value| -> Vec<Value> {
        let mut ids: Vec<Value> =
            list.as_array().unwrap().iter().map(|i| json!([i["id"], i["count"]])).collect();
        ids.sort_by_key(Value::to_string);
        ids
    };
    assert_eq!(ids(&issues["items"]), ids(&printed["issues"]));
    assert_eq!(issues["of_sessions"], 1);
    // A file that is rewritten is read again.
    fs::write(&path, format!("{}\n", first[..first.len() / 2].join("\n"))).unwrap();
    served.wait("/api/v1/sessions", |page| {
        page["items"][0]["calls"].as_u64().is_some_and(|now| now < calls)
    });
}

#[test]
fn decisions_need_the_mark_and_are_kept() {
    let (dir, folder, db) = watched();
    fs::write(Path::new(&folder).join("disk-full.jsonl"), sample()).unwrap();
    let served = start(dir.path(), &["--watch", &folder, "--db", &db]);
    let issues = served.wait("/api/v1/issues", |page| page["total"].as_u64() > Some(0));
    let id = issues["items"][0]["id"].as_str().unwrap();
    let path = format!("/api/v1/issues/{id}/state");
    let resolve = br#"{"action":"resolve"}"#;
    assert_eq!(request(&served.ui, "POST", &path, &[], resolve).status, 403);
    let marked = [("X-Toolmark", "1")];
    assert_eq!(request(&served.ui, "POST", &path, &marked, b"{}").status, 400);
    let resolved = request(&served.ui, "POST", &path, &marked, resolve);
    assert_eq!((resolved.status, &resolved.json()["state"]), (200, &json!("resolved")));
    assert_eq!(served.get(&format!("/api/v1/issues/{id}")).json()["state"], "resolved");
    let rows = served.get(&format!("/api/v1/issues/{id}/occurrences")).json();
    assert!(rows["items"].as_array().unwrap().iter().all(|row| row["call"].is_u64()), "{rows}");
    let promote = format!("/api/v1/issues/{id}/promote");
    let case = request(&served.ui, "POST", &promote, &marked, b"").json();
    assert!(case["case"].as_str().unwrap().contains("graders:"), "{case}");
    let outside = request(&served.ui, "POST", &promote, &marked, br#"{"to":"../x"}"#);
    assert_eq!(outside.status, 400);
}

#[test]
fn other_sites_get_nothing() {
    let (dir, folder, db) = watched();
    let served = start(dir.path(), &["--watch", &folder, "--db", &db]);
    let page = served.get("/session/x?call=3");
    assert_eq!(page.status, 200);
    for header in [
        "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'",
        "x-content-type-options: nosniff",
        "x-frame-options: deny",
    ] {
        assert!(page.head.contains(header), "{}", page.head);
    }
    for (headers, status) in [
        (&[("Host", "evil.example")][..], 421),
        (&[("Origin", "https://evil.example")], 403),
        (&[("Sec-Fetch-Site", "cross-site")], 403),
        (&[], 200),
    ] {
        let answer = request(&served.ui, "GET", "/api/v1/sessions", headers, b"");
        assert_eq!(answer.status, status, "{headers:?}");
    }
    let foreign = [("Content-Type", "application/json"), ("Origin", "https://evil.example")];
    assert_eq!(request(&served.http, "POST", "/v1/logs", &foreign, b"{}").status, 403);
    assert_eq!(served.get("/api/v1/nothing").status, 404);
    assert_eq!(served.get("/../etc/passwd").status, 404);
}

#[test]
fn bad_telemetry_is_answered_as_the_protocol_says() {
    let (dir, folder, db) = watched();
    let served = start(dir.path(), &["--watch", &folder, "--db", &db]);
    let json = "application/json";
    for (path, kind, body, status) in [
        ("/v1/traces", json, &b"{}"[..], 200),
        ("/v1/traces", "application/x-protobuf", b"", 200),
        ("/v1/traces", "text/plain", b"{}", 415),
        ("/v1/traces", json, b"{", 400),
        ("/v1/traces", json, br#"{"resourceSpans":7}"#, 400),
        ("/v1/logs", "application/x-protobuf", b"\xff\xff\xff", 400),
        ("/v1/other", json, b"{}", 404),
    ] {
        let answer = served.send(path, kind, body);
        assert_eq!(answer.status, status, "{path} {kind} {body:?}: {}", answer.body);
        if status < 404 && status != 415 {
            assert!(answer.head.contains(&format!("content-type: {kind}")), "{}", answer.head);
        }
    }
    let large = vec![b' '; (32 << 20) + 1];
    assert_eq!(served.send("/v1/traces", json, &large).status, 413);
    let gzip = [("Content-Type", json), ("Content-Encoding", "gzip")];
    assert_eq!(request(&served.http, "POST", "/v1/logs", &gzip, b"not gzip").status, 400);
    let rejected =
        br#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"","spanId":""}]}]}]}"#;
    let answer = served.send("/v1/traces", json, rejected).json();
    assert_eq!(answer["partialSuccess"]["rejectedSpans"], "1");
}

fn log(session: &str, sequence: usize) -> Vec<u8> {
    json!({"resourceLogs": [{"resource": {}, "scopeLogs": [{"scope": {"name": "x"}, "logRecords": [{
    "timeUnixNano": "1794835500854000000", "body": {"stringValue": "claude_code.user_prompt"},
    "attributes": [
        {"key": "session.id", "value": {"stringValue": session}},
        {"key": "event.name", "value": {"stringValue": "user_prompt"}},
        {"key": "event.sequence", "value": {"intValue": sequence}},
        {"key": "prompt", "value": {"stringValue": "<script>alert(1)</script>"}},
    ]}]}]}]})
    .to_string()
    .into_bytes()
}

#[test]
fn nothing_acknowledged_is_lost_when_it_is_killed() {
    const ROUNDS: usize = 3;
    let (dir, folder, db) = watched();
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..ROUNDS {
        let mut served = start(dir.path(), &["--watch", &folder, "--db", &db]);
        let senders: Vec<_> = (0..4)
            .map(|sender| {
                let address = served.http.clone();
                std::thread::spawn(move || {
                    let mut taken = Vec::new();
                    for n in 0..400 {
                        let session = format!("r{round}s{sender}");
                        let Ok(answer) = std::panic::catch_unwind(|| {
                            let headers = [("Content-Type", "application/json")];
                            request(&address, "POST", "/v1/logs", &headers, &log(&session, n))
                        }) else {
                            break;
                        };
                        if answer.status != 200 {
                            break;
                        }
                        taken.push(format!("{session}/{n}@\"1794835500854000000\""));
                    }
                    taken
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(300 + 150 * round as u64));
        served.process.kill().unwrap();
        served.process.wait().unwrap();
        acknowledged.extend(senders.into_iter().flat_map(|sender| sender.join().unwrap()));
    }
    assert!(acknowledged.len() > ROUNDS, "nothing was sent");
    let store = rusqlite::Connection::open(&db).unwrap();
    let mut rows = store.prepare("SELECT unit || '/' || sequence FROM log").unwrap();
    let kept: std::collections::HashSet<String> =
        rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    for one in &acknowledged {
        assert!(kept.contains(one), "{one} of {} was lost", acknowledged.len());
    }
}

#[test]
fn others_need_a_token() {
    let dir = tempfile::tempdir().unwrap();
    let refused = binary()
        .args(["serve", "--ui", "0.0.0.0:0", "--http", "off", "--grpc", "off"])
        .args(["--db", &dir.path().join("s.db").to_string_lossy()])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--token-file"));
    let (dir, folder, db) = watched();
    let file = dir.path().join("tokens");
    fs::write(&file, "look-0123456789abcdef read\nsend-0123456789abcdef ingest\n").unwrap();
    let mut process = binary()
        .args(["serve", "--quiet", "--ui", "127.0.0.1:0", "--http", "off", "--grpc", "off"])
        .args(["--watch", &folder, "--db", &db, "--token-file", &file.to_string_lossy()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let served = Served {
        process,
        ui: line.trim().trim_start_matches("http://").to_owned(),
        http: String::new(),
    };
    let ask = |method: &str, token: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [("Authorization", bearer.as_str()), ("X-Toolmark", "1")];
        request(&served.ui, method, "/api/v1/info", &headers, b"").status
    };
    assert_eq!(served.get("/api/v1/info").status, 401);
    assert_eq!(ask("GET", "look-0123456789abcdef"), 200);
    assert_eq!(ask("GET", "look-0123456789abcdeX"), 401);
    assert_eq!(ask("GET", "send-0123456789abcdef"), 403);
    assert_eq!(ask("POST", "look-0123456789abcdef"), 403);
    // The page itself is public: it asks for the token.
    assert_eq!(served.get("/feed").status, 200);
}

#[test]
fn the_samples_answer_an_agent() {
    let (dir, _, db) = watched();
    let samples = root().join("samples").to_string_lossy().into_owned();
    let mut process = binary()
        .args(["mcp", "--watch", &samples, "--db", &db])
        .env("HOME", dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    let mut output = BufReader::new(process.stdout.take().unwrap());
    let mut ask = |tool: &str, arguments: Value| -> Value {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}});
        writeln!(input, "{call}").unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
    };
    let began = Instant::now();
    let worst = loop {
        let answer = ask("what_keeps_failing", json!({}));
        if answer["open_issues"].as_u64() > Some(0) {
            break answer["worst"][0].clone();
        }
        assert!(began.elapsed() < TIMEOUT, "{answer}");
        std::thread::sleep(Duration::from_millis(100));
    };
    let fix = ask("how_to_fix", json!({"issue": worst["issue"]}));
    assert_eq!(fix["title"], worst["title"]);
    drop(input);
    process.wait().unwrap();
}
