//! Reads function definitions in common formats: flat lists of
//! parameters, JSON Schemas, and the wrappers of model APIs. Each is converted to a
//! JSON Schema.

use super::checks::Checker;
use serde_json::{Map, Value, json};
use std::sync::OnceLock;
use toolmark_base::SortedMap;
use toolmark_outcome::Cause;

/// The reason why a definition cannot be used for validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unusable {
    pub(super) cause: Cause,
    pub(super) words: String,
}

impl Unusable {
    pub(super) fn new(words: impl Into<String>) -> Self {
        Self { cause: Cause::Configuration, words: words.into() }
    }
}

/// Available functions, by name; of two with the same name, the first.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    functions: SortedMap<String, Definition>,
}

/// One function.
#[derive(Debug)]
struct Definition {
    /// Schema of the arguments; `None` if not recorded.
    schema: Option<Value>,
    /// Compiled on first use.
    checker: OnceLock<Result<Checker, Unusable>>,
}

/// Keys that may contain the parameters.
const PARAMETERS: [&str; 4] = ["parameters", "input_schema", "inputSchema", "schema"];
/// Keys under which APIs nest one definition, and keys for lists of definitions.
const ONE: [&str; 2] = ["function", "toolSpec"];
const MANY: [&str; 2] = ["functionDeclarations", "function_declarations"];

impl Definitions {
    /// Reads definitions in any format.
    pub(super) fn read(value: &Value) -> Result<Self, Unusable> {
        let mut found = Self::default();
        match value {
            Value::String(text) => {
                let decoded = serde_json::from_str::<Value>(text)
                    .map_err(|_| Unusable::new("the definitions are text that is not JSON"))?;
                found.add_all(&decoded)?;
            }
            other => found.add_all(other)?,
        }
        Ok(found)
    }

    fn add_all(&mut self, value: &Value) -> Result<(), Unusable> {
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| self.add(item)),
            Value::Object(_) => self.add(value),
            _ => Err(Unusable::new("the definitions are not a list of functions")),
        }
    }

    fn add(&mut self, item: &Value) -> Result<(), Unusable> {
        if let Some(list) = MANY.iter().find_map(|key| item.get(*key)?.as_array()) {
            return list.iter().try_for_each(|item| self.add_one(item));
        }
        let inner = ONE.iter().find_map(|key| item.get(*key)).filter(|inner| inner.is_object());
        self.add_one(inner.unwrap_or(item))
    }

    fn add_one(&mut self, item: &Value) -> Result<(), Unusable> {
        let Some(name) = item.get("name").and_then(Value::as_str) else {
            return Err(Unusable::new("a definition has no name"));
        };
        let about =
            |what: ParameterError| Unusable::new(format!("the definition of {name}: {what}"));
        let schema = match PARAMETERS.iter().find_map(|key| item.get(*key)) {
            // Said to be there and not recorded.
            Some(Value::Null) => None,
            // A definition without parameters has none.
            None => Some(json!({"type": "object", "properties": {}})),
            Some(Value::Array(list)) => Some(flat(list).map_err(about)?),
            Some(written @ Value::Object(map)) => {
                // Bedrock wraps the schema once more.
                let written = map.get("json").filter(|_| map.len() == 1).unwrap_or(written);
                let mut schema = written.clone();
                if !looks_like_schema(&schema) {
                    return Err(about(ParameterError::NotASchema));
                }
                usual_types(&mut schema).map_err(about)?;
                Some(schema)
            }
            Some(_) => return Err(about(ParameterError::Type)),
        };
        let definition = Definition { schema, checker: OnceLock::new() };
        self.functions.entry(name.to_owned()).or_insert(definition);
        Ok(())
    }

    /// Whether there are no definitions.
    pub(super) fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Returns the checker of a function; `None` if the function is not defined.
    pub(super) fn checker(&self, name: &str) -> Option<Result<&Checker, Unusable>> {
        let definition = self.functions.get(name)?;
        let checker = definition.checker.get_or_init(|| match &definition.schema {
            Some(schema) => Checker::new(schema)
                .map_err(|what| Unusable::new(format!("the definition of {name}: {what}"))),
            None => Err(Unusable {
                cause: Cause::MissingEvidence,
                words: format!("the parameters of {name} are not recorded"),
            }),
        });
        Some(checker.as_ref().map_err(Clone::clone))
    }

    /// Returns an error if any definition cannot be used for validation.
    pub(super) fn check(&self) -> Result<(), Unusable> {
        let mut checkers = self.functions.keys().filter_map(|name| self.checker(name));
        checkers.find_map(Result::err).map_or(Ok(()), Err)
    }
}

