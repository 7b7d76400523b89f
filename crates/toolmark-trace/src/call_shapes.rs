//! Calls in hand-written form: objects of any API, lists, JSON in text, and Python.
//!
//! Rows of datasets and expectations contain such values. Anything else is an error, never
//! an empty call.

use crate::formats::shared::python;
use serde_json::{Map, Value};

/// A hand-written call.
#[derive(Debug, Clone, PartialEq)]
pub struct LooseCall {
    /// Tool name.
    pub name: String,
    /// Arguments; a string if they are not JSON.
    pub args: Option<Value>,
}

/// Reason why a value contains no calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotCalls {
    /// The value is prose: no call was made.
    Words,
    /// The value has another shape.
    Shape(String),
}

const NAMES: [&str; 6] = ["name", "function", "tool", "tool_name", "toolName", "function_name"];
const ARGS: [&str; 6] = ["arguments", "parameters", "input", "args", "tool_input", "kwargs"];
/// Keys under which APIs nest a single call.
const ONE: [&str; 4] = ["function", "function_call", "functionCall", "tool_call"];
const MANY: [&str; 4] = ["tool_calls", "toolCalls", "function_calls", "calls"];
/// Maximum nesting of JSON in text that is decoded.
const MAX_TEXT_DEPTH: u8 = 3;

/// Returns the calls in a value, in order; empty for null, an empty list or an empty text.
pub fn calls_in(value: &Value) -> Result<Vec<LooseCall>, NotCalls> {
    collect(value, MAX_TEXT_DEPTH)
}

// Values come from a parser that bounds nesting, so the recursion is bounded too.
fn collect(value: &Value, texts: u8) -> Result<Vec<LooseCall>, NotCalls> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => {
            let mut calls = Vec::new();
            for item in items {
                match collect(item, texts) {
                    Ok(found) => calls.extend(found),
                    // Words beside calls are what the model said meanwhile.
                    Err(NotCalls::Words) if items.len() > 1 => {}
                    Err(other) => return Err(other),
                }
            }
            Ok(calls)
        }
        Value::Object(map) => object(map, texts),
        Value::String(text) => text_calls(text, texts),
        other => Err(NotCalls::Shape(format!("{other} is not a call"))),
    }
}

fn object(map: &Map<String, Value>, texts: u8) -> Result<Vec<LooseCall>, NotCalls> {
    if let Some(list) = MANY.iter().find_map(|key| map.get(*key)).filter(|v| v.is_array()) {
        return collect(list, texts);
    }
    if let Some(inner) = ONE.iter().find_map(|key| map.get(*key)).filter(|v| v.is_object()) {
        return collect(inner, texts);
    }
    if let Some(name) = NAMES.iter().find_map(|key| map.get(*key)?.as_str()) {
        let args = ARGS.iter().find_map(|key| map.get(*key)).map(decoded);
        return Ok(vec![LooseCall { name: name.to_owned(), args }]);
    }
    // A message: what it says, and the blocks of calls in it.
    match (map.get("content"), map.get("text")) {
        (Some(content @ Value::Array(_)), _) => return collect(content, texts),
        (Some(Value::String(_)), _) | (_, Some(Value::String(_))) => return Err(NotCalls::Words),
        _ => {}
    }
    // BFCL writes the name as the key.
    let mut entries = map.iter();
    match (entries.next(), entries.next()) {
        (Some((name, args @ Value::Object(_))), None) => {
            Ok(vec![LooseCall { name: name.clone(), args: Some(args.clone()) }])
        }
        _ => {
            let keys: Vec<&str> = map.keys().map(String::as_str).take(5).collect();
            Err(NotCalls::Shape(format!("an object with {} is not a call", list(&keys))))
        }
    }
}

fn list(keys: &[&str]) -> String {
    if keys.is_empty() { "no keys".to_owned() } else { format!("the keys {}", keys.join(", ")) }
}

