//! Constraints of a stimulus, which imply graders.

use super::graders::RequestedGrader;
use schemars::JsonSchema;
use serde::Deserialize;
use toolmark_base::SortedMap;
use toolmark_config::{Node, NodeEntry, NodeKind, Problem, Spanned, quoted, read};
use toolmark_grade::Loading;
use toolmark_match::units::Duration;

/// Constraints of a run, in addition to the graders. Each becomes a grader.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Constraints {
    /// Maximum number of turns of the agent.
    #[serde(default)]
    max_turns: Option<Spanned<u64>>,
    /// Maximum number of tokens, input and output together.
    #[serde(default)]
    max_tokens: Option<Spanned<u64>>,
    /// Maximum duration, with a unit.
    #[serde(default)]
    max_duration: Option<Spanned<Duration>>,
    /// Maximum duration of the agent, with a unit.
    #[serde(default)]
    max_agent_duration: Option<Spanned<Duration>>,
    /// Tools that must each be called, by their exact names.
    #[serde(default)]
    expect_tools: Option<Spanned<Vec<Spanned<String>>>>,
    /// Tools that must not be called, by their exact names; `*` for any.
    #[serde(default)]
    reject_tools: Option<Spanned<Vec<Spanned<String>>>>,
    /// Skills that must each be used; `*` for any.
    #[serde(default)]
    expect_skills: Option<Spanned<Vec<Spanned<String>>>>,
    /// Skills that must not be used; `*` for any.
    #[serde(default)]
    reject_skills: Option<Spanned<Vec<Spanned<String>>>>,
}

type ConstraintList = Spanned<Vec<Spanned<String>>>;

/// Returns the graders implied by the constraints of a stimulus.
pub(super) fn graders(node: &Node, loading: &mut Loading<'_>) -> Vec<RequestedGrader> {
    let Some(constraints) = read::<Constraints>(node, &mut loading.problems) else {
        return Vec::new();
    };
    overlap(&constraints.expect_tools, &constraints.reject_tools, "tool", loading);
    overlap(&constraints.expect_skills, &constraints.reject_skills, "skill", loading);
    let mut graders = Vec::new();
    let mut add = |key: &'static str, type_word: &'static str, config: Node| {
        let key_span = node.entry(key).map_or(node.span, |entry| entry.key_span);
        let span = key_span.to(config.span);
        graders.push(RequestedGrader {
            type_word: Spanned { value: type_word.to_owned(), span: key_span },
            name: Some(Spanned { value: key.replace('_', "-"), span: key_span }),
            turn: None,
            required: false,
            config,
            span,
            implied: true,
        });
    };
    for (key, type_word, limit) in [
        ("max_turns", "turn-count", constraints.max_turns),
        ("max_tokens", "token-budget", constraints.max_tokens),
    ] {
        if limit.is_some()
            && let Some(limit) = node.get(key)
        {
            add(key, type_word, map("max", limit.clone()));
        }
    }
    for (key, limit) in [
        ("max_duration", constraints.max_duration),
        ("max_agent_duration", constraints.max_agent_duration),
    ] {
        if limit.is_some()
            && let Some(limit) = node.get(key)
        {
            add(key, "wall-time", map("max", limit.clone()));
        }
    }
    for (key, type_word, list_key, names, pattern) in [
        ("expect_tools", "tool-calls", "required", &constraints.expect_tools, true),
        ("reject_tools", "tool-calls", "disallowed", &constraints.reject_tools, true),
        ("expect_skills", "skill-invocation", "required", &constraints.expect_skills, false),
        ("reject_skills", "skill-invocation", "disallowed", &constraints.reject_skills, false),
    ] {
        let Some(names) = names else { continue };
        if names.value.is_empty() {
            loading.warn("empty-list", names.span, format!("an empty {key} asks for nothing"));
            continue;
        }
        let items = names.value.iter().map(|name| {
            let text = if pattern { exactly(&name.value) } else { name.value.clone() };
            Node::new(NodeKind::Text(text.into()), name.span)
        });
        let list = Node::new(NodeKind::List(items.collect()), names.span);
        add(key, type_word, map(list_key, list));
    }
    graders
}

fn map(key: &str, value: Node) -> Node {
    let span = value.span;
    let entry = NodeEntry { key: key.into(), key_span: span, value };
    Node::new(NodeKind::Map(vec![entry]), span)
}

