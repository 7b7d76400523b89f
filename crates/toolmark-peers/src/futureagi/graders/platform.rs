//! Call-related evals of Future AGI's platform: `trajectory_match`,
//! `tool_call_accuracy`, `step_count`.
//!
//! They parse rows in their own way: names, calls in two formats, or text with
//! commas.

use crate::scores::python::{same, text};
use crate::scores::system::{Answered, ComparisonMode, ModeAnswer, ModeInput, System};
use serde_json::{Map, Value};
use toolmark_base::SortedSet;
use toolmark_outcome::Profile;

pub(crate) static SYSTEM: System = System {
    profile: Profile::FutureAgi,
    version: "Future AGI's platform (August 2026)",
    threshold: 0.5,
    options: &[],
    modes: &[
        ComparisonMode { word: "strict", aliases: &["exact"], own: Some("exact"), score: strict },
        ComparisonMode {
            word: "unordered",
            aliases: &[],
            own: Some("unordered"),
            score: |asked| sets(asked, |made, expected| made.union(expected).count()),
        },
        ComparisonMode {
            word: "subset",
            aliases: &["any_order"],
            own: Some("any_order"),
            score: |asked| sets(asked, |_, expected| expected.len()),
        },
        ComparisonMode {
            word: "superset",
            aliases: &["within"],
            own: Some("within"),
            score: |asked| sets(asked, |made, _| made.len()),
        },
        ComparisonMode {
            word: "tool_call_accuracy",
            aliases: &[],
            own: Some("unordered"),
            score: tool_call_accuracy,
        },
    ],
};

/// Returns the items of a value: of a list, of JSON in a text, or of a text with commas.
fn items(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => Vec::new(),
        Value::String(words) => match serde_json::from_str::<Value>(words) {
            Ok(Value::Array(items)) => items,
            Ok(other) => vec![other],
            Err(_) => {
                let words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
                words.map(Value::from).collect()
            }
        },
        Value::Array(items) => items.clone(),
        other => vec![other.clone()],
    }
}

fn names(value: &Value) -> Vec<String> {
    let name = |item: &Value| match item.as_object() {
        Some(fields) => {
            fields.get("name").or_else(|| fields.get("action")).map_or_else(|| text(item), text)
        }
        None => text(item),
    };
    items(value).iter().map(name).collect()
}

fn of_row<'a>(asked: &'a ModeInput<'_>, keys: &[&str]) -> Option<&'a Value> {
    let row = asked.row?;
    keys.iter().find_map(|key| row.get(*key))
}

/// Returns the names of both sides, actual calls first.
fn sides(asked: &ModeInput<'_>) -> (Vec<String>, Vec<String>) {
    let made = of_row(asked, &["output", "response"])
        .map_or_else(|| asked.made.iter().map(|call| call.name.to_string()).collect(), names);
    let expected = of_row(asked, &["expected", "expected_response"])
        .map_or_else(|| asked.expected.iter().map(|call| call.name.clone()).collect(), names);
    (made, expected)
}

/// Returns the common prefix as a share of the longer side.
fn strict(asked: &ModeInput<'_>) -> Answered {
    let (made, expected) = sides(asked);
    let longer = made.len().max(expected.len());
    let common = made.iter().zip(&expected).take_while(|(made, expected)| made == expected).count();
    Ok(ModeAnswer::of(if longer == 0 { 1.0 } else { common as f64 / longer as f64 }))
}

type PlatformNames<'n> = SortedSet<&'n str>;

/// Returns the common names as a share of a number of names, without repetitions.
fn sets(
    asked: &ModeInput<'_>,
    whole: fn(&PlatformNames<'_>, &PlatformNames<'_>) -> usize,
) -> Answered {
    let (made, expected) = sides(asked);
    if expected.is_empty() {
        return Ok(ModeAnswer::of(f64::from(u8::from(made.is_empty()))));
    }
    let made: PlatformNames<'_> = made.iter().map(String::as_str).collect();
    let expected: PlatformNames<'_> = expected.iter().map(String::as_str).collect();
    let whole = whole(&made, &expected);
    let common = made.intersection(&expected).count();
    Ok(ModeAnswer::of(if whole == 0 { 1.0 } else { common as f64 / whole as f64 }))
}

/// A call of a row.
#[derive(Default)]
struct PlatformCall {
    name: Value,
    args: Value,
}

fn decoded(args: Option<&Value>) -> Value {
    match args {
        None => Value::Object(Map::new()),
        Some(Value::String(words)) => {
            serde_json::from_str(words).unwrap_or_else(|_| Value::from(words.as_str()))
        }
        Some(other) => other.clone(),
    }
}

