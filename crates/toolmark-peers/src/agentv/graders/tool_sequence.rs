//! `trajectory:tool-sequence`: checks the order in which tools were used.

use super::reading::{CheckLines, ReadingQuestion, TRAJECTORY_PROFILES, count, follows};
use super::steps::{AgentvStep, MATCHER_KEYS, Matcher, matcher, step_schema, steps};
use super::value::{self, AssertionValue, keys, wrong};
use crate::explain::{ExpectationState, explain};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use toolmark_config::{Node, NodeKind, Problem, did_you_mean, quoted};
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_outcome::{Outcome, Verdict};

/// Required order of tools.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "the value has two shapes and is read by hand")]
struct ToolSequenceConfig {
    /// A list of tools, or a map with `steps` and `mode`.
    #[schemars(schema_with = "value_schema")]
    value: Node,
    /// Whether the check is inverted.
    #[schemars(default)]
    negate: bool,
}

fn value_schema(generator: &mut SchemaGenerator) -> Schema {
    let steps = json_schema!({"type": "array", "items": step_schema(generator), "minItems": 1});
    json_schema!({
        "anyOf": [
            steps,
            {
                "type": "object",
                "properties": {"mode": {"enum": ["in_order", "exact"]}, "steps": steps},
                "required": ["steps"],
                "additionalProperties": false,
            },
        ]
    })
}

pub(crate) static TOOL_SEQUENCE: GraderInfo = GraderInfo {
    id: "trajectory:tool-sequence",
    aliases: &[],
    origin: "agentv",
    summary: "checks whether tools were used in a given order",
    docs: "Passes if the tools were used in this order. `value` is a list of tools, or a map with `steps` and `mode`: `in_order` (others may come between) or `exact` (and no others).

A tool is a name, with `*` and `?`, in any case, or a map with `name` or `pattern`. The score is 1 or 0. `negate: true` asks for the opposite.

Calls that carry a time are in the order of their times, others as they are listed. A call that failed does not stand for a step, but in `exact` it is one too many. The readings of AgentV and promptfoo (`agentv@5`, `promptfoo`) take failed calls, do not see calls of a shell with a command, and take an unknown `mode` for `in_order`.",
    example: "type: trajectory:tool-sequence\nconfig:\n  value: [search, \"read*\", save]",
    taxonomy: Taxonomy::EXPECTED,
    profiles: TRAJECTORY_PROFILES,
    schema: schema_of::<ToolSequenceConfig>,
    build: |building| value::build(building, read),
};

struct ToolSequence {
    steps: Vec<Matcher>,
    exact: bool,
    negate: bool,
}

fn read(
    asked: &AssertionValue<'_>,
    _: Profile,
    problems: &mut Vec<Problem>,
) -> Option<ToolSequence> {
    let node = asked.value;
    let (list, exact) = match &node.kind {
        NodeKind::List(_) => (Some(node), false),
        NodeKind::Map(_) => {
            keys(node, &["mode", "steps"], problems);
            let exact = match node.get("mode").map(|mode| (mode, mode.as_str())) {
                None | Some((_, Some("in_order"))) => false,
                Some((_, Some("exact"))) => true,
                Some((mode, word)) => {
                    let found = word.map_or_else(|| mode.word().to_owned(), quoted);
                    let problem = Problem::error("unknown-mode", format!("unknown mode {found}"));
                    let near = did_you_mean(word.unwrap_or(""), ["in_order", "exact"]);
                    let help = near.map_or("use in_order or exact".into(), |near| {
                        format!("did you mean {}?", quoted(near))
                    });
                    problems.push(problem.at(mode.span).help(help));
                    false
                }
            };
            (node.get("steps"), exact)
        }
        _ => {
            problems.push(wrong(node, format!("expected a list or a map, found {}", node.word())));
            return None;
        }
    };
    let mut steps = Vec::new();
    for item in list.into_iter().flat_map(Node::items) {
        if item.as_map().is_some() {
            keys(item, MATCHER_KEYS, problems);
        }
        let step = matcher(item, problems)?;
        if step.name.as_ref().is_none_or(String::is_empty) {
            problems.push(wrong(item, "a name or a pattern is needed"));
        }
        steps.push(step);
    }
    if steps.is_empty() {
        problems.push(wrong(node, "expected one or more steps"));
    }
    Some(ToolSequence { steps, exact, negate: asked.negate })
}

