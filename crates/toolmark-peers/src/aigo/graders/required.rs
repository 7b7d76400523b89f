//! Required calls of a spec: a list of names, or of names with arguments.

use schemars::JsonSchema;
use serde_json::Value;
use toolmark_config::{Node, NodeKind, NodeSpan, Problem};
use toolmark_match::Building;
use toolmark_outcome::excerpt;

/// One required call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Required {
    /// Name of the function.
    pub(super) name: String,
    /// Arguments as an object; any arguments match if there are none.
    pub(super) arguments: Option<Value>,
}

impl Required {
    /// Describes the call for reasons and reports.
    pub(super) fn words(&self) -> String {
        match &self.arguments {
            None => self.name.clone(),
            Some(arguments) => format!("{} {}", self.name, excerpt(&arguments.to_string())),
        }
    }
}

/// Accepted notations, for the schema.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it only describes what is read from a node")]
pub(super) enum WrittenCalls {
    /// A list of calls.
    Calls(Vec<WrittenCall>),
    /// A list as JSON text. A spec with a dataset may use a template
    /// that produces the list for each row.
    Text(String),
}

/// One entry of the list, for the schema.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it only describes what is read from a node")]
pub(super) enum WrittenCall {
    /// The name of the function.
    Name(String),
    /// A name and arguments.
    Call {
        /// The name of the function.
        name: String,
        /// All arguments: they are compared as a whole.
        #[serde(default)]
        arguments: Option<serde_json::Map<String, Value>>,
    },
}

/// Reads the list. Problems are reported, at the position of the list
/// if its values come from elsewhere.
pub(super) fn required(node: &Node, building: &mut Building<'_>) -> Option<Vec<Required>> {
    let parsed;
    let items = match &node.kind {
        NodeKind::List(items) => items,
        NodeKind::Text(text) => {
            parsed = from_text(text, node.span, building)?;
            parsed.as_list().unwrap_or_default()
        }
        _ => {
            let message = format!("expected a list of function calls, found {}", node.word());
            building.reject(node.span, "wrong-type", message);
            return None;
        }
    };
    // All of them are looked at, so that all mistakes are reported.
    let read: Vec<_> = items.iter().map(|item| read_call(item, node.span, building)).collect();
    read.into_iter().collect()
}

/// Parses a list in JSON text.
fn from_text(text: &str, span: NodeSpan, building: &mut Building<'_>) -> Option<Node> {
    let (code, message, help) = if text.contains("{{") || text.contains("{%") {
        let message = "a template needs the row of a dataset to be filled in from".to_owned();
        let help = "name the dataset in the spec or with --dataset, or write the calls as a list";
        ("template-without-row", message, help)
    } else {
        let help = r#"write a list: ["search", "calculator"]"#;
        match serde_json::from_str::<Value>(text) {
            Ok(list @ Value::Array(_)) => match Node::from_json(&list) {
                Some(list) => return Some(list),
                None => ("too-deep", "the arguments nest too deep".to_owned(), help),
            },
            Ok(_) => ("wrong-type", "expected a list of function calls".to_owned(), help),
            Err(error) => {
                let message = format!("not a list of function calls in JSON: {error}");
                ("invalid-function-calls", message, help)
            }
        }
    };
    building.problems.push(Problem::error(code, message).at(span).help(help));
    None
}

fn read_call(node: &Node, list: NodeSpan, building: &mut Building<'_>) -> Option<Required> {
    let place = |span: NodeSpan| span.known().unwrap_or(list);
    let entries = match &node.kind {
        NodeKind::Text(name) => return Some(Required { name: name.to_string(), arguments: None }),
        NodeKind::Map(entries) => entries,
        _ => {
            let found = node.word();
            let message = format!("expected a name or an object with a `name`, found {found}");
            building.reject(place(node.span), "wrong-type", message);
            return None;
        }
    };
    for entry in entries.iter().filter(|e| e.key != "name" && e.key != "arguments") {
        let message = format!("`{}` of a function call has no effect", entry.key);
        let problem = Problem::warning("unused-key", message).at(place(entry.key_span));
        building.problems.push(problem);
    }
    let name = match node.get("name").map(|name| (name, name.as_str())) {
        Some((_, Some(name))) => Some(name.to_owned()),
        Some((other, None)) => {
            let message = format!("expected the name of a function, found {}", other.word());
            building.reject(place(other.span), "wrong-type", message);
            None
        }
        None => {
            building.reject(place(node.span), "missing-key", "a function call needs a `name`");
            None
        }
    };
    let arguments = match node.get("arguments") {
        None => None,
        Some(none) if none.is_null() => None,
        Some(map) if map.as_map().is_some() => Some(map.to_json()),
        Some(other) => {
            let message = format!("expected arguments as an object, found {}", other.word());
            building.reject(place(other.span), "wrong-type", message);
            return None;
        }
    };
    Some(Required { name: name?, arguments })
}

/// Reads a list of names without arguments.
pub(super) fn names(node: &Node, building: &mut Building<'_>) -> Option<Vec<String>> {
    let calls = required(node, building)?;
    if calls.iter().any(|call| call.arguments.is_some()) {
        let message = "expected the name of a function, found a call with arguments";
        building.reject(node.span, "wrong-type", message);
        return None;
    }
    Some(calls.into_iter().map(|call| call.name).collect())
}
