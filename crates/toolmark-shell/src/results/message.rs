//! The meaning of an error message of a program or a service without a pack: the words and the status
//! codes that most of them share.

use super::ResultKind;

/// Maximum number of bytes of a message that are examined.
const MAX_EXAMINED: usize = 600;

/// Words of messages in lower case, the most specific kind first.
const WORDS: &[(ResultKind, &[&str])] = &[
    (
        ResultKind::RateLimited,
        &[
            "rate limit",
            "rate-limit",
            "ratelimit",
            "too many requests",
            "quota exceeded",
            "exceeded your current quota",
            "exceeded your quota",
            "throttl",
            "overloaded_error",
            "usage limit",
        ],
    ),
    (
        ResultKind::NotAuthenticated,
        &[
            "unauthorized",
            "unauthenticated",
            "not authenticated",
            "authentication required",
            "requires authentication",
            "authentication failed",
            "authentication credentials",
            "not logged in",
            "login required",
            "log in first",
            "please log in",
            "please login",
            "must be logged in",
            "invalid api key",
            "incorrect api key",
            "api key not",
            "api key is",
            "api key disabled",
            "missing api key",
            "no api key",
            "bad credentials",
            "invalid credentials",
            "no credentials",
            "invalid token",
            "token expired",
            "token has expired",
            "expired token",
            "session expired",
        ],
    ),
    (
        ResultKind::Refused,
        &[
            "forbidden",
            "permission denied",
            "permission_denied",
            "access denied",
            "accessdenied",
            "eacces",
            "eperm",
            "operation not permitted",
            "not permitted",
            "not allowed",
            "insufficient permission",
            "insufficient scope",
            "do not have permission",
            "don't have permission",
            "denied by",
            "rejected by user",
            "blocked by",
            "outside of the allowed",
            "outside the allowed",
            "outside the workspace",
            "outside allowed",
            "not within the workspace",
            "sandbox",
        ],
    ),
    (
        ResultKind::MissingProgram,
        &[
            "command not found",
            "not found on path",
            "not found in path",
            "not in path",
            "is not installed",
            "not installed",
            "executable doesn't exist",
            "no module named",
            "cannot find module",
            "executable file not found",
            "spawn enoent",
        ],
    ),
    (
        ResultKind::CutOff,
        &[
            "timed out",
            "timeouterror",
            "timeout of ",
            "timeout exceeded",
            "timeout error",
            "request timeout",
            "deadline exceeded",
            "exceeded the timeout",
            "was aborted",
            "aborted by",
            "operation aborted",
            "was interrupted",
            "was cancelled",
            "was canceled",
        ],
    ),
    (
        ResultKind::UsageError,
        &[
            "validation error",
            "validationerror",
            "input should be",
            "field required",
            "invalid argument",
            "invalid option",
            "invalid parameter",
            "invalid input",
            "invalid value",
            "invalid request",
            "invalid params",
            "invalid type",
            "invalid `",
            "unknown option",
            "unknown flag",
            "unknown command",
            "unknown argument",
            "unknown parameter",
            "unexpected argument",
            "doesn't accept argument",
            "does not accept",
            "unknown agent",
            "invalid --",
            "invalid command",
            "unexpected keyword",
            "unrecognized",
            "missing required",
            "required parameter",
            "required argument",
            "required field",
            "required property",
            "is required",
            "are required",
            "missing parameter",
            "missing argument",
            "must be one of",
            "must be a",
            "must be an",
            "must be absolute",
            "must be provided",
            "must not",
            "must specify",
            "must provide",
            "must identify",
            "must have",
            "must start",
            "cannot be empty",
            "bad request",
            "not a valid",
            "isn't a valid",
            "does not match the",
            "not supported",
            "unsupported",
            "malformed",
            "syntax error",
            "failed to parse",
            "parse error",
            "-32602",
            "ambiguous",
            "no such tool",
            "tool not found",
            "no tool named",
            "expected one of",
        ],
    ),
    (
        ResultKind::NotFound,
        &[
            "not found",
            "not_found",
            "notfound",
            "no such",
            "does not exist",
            "doesn't exist",
            "do not exist",
            "did not exist",
            "could not find",
            "couldn't find",
            "cannot find",
            "can't find",
            "unable to find",
            "unable to locate",
            "could not locate",
            "could not be found",
            "enoent",
            "nonexistent",
            "no longer exists",
            "nosuchkey",
            "unknown skill",
            "no record",
        ],
    ),
    (
        ResultKind::NothingMatched,
        &["no results", "no matches", "no matching", "nothing matched", "0 results", "no data"],
    ),
];

/// Returns the kind of failure that an error message names, if it has one of the usual words.
#[must_use]
pub fn kind_of_message(text: &str) -> Option<ResultKind> {
    let text = start(text, MAX_EXAMINED).to_ascii_lowercase();
    let of_word = WORDS.iter().find(|(_, words)| words.iter().any(|word| text.contains(word)));
    let kind = of_word.map(|(kind, _)| *kind);
    match kind {
        Some(ResultKind::UsageError | ResultKind::NotFound) | None => of_status(&text).or(kind),
        kind => kind,
    }
    // `No account record matches the id`
    .or_else(|| names_nothing(&text).then_some(ResultKind::NotFound))
}

/// Whether a sentence says that no thing has a property: `no … matches`, `no … matching`.
fn names_nothing(text: &str) -> bool {
    let starts = text.match_indices("no ").filter(|(at, _)| {
        at.checked_sub(1)
            .and_then(|at| text.as_bytes().get(at))
            .is_none_or(|b| !b.is_ascii_alphanumeric())
    });
    starts.into_iter().any(|(at, _)| {
        let rest = text.get(at..).unwrap_or_default();
        let sentence = rest.split(['.', '\n', ';']).next().unwrap_or_default();
        [" matches", " matching", " match ", " with id", " with the id", " named "]
            .iter()
            .any(|word| sentence.contains(word))
    })
}

