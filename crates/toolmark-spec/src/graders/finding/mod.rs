//! `finding`: checks that a rule of `toolmark check` has no findings.
//!
//! The rule itself is the expectation: whatever the arguments are, the
//! fault is the same.

#[cfg(test)]
mod tests;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::sync::Arc;
use toolmark_check::config::unknown_rule;
use toolmark_check::{Checker, RULES, Rule, Toolsets, rule_by_code};
use toolmark_config::{Problem, Spanned};
use toolmark_grade::{Grader, GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::{Confidence, EvidenceRole, Finding, Outcome, Subject};
use toolmark_trace::Trajectory;

/// Maximum number of findings shown as evidence.
const MAX_SHOWN: usize = 10;

/// A fault that must not recur.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "FindingConfig")]
struct FindingConfig {
    /// Code of the rule, such as `S101`, or its name, such as `repeated-read`.
    #[schemars(schema_with = "rule_schema")]
    code: Spanned<String>,
    /// Only findings on calls of this tool, as named by `toolmark check`.
    #[serde(default)]
    tool: Option<String>,
    /// Only findings of this kind: the class of an error, the program of a command.
    #[serde(default)]
    bucket: Option<String>,
    /// Agents whose calls are checked.
    #[serde(default)]
    scope: Whose,
    /// Minimum confidence; findings below it do not count.
    #[serde(default)]
    min_confidence: LeastConfidence,
}

/// Agents whose calls are checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Whose {
    /// The agent and its sub-agents.
    #[default]
    All,
    /// The agent alone.
    Agent,
    /// The sub-agents alone.
    SubAgents,
}

/// Minimum confidence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum LeastConfidence {
    /// All findings count.
    Low,
    /// Findings shown by `toolmark check`.
    #[default]
    Medium,
    /// Only findings that the trace proves.
    High,
}

impl LeastConfidence {
    fn confidence(self) -> Confidence {
        match self {
            Self::Low => Confidence::Low,
            Self::Medium => Confidence::Medium,
            Self::High => Confidence::High,
        }
    }
}

fn rule_schema(_: &mut SchemaGenerator) -> Schema {
    let rules = RULES.iter().filter(|rule| !rule.needs_policy());
    let words: Vec<&str> = rules.flat_map(|rule| [rule.code, rule.name]).collect();
    json_schema!({ "enum": words })
}

/// The `finding` grader.
pub static FINDING: GraderInfo = GraderInfo {
    id: "finding",
    aliases: &[],
    origin: "toolmark",
    summary: "fails if a rule of `toolmark check` reports a finding",
    docs: "Passes if the rule `code` reports nothing.

The rules are those of `toolmark check`; `toolmark rules` lists them. `tool` and `bucket` restrict it to findings \
on calls of one tool, or of one kind, as the findings name them. `scope` says whose calls are looked at: `all` \
(the default), `agent`, or `sub-agents`. Findings below `min_confidence` (default `medium`) do not count.

Every finding is evidence, with the calls that prove it. A trace that does not record its calls is unknown.

`toolmark check --promote` writes cases with this grader: they fail whenever the fault comes back, whatever the \
arguments are.",
    example: "type: finding\nconfig:\n  code: S101\n  tool: Read",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: &[],
    schema: schema_of::<FindingConfig>,
    build: |building| {
        let config = building.read::<FindingConfig>()?;
        let Some(rule) = rule_by_code(&config.code.value) else {
            building.problems.push(unknown_rule(&config.code));
            return None;
        };
        if rule.needs_policy() {
            let message = format!("{} needs the `tools:` section", rule.code);
            let problem = Problem::error("invalid-grader-config", message).at(config.code.span);
            building.problems.push(problem.help("use the grader `tool-policy`"));
            return None;
        }
        let least = config.min_confidence.confidence();
        let checker = Checker::new(vec![rule], least, Toolsets::default());
        Some(Arc::new(NoFinding { rule, checker, config }))
    },
};

struct NoFinding {
    rule: &'static Rule,
    checker: Checker,
    config: FindingConfig,
}

impl NoFinding {
    fn counts(&self, finding: &Finding) -> bool {
        let is_tool = self.config.tool.as_ref().is_none_or(|tool| finding.tool == **tool);
        let is_bucket = match &self.config.bucket {
            Some(wanted) => finding.bucket.as_ref().is_some_and(|bucket| *bucket == **wanted),
            None => true,
        };
        is_tool && is_bucket
    }

    fn find(&self, run: &Trajectory) -> Vec<Finding> {
        let mut found = self.checker.check_alone(run).findings;
        found.retain(|finding| self.counts(finding));
        found
    }
}

impl Grader for NoFinding {
    fn grade(&self, subject: &Subject<'_>) -> Outcome {
        let view = &subject.view;
        // What is not recorded cannot be found: the calls are what is looked at.
        let calls = view.calls();
        let run = view.trajectory();
        let mut found = Vec::new();
        if self.config.scope != Whose::SubAgents {
            found = self.find(run);
        }
        if view.turn_index().is_some() {
            let is_here = |finding: &Finding| {
                let at = finding.evidence.first().and_then(|e| e.call.as_ref());
                at.is_some_and(|at| calls.iter().any(|call| call.index == at.index))
            };
            found.retain(is_here);
        } else if self.config.scope != Whose::Agent {
            found.extend(run.flatten().into_iter().skip(1).flat_map(|child| self.find(child)));
        }
        let Rule { code, name, .. } = self.rule;
        let reason = match &found[..] {
            [] => format!("{code} {name} finds nothing"),
            [one] => format!("{code} {name}: {}", one.message.raw()),
            [first, more @ ..] => {
                format!("{code} {name}: {}, and {} more", first.message.raw(), more.len())
            }
        };
        let count = found.len();
        let evidence = found.into_iter().take(MAX_SHOWN).flat_map(|finding| finding.evidence);
        Outcome::binary(count == 0, reason)
            .with_evidence(evidence.filter(|e| e.role != EvidenceRole::Context || e.call.is_some()))
            .with_metric("findings", count)
    }
}
