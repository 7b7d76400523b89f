//! Rows for the tests of the four metrics.

use crate::grader_by_id;
use crate::testing::{ask, grade, runs};
use serde_json::{Value, json};
use std::path::Path;
use toolmark_config::Node;
use toolmark_match::Building;
use toolmark_outcome::Outcome;
use toolmark_outcome::Profile;

/// A row with this output and these expected calls; null stands for none given.
pub(super) fn row(output: &Value, expected: &Value) -> String {
    json!({"id": "r", "output": output, "expected": expected}).to_string()
}

/// The verdict's word, the score to three places, and the whole outcome.
pub(super) fn answer(
    metric: &str,
    config: Value,
    output: &Value,
    expected: &Value,
) -> (&'static str, Option<f64>, Outcome) {
    let outcome = grade(metric, config, &row(output, expected));
    (outcome.verdict.word(), outcome.score.map(toolmark_outcome::rounded), outcome)
}

/// The outcome with another reading to compare with.
pub(super) fn contrasted(metric: &str, output: &Value, expected: &Value) -> Outcome {
    let config = Node::from_json(&json!({})).expect("a configuration");
    let grader = (grader_by_id(metric).expect("a metric").build)(&mut Building {
        config: &config,
        profile: Profile::Toolmark,
        contrast: Some(Profile::FutureAgi),
        directory: Path::new("."),
        schemas: toolmark_match::call_match::compile_schema,
        problems: &mut Vec::new(),
    });
    ask(&*grader.expect("a grader"), &runs(&row(output, expected))[0])
}

/// A call.
pub(super) fn f(name: &str, args: Value) -> Value {
    json!({"name": name, "arguments": args})
}
