//! Compares arguments with expected values.

use super::path::{KeyPath, KeyStep, written};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use toolmark_outcome::{NumberRules, equal};

/// Comparison mode for the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArgsMatch {
    /// The call must contain the expected arguments and may have more. Nested objects
    /// may have more keys too, lists must have the same length.
    #[default]
    Contains,
    /// The arguments must be exactly the expected ones.
    Exact,
    /// Every argument of the call must be expected with this value; the call may have fewer
    /// arguments.
    Within,
    /// Arguments are not compared.
    Ignore,
}

/// A difference between a call and the expectation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Differing part: `argument city`, `status`.
    pub what: String,
    /// Expected value; `None` if nothing is expected.
    pub expected: Option<String>,
    /// Actual value; `None` if it is missing.
    pub found: Option<String>,
}

/// Maximum number of differences listed per call.
const DIFFERENCES: usize = 8;

/// Maximum length of displayed values.
const SHOWN: usize = 60;

/// Returns a JSON value on one short line.
#[must_use]
pub fn shown(value: &Value) -> String {
    // Not `to_string`, which writes through a formatter. Values can be written to memory.
    let text = serde_json::to_string(value).unwrap_or_default();
    if text.len() <= SHOWN {
        return text;
    }
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Callback for a difference, with its path, the expected value and the actual value;
/// returns whether to continue.
type Tell<'t, 'v> = dyn FnMut(&[KeyStep<'v>], Option<&Value>, Option<&Value>) -> bool + 't;

/// A comparison of expected and found arguments.
pub(super) struct ArgsComparison<'a> {
    pub(super) how: ArgsMatch,
    pub(super) ignore: &'a [KeyPath],
}

impl<'a> ArgsComparison<'a> {
    /// Whether the arguments match.
    pub(super) fn holds(&self, expected: &Value, found: &Value) -> bool {
        if self.ignore.is_empty() && self.how == ArgsMatch::Exact {
            return equal(expected, found, NumberRules::Json);
        }
        let mut differs = false;
        self.walk(expected, found, &mut Vec::new(), &mut |_, _, _| {
            differs = true;
            false
        });
        !differs
    }

    /// Returns the differences.
    pub(super) fn differences(&self, expected: &Value, found: &Value) -> Vec<Difference> {
        let mut all = Vec::new();
        self.walk(expected, found, &mut Vec::new(), &mut |steps, expected, found| {
            let what = match steps {
                [] => "the arguments".to_owned(),
                steps => format!("argument {}", written(steps)),
            };
            all.push(Difference { what, expected: expected.map(shown), found: found.map(shown) });
            all.len() < DIFFERENCES
        });
        all
    }

    /// Calls `tell` for every difference until it returns `false`. Both values
    /// come from parsers that bound nesting.
    fn walk<'v>(
        &self,
        expected: &'v Value,
        found: &'v Value,
        steps: &mut Vec<KeyStep<'v>>,
        tell: &mut Tell<'_, 'v>,
    ) -> bool {
        if self.how == ArgsMatch::Ignore || self.ignores(steps) {
            return true;
        }
        match (expected, found) {
            (Value::Object(expected), Value::Object(found)) => {
                for (key, expected) in expected {
                    steps.push(KeyStep::Key(key));
                    let goes_on = match found.get(key) {
                        Some(found) => self.walk(expected, found, steps, tell),
                        None if self.how == ArgsMatch::Within || self.ignores(steps) => true,
                        None => tell(steps, Some(expected), None),
                    };
                    steps.pop();
                    if !goes_on {
                        return false;
                    }
                }
                if self.how == ArgsMatch::Contains {
                    return true;
                }
                for (key, value) in found.iter().filter(|(key, _)| !expected.contains_key(*key)) {
                    steps.push(KeyStep::Key(key));
                    let goes_on = self.ignores(steps) || tell(steps, None, Some(value));
                    steps.pop();
                    if !goes_on {
                        return false;
                    }
                }
                true
            }
            (Value::Array(wanted), Value::Array(got)) if wanted.len() == got.len() => {
                for (index, (expected, found)) in wanted.iter().zip(got).enumerate() {
                    steps.push(KeyStep::Index(index));
                    let goes_on = self.walk(expected, found, steps, tell);
                    steps.pop();
                    if !goes_on {
                        return false;
                    }
                }
                true
            }
            _ if equal(expected, found, NumberRules::Json) => true,
            _ => tell(steps, Some(expected), Some(found)),
        }
    }

    fn ignores(&self, steps: &[KeyStep<'_>]) -> bool {
        self.ignore.iter().any(|path| path.is(steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn four_ways_to_compare() {
        let none: &[&str] = &[];
        // (expected, found, contains, exact, within), ignoring these.
        for (expected, found, ignore, contains, exact, within) in [
            (json!({"a": 1}), json!({"a": 1.0}), none, true, true, true),
            (json!({"a": 1}), json!({"a": true}), none, false, false, false),
            (json!({"a": 1}), json!({"a": "1"}), none, false, false, false),
            (json!({"a": 1}), json!({"a": 1, "b": 2}), none, true, false, false),
            (json!({"a": 1, "b": 2}), json!({"a": 1}), none, false, false, true),
            (json!({}), json!({"a": 1}), none, true, false, false),
            (json!({"a": 1}), json!({}), none, false, false, true),
            (json!({"a": {"x": 1}}), json!({"a": {"x": 1, "y": 2}}), none, true, false, false),
            (
                json!({"a": [1, {"x": 1}]}),
                json!({"a": [1, {"x": 1, "y": 2}]}),
                none,
                true,
                false,
                false,
            ),
            (json!({"a": [1]}), json!({"a": [1, 2]}), none, false, false, false),
            (json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}), none, true, true, true),
            (json!({"a": null}), json!({}), none, false, false, true),
            (json!({"a": 1}), json!("text"), none, false, false, false),
            (json!({"a": 1}), json!({"a": 1, "id": 7}), &["id"], true, true, true),
            (json!({"a": 1, "id": 1}), json!({"a": 1}), &["id"], true, true, true),
            (
                json!({"a": {"t": 1, "x": 1}}),
                json!({"a": {"t": 2, "x": 1}}),
                &["a.t"],
                true,
                true,
                true,
            ),
            (json!({"l": [{"t": 1}]}), json!({"l": [{"t": 2}]}), &["l[0].t"], true, true, true),
        ] {
            let ignore: Vec<_> = ignore.iter().map(|p| KeyPath::parse(p).unwrap()).collect();
            for (how, want) in [
                (ArgsMatch::Contains, contains),
                (ArgsMatch::Exact, exact),
                (ArgsMatch::Within, within),
                (ArgsMatch::Ignore, true),
            ] {
                let comparison = ArgsComparison { how, ignore: &ignore };
                assert_eq!(comparison.holds(&expected, &found), want, "{how:?} {expected} {found}");
                let differences = comparison.differences(&expected, &found);
                assert_eq!(differences.is_empty(), want, "{how:?} {expected} {found}");
            }
        }
    }

    #[test]
    fn differences_name_the_place() {
        let comparison = ArgsComparison { how: ArgsMatch::Exact, ignore: &[] };
        let found = comparison.differences(
            &json!({"city": "Paris", "n": {"a": [1, 2]}}),
            &json!({"city": "London", "n": {"a": [1, 3]}, "more": true}),
        );
        let said: Vec<_> = found
            .iter()
            .map(|d| (d.what.as_str(), d.expected.as_deref(), d.found.as_deref()))
            .collect();
        assert_eq!(
            said,
            [
                ("argument city", Some("\"Paris\""), Some("\"London\"")),
                ("argument n.a[1]", Some("2"), Some("3")),
                ("argument more", None, Some("true")),
            ]
        );
    }
}
