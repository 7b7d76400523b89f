//! Mastra's efficiency of a trajectory: budgets, and calls repeated in a row.

use super::{rounded, same_text};
use crate::scores::calls::ActualCall;
use serde_json::Value;
use toolmark_outcome::Missing;

/// Configured budgets.
#[derive(Default)]
pub(crate) struct Budgets {
    pub(crate) max_steps: Option<f64>,
    pub(crate) max_total_tokens: Option<f64>,
    pub(crate) max_total_duration_ms: Option<f64>,
    pub(crate) no_redundant_calls: bool,
}

/// Amounts used.
pub(crate) struct EfficiencyUsage {
    pub(crate) tokens: Option<f64>,
    pub(crate) duration_ms: Option<f64>,
}

/// Returns the score, and the calls that repeat the one before.
pub(crate) fn score(
    budgets: &Budgets,
    made: &[ActualCall<'_>],
    spent: &EfficiencyUsage,
) -> Result<(f64, Vec<usize>), Missing> {
    let mut parts: Vec<f64> = Vec::new();
    let within = |value: f64, max: f64| {
        if value > max { (1.0 - (value - max) / max).max(0.0) } else { 1.0 }
    };
    if let Some(max) = budgets.max_steps {
        parts.push(within(made.len() as f64, max));
    }
    if let Some(max) = budgets.max_total_tokens {
        let tokens = spent.tokens.ok_or_else(|| Missing::new("tokens are not recorded"))?;
        parts.push(within(tokens, max));
    }
    if let Some(max) = budgets.max_total_duration_ms {
        let duration = spent.duration_ms;
        let duration = duration.ok_or_else(|| Missing::new("durations are not recorded"))?;
        parts.push(within(duration, max));
    }
    let mut redundant = Vec::new();
    if budgets.no_redundant_calls {
        redundant = (1..made.len()).filter(|at| repeats(&made[at - 1], &made[*at])).collect();
        parts.push((1.0 - redundant.len() as f64 * 0.2).max(0.0));
    }
    let mean = match parts.len() {
        0 => 1.0,
        n => parts.iter().sum::<f64>() / n as f64,
    };
    Ok((rounded(mean), redundant))
}

fn repeats(before: &ActualCall<'_>, after: &ActualCall<'_>) -> bool {
    let (a, b) = (before.args.as_ref(), after.args.as_ref());
    let same_args = match (a, b) {
        (Some(a), Some(b)) => same_text(a, b),
        (a, b) => a.or(b).is_none_or(Value::is_null),
    };
    before.name == after.name && same_args
}
