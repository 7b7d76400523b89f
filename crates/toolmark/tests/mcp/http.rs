//! Servers over HTTP that answer as scripted, and what they get to see.

use crate::fake::Session;
use crate::proxy;
use serde_json::{Value, json};
use std::io::{BufReader, Write};
use std::sync::{Arc, Mutex};
use toolmark_testing::http::{Request, Server};

/// The method of JSON-RPC.
fn method(request: &Request) -> &str {
    request.body["method"].as_str().unwrap_or_default()
}

/// A server that answers by a script.
struct Scripted {
    server: Server,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Scripted {
    fn start(answer: impl Fn(&Request) -> String + Send + Sync + 'static) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&seen);
        let server = Server::start(move |connection| {
            let mut stream = &connection.stream;
            if let Some(request) = Request::read(&mut BufReader::new(stream))? {
                let text = answer(&request);
                notes.lock().unwrap().push(request);
                stream.write_all(text.as_bytes())?;
            }
            Ok(false)
        });
        Self { server, seen }
    }

    fn url(&self) -> String {
        format!("http://{}/mcp", self.server.address())
    }

    /// The first request of a method of JSON-RPC, or of a verb without one.
    fn got(&self, verb: &str, name: &str) -> Request {
        let seen = self.seen.lock().unwrap();
        let found = seen.iter().find(|request| request.method == verb && method(request) == name);
        found.unwrap_or_else(|| panic!("no {verb} {name} in {seen:?}")).clone()
    }
}

fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )
}

fn answer(request: &Request, result: &Value) -> String {
    let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "result": result});
    response("200 OK", "content-type: application/json\r\n", &body.to_string())
}

fn stream(body: &str) -> String {
    response("200 OK", "content-type: text/event-stream\r\n", body)
}

/// What every server says at the start, and to what needs no answer.
fn usual(request: &Request) -> Option<String> {
    match (request.method.as_str(), method(request)) {
        ("POST", "initialize") => {
            let text =
                answer(request, &json!({"protocolVersion": "2025-06-18", "capabilities": {}}));
            Some(text.replacen("\r\n", "\r\nmcp-session-id: s1\r\n", 1))
        }
        ("POST", method) if method.starts_with("notifications/") => {
            Some(response("202 Accepted", "", ""))
        }
        ("GET", _) if request.header("last-event-id").is_empty() => {
            Some(response("405 Method Not Allowed", "", ""))
        }
        ("DELETE", _) => Some(response("200 OK", "", "")),
        _ => None,
    }
}

fn session(server: &Scripted, folder: &tempfile::TempDir) -> Session {
    let mut command = proxy(folder.path());
    Session::of(command.args(["--url", &server.url(), "--header", "X-Key: 42"]))
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
    assert_eq!((first.header("x-key"), first.header("mcp-session-id")), ("42", ""));
    assert_eq!(first.header("accept"), "application/json, text/event-stream");
    let later = server.got("POST", "tools/list");
    assert_eq!(later.header("mcp-session-id"), "s1");
    assert_eq!(later.header("mcp-protocol-version"), "2025-06-18");
    assert_eq!(server.got("DELETE", "").header("mcp-session-id"), "s1");
}

#[test]
fn a_broken_stream_is_taken_up_again() {
    let server = Scripted::start(|request| {
        usual(request).unwrap_or_else(|| match request.method.as_str() {
            "POST" => stream("id: 7\nretry: 10\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n"),
            _ => {
                assert_eq!(request.header("last-event-id"), "7");
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
        usual(request).unwrap_or_else(|| match method(request) {
            "a" => response("401 Unauthorized", "", "who are you"),
            "b" => {
                let body = json!({"jsonrpc": "2.0", "id": request.body["id"], "error": {"code": 5, "message": "x"}});
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
    let to = elsewhere.url();
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
