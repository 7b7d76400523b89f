//! MCP over HTTP: one message per request, answered as JSON.

use super::{ApiError, App, JsonResponse, blocking};
use crate::mcp::Server;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

pub(super) async fn ask(State(app): State<Arc<App>>, body: Bytes) -> Response {
    let answer = blocking(&app, move |app| {
        let server = Server {
            store: &app.store,
            hub: &app.hub,
            issues: &app.issues,
            library: &app.library,
            redactor: app.redactor,
            states: &app.states,
            waits_until: None,
        };
        Ok(server.answer_to(&body))
    });
    match answer.await {
        Ok(Some(answer)) => JsonResponse(answer).into_response(),
        Ok(None) => StatusCode::ACCEPTED.into_response(),
        Err(error) => error.into_response(),
    }
}

/// Rejects streams: the server sends no unsolicited messages.
pub(super) async fn no_stream() -> ApiError {
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method", "messages are sent with POST")
}
