//! Adds texts to a list in a settings file and leaves the rest of the file unchanged.

use super::edit::{EditStyle, add_item, add_member};
use super::jsonc::{Broken, JsoncKind, parse};
use serde_json::{Value, json};

/// Reason why a list in a settings file cannot be extended.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The text is not JSON.
    #[error(transparent)]
    Json(#[from] Broken),
    /// The value at a path is not an object.
    #[error("{0} is not an object")]
    NotAnObject(String),
    /// The value at a path is not a list.
    #[error("{0} is not a list")]
    NotAList(String),
}

/// Returns the text of a settings file with each of `items` once in the list at `keys`. The
/// file and the list need not exist.
///
/// # Errors
///
/// Fails if the text is not JSON, or if the value at `keys` is not a list.
pub fn add_to_list(text: &str, keys: &[&str], items: &[&str]) -> Result<String, ListError> {
    let mut text = if text.trim().is_empty() { "{}\n".to_owned() } else { text.to_owned() };
    for item in items {
        text = add(&text, keys, item)?;
    }
    Ok(text)
}

fn add(text: &str, keys: &[&str], item: &str) -> Result<String, ListError> {
    let root = parse(text)?;
    let style = EditStyle::of(text, &root);
    let mut node = &root;
    for (at, key) in keys.iter().enumerate() {
        if !matches!(node.kind, JsoncKind::Object(_)) {
            return Err(ListError::NotAnObject(keys[..at].join(".")));
        }
        let Some(next) = node.get(key) else {
            let inner = keys[at + 1..].iter().rev();
            let value = inner.fold(json!([item]), |value: Value, key| json!({*key: value}));
            return Ok(add_member(text, &style, node, key, &value));
        };
        node = next;
    }
    if !matches!(node.kind, JsoncKind::Array(_)) {
        return Err(ListError::NotAList(keys.join(".")));
    }
    let has = node.items().iter().any(|one| one.text() == Some(item));
    Ok(if has { text.to_owned() } else { add_item(text, &style, node, &item.into()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_grow_and_the_rest_stays() {
        let keys = ["permissions", "ask"];
        for (text, items, want) in [
            (
                "",
                &["a"][..],
                "{\n  \"permissions\": {\n    \"ask\": [\n      \"a\"\n    ]\n  }\n}\n",
            ),
            ("{\"x\":1}", &["a"], "{\"x\":1,\"permissions\":{\"ask\":[\"a\"]}}"),
            (
                "{\"permissions\":{\"ask\":[\"a\"]}}",
                &["a", "b"],
                "{\"permissions\":{\"ask\":[\"a\",\"b\"]}}",
            ),
            (
                "{\n  // why\n  \"permissions\": {}\n}",
                &["a"],
                "{\n  // why\n  \"permissions\": {\n    \"ask\": [\n      \"a\"\n    ]\n  }\n}",
            ),
        ] {
            assert_eq!(add_to_list(text, &keys, items).unwrap(), want, "{text}");
        }
        assert!(add_to_list("{", &keys, &["a"]).is_err());
        assert_eq!(add_to_list("[]", &keys, &["a"]).unwrap_err().to_string(), " is not an object");
        let other = "{\"permissions\":{\"ask\":1}}";
        assert_eq!(
            add_to_list(other, &keys, &["a"]).unwrap_err().to_string(),
            "permissions.ask is not a list"
        );
    }
}
