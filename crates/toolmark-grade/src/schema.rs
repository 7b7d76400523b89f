//! JSON Schemas of spec files, put together from the configurations of graders.
//!
//! Editors and other tools check spec files with them. A grader's entry is one
//! of as many shapes as there are graders, told apart by its type.

use crate::GraderInfo;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

/// A part of a spec file that another crate reads, and describes.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// Its key at the top of the file.
    pub key: &'static str,
    /// Its schema.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
}

/// Where an entry of a dialect has the configuration of its grader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Under a key of its own.
    Under(&'static str),
    /// Beside the keys every entry has.
    Beside,
}

/// A generator for the schema of a dialect.
#[must_use]
pub fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().into_generator()
}

/// The schema of a grader's entry: one shape for each of these graders, told
/// apart by `type`. `common` are the keys that every entry may have besides.
pub fn grader_entry<'a>(
    generator: &mut SchemaGenerator,
    graders: impl IntoIterator<Item = &'a &'static GraderInfo>,
    placement: Placement,
    common: &Map<String, Value>,
) -> Value {
    let shapes = graders.into_iter().map(|info| shape(generator, info, placement, common));
    json!({ "type": "object", "required": ["type"], "oneOf": shapes.collect::<Vec<_>>() })
}

/// The schema of the entries of one grader.
fn shape(
    generator: &mut SchemaGenerator,
    info: &GraderInfo,
    placement: Placement,
    common: &Map<String, Value>,
) -> Value {
    let kind = match info.aliases {
        [] => json!({ "const": info.id }),
        aliases => {
            let words: Vec<&str> =
                std::iter::once(info.id).chain(aliases.iter().copied()).collect();
            json!({ "enum": words })
        }
    };
    let config = (info.schema)(generator);
    let mut required = vec![json!("type")];
    let mut properties = Map::from_iter([("type".to_owned(), kind)]);
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

/// The schema itself, where it is a reference to a definition.
fn resolved(generator: &SchemaGenerator, schema: &Schema) -> Option<Map<String, Value>> {
    let schema = schema.as_object()?;
    match schema.get("$ref").and_then(Value::as_str).and_then(|at| at.rsplit('/').next()) {
        None => Some(schema.clone()),
        Some(name) => generator.definitions().get(name)?.as_object().cloned(),
    }
}

/// Is there a key without which the configuration is wrong?
fn needs_something(generator: &SchemaGenerator, schema: &Schema) -> bool {
    let required = resolved(generator, schema).and_then(|schema| schema.get("required").cloned());
    required.is_some_and(|keys| keys.as_array().is_some_and(|keys| !keys.is_empty()))
}

/// The keys of a configuration that is a plain object, and those it needs.
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

/// The schema of a file: `root` with the definitions it refers to. Objects
/// whose keys are listed have no others, unless they say so.
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

/// Shuts objects against keys they do not list. Schemas are ours, and shallow.
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
