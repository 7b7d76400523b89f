//! Reads definitions as the library does: a flat list of parameters each.

use super::literal::{Literal, PythonFailure};
use serde_json::Value;

/// A function and its parameters.
pub(super) struct DeclaredFunction {
    pub(super) name: String,
    pub(super) parameters: Vec<Parameter>,
}

pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) type_word: String,
    pub(super) required: bool,
    /// Accepted values; empty if any value is accepted.
    pub(super) one_of: Vec<Literal>,
}

/// Reads the definitions of a record; any other input is rejected.
pub(super) fn declared(value: &Value) -> Result<Vec<DeclaredFunction>, PythonFailure> {
    let read = match value {
        Value::Null => Some(Vec::new()),
        Value::Array(items) => items.iter().map(definition).collect(),
        _ => None,
    };
    read.ok_or_else(|| {
        let what = "the input check turns function_definitions down: not a list of functions, \
                    each with a name and a list of parameters with name and type";
        PythonFailure::Invalid(what.to_owned())
    })
}

fn definition(value: &Value) -> Option<DeclaredFunction> {
    let name = value.get("name")?.as_str()?.to_owned();
    if !matches!(value.get("description"), None | Some(Value::Null | Value::String(_))) {
        return None;
    }
    let parameters = match value.get("parameters") {
        None => Vec::new(),
        Some(list) => list.as_array()?.iter().map(parameter).collect::<Option<_>>()?,
    };
    Some(DeclaredFunction { name, parameters })
}

fn parameter(value: &Value) -> Option<Parameter> {
    Some(Parameter {
        name: value.get("name")?.as_str()?.to_owned(),
        type_word: value.get("type")?.as_str()?.to_owned(),
        required: value.get("required").map_or(Some(true), flag)?,
        one_of: match value.get("enum") {
            None | Some(Value::Null) => Vec::new(),
            Some(choices) => choices.as_array()?.iter().map(Literal::from_json).collect(),
        },
    })
}

/// Parses a boolean as the library does.
fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => match number.as_f64()? {
            0.0 => Some(false),
            1.0 => Some(true),
            _ => None,
        },
        Value::String(word) => match word.to_ascii_lowercase().as_str() {
            "0" | "off" | "f" | "false" | "n" | "no" => Some(false),
            "1" | "on" | "t" | "true" | "y" | "yes" => Some(true),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_flat_lists() {
        let required = |spec: Value| {
            let list = json!([{"name": "f", "parameters": [spec]}]);
            declared(&list).map(|found| found[0].parameters[0].required).ok()
        };
        assert_eq!(required(json!({"name": "a", "type": "string"})), Some(true));
        assert_eq!(required(json!({"name": "a", "type": "string", "required": "no"})), Some(false));
        assert_eq!(required(json!({"name": "a", "type": "string", "required": null})), None);
        assert_eq!(required(json!({"name": "a"})), None);
        assert_eq!(required(json!({"name": "a", "type": ["string"]})), None);
        for value in [
            json!({}),
            json!([{"parameters": []}]),
            json!([{"name": "f", "parameters": {"type": "object"}}]),
            json!([{"type": "function", "function": {"name": "f"}}]),
        ] {
            assert!(matches!(declared(&value), Err(PythonFailure::Invalid(_))), "{value}");
        }
        assert!(declared(&json!(null)).is_ok_and(|found| found.is_empty()));
    }
}
