//! `execution-metrics`: checks the limits of a run, one check per limit.

use super::calls::are_recorded;
use super::facts;
use super::reading::{
    CheckLines, PASSING, PROFILES, ReadingQuestion, count, is_agentv, number, reading,
};
use schemars::JsonSchema;
use serde::Deserialize;
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Outcome, OutcomePart, Verdict};
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_outcome::{Missing, TrajectoryView};

/// Limits of a run; at least one is required.
#[derive(Debug, Deserialize, JsonSchema)]
struct ExecutionMetricsConfig {
    /// Maximum number of tool calls.
    #[serde(default, alias = "maxToolCalls")]
    max_tool_calls: Option<f64>,
    /// Maximum number of model responses.
    #[serde(default, alias = "maxLlmCalls")]
    max_llm_calls: Option<f64>,
    /// Maximum number of tokens, input and output.
    #[serde(default, alias = "maxTokens")]
    max_tokens: Option<f64>,
    /// Maximum cost, in US dollars.
    #[serde(default, alias = "maxCostUsd")]
    max_cost_usd: Option<f64>,
    /// Maximum duration, in milliseconds.
    #[serde(default, alias = "maxDurationMs")]
    max_duration_ms: Option<f64>,
    /// Target share of exploring calls (read, search, list).
    #[serde(default, alias = "targetExplorationRatio")]
    target_exploration_ratio: Option<f64>,
    /// Maximum deviation from that share; 0.2 by default.
    #[serde(default, alias = "explorationTolerance")]
    exploration_tolerance: Option<f64>,
}

pub(crate) static EXECUTION_METRICS: GraderInfo = GraderInfo {
    id: "execution-metrics",
    aliases: &["execution_metrics"],
    origin: "agentv",
    summary: "checks the run against several limits",
    docs: "Checks whether the run kept within the limits that are given. Each is one check, and the score is checks that hold / checks; 0.8 passes.

`target_exploration_ratio` asks that the share of calls of `read`, `grep`, `glob`, `search`, `list`, `Read`, `Grep`, `Glob`, `WebSearch` and `WebFetch` is within `exploration_tolerance` (0.2) of it.

A check the trace has no numbers for is unknown, and so is the verdict unless the other checks decide it. AgentV's readings count it as failed.",
    example: "type: execution-metrics\nconfig:\n  max_tool_calls: 10\n  max_tokens: 20000",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: PROFILES,
    schema: schema_of::<ExecutionMetricsConfig>,
    build: |building| {
        let config = building.read::<ExecutionMetricsConfig>()?;
        let mut wrong = false;
        let mut checks = Vec::new();
        for (key, what, value) in [
            ("max_tool_calls", Some(MetricKind::Calls), config.max_tool_calls),
            ("max_llm_calls", Some(MetricKind::Responses), config.max_llm_calls),
            ("max_tokens", Some(MetricKind::Tokens), config.max_tokens),
            ("max_cost_usd", Some(MetricKind::Cost), config.max_cost_usd),
            ("max_duration_ms", Some(MetricKind::Duration), config.max_duration_ms),
            ("target_exploration_ratio", Some(MetricKind::Exploration), config.target_exploration_ratio),
            ("exploration_tolerance", None, config.exploration_tolerance),
        ] {
            let Some(value) = value else { continue };
            if !value.is_finite() || value < 0.0 {
                let span = building.config.get(key).map_or(building.config.span, |n| n.span);
                building.reject(span, "invalid-limit", format!("{key} must be 0 or more"));
                wrong = true;
            }
            checks.extend(what.map(|what| (what, value)));
        }
        if checks.is_empty() {
            building.reject(building.config.span, "missing-key", "one limit at least is needed");
            return None;
        }
        if wrong {
            return None;
        }
        let tolerance = config.exploration_tolerance.unwrap_or(0.2);
        reading(building, ExecutionMetrics { checks, tolerance })
    },
};

/// Tools that explore.
const EXPLORING: &[&str] =
    &["read", "grep", "glob", "search", "list", "Read", "Grep", "Glob", "WebSearch", "WebFetch"];

#[derive(Clone, Copy, PartialEq)]
enum MetricKind {
    Calls,
    Responses,
    Tokens,
    Cost,
    Duration,
    Exploration,
}

impl MetricKind {
    fn text(self) -> &'static str {
        match self {
            Self::Calls => "tool calls",
            Self::Responses => "model responses",
            Self::Tokens => "tokens",
            Self::Cost => "dollars",
            Self::Duration => "ms",
            Self::Exploration => "of the calls explore",
        }
    }

    fn value(self, view: &TrajectoryView<'_>, profile: Profile) -> Result<f64, Missing> {
        let recorded = || match is_agentv(profile) || are_recorded(view) {
            true => Ok(view.calls().len()),
            false => Err(Missing::new("the trace does not record tool calls")),
        };
        Ok(match self {
            Self::Calls => recorded()? as f64,
            Self::Responses => facts::responses(view)? as f64,
            Self::Tokens => facts::tokens(view, profile)?.total as f64,
            Self::Cost => facts::cost(view)?,
            Self::Duration => facts::duration(view, profile)?,
            Self::Exploration => {
                let all = recorded()?;
                if all == 0 {
                    return Err(Missing::new("no call was made, so none explores"));
                }
                let explores = |name: &str| EXPLORING.contains(&name);
                let calls = view.calls().iter();
                let some = calls.filter(|seen| explores(&seen.call.name.full())).count();
                some as f64 / all as f64
            }
        })
    }
}

