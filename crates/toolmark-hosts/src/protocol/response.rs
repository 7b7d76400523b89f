//! Extracts the text of a tool result, which hosts wrap in objects and blocks of various
//! shapes.

use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use toolmark_base::text::head;

/// Maximum number of bytes of a result to inspect.
const SCANNED: usize = 1 << 20;

/// Keys for text in a result, in display order.
const KEYS: &[&str] =
    &["stdout", "stderr", "output", "content", "text", "result", "llmContent", "error", "file"];

/// Maximum nesting depth of text.
const DEPTH: usize = 4;

/// Returns the text of a result, or the raw result if it contains no text.
pub(crate) fn text(response: &RawValue) -> Cow<'_, str> {
    let raw = response.get();
    let mut out = String::new();
    if let Ok(value) = serde_json::from_str::<Value>(raw) {
        gather(&value, DEPTH, &mut out);
    }
    if out.is_empty() { Cow::Borrowed(head(raw, SCANNED)) } else { Cow::Owned(out) }
}

fn gather(value: &Value, depth: usize, out: &mut String) {
    if depth == 0 || out.len() >= SCANNED {
        return;
    }
    match value {
        Value::String(text) => {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            out.push_str(head(text, SCANNED.saturating_sub(out.len())));
        }
        Value::Array(blocks) => blocks.iter().for_each(|block| gather(block, depth - 1, out)),
        Value::Object(map) => {
            let parts = KEYS.iter().filter_map(|key| map.get(*key));
            parts.for_each(|part| gather(part, depth - 1, out));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_answers() {
        for (answer, want) in [
            (r#""plain""#, "plain"),
            (r#"{"stdout":"a","stderr":"b","interrupted":false}"#, "a\nb"),
            (r#"[{"type":"text","text":"x"},{"type":"text","text":"y"}]"#, "x\ny"),
            (r#"{"content":[{"type":"text","text":"x"}]}"#, "x"),
            (r#"{"file":{"content":"c"}}"#, "c"),
            (r#"{"other":1}"#, r#"{"other":1}"#),
            ("null", "null"),
        ] {
            let raw: &RawValue = serde_json::from_str(answer).unwrap();
            assert_eq!(text(raw), want, "{answer}");
        }
    }
}
