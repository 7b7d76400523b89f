//! Messages written by the proxy, in the types of `rmcp`.

use super::{Proxy, ProxyStep};
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, ErrorData};
use serde::Serialize;

impl Proxy {
    /// Answers a request with a protocol error; `id` is JSON.
    pub(super) fn fail(&mut self, id: &str, code: ErrorCode, words: &str) {
        let error = ErrorData::new(code, format!("toolmark: {words}"), None);
        self.steps.push(ProxyStep::Client(message(id, "error", &error)));
    }

    /// Answers a call with a result that describes the error: hosts show results to the model, but
    /// not protocol errors.
    pub(super) fn fail_call(&mut self, id: &str, words: &str, modern: bool) {
        let mut result = CallToolResult::error(vec![ContentBlock::text(words)]);
        if !modern {
            result.result_type = None;
        }
        self.answer(id, &result);
    }

    /// Answers a request.
    pub(super) fn answer(&mut self, id: &str, result: &impl Serialize) {
        self.steps.push(ProxyStep::Client(message(id, "result", result)));
    }
}

/// Writes an answer; `id` is JSON.
fn message(id: &str, key: &str, body: &impl Serialize) -> String {
    let body = serde_json::to_string(body).unwrap_or_else(|_| "null".to_owned());
    format!(r#"{{"jsonrpc":"2.0","id":{id},"{key}":{body}}}"#)
}

/// Writes a request or a notification; `params` is JSON.
pub(super) fn request(id: Option<&str>, method: &str, params: &str) -> String {
    let id = id.map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
    format!(r#"{{"jsonrpc":"2.0",{id}"method":"{method}","params":{params}}}"#)
}
