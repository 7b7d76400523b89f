//! A remote server, connected over streamable HTTP.
//!
//! Each line is the body of an HTTP request. Notifications and answers are delivered before the
//! next line is sent; requests run concurrently, each on a thread of its own. Responses, complete
//! or streamed, are forwarded as written. A stream that breaks is resumed if the server allows it.
//!
//! The client of `rmcp` is not used: it parses every message into its types, which loses unknown
//! fields, drops messages that arrive before the first answer, and filters tools by rules of its
//! own.

use crate::headers::Outline;
use crate::lines::ProtocolLine;
use crate::message::{MAX_LINE, McpMessage, RequestId, member, members};
use crate::proxy::Proxy;
use crate::transport::{Transport, TransportEvent};
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Sender as EventSender;
use toolmark_base::lock;
use toolmark_http::http::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use toolmark_http::http::uri::InvalidUri;
use toolmark_http::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use toolmark_http::{
    AsSendBody, Client, HttpError, HttpResponse, Roots, SseReader, StreamPosition, Timeouts,
};

/// Address of a server.
#[derive(Debug, Clone)]
pub struct Remote {
    /// URL.
    pub url: String,
    /// Headers sent with every request, each as `Name: value`.
    pub headers: Vec<String>,
}

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Connection timeout. The client decides how long an answer may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// Timeout for a server to accept a message that needs no answer.
const ACCEPT_TIMEOUT: Duration = Duration::from_secs(30);

/// Timeout for a server to end a session.
const DELETE_TIMEOUT: Duration = Duration::from_secs(2);

/// Time after which a silent stream of the server's own messages is reopened: routers drop idle
/// connections without notifying either side.
const STREAM_READ_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// Maximum number of attempts to resume a broken stream.
const MAX_RESUMES: u32 = 5;

/// Maximum number of redirects followed.
const MAX_REDIRECTS: usize = 4;

/// Maximum number of bytes read from an error response.
const MAX_ERROR: u64 = 1 << 20;

/// Maximum number of idle clients kept.
const MAX_IDLE_CLIENTS: usize = 8;

/// State shared by all requests.
struct HttpState {
    client: Arc<Client>,
    uri: Uri,
    headers: HeaderMap,
    events: EventSender<TransportEvent>,
    session: Mutex<Option<HeaderValue>>,
    version: Mutex<Option<String>>,
    /// Requests of the newer protocol with their clients: they are cancelled by closing their
    /// connection, so each has its own client until it is done.
    running: Mutex<BTreeMap<RequestId, Arc<Client>>>,
    /// Idle clients of such requests, kept for later ones.
    idle: Mutex<Vec<Arc<Client>>>,
}

pub(crate) struct Http {
    shared: Arc<HttpState>,
    queue: Option<Sender<Post>>,
}

/// A message to send.
struct Post {
    line: String,
    outline: Outline,
    /// Request ID.
    id: Option<RequestId>,
    headers: Vec<(String, String)>,
    client: Arc<Client>,
}

/// Reason why a server cannot be reached, or gives no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemoteError {
    #[error("{0}: {1}")]
    Url(String, InvalidUri),
    #[error("{0}: neither http nor https")]
    Scheme(String),
    #[error("a header is written `Name: value`")]
    Header,
    #[error("{0:?} is not a valid name of a header")]
    HeaderName(String),
    #[error("the value of the header {0:?} is invalid")]
    HeaderValue(String),
    #[error("{0:?} cannot be sent as a header")]
    MessageHeader(String),
    #[error(transparent)]
    Thread(#[from] std::io::Error),
    #[error("{0}")]
    Request(String),
    #[error("{0}")]
    Refused(String),
    #[error("it ended the session")]
    SessionEnded,
    #[error("HTTP {0} without a message")]
    NoMessage(StatusCode),
    #[error(transparent)]
    Utf8(#[from] std::string::FromUtf8Error),
    #[error("the stream ended")]
    StreamEnded,
}

impl Http {
    /// Creates a transport to a server; nothing is sent yet.
    pub(crate) fn new(
        remote: Remote,
        events: EventSender<TransportEvent>,
    ) -> Result<Self, RemoteError> {
        let Remote { url, headers } = remote;
        let uri: Uri = url.parse().map_err(|error| RemoteError::Url(url.clone(), error))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(RemoteError::Scheme(url));
        }
        let timeouts = Timeouts { connect: Some(CONNECT_TIMEOUT), ..Timeouts::default() };
        let shared = Arc::new(HttpState {
            client: Arc::new(Client::new(&uri, Roots::System, timeouts)),
            uri,
            headers: parse_headers(&headers)?,
            events,
            session: Mutex::default(),
            version: Mutex::default(),
            running: Mutex::default(),
            idle: Mutex::default(),
        });
        let (queue, posts) = channel();
        let dispatcher = Arc::clone(&shared);
        spawn(move || dispatch(&dispatcher, &posts))?;
        Ok(Self { shared, queue: Some(queue) })
    }
}

