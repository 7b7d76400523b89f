//! Reading of the sections, with all errors at once.

use super::{Need, Once, Origins, ResultPath, ToolPolicy, ToolTerms, Wanted, is_named};
use crate::tool_effect::ToolEffect;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use toolmark_config::{Node, NodeEntry, Problem, Spanned, did_you_mean, quoted, read};

/// Effect of a tool and conditions on its calls.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "ToolTerms")]
struct TermsEntry {
    /// Effect of a call; by default it is derived from the name of the tool.
    #[schemars(schema_with = "effect_schema")]
    effect: Option<Spanned<String>>,
    /// Whether the user must agree before a call, after the details were stated.
    confirm: bool,
    /// Whether only one call may succeed: `true` for the same arguments, or `per NAME` for the
    /// same value of an argument.
    #[schemars(schema_with = "once_schema")]
    once: Option<Node>,
    /// Values that earlier results must have, by tool and path.
    #[schemars(with = "BTreeMap<String, Value>")]
    needs: Option<Node>,
    /// Sources of the values of arguments: paths in results, or `user`.
    #[schemars(schema_with = "from_schema")]
    from: Option<Node>,
    /// Tools that must have been called before.
    after: Vec<Spanned<String>>,
    /// Tools that must not have been called before, for the same thing.
    not_with: Vec<Spanned<String>>,
    /// Maximum number of calls in a session.
    limit: Option<u64>,
}

/// Words for effects.
fn effect_words() -> Vec<&'static str> {
    ToolEffect::ALL.iter().map(|effect| effect.word()).collect()
}

fn effect_schema(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<_> = effect_words().into_iter().map(Some).chain([None]).collect();
    json_schema!({ "enum": words })
}

fn once_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["boolean", "string", "null"] })
}

fn from_schema(_: &mut SchemaGenerator) -> Schema {
    let texts = json_schema!({ "type": ["string", "array"], "items": {"type": "string"} });
    json_schema!({ "type": ["object", "null"], "additionalProperties": texts })
}

/// Returns the JSON Schema of `tools:`.
pub fn schema(generator: &mut SchemaGenerator) -> Schema {
    let terms = generator.subschema_for::<TermsEntry>();
    let terms = json_schema!({ "anyOf": [terms, {"type": "null"}] });
    json_schema!({
        "description": "Effects of named tools, and conditions on their calls, by name or glob.",
        "type": "object",
        "additionalProperties": terms
    })
}

/// Returns the JSON Schema of `order:`.
pub fn order_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "description": "Tools that are called in this order.",
        "type": "array",
        "items": {"type": "string"}
    })
}

impl ToolPolicy {
    /// Reads the `tools:` and `order:` sections of a file and reports every error with its
    /// position.
    #[must_use]
    pub fn read(root: &Node, problems: &mut Vec<Problem>) -> Self {
        let mut policy = Self::default();
        if let Some(part) = root.get("tools").filter(|part| !part.is_null()) {
            if part.as_map().is_none() {
                let message = format!("expected a map, found {}", part.word());
                problems.push(Problem::error("wrong-type", message).at(part.span));
            }
            policy.tools.extend(part.entries().filter_map(|entry| terms(entry, problems)));
            shadowed(part, problems);
        }
        if let Some(part) = root.get("order").filter(|part| !part.is_null()) {
            let names: Option<Vec<Spanned<String>>> = read(part, problems);
            policy.order = names.map(|names| checked(names, problems)).unwrap_or_default();
        }
        policy
    }
}

/// Reports an entry whose effect is never used, because an earlier glob has one too.
fn shadowed(part: &Node, problems: &mut Vec<Problem>) {
    let with_effect: Vec<&NodeEntry> =
        part.entries().filter(|entry| entry.value.get("effect").is_some()).collect();
    for (at, entry) in with_effect.iter().enumerate() {
        let earlier = with_effect.iter().take(at).find(|other| is_named(&other.key, &entry.key));
        if let Some(other) = earlier {
            let message = format!(
                "the effect of {} is never used: {} comes first",
                quoted(&entry.key),
                quoted(&other.key)
            );
            problems.push(Problem::warning("never-applies", message).at(entry.key_span));
        }
    }
}

