//! Converts the contents of a record to the calls that the library sees in it.
//!
//! First comes its typed input: an object with a text `name` and an object (or
//! nothing) as `arguments` is a call, whatever else it contains, and a list must
//! contain only such objects. All other objects and texts
//! are passed to its parser.

use super::expression;
use super::literal::{Literal, PythonFailure};
use serde_json::{Map, Value};
use toolmark_base::SortedMap;

/// A call as the library sees it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NormalizedCall {
    pub(super) name: String,
    pub(super) arguments: SortedMap<String, Literal>,
}

/// A record's `response` or `expected_response` after the typed input.
pub(super) enum Typed<'a> {
    Call(NormalizedCall),
    List(Vec<NormalizedCall>),
    Object(&'a Map<String, Value>),
    Text(&'a str),
    Nothing,
}

fn arguments(map: &Map<String, Value>) -> SortedMap<String, Literal> {
    map.iter().map(|(key, value)| (key.clone(), Literal::from_json(value))).collect()
}

/// Returns the call if an object is one without parsing.
fn typed_call(map: &Map<String, Value>) -> Option<NormalizedCall> {
    let name = map.get("name")?.as_str()?.to_owned();
    let arguments = match map.get("arguments") {
        None => SortedMap::new(),
        Some(Value::Object(args)) => arguments(args),
        Some(_) => return None,
    };
    Some(NormalizedCall { name, arguments })
}

/// Applies the typed input to a value.
pub(super) fn typed<'a>(value: &'a Value, field: &str) -> Result<Typed<'a>, PythonFailure> {
    let invalid = |what: &str| {
        Err(PythonFailure::Invalid(format!("the input check turns {field} down: {what}")))
    };
    match value {
        Value::Null => Ok(Typed::Nothing),
        Value::Object(map) => Ok(typed_call(map).map_or(Typed::Object(map), Typed::Call)),
        Value::String(text) => Ok(Typed::Text(text)),
        Value::Array(items) => {
            let calls: Option<Vec<NormalizedCall>> =
                items.iter().map(|item| item.as_object().and_then(typed_call)).collect();
            match calls {
                Some(calls) => Ok(Typed::List(calls)),
                None => invalid("an item of the list is no object with a name and arguments"),
            }
        }
        Value::Bool(_) | Value::Number(_) => invalid("it is no call, list, object or text"),
    }
}

impl Typed<'_> {
    /// Returns the single call; a list is not a single call, whatever its length.
    pub(super) fn single(&self) -> Result<Option<NormalizedCall>, PythonFailure> {
        match self {
            Self::Call(call) => Ok(Some(call.clone())),
            Self::Object(map) => parsed_object(map).map(Some),
            Self::Text(text) => parsed_text(text),
            Self::List(_) | Self::Nothing => Ok(None),
        }
    }

    /// Returns all calls.
    pub(super) fn all(&self) -> Result<Vec<NormalizedCall>, PythonFailure> {
        match self {
            Self::List(calls) => Ok(calls.clone()),
            _ => Ok(self.single()?.into_iter().collect()),
        }
    }
}

/// Parses an object; the result is always a call or an error.
fn parsed_object(map: &Map<String, Value>) -> Result<NormalizedCall, PythonFailure> {
    let given = ["arguments", "parameters", "input"].iter().find_map(|key| map.get(*key));
    let decoded = match given {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        Some(other) => other.clone(),
        None => Value::Null,
    };
    let arguments = decoded.as_object().map(arguments).unwrap_or_default();
    let name = match map.get("name").or_else(|| map.get("function")) {
        None => String::new(),
        Some(Value::String(name)) => name.clone(),
        Some(_) => {
            let key = if map.contains_key("name") { "name" } else { "function" };
            return Err(PythonFailure::Raised(format!("the {key} of a call is no text")));
        }
    };
    Ok(NormalizedCall { name, arguments })
}

/// Parses a text.
fn parsed_text(text: &str) -> Result<Option<NormalizedCall>, PythonFailure> {
    let mut text = text.to_owned();
    // Every round is shorter than the one before.
    loop {
        match serde_json::from_str::<Value>(&text) {
            Ok(Value::Object(map)) => return parsed_object(&map).map(Some),
            Ok(Value::String(inner)) => text = inner,
            Ok(_) => return Ok(None),
            Err(_) => {
                let found = expression::call(&text)?;
                return Ok(found.map(|e| NormalizedCall { name: e.name, arguments: e.arguments }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the name and the arguments of the single call in a value.
    fn one(value: &Value) -> Result<Option<(String, usize)>, PythonFailure> {
        let call = typed(value, "response")?.single()?;
        Ok(call.map(|call| (call.name, call.arguments.len())))
    }

    #[test]
    fn shapes() {
        for (value, name, arguments) in [
            (json!({"name": "f", "arguments": {"x": 1}}), "f", 1),
            (json!({"name": "f", "arguments": "{\"x\": 1}"}), "f", 1),
            (json!({"name": "f", "arguments": "no"}), "f", 0),
            (json!({"name": "f", "arguments": null, "input": {"x": 1}}), "f", 0),
            // The typed input drops what it does not know.
            (json!({"name": "f", "input": {"x": 1}}), "f", 0),
            (json!({"function": "f", "input": {"x": 1}}), "f", 1),
            (json!({"function_name": "f"}), "", 0),
            (json!({}), "", 0),
            (json!("{\"name\": \"f\", \"input\": {\"x\": 1}}"), "f", 1),
            (json!("\"f(x=1, y=2)\""), "f", 2),
            (json!(" f(x=1) "), "f", 1),
        ] {
            assert_eq!(one(&value), Ok(Some((name.to_owned(), arguments))), "{value}");
        }
        for value in [json!(null), json!(""), json!("hello"), json!("[]"), json!("3"), json!([])] {
            assert_eq!(one(&value), Ok(None), "{value}");
        }
    }

    #[test]
    fn what_fails() {
        for value in [json!(3), json!([{"name": "f"}, "g()"]), json!([{"function": "f"}])] {
            assert!(matches!(one(&value), Err(PythonFailure::Invalid(_))), "{value}");
        }
        for value in [
            json!({"function": {"name": "f", "arguments": {}}}),
            json!({"name": null}),
            json!("{\"name\": 3}"),
        ] {
            assert!(matches!(one(&value), Err(PythonFailure::Raised(_))), "{value}");
        }
    }
}