impl Transport for Http {
    fn send(&mut self, line: String, proxy: &Proxy) {
        let outline = Outline::of(&line);
        if let Some(request) = &outline.cancels
            && let Some(client) = lock(&self.shared.running).remove(request)
        {
            client.shut_down();
            return;
        }
        let Some(queue) = &self.queue else { return };
        let schema = outline.name.as_deref().and_then(|tool| proxy.schema_of(tool));
        let headers = outline.headers(lock(&self.shared.version).as_deref(), schema);
        let id = outline.id.as_deref().and_then(|id| serde_json::from_str(id).ok());
        let id = id.and_then(RequestId::read);
        let client = match &id {
            Some(id) if outline.is_modern() => self.shared.lease_client(id),
            _ => Arc::clone(&self.shared.client),
        };
        let _ = queue.send(Post { line, outline, id, headers, client });
    }

    fn is_full(&self) -> bool {
        false
    }

    async fn ended(&mut self) -> String {
        // A server on the network ends by an event, or not at all.
        std::future::pending().await
    }

    fn finish(&mut self) {
        self.queue = None;
    }

    async fn close(self) {
        let shared = Arc::clone(&self.shared);
        let _ = tokio::task::spawn_blocking(move || shared.end_session()).await;
        // The rest has no reader any more.
        lock(&self.shared.running).values().for_each(|client| client.shut_down());
        self.shared.client.shut_down();
    }
}

/// Runs blocking work on a thread of its own. The runtime has few threads, and a request may wait
/// for hours.
fn spawn(work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    thread::Builder::new().name("mcp-http".to_owned()).spawn(work).map(drop)
}

/// Sends messages in order: a message that needs no answer is delivered before the next one is
/// sent; requests run concurrently.
fn dispatch(shared: &Arc<HttpState>, posts: &Receiver<Post>) {
    for post in posts {
        let of_thread = Arc::clone(shared);
        if post.outline.id.is_some() || post.line.trim_start().starts_with('[') {
            let id = post.outline.id.clone();
            if let (Err(error), Some(id)) = (spawn(move || of_thread.ask(&post)), id) {
                shared.tell(TransportEvent::Unanswered { id, why: error.to_string() });
            }
            continue;
        }
        if let Err(why) = shared.deliver(&post) {
            shared
                .tell(TransportEvent::Note(format!("the server did not accept a message: {why}")));
        }
        if post.outline.method.as_deref() == Some("notifications/initialized")
            && let Err(error) = spawn(move || of_thread.listen())
        {
            shared.tell(TransportEvent::Note(error.to_string()));
        }
    }
}

impl HttpState {
    fn tell(&self, event: TransportEvent) {
        let _ = self.events.blocking_send(event);
    }

    /// Returns a client for one request, which can be cancelled until the client is returned.
    fn lease_client(&self, id: &RequestId) -> Arc<Client> {
        let idle = lock(&self.idle).pop();
        let client = idle.unwrap_or_else(|| Arc::new(self.client.separate()));
        lock(&self.running).insert(id.clone(), Arc::clone(&client));
        client
    }

    /// Returns the client of a request to the pool; `false` if no answer is awaited any more.
    fn return_client(&self, post: &Post) -> bool {
        let Some(id) = post.id.as_ref().filter(|_| post.outline.is_modern()) else { return true };
        let mut running = lock(&self.running);
        // An answered id may already be in use again.
        if !running.get(id).is_some_and(|client| Arc::ptr_eq(client, &post.client)) {
            return false;
        }
        running.remove(id);
        let mut idle = lock(&self.idle);
        if idle.len() < MAX_IDLE_CLIENTS {
            idle.push(Arc::clone(&post.client));
        }
        true
    }

    /// Sends a request. Redirects are followed if they keep the method and stay on
    /// the server: headers with secrets would go with them.
    fn send(
        &self,
        client: &Client,
        timeouts: Timeouts,
        method: &Method,
        headers: &HeaderMap,
        body: impl AsSendBody + Copy,
    ) -> Result<HttpResponse, RemoteError> {
        let mut uri = self.uri.clone();
        let mut redirects = 0;
        loop {
            let mut request = Request::new(body);
            *request.method_mut() = method.clone();
            *request.uri_mut() = uri.clone();
            headers.clone_into(request.headers_mut());
            let sent = match timeouts == Timeouts::default() {
                true => client.send(request),
                false => client.send_within(timeouts, request),
            };
            let response = sent.map_err(|error| RemoteError::Request(error.to_string()))?;
            match redirect(&uri, &response).filter(|_| redirects < MAX_REDIRECTS) {
                Some(next) => uri = next,
                None => return Ok(response),
            }
            redirects += 1;
        }
    }

