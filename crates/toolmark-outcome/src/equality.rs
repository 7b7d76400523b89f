//! Equality of JSON values.

use serde_json::{Number, Value};

/// Rules for comparing numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NumberRules {
    /// 1 = 1.0 and true ≠ 1, as in JSON and JavaScript.
    #[default]
    Json,
    /// 1 = 1.0 = true, as in Python.
    Python,
}

/// Whether two values are equal. The order of object keys is ignored, the order of lists is
/// not.
///
/// The recursion is bounded because parsers limit the nesting of values.
#[must_use]
pub fn equal(a: &Value, b: &Value, numbers: NumberRules) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::Bool(flag), Value::Number(number)) | (Value::Number(number), Value::Bool(flag)) => {
            numbers == NumberRules::Python && number.as_f64() == Some(f64::from(u8::from(*flag)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b, numbers))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b, numbers)))
        }
        _ => a == b,
    }
}

/// Compares whole numbers exactly and others as 64-bit floats.
fn same_number(a: &Number, b: &Number) -> bool {
    if let (Some(a), Some(b)) = (a.as_i64(), b.as_i64()) {
        return a == b;
    }
    if let (Some(a), Some(b)) = (a.as_u64(), b.as_u64()) {
        return a == b;
    }
    if a.is_f64() || b.is_f64() {
        return a.as_f64() == b.as_f64();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_and_python() {
        for (a, b, json, python) in [
            (json!(1), json!(1.0), true, true),
            (json!(true), json!(1), false, true),
            (json!(0.0), json!(false), false, true),
            (json!(1), json!("1"), false, false),
            (json!(null), json!(0), false, false),
            (json!({"a": [1, {"b": true}]}), json!({"a": [1.0, {"b": 1}]}), false, true),
            (json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}), true, true),
            (json!({"a": null}), json!({}), false, false),
            (json!([1, 2]), json!([2, 1]), false, false),
            (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992_i64), false, false),
            (json!(u64::MAX), json!(-1), false, false),
        ] {
            assert_eq!(equal(&a, &b, NumberRules::Json), json, "{a} {b}");
            assert_eq!(equal(&b, &a, NumberRules::Python), python, "{a} {b}");
        }
    }
}
