//! The store for an agent: recurring failures and their fixes, over MCP.
//!
//! JSON-RPC, in lines on standard input and output or in requests over HTTP. The answers are
//! shortened answers of the API, because every word costs the agent tokens.

use crate::evaluate::Evaluator;
use crate::issues::{Filter, Grouped, Issues};
use crate::library::Library;
use crate::live::Hub;
use crate::sessions as stored;
use crate::store::{SessionStore, StoreError};
use crate::view::SessionView;
use crate::watch::{Folder, FolderState, WatchState};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use toolmark_feed::Issue;
use toolmark_redact::Redactor;

/// Protocol version that is offered if the client's version is unknown.
const PROTOCOL: &str = "2025-06-18";
const KNOWN: &[&str] = &["2024-11-05", "2025-03-26", PROTOCOL];

/// Maximum length of a message.
const MAX_LINE: u64 = 4 << 20;

/// Maximum number of issues, entries or rows per answer.
const MAX_ROWS: usize = 20;

/// Time that the first request waits for sessions that changed since the last run.
const CATCH_UP: Duration = Duration::from_secs(5);

/// Settings of the MCP server.
pub struct McpOptions {
    /// Path of the store.
    pub db: PathBuf,
    /// File of decisions about issues.
    pub state: PathBuf,
    /// Session folders.
    pub folders: Vec<Folder>,
    /// Redacts secrets.
    pub redactor: Redactor,
}

/// The MCP server.
pub(crate) struct Server<'s> {
    pub(crate) store: &'s SessionStore,
    pub(crate) hub: &'s Hub,
    pub(crate) issues: &'s Issues,
    pub(crate) library: &'s Library,
    pub(crate) redactor: Redactor,
    pub(crate) states: &'s Mutex<Vec<FolderState>>,
    /// Time until which the first request may wait for the scan of the folders.
    pub(crate) waits_until: Option<Instant>,
}

/// Reason for a request without an answer, as text for the agent.
struct UnansweredRequest(String);

impl From<StoreError> for UnansweredRequest {
    fn from(error: StoreError) -> Self {
        Self(error.to_string())
    }
}

/// Answers requests until the input ends.
pub fn mcp(options: McpOptions, input: impl BufRead, output: impl Write) -> Result<(), StoreError> {
    let store = Arc::new(SessionStore::open(&options.db)?);
    let hub = Arc::new(Hub::default());
    let stop = Arc::new(AtomicBool::new(false));
    let states = Arc::new(Mutex::new(vec![FolderState::default(); options.folders.len()]));
    let watch = WatchState {
        folders: options.folders,
        store: Arc::clone(&store),
        evaluator: Arc::new(Evaluator::new(options.redactor)),
        hub: Arc::clone(&hub),
        states: Arc::clone(&states),
        queue: None,
        retention: None,
        stop: Arc::clone(&stop),
    };
    let watching = std::thread::spawn(move || watch.run());
    let server = Server {
        store: &store,
        hub: &hub,
        issues: &Issues::new(options.state),
        library: &Library::default(),
        redactor: options.redactor,
        states: &states,
        waits_until: Some(Instant::now() + CATCH_UP),
    };
    let result = server.talk(input, output);
    stop.store(true, Ordering::Relaxed);
    let _ = watching.join();
    store.close();
    result.map_err(|error| StoreError::Other(error.to_string()))
}