    fn post(&self, post: &Post, timeouts: Timeouts) -> Result<HttpResponse, RemoteError> {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in &post.headers {
            insert(&mut headers, name, value)?;
        }
        if let Some(session) = &*lock(&self.session)
            && !post.outline.is_modern()
        {
            headers.insert(SESSION, session.clone());
        }
        self.send(&post.client, timeouts, &Method::POST, &headers, post.line.as_str())
    }

    /// Sends a message that needs no answer.
    fn deliver(&self, post: &Post) -> Result<(), RemoteError> {
        let timeouts = Timeouts { total: Some(ACCEPT_TIMEOUT), ..Timeouts::default() };
        let response = self.post(post, timeouts)?;
        match response.status().is_success() {
            true => Ok(()),
            false => Err(RemoteError::Refused(refusal(response))),
        }
    }

    /// Ends the session on the server. Not every server allows it.
    fn end_session(&self) {
        let Some(session) = lock(&self.session).clone() else { return };
        let mut headers = self.headers.clone();
        headers.insert(SESSION, session);
        let timeouts = Timeouts { total: Some(DELETE_TIMEOUT), ..Timeouts::default() };
        let _ = self.send(&self.client, timeouts, &Method::DELETE, &headers, ());
    }

    /// Sends a request and forwards the responses.
    fn ask(&self, post: &Post) {
        let response = self.post(post, Timeouts::default());
        let answered = response.and_then(|response| self.take(response, post));
        if self.return_client(post)
            && let (Err(why), Some(id)) = (answered, post.outline.id.clone())
        {
            self.tell(TransportEvent::Unanswered { id, why: why.to_string() });
        }
    }

    /// Forwards the messages of a response; the error is the reason why there is no answer.
    fn take(&self, response: HttpResponse, post: &Post) -> Result<(), RemoteError> {
        let status = response.status();
        let hello = post.outline.method.as_deref() == Some("initialize");
        if hello && let Some(session) = response.headers().get(SESSION) {
            *lock(&self.session) = Some(session.clone());
        }
        if status == StatusCode::NOT_FOUND && lock(&self.session).is_some() && !hello {
            self.tell(TransportEvent::End(RemoteError::SessionEnded.to_string()));
            return Err(RemoteError::SessionEnded);
        }
        let is_json = response.is_of_type("application/json");
        if !status.is_success() {
            let body = String::from_utf8(response.read_start(MAX_ERROR)).unwrap_or_default();
            // It may be an error for this very request.
            if is_json && post.id.is_some() && is_answer(&body, post.id.as_ref()) {
                self.pass(&body, false);
                return Ok(());
            }
            return Err(RemoteError::Refused(describe_refusal(status, &body)));
        }
        if response.is_event_stream() {
            return self.follow(response, post, hello);
        }
        if !is_json {
            return Err(RemoteError::NoMessage(status));
        }
        let body = response.read(MAX_LINE as u64);
        let body = body.map_err(|error| RemoteError::Request(in_words(&error)))?;
        let body = String::from_utf8(body)?;
        self.pass(&body, hello);
        Ok(())
    }

    /// Forwards one message; the answer to `initialize` contains the version.
    fn pass(&self, message: &str, hello: bool) {
        if hello && let Some(version) = version(message) {
            *lock(&self.version) = Some(version);
        }
        // As a line: line breaks outside strings mean nothing.
        let line = message.replace(['\n', '\r'], " ");
        self.tell(TransportEvent::Line(ProtocolLine::Text(line)));
    }

    /// Forwards the events of a stream until the answer has arrived.
    fn follow(&self, response: HttpResponse, post: &Post, hello: bool) -> Result<(), RemoteError> {
        let mut events = SseReader::new(response.reader(u64::MAX), MAX_LINE);
        let mut resumes = 0;
        loop {
            let broken = loop {
                match next_message(&mut events) {
                    Ok(Some(message)) => {
                        self.pass(&message, hello);
                        if is_answer(&message, post.id.as_ref()) {
                            return Ok(());
                        }
                        resumes = 0;
                    }
                    Ok(None) => break RemoteError::StreamEnded,
                    Err(error @ HttpError::TooLarge(_)) => {
                        return Err(RemoteError::Request(in_words(&error)));
                    }
                    Err(error) => break RemoteError::Request(in_words(&error)),
                }
            };
            let position = events.position().clone();
            if position.last_id.as_ref().is_none_or(String::is_empty) || resumes == MAX_RESUMES {
                return if post.id.is_some() { Err(broken) } else { Ok(()) };
            }
            resumes += 1;
            thread::sleep(pause(&position));
            let response = self.open_stream(&post.client, Timeouts::default(), &position);
            let response = response.map_err(|why| why.unwrap_or(broken))?;
            events = SseReader::resume(response.reader(u64::MAX), MAX_LINE, position);
        }
    }

