//! A server on the network, spoken to over streamable HTTP.
//!
//! Each line is the body of a request of its own. What is no request of the
//! protocol is sent before anything after it; requests run beside each other,
//! and what comes back, at once or as a stream of events, is handed on as it
//! was written. A stream that breaks is taken up again where the server allows.
//!
//! The client of `rmcp` is not used: it reads every message into its types, so
//! that what they do not know is lost, drops what a server says before it has
//! answered the first request, and leaves out tools by rules of its own.

use crate::carrier::{Carrier, Event};
use crate::headers::Outline;
use crate::lines::Line;
use crate::message::{Id, LONGEST_LINE, Message, id_near_start, member, members};
use crate::proxy::Proxy;
use crate::sse::Events;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::mpsc::{Sender, UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::{AbortHandle, spawn_local};
use tokio::time::{sleep, timeout};

/// Where a server is.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Its address.
    pub url: String,
    /// Headers to send with everything, each as `Name: value`.
    pub headers: Vec<String>,
}

const SESSION: &str = "mcp-session-id";

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(15);

/// How long a server may take over what needs no answer.
const RECEIPT: Duration = Duration::from_secs(30);

/// How often a broken stream is taken up again before it is given up.
const TRIES: u32 = 5;

/// What all requests share.
struct Shared {
    client: Client,
    url: Url,
    events: Sender<Event>,
    session: RefCell<Option<HeaderValue>>,
    version: RefCell<Option<String>>,
}

pub(crate) struct Http {
    shared: Rc<Shared>,
    queue: Option<UnboundedSender<Post>>,
    /// Requests of the newer protocol are cancelled by hanging up.
    running: Rc<RefCell<BTreeMap<Id, AbortHandle>>>,
}

/// A message to send.
struct Post {
    line: String,
    outline: Outline,
    headers: Vec<(String, String)>,
}

impl Http {
    /// A carrier to a server; nothing is sent yet.
    pub(crate) fn new(remote: Remote, events: Sender<Event>) -> Result<Self, String> {
        // Another part of the program may have chosen already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let url = Url::parse(&remote.url).map_err(|error| format!("{}: {error}", remote.url))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("{url}: neither http nor https"));
        }
        let client = Client::builder()
            .default_headers(headers(&remote.headers)?)
            .connect_timeout(CONNECT)
            .redirect(same_origin())
            .build()
            .map_err(|error| error.to_string())?;
        let shared = Rc::new(Shared {
            client,
            url,
            events,
            session: RefCell::default(),
            version: RefCell::default(),
        });
        let running = Rc::new(RefCell::new(BTreeMap::new()));
        let (queue, posts) = unbounded_channel();
        spawn_local(dispatch(Rc::clone(&shared), Rc::clone(&running), posts));
        Ok(Self { shared, queue: Some(queue), running })
    }
}

impl Carrier for Http {
    fn send(&mut self, line: String, proxy: &Proxy) {
        let outline = Outline::of(&line);
        if let Some(request) = &outline.cancels
            && let Some(task) = self.running.borrow_mut().remove(request)
        {
            task.abort();
            return;
        }
        let schema = outline.name.as_deref().and_then(|tool| proxy.schema_of(tool));
        let version = self.shared.version.borrow();
        let headers = outline.headers(version.as_deref(), schema);
        if let Some(queue) = &self.queue {
            let _ = queue.send(Post { line, outline, headers });
        }
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
        let session = self.shared.session.borrow().clone();
        if let Some(session) = session {
            let request = self.shared.request(Method::DELETE).header(SESSION, session);
            // Not every server lets a session be ended.
            let _ = timeout(Duration::from_secs(2), request.send()).await;
        }
    }
}

/// Sends messages in order: what needs no answer is delivered before what
/// follows, a request is left to itself.
async fn dispatch(
    shared: Rc<Shared>,
    running: Rc<RefCell<BTreeMap<Id, AbortHandle>>>,
    mut posts: UnboundedReceiver<Post>,
) {
    while let Some(post) = posts.recv().await {
        let is_request = post.outline.id.is_some() || post.line.trim_start().starts_with('[');
        if !is_request {
            let opens = post.outline.method.as_deref() == Some("notifications/initialized");
            let sent = timeout(RECEIPT, shared.deliver(&post)).await;
            let why = sent.unwrap_or_else(|_| Err("no receipt in time".to_owned()));
            if let Err(why) = why {
                shared.tell(Event::Note(format!("the server did not take a message: {why}"))).await;
            }
            if opens {
                spawn_local(Rc::clone(&shared).listen());
            }
            continue;
        }
        let key = id_near_start(post.line.as_bytes()).filter(|_| post.outline.is_modern());
        let (of, tasks) = (Rc::clone(&shared), Rc::clone(&running));
        let id = key.clone();
        let task = spawn_local(async move {
            of.ask(&post).await;
            if let Some(id) = id {
                tasks.borrow_mut().remove(&id);
            }
        });
        if let Some(key) = key {
            running.borrow_mut().insert(key, task.abort_handle());
        }
    }
}

