//! `${NAME}` and `${NAME=default}` in the texts of a spec.
//!
//! An unquoted scalar that consists of a single placeholder takes the type of
//! its value, as if the value had been written there. `$${NAME}` produces the
//! text `${NAME}`; placeholders with invalid names, such as the shell's
//! `${NAME:-x}`, are kept.

use toolmark_base::{SortedMap, SortedSet};
use toolmark_config::scalar;
use toolmark_config::{Node, NodeEntry, NodeKind, NodeSpan, Problem, did_you_mean};
use toolmark_grade::Loading;

/// Maximum total number of characters of all texts.
const LARGEST: usize = 64 << 20;

/// Replaces names by values in the tree; names without a value are reported.
pub(super) fn substituted(root: &Node, loading: &mut Loading<'_>) -> Node {
    let mut work = Substitution {
        text: loading.text,
        params: &loading.options.params,
        used: SortedSet::new(),
        written: 0,
        problems: Vec::new(),
    };
    let root = work.node(root);
    let unused = loading.options.params.keys().filter(|name| !work.used.contains(*name));
    let unused = unused.map(|name| {
        let message = format!("the parameter {name} is not used by the spec");
        Problem::warning("unused-parameter", message)
    });
    let unused: Vec<Problem> = unused.collect();
    loading.problems.extend(work.problems);
    loading.problems.extend(unused);
    root
}

struct Substitution<'a> {
    text: &'a str,
    params: &'a SortedMap<String, String>,
    used: SortedSet<String>,
    written: usize,
    problems: Vec<Problem>,
}

impl Substitution<'_> {
    /// Replaces names in a node. Trees are bounded in depth.
    fn node(&mut self, node: &Node) -> Node {
        let kind = match &node.kind {
            NodeKind::Text(text) if text.contains("${") => self.scalar(text, node.span),
            NodeKind::List(items) => {
                NodeKind::List(items.iter().map(|item| self.node(item)).collect())
            }
            NodeKind::Map(entries) => NodeKind::Map(
                entries
                    .iter()
                    .map(|entry| NodeEntry {
                        key: entry.key.clone(),
                        key_span: entry.key_span,
                        value: self.node(&entry.value),
                    })
                    .collect(),
            ),
            other => other.clone(),
        };
        Node::new(kind, node.span)
    }

    fn scalar(&mut self, text: &str, span: NodeSpan) -> NodeKind {
        let (filled, whole) = self.fill(text, span);
        if whole && self.is_plain(span) {
            scalar::plain(&filled)
        } else {
            NodeKind::Text(filled.into())
        }
    }

    /// Whether the scalar at this position is unquoted.
    fn is_plain(&self, span: NodeSpan) -> bool {
        let Some(span) = span.known() else { return false };
        self.text.get(span.start as usize..).is_some_and(|text| text.starts_with("${"))
    }

    /// Returns the text with names replaced, and whether it was a single placeholder.
    fn fill(&mut self, text: &str, span: NodeSpan) -> (String, bool) {
        let mut filled = String::with_capacity(text.len());
        // What comes after the last brace is plain, and not looked through again and again.
        let (mut rest, plain) = text.split_at(text.rfind('}').map_or(0, |at| at + 1));
        let mut whole = false;
        while let Some(at) = rest.find("${") {
            let (before, from) = rest.split_at(at);
            if let Some(before) = before.strip_suffix('$') {
                filled.push_str(before);
                filled.push_str("${");
                rest = from.get(2..).unwrap_or_default();
                continue;
            }
            filled.push_str(before);
            match placeholder(from) {
                Some((name, default, end)) => {
                    let value = self.value(name, default, span);
                    filled.push_str(&value);
                    whole = at == 0 && filled.len() == value.len() && end == from.len();
                    rest = from.get(end..).unwrap_or_default();
                }
                None => {
                    filled.push_str("${");
                    rest = from.get(2..).unwrap_or_default();
                }
            }
        }
        whole &= rest.is_empty() && plain.is_empty();
        filled.push_str(rest);
        filled.push_str(&plain.replace("$${", "${"));
        (filled, whole)
    }

    fn value(&mut self, name: &str, default: Option<&str>, span: NodeSpan) -> String {
        self.used.insert(name.to_owned());
        let value = match (self.params.get(name), default) {
            (Some(value), _) => value.as_str(),
            (None, Some(default)) => default,
            (None, None) => {
                let message = format!("the parameter {name} has no value");
                let given = self.params.keys().map(String::as_str);
                let help = match did_you_mean(name, given) {
                    Some(near) => format!("the parameter {near} has one; did you mean it?"),
                    None => format!(
                        "give one with --param {name}=…, write ${{{name}=default}}, or \
                         $${{{name}}} for the text itself"
                    ),
                };
                self.problems.push(Problem::error("unset-parameter", message).at(span).help(help));
                ""
            }
        };
        self.written = self.written.saturating_add(value.len());
        if self.written > LARGEST {
            if self.written - value.len() <= LARGEST {
                let message = "the values of parameters make the spec too large";
                self.problems.push(Problem::error("too-large", message).at(span));
            }
            return String::new();
        }
        value.to_owned()
    }
}

