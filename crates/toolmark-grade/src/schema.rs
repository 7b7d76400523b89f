//! JSON Schemas of spec files, composed from the configurations of graders.
//!
//! Editors and other tools validate spec files with them. Grader types are
//! in one list, and each has a condition: if the type is this, the entry
//! has that shape. Editors offer completions from a list; of alternatives they choose one.

use crate::GraderInfo;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// A part of a spec file that another crate reads and describes.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// Top-level key.
    pub key: &'static str,
    /// Returns its schema.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
}

/// Position of a grader's configuration within an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Under a key of its own.
    Under(&'static str),
    /// Beside the common keys of an entry.
    Beside,
}

/// Creates a schema generator for a dialect.
#[must_use]
pub fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().into_generator()
}

/// Shape of an entry for certain types.
pub struct EntryShape {
    /// The types.
    pub words: Vec<String>,
    /// One-line summary.
    pub summary: String,
    /// Schema of the whole entry.
    pub schema: Value,
}

/// Returns the schema of an entry whose shape depends on `type`. `common` are the keys
/// that every entry may have: an editor offers them before a type is set.
#[must_use]
pub fn by_type(shapes: Vec<EntryShape>, common: &Map<String, Value>) -> Value {
    let (mut words, mut summaries, mut conditions) = (Vec::new(), Vec::new(), Vec::new());
    for shape in shapes {
        summaries.extend(shape.words.iter().map(|_| json!(shape.summary)));
        let is_this = json!({"properties": {"type": {"enum": shape.words}}, "required": ["type"]});
        conditions.push(json!({ "if": is_this, "then": shape.schema }));
        words.extend(shape.words.into_iter().map(Value::String));
    }
    let types = json!({ "type": "string", "enum": words, "enumDescriptions": summaries });
    let mut properties = Map::from_iter([("type".to_owned(), types)]);
    properties.extend(common.clone());
    json!({
        "type": "object",
        "required": ["type"],
        "properties": properties,
        // The shape of its type says what else an entry may have.
        "additionalProperties": true,
        "allOf": conditions,
    })
}

/// Returns the schema of a grader entry, by grader type. `common` are the additional keys
/// that every entry may have.
pub fn grader_entry<'a>(
    generator: &mut SchemaGenerator,
    graders: impl IntoIterator<Item = &'a &'static GraderInfo>,
    placement: Placement,
    common: &Map<String, Value>,
) -> Value {
    let shapes = graders.into_iter().map(|info| EntryShape {
        words: words_of(info),
        summary: info.summary.to_owned(),
        schema: shape(generator, info, placement, common),
    });
    by_type(shapes.collect(), common)
}

/// Returns the type and aliases of a grader.
fn words_of(info: &GraderInfo) -> Vec<String> {
    std::iter::once(info.id).chain(info.aliases.iter().copied()).map(str::to_owned).collect()
}

/// Returns the shape of the entries of one grader.
fn shape(
    generator: &mut SchemaGenerator,
    info: &GraderInfo,
    placement: Placement,
    common: &Map<String, Value>,
) -> Value {
    let config = (info.schema)(generator);
    let mut required = vec![json!("type")];
    let mut properties = Map::from_iter([("type".to_owned(), json!(true))]);
    let mut shape = json!({ "title": info.id, "description": info.summary, "type": "object" });
    match placement {
        Placement::Under(key) => {
            if needs_something(generator, &config) {
                required.push(json!(key));
            }
            properties.extend(common.clone());
            properties.insert(key.to_owned(), config.to_value());
        }
        Placement::Beside => match own_keys(generator, &config) {
            Some((own, needed)) => {
                properties.extend(common.clone());
                properties.extend(own);
                required.extend(needed);
            }
            None => {
                properties.extend(common.clone());
                shape["allOf"] = json!([config.to_value()]);
                shape["unevaluatedProperties"] = json!(false);
            }
        },
    }
    shape["properties"] = Value::Object(properties);
    shape["required"] = Value::Array(required);
    shape
}

/// Resolves a schema that is a reference to a definition.
fn resolved(generator: &SchemaGenerator, schema: &Schema) -> Option<Map<String, Value>> {
    let schema = schema.as_object()?;
    match schema.get("$ref").and_then(Value::as_str).and_then(|at| at.rsplit('/').next()) {
        None => Some(schema.clone()),
        Some(name) => generator.definitions().get(name)?.as_object().cloned(),
    }
}

/// Whether the configuration has required keys.
fn needs_something(generator: &SchemaGenerator, schema: &Schema) -> bool {
    let required = resolved(generator, schema).and_then(|schema| schema.get("required").cloned());
    required.is_some_and(|keys| keys.as_array().is_some_and(|keys| !keys.is_empty()))
}

/// Returns the keys of a configuration that is a plain object, and its required keys.
fn own_keys(
    generator: &SchemaGenerator,
    schema: &Schema,
) -> Option<(Map<String, Value>, Vec<Value>)> {
    let mut schema = resolved(generator, schema)?;
    if schema.get("type")? != "object" || schema.contains_key("oneOf") {
        return None;
    }
    let properties = match schema.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    let required = match schema.remove("required") {
        Some(Value::Array(required)) => required,
        _ => Vec::new(),
    };
    Some((properties, required))
}

/// Returns the schema of a file: `root` with the definitions it references. Objects
/// with listed keys accept no other keys, unless they allow them explicitly.
#[must_use]
pub fn finish(mut generator: SchemaGenerator, title: &str, root: Value) -> Value {
    let mut schema = Map::from_iter([
        ("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema")),
        ("title".to_owned(), json!(title)),
    ]);
    if let Value::Object(root) = root {
        schema.extend(root);
    }
    let definitions = generator.take_definitions(true);
    if !definitions.is_empty() {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    let mut schema = Value::Object(schema);
    close(&mut schema);
    schema
}

/// Makes objects reject unlisted keys. Recursion is safe because these schemas are generated, and
/// shallow.
fn close(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Object(fields) => {
            let listed = fields.get("properties").is_some_and(Value::is_object)
                && fields.get("type").is_some_and(|kind| kind == "object");
            let says = ["additionalProperties", "unevaluatedProperties"];
            if listed && !says.iter().any(|key| fields.contains_key(*key)) {
                fields.insert("additionalProperties".to_owned(), json!(false));
            }
            fields.values_mut().for_each(close);
        }
        _ => {}
    }
}
