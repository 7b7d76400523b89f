//! Compares the arguments of a call with the expected ones.

use serde_json::{Map, Value};
use std::borrow::Cow;
use toolmark_config::{Node, NodeKind, Problem, did_you_mean, quoted};
use toolmark_outcome::{NumberRules, equal};
use toolmark_trace::{Call, Form, Trajectory};

/// Names of the [`ArgumentRule`]s, except for the list of paths.
pub(super) const WORDS: &[&str] = &["exact", "superset", "subset", "ignore"];

/// Comparison mode for arguments.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ArgumentRule {
    /// The same keys with the same values.
    Exact,
    /// Every expected key is present with its value; other keys are ignored.
    Superset,
    /// Every key of the call is expected, with its value.
    Subset,
    /// Arguments are not compared.
    Ignore,
    /// Only the values at these paths are compared.
    Paths(Vec<String>),
}

/// Result of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentFit {
    /// The arguments match.
    Yes,
    /// The arguments do not match.
    No,
    /// AgentV's code throws.
    Throws,
}

impl ArgumentFit {
    fn of(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

/// Reads the rule of a configuration. An invalid rule is added to `problems`.
pub(super) fn rule(node: &Node, problems: &mut Vec<Problem>) -> Option<ArgumentRule> {
    let problem = match &node.kind {
        NodeKind::Text(word) => match word.as_str() {
            "exact" => return Some(ArgumentRule::Exact),
            "superset" => return Some(ArgumentRule::Superset),
            "subset" => return Some(ArgumentRule::Subset),
            "ignore" => return Some(ArgumentRule::Ignore),
            other => {
                let message = format!("unknown way to compare arguments: {}", quoted(other));
                let help = match did_you_mean(other, WORDS.iter().copied()) {
                    Some(near) => format!("did you mean {}?", quoted(near)),
                    None => "use exact, superset, subset, ignore or a list of paths".into(),
                };
                Problem::error("invalid-args-match", message).help(help)
            }
        },
        NodeKind::List(items) => {
            let paths: Vec<String> =
                items.iter().filter_map(Node::as_str).map(str::to_owned).collect();
            if !paths.is_empty()
                && paths.len() == items.len()
                && paths.iter().all(|p| !p.is_empty())
            {
                return Some(ArgumentRule::Paths(paths));
            }
            Problem::error("invalid-args-match", "expected a list of one or more paths")
        }
        _ => {
            let message = format!(
                "expected exact, superset, subset, ignore or a list of paths, found {}",
                node.word()
            );
            Problem::error("invalid-args-match", message)
        }
    };
    problems.push(problem.at(node.span));
    None
}

/// Returns the arguments of a call. AgentV does not parse text that contains JSON
/// in its own files; in other formats arguments are usually such text.
pub(super) fn given<'c>(
    call: &'c Call,
    trajectory: &Trajectory,
    as_agentv: bool,
) -> Option<Cow<'c, Value>> {
    let args = call.args.as_ref()?;
    let is_text = args.form() == Form::Text;
    if is_text && as_agentv && trajectory.format.starts_with("agentv") {
        return Some(Cow::Owned(Value::String(args.raw().into_owned())));
    }
    match args.parsed() {
        Some(value) => Some(Cow::Borrowed(value)),
        None => Some(Cow::Owned(Value::String(args.raw().into_owned()))),
    }
}

/// Compares the arguments with the expected ones.
pub(super) fn fit(
    expected: &Map<String, Value>,
    given: Option<&Value>,
    rule: &ArgumentRule,
    as_agentv: bool,
) -> ArgumentFit {
    if *rule == ArgumentRule::Ignore {
        return ArgumentFit::Yes;
    }
    let Some(given) = given else { return ArgumentFit::No };
    if !as_agentv && !given.is_object() {
        return ArgumentFit::No;
    }
    match rule {
        ArgumentRule::Ignore => ArgumentFit::Yes,
        ArgumentRule::Exact => ArgumentFit::of(match given {
            Value::Object(given) => {
                given.len() == expected.len()
                    && expected.iter().all(|(k, v)| given.get(k).is_some_and(|g| same(v, g)))
            }
            _ => false,
        }),
        ArgumentRule::Superset if given.is_null() && !expected.is_empty() => ArgumentFit::Throws,
        ArgumentRule::Superset => {
            ArgumentFit::of(expected.iter().all(|(k, v)| own(given, k).is_some_and(|g| same(v, g))))
        }
        ArgumentRule::Subset => match given {
            Value::Null => ArgumentFit::Throws,
            Value::Object(given) => ArgumentFit::of(
                given.iter().all(|(k, g)| expected.get(k).is_some_and(|v| same(v, g))),
            ),
            Value::Array(items) => ArgumentFit::of(
                items
                    .iter()
                    .enumerate()
                    .all(|(n, g)| expected.get(&n.to_string()).is_some_and(|v| same(v, g))),
            ),
            Value::String(text) => ArgumentFit::of(text.is_empty()),
            Value::Bool(_) | Value::Number(_) => ArgumentFit::Yes,
        },
        ArgumentRule::Paths(paths) => {
            ArgumentFit::of(paths.iter().all(|path| match at(expected, path, as_agentv) {
                None => true,
                Some(wanted) => {
                    let found = match given {
                        Value::Object(given) => at(given, path, as_agentv),
                        other => within(Some(other), path),
                    };
                    found.is_some_and(|found| same(wanted, found))
                }
            }))
        }
    }
}

fn same(a: &Value, b: &Value) -> bool {
    equal(a, b, NumberRules::Json)
}

