//! Errors of servers: the message in a body, and the kind of an error that follows
//! a successful status, as in streams.

use super::{FaultKind, ProviderFault};
use serde_json::Value;

/// Returns the message of an error body: `error.message` in all wire formats, variants of it in
/// compatible servers, or the text itself.
pub(crate) fn message_of(body: &str) -> String {
    let body = body.trim();
    if let Ok(json) = serde_json::from_str::<Value>(body) {
        return message(&json).map_or_else(|| body.to_owned(), str::to_owned);
    }
    if body.starts_with('<') { strip_tags(body) } else { body.to_owned() }
}

fn message(json: &Value) -> Option<&str> {
    // Some gateways wrap the error in a list.
    let json = json.get(0).unwrap_or(json);
    let error = json.get("error").filter(|error| !error.is_null()).unwrap_or(json);
    let places = [Some(error), error.get("message"), json.get("message"), json.get("detail")];
    places.into_iter().flatten().find_map(Value::as_str).filter(|text| !text.trim().is_empty())
}

/// Returns the text of a page: its title, or all text between tags.
fn strip_tags(page: &str) -> String {
    // Only ASCII changes, so offsets are the same in both.
    let lower = page.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|at| {
        let start = at + lower.get(at..)?.find('>')? + 1;
        let end = start + lower.get(start..)?.find('<')?;
        page.get(start..end).filter(|title| !title.trim().is_empty())
    });
    if let Some(title) = title {
        return title.to_owned();
    }
    let mut out = String::new();
    for part in page.split('<').skip(1) {
        out.push_str(part.split_once('>').map_or("", |(_, text)| text));
        out.push(' ');
    }
    out
}

/// Returns the fault of an error object: `{"type": …, "code": …, "message": …}`.
pub(crate) fn fault(error: &Value) -> ProviderFault {
    let text = |name: &str| error.get(name).and_then(Value::as_str);
    let called = text("code").or_else(|| text("type")).unwrap_or("error");
    // A code says more than a type, but is not always known.
    let kind = text("code")
        .and_then(kind)
        .or_else(|| error.get("code").and_then(Value::as_u64).and_then(kind_of_status))
        .or_else(|| text("type").and_then(kind))
        .unwrap_or(FaultKind::Server);
    let words = error.as_str().or_else(|| text("message")).unwrap_or("no reason given");
    ProviderFault::new(kind, format!("the server reports {called}: {words}"))
}

/// Returns the kind of a named error; `None` if the name is unknown.
fn kind(word: &str) -> Option<FaultKind> {
    Some(match word {
        "authentication_error" | "permission_error" | "invalid_api_key" => FaultKind::Key,
        "overloaded_error"
        | "rate_limit_error"
        | "rate_limit_exceeded"
        | "insufficient_quota"
        | "server_is_overloaded"
        | "slow_down" => FaultKind::Busy,
        "timeout_error" | "vector_store_timeout" => FaultKind::Timeout,
        "api_error" | "server_error" | "internal_error" => FaultKind::Server,
        "billing_error"
        | "not_found_error"
        | "request_too_large"
        | "bio_policy"
        | "data_residency_mismatch"
        | "misalignment_policy_violation"
        | "context_length_exceeded"
        | "model_not_found" => FaultKind::Request,
        word if word.starts_with("invalid_") => FaultKind::Request,
        _ => return None,
    })
}

/// Returns the kind of a status, which compatible servers put into `code`.
fn kind_of_status(code: u64) -> Option<FaultKind> {
    u16::try_from(code).ok().filter(|code| (400..600).contains(code)).map(crate::http::kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_words_of_a_body() {
        for (body, want) in [
            (r#"{"type":"error","error":{"type":"x","message":"too fast"}}"#, "too fast"),
            (r#"{"error":{"message":"bad key","code":null}}"#, "bad key"),
            (r#"{"error":"no such model"}"#, "no such model"),
            (r#"[{"error":{"message":"in a list"}}]"#, "in a list"),
            (r#"{"object":"error","message":"plain"}"#, "plain"),
            (r#"{"detail":"not found"}"#, "not found"),
            (r#"{"other":1}"#, r#"{"other":1}"#),
            ("upstream timed out\n", "upstream timed out"),
            ("<html><head><TITLE>502 Bad</TITLE></head>x</html>", "502 Bad"),
            ("<p>a<b>c</b>", "a c  "),
            ("<title>", " "),
            ("", ""),
            ("   ", ""),
        ] {
            assert_eq!(message_of(body).trim_end(), want.trim_end(), "{body}");
        }
    }

    #[test]
    fn the_kind_of_an_error() {
        use FaultKind as K;
        for (error, want) in [
            (json!({"type": "overloaded_error", "message": "m"}), K::Busy),
            (json!({"type": "authentication_error"}), K::Key),
            (json!({"type": "invalid_request_error", "code": "rate_limit_exceeded"}), K::Busy),
            (json!({"type": "invalid_request_error", "code": "what_is_this"}), K::Request),
            (json!({"code": 429, "message": "m"}), K::Busy),
            (json!({"code": 7}), K::Server),
            (json!({"type": "novel"}), K::Server),
            (json!("words"), K::Server),
        ] {
            assert_eq!(fault(&error).kind, want, "{error}");
        }
        let said = fault(&json!({"type": "overloaded_error", "message": "later"})).message;
        assert_eq!(said, "the server reports overloaded_error: later");
    }
}
