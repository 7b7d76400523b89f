//! Python's notation, comparison and rounding of values.

use serde_json::{Map, Value};
use toolmark_base::text::push_python;
use toolmark_outcome::{NumberRules, equal};

/// Whether `a == b` in Python.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    equal(a, b, NumberRules::Python)
}

/// Whether `a == b` in Python, where either may be `None`.
pub(crate) fn same_option(a: Option<&Value>, b: Option<&Value>) -> bool {
    same(a.unwrap_or(&Value::Null), b.unwrap_or(&Value::Null))
}

/// Returns Python's `round(value, places)`.
pub(crate) fn rounded(value: f64, places: usize) -> f64 {
    format!("{value:.places$}").parse().unwrap_or(value)
}

/// Returns Python's `str(value)`.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => repr(other),
    }
}

/// Returns Python's `repr(value)`.
fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number_text(number),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(repr).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(key, value)| format!("{}: {}", quoted(key), repr(value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
    }
}

fn number_text(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => float_text(float),
        _ => number.to_string(),
    }
}

/// Returns the shortest digits that round-trip, with an exponent from 1e16 on and
/// below 1e-4.
fn float_text(float: f64) -> String {
    let scientific = format!("{float:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{float}");
        return if plain.contains('.') { plain } else { format!("{plain}.0") };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    push_python(text, &mut out);
    out
}

/// Returns Python's `json.dumps(value)`.
pub(crate) fn dumps(value: &Value) -> String {
    written(value, false)
}

/// Returns Python's `json.dumps(value, sort_keys=True)`.
pub(crate) fn sorted_dumps(value: &Value) -> String {
    written(value, true)
}

fn written(value: &Value, sorted: bool) -> String {
    match value {
        Value::Number(number) => number_text(number),
        Value::String(text) => escaped(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| written(item, sorted)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                format!("{}: {}", escaped(key), written(value, sorted))
            };
            let fields: Vec<String> = in_order(fields, sorted).into_iter().map(field).collect();
            format!("{{{}}}", fields.join(", "))
        }
        other => other.to_string(),
    }
}

fn in_order(fields: &Map<String, Value>, sorted: bool) -> Vec<(&String, &Value)> {
    let mut all: Vec<(&String, &Value)> = fields.iter().collect();
    if sorted {
        all.sort_by_key(|(key, _)| *key);
    }
    all
}

/// Writes a JSON string in ASCII.
fn escaped(text: &str) -> String {
    let json = Value::from(text).to_string();
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts() {
        for (value, str, dumped) in [
            (json!(1), "1", "1"),
            (json!(1.0), "1.0", "1.0"),
            (json!(0.1), "0.1", "0.1"),
            (json!(1e16), "1e+16", "1e+16"),
            (json!(123456789012345.0), "123456789012345.0", "123456789012345.0"),
            (json!(0.00001), "1e-05", "1e-05"),
            (json!(true), "True", "true"),
            (json!(null), "None", "null"),
            (json!("a'b"), "a'b", "\"a'b\""),
            (json!(["a'b", "c\n"]), "[\"a'b\", 'c\\n']", "[\"a'b\", \"c\\n\"]"),
            (
                json!({"b": 1, "a": [1, 2.5]}),
                "{'b': 1, 'a': [1, 2.5]}",
                "{\"b\": 1, \"a\": [1, 2.5]}",
            ),
            (json!("é😀"), "é😀", "\"\\u00e9\\ud83d\\ude00\""),
        ] {
            assert_eq!(text(&value), str, "{value}");
            assert_eq!(dumps(&value), dumped, "{value}");
        }
        assert_eq!(
            sorted_dumps(&json!({"b": 1, "a": {"d": 1, "c": 2}})),
            r#"{"a": {"c": 2, "d": 1}, "b": 1}"#
        );
    }

    #[test]
    fn rounds_to_even_digits() {
        // What lies exactly between goes to the even neighbour; the others that look so
        // lie a little above the half in binary.
        for (value, want) in [
            (2.0 / 3.0, 0.6667),
            (0.03125, 0.0312),
            (0.00005, 0.0001),
            (1.00005, 1.0001),
            (3.0, 3.0),
        ] {
            assert_eq!(rounded(value, 4), want, "{value}");
        }
    }
}
