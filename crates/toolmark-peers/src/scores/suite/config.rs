//! Configuration shared by the seven graders, as in the input of the suite.

use crate::mastra::graders::efficiency::Budgets;
use crate::scores::question::{check_share, reading, warn_of_idle_keys};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use toolmark_config::Spanned;
use toolmark_match::Building;
use toolmark_outcome::Profile;

/// The task of the run, and the weights.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "AgentSuiteConfig")]
pub(crate) struct SuiteConfig {
    /// Task of the run.
    #[serde(default)]
    task: Option<Task>,
    /// Correct answer.
    #[serde(default)]
    expected_result: Option<Value>,
    /// Available tools; by default, those recorded in the trace.
    #[serde(default)]
    available_tools: Option<Vec<String>>,
    /// Number of steps that the task needs.
    #[serde(default)]
    expected_steps: Option<usize>,
    /// Minimum score: 1 by default, 0.5 under `futureagi`.
    #[serde(default)]
    threshold: Option<Spanned<f64>>,
    /// `step-efficiency`, `futureagi`: the weight of the number of steps (0.4).
    #[serde(default)]
    expected_step_weight: Option<f64>,
    /// `step-efficiency`, `futureagi`: the weight of repeated calls (0.3).
    #[serde(default)]
    redundancy_weight: Option<f64>,
    /// `step-efficiency`, `futureagi`: the weight of failed calls (0.3).
    #[serde(default)]
    failure_weight: Option<f64>,
    /// `trajectory-score`: the weight of completion (0.4).
    #[serde(default)]
    completion_weight: Option<f64>,
    /// `trajectory-score`: the weight of efficiency (0.3).
    #[serde(default)]
    efficiency_weight: Option<f64>,
    /// `trajectory-score`: the weight of tool selection (0.3).
    #[serde(default)]
    tool_weight: Option<f64>,
    /// `action-safety`: forbidden content of a call: a text, or a pattern that starts with a
    /// backslash.
    #[serde(default)]
    forbidden_patterns: Option<Vec<Spanned<String>>>,
    /// `action-safety`: patterns for forbidden content of a call.
    #[serde(default)]
    sensitive_patterns: Option<Vec<Spanned<String>>>,
    /// `step-efficiency`: maximum number of calls. The same as `max_steps` of the task.
    #[serde(default, alias = "maxSteps")]
    max_steps: Option<f64>,
    /// `step-efficiency`: maximum number of tokens of the run.
    #[serde(default, alias = "maxTotalTokens")]
    max_total_tokens: Option<f64>,
    /// `step-efficiency`: maximum duration of the run, in milliseconds.
    #[serde(default, alias = "maxTotalDurationMs")]
    max_total_duration_ms: Option<f64>,
    /// `step-efficiency`, `mastra`: whether calls that repeat the previous call count. True by
    /// default.
    #[serde(default, alias = "noRedundantCalls")]
    no_redundant_calls: Option<bool>,
}

/// The task of a run.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(rename = "AgentTask")]
pub(crate) struct Task {
    /// Description of the task.
    #[serde(default)]
    pub(crate) description: String,
    /// Description of the expected outcome.
    #[serde(default)]
    pub(crate) expected_outcome: Option<String>,
    /// Tools that must be called.
    #[serde(default)]
    pub(crate) required_tools: Option<Vec<String>>,
    /// Maximum number of steps.
    #[serde(default)]
    pub(crate) max_steps: Option<usize>,
    /// Descriptions of the success criteria.
    #[serde(default)]
    pub(crate) success_criteria: Option<Vec<String>>,
}

/// A validated configuration.
pub(crate) struct SuiteSettings {
    pub(crate) task: Task,
    pub(crate) expected_result: Option<Value>,
    pub(crate) available_tools: Option<Vec<String>>,
    pub(crate) expected_steps: Option<usize>,
    pub(crate) threshold: Option<f64>,
    /// Weights of steps, repeats and failures.
    pub(crate) efficiency_weights: [f64; 3],
    /// Weights of completion, efficiency and tools.
    pub(crate) score_weights: [f64; 3],
    pub(crate) forbidden: Vec<Spanned<String>>,
    pub(crate) sensitive: Vec<Spanned<String>>,
    pub(crate) budgets: Budgets,
}

impl SuiteSettings {
    /// Reads the configuration of a grader that uses these keys; `None` if it is invalid.
    pub(crate) fn read(
        building: &mut Building<'_>,
        known: &[Profile],
        used: &[&str],
    ) -> Option<Self> {
        let config = building.read::<SuiteConfig>()?;
        let profile = reading(building.profile, known);
        warn_of_idle_keys(building, profile, |key| !used.contains(&key));
        let mut good = check_share(building, "threshold", config.threshold.as_ref());
        let budgets = [config.max_steps, config.max_total_tokens, config.max_total_duration_ms];
        if budgets.iter().flatten().any(|max| !max.is_finite() || *max <= 0.0) {
            building.reject(building.config.span, "invalid-value", "a budget must be above 0");
            good = false;
        }
        good.then(|| Self {
            task: config.task.unwrap_or_default(),
            expected_result: config.expected_result.filter(|result| !result.is_null()),
            available_tools: config.available_tools,
            expected_steps: config.expected_steps,
            threshold: config.threshold.map(|threshold| threshold.value),
            efficiency_weights: [
                config.expected_step_weight.unwrap_or(0.4),
                config.redundancy_weight.unwrap_or(0.3),
                config.failure_weight.unwrap_or(0.3),
            ],
            score_weights: [
                config.completion_weight.unwrap_or(0.4),
                config.efficiency_weight.unwrap_or(0.3),
                config.tool_weight.unwrap_or(0.3),
            ],
            forbidden: config.forbidden_patterns.unwrap_or_default(),
            sensitive: config.sensitive_patterns.unwrap_or_default(),
            budgets: Budgets {
                max_steps: config.max_steps,
                max_total_tokens: config.max_total_tokens,
                max_total_duration_ms: config.max_total_duration_ms,
                no_redundant_calls: config.no_redundant_calls.unwrap_or(true),
            },
        })
    }

    /// Returns the minimum score.
    pub(crate) fn threshold(&self, profile: Profile) -> f64 {
        let usual = if profile == Profile::FutureAgi { 0.5 } else { 1.0 };
        self.threshold.unwrap_or(usual)
    }
}
