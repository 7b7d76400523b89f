//! Tests of the protocols: TLS, gRPC, chunked and compressed requests, and the event stream.
//! Third-party clients send the requests; without them the tests are skipped.

use super::{Served, TIMEOUT, binary, log, request, sample, served, start, watched};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Runs `curl`; `None` if it is not installed.
fn curl(args: &[&str]) -> Option<Output> {
    match Command::new("curl").args(["--silent", "--max-time", "30"]).args(args).output() {
        Ok(output) => Some(output),
        Err(_) => {
            toolmark_testing::skip("curl is not installed");
            None
        }
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).replace('\r', "")
}

#[test]
fn others_are_served_over_tls_with_their_token() {
    let (dir, folder, db) = watched();
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    let (certificate, key, tokens) = (path("c.pem"), path("k.pem"), path("tokens"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .args(["-keyout", &key, "-out", &certificate])
        .output();
    if !made.is_ok_and(|made| made.status.success()) {
        return toolmark_testing::skip("openssl is not installed");
    }
    fs::write(&tokens, "look-0123456789abcdef read\n").unwrap();
    let mut process = binary()
        .args(["serve", "--quiet", "--ui", "0.0.0.0:0", "--http", "off", "--grpc", "off"])
        .args(["--watch", &folder, "--db", &db, "--token-file", &tokens])
        .args(["--tls-cert", &certificate, "--tls-key", &key])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let port = line.trim().rsplit(':').next().unwrap().to_owned();
    let url = format!("https://localhost:{port}/api/v1/info");
    let ask = |token: &str| {
        let bearer = format!("Authorization: Bearer {token}");
        curl(&["--cacert", &certificate, "-H", &bearer, "-w", " %{http_code}", &url])
    };
    let (allowed, refused) = (ask("look-0123456789abcdef"), ask("look-0123456789abcdeX"));
    let plain = curl(&[&format!("http://localhost:{port}/api/v1/info")]);
    let _ = process.kill();
    let _ = process.wait();
    let (Some(allowed), Some(refused), Some(plain)) = (allowed, refused, plain) else { return };
    assert!(line.starts_with("https://"), "{line}");
    assert!(text(&allowed).ends_with(" 200"), "{}", text(&allowed));
    assert!(text(&refused).ends_with(" 401"), "{}", text(&refused));
    assert!(!text(&plain).contains("version"), "{}", text(&plain));
}

#[test]
fn grpc_answers_in_its_own_words() {
    let (dir, folder, db) = watched();
    let mut process = binary()
        .args(["serve", "--quiet", "--ui", "127.0.0.1:0", "--http", "127.0.0.1:0"])
        .args(["--grpc", "127.0.0.1:0", "--watch", &folder, "--db", &db])
        .env("HOME", dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let served = served(process, &line);
    let info = served.get("/api/v1/info").json();
    let address = info["receivers"]["grpc"].as_str().unwrap();
    for (service, message, want) in [
        ("trace.v1.TraceService", &b""[..], "grpc-status: 0"),
        ("logs.v1.LogsService", b"", "grpc-status: 0"),
        ("metrics.v1.MetricsService", b"", "grpc-status: 0"),
        ("trace.v1.TraceService", b"\xff\xff\xff", "grpc-status: 3"),
        ("trace.v1.Other", b"", "grpc-status: 12"),
    ] {
        let mut frame = vec![0, 0, 0, 0, message.len() as u8];
        frame.extend(message);
        let file = dir.path().join("frame");
        fs::write(&file, frame).unwrap();
        let url = format!("http://{address}/opentelemetry.proto.collector.{service}/Export");
        let data = format!("@{}", file.display());
        let headers = ["-H", "content-type: application/grpc", "-H", "te: trailers"];
        let asked =
            ["--http2-prior-knowledge", "--data-binary", &data, "-D", "-", "-o", "/dev/null"];
        let Some(output) = curl(&[&headers[..], &asked, &[&url]].concat()) else { return };
        if output.status.code() == Some(4) {
            return toolmark_testing::skip("this curl does not speak HTTP/2");
        }
        assert!(text(&output).contains(want), "{service}: {}", text(&output));
    }
}

#[test]
fn chunked_and_compressed_requests_are_read() {
    let (dir, folder, db) = watched();
    let served = start(dir.path(), &["--watch", &folder, "--db", &db]);
    let plain = dir.path().join("log.json");
    fs::write(&plain, log("chunks", 1)).unwrap();
    let zipped = Command::new("gzip").arg("-k").arg(&plain).status();
    if !zipped.is_ok_and(|status| status.success()) {
        return toolmark_testing::skip("gzip is not installed");
    }
    let data = format!("@{}.gz", plain.display());
    let url = format!("http://{}/v1/logs", served.http);
    let headers =
        ["Content-Type: application/json", "Content-Encoding: gzip", "Transfer-Encoding: chunked"];
    let headers: Vec<&str> = headers.iter().flat_map(|header| ["-H", *header]).collect();
    let Some(output) =
        curl(&[&headers[..], &["--data-binary", &data, "-w", " %{http_code}", &url]].concat())
    else {
        return;
    };
    assert_eq!(text(&output), "{} 200");
}

#[test]
fn changes_are_told_as_they_happen() {
    let (dir, folder, db) = watched();
    let served = start(dir.path(), &["--watch", &folder, "--db", &db]);
    let mut stream = TcpStream::connect(&served.ui).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    write!(stream, "GET /api/v1/events HTTP/1.1\r\nHost: {}\r\n\r\n", served.ui).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(lines.by_ref().take_while(|line| !line.is_empty()).any(|l| l.contains("event-stream")));
    fs::write(Path::new(&folder).join("disk-full.jsonl"), sample()).unwrap();
    let data = lines.find_map(|line| line.strip_prefix("data: ").map(str::to_owned)).unwrap();
    let change: Value = serde_json::from_str(&data).unwrap();
    assert_eq!((&change["sessions"], &change["issues"]), (&1.into(), &1.into()), "{change}");
    assert_eq!(served.get("/api/v1/sessions").json()["total"], 1);
}

#[test]
fn wrong_questions_are_answered_in_kind() {
    let (dir, folder, db) = watched();
    let served = start(dir.path(), &["--watch", &folder, "--db", &db]);
    for (path, status) in [
        ("/api/v1/sessions?limit=x", 400),
        ("/api/v1/sessions?sort=x", 400),
        ("/api/v1/sessions?cursor=x", 400),
        ("/api/v1/sessions?since=x", 400),
        ("/api/v1/sessions/s/calls/x", 400),
        ("/api/v1/sessions/s", 404),
        ("/api/v1/issues/x", 404),
        ("/api/v1/evaluate", 405),
    ] {
        let answer = served.get(path);
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        assert!(answer.json()["error"]["message"].is_string(), "{path}: {}", answer.body);
    }
    // The same file is not sent twice.
    let tag = served.get("/app.js").head;
    let tag = tag.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
    let known = [("If-None-Match", tag.as_str())];
    assert_eq!(request(&served.ui, "GET", "/app.js", &known, b"").status, 304);
}

#[test]
fn agents_ask_over_http_where_they_may() {
    let (dir, folder, db) = watched();
    fs::write(Path::new(&folder).join("disk-full.jsonl"), sample()).unwrap();
    let tokens = dir.path().join("tokens");
    fs::write(&tokens, "0123456789abcdef read\nfedcba9876543210 ingest\n").unwrap();
    let tokens = tokens.to_string_lossy();
    let served = start(dir.path(), &["--watch", &folder, "--db", &db, "--mcp"]);
    let ask = |headers: &[(&str, &str)], message: &str| {
        request(&served.ui, "POST", "/mcp", headers, message.as_bytes())
    };
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    assert_eq!(ask(&[], hello).json()["result"]["serverInfo"]["name"], "toolmark");
    assert_eq!(ask(&[], r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).status, 202);
    assert_eq!(served.get("/mcp").status, 405);
    assert_eq!(ask(&[("Origin", "http://example.com")], hello).status, 403);
    served.wait("/api/v1/issues", |page| page["total"].as_u64() > Some(0));
    let failing =
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"what_keeps_failing"}}"#;
    let told = ask(&[], failing).json()["result"]["content"][0]["text"].to_string();
    assert!(told.contains("open_issues") && told.contains("has_fix"), "{told}");
    drop(served);
    // MCP must be enabled, and needs read access.
    let served = start(dir.path(), &["--watch", &folder, "--db", &db]);
    assert_eq!(request(&served.ui, "POST", "/mcp", &[], hello.as_bytes()).status, 405);
    drop(served);
    let mut process = binary()
        .args(["serve", "--quiet", "--ui", "127.0.0.1:0", "--http", "off", "--grpc", "off"])
        .args(["--watch", &folder, "--db", &db, "--mcp", "--token-file", &tokens])
        .env("HOME", dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ui = line.trim().trim_start_matches("http://").to_owned();
    let served = Served { process, ui, http: String::new() };
    for (token, status) in [
        (None, 401),
        (Some("Bearer fedcba9876543210"), 403),
        (Some("Bearer 0123456789abcdef"), 200),
    ] {
        let headers: Vec<_> = token.iter().map(|token| ("Authorization", *token)).collect();
        let answer = request(&served.ui, "POST", "/mcp", &headers, hello.as_bytes());
        assert_eq!(answer.status, status, "{token:?}: {}", answer.body);
    }
}

/// The smallest request with a span.
const SPAN: &[u8] = br#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0102030405060708090a0b0c0d0e0f10","spanId":"0102030405060708","name":"execute_tool ls","startTimeUnixNano":"1","endTimeUnixNano":"2"}]}]}]}"#;

#[test]
fn an_upload_that_stalls_holds_up_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let db = dir.path().join("s.db").to_string_lossy().into_owned();
    let served = start(dir.path(), &["--db", &db]);
    let mut stalled = TcpStream::connect(&served.http).unwrap();
    let head = format!(
        "POST /v1/traces HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{{",
        served.http,
        (16 << 20) - 6
    );
    stalled.write_all(head.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    for _ in 0..5 {
        assert_eq!(served.send("/v1/traces", "application/json", SPAN).status, 200);
    }
    // It is told so and closed, although it sends a byte now and then.
    stalled.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let (began, mut answer) = (Instant::now(), Vec::new());
    let mut part = [0; 512];
    loop {
        match stalled.read(&mut part) {
            Ok(0) => break,
            Ok(read) => answer.extend_from_slice(&part[..read]),
            Err(_) if stalled.write_all(b" ").is_err() => break,
            Err(_) => {}
        }
        assert!(began.elapsed() < TIMEOUT, "it is still open");
    }
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!(began.elapsed() > Duration::from_secs(10));
}

#[test]
fn connections_that_ask_nothing_hold_up_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let db = dir.path().join("s.db").to_string_lossy().into_owned();
    let served = start(dir.path(), &["--db", &db]);
    let half_open: Vec<TcpStream> = (0..520)
        .map(|_| {
            let mut stream = TcpStream::connect(&served.http).unwrap();
            let _ = stream.write_all(b"POST /v1/traces HTTP/1.1\r\nhost: 127");
            stream
        })
        .collect();
    let began = Instant::now();
    for _ in 0..5 {
        assert_eq!(served.send("/v1/traces", "application/json", SPAN).status, 200);
    }
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
    // Those that are left end by themselves.
    for mut stream in half_open {
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let read = stream.read(&mut [0; 64]);
        assert!(!matches!(&read, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock));
    }
    assert_eq!(served.send("/v1/traces", "application/json", SPAN).status, 200);
}
