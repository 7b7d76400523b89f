//! The `check:` part of `toolmark.yaml`.
//!
//! ```yaml
//! check:
//!   select: [S, A201]
//!   ignore: [S101]
//!   severity: {S102: info}
//!   min_confidence: low
//!   fail_on: error
//!   gates:
//!     - edit.minimal >= 0.85 per tool min support 5
//!   toolsets:
//!     - id: shop
//!       tools:
//!         peek: {role: reads, path: file}
//! ```

use crate::gate::Gate;
use crate::rules::RULES;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::collections::BTreeMap;
use toolmark_config::{Node, Problem, Spanned, did_you_mean, quoted, read};
use toolmark_hosts::toolset::Toolset;
use toolmark_outcome::{Confidence, Severity};

/// What a file says about checking.
#[derive(Debug, Default)]
pub struct Config {
    /// Only these rules.
    pub select: Vec<String>,
    /// Not these.
    pub ignore: Vec<String>,
    /// Severities of the user's own, by code.
    pub severity: BTreeMap<&'static str, Severity>,
    /// Findings that are less sure are left out.
    pub min_confidence: Option<Confidence>,
    /// The least severity that fails; the inner `None` is `never`.
    pub fail_on: Option<Option<Severity>>,
    /// The gates; `None` where the file has no such key.
    pub gates: Option<Vec<Gate>>,
    /// Toolsets of the user's own.
    pub toolsets: Vec<Toolset>,
}

/// Which rules `toolmark check` runs, and what fails.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Check")]
struct Written {
    /// Only these rules: codes, names, or the start of a code (S, A, I, R).
    select: Vec<Spanned<String>>,
    /// Not these rules, named as in `select`.
    ignore: Vec<Spanned<String>>,
    /// Other severities, by the code of the rule.
    #[schemars(with = "BTreeMap<String, Severity>")]
    severity: BTreeMap<String, Spanned<String>>,
    /// Findings that are less sure are left out.
    #[schemars(with = "Option<Confidence>")]
    min_confidence: Option<Spanned<String>>,
    /// The least severity that fails.
    #[schemars(schema_with = "fail_on_schema")]
    fail_on: Option<Spanned<String>>,
    /// Conditions on the scorecard, such as `recovery[Bash.127] >= 0.8 min support 5`.
    gates: Option<Vec<Spanned<String>>>,
    /// Toolsets of your own.
    toolsets: Vec<Spanned<Toolset>>,
}

/// The JSON Schema of the part.
pub fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Written>()
}

fn fail_on_schema(_: &mut SchemaGenerator) -> Schema {
    let words = Severity::ALL.iter().map(|severity| Some(severity.word()));
    let words: Vec<_> = words.chain([Some("never"), None]).collect();
    json_schema!({ "enum": words })
}

/// Does this word choose a rule: its name, its code, or the start of its code?
#[must_use]
pub fn chooses(word: &str, rule: &crate::Rule) -> bool {
    let starts = rule.code.get(..word.len()).is_some_and(|c| c.eq_ignore_ascii_case(word));
    rule.name == word || (!word.is_empty() && starts)
}

/// Reads the part; everything that is wrong with it is reported with its place.
#[must_use]
pub fn read_config(node: &Node, problems: &mut Vec<Problem>) -> Config {
    let Some(written) = read::<Written>(node, problems) else { return Config::default() };
    let mut config = Config::default();
    for word in written.select.iter().chain(&written.ignore) {
        known_rule(word, problems);
    }
    let texts = |words: Vec<Spanned<String>>| words.into_iter().map(|word| word.value).collect();
    config.select = texts(written.select);
    config.ignore = texts(written.ignore);
    for (code, word) in written.severity {
        let rules = RULES.iter().filter(|rule| chooses(&code, rule));
        let key = Spanned { value: code.clone(), span: word.span };
        known_rule(&key, problems);
        if let Some(severity) = word_of(&word, Severity::ALL, Severity::word, problems) {
            config.severity.extend(rules.map(|rule| (rule.code, severity)));
        }
    }
    config.min_confidence = written
        .min_confidence
        .and_then(|word| word_of(&word, Confidence::ALL, Confidence::word, problems));
    config.fail_on = written.fail_on.and_then(|word| match word.value.as_str() {
        "never" => Some(None),
        _ => word_of(&word, Severity::ALL, Severity::word, problems).map(Some),
    });
    config.gates = written
        .gates
        .map(|gates| gates.iter().filter_map(|gate| read_gate(gate, problems)).collect());
    for toolset in written.toolsets {
        check_toolset(&toolset, problems);
        config.toolsets.push(toolset.value);
    }
    config
}

