//! `trajectory:tool-args-match`: checks that a tool was called with these arguments.

use super::reading::{CheckLines, ReadingQuestion, TRAJECTORY_PROFILES, count, follows};
use super::steps::{AgentvStep, MATCHER_KEYS, Matcher, arguments, matcher, matcher_schema, steps};
use super::value::{self, AssertionValue, keys, wrong};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use toolmark_config::{Node, NodeKind, Problem};
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::Outcome;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Evidence, EvidenceRole, excerpt};
use toolmark_outcome::{NumberRules, equal};
use toolmark_pattern::{has_wildcards, is_agentv_match};

/// Arguments with which a tool must have been called.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the value is read by hand")]
struct ToolArgsConfig {
    /// A map with `name` or `pattern`, `args`, and the comparison mode.
    #[schemars(schema_with = "value_schema")]
    value: Node,
    /// Whether the check is inverted.
    #[schemars(default)]
    negate: bool,
}

fn value_schema(_: &mut SchemaGenerator) -> Schema {
    matcher_schema(&json!({
        "args": {"description": "The arguments."},
        "arguments": {"description": "The same."},
        "mode": {"enum": ["partial", "exact"], "description": "partial (the default): what is given must be there. exact: and nothing else."},
        "defaults": {"type": "object", "description": "Arguments that are left out of the comparison where they have these values."},
        "ignore": {
            "anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string", "minLength": 1}}],
            "description": "Names of arguments to leave out, with * and ?.",
        },
    }))
}

pub(crate) static TOOL_ARGS_MATCH: GraderInfo = GraderInfo {
    id: "trajectory:tool-args-match",
    aliases: &[],
    origin: "agentv",
    summary: "checks whether a tool was called with given arguments",
    docs: "Passes if a call of the tool has these arguments. With `mode: partial` (the default) every given key must be there, through all levels; lists must be as long as the given ones and are compared item by item. `mode: exact` allows no other keys.

`ignore` names top-level arguments that are left out on both sides, with `*` and `?`; `defaults` names those that are left out where they have this value. Arguments that are JSON in a text are decoded. `negate: true` asks that no call has these arguments.

A call that failed does not count, unless the opposite is wanted. The readings of AgentV and promptfoo (`agentv@5`, `promptfoo`) count it, and do not see calls of a shell with a command.",
    example: "type: trajectory:tool-args-match\nconfig:\n  value:\n    name: search\n    args: { query: rust }\n    ignore: [\"request_*\"]",
    taxonomy: Taxonomy::EXPECTED,
    profiles: TRAJECTORY_PROFILES,
    schema: schema_of::<ToolArgsConfig>,
    build: |building| value::build(building, read),
};

struct ToolArgs {
    tool: Matcher,
    args: Value,
    exact: bool,
    defaults: Map<String, Value>,
    ignore: Vec<String>,
    negate: bool,
}

fn read(asked: &AssertionValue<'_>, _: Profile, problems: &mut Vec<Problem>) -> Option<ToolArgs> {
    let node = asked.value;
    if node.as_map().is_none() {
        problems.push(wrong(node, format!("expected a map, found {}", node.word())));
        return None;
    }
    let own = &["args", "arguments", "mode", "defaults", "ignore"];
    keys(node, &[MATCHER_KEYS, own].concat(), problems);
    let tool = matcher(node, problems)?;
    if tool.name.is_none() {
        problems.push(wrong(node, "a name or a pattern is needed"));
    }
    let args = node.get("args").or_else(|| node.get("arguments"));
    if args.is_none() {
        problems.push(wrong(node, "missing key \"args\""));
    }
    let exact = match node.get("mode").map(|mode| (mode, mode.as_str())) {
        None | Some((_, Some("partial"))) => false,
        Some((_, Some("exact"))) => true,
        Some((mode, _)) => {
            problems.push(wrong(mode, "mode must be partial or exact"));
            false
        }
    };
    let defaults = match node.get("defaults").map(|node| (node, node.to_json())) {
        None => Map::new(),
        Some((_, Value::Object(defaults))) => defaults,
        Some((node, _)) => {
            problems.push(wrong(node, "defaults must be a map of arguments to their values"));
            Map::new()
        }
    };
    let ignore = node.get("ignore");
    let names: Vec<&Node> = match ignore.map(|node| &node.kind) {
        None => Vec::new(),
        Some(NodeKind::List(items)) => items.iter().collect(),
        Some(_) => ignore.into_iter().collect(),
    };
    let ignore: Vec<String> = names.iter().filter_map(|n| n.as_str()).map(str::to_owned).collect();
    if ignore.len() != names.len() || ignore.iter().any(|name| name.trim().is_empty()) {
        problems.push(wrong(node, "ignore must be a name or a list of names"));
    }
    let args = args?.to_json();
    Some(ToolArgs { tool, args, exact, defaults, ignore, negate: asked.negate })
}

impl ToolArgs {
    fn fits(&self, given: &Value) -> bool {
        let given = self.without_ignored(given);
        let given = match given {
            Value::Object(fields) => {
                let is_default = |key: &String, value: &Value| {
                    self.defaults.get(key).is_some_and(|d| equal(d, value, NumberRules::Json))
                };
                Value::Object(fields.into_iter().filter(|(k, v)| !is_default(k, v)).collect())
            }
            other => other,
        };
        let wanted = self.without_ignored(&self.args);
        if self.exact { equal(&wanted, &given, NumberRules::Json) } else { holds(&wanted, &given) }
    }

