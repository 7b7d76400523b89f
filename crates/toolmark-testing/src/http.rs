//! A minimal HTTP/1.1 server for scripted tests.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{sleep, spawn};
use std::time::Duration;

/// A received request.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// `GET`, `POST` …
    pub method: String,
    /// Path, including the query string.
    pub path: String,
    /// Headers, by lower-case name.
    pub headers: BTreeMap<String, String>,
    /// Body; null if it is not JSON.
    pub body: Value,
}

impl HttpRequest {
    /// Reads a request; `None` if the connection was closed.
    ///
    /// # Errors
    ///
    /// Returns the errors of the connection.
    pub fn read(reader: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(None);
        }
        let mut words = first.split_whitespace().map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':') {
                headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
            }
        }
        let length = headers.get("content-length").and_then(|length| length.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body)?;
        let body = serde_json::from_slice(&body).unwrap_or_default();
        Ok(Some(Self { method, path, headers, body }))
    }

    /// Returns the value of a header; empty if it is missing.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// A server on its own port, which runs until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

/// A client's connection to a [`Server`].
#[derive(Debug)]
pub struct ClientConnection {
    /// Stream to and from the client.
    pub stream: TcpStream,
    is_over: Arc<AtomicBool>,
}

impl Server {
    /// Starts a server: `serve` is called for every request of a connection in turn, each
    /// connection in its own thread, until it returns `false`.
    pub fn start(
        serve: impl Fn(&ClientConnection) -> io::Result<bool> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, serve) = (Arc::clone(&is_over), Arc::new(serve));
        spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let connection = ClientConnection { stream, is_over: Arc::clone(&over) };
                let serve = Arc::clone(&serve);
                spawn(move || while serve(&connection).is_ok_and(|goes_on| goes_on) {});
            }
        });
        Self { address, is_over }
    }

    /// Address of the server.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(self.address);
    }
}

impl ClientConnection {
    /// Blocks until the server is dropped.
    pub fn wait_for_end(&self) {
        while !self.is_over.load(Ordering::SeqCst) {
            sleep(Duration::from_millis(20));
        }
    }
}

/// Returns an address without a listener.
#[must_use]
pub fn unused_address() -> SocketAddr {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap()
}
