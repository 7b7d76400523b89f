//! `trajectory:tool-used`: checks whether and how often a tool was used.

use super::reading::{CheckLines, ReadingQuestion, TRAJECTORY_PROFILES, count, follows, number};
use super::steps::{AgentvStep, MATCHER_KEYS, Matcher, matcher, matcher_schema, steps};
use super::value::{self, AssertionValue, keys, wrong};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::json;
use toolmark_config::{Node, NodeKind, Problem};
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::Outcome;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Evidence, EvidenceRole};

/// Tools that must have been used.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the value has many shapes and is read by hand")]
struct ToolUsedConfig {
    /// A tool, a list of tools, or a map with `name` or `pattern`, `min` and `max`.
    #[schemars(schema_with = "value_schema")]
    value: Node,
    /// Whether the check is inverted. For a list: none of its tools may be used.
    #[schemars(default)]
    negate: bool,
}

fn value_schema(_: &mut SchemaGenerator) -> Schema {
    let counted = matcher_schema(&json!({
        "min": {"type": "number", "minimum": 0, "description": "The fewest calls; 1 without."},
        "max": {"type": "number", "minimum": 0, "description": "The most calls."},
    }));
    json_schema!({
        "anyOf": [
            {"type": "string", "minLength": 1},
            {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
            counted,
        ]
    })
}

pub(crate) static TOOL_USED: GraderInfo = GraderInfo {
    id: "trajectory:tool-used",
    aliases: &[],
    origin: "agentv",
    summary: "checks whether a tool was used, and how often",
    docs: "Passes if the tool was used. `value` is a tool, a list of tools that must all be used, or a map with `name` or `pattern` and how often: at least `min` (1 without) and at most `max` times.

Names are compared whole and in any case; `*` stands for any characters and `?` for one. `negate: true` (or `not-` before the type) asks for the opposite: of a list, that none of its tools was used.

A call that failed does not show that a tool was used where it must be; where it must not be, every call counts. The readings of AgentV and promptfoo (`agentv@5`, `promptfoo`) count failed calls, and do not see calls of `exec_command`, `local_shell` or `shell` that have a command in their arguments.",
    example: "type: trajectory:tool-used\nconfig:\n  value: { pattern: \"search*\", min: 1, max: 3 }",
    taxonomy: Taxonomy::EXPECTED,
    profiles: TRAJECTORY_PROFILES,
    schema: schema_of::<ToolUsedConfig>,
    build: |building| value::build(building, read),
};

enum ToolUsed {
    All { tools: Vec<Matcher>, negate: bool },
    Counted { tool: Matcher, min: f64, max: Option<f64>, negate: bool },
}

fn read(asked: &AssertionValue<'_>, _: Profile, problems: &mut Vec<Problem>) -> Option<ToolUsed> {
    let (node, negate) = (asked.value, asked.negate);
    match &node.kind {
        NodeKind::Text(name) => Some(ToolUsed::All { tools: vec![Matcher::tool(name)], negate }),
        NodeKind::List(items) => {
            let names: Vec<&str> = items.iter().filter_map(Node::as_str).collect();
            if names.is_empty() || names.len() != items.len() {
                problems.push(wrong(node, "expected one or more names of tools"));
            }
            let tools = names.into_iter().map(Matcher::tool).collect();
            Some(ToolUsed::All { tools, negate })
        }
        NodeKind::Map(_) => {
            keys(node, &[MATCHER_KEYS, &["min", "max"]].concat(), problems);
            let tool = matcher(node, problems)?;
            if tool.name.is_none() {
                problems.push(wrong(node, "a name or a pattern is needed"));
            }
            let min = value::number(node, "min", problems).unwrap_or(1.0);
            let max = value::number(node, "max", problems);
            if max.is_some_and(|max| max < min) {
                let message = format!("max is below min ({})", number(min));
                problems.push(Problem::error("empty-range", message).at(node.span));
            }
            Some(ToolUsed::Counted { tool, min, max, negate })
        }
        _ => {
            let found = node.word();
            problems.push(wrong(node, format!("expected a tool, a list or a map, found {found}")));
            None
        }
    }
}

impl ReadingQuestion for ToolUsed {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let view = &subject.view;
        let steps = steps(view, profile);
        let used = |tool: &Matcher| -> Vec<&AgentvStep> {
            steps.iter().filter(|step| tool.is_tool(step, profile)).collect()
        };
        // Did it do something, for those who ask for that?
        let done = |step: &&&AgentvStep| follows(profile) || !step.failed;
        let evidence = |role: EvidenceRole, step: &AgentvStep| -> Option<Evidence> {
            let seen = view.calls().get(step.call?)?;
            Some(view.evidence(role, "used", *seen))
        };
        let mut outcome;
        match self {
            Self::All { tools, negate } => {
                let mut lines = CheckLines::default();
                let mut shown = Vec::new();
                for tool in tools {
                    let steps = used(tool);
                    let times =
                        if *negate { steps.len() } else { steps.iter().filter(done).count() };
                    let holds = (times == 0) == *negate;
                    let text = format!("{}: used {}", tool.text(), count(times, "time"));
                    lines.add(holds, || text);
                    if !*negate && times == 0 {
                        shown.push(Evidence::absence(format!("{} was not used", tool.text())));
                    }
                    let role =
                        if *negate { EvidenceRole::Violation } else { EvidenceRole::Matched };
                    shown.extend(steps.iter().take(5).filter_map(|step| evidence(role, step)));
                }
                let (hits, all) = (lines.hits, tools.len());
                let word = if *negate { "left alone" } else { "used" };
                let reason = format!("{hits} of {} {word}", count(all, "tool"));
                let score = f64::from(u8::from(hits == all));
                outcome = lines.outcome(profile, score, 1, reason);
                shown.truncate(20);
                outcome.evidence = shown;
            }
            Self::Counted { tool, min, max, negate } => {
                let steps = used(tool);
                let (all, did) = (steps.len() as f64, steps.iter().filter(done).count() as f64);
                let enough = did >= *min;
                let within = max.is_none_or(|max| all <= max);
                let range = match max {
                    Some(max) => format!("{} to {}", number(*min), number(*max)),
                    None => format!("at least {}", number(*min)),
                };
                let times = count(steps.len(), "time");
                let not = if *negate { " not" } else { "" };
                let reason = format!("{} used {times},{not} {range} asked for", tool.text());
                outcome = CheckLines::single(profile, (enough && within) != *negate, reason);
                let role =
                    if within != *negate { EvidenceRole::Matched } else { EvidenceRole::Violation };
                let shown = steps.iter().take(20);
                outcome.evidence = shown.filter_map(|step| evidence(role, step)).collect();
                if steps.is_empty() {
                    let text = format!("{} was not used", tool.text());
                    outcome.evidence.push(Evidence::absence(text));
                }
            }
        }
        let failed = steps.iter().filter(|step| step.failed).count();
        if !follows(profile) && failed > 0 {
            let calls = count(failed, "call");
            outcome
                .notes
                .push(format!("{calls} failed: they do not show that a tool was used").into());
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

    const ID: &str = "trajectory:tool-used";

    #[test]
    fn tools_and_counts() {
        let made = agentv(json!([
            {"tool": "Search", "input": {}}, {"tool": "search_more", "input": {}},
            {"tool": "save", "input": {}, "status": "error"},
            {"tool": "shell", "input": {"command": "ls -l"}},
        ]));
        // (value, negate, toolmark, AgentV 5)
        for (value, negate, ours, theirs) in [
            (json!("search"), false, Pass, Pass),
            (json!("search*"), false, Pass, Pass),
            (json!("more"), false, Fail, Fail),
            (json!(["search", "search_more"]), false, Pass, Pass),
            (json!(["search", "wipe"]), false, Fail, Fail),
            (json!(["search", "wipe"]), true, Fail, Fail),
            (json!(["purge", "wipe"]), true, Pass, Pass),
            (json!({"name": "search*", "min": 2, "max": 2}), false, Pass, Pass),
            (json!({"name": "search*", "max": 1}), false, Fail, Fail),
            (json!({"name": "search*", "max": 1}), true, Pass, Pass),
            (json!({"name": "wipe", "min": 0, "max": 0}), false, Pass, Pass),
            (json!({"name": "wipe", "pattern": "s?ve", "min": 0}), false, Pass, Pass),
            // A call that failed is not done, but was made.
            (json!("save"), false, Fail, Pass),
            (json!("save"), true, Fail, Fail),
            (json!({"name": "save", "min": 0, "max": 0}), false, Fail, Fail),
            // A shell is a tool.
            (json!("shell"), false, Pass, Fail),
        ] {
            let config = json!({"value": value, "negate": negate});
            assert_eq!(grade(ID, config.clone(), &made).verdict, ours, "{config}");
            let outcome = grade_as(ID, Profile::AgentV5, config.clone(), &made);
            assert_eq!(outcome.verdict, theirs, "{config}");
        }
    }

    #[test]
    fn mistakes_are_zero_to_agentv() {
        for (value, complaint) in [
            (json!([]), "one or more"),
            (json!(7), "a number"),
            (json!({"min": 1}), "name or a pattern"),
            (json!({"name": "a", "most": 1}), "unknown key"),
            (json!({"name": "a", "min": 3, "max": 1}), "below min"),
            (json!({"name": "a", "type": "tools"}), "type of step"),
        ] {
            let config = json!({"value": value});
            let said = complaints(ID, &config).join("; ");
            assert!(said.contains(complaint), "{config}: {said}");
        }
        let outcome = grade_as(ID, Profile::AgentV5, json!({"value": []}), &agentv(json!([])));
        assert_eq!((outcome.verdict, outcome.score), (Fail, Some(0.0)));
        assert_eq!(outcome.metrics["error"], true);
    }
}