    fn without_ignored(&self, value: &Value) -> Value {
        let Value::Object(fields) = value else { return value.clone() };
        let is_ignored = |key: &str| {
            let matches = |name: &String| {
                if has_wildcards(name) { is_agentv_match(name, key) } else { name == key }
            };
            self.ignore.iter().any(matches)
        };
        let kept = fields.iter().filter(|(key, _)| !is_ignored(key));
        Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
    }
}

/// Whether every expected value is present. Both values come from parsers that bound nesting.
fn holds(wanted: &Value, given: &Value) -> bool {
    match (wanted, given) {
        (Value::Object(wanted), Value::Object(given)) => {
            wanted.iter().all(|(key, w)| given.get(key).is_some_and(|g| holds(w, g)))
        }
        (Value::Array(wanted), Value::Array(given)) => {
            wanted.len() == given.len() && wanted.iter().zip(given).all(|(w, g)| holds(w, g))
        }
        _ => equal(wanted, given, NumberRules::Json),
    }
}

impl ReadingQuestion for ToolArgs {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let view = &subject.view;
        let steps = steps(view, profile);
        let calls: Vec<&AgentvStep> =
            steps.iter().filter(|step| self.tool.is_tool(step, profile)).collect();
        let counts = |step: &AgentvStep| follows(profile) || self.negate || !step.failed;
        let fits = |step: &&&AgentvStep| {
            let seen = step.call.and_then(|at| view.calls().get(at));
            let given = seen.and_then(|seen| arguments(seen.call));
            counts(step) && given.is_some_and(|given| self.fits(&given))
        };
        let found = calls.iter().find(fits);
        let (tool, wanted) = (self.tool.text(), excerpt(&self.args.to_string()));
        let reason = match (found, calls.len()) {
            (Some(_), _) => format!("{tool} was called with {wanted}"),
            (None, 0) => format!("{tool} was not called"),
            (None, n) => format!("none of {} of {tool} has {wanted}", count(n, "call")),
        };
        let mut outcome =
            CheckLines::single(profile, found.is_some() != self.negate, reason.clone());
        let shown = match found {
            Some(step) => vec![*step],
            None => calls.iter().copied().take(20).collect(),
        };
        let role = match (found.is_some(), self.negate) {
            (true, false) => EvidenceRole::Matched,
            (true, true) => EvidenceRole::Violation,
            (false, _) => EvidenceRole::Mismatch,
        };
        for step in shown {
            if let Some(seen) = step.call.and_then(|at| view.calls().get(at)) {
                outcome.evidence.push(view.evidence(role, tool, *seen));
            }
        }
        if outcome.evidence.is_empty() {
            outcome.evidence.push(Evidence::absence(reason));
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{agentv, complaints, grade, grade_as};
    use serde_json::json;
    use toolmark_outcome::Profile;
    use toolmark_outcome::Verdict::{Fail, Pass};

    const ID: &str = "trajectory:tool-args-match";

    #[test]
    fn arguments_of_some_call() {
        let made = agentv(json!([
            {"tool": "s", "input": {"q": "a", "o": {"x": 1, "y": 2}, "l": [{"k": 1, "w": 2}], "id": "z1"}},
            {"tool": "s", "input": "{\"q\": \"b\"}"},
            {"tool": "f", "input": {"q": "c"}, "status": "error"},
            {"tool": "n"},
        ]));
        for (value, negate, ours, theirs) in [
            (json!({"name": "S", "args": {"q": "a"}}), false, Pass, Pass),
            (json!({"name": "s", "args": {"q": "b"}}), false, Pass, Pass),
            (json!({"name": "s", "args": {"q": "z"}}), false, Fail, Fail),
            (json!({"name": "s", "args": {"q": "z"}}), true, Pass, Pass),
            (json!({"name": "s", "arguments": {"o": {"x": 1}}}), false, Pass, Pass),
            (json!({"name": "s", "args": {"l": [{"k": 1}]}}), false, Pass, Pass),
            (json!({"name": "s", "args": {"l": []}}), false, Fail, Fail),
            (json!({"name": "s", "mode": "exact", "args": {"q": "b"}}), false, Pass, Pass),
            (json!({"name": "s", "mode": "exact", "args": {"q": "a"}}), false, Fail, Fail),
            (
                json!({"name": "s", "mode": "exact", "args": {"q": "a"}, "ignore": ["i*", "l"], "defaults": {"o": {"x": 1, "y": 2}}}),
                false,
                Pass,
                Pass,
            ),
            (json!({"name": "f", "args": {"q": "c"}}), false, Fail, Pass),
            (json!({"name": "f", "args": {"q": "c"}}), true, Fail, Fail),
            (json!({"name": "n", "args": {}}), false, Fail, Fail),
        ] {
            let config = json!({"value": value, "negate": negate});
            assert_eq!(grade(ID, config.clone(), &made).verdict, ours, "{config}");
            let outcome = grade_as(ID, Profile::AgentV5, config.clone(), &made);
            assert_eq!(outcome.verdict, theirs, "{config}");
        }
    }

    #[test]
    fn mistakes() {
        for (value, complaint) in [
            (json!("s"), "expected a map"),
            (json!({"args": {}}), "name or a pattern"),
            (json!({"name": "s"}), "missing key \"args\""),
            (json!({"name": "s", "args": {}, "mode": "subset"}), "partial or exact"),
            (json!({"name": "s", "args": {}, "defaults": []}), "defaults"),
            (json!({"name": "s", "args": {}, "ignore": [""]}), "ignore"),
            (json!({"name": "s", "args": {}, "arg": {}}), "unknown key"),
        ] {
            let config = json!({"value": value});
            let said = complaints(ID, &config).join("; ");
            assert!(said.contains(complaint), "{config}: {said}");
        }
    }
}
