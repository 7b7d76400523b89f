//! Helpers for the tests of these graders: traces in the Open Responses format.

use crate::grader_by_id;
use crate::testing::{ask, runs};
use serde_json::{Value, json};
use std::path::Path;
use toolmark_config::Node;
use toolmark_match::Building;
use toolmark_outcome::Outcome;
use toolmark_outcome::Profile;

/// Builds calls without arguments.
pub(super) fn made<'a>(names: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    names.iter().map(|name| (*name, "{}")).collect()
}

/// Builds a trace with these calls, each a name and the text of its arguments.
pub(super) fn responses(calls: &[(&str, &str)]) -> String {
    let calls: Vec<_> = calls.iter().map(|(name, args)| (*name, *args, Some("ok"))).collect();
    responses_with(&calls)
}

/// Builds a trace with these calls and their outputs.
pub(super) fn responses_with(calls: &[(&str, &str, Option<&str>)]) -> String {
    let mut items = vec![json!({
        "type": "message", "role": "user",
        "content": [{"type": "input_text", "text": "go"}],
    })];
    for (n, (name, args, output)) in calls.iter().enumerate() {
        let id = format!("c{n}");
        items
            .push(json!({"type": "function_call", "call_id": id, "name": name, "arguments": args}));
        if let Some(output) = output {
            items.push(json!({"type": "function_call_output", "call_id": id, "output": output}));
        }
    }
    json!(items).to_string()
}

/// Runs a grader with a profile; toolmark's own reading is contrasted with AI GO!'s.
pub(super) fn grade_as(id: &str, profile: Profile, config: Value, trace: &str) -> Outcome {
    let mut problems = Vec::new();
    let config = Node::from_json(&config).expect("a configuration");
    let grader = (grader_by_id(id).expect("a grader").build)(&mut Building {
        config: &config,
        profile,
        contrast: Some(Profile::AiGo).filter(|contrast| *contrast != profile),
        directory: Path::new("."),
        schemas: toolmark_match::call_match::compile_schema,
        problems: &mut problems,
    });
    assert_eq!(problems, []);
    ask(&*grader.expect("a good configuration"), &runs(trace)[0])
}
