//! `tool-trajectory`: checks that the agent called the expected tools.
//!
//! Five modes: minimum numbers of calls per tool (`any_order`), a sequence with gaps
//! (`in_order`), a sequence without gaps (`exact`), every expected call in any order
//! (`superset`), and only expected calls (`subset`).

use super::arguments::{self, ArgumentRule};
use super::reading::{PROFILES, is_agentv, reading};
use crate::explain::ExpectationState;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use toolmark_config::{Node, NodeEntry, NodeKind, Problem, quoted, read};
use toolmark_grade::{Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_match::Building;
use toolmark_outcome::Profile;

mod peer;
mod question;
mod sound;

/// Expected tools, and the comparison mode.
#[derive(Debug, Deserialize, JsonSchema)]
struct ToolTrajectoryConfig {
    /// Comparison mode for calls.
    mode: TrajectoryMode,
    /// For `any_order`: minimum number of calls of each tool.
    #[serde(default)]
    #[schemars(schema_with = "minimums_schema")]
    minimums: Option<Node>,
    /// For the other modes: expected calls.
    #[serde(default)]
    expected: Option<Vec<ExpectedCall>>,
    /// Comparison mode for arguments, unless an expected call has its own:
    /// `exact`, `superset`, `subset`, `ignore` or a list of dotted paths.
    /// By default, only the given keys are compared.
    #[serde(default, alias = "argsMatch")]
    #[schemars(schema_with = "args_match_schema")]
    args_match: Option<Node>,
}

/// Comparison mode for calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TrajectoryMode {
    /// At least the minimum number of calls of each tool.
    AnyOrder,
    /// In this order; other calls may come between.
    InOrder,
    /// In this order and no other calls.
    Exact,
    /// Every expected call is made, in any order; others may be made too.
    Superset,
    /// Every call that is made is among the expected ones.
    Subset,
}

impl TrajectoryMode {
    fn word(self) -> &'static str {
        match self {
            Self::AnyOrder => "any_order",
            Self::InOrder => "in_order",
            Self::Exact => "exact",
            Self::Superset => "superset",
            Self::Subset => "subset",
        }
    }
}

/// One expected call.
#[derive(Debug, Deserialize, JsonSchema)]
struct ExpectedCall {
    /// Name of the tool.
    tool: String,
    /// Arguments to compare: a map, or `any`.
    #[serde(default)]
    #[schemars(schema_with = "args_schema")]
    args: Option<Node>,
    /// Comparison mode for its arguments.
    #[serde(default, alias = "argsMatch")]
    #[schemars(schema_with = "args_match_schema")]
    args_match: Option<Node>,
    /// Maximum duration of the call, in milliseconds; for `in_order` and `exact`.
    #[serde(default, alias = "maxDurationMs")]
    max_duration_ms: Option<f64>,
    /// Ignored; `args` is compared instead.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Value>")]
    input: Option<Node>,
    /// Ignored.
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Value>")]
    output: Option<Node>,
}

fn minimums_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "additionalProperties": {"type": "number", "minimum": 0}})
}

fn args_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [{"const": "any"}, {"type": "object"}, {"type": "null"}]})
}

fn args_match_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            {"enum": arguments::WORDS},
            {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
        ]
    })
}

pub(crate) static TOOL_TRAJECTORY: GraderInfo = GraderInfo {
    id: "tool-trajectory",
    aliases: &["tool_trajectory"],
    origin: "agentv",
    summary: "checks the called tools against the expected ones, in order",
    docs: DOCS,
    example: "type: tool-trajectory\nconfig:\n  mode: in_order\n  expected:\n    - tool: search\n      args: { query: rust }\n    - tool: save\n      max_duration_ms: 500",
    taxonomy: Taxonomy::EXPECTED,
    profiles: PROFILES,
    schema: schema_of::<ToolTrajectoryConfig>,
    build,
};

const DOCS: &str = "Checks whether the agent called the expected tools.

| mode | what must hold | score |
|---|---|---|
| `any_order` | every tool of `minimums` is called at least that many times | tools that are / tools listed |
| `in_order` | the calls of `expected` are made in this order, others may come between | (made + in time) / (expected + limits) |
| `exact` | the same, and no other call is made | (made + in time) / (expected + limits + other calls) |
| `superset` | every call of `expected` is made, in any order | made / expected |
| `subset` | every call that is made is among `expected` | allowed / made |

`args` of an expected call are compared key by key; keys that are not given are not checked, and values are compared whole. `args: any` or no `args` checks nothing. `args_match`, for one call or for all, says otherwise: `exact`, `superset` (the default), `subset`, `ignore`, or a list of dotted paths.

`max_duration_ms` (`in_order`, `exact`) is one more thing to hold. A call whose duration the trace does not record is neither a hit nor a miss, and a note says so.

Calls are taken as they are listed. As many expectations as possible are met, each by a call of its own. A call that the trace says failed does not meet an expectation, but is a call that was made. A score of 0.8 passes; with `exact` and `subset` a call that is missing or too many fails whatever the score.

