//! Validates the arguments of a call against the schema of its function, parameter by
//! parameter.

use super::schema_cost::{SchemaCost, SchemaFault};
use serde_json::Value;
use toolmark_base::{SortedMap, SortedSet};
use toolmark_schema::{MismatchKind, Patterns, Validator};

/// Maximum number of errors that are distinguished.
const MAX_ERRORS: usize = 1000;
/// Maximum number of backtracking steps of a pattern with look-around.
const BACKTRACKS: usize = 100_000;

/// One check: a parameter, and its error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParameterCheck {
    /// Parameter; `None` for the arguments as a whole.
    pub(super) parameter: Option<String>,
    pub(super) fault: Option<String>,
}

/// A compiled schema for checking calls.
#[derive(Debug)]
pub(super) struct Checker {
    schema: Value,
    validator: Validator,
    cost: SchemaCost,
    /// Properties and required names, in order.
    declared: Vec<String>,
    /// Whether the schema lists its properties and does not mention others.
    is_closed: bool,
}

/// Reason why a call is not checked.
#[derive(Debug, Clone, Copy, thiserror::Error)]
pub(super) enum Unchecked {
    #[error("its schema and the arguments are too intricate to check")]
    TooIntricate,
    #[error("a pattern of its schema takes too many steps")]
    TooManySteps,
}

impl Checker {
    /// Compiles a schema, or returns the reason why it cannot be used.
    pub(super) fn new(schema: &Value) -> Result<Self, SchemaFault> {
        let cost = SchemaCost::of(schema)?;
        let validator = Validator::new(schema, Patterns::Backtracking(BACKTRACKS))?;
        let properties = schema.get("properties").and_then(Value::as_object);
        let required = schema.get("required").and_then(Value::as_array);
        let mut declared: Vec<String> =
            properties.map(|properties| properties.keys().cloned().collect()).unwrap_or_default();
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if properties.is_none_or(|properties| !properties.contains_key(name)) {
                declared.push(name.to_owned());
            }
        }
        const OPEN: [&str; 10] = [
            "additionalProperties",
            "patternProperties",
            "unevaluatedProperties",
            "$ref",
            "allOf",
            "anyOf",
            "oneOf",
            "if",
            "dependentSchemas",
            "dependencies",
        ];
        let is_closed = properties.is_some() && !OPEN.iter().any(|key| schema.get(*key).is_some());
        Ok(Self { schema: schema.clone(), validator, cost, declared, is_closed })
    }

    /// Returns the checks of one call; `Err` if they would take too long.
    pub(super) fn check(
        &self,
        args: &Value,
        strict: bool,
        ignore_extra: bool,
    ) -> Result<Vec<ParameterCheck>, Unchecked> {
        if !self.cost.allows(args) {
            return Err(Unchecked::TooIntricate);
        }
        let Some(given) = args.as_object() else {
            // JSON Schema accepts values that are not objects; a call must name its arguments.
            let mut faults = Faults::default();
            faults.whole(|| format!("the arguments are no object: {args}"));
            let declared = self.declared.iter();
            declared.for_each(|name| faults.parameter(name, || "is not given by name".into()));
            return Ok(faults.checks(&self.declared));
        };
        let mut faults = Faults::default();
        let mut undeclared: SortedSet<String> = SortedSet::new();
        for mismatch in self.validator.mismatches(args, MAX_ERRORS) {
            match mismatch.kind {
                MismatchKind::TooManySteps => {
                    return Err(Unchecked::TooManySteps);
                }
                MismatchKind::Undeclared(names) if mismatch.path.is_empty() => {
                    undeclared.extend(names);
                    continue;
                }
                MismatchKind::Missing(name) if mismatch.path.is_empty() => {
                    faults.parameter(&name, || "is missing".into());
                    continue;
                }
                _ => {}
            }
            match mismatch.path.first() {
                Some(name) if mismatch.is_in_property => {
                    let place = match mismatch.path.len() {
                        1 => String::new(),
                        _ => format!("{}: ", mismatch.pointer),
                    };
                    faults.parameter(name, || format!("{place}{}", mismatch.message));
                }
                _ => faults.whole(|| mismatch.message.clone()),
            }
        }
        if self.is_closed {
            let names = given.keys();
            let declared: SortedSet<&str> = self.declared.iter().map(String::as_str).collect();
            undeclared.extend(names.filter(|name| !declared.contains(name.as_str())).cloned());
        }
        if !ignore_extra {
            for name in undeclared {
                faults.parameter(&name, || "is not declared".into());
            }
        }
        if strict {
            for (name, value) in given {
                let schema = self.schema.get("properties").and_then(|all| all.get(name));
                if schema.is_some_and(|schema| has_float_integer(schema, value)) {
                    faults.parameter(name, || "is a float where an integer is declared".into());
                }
            }
        }
        Ok(faults.checks(&self.declared))
    }
}

/// First error of each parameter.
#[derive(Default)]
struct Faults {
    parameters: SortedMap<String, String>,
    whole: Option<String>,
}

impl Faults {
    fn parameter(&mut self, name: &str, fault: impl FnOnce() -> String) {
        if !self.parameters.contains_key(name) {
            self.parameters.insert(name.to_owned(), toolmark_outcome::excerpt(&fault()));
        }
    }

    fn whole(&mut self, fault: impl FnOnce() -> String) {
        self.whole.get_or_insert_with(|| toolmark_outcome::excerpt(&fault()));
    }

