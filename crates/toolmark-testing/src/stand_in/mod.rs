//! A server that simulates model providers: it supports all three wire formats, both complete and
//! streamed, and follows a script.

mod shapes;

use crate::http::{self, ClientConnection, Server};

use serde_json::{Value, json};
use shapes::Spoken;
use std::collections::BTreeSet;
use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::ops::Deref;
use std::sync::{Arc, Mutex};

/// Name of the tool in the providers' contract.
pub const TOOL: &str = "submit_verdict";

/// Input tokens of every answer: plain, written to a cache, read from a cache. Only Anthropic
/// counts cached tokens separately.
pub const INPUT: [u64; 3] = [100, 20, 3];
/// Output tokens of every answer.
pub const OUTPUT: u64 = 45;

/// Response to a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Calls the tool once (or answers as JSON text if no tool was offered).
    Answer,
    /// Calls the tool twice.
    Twice,
    /// Answers with text and no call.
    Talk,
    /// Calls a tool that was not offered, and then the right one.
    OtherTool,
    /// Calls the tool with arguments that are not JSON.
    NotJson,
    /// Refuses with text.
    Refuse,
    /// Stops the answer by the provider's filter.
    Filtered,
    /// Reaches the token limit in the middle of the arguments.
    Cut,
    /// Responds with 429 and this header.
    Busy(&'static str, &'static str),
    /// Responds with 500.
    Failed,
    /// Responds with 529.
    Overloaded,
    /// Responds with 401.
    Denied,
    /// Responds with 400, with the key in the error message.
    Echo,
    /// Responds with any status, headers and body.
    Status(u16, Vec<(&'static str, String)>, String),
    /// Answers with the key in all text of the model.
    EchoInAnswer,
    /// Sends no answer.
    Hang,
    /// Stops in the middle of the answer and stays connected.
    Stall,
    /// Disconnects in the middle of the answer.
    Break,
    /// Sends the first half of the answer as if it were complete.
    EndEarly,
    /// Sends a body that is not JSON.
    Garble,
    /// Sends JSON of another shape.
    OtherShape,
    /// Reports an overloaded server after a success status.
    ErrorInside,
}

/// Transient faults, for runs with many requests. A broken connection resembles a dead server and a
/// garbled body resembles an answer: both must be distinguished from them.
pub const FAULTS: [Act; 6] = [
    Act::Busy("retry-after-ms", "2"),
    Act::Failed,
    Act::Overloaded,
    Act::Break,
    Act::Garble,
    Act::EndEarly,
];

/// Responses to all requests.
#[derive(Debug, Clone)]
pub enum ResponseScript {
    /// One response after another; the last one for all further requests.
    Acts(Vec<Act>),
    /// The given number of requests in a thousand meets one of these faults in turn, evenly
    /// distributed by the number of the request.
    Share(u64, Vec<Act>),
}

impl From<Act> for ResponseScript {
    fn from(act: Act) -> Self {
        Self::Acts(vec![act])
    }
}

impl ResponseScript {
    fn act(&self, number: u64) -> Act {
        match self {
            Self::Acts(acts) => {
                let at = usize::try_from(number).unwrap().min(acts.len().saturating_sub(1));
                acts.get(at).cloned().unwrap_or(Act::Answer)
            }
            Self::Share(share, faults) => {
                let before = number * share / 1000;
                let is_fault = (number + 1) * share / 1000 > before;
                let at = usize::try_from(before).unwrap() % faults.len().max(1);
                faults.get(at).filter(|_| is_fault).cloned().unwrap_or(Act::Answer)
            }
        }
    }
}

/// Wire format of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireFamily {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's Chat Completions.
    Chat,
}

/// A request to a model.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    http: http::HttpRequest,
    /// Number of previous requests.
    pub number: u64,
    /// Response.
    pub act: Act,
}

impl Deref for ModelRequest {
    type Target = http::HttpRequest;

    fn deref(&self) -> &Self::Target {
        &self.http
    }
}

impl ModelRequest {
    /// Wire format, by the path.
    #[must_use]
    pub fn family(&self) -> Option<WireFamily> {
        let path = self.path.split('?').next()?;
        let is_cloud = path.ends_with("/invoke") || path.contains("awPredict");
        match path.strip_prefix("/v1/")? {
            "messages" => Some(WireFamily::Anthropic),
            _ if is_cloud => Some(WireFamily::Anthropic),
            "responses" => Some(WireFamily::Responses),
            path if path.ends_with("chat/completions") => Some(WireFamily::Chat),
            _ => None,
        }
    }