    /// Opens the stream of the server's own messages. The error is `None` if the
    /// server does not offer one.
    fn open_stream(
        &self,
        client: &Client,
        timeouts: Timeouts,
        position: &StreamPosition,
    ) -> Result<HttpResponse, Option<RemoteError>> {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(session) = &*lock(&self.session) {
            headers.insert(SESSION, session.clone());
        }
        if let Some(version) = &*lock(&self.version) {
            insert(&mut headers, PROTOCOL_VERSION.as_str(), version)?;
        }
        if let Some(last) = position.last_id.as_deref().filter(|id| !id.is_empty()) {
            insert(&mut headers, LAST_EVENT_ID.as_str(), last)?;
        }
        let response = self.send(client, timeouts, &Method::GET, &headers, ())?;
        match response.status() {
            status if status.is_success() => Ok(response),
            StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_FOUND => Err(None),
            status => Err(Some(RemoteError::Refused(format!("HTTP {status}")))),
        }
    }

    /// Forwards the server's own messages as long as the server offers them.
    fn listen(&self) {
        let timeouts = Timeouts { read: Some(STREAM_READ_TIMEOUT), ..Timeouts::default() };
        let mut position = StreamPosition::default();
        let mut resumes = 0;
        while resumes < MAX_RESUMES {
            resumes += 1;
            let start = Instant::now();
            match self.open_stream(&self.client, timeouts, &position) {
                Err(None) => return,
                Err(Some(_)) => {}
                Ok(response) => {
                    let reader = response.reader(u64::MAX);
                    let mut events = SseReader::resume(reader, MAX_LINE, position);
                    let end = loop {
                        match next_message(&mut events) {
                            Ok(Some(message)) => self.pass(&message, false),
                            Ok(None) => break None,
                            Err(error) => break Some(error),
                        }
                        resumes = 0;
                    };
                    position = events.position().clone();
                    if let Some(error @ HttpError::TooLarge(_)) = end {
                        self.tell(TransportEvent::Note(in_words(&error)));
                        return;
                    }
                }
            }
            // Long silence is not a failure.
            if start.elapsed() >= STREAM_READ_TIMEOUT {
                resumes = 0;
            }
            thread::sleep(pause(&position).max(Duration::from_millis(100)));
        }
        let words = "the stream of the server's own messages broke, and cannot be resumed";
        self.tell(TransportEvent::Note(words.to_owned()));
    }
}

/// Returns the next message of a stream. Events without data keep connections open, and a truncated
/// one is sent again.
fn next_message(events: &mut SseReader<impl Read>) -> Result<Option<String>, HttpError> {
    while let Some(event) = events.next_event()? {
        if !event.is_cut && !event.data.trim().is_empty() {
            return Ok(Some(event.data));
        }
    }
    Ok(None)
}

/// Returns the delay before a stream is resumed.
fn pause(position: &StreamPosition) -> Duration {
    position.retry.unwrap_or(Duration::from_secs(1)).min(Duration::from_secs(30))
}

/// Whether a message is the answer to a request.
fn is_answer(message: &str, key: Option<&RequestId>) -> bool {
    matches!(McpMessage::read(message), Ok(McpMessage::Answer { key: Some(id), .. }) if Some(&id) == key)
}

/// Returns the protocol version in the answer to `initialize`.
fn version(message: &str) -> Option<String> {
    let Ok(McpMessage::Answer { body, is_error: false, .. }) = McpMessage::read(message) else {
        return None;
    };
    serde_json::from_str(member(&members(body.get()).ok()?, "protocolVersion")?.get()).ok()
}

fn in_words(error: &HttpError) -> String {
    match error {
        HttpError::TooLarge(max) => format!("a message of more than {max} bytes"),
        error => error.to_string(),
    }
}

fn refusal(response: HttpResponse) -> String {
    let status = response.status();
    describe_refusal(status, &String::from_utf8_lossy(&response.read_start(MAX_ERROR)))
}

