//! Helpers for the tests of the systems: calls and answers.

use crate::testing::{grade, grade_as};
use serde_json::{Value, json};
use toolmark_outcome::{Outcome, Profile};

/// Builds a call.
pub(crate) fn call(name: &str, args: Value) -> Value {
    json!({"name": name, "args": args})
}

/// Builds a call without arguments for every letter.
pub(crate) fn names(letters: &str) -> Value {
    letters.chars().map(|letter| Value::from(letter.to_string())).collect()
}

/// Builds a call with empty arguments for every letter.
pub(crate) fn calls(letters: &str) -> Value {
    letters.chars().map(|letter| call(&letter.to_string(), json!({}))).collect()
}

fn steps(calls: &Value) -> Vec<Value> {
    let step = |call: &Value| {
        let tool = call.as_str().map(|name| json!({"tool": name})).unwrap_or_else(|| call.clone());
        json!({"role": "assistant", "tool_calls": [tool]})
    };
    calls.as_array().into_iter().flatten().map(step).collect()
}

/// Builds a trace with these calls, one per step.
pub(crate) fn trace(calls: &Value) -> String {
    let mut messages = steps(calls);
    messages.push(json!({"role": "assistant", "content": "done"}));
    json!({"id": "t", "output_messages": messages}).to_string()
}

/// Returns the outcome of `trajectory-match` under a profile.
pub(crate) fn outcome(profile: Profile, config: Value, calls: &Value) -> Outcome {
    grade_as("trajectory-match", profile, config, &trace(calls))
}

/// Returns the score and the verdict word of `trajectory-match`.
pub(crate) fn scores(
    profile: Profile,
    config: Value,
    calls: &Value,
) -> (Option<f64>, &'static str) {
    let outcome = outcome(profile, config, calls);
    (outcome.score, outcome.verdict.word())
}

/// Returns the score and the verdict word for calls of several user turns.
pub(crate) fn turns(
    profile: Profile,
    config: Value,
    turns: &[Value],
) -> (Option<f64>, &'static str) {
    let messages = turns.iter().flat_map(|calls| {
        let mut messages = vec![json!({"role": "user", "content": "go on"})];
        messages.extend(steps(calls));
        messages
    });
    let row = json!({"id": "t", "output_messages": messages.collect::<Vec<_>>()}).to_string();
    let outcome = grade_as("trajectory-match", profile, config, &row);
    (outcome.score, outcome.verdict.word())
}

/// Returns the outcome of a grader for these calls under toolmark's reading.
pub(crate) fn own(id: &str, config: Value, calls: &Value) -> Outcome {
    grade(id, config, &trace(calls))
}

/// Returns the outcome of a grader for these calls under a profile.
pub(crate) fn theirs(id: &str, profile: Profile, config: Value, calls: &Value) -> Outcome {
    grade_as(id, profile, config, &trace(calls))
}