    /// Whether the answer is to be streamed.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        self.body["stream"] == true
    }

    /// API key, from whichever header has it.
    #[must_use]
    pub fn key(&self) -> &str {
        let bearer = self.header("authorization").strip_prefix("Bearer ").unwrap_or_default();
        [self.header("x-api-key"), self.header("api-key"), bearer].into_iter().max().unwrap()
    }

    /// Whether the version is in the body, as cloud providers require.
    fn has_version(&self) -> bool {
        self.body["anthropic_version"].is_string()
    }

    /// Text of the user message.
    #[must_use]
    pub fn user(&self) -> String {
        let at = match self.family() {
            Some(WireFamily::Anthropic) => "/messages/0/content",
            Some(WireFamily::Responses) => "/input",
            _ => "/messages/1/content",
        };
        match self.body.pointer(at) {
            Some(Value::Array(blocks)) => {
                blocks.iter().filter_map(|block| block["text"].as_str()).collect()
            }
            Some(Value::String(text)) => text.clone(),
            _ => String::new(),
        }
    }

    /// Schema of the answer.
    #[must_use]
    pub fn schema(&self) -> &Value {
        let places = [
            "/tools/0/input_schema",
            "/tools/0/parameters",
            "/tools/0/function/parameters",
            "/output_config/format/schema",
            "/text/format/schema",
            "/response_format/json_schema/schema",
        ];
        places.iter().find_map(|at| self.body.pointer(at)).unwrap_or(&Value::Null)
    }

    /// Whether a tool is offered.
    #[must_use]
    pub fn has_tools(&self) -> bool {
        self.body["tools"].is_array()
    }

    /// Reason for which a provider would reject the request, if any.
    fn complaint(&self) -> Option<&'static str> {
        let body = &self.body;
        match self.family()? {
            _ if self.method != "POST" => Some("method not allowed"),
            _ if !body["model"].is_string() && !self.has_version() => Some("model: field required"),
            _ if body["model"].is_string() && self.has_version() => {
                Some("model: extra inputs are not permitted")
            }
            WireFamily::Anthropic
                if self.header("anthropic-version").is_empty() && !self.has_version() =>
            {
                Some("anthropic-version: header is required")
            }
            WireFamily::Anthropic if !body["max_tokens"].is_u64() => {
                Some("max_tokens: field required")
            }
            WireFamily::Anthropic | WireFamily::Chat if !body["messages"].is_array() => {
                Some("messages: field required")
            }
            WireFamily::Responses if body["input"].is_null() => Some("input: field required"),
            _ => None,
        }
    }
}

/// Creates the answer to a request.
pub type Answerer = dyn Fn(&ModelRequest) -> String + Send + Sync;

/// A simulated provider on its own port, which runs until it is dropped.
pub struct StandIn {
    server: Server,
    script: Arc<Scripted>,
}

struct Scripted {
    script: ResponseScript,
    answer: Box<Answerer>,
    /// Received requests, and given answers.
    requests: Mutex<Vec<ModelRequest>>,
    given: Mutex<Vec<String>>,
}

impl StandIn {
    /// Starts a server that answers every request with its number.
    pub fn start(script: impl Into<ResponseScript>) -> Self {
        Self::answering(script, |request| json!({"n": request.number}).to_string())
    }

    /// Starts a server with custom answers; every answer must be a JSON object.
    pub fn answering(
        script: impl Into<ResponseScript>,
        answer: impl Fn(&ModelRequest) -> String + Send + Sync + 'static,
    ) -> Self {
        let script = Arc::new(Scripted {
            script: script.into(),
            answer: Box::new(answer),
            requests: Mutex::default(),
            given: Mutex::default(),
        });
        let ours = Arc::clone(&script);
        Self { server: Server::start(move |connection| ours.serve(connection)), script }
    }

    /// Value of `base_url`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.server.address())
    }

    /// Returns every request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.script.requests.lock().unwrap().clone()
    }

    /// Returns the number of answers, and the number of distinct ones.
    #[must_use]
    pub fn given(&self) -> (usize, usize) {
        let given = self.script.given.lock().unwrap();
        (given.len(), given.iter().collect::<BTreeSet<_>>().len())
    }
}