impl Shared {
    async fn tell(&self, event: Event) {
        let _ = self.events.send(event).await;
    }

    fn request(&self, method: Method) -> RequestBuilder {
        self.client.request(method, self.url.clone())
    }

    async fn post(&self, post: &Post) -> Result<Response, String> {
        let mut request = self
            .request(Method::POST)
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json");
        for (name, value) in &post.headers {
            request = request.header(name, value);
        }
        let session = self.session.borrow().clone().filter(|_| !post.outline.is_modern());
        if let Some(session) = session {
            request = request.header(SESSION, session);
        }
        request.body(post.line.clone()).send().await.map_err(|error| in_words(&error))
    }

    /// Sends what needs no answer.
    async fn deliver(&self, post: &Post) -> Result<(), String> {
        let response = self.post(post).await?;
        if response.status().is_success() { Ok(()) } else { Err(refusal(response).await) }
    }

    /// Sends a request and hands on whatever comes back.
    async fn ask(&self, post: &Post) {
        let id = post.outline.id.clone();
        let key = id.as_deref().and_then(|id| serde_json::from_str(id).ok()).and_then(Id::read);
        let answered = match self.post(post).await {
            Ok(response) => self.take(response, key.as_ref(), post).await,
            Err(why) => Err(why),
        };
        if let (Err(why), Some(id)) = (answered, id) {
            self.tell(Event::Unanswered { id, why }).await;
        }
    }

    /// Hands on what a response holds; the error says why there is no answer.
    async fn take(&self, response: Response, key: Option<&Id>, post: &Post) -> Result<(), String> {
        let status = response.status();
        let hello = post.outline.method.as_deref() == Some("initialize");
        if hello && let Some(session) = response.headers().get(SESSION) {
            *self.session.borrow_mut() = Some(session.clone());
        }
        if status == StatusCode::NOT_FOUND && self.session.borrow().is_some() && !hello {
            let why = "it ended the session".to_owned();
            self.tell(Event::End(why.clone())).await;
            return Err(why);
        }
        let kind = response.headers().get(CONTENT_TYPE).map(HeaderValue::as_bytes);
        let is_stream = kind.is_some_and(|kind| kind.starts_with(b"text/event-stream"));
        let is_json = kind.is_some_and(|kind| kind.starts_with(b"application/json"));
        if !status.is_success() {
            return self.refused(response, key, is_json).await;
        }
        if is_stream {
            return self.follow(response, key, hello).await;
        }
        if !is_json {
            return Err(format!("HTTP {status} without a message"));
        }
        let body = body(response, LONGEST_LINE).await?;
        self.pass(body, hello).await;
        Ok(())
    }

    /// Hands on one message; the first answer tells the version.
    async fn pass(&self, message: String, hello: bool) {
        if hello && let Some(version) = version(&message) {
            *self.version.borrow_mut() = Some(version);
        }
        // As a line: line breaks outside strings mean nothing.
        let line = message.replace(['\n', '\r'], " ");
        self.tell(Event::Line(Line::Text(line))).await;
    }

    /// A response that says no, perhaps with an error for this very request.
    async fn refused(
        &self,
        response: Response,
        key: Option<&Id>,
        is_json: bool,
    ) -> Result<(), String> {
        let status = response.status();
        let text = body(response, 1 << 20).await.unwrap_or_default();
        if is_json && key.is_some() && is_answer(&text, key) {
            self.pass(text, false).await;
            return Ok(());
        }
        Err(said(status, &text))
    }

    /// Hands on the events of a stream until the answer has come.
    async fn follow(
        &self,
        mut response: Response,
        key: Option<&Id>,
        hello: bool,
    ) -> Result<(), String> {
        let mut events = Events::default();
        let mut tries = 0;
        loop {
            let broken = loop {
                match response.chunk().await {
                    Ok(Some(chunk)) => {
                        let all = events.push(&chunk).map_err(|_| too_long())?;
                        for event in all.into_iter().filter(|event| !event.data.trim().is_empty()) {
                            let done = is_answer(&event.data, key);
                            self.pass(event.data, hello).await;
                            if done {
                                return Ok(());
                            }
                            tries = 0;
                        }
                    }
                    Ok(None) => break "the stream ended".to_owned(),
                    Err(error) => break in_words(&error),
                }
            };
            let Some(last) = events.last_id().filter(|id| !id.is_empty() && tries < TRIES) else {
                return match key {
                    Some(_) => Err(broken),
                    None => Ok(()),
                };
            };
            tries += 1;
            sleep(Duration::from_millis(events.retry.unwrap_or(1000).min(30_000))).await;
            response = self.stream(Some(last)).await.map_err(|why| why.unwrap_or(broken))?;
        }
    }