/// Returns a regular expression for a tool with exactly this name; `*` matches any.
fn exactly(name: &str) -> String {
    if name == "*" {
        return ".".to_owned();
    }
    let mut pattern = String::from("^");
    for c in name.chars() {
        if "^$\\.*+?()[]{}|/".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('$');
    pattern
}

/// Reports names that are both expected and rejected.
fn overlap(
    expected: &Option<ConstraintList>,
    rejected: &Option<ConstraintList>,
    what: &str,
    loading: &mut Loading<'_>,
) {
    let (Some(expected), Some(rejected)) = (expected, rejected) else { return };
    let wanted: SortedMap<&str, &Spanned<String>> =
        expected.value.iter().map(|yes| (yes.value.as_str(), yes)).collect();
    for no in &rejected.value {
        let both = match no.value.as_str() {
            "*" => expected.value.first(),
            name => wanted.get(name).copied(),
        };
        let Some(yes) = both else { continue };
        let message = format!("the {what} {} is both expected and rejected", quoted(&yes.value));
        let problem = Problem::error("invalid-constraint-value", message);
        loading.problems.push(problem.at(no.span).note(yes.span, "expected here"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use std::path::Path;
    use toolmark_grade::LoadOptions;

    fn made(constraints: Value) -> (Vec<(String, String, Value)>, Vec<String>) {
        let options = LoadOptions::default();
        let mut loading = Loading::new("s".into(), "", Path::new("."), &options, crate::ALL);
        let node = Node::from_json(&constraints).expect("a tree");
        let graders = graders(&node, &mut loading);
        let graders = graders.into_iter().map(|asked| {
            let name = asked.name.map(|name| name.value).unwrap_or_default();
            (name, asked.type_word.value, asked.config.to_json())
        });
        let problems = loading.problems.into_iter().map(|problem| problem.message);
        (graders.collect(), problems.collect())
    }

    #[test]
    fn each_constraint_is_a_grader() {
        let (graders, problems) = made(json!({
            "max_turns": 5, "max_tokens": 100, "max_duration": "2m", "max_agent_duration": "90s",
            "expect_tools": ["bash", "mcp.x(y)"], "reject_tools": ["*"],
        }));
        let expected = [
            ("max-turns", "turn-count", json!({"max": 5})),
            ("max-tokens", "token-budget", json!({"max": 100})),
            ("max-duration", "wall-time", json!({"max": "2m"})),
            ("max-agent-duration", "wall-time", json!({"max": "90s"})),
            ("expect-tools", "tool-calls", json!({"required": ["^bash$", r"^mcp\.x\(y\)$"]})),
            ("reject-tools", "tool-calls", json!({"disallowed": ["."]})),
        ];
        for (got, wanted) in graders.iter().zip(&expected) {
            assert_eq!((got.0.as_str(), got.1.as_str(), &got.2), (wanted.0, wanted.1, &wanted.2));
        }
        assert_eq!(graders.len(), expected.len());
        // Whatever is expected is rejected by `*`.
        assert_eq!(problems, ["the tool \"bash\" is both expected and rejected"]);
        let (graders, problems) =
            made(json!({"expect_skills": ["a"], "reject_skills": ["b", "*b"]}));
        assert_eq!(problems, [""; 0]);
        assert_eq!(graders[0].2, json!({"required": ["a"]}));
        assert_eq!(graders[1].2, json!({"disallowed": ["b", "*b"]}));
    }

    #[test]
    fn mistakes() {
        for (constraints, complaint) in [
            (json!({"max_turns": -1}), "0 or more"),
            (json!({"max_tokens": 1.5}), "whole number"),
            (json!({"max_duration": "-2m"}), "not a duration"),
            (json!({"max_duration": 3}), "text"),
            (json!({"max_steps": 3}), "unknown key"),
            (json!({"expect_tools": "bash"}), "list"),
            (json!({"expect_tools": []}), "asks for nothing"),
            (json!({"expect_skills": ["a"], "reject_skills": ["a"]}), "both expected and rejected"),
        ] {
            let (_, problems) = made(constraints.clone());
            assert!(
                problems.iter().any(|said| said.contains(complaint)),
                "{constraints} {problems:?}"
            );
        }
    }
}
