//! `<< config.name >>`: values of a task that the caller sets.
//!
//! They come from the command line, or from the defaults in `config_spec`. A
//! scalar that is only a placeholder takes the value with its type; inside a
//! text the value is inserted as text.

use toolmark_base::{SortedMap, SortedSet};
use toolmark_config::{Node, NodeKind, NodeSpan};
use toolmark_grade::Loading;

/// Returns the tree with all placeholders filled that have a value. The others
/// are kept.
pub(super) fn fill(root: &Node, loading: &Loading<'_>) -> Node {
    let mut values: SortedMap<String, Node> = SortedMap::new();
    let mut texts: SortedSet<&str> = SortedSet::new();
    for entry in root.get("config").into_iter().flat_map(|config| config.entries()) {
        values.insert(entry.key.to_string(), entry.value.clone());
    }
    for spec in root.get("config_spec").into_iter().flat_map(|specs| specs.items()) {
        let default = ["default_value", "default", "value"].iter().find_map(|key| spec.get(key));
        let key = spec.get("key").and_then(Node::as_str);
        if let Some("string" | "str" | "text") = spec.get("type").and_then(Node::as_str) {
            texts.extend(key);
        }
        if let (Some(key), Some(default)) = (key, default)
            && !default.is_null()
        {
            values.insert(key.to_owned(), default.clone());
        }
    }
    for (name, value) in &loading.options.params {
        // A number or a list is given as one, unless text is asked for.
        let read = serde_json::from_str(value).ok().filter(|_| !texts.contains(name.as_str()));
        let read = read.and_then(|value: serde_json::Value| Node::from_json(&value));
        values.insert(
            name.clone(),
            read.unwrap_or_else(|| NodeKind::Text(value.as_str().into()).into()),
        );
    }
    filled(root, &values)
}

/// Returns the name and position of an unfilled placeholder anywhere in a value.
pub(super) fn unfilled_in(node: &Node) -> Option<(String, NodeSpan)> {
    match &node.kind {
        NodeKind::Text(text) => unfilled(text).map(|name| (name.to_owned(), node.span)),
        NodeKind::List(items) => items.iter().find_map(unfilled_in),
        NodeKind::Map(entries) => entries.iter().find_map(|entry| unfilled_in(&entry.value)),
        _ => None,
    }
}

/// Returns the name of an unfilled placeholder in a text.
pub(super) fn unfilled(text: &str) -> Option<&str> {
    next(text).map(|found| found.name)
}

struct PlaceholderMatch<'a> {
    before: &'a str,
    name: &'a str,
    after: &'a str,
}

/// Returns the first placeholder of a text.
fn next(text: &str) -> Option<PlaceholderMatch<'_>> {
    let mut from = 0;
    while let Some(at) = text.get(from..)?.find("<<") {
        let start = from + at;
        let rest = text.get(start + 2..)?;
        let end = rest.find(">>")?;
        if let Some(name) = rest.get(..end)?.trim().strip_prefix("config.")
            && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
        {
            return Some(PlaceholderMatch {
                before: &text[..start],
                name,
                after: &rest[end + 2..],
            });
        }
        from = start + 2;
    }
    None
}

fn filled(node: &Node, values: &SortedMap<String, Node>) -> Node {
    let kind = match &node.kind {
        NodeKind::Text(text) => fill_text(text, values),
        NodeKind::List(items) => {
            NodeKind::List(items.iter().map(|item| filled(item, values)).collect())
        }
        NodeKind::Map(entries) => {
            let mut entries = entries.clone();
            for entry in &mut entries {
                entry.value = filled(&entry.value, values);
            }
            NodeKind::Map(entries)
        }
        other => other.clone(),
    };
    Node::new(kind, node.span)
}

fn fill_text(text: &str, values: &SortedMap<String, Node>) -> NodeKind {
    let mut out = String::new();
    let mut rest = text;
    while let Some(found) = next(rest) {
        out.push_str(found.before);
        match values.get(found.name) {
            Some(value) => {
                let is_all = text.trim().len()
                    == rest.len() - found.before.len() - found.after.len()
                    && found.before.trim().is_empty()
                    && found.after.trim().is_empty();
                match (value.as_str(), is_all) {
                    (Some(value), _) => out.push_str(value),
                    (None, true) => return value.kind.clone(),
                    (None, false) => out.push_str(&value.to_json().to_string()),
                }
            }
            None => {
                let end = rest.len() - found.after.len();
                out.push_str(&rest[found.before.len()..end]);
            }
        }
        rest = found.after;
    }
    out.push_str(rest);
    NodeKind::Text(out.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::path::Path;
    use toolmark_grade::LoadOptions;

    #[test]
    fn values_come_from_defaults_and_the_command_line() {
        let spec = json!({
            "config_spec": [
                {"key": "column", "default_value": "answer"},
                {"key": "number", "default_value": 3},
                {"key": "open"},
            ],
            "definition": {
                "a": "{{ sample.<< config.column >> }}",
                "b": "<<config.number>>",
                "c": "n = << config.number >>!",
                "d": ["<< config.open >>", "a << b >> c"],
                "e": "<< config.given >> << config.open >>",
                "f": "<< config.list >>",
            },
        });
        let mut options = LoadOptions::default();
        options.params.insert("given".into(), "x".into());
        options.params.insert("list".into(), r#"["a"]"#.into());
        let loading = Loading::new("f".into(), "", Path::new("."), &options, crate::ALL);
        let filled = fill(&Node::from_json(&spec).unwrap(), &loading);
        assert_eq!(
            filled.get("definition").unwrap().to_json(),
            json!({
                "a": "{{ sample.answer }}",
                "b": 3,
                "c": "n = 3!",
                "d": ["<< config.open >>", "a << b >> c"],
                "e": "x << config.open >>",
                "f": ["a"],
            })
        );
        assert_eq!(unfilled("x << config.open >>"), Some("open"));
        assert_eq!(unfilled("1 << 2"), None);
        assert_eq!(unfilled("<< <<"), None);
    }
}