/// Decodes arguments that are JSON in text.
fn decoded(args: &Value) -> Value {
    let Value::String(text) = args else { return args.clone() };
    match serde_json::from_str::<Value>(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_) | Value::Null)) => value,
        _ => args.clone(),
    }
}

fn text_calls(text: &str, texts: u8) -> Result<Vec<LooseCall>, NotCalls> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let Some(texts) = texts.checked_sub(1) else { return Err(NotCalls::Words) };
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return match value {
            Value::Object(_) | Value::Array(_) | Value::String(_) => collect(&value, texts),
            Value::Null => Ok(Vec::new()),
            _ => Err(NotCalls::Words),
        };
    }
    if text.contains("<tool_call>") {
        let mut calls = Vec::new();
        for part in text.split("<tool_call>").skip(1) {
            let body = part.split_once("</tool_call>").map_or(part, |(body, _)| body);
            calls.extend(text_calls(body, texts)?);
        }
        return Ok(calls);
    }
    let Some(calls) = python::calls(text) else { return Err(NotCalls::Words) };
    Ok(calls.iter().map(python_call).collect())
}

fn python_call(call: &python::PythonCall<'_>) -> LooseCall {
    let json = python::keywords_to_json(call.args);
    let args = json.and_then(|json| serde_json::from_str(&json).ok());
    LooseCall {
        name: call.name.to_owned(),
        args: Some(args.unwrap_or_else(|| Value::from(call.args))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_shape() {
        let f = |args: Value| vec![("f".to_owned(), args)];
        let x1 = || json!({"x": 1});
        for (value, want) in [
            (json!({"name": "f", "arguments": {"x": 1}}), f(x1())),
            (json!({"name": "f", "input": {"x": 1}}), f(x1())),
            (json!({"name": "f", "parameters": {"x": 1}}), f(x1())),
            (json!({"name": "f", "arguments": "{\"x\": 1}"}), f(x1())),
            (json!({"function": "f", "arguments": {"x": 1}}), f(x1())),
            (json!({"function_name": "f", "args": {"x": 1}}), f(x1())),
            (json!({"tool": "f", "input": {"x": 1}}), f(x1())),
            (
                json!({"type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}}),
                f(x1()),
            ),
            (json!({"functionCall": {"name": "f", "args": {"x": 1}}}), f(x1())),
            (
                json!({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{\"x\":1}"}}]}),
                f(x1()),
            ),
            (
                json!({"content": [{"type": "text", "text": "hm"}, {"type": "tool_use", "name": "f", "input": {"x": 1}}]}),
                f(x1()),
            ),
            (json!({"f": {"x": 1}}), f(x1())),
            (json!("f(x=1)"), f(x1())),
            (json!("f(x=-1)"), f(json!({"x": -1}))),
            (json!("[f(x=1)]"), f(x1())),
            (json!("{\"name\": \"f\", \"arguments\": {\"x\": 1}}"), f(x1())),
            (json!("[{\"name\": \"f\", \"input\": {\"x\": 1}}]"), f(x1())),
            (json!("<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": 1}}</tool_call>"), f(x1())),
            (json!(null), vec![]),
            (json!([]), vec![]),
            (json!(" "), vec![]),
            (json!("[]"), vec![]),
        ] {
            let calls = calls_in(&value).unwrap();
            let got: Vec<(String, Value)> =
                calls.into_iter().map(|c| (c.name, c.args.unwrap_or_default())).collect();
            assert_eq!(got, want, "{value}");
        }
    }

    #[test]
    fn what_is_no_call_is_said() {
        assert_eq!(calls_in(&json!("I would search")), Err(NotCalls::Words));
        assert_eq!(calls_in(&json!({"content": "hello"})), Err(NotCalls::Words));
        for value in [json!(3), json!({"a": 1, "b": 2}), json!({}), json!([{"a": 1}])] {
            assert!(matches!(calls_in(&value), Err(NotCalls::Shape(_))), "{value}");
        }
    }
}