impl ReadingQuestion for ToolSequence {
    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let view = &subject.view;
        let any = Matcher::default();
        let steps = steps(view, profile);
        let tools: Vec<&AgentvStep> =
            steps.iter().filter(|step| any.is_tool(step, profile)).collect();
        let counts = |step: &AgentvStep| follows(profile) || !step.failed;
        let fits =
            |step: &AgentvStep, wanted: &Matcher| counts(step) && wanted.is_tool(step, profile);
        let mut found: Vec<Option<usize>> = Vec::with_capacity(self.steps.len());
        if self.exact {
            for (n, wanted) in self.steps.iter().enumerate() {
                found.push(tools.get(n).filter(|step| fits(step, wanted)).map(|_| n));
            }
        } else {
            let mut next = 0;
            for wanted in &self.steps {
                let at = (next..tools.len()).find(|at| fits(tools[*at], wanted));
                // What is missing ends the search: one is enough to fail.
                next = at.map_or(tools.len(), |at| at + 1);
                found.push(at);
            }
        }
        let made = found.iter().flatten().count();
        let is_whole = !self.exact || tools.len() == self.steps.len();
        let observed = made == self.steps.len() && is_whole;
        let mut reason = format!("{made} of {} in order", count(self.steps.len(), "step"));
        if self.exact && !is_whole {
            reason.push_str(&format!(", {} made", count(tools.len(), "call")));
        }
        if self.negate {
            reason.push_str(", which is not wanted");
        }
        let mut outcome = CheckLines::single(profile, observed != self.negate, reason);
        let role = if self.negate { EvidenceRole::Violation } else { EvidenceRole::Matched };
        let mut states = Vec::new();
        for (wanted, at) in self.steps.iter().zip(&found) {
            let call = at.and_then(|at| tools[at].call);
            states.push(call.map_or(ExpectationState::Missing, ExpectationState::Met));
            if outcome.evidence.len() < 20 {
                match call.and_then(|call| view.calls().get(call)) {
                    Some(seen) => {
                        outcome.evidence.push(view.evidence(role, wanted.text(), *seen));
                    }
                    None if !self.negate => {
                        let text = format!("{} was not called in order", wanted.text());
                        outcome.evidence.push(Evidence::absence(text));
                    }
                    None => {}
                }
            }
        }
        let in_order = |state: &ExpectationState| match state {
            ExpectationState::Met(at) => Some(*at),
            _ => None,
        };
        // Rows follow the listing, which steps sorted by time may not.
        if states.iter().filter_map(in_order).is_sorted() && outcome.verdict == Verdict::Fail {
            let texts: Vec<String> = self.steps.iter().map(|s| s.text().to_owned()).collect();
            outcome.explanation = (!self.negate).then(|| explain(view, &texts, &states));
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

    const ID: &str = "trajectory:tool-sequence";

    #[test]
    fn sequences() {
        let made = agentv(json!([
            {"tool": "a", "input": {}}, {"tool": "x", "input": {}, "status": "error"},
            {"tool": "B", "input": {}},
        ]));
        // (value, negate, toolmark, AgentV 5)
        for (value, negate, ours, theirs) in [
            (json!(["a", "b"]), false, Pass, Pass),
            (json!(["b", "a"]), false, Fail, Fail),
            (json!(["b", "a"]), true, Pass, Pass),
            (json!(["a", "?"]), false, Pass, Pass),
            (json!(["a", "a"]), false, Fail, Fail),
            (json!({"mode": "exact", "steps": ["a", "b"]}), false, Fail, Fail),
            (json!({"mode": "exact", "steps": ["a", "x", "b"]}), false, Fail, Pass),
            (json!({"steps": [{"name": "a"}, {"pattern": "b*"}]}), false, Pass, Pass),
        ] {
            let config = json!({"value": value, "negate": negate});
            assert_eq!(grade(ID, config.clone(), &made).verdict, ours, "{config}");
            let outcome = grade_as(ID, Profile::AgentV5, config.clone(), &made);
            assert_eq!(outcome.verdict, theirs, "{config}");
        }
    }

    #[test]
    fn times_come_before_listing() {
        let at = |second: u8| format!("2026-01-01T00:00:{second:02}Z");
        let made = agentv(json!([
            {"tool": "c", "input": {}, "start_time": at(9)},
            {"tool": "a", "input": {}, "start_time": at(1)},
            {"tool": "b", "input": {}},
            {"tool": "d", "input": {}, "start_time": at(5)},
        ]));
        // b has no time and stays where it is.
        let config = json!({"value": {"mode": "exact", "steps": ["a", "d", "b", "c"]}});
        assert_eq!(grade(ID, config, &made).verdict, Pass);
    }

    #[test]
    fn mistakes() {
        for (value, complaint) in [
            (json!([]), "one or more steps"),
            (json!("a"), "list or a map"),
            (json!([{"type": "tool"}]), "name or a pattern"),
            (json!({"mode": "exat", "steps": ["a"]}), "unknown mode"),
        ] {
            let config = json!({"value": value});
            let said = complaints(ID, &config).join("; ");
            assert!(said.contains(complaint), "{config}: {said}");
        }
        let made = agentv(json!([{"tool": "a"}, {"tool": "z"}]));
        let config = json!({"value": {"mode": "strict", "steps": ["a"]}});
        assert_eq!(grade_as(ID, Profile::AgentV5, config, &made).verdict, Pass);
        let config = json!({"value": []});
        assert_eq!(grade_as(ID, Profile::AgentV5, config, &made).metrics["error"], true);
    }
}
