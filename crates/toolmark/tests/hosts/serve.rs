//! Runs the real agents with telemetry enabled and their folders watched: `toolmark serve` shows
//! the session while it is written, with the calls of its file.

#![allow(clippy::print_stdout, reason = "the figures are worth seeing")]

use super::{Running, Stage, agent, wait_for};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Maximum delay from the line in the file to the answer of the API.
const MAX_LAG: Duration = Duration::from_secs(2);

#[test]
fn claude_code_is_seen_as_it_happens() {
    seen("claude-code", ".claude/projects", &["tool_use"], |_, command, address| {
        command.env("CLAUDE_CODE_ENABLE_TELEMETRY", "1").env("OTEL_LOGS_EXPORTER", "otlp");
        command.env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf");
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{address}"));
        command.env("OTEL_LOG_TOOL_DETAILS", "1").env("OTEL_LOGS_EXPORT_INTERVAL", "200");
        // It is what telemetry is part of.
        command.env_remove("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC");
    });
}

#[test]
fn codex_is_seen_as_it_happens() {
    let kinds = ["function_call", "custom_tool_call", "local_shell_call"];
    seen("codex", ".codex/sessions", &kinds, |stage, _, address| {
        let file = stage.home().join(".codex/config.toml");
        let mut config = fs::OpenOptions::new().append(true).open(file).unwrap();
        let exporter = format!(
            "[otel]\nexporter = {{ otlp-http = {{ endpoint = \"http://{address}/v1/logs\", protocol = \"json\" }} }}\n"
        );
        config.write_all(exporter.as_bytes()).unwrap();
    });
}

struct Served {
    _process: Running,
    ui: String,
    http: String,
}

impl Served {
    fn start(stage: &Stage) -> Self {
        let mut command = stage.command(Path::new(env!("CARGO_BIN_EXE_toolmark")));
        command.args(["serve", "--quiet", "--ui", "127.0.0.1:0", "--http", "127.0.0.1:0"]);
        command.args(["--grpc", "off", "--db"]).arg(stage.path("serve.db")).stdout(Stdio::piped());
        let mut process = Running(command.spawn().unwrap());
        let mut line = String::new();
        BufReader::new(process.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ui = line.trim().trim_start_matches("http://").to_owned();
        let mut served = Self { _process: process, ui, http: String::new() };
        let info = served.get("/api/v1/info");
        served.http = info["receivers"]["http"].as_str().unwrap().to_owned();
        served
    }

    fn get(&self, path: &str) -> Value {
        let mut stream = TcpStream::connect(&self.ui).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.ui);
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        serde_json::from_str(body).unwrap_or_else(|_| panic!("{path}: {answer}"))
    }

    /// Number of calls of the only session.
    fn calls(&self) -> usize {
        let page = self.get("/api/v1/sessions");
        page["items"][0]["calls"].as_u64().unwrap_or(0) as usize
    }
}

/// IDs of the calls in the files below a folder.
fn calls_in(folder: &Path, kinds: &[&str]) -> Vec<String> {
    let mut files: Vec<PathBuf> = vec![folder.to_owned()];
    let mut calls = Vec::new();
    while let Some(path) = files.pop() {
        if let Ok(entries) = fs::read_dir(&path) {
            files.extend(entries.flatten().map(|entry| entry.path()));
            continue;
        }
        for line in fs::read_to_string(&path).unwrap_or_default().lines() {
            let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
            collect(&line, kinds, &mut calls);
        }
    }
    calls
}

fn collect(value: &Value, kinds: &[&str], calls: &mut Vec<String>) {
    let kind = value.get("type").and_then(Value::as_str);
    let id = value.get("call_id").or_else(|| value.get("id")).and_then(Value::as_str);
    if let (Some(kind), Some(id)) = (kind, id)
        && kinds.contains(&kind)
        && !calls.iter().any(|known| known == id)
    {
        calls.push(id.to_owned());
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, kinds, calls)),
        Value::Object(map) => map.values().for_each(|item| collect(item, kinds, calls)),
        _ => {}
    }
}

/// Times at which each number of calls was first reached.
#[derive(Default)]
struct Moments(Vec<Instant>);

impl Moments {
    fn reach(&mut self, count: usize) {
        while self.0.len() < count {
            self.0.push(Instant::now());
        }
    }
}

fn seen(
    host: &str,
    folder: &str,
    kinds: &[&str],
    telemetry: impl FnOnce(&Stage, &mut Command, &str),
) {
    let Some((agent, program)) = agent(host) else { return };
    let stage = Stage::new(agent);
    let script = json!([
        {"run": "echo one > one.txt"}, {"run": "cat missing.txt"}, {"run": "sleep 1; cat one.txt"},
    ]);
    fs::write(stage.path("script.json"), script.to_string()).unwrap();
    let folder = stage.home().join(folder);
    fs::create_dir_all(&folder).unwrap();
    let served = Served::start(&stage);
    let is_over = AtomicBool::new(false);
    let (told, written, shown) = std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let (mut written, mut shown) = (Moments::default(), Moments::default());
            let began = Instant::now();
            while began.elapsed() < Duration::from_secs(90) {
                written.reach(calls_in(&folder, kinds).len());
                shown.reach(served.calls());
                if is_over.load(Ordering::Relaxed) && shown.0.len() >= written.0.len() {
                    break;
                }
                sleep(Duration::from_millis(20));
            }
            (written.0, shown.0)
        });
        let address = served.http.clone();
        let told = stage.play_with(agent, &program, |command| telemetry(&stage, command, &address));
        is_over.store(true, Ordering::Relaxed);
        let (written, shown) = watching.join().unwrap();
        (told, written, shown)
    });
    assert_eq!(told.len(), 3, "{host}: {told:?}");
    assert_eq!((written.len(), shown.len()), (3, 3), "{host}");
    let mut lags: Vec<Duration> =
        written.iter().zip(&shown).map(|(wrote, shows)| shows.duration_since(*wrote)).collect();
    lags.sort_unstable();
    println!("{host}: on the page {lags:?} after it was written");
    // Of three, so that one hiccup of a busy machine does not decide.
    assert!(lags[1] <= MAX_LAG, "{host}: {lags:?}");

    // Its telemetry is that of the same session.
    wait_for(|| served.get("/api/v1/sessions")["items"][0]["source"] == "both", "telemetry");
    let page = served.get("/api/v1/sessions");
    assert_eq!(page["total"], 1, "{page}");
    let row = &page["items"][0];
    assert_eq!((&row["host"], &row["failed"]), (&json!(host), &json!(1)), "{row}");
    let id = row["id"].as_str().unwrap();
    let ids: Vec<String> = (1..=3)
        .map(|call| served.get(&format!("/api/v1/sessions/{id}/calls/{call}")))
        .map(|call| call["call_id"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(ids, calls_in(&folder, kinds), "{host}");
}
