//! Requests to providers, and the faults they result in.
//!
//! Redirects are not followed, because a key is only for the configured server. The message of a
//! fault never contains the address beyond its host, since the rest of it is configured and may be
//! private.

use crate::config::{Auth, Model};
use crate::providers::{FaultKind, ProviderFault, error};
use crate::secret::{Secret, percent_encode};
use serde_json::Value;
use std::time::Duration;
use toolmark_http::http::header::CONTENT_TYPE;
use toolmark_http::http::{HeaderMap, HeaderValue, Request, Uri};
use toolmark_http::{BodyReader, Client, HttpError, HttpResponse, Roots, SseReader, Timeouts};

/// Maximum number of bytes read of an answer.
const MAX_ANSWER: u64 = 16 << 20;

/// Maximum number of bytes read of an error page.
const MAX_ERROR: u64 = 64 << 10;

/// A server, with its address and authentication.
pub(crate) struct JudgeConnection {
    client: Client,
    address: String,
    host: String,
    auth: Auth,
}

/// A successful response of a server.
pub(crate) enum HttpReply {
    /// A complete response.
    Whole(Vec<u8>),
    /// A stream of events.
    Events(Box<SseReader<BodyReader<'static>>>),
}

impl JudgeConnection {
    /// Creates the endpoint of a model whose wire format has this path. Nothing is sent.
    pub(crate) fn new(model: &Model, path: &str) -> Self {
        let mut address = format!("{}{path}", model.base_url.trim_end_matches('/'));
        for (n, (name, value)) in model.query.iter().enumerate() {
            address.push(if n == 0 { '?' } else { '&' });
            address.push_str(&percent_encode(name));
            address.push('=');
            address.push_str(&percent_encode(value));
        }
        // An invalid address is reported when it is used.
        let uri = address.parse::<Uri>().unwrap_or_default();
        let host = uri.host().unwrap_or("the server").to_owned();
        let timeouts = Timeouts { total: Some(model.timeout), ..Timeouts::default() };
        let client = Client::new(&uri, Roots::Bundled, timeouts);
        Self { client, address, host, auth: model.auth }
    }

    /// Sends one request.
    pub(crate) fn post(
        &self,
        headers: &[(&str, &str)],
        body: &Value,
        key: Option<&Secret>,
    ) -> Result<HttpReply, ProviderFault> {
        let mut request = Request::post(&self.address).header(CONTENT_TYPE, "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some((name, value)) = key.and_then(|key| self.key_header(key)) {
            request = request.header(name, value);
        }
        let sent = request.body(body.to_string()).map_err(HttpError::from);
        let response = sent.and_then(|request| self.client.send(request));
        let response = response.map_err(|error| self.fault(&error))?;
        if !response.status().is_success() {
            return Err(self.refusal(response));
        }
        if response.is_event_stream() {
            let events = SseReader::new(response.reader(MAX_ANSWER), MAX_ANSWER as usize);
            return Ok(HttpReply::Events(Box::new(events)));
        }
        response.read(MAX_ANSWER).map(HttpReply::Whole).map_err(|error| self.fault(&error))
    }

    /// Returns the header with the key.
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

    /// Returns the fault for a missing or incomplete answer.
    pub(crate) fn fault(&self, error: &HttpError) -> ProviderFault {
        let kind = match error {
            HttpError::Timeout => FaultKind::Timeout,
            HttpError::HostNotFound | HttpError::Connection(_) => FaultKind::Network,
            HttpError::TooLarge(_) | HttpError::Protocol(_) => FaultKind::Garbled,
            HttpError::Request | HttpError::Proxy => FaultKind::Request,
        };
        ProviderFault::new(kind, format!("{}: {error}", self.host))
    }

    /// Returns the fault for a response without success.
    fn refusal(&self, response: HttpResponse) -> ProviderFault {
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers());
        let location = response.headers().get("location").and_then(|at| at.to_str().ok());
        let mut what = format!("{} answered {status}", self.host);
        if let (300..400, Some(location)) = (status, location) {
            let place = location.split(['?', '#']).next().unwrap_or_default();
            what.push_str(&format!(", a redirect to {place}, which is not followed"));
        }
        let body = response.read_start(MAX_ERROR);
        let words = error::message_of(&String::from_utf8_lossy(&body));
        if !words.is_empty() {
            what.push_str(": ");
            what.push_str(&words);
        }
        ProviderFault { retry_after, ..ProviderFault::new(kind(status), what) }
    }
}

/// Returns the kind of fault of a status.
pub(crate) fn kind(status: u16) -> FaultKind {
    match status {
        401 | 403 => FaultKind::Key,
        408 => FaultKind::Timeout,
        409 | 425 | 429 | 529 => FaultKind::Busy,
        500.. => FaultKind::Server,
        _ => FaultKind::Request,
    }
}

/// Returns the delay that the server requests: in milliseconds, in seconds, or until a time,
/// relative to the server's own clock if it sends one.
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