fn terms(entry: &NodeEntry, problems: &mut Vec<Problem>) -> Option<ToolTerms> {
    let name = entry.key.to_string();
    if name.is_empty() || name.contains(char::is_whitespace) {
        let message = format!("{} is not the name of a tool", quoted(&name));
        problems.push(Problem::error("invalid-tool", message).at(entry.key_span));
        return None;
    }
    if entry.value.is_null() || entry.value.as_map().is_some_and(<[_]>::is_empty) {
        let message = format!("the entry of {} is empty", quoted(&name));
        let help = "add a key, such as `effect: final`, or remove the entry";
        problems.push(Problem::warning("empty-entry", message).at(entry.key_span).help(help));
        return None;
    }
    let written: TermsEntry = read(&entry.value, problems)?;
    let needs = written.needs.as_ref().map(Node::entries).into_iter().flatten();
    let from = written.from.as_ref().map(Node::entries).into_iter().flatten();
    for (key, node) in [("needs", &written.needs), ("from", &written.from)] {
        let wrong = node.as_ref().filter(|node| node.as_map().is_none() && !node.is_null());
        problems.extend(wrong.map(|node| {
            let message = format!("`{key}`: expected a map, found {}", node.word());
            Problem::error("wrong-type", message).at(node.span)
        }));
    }
    Some(ToolTerms {
        effect: written.effect.as_ref().and_then(|word| effect(word, problems)),
        confirm: written.confirm,
        once: written.once.as_ref().and_then(|node| once(node, problems)),
        needs: needs.filter_map(|entry| need(entry, problems)).collect(),
        from: from.filter_map(|entry| origins(entry, problems)).collect(),
        after: checked(written.after, problems),
        not_with: checked(written.not_with, problems),
        limit: written.limit,
        name,
    })
}

fn effect(word: &Spanned<String>, problems: &mut Vec<Problem>) -> Option<ToolEffect> {
    let plain = word.value.replace(['_', ' '], "-");
    let found = ToolEffect::ALL.iter().copied().find(|effect| effect.word() == plain);
    if found.is_none() {
        let message = format!("unknown effect {}", quoted(&word.value));
        let help = match did_you_mean(&word.value, effect_words()) {
            Some(near) => format!("did you mean {}?", quoted(near)),
            None => format!("expected one of {}", effect_words().join(", ")),
        };
        problems.push(Problem::error("unknown-value", message).at(word.span).help(help));
    }
    found
}

fn once(node: &Node, problems: &mut Vec<Problem>) -> Option<Once> {
    if let Some(is_once) = node.as_bool() {
        return is_once.then_some(Once::PerArguments);
    }
    let names = node.as_str().map(|text| text.strip_prefix("per ").unwrap_or(text));
    let names: Vec<String> = names
        .map(|names| names.split(',').map(|name| name.trim().to_owned()).collect())
        .unwrap_or_default();
    let is_name = |name: &String| !name.is_empty() && !name.contains(char::is_whitespace);
    if !names.is_empty() && names.iter().all(is_name) {
        return Some(Once::Per(names));
    }
    if !node.is_null() {
        let message = "`once`: expected true, or `per` and the names of arguments";
        problems.push(Problem::error("invalid-value", message).at(node.span));
    }
    None
}

fn need(entry: &NodeEntry, problems: &mut Vec<Problem>) -> Option<Need> {
    let at = path(&entry.key, entry.key_span, problems)?;
    let list = |node: &Node| match node.as_list() {
        Some(items) => items.iter().map(Node::to_json).collect(),
        None => vec![node.to_json()],
    };
    let value = &entry.value;
    let wanted = match value.as_map() {
        None if value.is_null() || value.as_bool() == Some(true) && at.steps.is_empty() => {
            Wanted::Any
        }
        None => Wanted::OneOf(list(value)),
        Some([only]) if only.key == "not" => Wanted::NoneOf(list(&only.value)),
        Some(_) => {
            let message = "expected a value, a list of values, or `{not: …}`";
            problems.push(Problem::error("invalid-value", message).at(value.span));
            return None;
        }
    };
    if at.steps.is_empty() && wanted != Wanted::Any {
        let message = format!("{} names a tool without a path", quoted(&entry.key));
        let help = "add the path of the value, as in `get_order.status`, or write `true`";
        problems.push(Problem::error("invalid-path", message).at(entry.key_span).help(help));
        return None;
    }
    Some(Need { at, wanted })
}

