//! JSON Schema of Vally's eval specs.

use super::scoring::VallyScoring;
use super::stimulus::Stimulus;
use super::{Defaults, TITLE};
use crate::GRADERS;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};
use toolmark_grade::schema::{Placement, finish, generator, grader_entry};

/// Name of the definition of a grader entry.
const ENTRY: &str = "GraderEntry";

/// Returns the schema of a file.
pub(super) fn file() -> Value {
    let mut generator = generator();
    let stimulus = generator.subschema_for::<Stimulus>().to_value();
    let defaults = generator.subschema_for::<Defaults>().to_value();
    let scoring = generator.subschema_for::<VallyScoring>().to_value();
    let graders = grader_list(&mut generator).to_value();
    let text = json!({ "type": "string" });
    let root = json!({
        "type": "object",
        "properties": {
            "name": text,
            "description": text,
            "version": { "type": ["string", "number"] },
            "type": { "enum": ["capability", "regression"] },
            "tags": tags(&mut generator).to_value(),
            "environment": {},
            "agent_environment": {},
            "defaults": defaults,
            "config": with(defaults.clone(), "deprecated", true),
            "stimuli": { "type": "array", "items": stimulus, "minItems": 1 },
            "scoring": scoring,
            "graders": with(
                graders,
                "description",
                "Graders asked of every stimulus.",
            ),
            "metadata": {}
        },
        "required": ["stimuli"],
        // Vally lets files have keys of their own.
        "additionalProperties": true
    });
    finish(generator, TITLE, root)
}

fn with(mut schema: Value, key: &str, value: impl Into<Value>) -> Value {
    if let Value::Object(fields) = &mut schema {
        fields.insert(key.to_owned(), value.into());
    }
    schema
}

/// Returns the schema of a list of grader entries.
pub(super) fn grader_list(generator: &mut SchemaGenerator) -> Schema {
    if !generator.definitions().contains_key(ENTRY) {
        let common = Map::from_iter([
            (
                "name".to_owned(),
                json!({
                    "type": "string",
                    "maxLength": 60,
                    "pattern": "^[a-z0-9][a-z0-9-]*$",
                    "description": "Its name, where the type is not enough to tell it from others."
                }),
            ),
            (
                "turn".to_owned(),
                json!({
                    "type": "integer",
                    "minimum": 0,
                    "description": "The turn of the stimulus it is about, from 0."
                }),
            ),
            (
                "required".to_owned(),
                json!({
                    "type": "boolean",
                    "description": "Must it hold whatever the others say?"
                }),
            ),
        ]);
        let entry = grader_entry(generator, GRADERS, Placement::Under("config"), &common);
        generator.definitions_mut().insert(ENTRY.to_owned(), entry);
    }
    json_schema!({ "type": "array", "items": { "$ref": format!("#/$defs/{ENTRY}") } })
}

/// Returns the schema of tags: a map of texts or lists of texts, or a plain list.
pub(super) fn tags(_: &mut SchemaGenerator) -> Schema {
    let word = json!({ "type": ["string", "number", "boolean"] });
    json_schema!({
        "oneOf": [
            { "type": "array", "items": word },
            {
                "type": "object",
                "additionalProperties": {
                    "oneOf": [word, { "type": "array", "items": word }, { "type": "null" }]
                }
            }
        ]
    })
}
