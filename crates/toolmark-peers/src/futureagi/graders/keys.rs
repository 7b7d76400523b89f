//! Converts calls to numbers: equal names, parameters and values get equal numbers, so
//! that comparing two calls takes time proportional to their number of arguments,
//! however large those are.

use serde_json::{Number, Value};
use std::collections::HashMap;
use std::fmt::Write;

/// Placeholder parameter for arguments without names: a list or a text.
const WHOLE: &str = "\0";

/// A call as numbers.
#[derive(Debug, Clone)]
pub(super) struct Keyed {
    pub(super) name: u32,
    /// Parameters and values, sorted by parameter.
    params: Vec<(u32, u32)>,
}

/// Comparison of the arguments of two calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ArgumentComparison {
    /// Number of parameters of the expected call, and of the actual one.
    pub(super) gold: usize,
    pub(super) made: usize,
    /// Number of common parameters, and of those with equal values.
    pub(super) common: usize,
    pub(super) equal: usize,
}

impl ArgumentComparison {
    /// Whether the arguments are equal, or with `ignore_extra` include the expected ones.
    pub(super) fn is_match(self, ignore_extra: bool) -> bool {
        self.equal == self.gold && (ignore_extra || self.made == self.gold)
    }
}

impl Keyed {
    /// Returns the number of steps of a comparison.
    pub(super) fn size(&self) -> usize {
        self.params.len() + 1
    }

    /// Compares the arguments of an expected call with those of an actual one.
    pub(super) fn shared(&self, made: &Self) -> ArgumentComparison {
        let mut shared = ArgumentComparison {
            gold: self.params.len(),
            made: made.params.len(),
            common: 0,
            equal: 0,
        };
        let mut others = made.params.iter().peekable();
        for (param, value) in &self.params {
            while others.next_if(|(other, _)| other < param).is_some() {}
            if let Some((_, other)) = others.next_if(|(other, _)| other == param) {
                shared.common += 1;
                shared.equal += usize::from(other == value);
            }
        }
        shared
    }
}

/// Numbers assigned so far.
pub(super) struct KeyNumbers {
    strict: bool,
    ids: HashMap<String, u32>,
}

impl KeyNumbers {
    /// Creates an empty table. With `strict`, 1 and 1.0 are different values.
    pub(super) fn new(strict: bool) -> Self {
        Self { strict, ids: HashMap::new() }
    }

    fn id(&mut self, text: String) -> u32 {
        let next = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        *self.ids.entry(text).or_insert(next)
    }

    /// Converts a call to numbers. Missing arguments, null and an empty text are all treated as
    /// none.
    pub(super) fn call(&mut self, name: &str, args: Option<&Value>) -> Keyed {
        let name = self.id(name.to_owned());
        let mut params = Vec::new();
        match args {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) if text.trim().is_empty() => {}
            Some(Value::Object(map)) => {
                for (param, value) in map {
                    let value = canonical(value, self.strict);
                    params.push((self.id(param.clone()), self.id(value)));
                }
            }
            Some(other) => {
                let value = canonical(other, self.strict);
                params.push((self.id(WHOLE.to_owned()), self.id(value)));
            }
        }
        params.sort_unstable();
        Keyed { name, params }
    }
}

/// Whether two values are equal. With `strict`, 1 and 1.0 are not.
pub(super) fn same_value(a: &Value, b: &Value, strict: bool) -> bool {
    canonical(a, strict) == canonical(b, strict)
}

fn canonical(value: &Value, strict: bool) -> String {
    let mut text = String::new();
    write_canonical(value, strict, &mut text);
    text
}

/// Writes a text that is the same for equal values: keys sorted, numbers in one notation.
///
/// Values come from parsers that bound nesting, so the recursion is bounded too.
fn write_canonical(value: &Value, strict: bool, out: &mut String) {
    match value {
        Value::Number(number) => write_number(number, strict, out),
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_canonical(item, strict, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (key, value) in entries {
                write_text(key, out);
                write_canonical(value, strict, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::String(text) => write_text(text, out),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Null => out.push_str("null"),
    }
}

/// Writes a text after its length, so that it needs no escapes.
fn write_text(text: &str, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "\"{}:{text}", text.len());
}

fn write_number(number: &Number, strict: bool, out: &mut String) {
    let float = number.as_f64().filter(|_| number.is_f64());
    let _ = match float {
        None => write!(out, "{number}"),
        Some(float) if !strict && float.fract() == 0.0 && float.abs() < 1e38 => {
            write!(out, "{}", float as i128)
        }
        // Adding 0 makes -0 what it equals.
        Some(float) => write!(out, "{:?}", float + 0.0),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolmark_outcome::{NumberRules, equal};

    #[test]
    fn equal_values_have_equal_numbers() {
        let values = [
            json!(1),
            json!(1.0),
            json!("1"),
            json!(true),
            json!(null),
            json!(0),
            json!(-0.0),
            json!(0.5),
            json!([1, "a"]),
            json!([1.0, "a"]),
            json!(["1,a"]),
            json!(["1", "a"]),
            json!({"a": 1, "b": [2]}),
            json!({"b": [2.0], "a": 1}),
            json!({"a": {"b": 1}}),
            json!(u64::MAX),
            json!(-1),
            json!(9_007_199_254_740_993_i64),
            json!(9_007_199_254_740_992_i64),
        ];
        for a in &values {
            for b in &values {
                let want = equal(a, b, NumberRules::Json);
                assert_eq!(same_value(a, b, false), want, "{a} {b}");
            }
        }
        assert!(!same_value(&json!(1), &json!(1.0), true));
        assert!(same_value(&json!(100.0), &json!(1e2), true));
    }

    #[test]
    fn arguments_are_compared_by_name() {
        let shared = |gold: Value, made: Value| {
            let mut keys = KeyNumbers::new(false);
            let gold = keys.call("f", Some(&gold));
            let shared = gold.shared(&keys.call("f", Some(&made)));
            (shared.gold, shared.made, shared.common, shared.equal)
        };
        assert_eq!(shared(json!({"a": 1, "b": 2}), json!({"b": 3, "a": 1, "c": 0})), (2, 3, 2, 1));
        assert_eq!(shared(json!({}), json!(null)), (0, 0, 0, 0));
        assert_eq!(shared(json!([1]), json!([1.0])), (1, 1, 1, 1));
        assert_eq!(shared(json!({"a": 1}), json!("1")), (1, 1, 0, 0));
    }
}
