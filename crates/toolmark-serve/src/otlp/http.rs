//! OTLP over HTTP, as the protocol specifies: protobuf or JSON, answered in the same encoding.

use super::receive::Accepted;
use super::{Receiver, Refused, Room, Signal};
use crate::access::{Access, AccessScope};
use crate::pace::is_too_slow;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use flate2::read::MultiGzDecoder;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use opentelemetry_proto::tonic::collector::logs::v1::{
    ExportLogsPartialSuccess, ExportLogsServiceResponse,
};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceResponse,
};
use prost::Message;
use serde_json::{Map, Value, json};
use std::io::Read;
use std::sync::Arc;

/// Seconds that senders wait before they retry.
const RETRY_AFTER: &str = "1";

/// Memory for a body is reserved up to this size before it has come.
const MAX_CAPACITY: usize = 64 << 10;

const PROTOBUF: &str = "application/x-protobuf";
const JSON: &str = "application/json";

/// State shared by the handlers.
#[derive(Clone)]
pub(crate) struct Otlp {
    pub(crate) receiver: Arc<Receiver>,
    pub(crate) access: Arc<Access>,
}

/// The routes of the receiver.
pub(crate) fn router(otlp: Otlp) -> Router {
    Router::new()
        .route("/v1/traces", post(|otlp, request| receive(Signal::Traces, otlp, request)))
        .route("/v1/logs", post(|otlp, request| receive(Signal::Logs, otlp, request)))
        .route("/v1/metrics", post(|otlp, request| receive(Signal::Metrics, otlp, request)))
        .layer(DefaultBodyLimit::disable())
        .with_state(otlp)
}

/// Encoding of a request and of its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Protobuf,
    Json,
}

/// A `google.rpc.Status`, the format of errors.
#[derive(Clone, PartialEq, Message)]
struct RpcStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

async fn receive(signal: Signal, State(otlp): State<Otlp>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Some(encoding) = encoding(&parts.headers) else {
        let message = format!("Content-Type must be {PROTOBUF} or {JSON}");
        return refuse(Encoding::Json, StatusCode::UNSUPPORTED_MEDIA_TYPE, 3, message);
    };
    let key = match otlp.access.check(&parts.headers, AccessScope::Ingest) {
        Ok(key) => key,
        Err(denied) => {
            return refuse(encoding, denied.status(), 16, denied.to_string());
        }
    };
    let mut room = otlp.receiver.room();
    let body = match whole(body, &parts.headers, otlp.receiver.limits.body, &mut room).await {
        Ok(body) => body,
        Err((status, message)) => {
            let code = if status == StatusCode::SERVICE_UNAVAILABLE { 14 } else { 3 };
            return refuse(encoding, status, code, message);
        }
    };
    let result = match encoding {
        Encoding::Protobuf => otlp.receiver.protobuf(signal, body, key).await,
        Encoding::Json => otlp.receiver.json(signal, body, key).await,
    };
    match result {
        Ok(accepted) => accept(signal, encoding, accepted),
        Err(Refused::Invalid(message)) => refuse(encoding, StatusCode::BAD_REQUEST, 3, message),
        Err(Refused::Unavailable(message)) => {
            refuse(encoding, StatusCode::SERVICE_UNAVAILABLE, 14, message)
        }
    }
}

fn encoding(headers: &HeaderMap) -> Option<Encoding> {
    let kind = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    match kind.split(';').next()?.trim().to_ascii_lowercase().as_str() {
        PROTOBUF | "application/protobuf" => Some(Encoding::Protobuf),
        JSON => Some(Encoding::Json),
        _ => None,
    }
}

