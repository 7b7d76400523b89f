//! Errors of requests and of reading responses.

use std::io;
use ureq::http;

/// Reason why a request has no response, or why a response is incomplete.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// A timeout was reached.
    #[error("timed out")]
    Timeout,
    /// The host has no address.
    #[error("host not found")]
    HostNotFound,
    /// The server cannot be reached, or the connection broke.
    #[error("the connection failed: {0}")]
    Connection(String),
    /// The response has more bytes than the caller allows.
    #[error("more than {0} bytes")]
    TooLarge(u64),
    /// The response is not valid HTTP.
    #[error("invalid HTTP response: {0}")]
    Protocol(String),
    /// The request cannot be sent.
    #[error("invalid address or header")]
    Request,
    /// The environment configures an invalid proxy.
    #[error("invalid proxy address")]
    Proxy,
}

impl From<ureq::Error> for HttpError {
    fn from(error: ureq::Error) -> Self {
        use ureq::Error as E;
        match error {
            E::Timeout(_) => Self::Timeout,
            E::Io(error) => match error.kind() {
                io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Self::Timeout,
                _ => Self::Connection(error.to_string()),
            },
            E::HostNotFound => Self::HostNotFound,
            E::BodyExceedsLimit(max) => Self::TooLarge(max),
            E::Protocol(error) => Self::Protocol(error.to_string()),
            E::LargeResponseHeader(..) => Self::Protocol("the header is too large".to_owned()),
            // Their messages repeat the address.
            E::BadUri(_) | E::Http(_) => Self::Request,
            E::InvalidProxyUrl => Self::Proxy,
            error => Self::Connection(error.to_string()),
        }
    }
}

impl From<io::Error> for HttpError {
    fn from(error: io::Error) -> Self {
        ureq::Error::from(error).into()
    }
}

impl From<http::Error> for HttpError {
    fn from(_: http::Error) -> Self {
        Self::Request
    }
}
