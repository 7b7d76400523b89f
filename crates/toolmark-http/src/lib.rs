//! The one HTTP client of the workspace: bounded requests over `ureq`, and event
//! streams.
//!
//! Requests block, so requests that run at the same time need a thread each.
//! Redirects are not followed, because headers often hold a key that is meant for
//! one server; callers decide what to do with them. No error repeats the address,
//! which may be private.

#![forbid(unsafe_code)]

mod error;
mod sse;

pub use error::HttpError;
pub use sse::{SseEvent, SseReader, StreamPosition};
pub use ureq::{AsSendBody, BodyReader, http};

use http::{HeaderMap, Request, StatusCode, Uri};
use std::io::Read;
use std::time::Duration;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy};

/// Maximum number of idle connections kept open for later requests.
const MAX_IDLE_CONNECTIONS: usize = 64;

/// Trusted certificate authorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Roots {
    /// The compiled-in authorities that browsers trust: they work in containers without
    /// certificates.
    Bundled,
    /// The authorities that the system trusts, including private ones that were added to it.
    System,
}

/// Timeouts for the parts of a request; unlimited by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timeouts {
    /// Timeout for the whole request, from the host lookup to the last byte of the body.
    pub total: Option<Duration>,
    /// Timeout for looking up the host and connecting to it.
    pub connect: Option<Duration>,
    /// Timeout for each wait for more bytes of the response.
    pub read: Option<Duration>,
}

/// HTTP client. Clones share their connections.
#[derive(Debug, Clone)]
pub struct Client(Agent);

impl Client {
    /// Creates a client for requests to one server. Does not connect yet.
    #[must_use]
    pub fn new(server: &Uri, roots: Roots, timeouts: Timeouts) -> Self {
        let roots = match roots {
            Roots::Bundled => RootCerts::WebPki,
            Roots::System => RootCerts::PlatformVerifier,
        };
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .proxy(proxy_for(server))
            .timeout_global(timeouts.total)
            .timeout_resolve(timeouts.connect)
            .timeout_connect(timeouts.connect)
            .timeout_per_read(timeouts.read)
            .max_idle_connections(MAX_IDLE_CONNECTIONS)
            .max_idle_connections_per_host(MAX_IDLE_CONNECTIONS)
            .user_agent(concat!("toolmark/", env!("CARGO_PKG_VERSION")))
            .build();
        Self(config.into())
    }

    /// Returns a client with the same settings but separate connections.
    #[must_use]
    pub fn separate(&self) -> Self {
        Self(self.0.config().new_agent())
    }

    /// Ends all requests of this client and its clones, including those that other
    /// threads are waiting for. Later requests fail.
    pub fn shut_down(&self) {
        self.0.clone().shutdown();
    }

    /// Sends a request and waits for the head of the response.
    ///
    /// # Errors
    ///
    /// Fails if there is no response. A response with an error status is not an error.
    pub fn send(&self, request: Request<impl AsSendBody>) -> Result<HttpResponse, HttpError> {
        Ok(HttpResponse(self.0.run(request)?))
    }

    /// Sends a request with additional timeouts besides those of the client.
    ///
    /// # Errors
    ///
    /// Fails in the same cases as [`Client::send`].
    pub fn send_within(
        &self,
        timeouts: Timeouts,
        request: Request<impl AsSendBody>,
    ) -> Result<HttpResponse, HttpError> {
        let usual = self.0.config();
        let (budgets, read) = (usual.timeouts(), usual.timeout_per_read());
        let configured = self
            .0
            .configure_request(request)
            .timeout_global(timeouts.total.or(budgets.global))
            .timeout_resolve(timeouts.connect.or(budgets.resolve))
            .timeout_connect(timeouts.connect.or(budgets.connect))
            .timeout_per_read(timeouts.read.or(read));
        self.send(configured.build())
    }
}

/// Returns the proxy that the environment configures for a server. `ureq` would use a
/// proxy for HTTPS for all requests, including HTTP requests to this machine.
fn proxy_for(server: &Uri) -> Option<Proxy> {
    let names = match server.scheme_str() {
        Some("https") => ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
        _ => ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"],
    };
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    names.iter().find(|name| is_set(name)).and_then(|_| Proxy::try_from_env())
}

/// A response whose body has not been read yet.
#[derive(Debug)]
pub struct HttpResponse(http::Response<Body>);

