//! `trajectory:step-count`: checks the number of steps.

use super::reading::{CheckLines, ReadingQuestion, TRAJECTORY_PROFILES, count, number};
use super::steps::{AgentvStep, MATCHER_KEYS, Matcher, matcher, matcher_schema, steps};
use super::value::{self, AssertionValue, keys, wrong};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::json;
use toolmark_config::{Node, Problem};
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::Outcome;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Evidence, EvidenceRole};

/// Limits on the number of steps.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the value is read by hand")]
struct StepCountConfig {
    /// A map with `min`, `max` or both, and the kinds of steps to count.
    #[schemars(schema_with = "value_schema")]
    value: Node,
    /// Whether the check is inverted.
    #[schemars(default)]
    negate: bool,
}

fn value_schema(_: &mut SchemaGenerator) -> Schema {
    matcher_schema(&json!({
        "min": {"type": "number", "minimum": 0, "description": "The fewest steps."},
        "max": {"type": "number", "minimum": 0, "description": "The most steps."},
    }))
}

pub(crate) static STEP_COUNT: GraderInfo = GraderInfo {
    id: "trajectory:step-count",
    aliases: &[],
    origin: "agentv",
    summary: "checks the number of steps against a range",
    docs: "Passes if there were at least `min` and at most `max` steps. `type` says of which kind: `tool`, `command`, `message`, `reasoning`, `search` or `span` (the result of a call). `name` or `pattern` restricts the count to steps of this name, with `*` and `?`; a command is matched by its whole text, by its first word and by the tool that ran it.

AgentV's reading (`agentv@5`) counts the final answer once more, and does not take a command for a call of a tool. Neither does promptfoo's (`promptfoo`), to which a call and its result are one step.",
    example: "type: trajectory:step-count\nconfig:\n  value: { type: tool, max: 10 }",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: TRAJECTORY_PROFILES,
    schema: schema_of::<StepCountConfig>,
    build: |building| value::build(building, read),
};

struct StepCount {
    steps: Matcher,
    min: Option<f64>,
    max: Option<f64>,
    negate: bool,
}

fn read(asked: &AssertionValue<'_>, _: Profile, problems: &mut Vec<Problem>) -> Option<StepCount> {
    let node = asked.value;
    if node.as_map().is_none() {
        problems.push(wrong(node, format!("expected a map, found {}", node.word())));
        return None;
    }
    keys(node, &[MATCHER_KEYS, &["min", "max"]].concat(), problems);
    let steps = matcher(node, problems)?;
    let min = value::number(node, "min", problems);
    let max = value::number(node, "max", problems);
    if min.is_none() && max.is_none() {
        problems.push(wrong(node, "min or max is needed"));
    }
    Some(StepCount { steps, min, max, negate: asked.negate })
}

impl ReadingQuestion for StepCount {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let view = &subject.view;
        let steps = steps(view, profile);
        let counted: Vec<&AgentvStep> =
            steps.iter().filter(|step| self.steps.is_step(step, profile)).collect();
        let n = counted.len() as f64;
        let within = self.min.is_none_or(|min| n >= min) && self.max.is_none_or(|max| n <= max);
        let range = match (self.min, self.max) {
            (Some(min), Some(max)) => format!("{} to {}", number(min), number(max)),
            (Some(min), None) => format!("at least {}", number(min)),
            (_, max) => format!("at most {}", number(max.unwrap_or(0.0))),
        };
        let not = if self.negate { "not " } else { "" };
        let reason = format!("{}, {not}{range} asked for", count(counted.len(), "step"));
        let mut outcome = CheckLines::single(profile, within != self.negate, reason)
            .with_metric("steps", counted.len());
        for step in counted.iter().take(20) {
            outcome.evidence.push(match step.call.and_then(|at| view.calls().get(at)) {
                Some(seen) => view.evidence(EvidenceRole::Context, step.text(), *seen),
                None => Evidence::words(EvidenceRole::Context, step.text()),
            });
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{agentv, complaints, grade, grade_as};
    use serde_json::json;
    use toolmark_outcome::{Profile, Verdict};

    const ID: &str = "trajectory:step-count";

    /// In AgentV, the last message of the agent is its answer, even if it is empty.
    #[test]
    fn an_answer_without_words_is_one_to_agentv() {
        let trace = r#"{"id": "t", "output_messages": [{"role": "assistant", "tool_calls": [{"tool": "a", "input": {}}]}]}"#;
        // A message and a call, and the message once more.
        for (max, ours, theirs) in
            [(2, Verdict::Pass, Verdict::Fail), (3, Verdict::Pass, Verdict::Pass)]
        {
            let config = json!({"value": {"max": max}});
            assert_eq!(grade("trajectory:step-count", config.clone(), trace).verdict, ours);
            let outcome = grade_as("trajectory:step-count", Profile::AgentV5, config, trace);
            assert_eq!(outcome.verdict, theirs, "{max}");
        }
    }

    #[test]
    fn steps_of_every_kind() {
        let made = agentv(json!([
            {"tool": "read", "input": {}, "output": "r"},
            {"tool": "shell", "input": {"command": ["npm", "run", "x"]}},
            {"tool": "Local_Shell", "input": {"cmd": "ls"}},
            {"tool": "shell", "input": {"x": 1}},
        ]));
        // (which, toolmark, AgentV 5)
        for (which, ours, theirs) in [
            (json!({}), 6, 7),
            (json!({"type": "tool"}), 4, 2),
            (json!({"type": "command"}), 2, 2),
            (json!({"type": "command", "pattern": "npm"}), 1, 1),
            (json!({"type": "command", "name": "npm run*"}), 1, 1),
            (json!({"name": "shell"}), 2, 2),
            (json!({"type": ["command", "span"]}), 3, 3),
            (json!({"type": "message"}), 1, 2),
            (json!({"name": "tool_result"}), 1, 1),
        ] {
            let mut value = which.clone();
            value["min"] = json!(0);
            let config = json!({"value": value});
            assert_eq!(grade(ID, config.clone(), &made).metrics["steps"], ours, "{which}");
            let outcome = grade_as(ID, Profile::AgentV5, config, &made);
            assert_eq!(outcome.metrics["steps"], theirs, "{which}");
        }
    }

    #[test]
    fn ranges_and_mistakes() {
        let made = agentv(json!([{"tool": "a"}, {"tool": "a"}]));
        for (value, score) in [
            (json!({"type": "tool", "min": 2, "max": 2}), 1.0),
            (json!({"type": "tool", "min": 3}), 0.0),
            (json!({"type": "tool", "max": 1}), 0.0),
        ] {
            let config = json!({"value": value});
            assert_eq!(grade(ID, config, &made).score, Some(score), "{value}");
            let config = json!({"value": value, "negate": true});
            assert_eq!(grade(ID, config, &made).score, Some(1.0 - score), "{value}");
        }
        let said = complaints(ID, &json!({"value": {"type": "tool"}})).join("; ");
        assert!(said.contains("min or max"), "{said}");
    }
}