/// Returns the name, the default and the end of the placeholder at the start of a text.
fn placeholder(text: &str) -> Option<(&str, Option<&str>, usize)> {
    let inner = text.strip_prefix("${")?;
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let end = inner.find(|c| !letter(c))?;
    let (name, rest) = inner.split_at(end);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return None;
    }
    if rest.starts_with('}') {
        return Some((name, None, end + 3));
    }
    let default = rest.strip_prefix('=')?;
    let close = default.find('}')?;
    Some((name, Some(default.get(..close)?), end + close + 4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::path::Path;
    use toolmark_config::{SourceText, parse};
    use toolmark_grade::LoadOptions;

    fn filled(yaml: &str, params: &[(&str, &str)]) -> (Value, Vec<Problem>) {
        let source = SourceText::new("spec.yaml", yaml);
        let node = parse(&source).node.expect("a document");
        let params = params.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let options = LoadOptions { params, ..LoadOptions::default() };
        let mut loading =
            Loading::new("spec.yaml".into(), source.text(), Path::new("."), &options, crate::ALL);
        let node = substituted(&node, &mut loading);
        (node.to_json(), loading.problems)
    }

    #[test]
    fn values_and_defaults() {
        for (yaml, expected) in [
            ("a: x ${A} y", json!("x 1 y")),
            ("a: ${A}", json!(1)),
            ("a: \"${A}\"", json!("1")),
            ("a: ${A}${A}", json!("11")),
            ("a: ${B=0.5}", json!(0.5)),
            ("a: ${B=}", Value::Null),
            ("a: \"${B=}\"", json!("")),
            ("a: ${A=9}", json!(1)),
            ("a: ${B=b c} d", json!("b c d")),
            ("a: $${A}", json!("${A}")),
            ("a: ${A:-x} ${} ${1} $A {A}", json!("${A:-x} ${} ${1} $A {A}")),
            ("a: [\"${A}\", {b: \"-${A}\"}]", json!(["1", {"b": "-1"}])),
            ("a: ${A", json!("${A")),
            ("a: ${A} ${A=", json!("1 ${A=")),
            ("a: ${A} $${A", json!("1 ${A")),
            ("a: ${A_B=x=y}z", json!("x=yz")),
        ] {
            let (value, problems) = filled(yaml, &[("A", "1")]);
            assert_eq!(value["a"], expected, "{yaml}");
            assert!(problems.iter().all(|p| p.code == "unused-parameter"), "{yaml} {problems:?}");
        }
    }

    #[test]
    fn time_is_linear() {
        for text in ["${".repeat(200_000), "${a=".repeat(200_000), "$${a}".repeat(100_000)] {
            let start = toolmark_testing::CpuWatch::start();
            filled(&format!("a: '{text}'"), &[]);
            filled(&format!("a: '{text}}}'"), &[]);
            assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
        }
    }

    #[test]
    fn a_value_is_not_filled_again() {
        assert_eq!(filled("a: x${A}", &[("A", "${A}")]).0["a"], "x${A}");
    }

    #[test]
    fn what_has_no_value_and_what_is_not_used() {
        let (_, problems) = filled("a: ${NAME}\nb: x ${OTHER}", &[("NAMES", "1")]);
        let codes: Vec<_> = problems.iter().map(|p| (p.code, p.span.is_some())).collect();
        assert_eq!(
            codes,
            [("unset-parameter", true), ("unset-parameter", true), ("unused-parameter", false)]
        );
        assert!(problems[0].help.as_ref().is_some_and(|help| help.contains("NAMES")));
        assert!(problems[1].help.as_ref().is_some_and(|help| help.contains("--param OTHER=")));
    }
}