    /// Opens the stream of what the server says by itself. The error is what is
    /// wrong, if anything is.
    async fn stream(&self, last: Option<&str>) -> Result<Response, Option<String>> {
        let mut request = self.request(Method::GET).header(ACCEPT, "text/event-stream");
        let session = self.session.borrow().clone();
        if let Some(session) = session {
            request = request.header(SESSION, session);
        }
        let version = self.version.borrow().clone();
        if let Some(version) = version {
            request = request.header("mcp-protocol-version", version);
        }
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.map_err(|error| Some(in_words(&error)))?;
        match response.status() {
            status if status.is_success() => Ok(response),
            // The server does not offer one.
            StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_FOUND => Err(None),
            status => Err(Some(format!("HTTP {status}"))),
        }
    }

    /// Listens to what the server says by itself, as long as it offers to.
    async fn listen(self: Rc<Self>) {
        let mut events = Events::default();
        let mut tries = 0;
        while tries < TRIES {
            let last = events.last_id().filter(|id| !id.is_empty()).map(str::to_owned);
            match self.stream(last.as_deref()).await {
                Err(None) => return,
                Err(Some(_)) => tries += 1,
                Ok(mut response) => {
                    tries += 1;
                    while let Ok(Some(chunk)) = response.chunk().await {
                        let Ok(all) = events.push(&chunk) else {
                            self.tell(Event::Note(too_long())).await;
                            return;
                        };
                        for event in all.into_iter().filter(|event| !event.data.trim().is_empty()) {
                            self.pass(event.data, false).await;
                            tries = 0;
                        }
                    }
                }
            }
            sleep(Duration::from_millis(events.retry.unwrap_or(1000).clamp(100, 30_000))).await;
        }
        let words = "the server's own messages can no longer be listened to";
        self.tell(Event::Note(words.to_owned())).await;
    }
}

/// Is a message the answer to a request?
fn is_answer(message: &str, key: Option<&Id>) -> bool {
    matches!(Message::read(message), Ok(Message::Answer { key: Some(id), .. }) if Some(&id) == key)
}

/// The version of the protocol an answer to the first request settles.
fn version(message: &str) -> Option<String> {
    let Ok(Message::Answer { body, is_error: false, .. }) = Message::read(message) else {
        return None;
    };
    serde_json::from_str(member(&members(body.get()).ok()?, "protocolVersion")?.get()).ok()
}

/// The body of a response, if it is not too long.
async fn body(mut response: Response, most: usize) -> Result<String, String> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| in_words(&error))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > most {
            return Err(too_long());
        }
    }
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

fn too_long() -> String {
    format!("a message of more than {LONGEST_LINE} bytes")
}

async fn refusal(response: Response) -> String {
    let status = response.status();
    said(status, &body(response, 1 << 20).await.unwrap_or_default())
}

/// What a server said no with, and what to do about it.
fn said(status: StatusCode, text: &str) -> String {
    let hint = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            "; pass what it wants with --header 'Authorization: Bearer …'"
        }
        _ => "",
    };
    match text.trim() {
        "" => format!("HTTP {status}{hint}"),
        text => format!("HTTP {status}{hint}: {}", crate::suspicion::shown(text, 200)),
    }
}

/// An error with its causes: the outermost alone says little.
fn in_words(error: &reqwest::Error) -> String {
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        words = format!("{words}: {inner}");
        cause = inner.source();
    }
    words
}

/// Headers as given on a command line.
fn headers(given: &[String]) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for header in given {
        // What a header holds may be a secret: only its name is repeated.
        let (name, value) = header.split_once(':').ok_or("a header is written `Name: value`")?;
        let wrong = |_| format!("the header {:?} makes no sense", name.trim());
        let name = name.trim();
        let key: HeaderName = name.parse().map_err(|_| format!("{name:?} is no header"))?;
        let mut value = HeaderValue::from_str(value.trim()).map_err(wrong)?;
        value.set_sensitive(true);
        headers.append(key, value);
    }
    Ok(headers)
}

/// Redirections that keep the method are followed on the same server; elsewhere,
/// headers with secrets would go with them.
fn same_origin() -> Policy {
    Policy::custom(|attempt| {
        let keeps = matches!(
            attempt.status(),
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
        );
        let first = attempt.previous().first();
        let same = first.is_some_and(|first| first.origin() == attempt.url().origin());
        if keeps && same && attempt.previous().len() < 5 {
            attempt.follow()
        } else {
            attempt.stop()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_and_their_values_never_repeated() {
        let of = |text: &str| headers(&[text.to_owned()]);
        assert_eq!(of("X-Key:  a b ").unwrap()["x-key"], "a b");
        for wrong in ["secret", "X Key: secret", "X-Key: secret\u{1}", ": secret"] {
            assert!(!of(wrong).unwrap_err().contains("secret"), "{wrong}");
        }
    }

    #[test]
    fn an_answer_is_told_from_what_comes_before_it() {
        let key = Id::Number("1".to_owned());
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
}
