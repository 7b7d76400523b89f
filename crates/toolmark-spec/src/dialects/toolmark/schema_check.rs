//! The JSON Schema of the `check:` part, which `toolmark check` reads.

use serde_json::{Map, Value, json};

/// What a tool can be for.
const ROLES: &[&str] = &[
    "reads",
    "writes",
    "edits",
    "patches",
    "searches_names",
    "searches_content",
    "lists",
    "runs_shell",
    "talks_to_shell",
    "dispatches",
    "asks_user",
    "plans",
    "fetches_web",
    "other",
];

/// The arguments of a tool that have a meaning of their own.
const ARGUMENTS: &[&str] = &[
    "path",
    "content",
    "old",
    "new",
    "all",
    "count",
    "edits",
    "patch",
    "command",
    "directory",
    "pattern",
    "offset",
    "limit",
    "range",
];

/// The schema of the part.
pub(super) fn schema() -> Value {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    json!({
        "type": "object",
        "description": "What `toolmark check` asks and demands.",
        "additionalProperties": false,
        "properties": {
            "select": {"$ref": "#/$defs/Rules", "description": "Only these rules."},
            "ignore": {"$ref": "#/$defs/Rules", "description": "Not these rules."},
            "severity": {
                "type": "object",
                "description": "Severities of your own, by the code of the rule.",
                "additionalProperties": {"enum": ["info", "warning", "error"]}
            },
            "min_confidence": {"enum": ["low", "medium", "high"]},
            "fail_on": {"enum": ["error", "warning", "info", "never"]},
            "gates": {
                "type": "array",
                "items": {
                    "type": "string",
                    "description": "Such as: recovery[Bash.127] >= 0.8 min support 5."
                }
            },
            "toolsets": {"type": "array", "items": toolset(&texts)}
        }
    })
}

/// The schema of a list of rules.
pub(super) fn rules() -> Value {
    json!({
        "type": "array",
        "items": {
            "type": "string",
            "description": "A code, a name, or the start of a code: S, A, I, R."
        }
    })
}

fn toolset(texts: &Value) -> Value {
    json!({
        "type": "object",
        "required": ["id"],
        "additionalProperties": false,
        "properties": {
            "id": {"type": "string"},
            "title": {"type": "string"},
            "formats": texts,
            "agents": texts,
            "tools": {"type": "object", "additionalProperties": tool(texts)},
            "confusable": {
                "type": "array",
                "items": {
                    "type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2
                }
            }
        }
    })
}

fn tool(texts: &Value) -> Value {
    let names = json!({"type": ["string", "array"], "items": {"type": "string"}});
    let role = json!({"enum": ROLES});
    let mut properties = Map::from_iter([
        ("role".to_owned(), role.clone()),
        ("aliases".to_owned(), texts.clone()),
        ("selector".to_owned(), json!({"type": ["string", "null"]})),
        ("roles".to_owned(), json!({"type": "object", "additionalProperties": role})),
        ("line_marks".to_owned(), texts.clone()),
        ("schema".to_owned(), json!({"type": ["object", "boolean", "null"]})),
    ]);
    properties.extend(ARGUMENTS.iter().map(|name| ((*name).to_owned(), names.clone())));
    json!({"type": "object", "additionalProperties": false, "properties": properties})
}
