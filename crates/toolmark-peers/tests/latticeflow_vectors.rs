//! What AI GO!'s own code gives for the same calls, against profile `aigo`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

use serde_json::{Map, Value, json};
use std::path::Path;
use toolmark_config::Node;
use toolmark_grade::Building;
use toolmark_outcome::{Context, Environment, Outcome, Profile, Subject, View};
use toolmark_peers::grader_by_id;
use toolmark_testing::{assert_compared, find_shared};
use toolmark_trace::{Options, read};

/// A trace in the Open Responses format, as AI GO! takes it.
fn trace(calls: &[Value]) -> String {
    let mut items = vec![json!({
        "type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}],
    })];
    for (n, call) in calls.iter().enumerate() {
        let arguments = match &call["args"] {
            Value::Null => "{}".to_owned(),
            Value::String(text) => text.clone(),
            args => args.to_string(),
        };
        let id = format!("call_{n}");
        items.push(json!({
            "type": "function_call", "call_id": id, "name": call["name"], "arguments": arguments,
        }));
        if let Some(output) = call.get("output") {
            items.push(json!({"type": "function_call_output", "call_id": id, "output": output}));
        }
    }
    json!(items).to_string()
}

/// The configuration a vector asks for, and the type of its grader.
fn configuration(vector: &Value) -> (&str, Value) {
    match vector["mode"].as_str().unwrap() {
        mode @ ("any_order" | "in_order") => {
            let required: Vec<Value> = vector["reference"]
                .as_array()
                .unwrap()
                .iter()
                .map(|call| match call.get("args") {
                    None => call["name"].clone(),
                    Some(args) => json!({"name": call["name"], "arguments": args}),
                })
                .collect();
            // As text, the way its task files have it.
            let text = Value::from(required).to_string();
            ("function_call_coverage", json!({"function_calls": text, "mode": mode}))
        }
        other => (other, vector["config"].clone()),
    }
}

fn grade(id: &str, config: &Value, trace: &str) -> Outcome {
    let info = grader_by_id(id).unwrap_or_else(|| panic!("no grader is called {id}"));
    let mut problems = Vec::new();
    let grader = (info.build)(&mut Building {
        config: &Node::from_json(config).unwrap(),
        profile: Profile::AiGo,
        contrast: None,
        directory: Path::new("."),
        schemas: toolmark_grade::call_match::compile_schema,
        problems: &mut problems,
    });
    let grader = grader.unwrap_or_else(|| panic!("{config}: {problems:?}"));
    let options = Options::default();
    let runs: Vec<_> = read(std::io::Cursor::new(trace.to_owned().into_bytes()), "trace", &options)
        .unwrap()
        .collect();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0].format, "openai-responses");
    grader.grade(&Subject {
        view: View::whole(&runs[0]),
        context: &Context::default(),
        environment: &Environment::default(),
    })
}

/// Numbers as numbers: its flags are booleans, ours are 1 and 0.
fn numbers(values: &Map<String, Value>) -> Vec<(String, f64)> {
    let number = |value: &Value| match value {
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        other => other.as_f64().unwrap_or_else(|| panic!("{other} is no number")),
    };
    let mut numbers: Vec<_> =
        values.iter().map(|(name, value)| (name.clone(), number(value))).collect();
    numbers.sort_by(|a, b| a.0.cmp(&b.0));
    numbers
}

#[test]
fn the_profile_gives_what_ai_go_gives() {
    let Some(file) = find_shared("vectors/peer_vectors.json") else { return };
    let all: Vec<Value> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let theirs: Vec<&Value> = all.iter().filter(|v| v["peer"] == "latticeflow").collect();
    assert_compared(theirs.len(), 16, "vectors");
    for vector in theirs {
        let (id, config) = configuration(vector);
        let outcome = grade(id, &config, &trace(vector["actual"].as_array().unwrap()));
        let expected = numbers(vector["expect"].as_object().unwrap());
        assert_eq!(numbers(&outcome.metrics), expected, "{vector}");
        let flag = ["all_required_calls_made", "is_correct"]
            .iter()
            .find_map(|name| vector["expect"][*name].as_bool());
        let verdict = toolmark_outcome::Verdict::of(flag.unwrap());
        assert_eq!(outcome.verdict, verdict, "{vector}");
    }
}
