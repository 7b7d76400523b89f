//! JSON Schema of AgentV's files.

use super::keys;
use crate::GRADERS;
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};
use toolmark_grade::schema::{EntryShape, by_type};

/// Returns the JSON Schema of AgentV's files: strict about keys and evaluators, permissive
/// about run settings.
pub(super) fn schema() -> Value {
    let mut generator = SchemaGenerator::default();
    let mut entries = vec![json!({"type": "string", "description": "A criterion for a judge."})];
    entries.push(json!({
        "type": "object",
        "properties": {"include": {"type": "string"}},
        "required": ["include"],
        "additionalProperties": false,
    }));
    let mut shapes = Vec::new();
    for info in GRADERS.iter().filter(|info| info.origin == "agentv") {
        let config = (info.schema)(&mut generator).to_value();
        let config = resolved(config, generator.definitions());
        let words = std::iter::once(&info.id).chain(info.aliases);
        shapes.push(EntryShape {
            words: words.flat_map(|word| [(*word).to_owned(), format!("not-{word}")]).collect(),
            summary: info.summary.to_owned(),
            schema: entry(info.id, info.summary, &config),
        });
    }
    entries.push(by_type(shapes, &common()));
    let definitions: Map<String, Value> = generator.definitions().clone();
    let evaluators = json!({"type": "array", "items": {"$ref": "#/$defs/evaluator"}});
    let threshold = json!({"type": "number", "minimum": 0, "maximum": 1});
    let known = |keys: &[&str], own: &[(&str, Value)]| {
        let mut properties: Map<String, Value> =
            keys.iter().map(|key| ((*key).to_owned(), json!(true))).collect();
        for key in keys::EVALUATORS {
            if keys.contains(key) {
                properties.insert((*key).to_owned(), evaluators.clone());
            }
        }
        if keys.contains(&"threshold") {
            properties.insert("threshold".into(), threshold.clone());
        }
        properties.extend(own.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        json!({"type": "object", "properties": properties, "additionalProperties": false})
    };
    let execution = json!({"$ref": "#/$defs/execution"});
    let tests = json!({"anyOf": [
        {"type": "string", "description": "A file or a directory of tests."},
        {"type": "array", "items": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/test"}, {"$ref": "#/$defs/include"}]}},
    ]});
    let turn = known(keys::TURN, &[]);
    let test = known(
        keys::CASE,
        &[
            ("id", json!({"type": ["string", "integer"]})),
            ("execution", execution.clone()),
            ("turns", json!({"type": "array", "items": turn})),
            ("rubrics", json!({"type": "array", "minItems": 1})),
        ],
    );
    let mut root = known(
        keys::ROOT,
        &[
            ("tests", tests.clone()),
            ("evalcases", tests.clone()),
            ("eval_cases", tests.clone()),
            ("cases", tests),
            ("execution", execution.clone()),
            ("experiment", execution),
            ("default_test", known(keys::DEFAULT_TEST, &[])),
        ],
    );
    let mut defs = definitions;
    defs.insert("evaluator".into(), json!({"anyOf": entries}));
    defs.insert("execution".into(), known(keys::EXECUTION, &[]));
    defs.insert("test".into(), test);
    defs.insert(
        "include".into(),
        json!({"type": "object", "properties": {"include": {"type": "string"}, "type": true}, "required": ["include"]}),
    );
    if let Some(root) = root.as_object_mut() {
        root.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        root.insert("title".into(), json!("AgentV eval file"));
        root.insert("$defs".into(), Value::Object(defs));
    }
    root
}

/// Replaces a reference by its schema.
fn resolved(schema: Value, definitions: &Map<String, Value>) -> Value {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
    match name.and_then(|name| definitions.get(name)) {
        Some(definition) => definition.clone(),
        None => schema,
    }
}

/// Returns the common keys of evaluators.
fn common() -> Map<String, Value> {
    let share = json!({"type": "number", "minimum": 0, "maximum": 1});
    Map::from_iter([
        ("name".to_owned(), json!({"type": "string"})),
        ("metric".to_owned(), json!({"type": "string"})),
        ("id".to_owned(), json!({"type": "string"})),
        ("weight".to_owned(), json!({"type": "number", "minimum": 0})),
        ("required".to_owned(), json!({"anyOf": [{"type": "boolean"}, share]})),
        ("min_score".to_owned(), share),
        ("negate".to_owned(), json!({"type": "boolean"})),
    ])
}

/// Returns the schema of an evaluator: its own keys and the common ones.
fn entry(id: &str, summary: &str, config: &Value) -> Value {
    let mut properties = config.get("properties").and_then(Value::as_object).cloned();
    // What takes any key has no properties to list.
    let is_open = properties.is_none() || id == "code-grader";
    let properties = properties.get_or_insert_default();
    properties.insert("type".to_owned(), json!(true));
    properties.extend(common());
    for (snake, camel) in [
        ("args_match", "argsMatch"),
        ("max_total", "maxTotal"),
        ("max_input", "maxInput"),
        ("max_output", "maxOutput"),
        ("max_tool_calls", "maxToolCalls"),
        ("max_llm_calls", "maxLlmCalls"),
        ("max_tokens", "maxTokens"),
        ("max_cost_usd", "maxCostUsd"),
        ("max_duration_ms", "maxDurationMs"),
        ("assertions", "evaluators"),
        ("assertions", "assert"),
    ] {
        if let Some(same) = properties.get(snake).cloned() {
            properties.entry(camel).or_insert(same);
        }
    }
    let mut required = vec![json!("type")];
    let own = config.get("required").and_then(Value::as_array).into_iter().flatten();
    // Members go by three names, a command by two.
    required.extend(own.filter(|key| !["assertions", "command"].iter().any(|k| key == k)).cloned());
    let mut schema = json!({
        "type": "object",
        "description": summary,
        "properties": properties,
        "required": required,
    });
    if !is_open && let Some(schema) = schema.as_object_mut() {
        schema.insert("additionalProperties".into(), json!(false));
    }
    schema
}