/// Reason why the parameters of a definition are invalid.
#[derive(Debug, thiserror::Error)]
enum ParameterError {
    #[error("its parameters are neither a list nor a JSON Schema")]
    NotASchema,
    #[error("its parameters are neither a list nor a map")]
    Type,
    #[error("a parameter has no name")]
    Unnamed,
    #[error("unknown type \"{0}\"")]
    UnknownType(String),
}

/// Whether a map contains JSON Schema keywords; a map without any would allow everything.
fn looks_like_schema(schema: &Value) -> bool {
    const KNOWN: [&str; 13] = [
        "type",
        "properties",
        "required",
        "additionalProperties",
        "$ref",
        "allOf",
        "anyOf",
        "oneOf",
        "$schema",
        "$defs",
        "definitions",
        "description",
        "title",
    ];
    schema
        .as_object()
        .is_some_and(|map| map.is_empty() || KNOWN.iter().any(|key| map.contains_key(*key)))
}

/// Converts a flat list of parameters to a schema.
fn flat(list: &[Value]) -> Result<Value, ParameterError> {
    let mut properties = Map::new();
    for parameter in list {
        let Some(name) = parameter.get("name").and_then(Value::as_str) else {
            return Err(ParameterError::Unnamed);
        };
        let mut schema = parameter.as_object().cloned().unwrap_or_default();
        for key in ["name", "default", "description"] {
            schema.remove(key);
        }
        // A parameter of a flat list is required unless marked as optional.
        schema.entry("required").or_insert(Value::Bool(true));
        if schema
            .get("enum")
            .is_some_and(|list| list.is_null() || list.as_array().is_some_and(Vec::is_empty))
        {
            schema.remove("enum");
        }
        properties.insert(name.to_owned(), Value::Object(schema));
    }
    let mut schema =
        json!({"type": "object", "properties": properties, "additionalProperties": false});
    usual_types(&mut schema)?;
    Ok(schema)
}

/// Returns the JSON Schema name of a type; empty for any type.
fn type_name(word: &str) -> Result<&'static str, ParameterError> {
    Ok(match word.to_ascii_lowercase().as_str() {
        "string" | "str" | "text" => "string",
        "integer" | "int" | "int32" | "int64" | "long" => "integer",
        "number" | "float" | "double" | "decimal" => "number",
        "boolean" | "bool" => "boolean",
        "array" | "list" | "tuple" | "set" => "array",
        "object" | "dict" | "map" => "object",
        "null" | "none" | "nonetype" => "null",
        "any" => "",
        _ => return Err(ParameterError::UnknownType(word.to_owned())),
    })
}