/// Describes a refusal by the server, with a suggested fix.
fn describe_refusal(status: StatusCode, text: &str) -> String {
    let hint = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            "; pass what it wants with --header 'Authorization: Bearer …'"
        }
        _ => "",
    };
    match text.trim() {
        "" => format!("HTTP {status}{hint}"),
        text => format!("HTTP {status}{hint}: {}", crate::suspicion::sanitize(text, 200)),
    }
}

/// Parses headers from the command line.
fn parse_headers(given: &[String]) -> Result<HeaderMap, RemoteError> {
    let mut headers = HeaderMap::new();
    for header in given {
        // The value may be a secret: only the name is repeated.
        let (name, value) = header.split_once(':').ok_or(RemoteError::Header)?;
        let name = name.trim();
        let key: HeaderName = name.parse().map_err(|_| RemoteError::HeaderName(name.to_owned()))?;
        let mut value = HeaderValue::from_str(value.trim())
            .map_err(|_| RemoteError::HeaderValue(name.to_owned()))?;
        value.set_sensitive(true);
        headers.append(key, value);
    }
    Ok(headers)
}

/// Sets a header whose name or value comes from a message.
fn insert(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), RemoteError> {
    let invalid = || RemoteError::MessageHeader(name.to_owned());
    let key: HeaderName = name.parse().map_err(|_| invalid())?;
    headers.insert(key, HeaderValue::from_str(value).map_err(|_| invalid())?);
    Ok(())
}

/// Returns the target of a redirect if it keeps the method and stays on the server.
fn redirect(from: &Uri, response: &HttpResponse) -> Option<Uri> {
    let keeps_method = [StatusCode::TEMPORARY_REDIRECT, StatusCode::PERMANENT_REDIRECT];
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    keeps_method.contains(&response.status()).then(|| resolve(from, location)).flatten()
}

/// Resolves a location to an address if it is on the same server.
fn resolve(from: &Uri, location: &str) -> Option<Uri> {
    let (scheme, authority) = (from.scheme_str()?, from.authority()?);
    let directory = from.path().rsplit_once('/').map_or("", |(directory, _)| directory);
    let to: Uri = match location {
        path if path.starts_with("//") => format!("{scheme}:{path}"),
        path if path.starts_with('/') => format!("{scheme}://{authority}{path}"),
        whole if whole.contains("://") => whole.to_owned(),
        relative => format!("{scheme}://{authority}{directory}/{relative}"),
    }
    .parse()
    .ok()?;
    let origin = |uri: &Uri| {
        let port = uri.port_u16().or_else(|| match uri.scheme_str()? {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        })?;
        Some((uri.scheme_str()?.to_owned(), uri.host()?.to_ascii_lowercase(), port))
    };
    (origin(&to).is_some() && origin(&to) == origin(from)).then_some(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_and_their_values_never_repeated() {
        let of = |text: &str| parse_headers(&[text.to_owned()]);
        assert_eq!(of("X-Key:  a b ").unwrap()["x-key"], "a b");
        for wrong in ["secret", "X Key: secret", "X-Key: secret\u{1}", ": secret"] {
            assert!(!of(wrong).unwrap_err().to_string().contains("secret"), "{wrong}");
        }
    }

    #[test]
    fn an_answer_is_told_from_what_comes_before_it() {
        let key = RequestId::Number("1".to_owned());
        for (message, want) in [
            (r#"{"id":1,"result":{}}"#, true),
            (r#"{"id":1,"error":{}}"#, true),
            (r#"{"id":"1","result":{}}"#, false),
            (r#"{"id":1,"method":"sampling/createMessage"}"#, false),
            (r#"{"method":"notifications/progress"}"#, false),
            ("x", false),
        ] {
            assert_eq!(is_answer(message, Some(&key)), want, "{message}");
        }
        assert_eq!(version(r#"{"id":1,"result":{"protocolVersion":"v"}}"#).as_deref(), Some("v"));
    }

    #[test]
    fn redirects_stay_on_the_server() {
        let from = Uri::from_static("https://a.example/x/mcp");
        for (location, want) in [
            ("/mcp/", Some("https://a.example/mcp/")),
            ("mcp2?y=1", Some("https://a.example/x/mcp2?y=1")),
            ("https://A.example:443/z", Some("https://A.example:443/z")),
            ("//a.example/z", Some("https://a.example/z")),
            ("http://a.example/z", None),
            ("https://b.example/z", None),
            ("https://a.example:8443/z", None),
            ("//b.example/z", None),
            ("a b", None),
        ] {
            let to = resolve(&from, location).map(|uri| uri.to_string());
            assert_eq!(to.as_deref(), want, "{location}");
        }
    }
}