/// Reads and decompresses the body, up to the size limits and the available memory.
async fn whole(
    body: Body,
    headers: &HeaderMap,
    limit: usize,
    room: &mut Room<'_>,
) -> Result<Bytes, (StatusCode, String)> {
    let too_large =
        || (StatusCode::PAYLOAD_TOO_LARGE, format!("the request is larger than {limit} bytes"));
    let busy = || {
        let message = "too many requests are waiting to be written".to_owned();
        (StatusCode::SERVICE_UNAVAILABLE, message)
    };
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let length = length.and_then(|length| length.parse::<usize>().ok());
    if length.is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let mut body = Limited::new(body, limit);
    let mut read = Vec::with_capacity(length.unwrap_or(0).min(MAX_CAPACITY));
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            if error.downcast_ref::<LengthLimitError>().is_some() {
                too_large()
            } else if is_too_slow(&*error) {
                (StatusCode::REQUEST_TIMEOUT, "the request came too slowly".to_owned())
            } else {
                (StatusCode::BAD_REQUEST, format!("the request broke off: {error}"))
            }
        })?;
        let Ok(data) = frame.into_data() else { continue };
        // Room is taken by what has come, not by what was announced: an upload that stalls
        // must not hold what others need.
        if !room.grow(data.len()) {
            return Err(busy());
        }
        read.extend_from_slice(&data);
    }
    let body = Bytes::from(read);
    let coding = headers.get(header::CONTENT_ENCODING).map(|coding| coding.as_bytes());
    match coding.map(<[u8]>::to_ascii_lowercase).as_deref() {
        None | Some(b"" | b"identity") => Ok(body),
        Some(b"gzip") => {
            let mut plain = Vec::new();
            let read =
                MultiGzDecoder::new(&body[..]).take(limit as u64 + 1).read_to_end(&mut plain);
            read.map_err(|error| (StatusCode::BAD_REQUEST, format!("invalid gzip: {error}")))?;
            match plain.len() {
                size if size > limit => Err(too_large()),
                size if !room.grow(size) => Err(busy()),
                _ => Ok(plain.into()),
            }
        }
        Some(_) => {
            let message = "Content-Encoding must be gzip or identity".to_owned();
            Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
        }
    }
}

fn accept(signal: Signal, encoding: Encoding, accepted: Accepted) -> Response {
    let Accepted { rejected, message } = accepted;
    let is_partial = rejected > 0 || !message.is_empty();
    match encoding {
        Encoding::Protobuf => {
            let body = match signal {
                Signal::Traces => traces_answer(Accepted { rejected, message }).encode_to_vec(),
                Signal::Logs => logs_answer(Accepted { rejected, message }).encode_to_vec(),
                Signal::Metrics => metrics_answer(Accepted { rejected, message }).encode_to_vec(),
            };
            ([(header::CONTENT_TYPE, PROTOBUF)], body).into_response()
        }
        Encoding::Json => {
            let mut answer = Map::new();
            if is_partial {
                let name = match signal {
                    Signal::Traces => "rejectedSpans",
                    Signal::Logs => "rejectedLogRecords",
                    Signal::Metrics => "rejectedDataPoints",
                };
                let partial = json!({name: rejected.to_string(), "errorMessage": message});
                answer.insert("partialSuccess".to_owned(), partial);
            }
            ([(header::CONTENT_TYPE, JSON)], Value::Object(answer).to_string()).into_response()
        }
    }
}

/// Returns the details for the sender if the request was accepted only in part.
fn partial(accepted: Accepted) -> Option<Accepted> {
    (accepted != Accepted::default()).then_some(accepted)
}

/// Response to traces.
pub(super) fn traces_answer(accepted: Accepted) -> ExportTraceServiceResponse {
    let partial = partial(accepted).map(|Accepted { rejected, message }| {
        ExportTracePartialSuccess { rejected_spans: rejected, error_message: message }
    });
    ExportTraceServiceResponse { partial_success: partial }
}

/// Response to logs.
pub(super) fn logs_answer(accepted: Accepted) -> ExportLogsServiceResponse {
    let partial = partial(accepted).map(|Accepted { rejected, message }| {
        ExportLogsPartialSuccess { rejected_log_records: rejected, error_message: message }
    });
    ExportLogsServiceResponse { partial_success: partial }
}

/// Response to metrics.
pub(super) fn metrics_answer(accepted: Accepted) -> ExportMetricsServiceResponse {
    let partial = partial(accepted).map(|Accepted { rejected, message }| {
        ExportMetricsPartialSuccess { rejected_data_points: rejected, error_message: message }
    });
    ExportMetricsServiceResponse { partial_success: partial }
}

fn refuse(encoding: Encoding, status: StatusCode, code: i32, message: String) -> Response {
    let mut response = match encoding {
        Encoding::Protobuf => {
            let body = RpcStatus { code, message }.encode_to_vec();
            (status, [(header::CONTENT_TYPE, PROTOBUF)], body).into_response()
        }
        Encoding::Json => {
            let body = json!({"code": code, "message": message}).to_string();
            (status, [(header::CONTENT_TYPE, JSON)], body).into_response()
        }
    };
    if status == StatusCode::SERVICE_UNAVAILABLE {
        let wait = header::HeaderValue::from_static(RETRY_AFTER);
        response.headers_mut().insert(header::RETRY_AFTER, wait);
    }
    response
}