impl Server<'_> {
    fn talk(&self, mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
        loop {
            let mut line = Vec::new();
            let read = (&mut input).take(MAX_LINE).read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(());
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            if let Some(answer) = self.answer_to(&line) {
                writeln!(output, "{answer}")?;
                output.flush()?;
            }
        }
    }

    /// Returns the answer to a message; `None` for a notification.
    pub(crate) fn answer_to(&self, message: &[u8]) -> Option<Value> {
        match serde_json::from_slice::<Value>(message) {
            Ok(message) => self.answer(&message),
            Err(error) => Some(failed(&Value::Null, -32700, &error.to_string())),
        }
    }

    fn answer(&self, message: &Value) -> Option<Value> {
        // A message without an ID is a notification, which has no answer.
        let id = message.get("id").filter(|id| !id.is_null())?;
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            return Some(failed(id, -32600, "a request has a method"));
        };
        let nothing = Value::Null;
        let params = message.get("params").unwrap_or(&nothing);
        let result = match method {
            "initialize" => {
                let asked = params.get("protocolVersion").and_then(Value::as_str);
                let version = asked.filter(|asked| KNOWN.contains(asked)).unwrap_or(PROTOCOL);
                json!({
                    "protocolVersion": version,
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "toolmark", "version": env!("CARGO_PKG_VERSION")},
                    "instructions": "Ask what_keeps_failing before you start on a project, and \
                                     how_to_fix for an issue it names.",
                })
            }
            "ping" => json!({}),
            "tools/list" => json!({"tools": tools()}),
            "tools/call" => {
                let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
                let arguments = params.get("arguments").unwrap_or(&nothing);
                match self.call(name, arguments) {
                    Some(Ok(value)) => told(&value, false),
                    Some(Err(UnansweredRequest(words))) => told(&words.into(), true),
                    None => return Some(failed(id, -32602, &format!("unknown tool {name}"))),
                }
            }
            _ => return Some(failed(id, -32601, &format!("unknown method {method}"))),
        };
        Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    fn call(&self, name: &str, arguments: &Value) -> Option<Result<Value, UnansweredRequest>> {
        let text = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
        let number = |key: &str| arguments.get(key).and_then(Value::as_u64);
        Some(match name {
            "what_keeps_failing" => self.failing(text("project"), text("words")),
            "how_to_fix" => self.fix(text("issue")),
            "show_session" => self.session(text("session"), number("from").unwrap_or(1)),
            "show_call" => self.show_call(text("session"), number("call").unwrap_or_default()),
            _ => return None,
        })
    }

    /// Returns the issues, after the scan of the folders.
    fn grouped(&self, filter: &Filter) -> Result<Arc<Grouped>, UnansweredRequest> {
        let is_waiting = || {
            let states = crate::store::lock(self.states);
            !states.is_empty() && states.iter().all(|state| !state.exists && state.files == 0)
        };
        while self.waits_until.is_some_and(|until| Instant::now() < until) && is_waiting() {
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(self.issues.grouped(self.store, filter, self.hub.seq())?)
    }

    fn hide(&self, text: &str) -> String {
        self.redactor.apply(text.to_owned()).into()
    }

    fn brief(&self, issue: &Issue) -> Value {
        json!({
            "issue": issue.id.to_string(),
            "title": self.hide(issue.title.raw()),
            "count": issue.count,
            "sessions": issue.sessions,
            "state": issue.state.word(),
            "last_seen": issue.last_seen.map(|time| time.to_string()),
            "has_fix": issue.fix.is_some(),
        })
    }

    fn failing(&self, project: &str, words: &str) -> Result<Value, UnansweredRequest> {
        let project = Some(project.to_owned()).filter(|project| !project.is_empty());
        let grouped = self.grouped(&Filter { project, ..Filter::default() })?;
        let words = words.to_lowercase();
        let open = grouped.issues.iter().filter(|issue| {
            issue.state.is_open() && issue.title.raw().to_lowercase().contains(&words)
        });
        let open: Vec<Value> = open.map(|issue| self.brief(issue)).collect();
        Ok(json!({"open_issues": open.len(), "worst": &open[..open.len().min(MAX_ROWS)]}))
    }

    fn fix(&self, id: &str) -> Result<Value, UnansweredRequest> {
        let grouped = self.grouped(&Filter::default())?;
        let issue =
            grouped.find(id).ok_or_else(|| UnansweredRequest(format!("there is no issue {id}")))?;
        let mut answer = self.brief(issue);
        let fix = issue.fix.clone().map(|fix| fix.redact(self.redactor));
        answer["fix"] = serde_json::to_value(fix).unwrap_or_default();
        if let Some(one) = issue.clone().redact(self.redactor).representative {
            answer["example"] =
                json!({"call": one.call, "said": one.said, "followed": one.followed});
        }
        Ok(answer)
    }

    fn open(
        &self,
        id: &str,
    ) -> Result<(stored::StoredSession, Arc<crate::library::Book>), UnansweredRequest> {
        let found = self.store.read(|db| stored::find(db, id, Timestamp::now()))?;
        let found = found.ok_or_else(|| UnansweredRequest(format!("there is no session {id}")))?;
        let book = self.library.open(self.store, &found);
        let book = book.map_err(|error| UnansweredRequest(error.to_string()))?;
        Ok((found, book))
    }

    fn session(&self, id: &str, from: u64) -> Result<Value, UnansweredRequest> {
        if id.is_empty() {
            let filter = stored::Filter::default();
            let now = Timestamp::now();
            let (rows, total) =
                self.store.read(|db| stored::list(db, &filter, MAX_ROWS as u32, 0, now))?;
            return Ok(json!({"sessions": total, "newest": rows}));
        }
        let (found, book) = self.open(id)?;
        let view = SessionView::new(&book, self.redactor);
        let entries = view.timeline(0, from, MAX_ROWS * 5);
        Ok(json!({"session": found.row, "entries": entries, "of": view.length(0)}))
    }

    fn show_call(&self, id: &str, call: u64) -> Result<Value, UnansweredRequest> {
        let (_, book) = self.open(id)?;
        let detail = SessionView::new(&book, self.redactor).call(call);
        let mut detail =
            detail.ok_or_else(|| UnansweredRequest(format!("there is no call {call}")))?;
        // The record repeats the call.
        detail.raw.clear();
        serde_json::to_value(detail).map_err(|error| UnansweredRequest(error.to_string()))
    }
}