fn origins(entry: &NodeEntry, problems: &mut Vec<Problem>) -> Option<Origins> {
    let sources: Vec<Spanned<String>> = match entry.value.as_str() {
        Some(text) => vec![Spanned { value: text.to_owned(), span: entry.value.span }],
        None => read(&entry.value, problems)?,
    };
    if sources.is_empty() {
        let message = format!("{} has no sources, so no value is allowed", quoted(&entry.key));
        problems.push(Problem::error("empty-list", message).at(entry.value.span));
        return None;
    }
    let user = sources.iter().any(|source| source.value == "user");
    let results = sources.iter().filter(|source| source.value != "user");
    let results = results.filter_map(|source| path(&source.value, source.span, problems)).collect();
    Some(Origins { argument: entry.key.to_string(), user, results })
}

fn path(
    text: &str,
    span: toolmark_config::NodeSpan,
    problems: &mut Vec<Problem>,
) -> Option<ResultPath> {
    match ResultPath::parse(text) {
        Ok(path) => Some(path),
        Err(why) => {
            let message = format!("invalid path {}: {why}", quoted(text));
            let help = "write the tool and the path, as in `get_order.items[].id`";
            problems.push(Problem::error("invalid-path", message).at(span).help(help));
            None
        }
    }
}

fn checked(names: Vec<Spanned<String>>, problems: &mut Vec<Problem>) -> Vec<String> {
    let mut known = Vec::new();
    for name in names {
        if name.value.is_empty() || name.value.contains(char::is_whitespace) {
            let message = format!("{} is not the name of a tool", quoted(&name.value));
            problems.push(Problem::error("invalid-tool", message).at(name.span));
        } else {
            known.push(name.value);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolmark_config::{SourceText, parse};

    fn policy(text: &str) -> (ToolPolicy, Vec<String>) {
        let source = SourceText::new("toolmark.yaml", text);
        let mut parsed = parse(&source);
        let policy = ToolPolicy::read(&parsed.node.unwrap(), &mut parsed.problems);
        let shown = |problem: &Problem| {
            let at = problem.span.unwrap_or_default().start as usize;
            let line = text.get(..at).unwrap_or_default().lines().count().max(1);
            format!("{line}: {}", problem.code)
        };
        (policy, parsed.problems.iter().map(shown).collect())
    }

    #[test]
    fn everything_at_once() {
        let (policy, problems) = policy(
            "tools:\n  exchange_items:\n    effect: final\n    confirm: true\n    \
             once: per order_id\n    needs: {get_order.status: delivered, find_user: true}\n    \
             from:\n      item_ids: get_order.items[].item_id\n      \
             card: [get_user.cards, user]\n    after: [find_user]\n    not_with: [cancel_*]\n    \
             limit: 2\n  escalate: {effect: hand off}\norder: [find_user, exchange_items]\n",
        );
        assert_eq!(problems, [""; 0]);
        assert_eq!(policy.order, ["find_user", "exchange_items"]);
        let terms = policy.of("mcp__shop__exchange_items").next().unwrap();
        assert_eq!(terms.effect, Some(ToolEffect::Final));
        assert_eq!(terms.once, Some(Once::Per(vec!["order_id".to_owned()])));
        assert_eq!((terms.needs.len(), terms.from.len(), terms.limit), (2, 2, Some(2)));
        assert!(terms.from[1].user && terms.has_conditions());
        assert_eq!(policy.effect("escalate"), Some(ToolEffect::HandOff));
        assert!(policy.concerns("find_user") && !policy.concerns("escalate"));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, want) in [
            ("tools: [a]\n", "1: wrong-type"),
            ("tools:\n  a: {effct: final}\n", "2: unknown-key"),
            ("tools:\n  a: {effect: fatal}\n", "2: unknown-value"),
            ("tools:\n  a: {once: [x]}\n", "2: invalid-value"),
            ("tools:\n  a:\n    needs:\n      get.x[0]: 1\n", "4: invalid-path"),
            ("tools:\n  a: {needs: {get: pending}}\n", "2: invalid-path"),
            ("tools:\n  a: {needs: [get.x]}\n", "2: wrong-type"),
            ("tools:\n  a: {from: {x: []}}\n", "2: empty-list"),
            ("tools:\n  a: {from: {x: get..y}}\n", "2: invalid-path"),
            ("tools:\n  a: {after: ['']}\n", "2: invalid-tool"),
            ("tools:\n  a: {limit: -1}\n", "2: invalid-value"),
            ("tools:\n  a:\n", "2: empty-entry"),
            ("tools:\n  a*: {effect: read}\n  ab: {effect: final}\n", "3: never-applies"),
            ("order: find_user\n", "1: wrong-type"),
        ] {
            let (_, problems) = policy(text);
            assert_eq!(problems, [want], "{text}");
        }
    }
}
