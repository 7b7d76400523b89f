//! Conversations inside attributes and observations: the parts of OTel, and the messages of
//! OpenAI, Anthropic, Bedrock, Gemini and LangChain, which instrumentations pass through
//! unchanged.

use super::facts::{MessageAuthor, MessagePart, SpanMessage};
use super::smolagents;
use crate::model::{Payload, Text, ToolDefinition};
use toolmark_scan::Value;

/// Members that hold messages if the value itself is not a message, in chronological order.
const WRAPPERS: [&str; 10] = [
    "messages",
    "contents",
    "choices",
    "candidates",
    "generations",
    "generation",
    "message",
    "output",
    "input",
    "prompt",
];

/// Returns all messages in a value: a list, one message, a request or response that holds
/// them, or plain text, which then has the role `role`.
pub(crate) fn all(value: Value<'_>, role: MessageAuthor) -> Vec<SpanMessage> {
    let mut found = Vec::new();
    let mut todo = vec![value];
    while let Some(value) = todo.pop() {
        if value.is_array() {
            // Blocks without any role are the content of one message.
            if value.items().next().is_some_and(is_bare_block) {
                let mut message = SpanMessage { role, parts: Vec::new() };
                value.items().for_each(|block| content_block(&mut message, block));
                found.push(message);
                continue;
            }
            let items: Vec<_> = value.items().collect();
            todo.extend(items.into_iter().rev());
        } else if value.is_object() {
            match inner_object(value) {
                Some(inner) => todo.push(inner),
                None if is_message(value) => found.extend(one(value, role)),
                None if is_generation(value) => found.push(generation(value, role)),
                None => {
                    let wrapped = WRAPPERS.iter().find_map(|key| {
                        value.get(key).filter(|v| v.is_array() || v.is_object() || v.is_string())
                    });
                    match wrapped {
                        Some(inner) => todo.push(inner),
                        None => found.extend(loose(value, role)),
                    }
                }
            }
        } else if value.is_string() && value.inner() != Some("") {
            let mut message = SpanMessage { role, parts: Vec::new() };
            content(&mut message, value);
            found.push(message);
        }
    }
    found
}