fn calls(value: &Value) -> Vec<PlatformCall> {
    let parsed;
    let value = match value {
        Value::String(words) => {
            parsed = serde_json::from_str(words).unwrap_or_default();
            &parsed
        }
        other => other,
    };
    let list = match value {
        Value::Array(items) => items.as_slice(),
        object @ Value::Object(_) => std::slice::from_ref(object),
        _ => &[],
    };
    let call = |item: &Value| {
        let fields = item.as_object()?;
        let fields = fields.get("function").and_then(Value::as_object).unwrap_or(fields);
        let name = fields.get("name").cloned().unwrap_or_else(|| Value::from(""));
        Some(PlatformCall { name, args: decoded(fields.get("arguments")) })
    };
    list.iter().filter_map(call).collect()
}

/// Assigns to every call a free expected call of the same name: an equal one, otherwise the first.
fn tool_call_accuracy(asked: &ModeInput<'_>) -> Answered {
    let made = of_row(asked, &["output", "response"]).map_or_else(
        || {
            let call = |call: &crate::scores::calls::ActualCall<'_>| PlatformCall {
                name: Value::from(&*call.name),
                args: decoded(call.args.as_ref()),
            };
            asked.made.iter().map(call).collect()
        },
        calls,
    );
    let expected = of_row(asked, &["expected", "expected_response"]).map_or_else(
        || {
            let call = |call: &crate::scores::calls::ScoredCall| PlatformCall {
                name: Value::from(call.name.as_str()),
                args: decoded(call.args.as_ref()),
            };
            asked.expected.iter().map(call).collect()
        },
        calls,
    );
    if expected.is_empty() || made.is_empty() {
        let both = expected.is_empty() && made.is_empty();
        return Ok(ModeAnswer::of(f64::from(u8::from(both))));
    }
    let mut used = vec![false; expected.len()];
    let mut sum = 0.0;
    for call in &made {
        let free =
            || (0..expected.len()).filter(|at| !used[*at] && same(&expected[*at].name, &call.name));
        let equal = free().find(|at| same(&expected[*at].args, &call.args));
        let Some(at) = equal.or_else(|| free().next()) else { continue };
        sum += if equal.is_some() { 1.0 } else { 0.5 };
        used[at] = true;
    }
    Ok(ModeAnswer::of((sum / expected.len().max(made.len()) as f64).clamp(0.0, 1.0)))
}

/// Returns the number of steps in the output of a row.
pub(crate) fn steps(output: &Value) -> usize {
    items(output).len()
}

#[cfg(test)]
mod tests {
    use crate::scores::testing::{call, calls, scores};
    use crate::testing::grade_as;
    use serde_json::json;
    use toolmark_outcome::Profile::FutureAgi;

    #[test]
    fn names_and_calls() {
        for (mode, reference, made, score) in [
            ("strict", "ab", "abz", 2.0 / 3.0),
            ("strict", "ab", "ba", 0.0),
            ("strict", "", "", 1.0),
            ("unordered", "ab", "bc", 1.0 / 3.0),
            ("subset", "ab", "aaz", 0.5),
            ("superset", "ab", "az", 0.5),
            ("superset", "ab", "", 1.0),
            ("subset", "", "a", 0.0),
            ("tool_call_accuracy", "ab", "ba", 1.0),
            ("tool_call_accuracy", "", "a", 0.0),
            ("tool_call_accuracy", "a", "ab", 0.5),
        ] {
            let config = json!({"mode": mode, "reference": calls(reference)});
            let answer = scores(FutureAgi, config, &calls(made));
            assert_eq!(answer.0, Some(score), "{mode} {reference} {made}");
        }
        let near = json!([call("a", json!({"x": 2})), call("a", json!({"x": 1}))]);
        let config =
            json!({"mode": "tool_call_accuracy", "reference": [call("a", json!({"x": 1}))]});
        // The near miss comes first and takes the place.
        assert_eq!(scores(FutureAgi, config, &near).0, Some(0.25));
    }

    #[test]
    fn rows_are_read_as_the_platform_does() {
        for (mode, output, expected, score) in [
            ("strict", json!("a, b"), json!("a,b"), 1.0),
            ("strict", json!([{"action": "a"}]), json!(["a"]), 1.0),
            ("tool_call_accuracy", json!("nope"), json!([{"name": "a"}]), 0.0),
            (
                "tool_call_accuracy",
                json!([{"function": {"name": "a", "arguments": "{\"x\": 1}"}}]),
                json!([{"name": "a", "arguments": {"x": true}}]),
                1.0,
            ),
        ] {
            let row = json!({"id": "r", "output": output, "expected": expected}).to_string();
            let outcome = grade_as("trajectory-match", FutureAgi, json!({"mode": mode}), &row);
            assert_eq!(outcome.score, Some(score), "{row}");
        }
    }
}