fn own<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Object(fields) => fields.get(key),
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => None,
    }
}

/// Returns the value at a dotted path. A key that contains dots is found by
/// toolmark but not by AgentV.
pub(super) fn at<'v>(
    fields: &'v Map<String, Value>,
    path: &str,
    as_agentv: bool,
) -> Option<&'v Value> {
    if !as_agentv && let Some(value) = fields.get(path) {
        return Some(value);
    }
    let (first, rest) = path.split_once('.').map_or((path, None), |(a, b)| (a, Some(b)));
    let value = fields.get(first)?;
    match rest {
        None => Some(value),
        Some(rest) => within(Some(value), rest),
    }
}

fn within<'v>(value: Option<&'v Value>, path: &str) -> Option<&'v Value> {
    path.split('.').fold(value, |value, key| own(value?, key))
}

/// Describes the difference between expected and actual arguments briefly.
pub(super) fn difference(expected: &Map<String, Value>, given: Option<&Value>) -> String {
    let Some(given) = given else { return "it was called without arguments".into() };
    let Value::Object(given) = given else { return "its arguments are no object".into() };
    for (key, wanted) in expected {
        match given.get(key) {
            None => return format!("{} is missing", quoted(key)),
            Some(found) if !same(wanted, found) => {
                let (found, wanted) = (short(found), short(wanted));
                return format!("{} is {found}, expected {wanted}", quoted(key));
            }
            Some(_) => {}
        }
    }
    match given.keys().find(|key| !expected.contains_key(*key)) {
        Some(extra) => format!("{} is not expected", quoted(extra)),
        None => "they are not what was expected".into(),
    }
}

fn short(value: &Value) -> String {
    let mut text = value.to_string();
    if let Some((cut, _)) = text.char_indices().nth(60) {
        text.truncate(cut);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rules_over_arguments() {
        let paths =
            |list: &[&str]| ArgumentRule::Paths(list.iter().map(|p| (*p).to_owned()).collect());
        use ArgumentFit::{No, Throws, Yes};
        use ArgumentRule::{Exact, Ignore, Subset, Superset};
        // (expected, given, rule, toolmark, AgentV)
        for (expected, given, rule, ours, theirs) in [
            (json!({"a": 1}), Some(json!({"a": 1})), Exact, Yes, Yes),
            (json!({"a": 1}), Some(json!({"a": 1.0})), Exact, Yes, Yes),
            (json!({"a": 1}), Some(json!({"a": "1"})), Exact, No, No),
            (json!({"a": 1}), Some(json!({"a": 1, "b": 2})), Exact, No, No),
            (json!({"a": 1}), Some(json!({"a": 1, "b": 2})), Superset, Yes, Yes),
            (json!({"o": {"a": 1}}), Some(json!({"o": {"a": 1, "b": 2}})), Superset, No, No),
            (json!({"a": 1, "b": 2}), Some(json!({"a": 1})), Superset, No, No),
            (json!({"a": 1, "b": 2}), Some(json!({"a": 1})), Subset, Yes, Yes),
            (json!({"a": 1}), Some(json!({"a": 2})), Subset, No, No),
            (json!({"a": 1}), Some(json!({})), Subset, Yes, Yes),
            (json!({"a": 1}), None, Ignore, Yes, Yes),
            (json!({}), None, Superset, No, No),
            (json!({}), Some(json!({})), Superset, Yes, Yes),
            (json!({"a": 1}), Some(json!(null)), Exact, No, No),
            (json!({"a": 1}), Some(json!(null)), Superset, No, Throws),
            (json!({}), Some(json!(null)), Superset, No, Yes),
            (json!({"a": 1}), Some(json!(null)), Subset, No, Throws),
            (json!({"a": 1}), Some(json!(null)), Ignore, Yes, Yes),
            (json!({"a": 1}), Some(json!(7)), Subset, No, Yes),
            (json!({"a": 1}), Some(json!("{}")), Superset, No, No),
            (
                json!({"a": {"b": [0, 5]}}),
                Some(json!({"a": {"b": [1, 5]}})),
                paths(&["a.b.1"]),
                Yes,
                Yes,
            ),
            (
                json!({"a": {"b": [0, 5]}}),
                Some(json!({"a": {"b": [1, 5]}})),
                paths(&["a.b.0"]),
                No,
                No,
            ),
            (json!({"a": 1}), Some(json!({"a": 2})), paths(&["z"]), Yes, Yes),
            (json!({"a": 1}), Some(json!({})), paths(&["a"]), No, No),
            (json!({"a.b": 1}), Some(json!({"a.b": 2})), paths(&["a.b"]), No, Yes),
        ] {
            let fields = expected.as_object().unwrap();
            assert_eq!(
                fit(fields, given.as_ref(), &rule, false),
                ours,
                "{expected} {given:?} {rule:?}"
            );
            assert_eq!(
                fit(fields, given.as_ref(), &rule, true),
                theirs,
                "{expected} {given:?} {rule:?}"
            );
        }
    }

    #[test]
    fn differences_name_the_key() {
        for (expected, given, said) in [
            (json!({"a": 1}), Some(json!({})), "\"a\" is missing"),
            (json!({"a": 1}), Some(json!({"a": 2})), "\"a\" is 2, expected 1"),
            (json!({}), Some(json!({"b": 1})), "\"b\" is not expected"),
            (json!({}), None, "it was called without arguments"),
        ] {
            assert_eq!(difference(expected.as_object().unwrap(), given.as_ref()), said);
        }
    }
}
