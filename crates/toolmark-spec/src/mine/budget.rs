//! Derives limits for the whole run: the amounts that the runs used, plus some room.

use crate::mine::item::{ExpectationFamily, MinedItem, SpecPart};
use crate::mine::propose::with_room;
use crate::mine::sample::MinedRun;
use serde_json::{Value, json};
use toolmark_outcome::{TrajectoryView, duration_of};
use toolmark_trace::Trajectory;

/// A limit: its grader and the quantity it limits.
struct Limit {
    name: &'static str,
    grader: &'static str,
    /// Amount used by a run, if recorded.
    value: fn(&Trajectory) -> Option<f64>,
    config: fn(f64) -> Value,
    /// Formats an amount as text.
    words: fn(f64) -> String,
}

const LIMITS: &[Limit] = &[
    Limit {
        name: "max-calls",
        grader: "tool-call-count",
        value: |run| {
            let counted = TrajectoryView::whole(run).calls().len() as f64;
            Some(run.stated.calls.map_or(counted, |stated| counted.max(stated as f64)))
        },
        config: |most| json!({ "max": with_room(most as usize) }),
        words: |calls| format!("{calls}"),
    },
    Limit {
        name: "max-tokens",
        grader: "token-budget",
        value: |run| Some(run.usage.as_ref()?.total() as f64),
        config: |most| json!({ "max": rounded(most * 1.5) as u64 }),
        words: |tokens| format!("{tokens}"),
    },
    Limit {
        name: "max-duration",
        grader: "wall-time",
        value: |run| Some(duration_of(run)?.as_secs_f64()),
        config: |most| json!({ "max": format!("{}s", rounded(most.max(1.0) * 2.0).ceil()) }),
        words: |seconds| format!("{seconds:.1}s"),
    },
    Limit {
        name: "max-cost",
        grader: "cost",
        value: |run| Some(run.cost?.usd()),
        config: |most| json!({ "budget": rounded(most * 1.5) }),
        words: |usd| format!("{usd:.4} USD"),
    },
];

/// Adds limits for every quantity that all runs record.
pub(crate) fn budgets(passing: &[&MinedRun<'_>], items: &mut Vec<MinedItem>) {
    for limit in LIMITS {
        let values: Option<Vec<f64>> =
            passing.iter().map(|sample| (limit.value)(sample.run)).collect();
        let Some(values) = values else { continue };
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        if !most.is_finite() || most <= 0.0 {
            continue;
        }
        let mut item = MinedItem::expect(
            ExpectationFamily::Budgets,
            format!("budget {}", limit.name),
            SpecPart::Budget(limit.name),
        );
        item.grader = limit.grader;
        item.config = (limit.config)(most);
        let words = |value: f64| (limit.words)(value);
        let range = match least == most {
            true => words(most),
            false => format!("{} to {}", words(least), words(most)),
        };
        items.push(item.at_least(2).remark(format!("{range} in these runs")));
    }
}

/// Rounds a number up to two digits.
fn rounded(number: f64) -> f64 {
    if number <= 0.0 {
        return 0.0;
    }
    let digits = number.log10().floor() as i32 - 1;
    // Powers of ten below 1 are not exact, their opposites are.
    let scale = 10_f64.powi(digits.abs());
    let (number, scaled) = match digits >= 0 {
        true => (number / scale, true),
        false => (number * scale, false),
    };
    let up = (number - 1e-9).ceil();
    if scaled { up * scale } else { up / scale }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn numbers_are_rounded_up() {
        for (number, want) in [
            (0.0, 0.0),
            (1.0, 1.0),
            (12.3, 13.0),
            (1234.0, 1300.0),
            (0.0123, 0.013),
            (99.5, 100.0),
            (0.3, 0.3),
        ] {
            assert!((rounded(number) - want).abs() < 1e-12, "{number}: {}", rounded(number));
        }
    }
}
