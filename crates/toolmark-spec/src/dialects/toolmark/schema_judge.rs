//! The JSON Schema of the `judge:` part, which whoever asks judges reads.

use serde_json::{Map, Value, json};

fn properties_of_model() -> Map<String, Value> {
    let texts = json!({"type": "array", "items": {"type": "string"}, "minItems": 1});
    let price = json!({
        "type": "object",
        "description": "US dollars per million tokens.",
        "additionalProperties": false,
        "required": ["input", "output"],
        "properties": {
            "input": {"type": "number", "minimum": 0},
            "output": {"type": "number", "minimum": 0}
        }
    });
    let Value::Object(map) = json!({
        "provider": {"enum": ["anthropic", "openai", "openai-chat", "command"]},
        "model": {"type": "string", "minLength": 1},
        "base_url": {"type": "string", "pattern": "^https?://"},
        "query": {"type": "object", "additionalProperties": {"type": "string"}},
        "key_env": {"type": "string", "description": "The environment variable that holds the key."},
        "key_command": texts,
        "auth": {"enum": ["bearer", "x-api-key", "api-key", "none"]},
        "command": texts,
        "effort": {"enum": ["low", "medium", "high", "xhigh"]},
        "temperature": {"type": "number"},
        "max_tokens": {"type": "integer", "minimum": 1},
        "structured": {"enum": ["tool", "schema"]},
        "stream": {"type": "boolean"},
        "timeout": {"type": "string", "description": "With a unit: 60s, 2m."},
        "price": price
    }) else {
        return Map::new();
    };
    map
}

/// The schema of one model.
pub(super) fn model() -> Value {
    json!({
        "type": "object",
        "description": "A model, and how it is asked.",
        "additionalProperties": false,
        "properties": properties_of_model()
    })
}

/// The schema of the part: the usual model, and what goes for all of them.
pub(super) fn schema() -> Value {
    let mut properties = properties_of_model();
    if let Value::Object(settings) = json!({
        "models": {"type": "object", "additionalProperties": {"$ref": "#/$defs/JudgeModel"}},
        "retries": {"type": "integer", "minimum": 0, "maximum": 20},
        "concurrency": {"type": "integer", "minimum": 1, "maximum": 256},
        "budget": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "tokens": {"type": "integer", "minimum": 0},
                "usd": {"type": "number", "minimum": 0}
            }
        },
        "cache": {"type": ["string", "boolean"], "description": "A directory, or false."},
        "calibration": {"type": "string"},
        "floor": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "accuracy": {"type": "number", "minimum": 0, "maximum": 1},
                "kappa": {"type": "number", "minimum": -1, "maximum": 1},
                "labels": {"type": "integer", "minimum": 0}
            }
        }
    }) {
        properties.extend(settings);
    }
    json!({
        "type": "object",
        "description": "Who is asked what no rule can decide, and how.",
        "additionalProperties": false,
        "properties": properties
    })
}
