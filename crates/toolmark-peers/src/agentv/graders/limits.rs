//! `latency`, `cost` and `token-usage`: limits on time, cost and tokens.

use super::facts;
use super::reading::{CheckLines, PROFILES, ReadingQuestion, is_agentv, number, reading};
use schemars::JsonSchema;
use serde::Deserialize;
use toolmark_grade::{GraderInfo, Taxonomy, schema_of};
use toolmark_match::Building;
use toolmark_outcome::Profile;
use toolmark_outcome::Subject;
use toolmark_outcome::{Cause, Outcome};
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_outcome::{Missing, TrajectoryView};

/// Maximum duration of a run.
#[derive(Debug, Deserialize, JsonSchema)]
struct LatencyConfig {
    /// Maximum duration in milliseconds.
    threshold: f64,
}

/// Maximum cost of a run.
#[derive(Debug, Deserialize, JsonSchema)]
struct CostConfig {
    /// Maximum cost in US dollars.
    budget: f64,
}

/// Maximum number of tokens of a run; at least one limit is required.
#[derive(Debug, Deserialize, JsonSchema)]
struct TokenConfig {
    /// Maximum number of all tokens.
    #[serde(default, alias = "maxTotal")]
    max_total: Option<f64>,
    /// Maximum number of input tokens.
    #[serde(default, alias = "maxInput")]
    max_input: Option<f64>,
    /// Maximum number of output tokens.
    #[serde(default, alias = "maxOutput")]
    max_output: Option<f64>,
}

pub(crate) static LATENCY: GraderInfo = GraderInfo {
    id: "latency",
    aliases: &[],
    origin: "agentv",
    summary: "fails if the run took longer than a time limit",
    docs: "Passes if the run took at most `threshold` milliseconds. The score is 1 or 0. Without a stated duration the time from the first to the last record counts; a run whose trace has neither is unknown. AgentV's readings look at the stated duration alone, and fail a run without one.",
    example: "type: latency\nconfig:\n  threshold: 30000",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: PROFILES,
    schema: schema_of::<LatencyConfig>,
    build: |building| {
        let config = building.read::<LatencyConfig>()?;
        let max = limit(building, "threshold", config.threshold)?;
        reading(building, AgentvLimits(vec![(Quantity::Duration, max)]))
    },
};

pub(crate) static COST: GraderInfo = GraderInfo {
    id: "cost",
    aliases: &[],
    origin: "agentv",
    summary: "fails if the run cost more than a budget",
    docs: "Passes if the run cost at most `budget` US dollars. The score is 1 or 0. If the trace does not record the cost, the verdict is unknown; the AgentV profiles fail the run.",
    example: "type: cost\nconfig:\n  budget: 0.25",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: PROFILES,
    schema: schema_of::<CostConfig>,
    build: |building| {
        let config = building.read::<CostConfig>()?;
        let max = limit(building, "budget", config.budget)?;
        reading(building, AgentvLimits(vec![(Quantity::Cost, max)]))
    },
};

pub(crate) static TOKEN_USAGE: GraderInfo = GraderInfo {
    id: "token-usage",
    aliases: &["token_usage"],
    origin: "agentv",
    summary: "fails if the run used more than N tokens",
    docs: "Passes if the run used at most `max_total` tokens, `max_input` of input and `max_output` of output. All that are given must hold; the score is 1 or 0. A run whose trace does not record tokens is unknown. AgentV's readings fail it, and add cached tokens to the total although most providers count them as input already.",
    example: "type: token-usage\nconfig:\n  max_total: 20000",
    taxonomy: Taxonomy::TRAJECTORY,
    profiles: PROFILES,
    schema: schema_of::<TokenConfig>,
    build: |building| {
        let config = building.read::<TokenConfig>()?;
        let mut limits = Vec::new();
        for (key, quantity, max) in [
            ("max_total", Quantity::Total, config.max_total),
            ("max_input", Quantity::Input, config.max_input),
            ("max_output", Quantity::Output, config.max_output),
        ] {
            if let Some(max) = max {
                limits.push((quantity, limit(building, key, max)?));
            }
        }
        if limits.is_empty() {
            let span = building.config.span;
            let message = "one of max_total, max_input and max_output is needed";
            building.reject(span, "missing-key", message);
            return None;
        }
        reading(building, AgentvLimits(limits))
    },
};

fn limit(building: &mut Building<'_>, key: &str, max: f64) -> Option<f64> {
    if max.is_finite() && max >= 0.0 {
        return Some(max);
    }
    let span = building.config.get(key).map_or(building.config.span, |node| node.span);
    building.reject(span, "invalid-limit", format!("{key} must be 0 or more"));
    None
}

