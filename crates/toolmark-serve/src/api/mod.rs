//! The HTTP API under `/api/v1`.

mod evaluations;
mod events;
mod guard;
mod info;
mod issues;
mod mcp;
mod openapi;
mod query;
mod runs;
mod sessions;
mod tools;

pub use guard::HostStatus;
pub use query::duration;

use crate::Commands;
use crate::access::{Access, AccessScope, IngestKey};
use crate::evaluators::Queue;
use crate::issues::Issues;
use crate::library::{Library, Unreadable};
use crate::live::Hub;
use crate::model::Time;
use crate::page;
use crate::store::{SessionStore, StoreError};
use crate::watch::{Folder, FolderState};
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Serialize;
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use toolmark_redact::Redactor;

/// Maximum size of a changing request.
const MAX_BODY: usize = 1 << 20;

/// Path of the MCP endpoint.
const MCP: &str = "/mcp";

/// State shared by all handlers.
pub(crate) struct App {
    pub(crate) store: Arc<SessionStore>,
    pub(crate) library: Library,
    pub(crate) issues: Issues,
    pub(crate) hub: Arc<Hub>,
    pub(crate) redactor: Redactor,
    pub(crate) access: Access,
    /// Telemetry keys.
    pub(crate) keys: Vec<IngestKey>,
    pub(crate) folders: Vec<Folder>,
    pub(crate) states: Arc<Mutex<Vec<FolderState>>>,
    pub(crate) runs: Vec<PathBuf>,
    /// Sessions waiting for evaluation.
    pub(crate) queue: Arc<Queue>,
    pub(crate) has_evaluators: bool,
    pub(crate) commands: Arc<dyn Commands>,
    pub(crate) started: Time,
    pub(crate) is_demo: bool,
    /// Whether agents may connect over MCP.
    pub(crate) has_mcp: bool,
    pub(crate) receivers: Receivers,
    pub(crate) problems: Vec<Problem>,
    /// Becomes true when the server stops.
    pub(crate) stopping: watch::Receiver<bool>,
}

/// Addresses of the server.
#[derive(Debug, Clone, Default, Serialize, schemars::JsonSchema)]
pub(crate) struct Receivers {
    /// Address for OTLP over HTTP.
    pub http: Option<String>,
    /// Address for OTLP over gRPC.
    pub grpc: Option<String>,
    /// Address of the page and the API.
    pub ui: String,
}

/// A problem of the server.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub(crate) struct Problem {
    /// Time when the problem appeared.
    pub since: Time,
    /// Description.
    pub text: String,
    /// Suggested fix.
    pub hint: Option<String>,
}

/// Error response of the API.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
    hint: Option<String>,
}

impl ApiError {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), hint: None }
    }

    fn not_found(what: &str, id: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", format!("there is no {what} {id}"))
    }

    fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid", message)
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let (status, code) = match error {
            StoreError::Busy => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
            StoreError::Full => (StatusCode::SERVICE_UNAVAILABLE, "disk_full"),
            StoreError::Closed => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "store"),
        };
        Self::new(status, code, error.to_string())
    }
}

impl From<Unreadable> for ApiError {
    fn from(error: Unreadable) -> Self {
        match error {
            Unreadable::Store(error) => error.into(),
            error => Self::new(StatusCode::GONE, "unreadable", error.to_string())
                .hint("the file was moved, deleted or is no longer a trace"),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let error = json!({"code": self.code, "message": self.message, "hint": self.hint});
        let mut response = (self.status, JsonResponse(json!({"error": error}))).into_response();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

type ApiAnswer<T> = Result<JsonResponse<T>, ApiError>;

/// A JSON response.
pub(crate) struct JsonResponse<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for JsonResponse<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(body) => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
            Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
        }
    }
}

/// Runs work that reads files or the store on a separate thread.
async fn blocking<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&App) -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let app = Arc::clone(app);
    tokio::task::spawn_blocking(move || work(&app)).await.unwrap_or_else(|_| {
        let message = "the server failed to answer; this is a bug";
        Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message))
    })
}

/// Routes of the API and the page.
pub(crate) fn router(app: Arc<App>) -> Router {
    let api = Router::new()
        .route("/info", get(info::info))
        .route("/events", get(events::events))
        .route("/projects", get(info::projects))
        .route("/agents", get(info::agents))
        .route("/issues", get(issues::list))
        .route("/issues/{id}", get(issues::one))
        .route("/issues/{id}/occurrences", get(issues::occurrences))
        .route("/issues/{id}/fix", get(issues::fix))
        .route("/issues/{id}/state", post(issues::decide))
        .route("/issues/{id}/promote", post(issues::promote))
        .route("/sessions", get(sessions::list))
        .route("/sessions/{id}", get(sessions::one))
        .route("/sessions/{id}/timeline", get(sessions::timeline))
        .route("/sessions/{id}/calls/{call}", get(sessions::call))
        .route("/sessions/{id}/search", get(sessions::search))
        .route("/sessions/{a}/diff/{b}", get(sessions::diff))
        .route("/evaluations", get(evaluations::list))
        .route("/evaluate", post(evaluations::start))
        .route("/tools", get(tools::list))
        .route("/runs", get(runs::list))
        .route("/runs/{id}", get(runs::one))
        .route("/compare", get(runs::compare))
        .route("/guard", get(guard::list))
        .route("/guard/status", get(guard::status))
        .route("/guard/replay", post(guard::replay))
        .route("/keys", get(info::keys))
        .route("/openapi.json", get(openapi::document))
        .fallback(async || {
            ApiError::new(StatusCode::NOT_FOUND, "not_found", "there is no such address")
                .hint("GET /api/v1/openapi.json lists what there is")
        })
        .method_not_allowed_fallback(async || {
            let message = "this address is asked in another way";
            ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method", message)
                .hint("GET /api/v1/openapi.json lists what there is")
        })
        .layer(DefaultBodyLimit::max(MAX_BODY));
    let mut router = Router::new().nest("/api/v1", api);
    if app.has_mcp {
        let ask = post(mcp::ask).fallback(mcp::no_stream).layer(DefaultBodyLimit::max(MAX_BODY));
        router = router.route(MCP, ask);
    }
    router
        .fallback(get(page::file))
        .layer(from_fn_with_state(Arc::clone(&app), guard_site))
        .with_state(app)
}

/// Checks host, origin and token of every request, and adds the headers of every response.
async fn guard_site(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_page = !path.starts_with("/api/") && path != MCP;
    // What agents ask changes nothing.
    let reads = matches!(*request.method(), Method::GET | Method::HEAD) || path == MCP;
    let scope = if reads { AccessScope::Read } else { AccessScope::Write };
    let headers = request.headers();
    let allowed = match is_page {
        true => app.access.check_site(headers, true),
        false => app.access.check(headers, scope).map(drop),
    };
    let mut response = match allowed {
        Ok(()) => next.run(request).await,
        Err(denied) => {
            ApiError::new(denied.status(), denied.code(), denied.to_string()).into_response()
        }
    };
    let headers = response.headers_mut();
    for (name, value) in &page::HEADERS {
        headers.insert(name.clone(), HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
