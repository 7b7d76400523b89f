//! The web page: files that are compiled into the program.

use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

/// Headers of every response: no external content, no content sniffing, no framing.
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

const INDEX: &str = toolmark_report::page::INDEX;
const SCRIPT: &str = toolmark_report::page::SCRIPT;
const STYLE: &str = toolmark_report::page::STYLE;

/// Addresses of pages. All of them return the same file, whose script selects the content.
const PAGES: &[&str] = &[
    "", "feed", "issue", "sessions", "session", "tools", "runs", "run", "compare", "guard", "help",
];

/// Returns a file of the page.
pub(crate) async fn file(uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path();
    let (kind, body) = match path {
        "/app.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "/app.css" => ("text/css; charset=utf-8", STYLE),
        _ if is_page(path) => ("text/html; charset=utf-8", INDEX),
        _ => return (StatusCode::NOT_FOUND, "not found").into_response(),
    };
    let tag = tag(body);
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| *known == *tag);
    let kept = [(header::ETAG, tag.as_str()), (header::CACHE_CONTROL, "no-cache")];
    match is_known {
        true => (StatusCode::NOT_MODIFIED, kept).into_response(),
        false => (kept, [(header::CONTENT_TYPE, kind)], body).into_response(),
    }
}

/// Entity tag of a file.
fn tag(body: &str) -> String {
    let hash = Sha256::digest(body);
    let hex = hash.iter().take(8).fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    format!("\"{hex}\"")
}

fn is_page(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    PAGES.contains(&first)
}
