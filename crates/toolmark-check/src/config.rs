//! The `check:` section of `toolmark.yaml`.
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

use crate::gate::{Gate, parse_gates};
use crate::rules::RULES;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use toolmark_base::SortedMap;
use toolmark_config::{Node, NodeSpan, Problem, Spanned, did_you_mean, quoted, read};
use toolmark_hosts::tool_policy::ToolPolicy;
use toolmark_hosts::toolset::Toolset;
use toolmark_outcome::{Confidence, Severity};

/// Settings of the `check:` section.
#[derive(Debug, Default)]
pub struct CheckConfig {
    /// Selected rules.
    pub select: Vec<String>,
    /// Ignored rules.
    pub ignore: Vec<String>,
    /// User-defined severities, by code.
    pub severity: SortedMap<&'static str, Severity>,
    /// Minimum confidence; findings below it are omitted.
    pub min_confidence: Option<Confidence>,
    /// Minimum severity that fails; the inner `None` is `never`.
    pub fail_on: Option<Option<Severity>>,
    /// Gates; `None` if the file has no such key.
    pub gates: Option<Vec<Gate>>,
    /// User-defined toolsets.
    pub toolsets: Vec<Toolset>,
    /// Effects of named tools and conditions on their calls: the `tools:` section.
    pub policy: ToolPolicy,
}

/// Rules that `toolmark check` runs, and the severities that fail.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Check")]
struct CheckSection {
    /// Selected rules: codes, names, or the start of a code (S, A, I, R).
    select: Vec<Spanned<String>>,
    /// Ignored rules, named as in `select`.
    ignore: Vec<Spanned<String>>,
    /// Severities by the code of the rule.
    #[schemars(with = "std::collections::BTreeMap<String, Severity>")]
    severity: SortedMap<String, Spanned<String>>,
    /// Minimum confidence; findings below it are omitted.
    #[schemars(with = "Option<Confidence>")]
    min_confidence: Option<Spanned<String>>,
    /// Minimum severity that fails.
    #[schemars(schema_with = "fail_on_schema")]
    fail_on: Option<Spanned<String>>,
    /// Conditions on the scorecard, such as `recovery[Bash.127] >= 0.8`, or a preset:
    /// `article`.
    gates: Option<Vec<Spanned<String>>>,
    /// Additional toolsets.
    toolsets: Vec<Spanned<Toolset>>,
}

/// Returns the JSON Schema of the section.
pub fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<CheckSection>()
}

/// Values of `fail_on`: findings of a severity and above, or none.
const FAIL_ON: &[Option<Severity>] =
    &[Some(Severity::Info), Some(Severity::Warning), Some(Severity::Error), None];

fn fail_on_word(least: Option<Severity>) -> &'static str {
    least.map_or("never", Severity::word)
}

fn fail_on_schema(_: &mut SchemaGenerator) -> Schema {
    let words = FAIL_ON.iter().map(|least| Some(fail_on_word(*least)));
    let words: Vec<_> = words.chain([None]).collect();
    json_schema!({ "enum": words })
}

/// Whether a word selects a rule: its name, its code, or the start of its code.
#[must_use]
pub fn chooses(word: &str, rule: &crate::Rule) -> bool {
    let starts = rule.code.get(..word.len()).is_some_and(|c| c.eq_ignore_ascii_case(word));
    rule.name == word || (!word.is_empty() && starts)
}

/// Reads the section and reports every error with its position.
#[must_use]
pub fn read_config(node: &Node, problems: &mut Vec<Problem>) -> CheckConfig {
    let Some(written) = read::<CheckSection>(node, problems) else { return CheckConfig::default() };
    let mut config = CheckConfig::default();
    for word in written.select.iter().chain(&written.ignore) {
        known_rule(word, problems);
    }
    let texts = |words: Vec<Spanned<String>>| words.into_iter().map(|word| word.value).collect();
    config.select = texts(written.select);
    config.ignore = texts(written.ignore);
    for (code, word) in written.severity {
        let rules = RULES.iter().filter(|rule| chooses(&code, rule));
        let place = node.get("severity").and_then(|map| {
            map.entries().find(|entry| entry.key == code).map(|entry| entry.key_span)
        });
        let key = Spanned { value: code.clone(), span: place.unwrap_or(word.span) };
        known_rule(&key, problems);
        if let Some(severity) = word_of(&word, Severity::ALL, Severity::word, problems) {
            config.severity.extend(rules.map(|rule| (rule.code, severity)));
        }
    }
    config.min_confidence = written
        .min_confidence
        .and_then(|word| word_of(&word, Confidence::ALL, Confidence::word, problems));
    config.fail_on =
        written.fail_on.and_then(|word| word_of(&word, FAIL_ON, fail_on_word, problems));
    config.gates = written
        .gates
        .map(|gates| gates.iter().flat_map(|gate| read_gates(gate, problems)).collect());
    let mut nodes = node.get("toolsets").map(Node::items).into_iter().flatten();
    for toolset in written.toolsets {
        check_toolset(&toolset, nodes.next(), problems);
        config.toolsets.push(toolset.value);
    }
    config
}

