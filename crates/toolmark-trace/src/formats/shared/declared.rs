//! Rewards, scores and flags that say how a run went.

use crate::format::Record;
use crate::model::{
    DeclaredOutcome, ExpectedCall, RunDeclaration, TaskExpectation, Text, Trajectory,
};
use toolmark_scan::{JsonKind, Value};

/// Share of a score that counts as success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// Anything below 1 is a failure, as in benchmarks with a reward of 0 or 1.
    OnlyOne,
    /// 0 is a failure and 1 a success; nothing is known about what is in between.
    Ends,
}

/// The keys under which a source says how the whole run went.
const KEYS: [&str; 9] = [
    "reward",
    "score",
    "success",
    "succeeded",
    "passed",
    "pass",
    "resolved",
    "is_resolved",
    "is_success",
];

/// Reads the members of an object that say how the run went.
pub(crate) fn members(run: &mut Trajectory, record: &Record<'_>, object: Value<'_>) {
    if !object.is_object() {
        return;
    }
    for (key, value) in object.fields() {
        if let Some(key) = key.inner().filter(|key| KEYS.contains(key)) {
            verdict(run, record, key, value, Full::Ends);
        }
    }
}

/// Reads a flag, a score or a word that says how the run went.
pub(crate) fn verdict(
    run: &mut Trajectory,
    record: &Record<'_>,
    key: &str,
    value: Value<'_>,
    full: Full,
) {
    use DeclaredOutcome::{Failed, Passed};
    let outcome = match value.kind() {
        JsonKind::True => Some(Passed),
        JsonKind::False => Some(Failed),
        JsonKind::Number => value.as_f64().and_then(|score| match score {
            score if score <= 0.0 => Some(Failed),
            // What is added up from parts is not quite 1.
            score if score >= 1.0 - 1e-6 => Some(Passed),
            _ if full == Full::OnlyOne => Some(Failed),
            _ => None,
        }),
        JsonKind::String => match value.inner().unwrap_or("").to_ascii_lowercase().as_str() {
            "pass" | "passed" | "success" | "true" => Some(Passed),
            "fail" | "failed" | "failure" | "false" => Some(Failed),
            _ => None,
        },
        _ => None,
    };
    if let Some(outcome) = outcome {
        let said = record.label(value).unwrap_or_else(|| Text::owned(""));
        declare(run, record, outcome, format!("{key} {said}"), value);
    }
}

/// Says how a run went, with the value that says so.
pub(crate) fn declare(
    run: &mut Trajectory,
    record: &Record<'_>,
    outcome: DeclaredOutcome,
    says: impl Into<String>,
    value: Value<'_>,
) {
    run.declare(RunDeclaration { outcome, says: Text::owned(says), at: record.at_value(value) });
}
/// Adds the calls and the answers that the task expects of the agent. Calls that it expects of
/// the user do not count.
pub(crate) fn expect<'v>(
    run: &mut Trajectory,
    record: &Record<'_>,
    actions: impl Iterator<Item = Value<'v>>,
    answers: impl Iterator<Item = Value<'v>>,
) {
    let call = |action: Value<'_>| {
        let by_user = action.get("requestor").and_then(Value::str).is_some_and(|by| by == "user");
        let args = action.get("arguments").or_else(|| action.get("kwargs"))?;
        let compared = action.get("compare_args").filter(|list| list.is_array());
        (!by_user).then_some(ExpectedCall {
            name: record.text(action.get("name")?)?,
            args: record.payload(args),
            compared: compared.map(|list| list.items().filter_map(|it| record.text(it)).collect()),
            at: record.at_value(action),
        })
    };
    run.stated.expected = Some(TaskExpectation {
        calls: actions.filter_map(call).collect(),
        answers: answers.filter_map(|answer| record.label(answer)).collect(),
    });
}
