//! OTLP over gRPC: the three services, each with its one method.

use super::http::{logs_answer, metrics_answer, traces_answer};
use super::receive::Accepted;
use super::{Receiver, Refused, Signal};
use crate::access::{Access, AccessScope, Denied};
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::Request as HttpRequest;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use serde::Serialize;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use tonic::codec::CompressionEncoding;
use tonic::server::{Grpc, UnaryService};
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;

/// Reserved size of a message before it is read.
const MESSAGE: usize = 1 << 20;

/// Prefix of the codec's error about invalid messages.
const UNDECODED: &[u8] = b"failed%20to%20decode";

/// State shared by the handlers.
#[derive(Clone)]
pub(crate) struct Collector {
    pub(crate) receiver: Arc<Receiver>,
    pub(crate) access: Arc<Access>,
}

/// The routes of the services.
pub(crate) fn router(collector: Collector) -> Router {
    const TRACES: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
    const LOGS: &str = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
    const METRICS: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
    Router::new()
        .route(
            TRACES,
            post(|State(all): State<Collector>, request| {
                all.serve::<ExportTraceServiceRequest, _>(Signal::Traces, traces_answer, request)
            }),
        )
        .route(
            LOGS,
            post(|State(all): State<Collector>, request| {
                all.serve::<ExportLogsServiceRequest, _>(Signal::Logs, logs_answer, request)
            }),
        )
        .route(
            METRICS,
            post(|State(all): State<Collector>, request| {
                all.serve::<ExportMetricsServiceRequest, _>(
                    Signal::Metrics,
                    metrics_answer,
                    request,
                )
            }),
        )
        .fallback(|request: HttpRequest<Body>| {
            refuse(Status::unimplemented("unknown service"), request)
        })
        .layer(DefaultBodyLimit::disable())
        .with_state(collector)
}

/// Rejects a request. A small body is read nevertheless: a client that is still sending may treat
/// an early response as a broken connection.
async fn refuse(status: Status, request: HttpRequest<Body>) -> Response {
    let _ = axum::body::to_bytes(request.into_body(), MESSAGE).await;
    status.into_http::<Body>()
}

impl Collector {
    async fn serve<M, A>(
        self,
        signal: Signal,
        answer: fn(Accepted) -> A,
        request: HttpRequest<Body>,
    ) -> Response
    where
        M: prost::Message + Default + Serialize + Send + 'static,
        A: prost::Message + Send + 'static,
    {
        let key = match self.access.check(request.headers(), AccessScope::Ingest) {
            Ok(key) => key,
            Err(denied) => {
                let status = match denied {
                    Denied::NoToken | Denied::WrongToken => {
                        Status::unauthenticated(denied.to_string())
                    }
                    _ => Status::permission_denied(denied.to_string()),
                };
                return refuse(status, request).await;
            }
        };
        // How large a message is shows only when it is there: each takes the same room.
        let receiver = Arc::clone(&self.receiver);
        let mut room = receiver.room();
        if !room.grow(MESSAGE) {
            return refuse(Status::unavailable("too many requests are waiting"), request).await;
        }
        let export = Export { receiver: self.receiver, signal, answer, key, message: PhantomData };
        let limit = export.receiver.limits.body;
        let codec: ProstCodec<A, M> = ProstCodec::default();
        let mut grpc = Grpc::new(codec)
            .accept_compressed(CompressionEncoding::Gzip)
            .max_decoding_message_size(limit);
        let mut response = grpc.unary(export, request).await.map(Body::new).into_response();
        // What cannot be decoded is the sender's fault, and not to be sent again.
        let headers = response.headers_mut();
        let is_undecoded = headers.get("grpc-status").is_some_and(|code| code == "13")
            && headers.get("grpc-message").is_some_and(|m| m.as_bytes().starts_with(UNDECODED));
        if is_undecoded {
            let code = Code::InvalidArgument as i32;
            headers.insert("grpc-status", code.into());
        }
        response
    }
}

struct Export<M, A> {
    receiver: Arc<Receiver>,
    signal: Signal,
    answer: fn(Accepted) -> A,
    key: Option<String>,
    message: PhantomData<fn(M)>,
}

impl<M, A> UnaryService<M> for Export<M, A>
where
    M: prost::Message + Serialize + 'static,
    A: Send + 'static,
{
    type Response = A;
    type Future = Pin<Box<dyn Future<Output = Result<tonic::Response<A>, Status>> + Send>>;

    fn call(&mut self, request: Request<M>) -> Self::Future {
        let (receiver, signal, answer) = (Arc::clone(&self.receiver), self.signal, self.answer);
        let key = self.key.take();
        Box::pin(async move {
            match receiver.message(signal, request.into_inner(), key).await {
                Ok(accepted) => Ok(tonic::Response::new(answer(accepted))),
                Err(Refused::Invalid(message)) => Err(Status::invalid_argument(message)),
                Err(Refused::Unavailable(message)) => Err(Status::unavailable(message)),
            }
        })
    }
}
