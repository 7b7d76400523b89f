//! One request over HTTP, and what kind of fault came of it.
//!
//! Redirects are not followed: a key is for the server it was meant for. The
//! words of a fault never hold the address beyond its host, since the rest of
//! it is configured and may be private.

use crate::config::{Auth, Model};
use crate::providers::{Fault, FaultKind, error};
use crate::secret::{Secret, percent};
use crate::sse::Events;
use serde_json::Value;
use std::io::{self, Read};
use std::time::Duration;
use ureq::http::{HeaderMap, HeaderValue, Response, Uri};
use ureq::{Agent, Body, BodyReader};

/// How much of an answer is read.
const LIMIT: u64 = 16 << 20;

/// How much of what a server says about an error is read.
const ERROR_LIMIT: u64 = 64 << 10;

/// How many connections are kept for the next question.
const IDLE: usize = 64;

/// A server, and how it wants to be asked.
pub(crate) struct Connection {
    agent: Agent,
    address: String,
    host: String,
    auth: Auth,
}

/// What a server said, when it did not refuse.
pub(crate) enum Answer {
    /// All at once.
    Whole(Vec<u8>),
    /// Bit by bit.
    Events(Box<Events<BodyReader<'static>>>),
}

impl Connection {
    /// The place of a model whose wire format has this path. Nothing is sent.
    pub(crate) fn new(model: &Model, path: &str) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(model.timeout))
            .max_idle_connections(IDLE)
            .max_idle_connections_per_host(IDLE)
            .user_agent(concat!("toolmark/", env!("CARGO_PKG_VERSION")))
            .build();
        let mut address = format!("{}{path}", model.base_url.trim_end_matches('/'));
        for (n, (name, value)) in model.query.iter().enumerate() {
            address.push(if n == 0 { '?' } else { '&' });
            address.push_str(&percent(name));
            address.push('=');
            address.push_str(&percent(value));
        }
        let uri = address.parse::<Uri>().ok();
        let host = uri.as_ref().and_then(Uri::host).unwrap_or("the server").to_owned();
        Self { agent: config.into(), address, host, auth: model.auth }
    }

    /// Asks once.
    pub(crate) fn post(
        &self,
        headers: &[(&str, &str)],
        body: &Value,
        key: Option<&Secret>,
    ) -> Result<Answer, Fault> {
        let mut request = self.agent.post(&self.address).content_type("application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some((name, value)) = key.and_then(|key| self.key_header(key)) {
            request = request.header(name, value);
        }
        let response = request.send(body.to_string()).map_err(|error| self.fault(error))?;
        let status = response.status().as_u16();
        if !(200..300).contains(&status) {
            return Err(self.refusal(status, response));
        }
        let is_stream =
            response.body().mime_type().is_some_and(|kind| kind.eq_ignore_ascii_case(EVENTS));
        let mut reader = response.into_body().into_with_config().limit(LIMIT).reader();
        if is_stream {
            return Ok(Answer::Events(Box::new(Events::new(reader, LIMIT as usize))));
        }
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(|error| self.broken(error))?;
        Ok(Answer::Whole(bytes))
    }

    /// The header that carries the key.
    fn key_header(&self, key: &Secret) -> Option<(&'static str, HeaderValue)> {
        let (name, value) = match self.auth {
            Auth::Bearer => ("authorization", format!("Bearer {}", key.reveal())),
            Auth::XApiKey => ("x-api-key", key.reveal().to_owned()),
            Auth::ApiKey => ("api-key", key.reveal().to_owned()),
            Auth::None => return None,
        };
        let mut value = HeaderValue::try_from(value).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    }

    /// Why an answer could not be read to its end.
    pub(crate) fn broken(&self, error: io::Error) -> Fault {
        self.fault(ureq::Error::from(error))
    }

    /// Why there is no answer at all.
    fn fault(&self, error: ureq::Error) -> Fault {
        use ureq::Error as E;
        let host = &self.host;
        let (kind, what) = match error {
            E::Timeout(_) => (FaultKind::Timeout, "took too long".to_owned()),
            E::Io(error) => match error.kind() {
                io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                    (FaultKind::Timeout, "took too long".to_owned())
                }
                io::ErrorKind::FileTooLarge => (FaultKind::Garbled, error.to_string()),
                _ => (FaultKind::Network, format!("the connection failed: {error}")),
            },
            E::HostNotFound => (FaultKind::Network, "there is no such host".to_owned()),
            E::BodyExceedsLimit(_) => {
                (FaultKind::Garbled, format!("the answer has more than {LIMIT} bytes"))
            }
            E::Protocol(error) => (FaultKind::Garbled, format!("that is no HTTP: {error}")),
            E::LargeResponseHeader(..) => {
                (FaultKind::Garbled, "the header of the answer is too large".to_owned())
            }
            // Their words would hold the address.
            E::BadUri(_) | E::Http(_) => (FaultKind::Request, "that is no address".to_owned()),
            E::InvalidProxyUrl => (FaultKind::Request, "the proxy has no valid address".to_owned()),
            error => (FaultKind::Network, format!("the connection failed: {error}")),
        };
        Fault::new(kind, format!("{host}: {what}"))
    }

    /// What a status other than success means.
    fn refusal(&self, status: u16, response: Response<Body>) -> Fault {
        let retry_after = retry_after(response.headers());
        let location = response.headers().get("location").and_then(|at| at.to_str().ok());
        let mut what = format!("{} answered {status}", self.host);
        if let (300..400, Some(location)) = (status, location) {
            let place = location.split(['?', '#']).next().unwrap_or_default();
            what.push_str(&format!(", a redirect to {place}, which is not followed"));
        }
        let mut body = Vec::new();
        let limited = response.into_body().into_with_config().limit(u64::MAX).reader();
        // The status is known; its words are a gift.
        let _ = limited.take(ERROR_LIMIT).read_to_end(&mut body);
        let words = error::words(&String::from_utf8_lossy(&body));
        if !words.is_empty() {
            what.push_str(": ");
            what.push_str(&words);
        }
        Fault { retry_after, ..Fault::new(kind(status), what) }
    }
}

