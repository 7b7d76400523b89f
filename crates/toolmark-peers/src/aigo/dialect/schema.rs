//! JSON Schema of task files.

use super::scorers::{ELSEWHERE, own};
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use toolmark_grade::schema::{EntryShape, by_type};

pub(super) fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut shapes: Vec<EntryShape> = own()
        .map(|info| {
            let words = std::iter::once(&info.id).chain(info.aliases);
            let config = (info.schema)(&mut generator).to_value();
            let mut properties = common();
            properties.insert("type".into(), json!(true));
            EntryShape {
                words: words.map(|word| (*word).to_owned()).collect(),
                summary: info.summary.to_owned(),
                schema: json!({
                    "title": info.id,
                    "description": info.summary,
                    "type": "object",
                    "properties": properties,
                    "allOf": [config],
                    "unevaluatedProperties": false,
                }),
            }
        })
        .collect();
    shapes.push(EntryShape {
        words: ELSEWHERE.iter().map(|word| (*word).to_owned()).collect(),
        summary: "stands for a scorer that only a judge or AI GO! itself can run".to_owned(),
        schema: json!({ "type": "object", "properties": common() }),
    });
    let definition = definition();
    let mut task = definition.clone();
    task.extend(text_fields(&["key", "display_name", "name", "description", "long_description"]));
    task.insert("tags".into(), json!({ "type": "array", "items": { "type": "string" } }));
    task.insert("tasks".into(), json!({ "type": "array" }));
    task.insert("config_spec".into(), json!({ "type": "array", "items": { "type": "object" } }));
    task.insert(
        "definition".into(),
        json!({ "type": "object", "properties": definition, "required": ["scorers"] }),
    );
    let mut definitions = generator.take_definitions(true);
    definitions.insert("Scorer".into(), by_type(shapes, &common()));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "LatticeFlow AI GO! task",
        "type": "object",
        "properties": task,
        "anyOf": [{ "required": ["definition"] }, { "required": ["scorers"] }],
        "$defs": definitions,
    })
}

/// Returns the common keys of scorers.
fn common() -> Map<String, Value> {
    let mut common = text_fields(&["key", "display_name"]);
    common.insert("purpose".into(), json!({ "enum": ["score", "qa"], "default": "score" }));
    common.insert(
        "metrics".into(),
        json!({ "type": "array", "items": { "type": "object", "required": ["type"] } }),
    );
    common
}

fn definition() -> Map<String, Value> {
    let mut fields = text_fields(&["type", "evaluated_entity_type"]);
    fields.insert(
        "dataset".into(),
        json!({
            "description": "The file of rows; AI GO! itself knows datasets by their key.",
            "type": ["string", "object"],
        }),
    );
    for key in ["solver", "model", "trials", "evaluation"] {
        fields.insert(key.into(), json!({}));
    }
    fields.insert("actions".into(), json!({ "type": "array" }));
    fields.insert(
        "scorers".into(),
        json!({ "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/Scorer" } }),
    );
    fields
}

fn text_fields(names: &[&str]) -> Map<String, Value> {
    names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect()
}
