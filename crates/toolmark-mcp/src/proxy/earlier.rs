//! Calls that were forwarded and their results, for conditions on later calls.

use crate::message::{RequestId, member, members};
use serde_json::Value;
use std::collections::BTreeMap;
use toolmark_session::tool_rules::LiveCall;

/// Maximum number of calls to keep.
const MAX_CALLS: usize = 10_000;
/// Maximum length of a result to keep, in bytes.
const MAX_RESULT: usize = 1 << 20;
/// Maximum length of all results, in bytes. Beyond it, results of the oldest calls are dropped.
const MAX_BYTES: usize = 32 << 20;

/// Forwarded calls, the earliest first.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    calls: Vec<LiveCall>,
    open: BTreeMap<RequestId, usize>,
    bytes: usize,
    /// Number of calls without their result, from the start.
    dropped: usize,
}

impl Earlier {
    /// Returns the calls.
    pub(super) fn calls(&self) -> &[LiveCall] {
        &self.calls
    }

    /// Adds a call that is forwarded.
    pub(super) fn add(&mut self, key: &RequestId, tool: String, args: Value) {
        if self.calls.len() < MAX_CALLS {
            self.open.insert(key.clone(), self.calls.len());
            self.calls.push(LiveCall { tool, args, result: None, has_failed: false });
        }
    }

    /// Adds the result of a call, as JSON, or the error of the protocol.
    pub(super) fn answer(&mut self, key: &RequestId, body: &str, is_error: bool) {
        let Some(at) = self.open.remove(key) else { return };
        let Some(call) = self.calls.get_mut(at) else { return };
        let all = members(body).unwrap_or_default();
        let says_error = member(&all, "isError").is_some_and(|raw| raw.get() == "true");
        call.has_failed = is_error || says_error;
        call.result = text(body).filter(|text| text.len() <= MAX_RESULT);
        self.bytes += call.result.as_ref().map_or(0, String::len);
        while self.bytes > MAX_BYTES {
            let Some(call) = self.calls.get_mut(self.dropped) else { return };
            self.bytes -= call.result.take().map_or(0, |text| text.len());
            self.dropped += 1;
        }
    }
}

/// Returns the text of a result: its structured content as JSON, otherwise its texts.
fn text(body: &str) -> Option<String> {
    let all = members(body).ok()?;
    if let Some(structured) = member(&all, "structuredContent").filter(|raw| raw.get() != "null") {
        let value: Value = serde_json::from_str(structured.get()).ok()?;
        // Some servers wrap a plain result.
        let wrapped = value.as_object().filter(|map| map.len() == 1);
        let value = wrapped.and_then(|map| map.get("result")).cloned().unwrap_or(value);
        return Some(match value {
            Value::String(text) => text,
            value => value.to_string(),
        });
    }
    let content: Vec<Value> = serde_json::from_str(member(&all, "content")?.get()).ok()?;
    let texts: Vec<&str> = content.iter().filter_map(|part| part.get("text")?.as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn results_of_calls() {
        let key = |n: u32| RequestId::Text(n.to_string());
        let mut earlier = Earlier::default();
        for (n, body, is_error) in [
            (1, json!({"content": [{"type": "text", "text": "{\"open\":true}"}]}), false),
            (2, json!({"structuredContent": {"status": "pending"}, "content": []}), false),
            (3, json!({"structuredContent": {"result": "done"}}), false),
            (4, json!({"content": [{"type": "text", "text": "no"}], "isError": true}), false),
            (5, json!({"code": -32602, "message": "unknown"}), true),
        ] {
            earlier.add(&key(n), format!("mcp__s__t{n}"), json!({"n": n}));
            earlier.answer(&key(n), &body.to_string(), is_error);
        }
        earlier.add(&key(6), "mcp__s__t6".to_owned(), json!({}));
        let seen: Vec<_> =
            earlier.calls().iter().map(|call| (call.result.as_deref(), call.has_failed)).collect();
        assert_eq!(
            seen,
            [
                (Some("{\"open\":true}"), false),
                (Some("{\"status\":\"pending\"}"), false),
                (Some("done"), false),
                (Some("no"), true),
                (None, true),
                (None, false),
            ]
        );
    }
}