const EVENTS: &str = "text/event-stream";

pub(crate) fn kind(status: u16) -> FaultKind {
    match status {
        401 | 403 => FaultKind::Key,
        408 => FaultKind::Timeout,
        409 | 425 | 429 | 529 => FaultKind::Busy,
        500.. => FaultKind::Server,
        _ => FaultKind::Request,
    }
}

/// How long the server says to wait: in milliseconds, in seconds, or until a
/// time, which is taken from the server's own clock where it tells it.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).ok();
    if let Some(wait) = text("retry-after-ms").and_then(number).and_then(|ms| seconds(ms / 1e3)) {
        return Some(wait);
    }
    let wait = text("retry-after")?;
    if let Some(number) = number(wait) {
        return seconds(number);
    }
    let date = |text: &str| Some(jiff::fmt::rfc2822::parse(text).ok()?.timestamp());
    let until = date(wait)?;
    let now = text("date").and_then(date).unwrap_or_else(jiff::Timestamp::now);
    Some(Duration::try_from(until.duration_since(now)).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses() {
        use FaultKind as K;
        for (status, want) in [
            (301, K::Request),
            (400, K::Request),
            (401, K::Key),
            (402, K::Request),
            (403, K::Key),
            (404, K::Request),
            (408, K::Timeout),
            (409, K::Busy),
            (413, K::Request),
            (422, K::Request),
            (425, K::Busy),
            (429, K::Busy),
            (500, K::Server),
            (503, K::Server),
            (529, K::Busy),
            (599, K::Server),
        ] {
            assert_eq!(kind(status), want, "{status}");
        }
    }

    #[test]
    fn waits() {
        let at = "Mon, 16 Nov 2026 10:00:00 GMT";
        for (headers, want) in [
            (&[("retry-after", "7")][..], Some(7000)),
            (&[("retry-after", " 1.5 ")], Some(1500)),
            (&[("retry-after", "0")], Some(0)),
            (&[("retry-after", "86400000")], Some(86_400_000_000)),
            (&[("retry-after-ms", "250"), ("retry-after", "7")], Some(250)),
            (&[("retry-after-ms", "soon"), ("retry-after", "7")], Some(7000)),
            (&[("date", at), ("retry-after", "Mon, 16 Nov 2026 10:00:30 GMT")], Some(30_000)),
            (&[("date", at), ("retry-after", "Mon, 16 Nov 2026 09:00:00 GMT")], Some(0)),
            (&[("retry-after", "Thu, 01 Jan 1970 00:00:00 GMT")], Some(0)),
            (&[("retry-after", "-3")], None),
            (&[("retry-after", "NaN")], None),
            (&[("retry-after", "1e300")], None),
            (&[("retry-after", "later")], None),
            (&[], None),
        ] {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.insert(*name, HeaderValue::from_static(value));
            }
            assert_eq!(retry_after(&map), want.map(Duration::from_millis), "{headers:?}");
        }
    }
}
