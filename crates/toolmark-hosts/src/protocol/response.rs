//! The text in what a tool answered: hosts wrap it in objects and blocks of
//! many shapes.

use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use toolmark_base::text::head;

/// So much of what came back is looked at.
const SCANNED: usize = 1 << 20;

/// Where text stands in an answer, in the order it is shown.
const KEYS: &[&str] =
    &["stdout", "stderr", "output", "content", "text", "result", "llmContent", "error", "file"];

/// How deep text may stand.
const DEPTH: usize = 4;

/// The text of an answer, as it was written where there is none in it.
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
