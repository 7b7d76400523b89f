//! Paths into JSON results: `get_order.items[].item_id`.

use serde_json::Value;

/// Maximum number of values of a result to visit.
const MAX_VALUES: usize = 20_000;

/// A tool and a path in its results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultPath {
    /// Name or glob of the tool.
    pub tool: String,
    /// Path in the result; empty for the whole result.
    pub steps: Vec<PathStep>,
}

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    /// The value of a key.
    Key(String),
    /// Every element of a list, or every value of a map.
    Each,
}

/// Reason why a text is not a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// A part is empty.
    #[error("a part of the path is empty")]
    EmptyPart,
    /// A part has other brackets than `[]`.
    #[error("`{0}` has brackets other than `[]`, which means every element")]
    Brackets(String),
}

impl ResultPath {
    /// Parses a path. The name of the tool ends at the first dot.
    ///
    /// # Errors
    ///
    /// Fails if a part is empty or a bracket is not `[]`.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let mut parts = text.split('.');
        let tool = parts.next().unwrap_or_default();
        let (tool, mut steps) = with_brackets(tool)?;
        for part in parts {
            let (key, each) = with_brackets(part)?;
            steps.push(PathStep::Key(key));
            steps.extend(each);
        }
        Ok(Self { tool, steps })
    }

    /// Returns the path as text, without the tool.
    #[must_use]
    pub fn words(&self) -> String {
        let mut text = String::new();
        for step in &self.steps {
            match step {
                PathStep::Key(key) if text.is_empty() => text.push_str(key),
                PathStep::Key(key) => {
                    text.push('.');
                    text.push_str(key);
                }
                PathStep::Each => text.push_str("[]"),
            }
        }
        text
    }

    /// Returns the values at the path.
    #[must_use]
    pub fn values<'v>(&self, result: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![result];
        for step in &self.steps {
            let next = found.into_iter().flat_map(|value| match (step, value) {
                (PathStep::Key(key), value) => value.get(key).into_iter().collect::<Vec<_>>(),
                (PathStep::Each, Value::Array(items)) => items.iter().take(MAX_VALUES).collect(),
                (PathStep::Each, Value::Object(map)) => map.values().take(MAX_VALUES).collect(),
                (PathStep::Each, _) => Vec::new(),
            });
            found = next.take(MAX_VALUES).collect();
        }
        found
    }

    /// Whether a value, or a key of a map, at or below the path has this text.
    #[must_use]
    pub fn contains(&self, result: &Value, wanted: &str) -> bool {
        let mut open = self.values(result);
        let mut visited = 0;
        while let Some(value) = open.pop() {
            visited += 1;
            if visited > MAX_VALUES {
                return false;
            }
            match value {
                Value::Object(map) => {
                    if map.contains_key(wanted) {
                        return true;
                    }
                    open.extend(map.values());
                }
                Value::Array(items) => open.extend(items),
                value => {
                    if scalar(value).is_some_and(|text| text == wanted) {
                        return true;
                    }
                }
            }
        }
        false
    }
}

/// Returns a text, a number or a truth value as text. Numbers with the same value have the same
/// text.
#[must_use]
pub fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (None, Some(float)) if float.fract() == 0.0 && float.abs() < 1e15 => {
                Some(format!("{float:.0}"))
            }
            _ => Some(number.to_string()),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Splits the brackets from a part.
fn with_brackets(part: &str) -> Result<(String, Vec<PathStep>), PathError> {
    let (name, brackets) = part.split_at(part.find('[').unwrap_or(part.len()));
    if name.is_empty() {
        return Err(PathError::EmptyPart);
    }
    let rest = brackets.replace("[*]", "[]").replace("[]", "");
    if !rest.is_empty() {
        return Err(PathError::Brackets(part.to_owned()));
    }
    let count = brackets.matches('[').count();
    Ok((name.to_owned(), vec![PathStep::Each; count]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_at_paths() {
        let order = json!({"status": "pending", "total": 20.0, "items": [{"id": 1}, {"id": "b"}],
            "methods": {"card_1": {"last": "1234"}}});
        for (path, wanted, is_there) in [
            ("get.status", "pending", true),
            ("get.items[].id", "1", true),
            ("get.items[].id", "b", true),
            ("get.items", "b", true),
            ("get.methods", "card_1", true),
            ("get.methods", "1234", true),
            ("get.total", "20", true),
            ("get", "pending", true),
            ("get.items[].id", "pending", false),
            ("get.missing", "pending", false),
        ] {
            let path = ResultPath::parse(path).unwrap();
            assert_eq!(path.contains(&order, wanted), is_there, "{path:?} {wanted}");
            assert_eq!(path.tool, "get");
        }
        assert_eq!(ResultPath::parse("get.items[].id").unwrap().words(), "items[].id");
        for wrong in ["", "get.", "get..x", "get.items[0]", ".x"] {
            assert!(ResultPath::parse(wrong).is_err(), "{wrong}");
        }
    }
}
