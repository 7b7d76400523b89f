//! Accepts decoded requests from either transport.

use super::records;
use super::split::{Records, split};
use super::{OtlpLimits, Signal};
use crate::store::{SessionStore, StoreError};
use axum::body::Bytes;
use jiff::Timestamp;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use toolmark_redact::Redactor;

/// Reason for rejecting a request.
#[derive(Debug, Clone)]
pub(crate) enum Refused {
    /// The content is invalid; sending it again does not help.
    Invalid(String),
    /// The server is temporarily unable to accept it.
    Unavailable(String),
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(error.to_string())
    }
}

/// Result of an accepted request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Accepted {
    /// Number of rejected records.
    pub(crate) rejected: i64,
    /// Message to the sender.
    pub(crate) message: String,
}

/// Receiver of requests.
pub(crate) struct Receiver {
    pub(crate) store: Arc<SessionStore>,
    pub(crate) redactor: Redactor,
    pub(crate) limits: OtlpLimits,
    /// Number of bytes of requests in memory.
    in_flight: AtomicUsize,
}

/// Reserved memory for a request, released after the response.
pub(crate) struct Room<'r> {
    receiver: &'r Receiver,
    bytes: usize,
}

impl Room<'_> {
    /// Reserves more memory; returns false if there is none.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        let before = self.receiver.in_flight.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
        let limit = self.receiver.limits.in_flight;
        let all = before + bytes;
        // A request that is larger than the room is taken while others hold little of it.
        all <= limit || all - self.bytes <= limit / 4
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.receiver.in_flight.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Receiver {
    pub(crate) fn new(store: Arc<SessionStore>, redactor: Redactor, limits: OtlpLimits) -> Self {
        Self { store, redactor, limits, in_flight: AtomicUsize::new(0) }
    }

    /// Returns an empty reservation for a request.
    pub(crate) fn room(&self) -> Room<'_> {
        Room { receiver: self, bytes: 0 }
    }

    /// Accepts a request in protobuf.
    pub(crate) async fn protobuf(
        &self,
        signal: Signal,
        body: Bytes,
        key: Option<String>,
    ) -> Result<Accepted, Refused> {
        let (limits, redactor) = (self.limits, self.redactor);
        let records = aside(body.len(), move || {
            let value = match signal {
                Signal::Traces => value(ExportTraceServiceRequest::decode(body)),
                Signal::Logs => value(ExportLogsServiceRequest::decode(body)),
                Signal::Metrics => value(ExportMetricsServiceRequest::decode(body)),
            }?;
            cut(signal, value, limits, redactor)
        });
        self.put(records.await?, key).await
    }

    /// Accepts a request in JSON.
    pub(crate) async fn json(
        &self,
        signal: Signal,
        body: Bytes,
        key: Option<String>,
    ) -> Result<Accepted, Refused> {
        let (limits, redactor) = (self.limits, self.redactor);
        let records = aside(body.len(), move || {
            let value = serde_json::from_slice(&body)
                .map_err(|error| Refused::Invalid(format!("invalid JSON: {error}")))?;
            cut(signal, value, limits, redactor)
        });
        self.put(records.await?, key).await
    }

    /// Accepts a decoded request.
    pub(crate) async fn message(
        &self,
        signal: Signal,
        message: impl Message + Serialize + 'static,
        key: Option<String>,
    ) -> Result<Accepted, Refused> {
        let (limits, redactor) = (self.limits, self.redactor);
        let records = aside(message.encoded_len(), move || {
            let value = serde_json::to_value(message)
                .map_err(|error| Refused::Invalid(error.to_string()))?;
            cut(signal, value, limits, redactor)
        });
        self.put(records.await?, key).await
    }

    async fn put(&self, records: Records, key: Option<String>) -> Result<Accepted, Refused> {
        let accepted = Accepted {
            rejected: i64::try_from(records.rejected).unwrap_or(i64::MAX),
            message: records.notes.join("; "),
        };
        if !is_empty(&records) {
            let now = Timestamp::now().as_millisecond();
            let put = move |db: &_| records::put(db, &records, key.as_deref(), now);
            self.store.write(put).await?;
        }
        Ok(accepted)
    }
}

/// Decodes a request; a large one on a separate thread, so that others do not wait for it.
async fn aside(
    size: usize,
    work: impl FnOnce() -> Result<Records, Refused> + Send + 'static,
) -> Result<Records, Refused> {
    const LARGE: usize = 256 << 10;
    if size < LARGE {
        return work();
    }
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Refused::Unavailable("the server is stopping".to_owned())))
}

fn cut(
    signal: Signal,
    value: Value,
    limits: OtlpLimits,
    redactor: Redactor,
) -> Result<Records, Refused> {
    let records = split(signal, value, limits, redactor);
    records.ok_or_else(|| Refused::Invalid("not an OTLP request of this signal".to_owned()))
}

fn is_empty(records: &Records) -> bool {
    records.spans.is_empty() && records.logs.is_empty() && records.metrics.is_empty()
}

fn value<M: Serialize>(decoded: Result<M, prost::DecodeError>) -> Result<Value, Refused> {
    let message =
        decoded.map_err(|error| Refused::Invalid(format!("invalid protobuf: {error}")))?;
    serde_json::to_value(message).map_err(|error| Refused::Invalid(error.to_string()))
}