/// Returns the kind of an HTTP status in a message about a request.
fn of_status(text: &str) -> Option<ResultKind> {
    const AROUND: &[&str] =
        &["http", "status", "api", "request", "rest code", "error code", "server"];
    if !AROUND.iter().any(|word| text.contains(word)) {
        return None;
    }
    let mut numbers = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|n| n.len() == 3);
    numbers.find_map(|number| match number {
        "401" => Some(ResultKind::NotAuthenticated),
        "403" => Some(ResultKind::Refused),
        "404" | "410" => Some(ResultKind::NotFound),
        "408" | "504" => Some(ResultKind::CutOff),
        "429" | "529" => Some(ResultKind::RateLimited),
        "400" | "422" => Some(ResultKind::UsageError),
        "500" | "502" | "503" => Some(ResultKind::Failed),
        _ => None,
    })
}

/// Returns the start of a text, at a character boundary.
fn start(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Keys whose value is the message of an error.
const ERROR_KEYS: &[&str] = &["error", "errors", "error_message", "errorMessage", "fault"];

/// Returns the kind of failure that a JSON object reports in one of its own members: an error that is
/// not null, a flag of success that is false, or an HTTP status of failure.
#[must_use]
pub fn kind_of_object(text: &str) -> Option<ResultKind> {
    let text = text.trim();
    let members = members(text)?;
    let mut fails = false;
    for (key, value) in &members {
        let is_false = *value == "false";
        let is_word = matches!(
            value.trim_matches('"'),
            "error" | "failed" | "failure" | "fail" | "ERROR" | "FAILED"
        );
        let is_status =
            value.trim_matches('"').parse::<u16>().is_ok_and(|n| (400..600).contains(&n));
        fails |= match *key {
            "success" | "ok" | "succeeded" => is_false,
            "isError" | "is_error" => *value == "true",
            "status" => is_word || (is_status && members.iter().any(|(key, _)| *key == "message")),
            "statusCode" | "status_code" => is_status,
            "type" => is_word,
            key => ERROR_KEYS.contains(&key) && is_something(value),
        };
    }
    fails.then(|| kind_of_message(&format!("status {text}")).unwrap_or(ResultKind::Failed))
}

fn is_something(value: &str) -> bool {
    !matches!(value, "null" | "false" | "\"\"" | "[]" | "{}" | "0" | "[" | "{")
}

/// Returns the members of a JSON object with their values as written; of a value that is an object or
/// an array, its start. `None` if the text is not an object.
fn members(text: &str) -> Option<Vec<(&str, &str)>> {
    /// Maximum number of members to examine.
    const MAX_MEMBERS: usize = 24;
    let bytes = text.as_bytes();
    let mut at = 1;
    let mut out = Vec::new();
    if bytes.first() != Some(&b'{') {
        return None;
    }
    while out.len() < MAX_MEMBERS {
        at = skip_blanks(bytes, at);
        let key_end = string_end(bytes, at)?;
        let key = text.get(at + 1..key_end - 1)?;
        at = skip_blanks(bytes, key_end);
        if bytes.get(at) != Some(&b':') {
            return None;
        }
        at = skip_blanks(bytes, at + 1);
        let end = value_end(bytes, at);
        out.push((key, text.get(at..end)?.trim_end()));
        at = skip_blanks(bytes, end);
        if bytes.get(at) != Some(&b',') {
            break;
        }
        at += 1;
    }
    Some(out)
}

fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    at + bytes.iter().skip(at).take_while(|b| b.is_ascii_whitespace()).count()
}

/// Returns the end of the string that begins here.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    let mut escaped = false;
    let rest = bytes.iter().enumerate().skip(at + 1);
    for (at, byte) in rest {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Returns the end of the value that begins here, or of the text.
fn value_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => match string_end(bytes, at) {
                Some(end) => {
                    at = end;
                    continue;
                }
                None => return bytes.len(),
            },
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            b',' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::{ResultKind, kind_of_message, kind_of_object};

    #[test]
    fn messages() {
        for (text, want) in [
            ("Error: Page not found", Some(ResultKind::NotFound)),
            ("ValueError: no ticket with id 7", Some(ResultKind::NotFound)),
            ("KeyError: No customer record matches this phone", Some(ResultKind::NotFound)),
            ("Request failed with status code 429", Some(ResultKind::RateLimited)),
            ("HTTP 401", Some(ResultKind::NotAuthenticated)),
            ("2 validation errors for Order\nname\n  Field required", Some(ResultKind::UsageError)),
            ("the disk is on fire", None),
            ("404 pages were written", None),
        ] {
            assert_eq!(kind_of_message(text), want, "{text}");
        }
    }

    #[test]
    fn objects() {
        for (text, want) in [
            (r#"{"error": null, "data": [1]}"#, None),
            (r#"{"rows":[{"error":"x"}],"n":1}"#, None),
            (r#"{"error":"no such order"}"#, Some(ResultKind::NotFound)),
            (r#"{"success":false,"reason":"x"}"#, Some(ResultKind::Failed)),
            (r#"{"success": true, "error": ""}"#, None),
            (r#"{"message":"Unauthorized","statusCode":401}"#, Some(ResultKind::NotAuthenticated)),
            (r#"{"status":404,"id":1}"#, None),
            (r#"{"status":"error","error":"API error: 429"}"#, Some(ResultKind::RateLimited)),
            (r#"{"a":"b","error":{"code":7,"mess"#, Some(ResultKind::Failed)),
            ("[]", None),
            ("{", None),
        ] {
            assert_eq!(kind_of_object(text), want, "{text}");
        }
    }
}
