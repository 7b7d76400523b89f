//! HTTP servers with scripted answers, and the requests that they receive.

use crate::fake::Session;
use crate::proxy;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A request received by a server.
#[derive(Debug, Clone)]
struct Request {
    verb: String,
    path: String,
    headers: BTreeMap<String, String>,
    message: Value,
}

impl Request {
    fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    fn read(stream: &mut TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut first = String::new();
        reader.read_line(&mut first).ok()?;
        let mut words = first.split(' ').map(str::to_owned);
        let (verb, path) = (words.next()?, words.next()?);
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            match line.trim_end().split_once(": ") {
                Some((name, value)) => headers.insert(name.to_lowercase(), value.to_owned()),
                None => break,
            };
        }
        let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let message = serde_json::from_slice(&body).unwrap_or_default();
        Some(Self { verb, path, headers, message })
    }
}

/// A server with scripted answers.
struct Scripted {
    url: String,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Scripted {
    /// Starts a server. A response without `connection: close` leaves its connection open; when the
    /// client closes it, this is recorded as a request with the verb `CLOSED`.
    fn start(answer: impl Fn(&Request) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (notes, answer) = (Arc::clone(&seen), Arc::new(answer));
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (notes, answer) = (Arc::clone(&notes), Arc::clone(&answer));
                thread::spawn(move || {
                    let Some(request) = Request::read(&mut stream) else { return };
                    let text = answer(&request);
                    notes.lock().unwrap().push(request.clone());
                    let _ = stream.write_all(text.as_bytes());
                    if !text.contains("connection: close") {
                        let _ = stream.read(&mut [0]);
                        notes.lock().unwrap().push(Request { verb: "CLOSED".into(), ..request });
                    }
                });
            }
        });
        Self { url, seen }
    }

    /// The first request with a method, or with a verb and no method.
    fn got(&self, verb: &str, method: &str) -> Request {
        let start = Instant::now();
        loop {
            let seen = self.seen.lock().unwrap().clone();
            let is_it = |request: &&Request| request.verb == verb && request.method() == method;
            if let Some(request) = seen.iter().find(is_it) {
                return request.clone();
            }
            assert!(start.elapsed() < Duration::from_secs(10), "no {verb} {method} in {seen:?}");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
}

fn answer(request: &Request, result: &Value) -> String {
    let body = json!({"jsonrpc": "2.0", "id": request.message["id"], "result": result});
    response("200 OK", "content-type: application/json\r\n", &body.to_string())
}

fn stream(body: &str) -> String {
    response("200 OK", "content-type: text/event-stream\r\n", body)
}

/// The common answers of every server at the start, and to messages without an answer.
fn usual(request: &Request) -> Option<String> {
    match (request.verb.as_str(), request.method()) {
        ("POST", "initialize") => {
            let text =
                answer(request, &json!({"protocolVersion": "2025-06-18", "capabilities": {}}));
            Some(text.replacen("\r\n", "\r\nmcp-session-id: s1\r\n", 1))
        }
        ("POST", method) if method.starts_with("notifications/") => {
            Some(response("202 Accepted", "", ""))
        }
        ("GET", _) if request.header("last-event-id").is_none() => {
            Some(response("405 Method Not Allowed", "", ""))
        }
        ("DELETE", _) => Some(response("200 OK", "", "")),
        _ => None,
    }
}

fn session(server: &Scripted, folder: &tempfile::TempDir) -> Session {
    let mut command = proxy(folder.path());
    Session::of(command.args(["--url", &server.url, "--header", "X-Key: 42"]))
}

#[test]
fn headers_follow_the_session() {
    let server = Scripted::start(|request| {
        usual(request).unwrap_or_else(|| answer(request, &json!({"tools": []})))
    });
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(&server, &folder);
    session.hello();
    session.ask(1, "tools/list", &json!({}));
    assert_eq!(session.end().0, Some(0));
    let first = server.got("POST", "initialize");
    assert_eq!((first.header("x-key"), first.header("mcp-session-id")), (Some("42"), None));
    assert_eq!(first.header("accept"), Some("application/json, text/event-stream"));
    let later = server.got("POST", "tools/list");
    assert_eq!(later.header("mcp-session-id"), Some("s1"));
    assert_eq!(later.header("mcp-protocol-version"), Some("2025-06-18"));
    assert_eq!(server.got("DELETE", "").header("mcp-session-id"), Some("s1"));
}

#[test]
fn a_broken_stream_is_taken_up_again() {
    let server = Scripted::start(|request| {
        usual(request).unwrap_or_else(|| match request.verb.as_str() {
            "POST" => stream("id: 7\nretry: 10\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n"),
            _ => {
                assert_eq!(request.header("last-event-id"), Some("7"));
                stream("data: {\"jsonrpc\":\"2.0\",\"id\":1,\ndata: \"result\":{\"ok\":1}}\n\n")
            }
        })
    });
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(&server, &folder);
    session.hello();
    session.send(r#"{"jsonrpc":"2.0","id":1,"method":"vendor/x"}"#);
    assert_eq!(session.heard()["method"], "n");
    assert_eq!(session.heard()["result"]["ok"], 1);
    assert_eq!(session.end().0, Some(0));
}

#[test]
fn refusals_say_what_to_do() {
    let server = Scripted::start(|request| {
        usual(request).unwrap_or_else(|| match request.method() {
            "a" => response("401 Unauthorized", "", "who are you"),
            "b" => {
                let body = json!({"jsonrpc": "2.0", "id": request.message["id"], "error": {"code": 5, "message": "x"}});
                response("400 Bad Request", "content-type: application/json\r\n", &body.to_string())
            }
            "c" => response("200 OK", "content-type: text/html\r\n", "<html>"),
            "d" => stream("data: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n"),
            _ => response("404 Not Found", "", ""),
        })
    });
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(&server, &folder);
    session.hello();
    let said = |answer: &Value| answer["error"]["message"].as_str().unwrap().to_owned();
    assert!(said(&session.ask(1, "a", &json!({}))).contains("--header"));
    assert_eq!(session.ask(2, "b", &json!({}))["error"], json!({"code": 5, "message": "x"}));
    assert!(said(&session.ask(3, "c", &json!({}))).contains("without a message"));
    session.send(r#"{"jsonrpc":"2.0","id":4,"method":"d"}"#);
    assert_eq!(session.heard()["method"], "n");
    assert!(said(&session.heard()).contains("the stream ended"));
    assert!(said(&session.ask(5, "gone", &json!({}))).contains("ended the session"));
    let (code, stderr) = session.wait();
    assert_eq!(code, Some(3), "{stderr}");
}

#[test]
fn a_redirection_elsewhere_takes_no_headers_along() {
    let elsewhere = Scripted::start(|request| answer(request, &json!({})));
    let to = elsewhere.url.clone();
    let server = Scripted::start(move |_| {
        response("307 Temporary Redirect", &format!("location: {to}\r\n"), "")
    });
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(&server, &folder);
    assert!(
        session.ask(1, "ping", &json!({}))["error"]["message"].as_str().unwrap().contains("307")
    );
    assert_eq!(session.end().0, Some(0));
    assert!(elsewhere.seen.lock().unwrap().is_empty());
}

#[test]
fn a_redirection_on_the_same_server_is_followed_with_the_message() {
    let server = Scripted::start(|request| match request.path.as_str() {
        "/mcp" => response("307 Temporary Redirect", "location: /mcp/\r\n", ""),
        "/mcp/" => answer(request, &json!({"ok": request.header("x-key")})),
        path => panic!("{path}"),
    });
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(&server, &folder);
    assert_eq!(session.ask(1, "ping", &json!({}))["result"]["ok"], "42");
    assert_eq!(session.end().0, Some(0));
}

#[test]
fn messages_of_the_server_arrive_and_its_open_stream_does_not_hold_the_proxy() {
    let server = Scripted::start(|request| match request.verb.as_str() {
        "GET" => "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
                  data: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n"
            .to_owned(),
        _ => usual(request).unwrap(),
    });
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(&server, &folder);
    session.hello();
    assert_eq!(session.heard()["method"], "n");
    assert_eq!(server.got("GET", "").header("mcp-session-id"), Some("s1"));
    let start = Instant::now();
    assert_eq!(session.end().0, Some(0));
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    server.got("CLOSED", "");
}

#[test]
fn a_cancelled_request_of_the_newer_protocol_is_hung_up_on() {
    let server = Scripted::start(|request| match request.method() {
        "silent" => String::new(),
        "stream" => "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
                     data: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n"
            .to_owned(),
        _ => answer(request, &json!({"ok": 1})),
    });
    let folder = tempfile::tempdir().unwrap();
    let mut session = session(&server, &folder);
    let params = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}});
    for (id, method) in [(1, "silent"), (2, "stream")] {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        session.send(&request.to_string());
        match method {
            "stream" => assert_eq!(session.heard()["method"], "n"),
            _ => assert_eq!(server.got("POST", method).header("mcp-method"), Some(method)),
        }
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": id}});
        session.send(&cancel.to_string());
        server.got("CLOSED", method);
    }
    // The proxy cancels by closing the connection, without a notification.
    assert_eq!(session.ask(3, "other", &params)["result"]["ok"], 1);
    let seen = server.seen.lock().unwrap().clone();
    assert!(seen.iter().all(|request| request.method() != "notifications/cancelled"), "{seen:?}");
    session.end();
}