impl HttpResponse {
    /// Returns the status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.0.status()
    }

    /// Returns the headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.0.headers()
    }

    /// Returns whether the body has this media type.
    #[must_use]
    pub fn is_of_type(&self, media_type: &str) -> bool {
        self.0.body().mime_type().is_some_and(|of_body| of_body.eq_ignore_ascii_case(media_type))
    }

    /// Returns whether the body is an event stream.
    #[must_use]
    pub fn is_event_stream(&self) -> bool {
        self.is_of_type("text/event-stream")
    }

    /// Reads the body.
    ///
    /// # Errors
    ///
    /// Fails if the connection breaks, or if the body has more than `max` bytes.
    pub fn read(self, max: u64) -> Result<Vec<u8>, HttpError> {
        let mut bytes = Vec::new();
        self.reader(u64::MAX).take(max.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max { Err(HttpError::TooLarge(max)) } else { Ok(bytes) }
    }

    /// Reads the first bytes of the body, as many as arrive and at most `max`. Used for
    /// error responses, whose status is informative even without a body.
    #[must_use]
    pub fn read_start(self, max: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        let _ = self.reader(u64::MAX).take(max).read_to_end(&mut bytes);
        bytes
    }

    /// Returns a reader for the body as it arrives. Reading fails after `max` bytes.
    #[must_use]
    pub fn reader(self, max: u64) -> BodyReader<'static> {
        self.0.into_body().into_with_config().limit(max).reader()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::thread;
    use std::time::Instant;

    /// Starts a server that sends this text on every connection and then stays silent.
    fn serve(answer: &'static str) -> (Uri, Client) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let uri: Uri = format!("http://{}/x", listener.local_addr().unwrap()).parse().unwrap();
        thread::spawn(move || {
            let mut open: Vec<TcpStream> = Vec::new();
            for mut stream in listener.incoming().flatten() {
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(answer.as_bytes());
                open.push(stream);
            }
        });
        let client = Client::new(&uri, Roots::Bundled, Timeouts::default());
        (uri, client)
    }

    fn get(uri: &Uri) -> Request<()> {
        Request::get(uri).body(()).unwrap()
    }

    #[test]
    fn bodies_are_bounded() {
        let (uri, client) = serve(
            "HTTP/1.1 404 X\r\nconnection: close\r\ncontent-type: Text/X; a=b\r\n\
             content-length: 4\r\n\r\nbody",
        );
        let response = || client.send(get(&uri)).unwrap();
        assert_eq!(response().status(), StatusCode::NOT_FOUND);
        assert!(response().is_of_type("text/x") && !response().is_event_stream());
        assert_eq!(response().read(4), Ok(b"body".to_vec()));
        assert_eq!(response().read(3), Err(HttpError::TooLarge(3)));
        assert_eq!(response().read_start(3), b"bod");
    }

    #[test]
    fn a_silent_server_is_not_waited_for() {
        let (uri, client) = serve("");
        let start = Instant::now();
        for timeouts in [
            Timeouts { total: Some(Duration::from_millis(50)), ..Timeouts::default() },
            Timeouts { read: Some(Duration::from_millis(50)), ..Timeouts::default() },
        ] {
            assert_eq!(client.send_within(timeouts, get(&uri)).unwrap_err(), HttpError::Timeout);
        }
        let other = client.separate();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| client.send(get(&uri)));
            thread::sleep(Duration::from_millis(50));
            client.shut_down();
            assert!(matches!(waiting.join().unwrap(), Err(HttpError::Connection(_))));
        });
        assert!(matches!(client.send(get(&uri)), Err(HttpError::Connection(_))));
        let timeouts = Timeouts { total: Some(Duration::from_millis(50)), ..Timeouts::default() };
        assert_eq!(other.send_within(timeouts, get(&uri)).unwrap_err(), HttpError::Timeout);
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_stream_ends_with_its_client() {
        let (uri, client) =
            serve("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: 1\n\ndata: 2");
        let response = client.send(get(&uri)).unwrap();
        assert!(response.is_event_stream());
        let mut events = SseReader::new(response.reader(u64::MAX), 100);
        assert_eq!(events.next_event().unwrap().unwrap().data, "1");
        thread::scope(|scope| {
            let waiting = scope.spawn(move || events.next_event());
            thread::sleep(Duration::from_millis(50));
            client.shut_down();
            let last = waiting.join().unwrap();
            assert!(last.is_err() || last.is_ok_and(|event| event.is_some_and(|e| e.is_cut)));
        });
    }
}