fn known_rule(word: &Spanned<String>, problems: &mut Vec<Problem>) {
    if RULES.iter().any(|rule| chooses(&word.value, rule)) {
        return;
    }
    let message = format!("there is no rule {}", quoted(&word.value));
    let problem = Problem::error("unknown-rule", message).at(word.span);
    let words = RULES.iter().flat_map(|rule| [rule.code, rule.name]);
    problems.push(match did_you_mean(&word.value, words) {
        Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
        None => problem.help("`toolmark rules` lists them"),
    });
}

fn word_of<T: Copy>(
    word: &Spanned<String>,
    all: &'static [T],
    name: fn(T) -> &'static str,
    problems: &mut Vec<Problem>,
) -> Option<T> {
    let found = all.iter().copied().find(|one| name(*one) == word.value);
    if found.is_none() {
        let words: Vec<&str> = all.iter().map(|one| name(*one)).collect();
        let message = format!("there is no {}", quoted(&word.value));
        let problem = Problem::error("unknown-word", message).at(word.span);
        problems.push(problem.help(format!("one of {}", words.join(", "))));
    }
    found
}

fn read_gate(gate: &Spanned<String>, problems: &mut Vec<Problem>) -> Option<Gate> {
    match gate.value.parse() {
        Ok(gate) => Some(gate),
        Err(error) => {
            let problem = Problem::error("invalid-gate", error.to_string()).at(gate.span);
            problems.push(match error.help {
                Some(help) => problem.help(help),
                None => problem,
            });
            None
        }
    }
}

/// What the type of a toolset cannot say.
fn check_toolset(toolset: &Spanned<Toolset>, problems: &mut Vec<Problem>) {
    let mut wrong = |message: String| {
        problems.push(Problem::error("invalid-toolset", message).at(toolset.span));
    };
    if toolset.value.id.is_empty() {
        wrong("a toolset needs an id".to_owned());
    }
    for tool in &*toolset.value.tools {
        if let Some(schema) = &tool.schema
            && let Err(error) = toolmark_schema::check_schema(&schema.parse())
        {
            wrong(format!("the schema of {} is no JSON Schema: {error}", quoted(&tool.name)));
        }
    }
    for name in toolset.value.confusable.iter().flatten() {
        if toolset.value.tool(name).is_none() {
            wrong(format!("the toolset has no tool {}", quoted(name)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read_json(value: Value) -> (Config, Vec<String>) {
        let mut problems = Vec::new();
        let config = read_config(&Node::from_json(&value).unwrap(), &mut problems);
        let words = |p: &Problem| format!("{} {}", p.code, p.help.as_deref().unwrap_or(""));
        (config, problems.iter().map(words).collect())
    }

    #[test]
    fn everything_at_once() {
        let (config, problems) = read_json(json!({
            "select": ["S", "A2"], "ignore": ["repeated-read"],
            "severity": {"S101": "info"}, "min_confidence": "low", "fail_on": "never",
            "gates": ["recovery[Bash.127] >= 0.8"],
            "toolsets": [{"id": "shop", "tools": {"peek": {"role": "reads", "path": "file",
                "schema": {"type": "object"}}}}],
        }));
        assert_eq!(problems, [""; 0]);
        assert_eq!(config.severity.get("S101"), Some(&Severity::Info));
        assert_eq!((config.min_confidence, config.fail_on), (Some(Confidence::Low), Some(None)));
        assert_eq!(config.gates.unwrap().len(), 1);
        assert!(config.toolsets[0].tool("peek").is_some());
    }

    #[test]
    fn mistakes_are_named() {
        for (value, want) in [
            (json!({"selct": []}), "unknown-key"),
            (json!({"select": ["repeated-reed"]}), "unknown-rule did you mean"),
            (json!({"severity": {"S101": "fatal"}}), "unknown-word one of info, warning, error"),
            (json!({"gates": ["recovry >= 1"]}), "invalid-gate did you mean \"recovery\"?"),
            (json!({"gates": "recovery >= 1"}), "wrong-type"),
            (json!({"toolsets": [{"tools": {}}]}), "invalid-toolset"),
            (json!({"toolsets": [{"id": "x", "tools": {"a": {"role": "reeds"}}}]}), ""),
            (json!({"toolsets": [{"id": "x", "tools": {"a": {"pth": "b"}}}]}), "unknown-key"),
            (json!({"toolsets": [{"id": "x", "confusable": [["a", "b"]]}]}), "invalid-toolset"),
            (
                json!({"toolsets": [{"id": "x", "tools": {"a": {"schema": {"type": 7}}}}]}),
                "invalid-toolset",
            ),
        ] {
            let (_, problems) = read_json(value.clone());
            assert!(problems.first().is_some_and(|p| p.starts_with(want)), "{value}: {problems:?}");
        }
    }
}