struct ExecutionMetrics {
    checks: Vec<(MetricKind, f64)>,
    tolerance: f64,
}

impl ReadingQuestion for ExecutionMetrics {
    fn is_upper_limit(&self) -> bool {
        !self.checks.iter().any(|(what, _)| matches!(what, MetricKind::Exploration))
    }

    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let view = &subject.view;
        let mut lines = CheckLines::default();
        let (mut evidence, mut unknown) = (Vec::new(), Vec::new());
        for (what, limit) in &self.checks {
            match what.value(view, profile) {
                Ok(value) => {
                    let (holds, asked) = match what {
                        MetricKind::Exploration => (
                            (value - limit).abs() <= self.tolerance,
                            format!("{} ± {}", number(*limit), number(self.tolerance)),
                        ),
                        _ => (value <= *limit, format!("at most {}", number(*limit))),
                    };
                    let text = format!("{} {}, {asked}", number(value), what.text());
                    lines.add(holds, || text.clone());
                    let role = if holds { EvidenceRole::Context } else { EvidenceRole::Violation };
                    evidence.push(Evidence::words(role, text));
                }
                Err(missing) if is_agentv(profile) => lines.add(false, || missing.0),
                Err(missing) => unknown.push(missing.0),
            }
        }
        let all = self.checks.len();
        let hits = lines.hits;
        let reason = format!("{hits} of {} held", count(all, "limit"));
        let score = |hits: usize| hits as f64 / all as f64;
        let (low, high) = (score(hits), score(hits + unknown.len()));
        let mut outcome = lines.outcome(profile, low, all, reason).with_evidence(evidence);
        if let Some(first) = unknown.first() {
            outcome.score = None;
            outcome.verdict = match (low >= PASSING, high >= PASSING) {
                (true, _) => Verdict::Pass,
                (_, false) => Verdict::Fail,
                _ => Verdict::Unknown(Cause::MissingEvidence),
            };
            outcome.reason = format!("{}; {first}", outcome.reason.raw()).into();
            let verdict = Verdict::Unknown(Cause::MissingEvidence);
            outcome.parts.extend(unknown.into_iter().map(|text| OutcomePart::new(text, verdict)));
            outcome.metrics.insert("verdict".into(), outcome.verdict.word().into());
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{agentv_with, complaints, grade, grade_as};
    use serde_json::json;
    use toolmark_outcome::Profile;
    use toolmark_outcome::{Cause, Verdict};

    const ID: &str = "execution-metrics";

    #[test]
    fn each_limit_is_a_check() {
        let made = agentv_with(
            json!([{"tool": "read"}, {"tool": "READ"}, {"tool": "write"}]),
            json!({"token_usage": {"input": 600, "output": 300, "cached": 500}}),
        );
        for (config, score) in [
            (json!({"max_tool_calls": 3}), 1.0),
            (json!({"max_tool_calls": 2}), 0.0),
            (json!({"max_tool_calls": 3, "max_tokens": 800}), 0.5),
            (json!({"max_tokens": 900, "max_llm_calls": 1}), 1.0),
            (json!({"target_exploration_ratio": 0.5}), 1.0),
            (json!({"target_exploration_ratio": 0.5, "exploration_tolerance": 0.1}), 0.0),
        ] {
            assert_eq!(grade(ID, config.clone(), &made).score, Some(score), "{config}");
            let outcome = grade_as(ID, Profile::AgentV2, config.clone(), &made);
            assert_eq!(outcome.score, Some(score), "{config}");
        }
    }

    #[test]
    fn what_is_not_recorded_decides_only_where_it_must() {
        let made = agentv_with(json!([{"tool": "a"}]), json!({}));
        let unknown = Verdict::Unknown(Cause::MissingEvidence);
        for (config, ours, theirs) in [
            (json!({"max_cost_usd": 1}), unknown, 0.0),
            (json!({"max_cost_usd": 1, "max_tool_calls": 1}), unknown, 0.5),
            (json!({"max_cost_usd": 1, "max_tool_calls": 0}), Verdict::Fail, 0.0),
        ] {
            let outcome = grade(ID, config.clone(), &made);
            assert_eq!((outcome.verdict, outcome.score), (ours, None), "{config}");
            let outcome = grade_as(ID, Profile::AgentV2, config.clone(), &made);
            assert_eq!(outcome.score, Some(theirs), "{config}");
        }
    }

    #[test]
    fn mistakes() {
        for (config, complaint) in [
            (json!({}), "is needed"),
            (json!({"exploration_tolerance": 0.1}), "is needed"),
            (json!({"max_tokens": -1}), "0 or more"),
            (json!({"max_token": 1}), "unknown key"),
        ] {
            let said = complaints(ID, &config).join("; ");
            assert!(said.contains(complaint), "{config}: {said}");
        }
    }
}
