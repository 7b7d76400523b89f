//! The page: files that are part of the program.

use axum::http::header::{self, HeaderName};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};

/// What every answer says: nothing is loaded from elsewhere, nothing is guessed, nobody
/// frames it.
pub(crate) static HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

const INDEX: &str = include_str!("../../../web/dist/index.html");
const SCRIPT: &str = include_str!("../../../web/dist/app.js");
const STYLE: &str = include_str!("../../../web/dist/app.css");

/// Addresses of pages are answered with the page; it finds out itself what to show.
const PAGES: &[&str] = &[
    "", "feed", "issue", "sessions", "session", "tools", "runs", "run", "compare", "guard", "help",
];

/// A file of the page.
pub(crate) async fn file(uri: Uri) -> Response {
    let path = uri.path();
    let (kind, body) = match path {
        "/app.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "/app.css" => ("text/css; charset=utf-8", STYLE),
        _ if is_page(path) => ("text/html; charset=utf-8", INDEX),
        _ => return (StatusCode::NOT_FOUND, "not found").into_response(),
    };
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], body).into_response()
}

fn is_page(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    PAGES.contains(&first)
}
