//! `tool-policy`: checks that calls of named tools meet the conditions of a policy.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use std::sync::Arc;
use toolmark_check::tool_policy::{order_schema, schema};
use toolmark_check::{Checker, ToolPolicy, Toolsets, rule_by_code};
use toolmark_config::Node;
use toolmark_grade::{Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::{Cause, Confidence, Finding, Outcome, Subject};

/// Rules that read a policy.
const RULES: [&str; 2] = ["A223", "I317"];
/// Maximum number of findings shown as evidence.
const MAX_SHOWN: usize = 10;

/// Conditions on calls of named tools.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ToolPolicyConfig")]
struct Config {
    /// Effects of named tools, and conditions on their calls.
    #[serde(default)]
    #[schemars(schema_with = "tools_schema")]
    tools: Option<Node>,
    /// Tools that are called in this order.
    #[serde(default)]
    #[schemars(schema_with = "order_schema")]
    order: Option<Node>,
}

fn tools_schema(generator: &mut SchemaGenerator) -> Schema {
    schema(generator)
}

/// The `tool-policy` grader.
pub static TOOL_POLICY: GraderInfo = GraderInfo {
    id: "tool-policy",
    aliases: &[],
    origin: "toolmark",
    summary: "fails if a call does not meet a condition of a policy for named tools",
    docs: "Passes if every call meets the conditions of its tool.

`tools` and `order` are those of the sections of the same names in `toolmark.yaml`, where they apply to `toolmark \
check`, `toolmark guard` and every case of the file. As a grader they apply to one case.

The first call that breaks a condition is the reason, with the earlier result as evidence. A condition that the \
trace cannot decide, such as a missing result, makes the verdict unknown.",
    example: "type: tool-policy\nconfig:\n  tools:\n    cancel_order:\n      needs: {get_order.status: pending}",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: &[],
    schema: schema_of::<Config>,
    build: |building| {
        let written = building.read::<Config>()?;
        if written.tools.is_none() && written.order.is_none() {
            let words = "the policy has neither `tools` nor `order`";
            building.reject(building.config.span, "invalid-grader-config", words);
            return None;
        }
        let before = building.problems.len();
        let policy = ToolPolicy::read(building.config, building.problems);
        let found = building.problems.get(before..).unwrap_or_default();
        if found.iter().any(toolmark_config::Problem::is_error) {
            return None;
        }
        let rules = RULES.iter().filter_map(|code| rule_by_code(code)).collect();
        let toolsets = Toolsets::default().with_policy(policy);
        Some(Arc::new(MeetsPolicy(Checker::new(rules, Confidence::Low, toolsets))))
    },
};

struct MeetsPolicy(Checker);

impl Grader for MeetsPolicy {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let view = &subject.view;
        // What is not recorded cannot be found: the calls are what is looked at.
        let calls = view.calls();
        let run = view.trajectory();
        let mut found: Vec<Finding> =
            run.flatten().into_iter().flat_map(|one| self.0.check_alone(one).findings).collect();
        if view.turn_index().is_some() {
            found.retain(|finding| {
                let at = finding.evidence.first().and_then(|e| e.call.as_ref());
                at.is_some_and(|at| calls.iter().any(|call| call.index == at.index))
            });
        }
        found.sort_by_key(|finding| std::cmp::Reverse(finding.confidence));
        let count = found.len();
        let more = |count: usize| match count {
            0 | 1 => String::new(),
            count => format!(", and {} more", count - 1),
        };
        let outcome = match found.first() {
            None => Outcome::binary(true, "every call meets the conditions of its tool"),
            Some(first) => {
                let reason = format!("{}{}", first.message.raw(), more(count));
                match first.confidence {
                    Confidence::Low => Outcome::unknown(Cause::MissingEvidence, reason),
                    _ => Outcome::binary(false, reason),
                }
            }
        };
        let evidence = found.into_iter().take(MAX_SHOWN).flat_map(|finding| finding.evidence);
        outcome.with_evidence(evidence).with_metric("findings", count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolmark_grade::testing::Kit;
    use toolmark_grade::{Graders, ask};
    use toolmark_outcome::{CaseContext, Environment, Profile, TrajectoryView};
    use toolmark_session::notation;

    const KIT: Kit = Kit(Graders(&[&TOOL_POLICY]));

    #[test]
    fn verdicts() {
        let policy = json!({"tools": {"cancel": {"needs": {"get_order.status": "pending"}}}});
        for (trace, want) in [
            (
                "get_order {\"id\":1} -> \"{\\\"status\\\":\\\"pending\\\"}\"\ncancel {\"id\":1} -> \"ok\"",
                "pass",
            ),
            (
                "get_order {\"id\":1} -> \"{\\\"status\\\":\\\"sent\\\"}\"\ncancel {\"id\":1} -> \"ok\"",
                "fail",
            ),
            ("get_order {\"id\":1} -> \"not found\"\ncancel {\"id\":1} -> \"ok\"", "unknown"),
            ("get_order {\"id\":1} -> \"not found\"", "pass"),
        ] {
            let run = notation::parse(&format!("host: openai\n{trace}")).unwrap();
            let grader = KIT.build("tool-policy", Profile::Toolmark, &policy).unwrap();
            let (context, environment) = (CaseContext::default(), Environment::default());
            let view = TrajectoryView::whole(&run);
            let subject = Subject { view, context: &context, environment: &environment };
            let outcome = ask(&*grader, &subject);
            assert_eq!(outcome.verdict.word(), want, "{trace}: {}", outcome.reason.raw());
        }
    }
}
