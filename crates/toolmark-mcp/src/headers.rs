//! The headers of a message sent over HTTP, which depend on the version of the
//! protocol: newer versions repeat the method, the name and marked arguments, so that
//! intermediaries can route without reading the body.

use crate::message::{McpMessage, RequestId, member, members};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// The metadata key of the protocol version.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// The first version with these headers, and without sessions.
const MODERN_VERSION: &str = "2026-07-28";

/// Properties of a message that the transport needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Outline {
    /// Request ID, as JSON.
    pub(crate) id: Option<String>,
    /// Method, unless the message is an answer.
    pub(crate) method: Option<String>,
    /// Protocol version in the metadata of the message.
    pub(crate) version: Option<String>,
    /// Tool, prompt, resource or task named by the message.
    pub(crate) name: Option<String>,
    /// ID of the request that the message cancels, if any.
    pub(crate) cancels: Option<RequestId>,
    /// Arguments of a call.
    args: Value,
}

impl Outline {
    pub(crate) fn of(line: &str) -> Self {
        let (id, method, params) = match McpMessage::read(line) {
            Ok(McpMessage::Request { id, method, params, .. }) => (Some(id.get()), method, params),
            Ok(McpMessage::Notification { method, params }) => (None, method, params),
            _ => return Self::default(),
        };
        let all = params.and_then(|params| members(params.get()).ok()).unwrap_or_default();
        let text =
            |key: &str| -> Option<String> { serde_json::from_str(member(&all, key)?.get()).ok() };
        let name = match method.as_str() {
            "tools/call" | "prompts/get" => text("name"),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => text("uri"),
            "tasks/get" | "tasks/update" | "tasks/cancel" => text("taskId"),
            _ => None,
        };
        let meta = member(&all, "_meta").and_then(|raw| members(raw.get()).ok());
        let version =
            meta.and_then(|meta| serde_json::from_str(member(&meta, VERSION_KEY)?.get()).ok());
        let args = member(&all, "arguments").and_then(|raw| serde_json::from_str(raw.get()).ok());
        let cancels = (method == "notifications/cancelled")
            .then(|| member(&all, "requestId").and_then(RequestId::read))
            .flatten();
        Self {
            id: id.map(str::to_owned),
            version,
            name,
            cancels,
            args: args.filter(|_| method == "tools/call").unwrap_or_default(),
            method: Some(method),
        }
    }

    /// Whether the protocol version of the message has no sessions.
    pub(crate) fn is_modern(&self) -> bool {
        self.version.as_deref().is_some_and(|version| version >= MODERN_VERSION)
    }

    /// Returns the headers of the message, given the version of the session and the schema of the
    /// tool.
    pub(crate) fn headers(
        &self,
        session_version: Option<&str>,
        schema: Option<&Value>,
    ) -> Vec<(String, String)> {
        let mut headers = Vec::new();
        let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
        if let Some(version) = self.version.as_deref().or(session_version) {
            add("mcp-protocol-version", version);
        }
        if !self.is_modern() {
            return headers;
        }
        if let Some(method) = &self.method {
            add("mcp-method", method);
        }
        if let Some(name) = &self.name {
            add("mcp-name", &encode(name));
        }
        for (header, value) in
            schema.map(|schema| marked_arguments(schema, &self.args)).unwrap_or_default()
        {
            add(&format!("mcp-param-{}", header.to_ascii_lowercase()), &encode(&value));
        }
        headers
    }
}

/// Returns the arguments that a schema marks for headers, with the header names.
fn marked_arguments(schema: &Value, args: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = vec![(schema, args)];
    while let Some((schema, args)) = rest.pop() {
        let Some(Value::Object(properties)) = schema.get("properties") else { continue };
        for (name, property) in properties {
            let Some(value) = args.get(name) else { continue };
            let text = match value {
                Value::String(text) => Some(text.clone()),
                Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
                _ => None,
            };
            if let (Some(Value::String(header)), Some(text)) = (property.get("x-mcp-header"), text)
            {
                found.push((header.clone(), text));
            }
            rest.push((property, value));
        }
    }
    found
}

/// Encodes a value so that it is valid in a header.
fn encode(value: &str) -> String {
    let edge = |c: Option<char>| matches!(c, Some(' ' | '\t'));
    let unfit = !value.chars().all(|c| matches!(c, ' '..='~'))
        || edge(value.chars().next())
        || edge(value.chars().next_back())
        || (value.starts_with("=?base64?") && value.ends_with("?="));
    match unfit {
        true => format!("=?base64?{}?=", STANDARD.encode(value)),
        false => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn headers_follow_the_version() {
        let schema = json!({"properties": {"r": {"type": "string", "x-mcp-header": "Region"},
            "in": {"properties": {"n": {"x-mcp-header": "N"}}}, "p": {}}});
        let meta = json!({VERSION_KEY: MODERN_VERSION});
        for (line, want) in [
            (
                json!({"id": 1, "method": "tools/call", "params": {"name": "t"}}),
                vec!["mcp-protocol-version: 2025-06-18"],
            ),
            (json!({"method": "n"}), vec!["mcp-protocol-version: 2025-06-18"]),
            (
                json!({"id": 1, "method": "tools/call", "params": {"name": "t é", "_meta": meta,
                "arguments": {"r": "eu", "in": {"n": 5}, "p": "x"}}}),
                vec![
                    "mcp-protocol-version: 2026-07-28",
                    "mcp-method: tools/call",
                    "mcp-name: =?base64?dCDDqQ==?=",
                    "mcp-param-region: eu",
                    "mcp-param-n: 5",
                ],
            ),
            (
                json!({"id": 1, "method": "resources/read", "params": {"uri": "a:b", "_meta": meta}}),
                vec![
                    "mcp-protocol-version: 2026-07-28",
                    "mcp-method: resources/read",
                    "mcp-name: a:b",
                ],
            ),
        ] {
            let outline = Outline::of(&line.to_string());
            let headers = outline.headers(Some("2025-06-18"), Some(&schema));
            let got: Vec<String> = headers.iter().map(|(k, v)| format!("{k}: {v}")).collect();
            assert_eq!(got, want, "{line}");
        }
    }

    #[test]
    fn an_outline_knows_requests_from_the_rest() {
        let id = |line: &str| Outline::of(line).id;
        assert_eq!(id(r#"{"id":"a","method":"m"}"#).as_deref(), Some("\"a\""));
        assert_eq!(id(r#"{"method":"m"}"#), None);
        assert_eq!(id(r#"{"id":1,"result":{}}"#), None);
        assert_eq!(id("[]"), None);
        let cancel = r#"{"method":"notifications/cancelled","params":{"requestId":3}}"#;
        assert_eq!(Outline::of(cancel).cancels, Some(RequestId::Number("3".to_owned())));
    }
}