fn known_rule(word: &Spanned<String>, problems: &mut Vec<Problem>) {
    if RULES.iter().any(|rule| chooses(&word.value, rule)) {
        return;
    }
    problems.push(unknown_rule(word));
}

/// Creates the error for an unknown rule code or name.
#[must_use]
pub fn unknown_rule(word: &Spanned<String>) -> Problem {
    let message = format!("unknown rule {}", quoted(&word.value));
    let problem = Problem::error("unknown-rule", message).at(word.span);
    let words = RULES.iter().flat_map(|rule| [rule.code, rule.name]);
    match did_you_mean(&word.value, words) {
        Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
        None => problem.help("`toolmark rules` lists them"),
    }
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
        let message = format!("unknown value {}", quoted(&word.value));
        let problem = Problem::error("unknown-value", message).at(word.span);
        problems.push(match did_you_mean(&word.value, words.iter().copied()) {
            Some(near) => problem.help(format!("did you mean {}?", quoted(near))),
            None => problem.help(format!("expected one of {}", words.join(", "))),
        });
    }
    found
}

fn read_gates(gate: &Spanned<String>, problems: &mut Vec<Problem>) -> Vec<Gate> {
    match parse_gates(&gate.value) {
        Ok(gates) => gates,
        Err(error) => {
            let problem = match part_of(gate, error.at) {
                Some(span) => Problem::error("invalid-gate", error.message).at(span),
                None => Problem::error("invalid-gate", error.to_string()).at(gate.span),
            };
            problems.push(match error.help {
                Some(help) => problem.help(help),
                None => problem,
            });
            Vec::new()
        }
    }
}

/// Returns the span of a text from a character on, if the text is written without quotes and
/// escapes.
fn part_of(text: &Spanned<String>, at: usize) -> Option<NodeSpan> {
    let (start, end) = (text.span.start as usize, text.span.end as usize);
    let before: usize = text.value.chars().take(at).map(char::len_utf8).sum();
    (end - start == text.value.len()).then(|| NodeSpan::new(start + before, end))
}

/// Checks constraints of a toolset that its type cannot express; `node` is its source.
fn check_toolset(toolset: &Spanned<Toolset>, node: Option<&Node>, problems: &mut Vec<Problem>) {
    let mut wrong = |place: Option<&Node>, message: String| {
        let span = place.map_or(toolset.span, |place| place.span);
        problems.push(Problem::error("invalid-toolset", message).at(span));
    };
    if toolset.value.id.is_empty() {
        wrong(None, "the toolset has no `id`".to_owned());
    }
    for tool in &*toolset.value.tools {
        if let Some(schema) = &tool.schema
            && let Err(error) = toolmark_schema::check_schema(&schema.parse())
        {
            let place = node.and_then(|node| node.get("tools")?.get(&tool.name)?.get("schema"));
            wrong(
                place,
                format!("the schema of {} is not a valid JSON Schema: {error}", quoted(&tool.name)),
            );
        }
    }
    for name in toolset.value.confusable.iter().flatten() {
        if toolset.value.tool(name).is_none() {
            let pairs = node.and_then(|node| node.get("confusable"));
            let mut names = pairs.iter().flat_map(|pairs| pairs.items()).flat_map(Node::items);
            let place = names.find(|one| one.as_str() == Some(name));
            wrong(place, format!("the toolset has no tool {}", quoted(name)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read_json(value: Value) -> (CheckConfig, Vec<String>) {
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
            "gates": ["recovery[Bash.127] >= 0.8", "article"],
            "toolsets": [{"id": "shop", "tools": {"peek": {"role": "reads", "path": "file",
                "schema": {"type": "object"}}}}],
        }));
        assert_eq!(problems, [""; 0]);
        assert_eq!(config.severity.get("S101"), Some(&Severity::Info));
        assert_eq!((config.min_confidence, config.fail_on), (Some(Confidence::Low), Some(None)));
        assert_eq!(config.gates.unwrap().len(), 6);
        assert!(config.toolsets[0].tool("peek").is_some());
    }

    #[test]
    fn mistakes_are_named() {
        for (value, want) in [
            (json!({"selct": []}), "unknown-key"),
            (json!({"select": ["repeated-reed"]}), "unknown-rule did you mean"),
            (
                json!({"severity": {"S101": "fatal"}}),
                "unknown-value expected one of info, warning, error",
            ),
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