AgentV's own readings (`agentv@1`, `agentv@2`) differ: `in_order` goes through the calls once and a step that is missing loses all later ones, `exact` leaves calls that follow out of the score, `superset` gives the first call that fits, failed calls count, and from version 2 on arguments must be the same unless `args_match` says otherwise. What AgentV would leave out of a configuration with a warning is an error here; under its readings it is left out, with a warning. AgentV 5 refuses this grader.";

/// A parsed expected call.
struct TrajectoryItem {
    tool: String,
    args: Option<Map<String, Value>>,
    rule: Option<ArgumentRule>,
    limit: Option<f64>,
}

impl TrajectoryItem {
    /// Describes the expected call.
    fn text(&self) -> String {
        match &self.args {
            None => self.tool.clone(),
            Some(args) => {
                let args = serde_json::to_string(args).unwrap_or_default();
                format!("{} {}", self.tool, toolmark_outcome::excerpt(&args))
            }
        }
    }
}

struct ToolTrajectory {
    mode: TrajectoryMode,
    minimums: Vec<(String, f64)>,
    items: Vec<TrajectoryItem>,
    rule: Option<ArgumentRule>,
}

impl ToolTrajectory {
    /// Returns how the arguments of an expected call are compared under a reading.
    fn rule(&self, item: &TrajectoryItem, profile: Profile) -> ArgumentRule {
        let said = item.rule.as_ref().or(self.rule.as_ref());
        match (profile, said) {
            (Profile::AgentV1, _) => ArgumentRule::Superset,
            (_, Some(rule)) => rule.clone(),
            (Profile::AgentV2 | Profile::AgentV5, None) => ArgumentRule::Exact,
            (_, None) => ArgumentRule::Superset,
        }
    }
}

fn build(building: &mut Building<'_>) -> Option<Arc<dyn Grader>> {
    let profile = building.profile;
    let span = building.config.span;
    if profile == Profile::AgentV5 {
        let problem = Problem::error("refused-by-agentv", "AgentV 5 refuses tool-trajectory")
            .at(span)
            .help("use trajectory:tool-used, trajectory:tool-sequence and trajectory:tool-args-match, or another profile");
        building.problems.push(problem);
        return None;
    }
    let lenient = is_agentv(profile);
    let config = if lenient { left(building.config, building.problems) } else { None };
    let Some(config) =
        read::<ToolTrajectoryConfig>(config.as_ref().unwrap_or(building.config), building.problems)
    else {
        unread(building.config, building.problems);
        return None;
    };
    let mode = config.mode;
    if profile == Profile::AgentV1
        && matches!(mode, TrajectoryMode::Superset | TrajectoryMode::Subset)
    {
        let message = format!("AgentV 1 does not know the mode {}", mode.word());
        building.reject(span, "unknown-mode", message);
        return None;
    }
    let minimums = match (&config.minimums, mode) {
        (None, TrajectoryMode::AnyOrder) => {
            building.reject(span, "missing-key", "the mode any_order needs \"minimums\"");
            return None;
        }
        (None, _) => Vec::new(),
        (Some(node), _) => minimums(node, building.problems)?,
    };
    let problems = building.problems.len();
    let rule = config.args_match.as_ref().and_then(|n| arguments::rule(n, building.problems));
    let items = match (config.expected, mode) {
        (None, TrajectoryMode::AnyOrder) => Vec::new(),
        (None, _) => {
            let message = format!("the mode {} needs \"expected\"", mode.word());
            building.reject(span, "missing-key", message);
            return None;
        }
        (Some(items), _) => items.into_iter().map(|i| item(i, building)).collect(),
    };
    if building.problems[problems..].iter().any(Problem::is_error) {
        return None;
    }
    reading(building, ToolTrajectory { mode, minimums, items, rule })
}

/// Validates the hand-checked keys if the rest could not be read, so that
/// all mistakes are reported together.
fn unread(config: &Node, problems: &mut Vec<Problem>) {
    let items = config.get("expected").into_iter().flat_map(Node::items);
    for node in std::iter::once(config).chain(items) {
        for key in ["args_match", "argsMatch"] {
            if let Some(rule) = node.get(key) {
                arguments::rule(rule, problems);
            }
        }
        problems
            .extend(node.get("args").and_then(|args| args_of(args).err()).map(|problem| *problem));
    }
    if let Some(counts) = config.get("minimums") {
        minimums(counts, problems);
    }
}

/// Returns the arguments to compare, if any.
fn args_of(node: &Node) -> Result<Option<Map<String, Value>>, Box<Problem>> {
    match (&node.kind, node.to_json()) {
        (NodeKind::Null, _) => Ok(None),
        (NodeKind::Text(word), _) if word == "any" => Ok(None),
        (_, Value::Object(args)) => Ok(Some(args)),
        _ => {
            let message = format!("expected a map of arguments or any, found {}", node.word());
            Err(Box::new(Problem::error("invalid-args", message).at(node.span)))
        }
    }
}