impl Scripted {
    /// Serves one request; `false` closes the connection.
    fn serve(&self, connection: &ClientConnection) -> std::io::Result<bool> {
        let mut reader = BufReader::new(&connection.stream);
        let Some(http) = http::HttpRequest::read(&mut reader)? else { return Ok(false) };
        let request = {
            let mut requests = self.requests.lock().unwrap();
            let number = requests.len() as u64;
            requests.push(ModelRequest { http, number, act: self.script.act(number) });
            requests[requests.len() - 1].clone()
        };
        let mut line = ClientStream { connection, stream: &connection.stream, request: &request };
        let Some(family) = request.family() else {
            return line.send(404, &[], "text/html", "<html><title>Not Found</title></html>");
        };
        if let Some(complaint) = request.complaint() {
            return line.refuse(400, &[], shapes::error(family, 400, complaint));
        }
        let key = request.key();
        match request.act.clone() {
            Act::Busy(name, value) => {
                let body = shapes::error(family, 429, "too many requests, slow down");
                line.refuse(429, &[(name, value.to_owned())], body)
            }
            Act::Failed => line.refuse(500, &[], shapes::error(family, 500, "something broke")),
            Act::Overloaded => line.refuse(529, &[], shapes::error(family, 529, "overloaded")),
            Act::Denied => line.refuse(401, &[], shapes::error(family, 401, "invalid key")),
            Act::Echo => {
                let words = format!("the header said {key}; is {key} a key?");
                line.refuse(400, &[], shapes::error(family, 400, &words))
            }
            Act::Status(status, headers, body) => {
                let body = body.replace("{key}", key);
                line.send(status, &headers, "application/json", &body)
            }
            Act::Hang => line.wait(),
            Act::OtherShape => line.send(200, &[], "application/json", r#"{"ok": [1, 2]}"#),
            act => self.speak(line, family, &act),
        }
    }

    /// Answers as a model.
    fn speak(
        &self,
        mut line: ClientStream<'_>,
        family: WireFamily,
        act: &Act,
    ) -> std::io::Result<bool> {
        let request = line.request;
        let answer = (self.answer)(request);
        let spoken = Spoken::of(act, request, &answer);
        let is_stream = request.is_stream();
        let (kind, text) = if is_stream {
            ("text/event-stream", shapes::events(family, &spoken, act))
        } else if *act == Act::ErrorInside {
            ("application/json", shapes::error(family, 529, "overloaded").to_string())
        } else {
            ("application/json", shapes::whole(family, &spoken).to_string())
        };
        let mut middle = text.len() / 2;
        while !text.is_char_boundary(middle) {
            middle += 1;
        }
        let (first, rest) = text.split_at(middle);
        match act {
            Act::Break => {
                line.begin(200, &[], kind, &text, is_stream)?;
                line.part(first, is_stream)?;
                Ok(false)
            }
            Act::Stall => {
                line.begin(200, &[], kind, &text, is_stream)?;
                line.part(first, is_stream)?;
                line.wait()
            }
            // A stream ends after a whole event.
            Act::EndEarly if is_stream => {
                let end = first.rfind("\n\n").map_or(0, |at| at + 2);
                line.stream(kind, &[&text[..end]])
            }
            Act::EndEarly => line.send(200, &[], kind, first),
            Act::Garble if is_stream => {
                line.stream(kind, &["event: x\ndata: {\"type\": <oops>\n\n", rest])
            }
            Act::Garble => line.send(200, &[], kind, &format!("<oops>{rest}")),
            _ => {
                // First: who has read the last event may not wait for the end.
                if *act == Act::Answer {
                    self.given.lock().unwrap().push(answer);
                }
                match is_stream {
                    true => line.stream(kind, &[first, rest]),
                    false => line.send(200, &[], kind, &text),
                }
            }
        }
    }
}

/// The connection to the client.
struct ClientStream<'l> {
    connection: &'l ClientConnection,
    stream: &'l TcpStream,
    request: &'l ModelRequest,
}

impl ClientStream<'_> {
    /// Sends nothing more until the server is dropped.
    fn wait(&self) -> std::io::Result<bool> {
        self.connection.wait_for_end();
        Ok(false)
    }

    fn begin(
        &mut self,
        status: u16,
        headers: &[(&str, String)],
        kind: &str,
        body: &str,
        is_stream: bool,
    ) -> std::io::Result<()> {
        let mut head = format!("HTTP/1.1 {status} Status\r\ncontent-type: {kind}\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("request-id: req_{}\r\n", self.request.number));
        match is_stream {
            true => head.push_str("transfer-encoding: chunked\r\n\r\n"),
            false => head.push_str(&format!("content-length: {}\r\n\r\n", body.len())),
        }
        self.stream.write_all(head.as_bytes())
    }

    fn part(&mut self, text: &str, is_stream: bool) -> std::io::Result<()> {
        match is_stream {
            true if text.is_empty() => Ok(()),
            true => write!(self.stream, "{:x}\r\n{text}\r\n", text.len()),
            false => self.stream.write_all(text.as_bytes()),
        }
    }

    fn send(
        &mut self,
        status: u16,
        headers: &[(&str, String)],
        kind: &str,
        body: &str,
    ) -> std::io::Result<bool> {
        self.begin(status, headers, kind, body, false)?;
        self.part(body, false)?;
        Ok(true)
    }

    fn refuse(
        &mut self,
        status: u16,
        headers: &[(&str, String)],
        body: Value,
    ) -> std::io::Result<bool> {
        self.send(status, headers, "application/json", &body.to_string())
    }

    fn stream(&mut self, kind: &str, parts: &[&str]) -> std::io::Result<bool> {
        self.begin(200, &[], kind, "", true)?;
        for part in parts {
            self.part(part, true)?;
        }
        self.stream.write_all(b"0\r\n\r\n")?;
        Ok(true)
    }
}