/// Replaces common synonyms of types, and moves `required: true` to where JSON
/// Schema requires it. Values come from parsers that bound nesting, so the
/// recursion is bounded too.
fn usual_types(schema: &mut Value) -> Result<(), ParameterError> {
    let Some(map) = schema.as_object_mut() else { return Ok(()) };
    match map.get("type") {
        Some(Value::String(word)) => match type_name(word)? {
            "" => drop(map.remove("type")),
            name => drop(map.insert("type".into(), name.into())),
        },
        Some(Value::Array(words)) => {
            let mut names = Vec::new();
            for word in words {
                match type_name(word.as_str().unwrap_or_default())? {
                    "" => names.clear(),
                    name if !names.contains(&name) => names.push(name),
                    _ => {}
                }
            }
            match names.is_empty() {
                true => drop(map.remove("type")),
                false => drop(map.insert("type".into(), json!(names))),
            }
        }
        _ => {}
    }
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        let mut required = Vec::new();
        for (name, property) in properties.iter_mut() {
            if let Some(property) = property.as_object_mut()
                && let Some(Value::Bool(flag)) = property.get("required")
            {
                required.extend(flag.then(|| Value::from(name.as_str())));
                property.remove("required");
            }
        }
        if !required.is_empty() {
            let listed = map.entry("required").or_insert_with(|| json!([]));
            if let Some(listed) = listed.as_array_mut() {
                required.retain(|name| !listed.contains(name));
                listed.append(&mut required);
            }
        }
    }
    for key in ["properties", "patternProperties", "$defs", "definitions"] {
        if let Some(Value::Object(schemas)) = map.get_mut(key) {
            schemas.values_mut().try_for_each(usual_types)?;
        }
    }
    for key in ["items", "prefixItems", "allOf", "anyOf", "oneOf"] {
        match map.get_mut(key) {
            Some(Value::Array(schemas)) => schemas.iter_mut().try_for_each(usual_types)?,
            Some(schema) => usual_types(schema)?,
            None => {}
        }
    }
    for key in ["additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"] {
        if let Some(schema) = map.get_mut(key) {
            usual_types(schema)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_becomes_a_schema() {
        let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}});
        for value in [
            json!([{"name": "f", "parameters": schema}]),
            json!([{"name": "f", "input_schema": schema}]),
            json!([{"name": "f", "inputSchema": schema}]),
            json!([{"type": "function", "function": {"name": "f", "parameters": schema}}]),
            json!([{"toolSpec": {"name": "f", "inputSchema": {"json": schema}}}]),
            json!([{"functionDeclarations": [{"name": "f", "parameters": schema}]}]),
            json!({"name": "f", "parameters": {"type": "dict", "properties": {"q": {"type": "STR"}}}}),
            json!(json!([{"name": "f", "parameters": schema}]).to_string()),
        ] {
            let found = Definitions::read(&value).unwrap();
            assert_eq!(found.functions["f"].schema.as_ref(), Some(&schema), "{value}");
        }
    }

    #[test]
    fn flat_lists() {
        let list = json!([{"name": "f", "parameters": [
            {"name": "a", "type": "int"},
            {"name": "b", "type": ["str", "None"], "required": false, "enum": []},
            {"name": "c", "type": "any", "default": 1, "description": "x"},
        ]}]);
        let found = Definitions::read(&list).unwrap();
        let want = json!({
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": ["string", "null"]}, "c": {}},
            "additionalProperties": false,
            "required": ["a", "c"],
        });
        assert_eq!(found.functions["f"].schema.as_ref(), Some(&want));
    }

    #[test]
    fn what_is_no_definition_is_said() {
        for (value, words) in [
            (json!(3), "not a list"),
            (json!("x"), "not JSON"),
            (json!([{"parameters": []}]), "no name"),
            (json!([{"name": "f", "parameters": "x"}]), "neither a list nor a map"),
            (json!([{"name": "f", "parameters": {"q": {"type": "string"}}}]), "JSON Schema"),
            (json!([{"name": "f", "parameters": [{"type": "string"}]}]), "no name"),
            (
                json!([{"name": "f", "parameters": [{"name": "a", "type": "path"}]}]),
                "unknown type \"path\"",
            ),
        ] {
            let said = Definitions::read(&value).unwrap_err().words;
            assert!(said.contains(words), "{value}: {said}");
        }
    }
}
