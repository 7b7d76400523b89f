//! Parses the text of a spec into a tree, in YAML or JSON.

use crate::{Node, Problem};
use crate::{SourceText, json, yaml};
use std::path::Path;

/// Result of parsing a text.
#[derive(Debug, Clone)]
pub struct ParsedTree {
    /// The tree; `None` if the text cannot be parsed at all.
    pub node: Option<Node>,
    /// Problems found in the text. If there are errors, the tree may lack the parts they concern.
    pub problems: Vec<Problem>,
}

/// Parses YAML or JSON.
///
/// JSON is parsed as JSON, which is fast; everything else is parsed as YAML, which
/// also covers JSON with comments or trailing commas.
#[must_use]
pub fn parse(source: &SourceText) -> ParsedTree {
    let mut problems = Vec::new();
    let mut json_error = None;
    if source.text().trim_start().starts_with(['{', '[', '"']) {
        match json::parse(source, &mut problems) {
            Ok(node) => return ParsedTree { node, problems },
            Err(problem) => json_error = Some(*problem),
        }
    }
    let node = yaml::parse(source, &mut problems);
    let named_json = Path::new(&*source.name).extension().is_some_and(|ext| ext == "json");
    if node.is_none() && named_json {
        // Someone who writes JSON wants to hear what is wrong with it as JSON.
        problems = json_error.map_or(problems, |problem| vec![problem]);
    }
    ParsedTree { node, problems }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NodeEntry, NodeKind};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn the_notation_is_found_out() {
        for (name, text, want) in [
            ("x.yaml", "a: 1", json!({"a": 1})),
            ("x.yaml", "{\"a\": 1}", json!({"a": 1})),
            ("x.json", "{\"a\": 1}", json!({"a": 1})),
            ("x.json", "{\"a\": 1,} # and so on", json!({"a": 1})),
            ("x.yaml", "{a: 1}", json!({"a": 1})),
            ("x.yaml", "\"a\": 1", json!({"a": 1})),
            ("x.yaml", "[1]\n", json!([1])),
        ] {
            let parsed = parse(&SourceText::new(name, text));
            assert_eq!(parsed.problems, [], "{text}");
            assert_eq!(parsed.node.unwrap().to_json(), want, "{text}");
        }
    }

    #[test]
    fn errors_speak_the_language_of_the_file() {
        for (name, text, code) in [
            ("x.json", "{\"a\": 1 \"b\": 2}", "not-json"),
            ("x.yaml", "{\"a\": 1 \"b\": 2}", "syntax"),
            ("x.json", "a: b: c", "syntax"),
            ("x.json", "{\"a\": 1, \"a\": 2}", "duplicate-key"),
            ("x.yaml", "{\"a\": 1, \"a\": 2}", "duplicate-key"),
        ] {
            let parsed = parse(&SourceText::new(name, text));
            let codes: Vec<_> = parsed.problems.iter().map(|p| p.code).collect();
            assert_eq!(codes, [code], "{text}");
        }
    }

    /// Generates any tree of moderate size.
    fn nodes() -> impl Strategy<Value = Node> {
        let text = prop_oneof![
            any::<String>(),
            "[a-z]{0,6}",
            "(true|null|~|yes|1|0x1|1e3|-|\\.inf|<<|\\?|: |# |&a|\\*a|!x|%|@|---|\\.\\.\\.)",
            "[ \t\n\r\"'\\\\:#,\\[\\]{}é日\u{85}\u{2028}😀]{0,8}",
        ];
        let leaf = prop_oneof![
            Just(NodeKind::Null),
            any::<bool>().prop_map(NodeKind::Bool),
            any::<i64>().prop_map(NodeKind::Int),
            (1_u64 << 63..).prop_map(NodeKind::UInt),
            any::<f64>()
                .prop_filter("JSON has no other", |f| f.is_finite())
                .prop_map(NodeKind::Float),
            text.clone().prop_map(|text| NodeKind::Text(text.into())),
        ];
        let leaf = leaf.prop_map(Node::from);
        leaf.prop_recursive(4, 48, 6, move |inner| {
            let keys = proptest::collection::btree_map(text.clone(), inner.clone(), 0..6);
            let entry = |(key, value): (String, Node)| NodeEntry {
                key: key.into(),
                key_span: Default::default(),
                value,
            };
            prop_oneof![
                proptest::collection::vec(inner, 0..6).prop_map(|items| NodeKind::List(items).into()),
                keys.prop_map(move |map| NodeKind::Map(map.into_iter().map(entry).collect()).into()),
            ]
        })
    }

    /// Writes block style: one line for each entry and item, everything else quoted.
    fn write_yaml(node: &Node, indent: usize, out: &mut String) {
        let pad = " ".repeat(indent);
        match &node.kind {
            NodeKind::List(items) if !items.is_empty() => {
                for item in items {
                    *out += &format!("\n{pad}-");
                    write_yaml(item, indent + 2, out);
                }
            }
            NodeKind::Map(entries) if !entries.is_empty() => {
                for entry in entries {
                    *out += &format!("\n{pad}{}:", yaml_text(&entry.key));
                    write_yaml(&entry.value, indent + 2, out);
                }
            }
            NodeKind::Text(text) => *out += &format!(" {}", yaml_text(text)),
            NodeKind::Float(value) => *out += &format!(" {value:?}"),
            _ => *out += &format!(" {}", node.to_json()),
        }
    }

    /// Returns the text plain if that is safe, in single quotes if possible, otherwise escaped.
    fn yaml_text(text: &str) -> String {
        let word = !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase());
        if word && matches!(crate::scalar::plain(text), NodeKind::Text(_)) {
            return text.to_owned();
        }
        if text.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
            return format!("'{}'", text.replace('\'', "''"));
        }
        let escaped = text.chars().map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                format!("\\U{:08X}", c as u32)
            }
            c => c.to_string(),
        });
        format!("\"{}\"", escaped.collect::<String>())
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(node in nodes()) {
            let json = node.to_json();
            let mut block = String::new();
            write_yaml(&node, 0, &mut block);
            let texts = [
                json.to_string(),
                serde_json::to_string_pretty(&json).unwrap(),
                // Not strict JSON, so that YAML reads it.
                format!("{json} # x"),
                format!("---\n{block}\n"),
            ];
            for text in texts {
                let parsed = parse(&SourceText::new("x", text.clone()));
                prop_assert_eq!(&parsed.problems, &[], "{}", text);
                let read = parsed.node.unwrap();
                prop_assert_eq!(&read, &node, "{}", text);
                in_bounds(&read, text.len());
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[ -~\n\té日\u{0}]{0,80}") {
            let source = SourceText::new("x", text.clone());
            let parsed = parse(&source);
            prop_assert!(parsed.node.is_some() || parsed.problems.iter().any(Problem::is_error));
            if let Some(node) = &parsed.node {
                in_bounds(node, text.len());
            }
        }
    }

    /// Checks that every position is within the text and that list items are in order.
    fn in_bounds(node: &Node, length: usize) {
        assert!(node.span.start <= node.span.end && node.span.end as usize <= length);
        node.items().for_each(|item| in_bounds(item, length));
        for pair in node.as_list().unwrap_or_default().windows(2) {
            assert!(pair[0].span.end <= pair[1].span.start, "{pair:?}");
        }
        for entry in node.entries() {
            assert!(entry.key_span.end as usize <= length);
            in_bounds(&entry.value, length);
        }
    }

    #[test]
    fn json_of_yaml_is_the_value() {
        let parsed = parse(&SourceText::new("x", "a: .inf\nb: 1"));
        assert_eq!(parsed.node.unwrap().to_json(), json!({"a": Value::Null, "b": 1}));
    }
}