fn told(value: &Value, is_error: bool) -> Value {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    json!({"content": [{"type": "text", "text": text}], "isError": is_error})
}

fn failed(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

fn tools() -> Value {
    let tool = |name: &str, about: &str, properties: Value, required: &[&str]| {
        json!({
            "name": name,
            "description": about,
            "inputSchema": {"type": "object", "properties": properties, "required": required},
            "annotations": {"readOnlyHint": true},
        })
    };
    let text = |about: &str| json!({"type": "string", "description": about});
    let number = |about: &str| json!({"type": "integer", "minimum": 1, "description": about});
    json!([
        tool(
            "what_keeps_failing",
            "Failures and findings that recur across the sessions of agents on this machine, \
             the worst first",
            json!({"project": text("Only of this directory"), "words": text("Only with these words")}),
            &[],
        ),
        tool(
            "how_to_fix",
            "The change that prevents an issue, and an example of it",
            json!({"issue": text("The id of the issue")}),
            &["issue"],
        ),
        tool(
            "show_session",
            "What happened in a session, or the newest sessions where none is named",
            json!({"session": text("The id of the session"), "from": number("The first entry")}),
            &[],
        ),
        tool(
            "show_call",
            "One call with its arguments, its result and what the rules say about it",
            json!({"session": text("The id of the session"), "call": number("The number of the call")}),
            &["session", "call"],
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk(lines: &str) -> Vec<Value> {
        let dir = tempfile::tempdir().unwrap();
        let options = McpOptions {
            db: dir.path().join("s.db"),
            state: dir.path().join("feed.jsonl"),
            folders: Vec::new(),
            redactor: Redactor::new(true),
        };
        let mut output = Vec::new();
        mcp(options, lines.as_bytes(), &mut output).unwrap();
        let text = String::from_utf8(output).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn requests_are_answered_and_notices_are_not() {
        let answers = talk(concat!(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/list"}"#,
            "\n\nnot json\n",
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"what_keeps_failing"}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"how_to_fix","arguments":{"issue":"x"}}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"rm"}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":5,"method":"resources/list"}"#,
            "\n",
        ));
        assert_eq!(answers.len(), 7, "{answers:?}");
        assert_eq!(answers[0]["result"]["protocolVersion"], "2025-03-26");
        assert_eq!(answers[1]["result"]["tools"].as_array().unwrap().len(), 4);
        assert_eq!(answers[2]["error"]["code"], -32700);
        assert_eq!(answers[3]["result"]["content"][0]["text"], r#"{"open_issues":0,"worst":[]}"#);
        assert_eq!(answers[4]["result"]["isError"], true);
        assert_eq!(answers[5]["error"]["code"], -32602);
        assert_eq!(answers[6]["error"]["code"], -32601);
    }
}