#[derive(Clone, Copy)]
enum Quantity {
    Duration,
    Cost,
    Total,
    Input,
    Output,
}

impl Quantity {
    fn unit(self) -> &'static str {
        match self {
            Self::Duration => "ms",
            Self::Cost => "dollars",
            Self::Total => "tokens",
            Self::Input => "input tokens",
            Self::Output => "output tokens",
        }
    }

    fn value(self, view: &TrajectoryView<'_>, profile: Profile) -> Result<f64, Missing> {
        let tokens = || facts::tokens(view, profile);
        Ok(match self {
            Self::Duration => facts::duration(view, profile)?,
            Self::Cost => facts::cost(view)?,
            Self::Total => tokens()?.with_cache as f64,
            Self::Input => tokens()?.input as f64,
            Self::Output => tokens()?.output as f64,
        })
    }
}

struct AgentvLimits(Vec<(Quantity, f64)>);

impl ReadingQuestion for AgentvLimits {
    fn is_upper_limit(&self) -> bool {
        true
    }

    fn answer(&self, subject: &Subject<'_>, profile: Profile) -> Outcome {
        let mut lines = CheckLines::default();
        let (mut said, mut evidence) = (Vec::new(), Vec::new());
        for (quantity, max) in &self.0 {
            let unit = quantity.unit();
            match quantity.value(&subject.view, profile) {
                Ok(value) => {
                    let holds = value <= *max;
                    let text = format!("{} {unit}, at most {}", number(value), number(*max));
                    lines.add(holds, || text.clone());
                    let role = if holds { EvidenceRole::Context } else { EvidenceRole::Violation };
                    evidence.push(Evidence::words(role, text.clone()));
                    said.push(text);
                }
                Err(missing) if is_agentv(profile) => {
                    lines.add(false, || missing.0.clone());
                    said.push(missing.0);
                }
                Err(missing) => return Outcome::unknown(Cause::MissingEvidence, missing.0),
            }
        }
        let score = f64::from(u8::from(lines.misses == 0));
        let aspects = self.0.len();
        lines.outcome(profile, score, aspects, said.join("; ")).with_evidence(evidence)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{agentv, agentv_with, complaints, grade, grade_as};
    use serde_json::json;
    use toolmark_outcome::Profile;
    use toolmark_outcome::{Cause, Verdict};

    #[test]
    fn within_and_over() {
        let made = agentv_with(
            json!([]),
            json!({"duration_ms": 100, "cost_usd": 0.5, "token_usage": {"input": 600, "output": 300, "cached": 200}}),
        );
        // (type, configuration, toolmark, AgentV)
        for (id, config, ours, theirs) in [
            ("latency", json!({"threshold": 100}), 1.0, 1.0),
            ("latency", json!({"threshold": 99.5}), 0.0, 0.0),
            ("cost", json!({"budget": 0.5}), 1.0, 1.0),
            ("cost", json!({"budget": 0.4}), 0.0, 0.0),
            ("token-usage", json!({"max_total": 1000}), 1.0, 0.0),
            ("token_usage", json!({"max_total": 1100}), 1.0, 1.0),
            ("token-usage", json!({"max_input": 600, "max_output": 300}), 1.0, 1.0),
            ("token-usage", json!({"max_input": 600, "maxOutput": 299}), 0.0, 0.0),
        ] {
            assert_eq!(grade(id, config.clone(), &made).score, Some(ours), "{id} {config}");
            let outcome = grade_as(id, Profile::AgentV2, config.clone(), &made);
            assert_eq!(outcome.score, Some(theirs), "{id} {config}");
        }
    }

    #[test]
    fn what_is_not_recorded() {
        let made = agentv(json!([]));
        for (id, config) in [
            ("latency", json!({"threshold": 1})),
            ("cost", json!({"budget": 1})),
            ("token-usage", json!({"max_total": 1})),
        ] {
            let outcome = grade(id, config.clone(), &made);
            assert_eq!(outcome.verdict, Verdict::Unknown(Cause::MissingEvidence), "{id}");
            let outcome = grade_as(id, Profile::AgentV2, config, &made);
            assert_eq!((outcome.verdict, outcome.score), (Verdict::Fail, Some(0.0)), "{id}");
        }
    }

    #[test]
    fn mistakes() {
        for (id, config, complaint) in [
            ("latency", json!({}), "threshold"),
            ("latency", json!({"threshold": -1}), "0 or more"),
            ("cost", json!({"budget": "1"}), "number"),
            ("token-usage", json!({}), "is needed"),
            ("token-usage", json!({"max_totals": 1}), "unknown key"),
        ] {
            let said = complaints(id, &config).join("; ");
            assert!(said.contains(complaint), "{id} {config}: {said}");
        }
    }
}
