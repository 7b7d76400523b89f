//! Rows for the tests of the four metrics.

use crate::grader_by_id;
use crate::testing::{ask, grade, runs};
use serde_json::{Value, json};
use std::path::Path;
use toolmark_config::Node;
use toolmark_match::Building;
use toolmark_outcome::Outcome;
use toolmark_outcome::Profile;

/// Builds a row with this output and these expected calls; null means none.
pub(super) fn row(output: &Value, expected: &Value) -> String {
    json!({"id": "r", "output": output, "expected": expected}).to_string()
}

/// Returns the verdict's word, the score rounded to three decimals, and the outcome.
pub(super) fn answer(
    metric: &str,
    config: Value,
    output: &Value,
    expected: &Value,
) -> (&'static str, Option<f64>, Outcome) {
    let outcome = grade(metric, config, &row(output, expected));
    (outcome.verdict.word(), outcome.score.map(toolmark_outcome::rounded), outcome)
}

/// Returns the outcome with another reading for comparison.
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

/// Builds a call.
pub(super) fn f(name: &str, args: Value) -> Value {
    json!({"name": name, "arguments": args})
}