fn item(expected: ExpectedCall, building: &mut Building<'_>) -> TrajectoryItem {
    for (key, node) in [("input", &expected.input), ("output", &expected.output)] {
        if let Some(node) = node {
            let message = format!("{key} of an expected call is ignored");
            let problem = Problem::warning("ignored-key", message).at(node.span);
            building.problems.push(problem.help("arguments are compared with args"));
        }
    }
    let args = match expected.args.as_ref().map(args_of) {
        None => None,
        Some(Ok(args)) => args,
        Some(Err(problem)) => {
            building.problems.push(*problem);
            None
        }
    };
    let rule = expected.args_match.as_ref().and_then(|n| arguments::rule(n, building.problems));
    if let (Some(ArgumentRule::Paths(paths)), Some(args), Some(node), false) =
        (&rule, &args, &expected.args_match, is_agentv(building.profile))
    {
        for path in paths {
            if arguments::at(args, path, false).is_none() {
                let message = format!("args has nothing at {}", quoted(path));
                building.reject(node.span, "missing-path", message);
            }
        }
    }
    let limit = expected.max_duration_ms;
    if limit.is_some_and(|limit| limit < 0.0 || !limit.is_finite()) {
        let span = expected.args.as_ref().map_or(building.config.span, |node| node.span);
        building.reject(span, "invalid-limit", "max_duration_ms must be 0 or more");
    }
    TrajectoryItem { tool: expected.tool, args, rule, limit }
}

fn minimums(node: &Node, problems: &mut Vec<Problem>) -> Option<Vec<(String, f64)>> {
    let wrong =
        |node: &Node, message: String| Problem::error("invalid-minimum", message).at(node.span);
    let Some(entries) = node.as_map() else {
        let found = node.word();
        problems.push(wrong(node, format!("expected a map of tools to counts, found {found}")));
        return None;
    };
    let mut all = Vec::with_capacity(entries.len());
    let before = problems.len();
    for NodeEntry { key, value, .. } in entries {
        match value.as_f64().filter(|n| *n >= 0.0) {
            Some(n) => all.push((key.to_string(), n)),
            None => {
                let message =
                    format!("the minimum of {} must be a number of 0 or more", quoted(key));
                problems.push(wrong(value, message));
            }
        }
    }
    (problems.len() == before).then_some(all)
}

/// Returns the part of a configuration that AgentV's loader keeps. It drops what it does not
/// support, so the same parts are dropped here, each with a warning.
fn left(config: &Node, problems: &mut Vec<Problem>) -> Option<Node> {
    let mut config = config.clone();
    let NodeKind::Map(entries) = &mut config.kind else { return None };
    let mut drop = |span, what: String| {
        problems
            .push(Problem::warning("dropped-by-agentv", format!("AgentV drops {what}")).at(span));
    };
    entries.retain(|entry| keep_rule(entry, &mut drop));
    for entry in entries {
        match (entry.key.as_str(), &mut entry.value.kind) {
            ("minimums", NodeKind::Map(minimums)) => minimums.retain(|entry| {
                let is_count = entry.value.as_f64().is_some_and(|n| n >= 0.0);
                if !is_count {
                    let what =
                        format!("the minimum of {}, which is not a count", quoted(&entry.key));
                    drop(entry.value.span, what);
                }
                is_count
            }),
            ("expected", NodeKind::List(items)) => {
                items.retain(|item| {
                    let is_call = item.get("tool").is_some_and(|tool| tool.as_str().is_some());
                    if !is_call {
                        drop(item.span, "an expected call without a tool".into());
                    }
                    is_call
                });
                for item in items {
                    if let NodeKind::Map(entries) = &mut item.kind {
                        entries
                            .retain(|entry| keep_rule(entry, &mut drop) && keep(entry, &mut drop));
                    }
                }
            }
            _ => {}
        }
    }
    Some(config)
}

fn keep_rule(entry: &NodeEntry, drop: &mut impl FnMut(toolmark_config::NodeSpan, String)) -> bool {
    if !matches!(entry.key.as_str(), "args_match" | "argsMatch") {
        return true;
    }
    let keeps = arguments::rule(&entry.value, &mut Vec::new()).is_some();
    if !keeps {
        drop(entry.value.span, format!("{}, which it does not know", entry.key));
    }
    keeps
}

fn keep(entry: &NodeEntry, drop: &mut impl FnMut(toolmark_config::NodeSpan, String)) -> bool {
    let keeps = match (entry.key.as_str(), &entry.value.kind) {
        ("tool" | "args_match" | "argsMatch", _) => true,
        ("args", NodeKind::Text(word)) => word == "any",
        ("args", kind) => matches!(kind, NodeKind::Map(_)),
        ("max_duration_ms" | "maxDurationMs", _) => {
            entry.value.as_f64().is_some_and(|limit| limit >= 0.0)
        }
        _ => true,
    };
    if !keeps {
        drop(entry.value.span, format!("{}, which it cannot use", entry.key));
    }
    keeps
}

#[cfg(test)]
mod tests;