    /// Returns a check for every declared parameter, and one for all other errors.
    fn checks(mut self, declared: &[String]) -> Vec<ParameterCheck> {
        let mut checks: Vec<ParameterCheck> = declared
            .iter()
            .map(|name| ParameterCheck {
                parameter: Some(name.clone()),
                fault: self.parameters.remove(name),
            })
            .collect();
        checks.extend(
            self.parameters
                .into_iter()
                .map(|(name, fault)| ParameterCheck { parameter: Some(name), fault: Some(fault) }),
        );
        checks
            .extend(self.whole.map(|fault| ParameterCheck { parameter: None, fault: Some(fault) }));
        if checks.is_empty() {
            checks.push(ParameterCheck { parameter: None, fault: None });
        }
        checks
    }
}

/// Whether a float such as 3.0 is used where the schema requires an integer. JSON Schema
/// accepts it. Follows properties and items.
fn has_float_integer(schema: &Value, value: &Value) -> bool {
    let says = |word: &str| match schema.get("type") {
        Some(Value::String(own)) => own == word,
        Some(Value::Array(own)) => own.iter().any(|own| own == word),
        _ => false,
    };
    match value {
        Value::Number(number) => number.is_f64() && says("integer") && !says("number"),
        Value::Array(items) => {
            let schema = schema.get("items").filter(|items| items.is_object());
            schema.is_some_and(|schema| items.iter().any(|item| has_float_integer(schema, item)))
        }
        Value::Object(map) => map.iter().any(|(key, value)| {
            let own = schema.get("properties").and_then(|all| all.get(key));
            own.is_some_and(|schema| has_float_integer(schema, value))
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the failing parameters, and the number of checks.
    fn failing(schema: &Value, args: &Value, strict: bool, ignore: bool) -> (Vec<String>, usize) {
        let checks = Checker::new(schema).unwrap().check(args, strict, ignore).unwrap();
        let wrong = checks.iter().filter(|check| check.fault.is_some());
        let name =
            |check: &ParameterCheck| check.parameter.clone().unwrap_or_else(|| "*".to_owned());
        (wrong.map(name).collect(), checks.len())
    }

    #[test]
    fn faults_belong_to_parameters() {
        let schema = json!({
            "type": "object",
            "properties": {
                "q": {"type": "string", "minLength": 2},
                "n": {"type": "integer", "maximum": 9},
                "o": {"type": "object", "properties": {"k": {"enum": ["x", "y"]}}, "required": ["k"]},
            },
            "required": ["q", "r"],
        });
        for (args, wrong, checks) in [
            (json!({"q": "ab", "r": 1}), vec![], 4),
            (json!({"q": "a", "r": 1, "n": 10}), vec!["q", "n"], 4),
            (json!({"r": 1}), vec!["q"], 4),
            (json!({"q": "ab", "r": 1, "o": {}}), vec!["o"], 4),
            (json!({"q": "ab", "r": 1, "o": {"k": "z"}}), vec!["o"], 4),
            (json!({"q": "ab", "r": 1, "z": 1}), vec!["z"], 5),
            (json!({"q": "ab", "r": 1, "n": 3.0}), vec![], 4),
            (json!({"q": "ab", "r": 1, "n": 3.5}), vec!["n"], 4),
            (json!({"q": "ab", "r": 1, "n": true}), vec!["n"], 4),
            (json!([1]), vec!["q", "n", "o", "r", "*"], 5),
            (json!("q=1"), vec!["q", "n", "o", "r", "*"], 5),
        ] {
            let wrong: Vec<String> = wrong.into_iter().map(str::to_owned).collect();
            assert_eq!(failing(&schema, &args, false, false), (wrong, checks), "{args}");
        }
        let extra = json!({"q": "ab", "r": 1, "z": 1});
        assert_eq!(failing(&schema, &extra, false, true), (vec![], 4));
        let float = json!({"q": "ab", "r": 1, "n": 3.0});
        assert_eq!(failing(&schema, &float, true, false), (vec!["n".to_owned()], 4));
    }

    #[test]
    fn the_schema_decides_about_others() {
        let args = json!({"z": 1});
        for (more, wrong) in [
            (json!({"additionalProperties": false}), true),
            (json!({"additionalProperties": true}), false),
            (json!({"additionalProperties": {"type": "string"}}), true),
            (json!({"patternProperties": {"^z": {}}}), false),
            (json!({"allOf": [{"properties": {"z": {}}}]}), false),
        ] {
            let mut schema = json!({"type": "object", "properties": {"q": {}}});
            schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            assert_eq!(!failing(&schema, &args, false, false).0.is_empty(), wrong, "{more}");
        }
        // Nothing to check is a check that holds.
        assert_eq!(failing(&json!({"type": "object"}), &args, false, false), (vec![], 1));
    }

    #[test]
    fn what_is_no_schema_is_said() {
        for schema in [
            json!({"type": "strange"}),
            json!({"properties": {"a": {"minimum": "x"}}}),
            json!({"$ref": "https://example.com/schema.json"}),
            json!({"$ref": "#/$defs/none"}),
            json!({"$ref": "#"}),
        ] {
            assert!(Checker::new(&schema).is_err(), "{schema}");
        }
    }

    #[test]
    fn patterns_cannot_hang() {
        let schema = json!({"properties": {"a": {"pattern": "^((x+)\\2?)+y$"}}});
        let args = json!({"a": "x".repeat(60)});
        assert!(Checker::new(&schema).unwrap().check(&args, false, false).is_err());
    }
}
