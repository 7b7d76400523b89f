//! Resource usage of a trial.

use serde::{Deserialize, Serialize};
use toolmark_grade::run_plan::{TokenPrice, TrialLimits};
use toolmark_trace::{Fact, Trajectory};

/// Resource usage of a trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Used {
    /// Number of model responses.
    pub turns: u64,
    /// Number of tool calls.
    pub calls: u64,
    /// Number of tokens, if recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Cost in US dollars, if recorded or computable from the tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Tool of the last call.
    #[serde(skip)]
    pub last_call: Option<String>,
}

impl Used {
    /// Returns the usage of a trajectory and its sub-agents.
    #[must_use]
    pub fn of(run: &Trajectory, price: Option<TokenPrice>) -> Self {
        let mut used = Self::default();
        for one in run.flatten() {
            // Placeholders that a host writes for missing responses do not count.
            let is_answer = |model: &Option<toolmark_trace::Text>| {
                model.as_ref().is_none_or(|model| model != "<synthetic>")
            };
            used.turns += one.steps.iter().filter(|step| is_answer(&step.model)).count() as u64;
            used.calls += one.calls.len() as u64;
            if let Some(usage) = &one.usage {
                used.tokens = Some(used.tokens.unwrap_or(0).saturating_add(usage.total()));
                if let Some(price) = price {
                    let tokens = usage.normalised();
                    let of = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
                    let usd = of(tokens.uncached_input, price.input)
                        + of(tokens.output, price.output)
                        + of(tokens.cache_read, price.cache_read.unwrap_or(price.input))
                        + of(tokens.cache_write, price.cache_write.unwrap_or(price.input));
                    used.usd = Some(used.usd.unwrap_or(0.0) + usd);
                }
            }
            if let Some(cost) = one.cost.filter(|_| price.is_none()) {
                used.usd = Some(used.usd.unwrap_or(0.0) + cost.usd());
            }
        }
        if run.steps.is_empty() && run.fidelity.lacks(Fact::Steps) {
            // In formats without responses, a call implies at least one response.
            used.turns = used.turns.max(u64::from(used.calls > 0));
        }
        used.last_call = run.calls.last().map(|call| call.name.full().to_string());
        used
    }

    /// Describes the exceeded limit, if any.
    #[must_use]
    pub fn exceeds(&self, limits: &TrialLimits) -> Option<String> {
        let over = |name: &str, used: u64, limit: Option<u64>| {
            let limit = limit?;
            (used > limit).then(|| format!("{used} {name}, the limit is {limit}"))
        };
        over("turns", self.turns, limits.turns)
            .or_else(|| over("calls", self.calls, limits.calls))
            .or_else(|| over("tokens", self.tokens?, limits.tokens))
            .or_else(|| {
                let (used, limit) = (self.usd?, limits.usd?);
                (used > limit).then(|| format!("${used:.4} spent, the limit is ${limit}"))
            })
    }

    /// Adds the usage of another trial.
    pub fn add(&mut self, other: &Self) {
        self.turns += other.turns;
        self.calls += other.calls;
        if let Some(tokens) = other.tokens {
            self.tokens = Some(self.tokens.unwrap_or(0).saturating_add(tokens));
        }
        if let Some(usd) = other.usd {
            self.usd = Some(self.usd.unwrap_or(0.0) + usd);
        }
    }
}
