//! JSON Schema of the native spec.

use super::{SECTIONS, running};
use crate::graders::{ALL, GRADERS, grader_by_id};
use serde_json::{Map, Value, json};
use toolmark_check::tool_policy;
use toolmark_grade::schema::{Placement, Section, finish, generator, grader_entry};
use toolmark_outcome::Profile;

/// Returns the schema of `toolmark.yaml`. A section without a schema accepts any value.
pub(super) fn schema(sections: &[Section]) -> Value {
    let mut generator = generator();
    let share = json!({"type": "number", "minimum": 0, "maximum": 1});
    let profiles: Vec<&str> = Profile::ALL.iter().map(|profile| profile.word()).collect();
    let profile = json!({"enum": profiles, "description": "Whose reading graders follow."});
    let common = Map::from_iter([
        ("name".to_owned(), json!({"type": "string", "description": "What reports call it."})),
        ("profile".to_owned(), profile.clone()),
        ("weight".to_owned(), json!({"type": "number", "minimum": 0})),
        ("required".to_owned(), json!({"type": ["boolean", "number"]})),
        ("min_score".to_owned(), share.clone()),
        ("negate".to_owned(), json!({"type": "boolean"})),
        ("turn".to_owned(), json!({"type": "integer", "minimum": 0})),
    ]);
    let entry = grader_entry(&mut generator, GRADERS, Placement::Under("config"), &common);
    let expect = grader_by_id("expect").map(|info| (info.schema)(&mut generator).to_value());
    let expect = expect.unwrap_or_else(|| json!({"type": "object"}));
    let (run, targets) = running::schemas(&mut generator);
    let texts = json!({"type": ["string", "array"], "items": {"type": "string"}});
    let case = json!({
        "type": "object",
        "required": ["id"],
        "additionalProperties": false,
        "properties": {
            "id": {"type": ["string", "integer"]},
            "description": {"type": "string"},
            "prompt": {"type": "string"},
            "turns": texts,
            "traces": texts,
            "workspace": {"type": "string"},
            "tags": {"type": ["array", "object", "string"]},
            "graders": {"$ref": "#/$defs/Graders"},
            "expect": {"$ref": "#/$defs/Expectation"},
            "skip_shared": {"type": "boolean"},
            "threshold": share,
            "trials": {"type": "integer", "minimum": 1},
            "run": run,
            "criteria": {"type": "string"},
            "expected_output": true,
            "rubric": texts,
            "row": {"type": "object"}
        }
    });
    let graders = json!({
        "type": "array",
        "items": {"anyOf": [{"$ref": "#/$defs/Grader"}, {"enum": ALL.words().collect::<Vec<_>>()}]}
    });
    generator.definitions_mut().extend([
        ("Grader".to_owned(), entry),
        ("Graders".to_owned(), graders),
        ("Expectation".to_owned(), expect),
        ("Case".to_owned(), case),
    ]);
    let mut root = json!({
        "type": "object",
        "properties": {
            "version": {"const": 1},
            "name": {"type": "string"},
            "description": {"type": "string"},
            "profile": profile,
            "threshold": share,
            "gate": {
                "type": "object",
                "additionalProperties": false,
                "properties": {"threshold": share}
            },
            "grader_types": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Types of graders that plugins of another system have."
            },
            "graders": {"$ref": "#/$defs/Graders"},
            "expect": {"$ref": "#/$defs/Expectation"},
            "dataset": {"type": "string"},
            "run": run,
            "targets": targets,
            "cases": {
                "anyOf": [
                    {"type": "string", "description": "A file with one case per line."},
                    {"type": "array", "items": {"$ref": "#/$defs/Case"}}
                ]
            }
        }
    });
    root["properties"]["tools"] = tool_policy::schema(&mut generator).to_value();
    root["properties"]["order"] = tool_policy::order_schema(&mut generator).to_value();
    for key in SECTIONS.iter().filter(|key| **key != "tools") {
        let owner = sections.iter().find(|section| section.key == *key);
        root["properties"][key] = match owner {
            Some(section) => (section.schema)(&mut generator).to_value(),
            None => json!(true),
        };
    }
    finish(generator, "toolmark.yaml", root)
}
