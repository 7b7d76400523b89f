//! Converts rows of promptfoo's CSV files to tests.

use crate::grader_by_id;
use serde_json::{Map, Value, json};

/// Converts a row to a test. Columns are variables, except those with a special meaning.
pub(super) fn test(row: &Value, n: usize) -> Value {
    let mut test = Map::new();
    let (mut vars, mut metadata) = (Map::new(), Map::new());
    let mut expected: Vec<Map<String, Value>> = Vec::new();
    let (mut prefix, mut suffix, mut metric) = (String::new(), String::new(), None);
    for (key, value) in row.as_object().into_iter().flatten() {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        match key.trim() {
            "id" if !text.is_empty() => drop(test.insert("id".into(), text.into())),
            "id" | "" => {}
            "input" => drop(test.insert("input".into(), text.into())),
            "__prefix" => prefix = text,
            "__suffix" => suffix = text,
            "__description" => drop(test.insert("criteria".into(), text.into())),
            "__metric" => metric = Some(text).filter(|text| !text.is_empty()),
            "__threshold" => {
                if let Ok(number) = text.trim().parse::<f64>() {
                    test.insert("threshold".into(), json!(number));
                }
            }
            key if key.starts_with("__expected") => {
                expected.extend(Some(text.trim()).filter(|text| !text.is_empty()).map(assertion));
            }
            key if key.starts_with("__metadata:") => {
                metadata.insert(key["__metadata:".len()..].to_owned(), text.into());
            }
            // How a run is made, which matters for running it only.
            key if key.starts_with("__") => {}
            key => {
                drop(vars.insert(key.strip_prefix("vars.").unwrap_or(key).to_owned(), text.into()))
            }
        }
    }
    if let Some(Value::String(input)) = test.get_mut("input") {
        *input = format!("{prefix}{input}{suffix}");
    }
    if let Some(metric) = metric {
        for (n, assertion) in expected.iter_mut().enumerate() {
            let name = if n == 0 { metric.clone() } else { format!("{metric}-{}", n + 1) };
            assertion.insert("name".into(), name.into());
        }
    }
    test.entry("id").or_insert_with(|| format!("row-{}", n + 1).into());
    if !vars.is_empty() {
        test.insert("vars".into(), Value::Object(vars));
    }
    if !metadata.is_empty() {
        test.insert("metadata".into(), Value::Object(metadata));
    }
    test.insert("assert".into(), expected.into_iter().map(Value::Object).collect());
    Value::Object(test)
}

/// Parses the expectation in a cell: `type: value`, `type(number): value`, or a text that the
/// answer must equal.
fn assertion(text: &str) -> Map<String, Value> {
    let with = |kind: &str, value: Value| {
        Map::from_iter([("type".to_owned(), json!(kind)), ("value".to_owned(), value)])
    };
    let (head, value) = match text.split_once(':') {
        Some((head, value)) => (head.trim(), Some(value.trim())),
        None => (text, None),
    };
    match (head, value) {
        ("grade", Some(value)) => return with("llm-rubric", json!(value)),
        ("fn" | "eval", Some(value)) => return with("javascript", json!(value)),
        ("file", Some(_)) => return with("python", json!(text)),
        _ => {}
    }
    let (word, number) = match head.strip_suffix(')').and_then(|head| head.split_once('(')) {
        Some((word, number)) => (word, number.trim().parse::<f64>().ok()),
        None => (head, None),
    };
    let plain = word.strip_prefix("not-").unwrap_or(word);
    let known = grader_by_id(plain).filter(|info| info.origin == "agentv");
    let Some(info) = known.filter(|_| value.is_some() || number.is_some() || plain == "is-json")
    else {
        return with("equals", json!(text));
    };
    let is_list = ["-any", "-all"].iter().any(|end| info.id.ends_with(end));
    let mut assertion = Map::from_iter([("type".to_owned(), json!(word))]);
    match value {
        Some(list) if is_list => {
            let items: Vec<&str> = list.split(',').map(str::trim).collect();
            assertion.insert("value".into(), json!(items));
        }
        Some(value) if !value.is_empty() => drop(assertion.insert("value".into(), json!(value))),
        _ => {}
    }
    if let Some(number) = number {
        let key = match info.id {
            "latency" => "threshold",
            "cost" => "budget",
            _ => "min_score",
        };
        assertion.insert(key.into(), json!(number));
    }
    assertion
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_assertions() {
        for (text, want) in [
            ("hello", json!({"type": "equals", "value": "hello"})),
            ("note: this", json!({"type": "equals", "value": "note: this"})),
            ("contains: x", json!({"type": "contains", "value": "x"})),
            ("not-icontains: x", json!({"type": "not-icontains", "value": "x"})),
            ("contains-any: a, b", json!({"type": "contains-any", "value": ["a", "b"]})),
            ("is-json", json!({"type": "is-json"})),
            ("latency(100)", json!({"type": "latency", "threshold": 100.0})),
            ("similar(0.8): x", json!({"type": "similar", "value": "x", "min_score": 0.8})),
            ("grade: is nice", json!({"type": "llm-rubric", "value": "is nice"})),
            ("fn: output.length", json!({"type": "javascript", "value": "output.length"})),
        ] {
            assert_eq!(Value::Object(assertion(text)), want, "{text}");
        }
    }

    #[test]
    fn columns_are_values() {
        let row = json!({
            "city": "Paris", "input": "go", "__prefix": "now ", "__expected": "contains: x",
            "__expected2": "", "__metric": "m", "__threshold": "0.5", "__metadata:kind": "a",
        });
        assert_eq!(
            test(&row, 2),
            json!({
                "id": "row-3",
                "input": "now go",
                "threshold": 0.5,
                "vars": {"city": "Paris"},
                "metadata": {"kind": "a"},
                "assert": [{"type": "contains", "value": "x", "name": "m"}],
            })
        );
    }
}