/// Unwraps a message: LangChain wraps messages, and Gemini stores a content with a role in
/// each candidate.
fn inner_object(value: Value<'_>) -> Option<Value<'_>> {
    if value.get("lc").is_some() {
        return None;
    }
    let content = value.get("content").filter(|c| c.is_object() && c.get("parts").is_some());
    if content.is_some() {
        return content;
    }
    let data = value.get("data").filter(|d| d.is_object())?;
    value.get("type").filter(|t| t.is_string()).map(|_| data)
}

fn is_bare_block(block: Value<'_>) -> bool {
    let kind = block.get("type");
    let kind = kind.and_then(Value::inner).unwrap_or("");
    block.is_object()
        && block.get("role").is_none()
        && block.get("event.name").is_none()
        && (matches!(kind, "text" | "tool_use" | "tool_result" | "tool_call" | "thinking")
            || ["toolUse", "toolResult", "functionCall", "function_call", "functionResponse"]
                .iter()
                .any(|key| block.get(key).is_some_and(Value::is_object))
            || kind.is_empty() && block.get("text").is_some() && block.get("message").is_none())
}

fn is_message(value: Value<'_>) -> bool {
    value.get("role").is_some()
        || value.get("lc").is_some()
        || value.get("parts").is_some()
        || value.get("tool_calls").is_some()
        || value.get("event.name").is_some() && value.get("message").is_none()
        || value.get("type").and_then(Value::inner).is_some_and(|t| named_role(t).is_some())
        || value.get("type").and_then(Value::inner).is_some_and(|t| {
            matches!(t, "function_call" | "function_call_output" | "reasoning" | "message")
        })
}

/// Returns whether the value is a LangChain generation with the text beside its message.
fn is_generation(value: Value<'_>) -> bool {
    let message = value.get("message").filter(|m| m.is_object());
    value.get("text").is_some()
        && message.is_some_and(|m| m.get("content").is_none() && m.get("kwargs").is_none())
}

fn generation(value: Value<'_>, role: MessageAuthor) -> SpanMessage {
    let message = value.get("message").and_then(|m| one(m, role));
    let mut message = message.unwrap_or(SpanMessage { role, parts: Vec::new() });
    if let Some(text) = value.get("text").filter(|t| t.inner() != Some("")) {
        message.parts.insert(0, MessagePart::Text(payload(text)));
    }
    message
}

/// Reads a value that holds text under a different name.
fn loose(value: Value<'_>, role: MessageAuthor) -> Option<SpanMessage> {
    let mut message = SpanMessage { role, parts: Vec::new() };
    for key in ["content", "text"] {
        if let Some(inner) = value.get(key) {
            content(&mut message, inner);
            return Some(message);
        }
    }
    None
}

/// Returns the role with this name.
pub(crate) fn named_role(name: &str) -> Option<MessageAuthor> {
    Some(match name {
        "system" | "developer" | "gen_ai.system.message" | "SystemMessage" => MessageAuthor::System,
        "user" | "human" | "gen_ai.user.message" | "HumanMessage" => MessageAuthor::User,
        "assistant"
        | "ai"
        | "model"
        | "AIMessageChunk"
        | "AIMessage"
        | "tool-call"
        | "gen_ai.assistant.message"
        | "gen_ai.choice" => MessageAuthor::Assistant,
        "tool" | "function" | "tool-response" | "ToolMessage" | "gen_ai.tool.message" => {
            MessageAuthor::Tool
        }
        _ => return None,
    })
}

/// Reads one message object.
fn one(value: Value<'_>, default: MessageAuthor) -> Option<SpanMessage> {
    let (kwargs, class) = match value.get("kwargs") {
        Some(kwargs) if value.get("lc").is_some() => {
            (kwargs, value.get("id").and_then(|id| id.items().last()).and_then(Value::str))
        }
        _ => (value, None),
    };
    let kind = value.get_str("type").unwrap_or_default();
    match &*kind {
        "function_call" => {
            let mut message = SpanMessage { role: MessageAuthor::Assistant, parts: Vec::new() };
            call(&mut message, value);
            return Some(message);
        }
        "function_call_output" => {
            let response = MessagePart::Response {
                id: label(value, &["call_id"]),
                payload: value.get("output").map(payload),
                failed: None,
            };
            return Some(SpanMessage { role: MessageAuthor::Tool, parts: vec![response] });
        }
        "reasoning" if value.get("role").is_none() => {
            let text = value.get("summary").and_then(|s| s.items().next()?.get("text"));
            let part = MessagePart::Reasoning(text.map(payload));
            return Some(SpanMessage { role: MessageAuthor::Assistant, parts: vec![part] });
        }
        _ => {}
    }
    let role = kwargs
        .get_str("role")
        .and_then(|r| named_role(&r))
        .or_else(|| named_role(&class?))
        .or_else(|| named_role(&kind))
        .or_else(|| named_role(&kwargs.get_str("event.name")?))
        .unwrap_or(default);
    let text = kwargs.get("content").filter(|c| c.is_string()).map(payload);
    let in_text = kwargs.get_str("role").zip(text).and_then(|(r, t)| smolagents::parts(&r, &t));
    if let Some(parts) = in_text {
        return Some(SpanMessage { role, parts });
    }
    let mut message = SpanMessage { role, parts: Vec::new() };
    if let Some(text) = kwargs.get("reasoning_content").filter(|t| t.inner() != Some("")) {
        message.parts.push(MessagePart::Reasoning(Some(payload(text))));
    }
    if role == MessageAuthor::Tool && kwargs.get("parts").is_none() {
        tool_message(&mut message, kwargs);
        return Some(message);
    }
    for key in ["parts", "content", "refusal"] {
        if let Some(inner) = kwargs.get(key) {
            content(&mut message, inner);
        }
    }
    let calls = ["tool_calls", "invalid_tool_calls"]
        .iter()
        .find_map(|key| kwargs.get(key).filter(|calls| calls.items().next().is_some()));
    // LangChain repeats the provider's form of the same calls.
    let calls = calls.or_else(|| kwargs.at(&["additional_kwargs", "tool_calls"]));
    calls.into_iter().flat_map(Value::items).for_each(|c| call(&mut message, c));
    if let Some(legacy) = kwargs.get("function_call") {
        call(&mut message, legacy);
    }
    Some(message)
}

/// Reads a tool message: its content answers a call.
fn tool_message(message: &mut SpanMessage, value: Value<'_>) {
    let id = label(value, &["tool_call_id", "id"]);
    let content = value.get("content");
    // Some handlers list the tools on offer as messages of the tool.
    let is_definition =
        content.is_some_and(|c| c.get("function").is_some() && c.field_is("type", "function"));
    if let (true, Some(content)) = (is_definition, content) {
        message.parts.push(MessagePart::Other(payload(content)));
        return;
    }
    let blocks: Vec<_> = content.into_iter().flat_map(Value::items).collect();
    if id.is_none() && blocks.iter().any(|b| b.get("toolResult").is_some()) {
        blocks.into_iter().for_each(|b| content_block(message, b));
        return;
    }
    let failed = value.get_str("status").map(|status| status == "error");
    message.parts.push(MessagePart::Response { id, payload: content.map(payload), failed });
}

/// Reads content: text, a list of blocks, or an object around either.
fn content(message: &mut SpanMessage, value: Value<'_>) {
    let mut value = value;
    while value.is_object() {
        let inner = ["content", "message", "text"].iter().find_map(|key| value.get(key));
        let Some(inner) = inner else { break };
        value = inner;
    }
    if value.is_array() {
        value.items().for_each(|block| content_block(message, block));
    } else if let Some(raw) = value.inner() {
        if embedded_blocks(message, value) || raw.is_empty() {
            return;
        }
        message.parts.push(MessagePart::Text(payload(value)));
    } else if value.is_object() {
        message.parts.push(MessagePart::Other(payload(value)));
    }
}

/// Reads text that is itself a list of blocks, as Strands writes it.
fn embedded_blocks(message: &mut SpanMessage, value: Value<'_>) -> bool {
    let Some(text) = value.str().filter(|t| t.trim_start().starts_with("[{")) else { return false };
    let mut scanner = toolmark_scan::Scanner::new();
    let Ok(doc) = scanner.parse(&text) else { return false };
    if !doc.root().items().all(is_bare_block) {
        return false;
    }
    doc.root().items().for_each(|block| content_block(message, block));
    true
}

fn content_block(message: &mut SpanMessage, block: Value<'_>) {
    if block.is_string() {
        if block.inner() != Some("") {
            message.parts.push(MessagePart::Text(payload(block)));
        }
        return;
    }
    let kind = block.get("type");
    let kind = kind.and_then(Value::inner).unwrap_or("");
    match kind {
        "tool_use" | "server_tool_use" | "tool_call" | "server_tool_call" | "function_call" => {
            return call(message, block);
        }
        "tool_result" | "tool_call_response" | "server_tool_call_response" => {
            message.parts.push(response(block));
            return;
        }
        _ if is_reasoning(kind) => {
            let text = ["thinking", "content", "reasoning", "text"]
                .iter()
                .find_map(|key| block.get(key))
                .filter(|t| t.is_string() && t.inner() != Some(""));
            message.parts.push(MessagePart::Reasoning(text.map(payload)));
            return;
        }
        _ => {}
    }
    for key in ["toolUse", "functionCall", "function_call"] {
        if let Some(inner) = block.get(key).filter(|v| v.is_object()) {
            return call(message, inner);
        }
    }
    for key in ["toolResult", "functionResponse", "function_response"] {
        if let Some(inner) = block.get(key).filter(|v| v.is_object()) {
            message.parts.push(response(inner));
            return;
        }
    }
    let text = ["text", "content", "refusal"].iter().find_map(|key| block.get(key));
    message.parts.push(match text {
        Some(text) if block.is_true("thought") => MessagePart::Reasoning(Some(payload(text))),
        Some(text) if text.inner() == Some("") => return,
        Some(text) if text.is_string() => MessagePart::Text(payload(text)),
        _ => MessagePart::Other(payload(block)),
    });
}

fn is_reasoning(kind: &str) -> bool {
    matches!(kind, "thinking" | "reasoning" | "redacted_thinking")
        // The class names of Microsoft.Extensions.AI.
        || kind.ends_with("ReasoningContent")
}

/// Reads a call in any of its forms: with direct members or under `function`.
fn call(message: &mut SpanMessage, value: Value<'_>) {
    let function = value.get("function").filter(|f| f.is_object()).unwrap_or(value);
    let name = label(function, &["name"]).or_else(|| label(value, &["name", "toolName"]));
    let args = ["arguments", "args", "input", "parameters"]
        .iter()
        .find_map(|key| function.get(key).or_else(|| value.get(key)));
    message.parts.push(MessagePart::Call {
        id: label(value, &["call_id", "id", "toolUseId", "toolCallId"]),
        name: name.unwrap_or_else(|| Text::owned("")),
        args: args.map(payload),
    });
}

/// Returns the calls in a list.
pub(crate) fn calls(list: Value<'_>) -> Vec<MessagePart> {
    let mut message = SpanMessage { role: MessageAuthor::Assistant, parts: Vec::new() };
    list.items().for_each(|item| call(&mut message, item));
    message.parts
}

fn response(value: Value<'_>) -> MessagePart {
    let result = ["response", "result", "content", "output"].iter().find_map(|key| value.get(key));
    let failed = value.get("is_error").and_then(Value::as_bool);
    let failed = failed.or_else(|| Some(value.get_str("status")? == "error"));
    MessagePart::Response {
        id: label(value, &["id", "tool_use_id", "toolUseId", "tool_call_id", "call_id"]),
        payload: result.map(payload),
        failed,
    }
}

/// Reads tool definitions: OpenAI's, with or without `function` around them, Anthropic's, and
/// plain names.
pub(crate) fn definitions(value: Value<'_>) -> Vec<ToolDefinition> {
    value.items().filter_map(definition).collect()
}

/// Reads one tool definition.
pub(crate) fn definition(value: Value<'_>) -> Option<ToolDefinition> {
    if value.is_string() {
        return Some(ToolDefinition { name: text(value)?, description: None, schema: None });
    }
    let function = value.get("function").filter(|f| f.is_object()).unwrap_or(value);
    let schema = ["parameters", "input_schema", "inputSchema", "parameters_json_schema"]
        .iter()
        .find_map(|key| function.get(key));
    Some(ToolDefinition {
        name: label(function, &["name"])?,
        description: label(function, &["description"]),
        schema: schema.map(payload),
    })
}

/// Returns the first of these members that is a string, or a number as its digits.
pub(crate) fn label(value: Value<'_>, keys: &[&str]) -> Option<Text> {
    keys.iter().find_map(|key| text(value.get(key)?))
}

fn text(value: Value<'_>) -> Option<Text> {
    match value.str() {
        Some(text) if text.is_empty() => None,
        Some(text) => Some(Text::owned(text)),
        None if value.is_object() || value.is_array() || value.is_null() => None,
        None => Some(Text::owned(value.raw())),
    }
}

/// Converts a value of an embedded document to a payload that owns its text.
pub(crate) fn payload(value: Value<'_>) -> Payload {
    match value.str() {
        Some(text) => Payload::text(Text::owned(text)),
        None => Payload::json(Text::owned(value.raw())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;
    use toolmark_scan::Scanner;

    fn sketch(text: &str) -> String {
        let mut scanner = Scanner::new();
        let doc = scanner.parse(text).unwrap();
        let mut out = String::new();
        for message in all(doc.root(), MessageAuthor::User) {
            let _ = write!(out, "{:?}:", message.role);
            for part in message.parts {
                let _ = match part {
                    MessagePart::Text(text) => write!(out, " {}", text.raw()),
                    MessagePart::Reasoning(text) => {
                        write!(out, " ({})", text.map(|t| t.raw().into_owned()).unwrap_or_default())
                    }
                    MessagePart::Call { id, name, args } => {
                        let id = id.map(|i| i.to_string()).unwrap_or_default();
                        let args = args.map(|a| a.raw().into_owned()).unwrap_or_default();
                        write!(out, " {name}#{id}{args}")
                    }
                    MessagePart::Response { id, payload, failed } => {
                        let id = id.map(|i| i.to_string()).unwrap_or_default();
                        let payload = payload.map(|p| p.raw().into_owned()).unwrap_or_default();
                        write!(out, " #{id}={payload}/{failed:?}")
                    }
                    MessagePart::Other(other) => write!(out, " ?{}", other.raw()),
                };
            }
            out.push('\n');
        }
        out
    }

    #[test]
    fn forms() {
        for (json, want) in [
            // OTel parts
            (
                r#"[{"role":"assistant","parts":[{"type":"reasoning","content":"hm"},{"type":"text","content":"go"},{"type":"tool_call","id":"1","name":"f","arguments":{"a":1.0}}]},
                    {"role":"tool","parts":[{"type":"tool_call_response","id":"1","response":"ok"}]}]"#,
                "Assistant: (hm) go f#1{\"a\":1.0}\nTool: #1=ok/None\n",
            ),
            // OpenAI chat, request and response
            (
                r#"{"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"u"},{"type":"image_url"}]}]}"#,
                "System: s\nUser: u ?{\"type\":\"image_url\"}\n",
            ),
            (
                r#"{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}}]}"#,
                "Assistant: f#1{}\n",
            ),
            (r#"[{"role":"tool","tool_call_id":"1","content":"r"}]"#, "Tool: #1=r/None\n"),
            // Strands, whose blocks are text
            (
                r#"{"message":"[{\"text\":\"w\"},{\"toolUse\":{\"toolUseId\":\"1\",\"name\":\"f\",\"input\":{}}}]","finish_reason":"tool_use"}"#,
                "User: w f#1{}\n",
            ),
            // OpenAI Responses
            (
                r#"[{"role":"user","content":"u"},{"type":"function_call","call_id":"1","id":"x","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"r"}]"#,
                "User: u\nAssistant: f#1{}\nTool: #1=r/None\n",
            ),
            // Anthropic
            (
                r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"no","is_error":true}]}]"#,
                "User: #1=no/Some(true)\n",
            ),
            // Bedrock, as text inside text
            (
                r#"{"role":"assistant","content":"[{\"text\":\"go\"},{\"toolUse\":{\"toolUseId\":\"1\",\"name\":\"f\",\"input\":{}}}]"}"#,
                "Assistant: go f#1{}\n",
            ),
            // Gemini
            (
                r#"{"contents":[{"role":"user","parts":[{"text":"u"}]},{"role":"model","parts":[{"text":"hm","thought":true},{"function_call":{"id":"1","name":"f","args":{}}}]}]}"#,
                "User: u\nAssistant: (hm) f#1{}\n",
            ),
            // LangChain: plain, wrapped, serialised
            (
                r#"[[{"type":"human","content":"u"},{"type":"ai","data":{"type":"ai","content":"","tool_calls":[{"name":"f","args":{},"id":"1"}],"additional_kwargs":{"tool_calls":[{"id":"1"}]}}}]]"#,
                "User: u\nAssistant: f#1{}\n",
            ),
            (
                r#"{"generations":[[{"text":"x","message":{"lc":1,"type":"constructor","id":["a","AIMessage"],"kwargs":{"content":"hi"}}}]]}"#,
                "Assistant: hi\n",
            ),
            (
                r#"{"type":"tool","name":"f","content":"bad","tool_call_id":"1","status":"error"}"#,
                "Tool: #1=bad/Some(true)\n",
            ),
            // wrong types
            (r#"[3, null, {"role":7,"content":{"a":[]}}, {}, []]"#, "User: ?{\"a\":[]}\n"),
            (r#""only text""#, "User: only text\n"),
        ] {
            assert_eq!(sketch(json), want, "{json}");
        }
    }
}
