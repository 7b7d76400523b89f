//! Decision of a gate about a number.

use super::names::scale;
use super::{Gate, Op};
use crate::scorecard::{Scale, ScoreTally};
use toolmark_outcome::statistics::wilson_of_rate;
use toolmark_outcome::{Cause, Verdict};

/// Tolerance for shares at a threshold: 4/5 reaches 0.8.
const EPSILON: f64 = 1e-9;

/// Maximum estimate of needed calls. If more would be necessary, the rate is too close to the
/// threshold to be decided in practice.
const MAX_CALLS: u64 = 1_000_000;

/// Decision of a gate, with the reason.
pub(super) struct GateAnswer {
    pub(super) verdict: Verdict,
    pub(super) reason: String,
    /// Approximate number of similar calls needed for a decision.
    pub(super) needed: Option<u64>,
}

impl GateAnswer {
    fn known(gate: &Gate, holds: bool) -> Self {
        let word = if holds { "holds" } else { "does not hold" };
        let reason = format!("{} {} {word}", gate.op.word(), gate.threshold);
        Self { verdict: Verdict::of(holds), reason, needed: None }
    }

    fn unknown(reason: String, needed: Option<u64>) -> Self {
        Self { verdict: Verdict::Unknown(Cause::MissingEvidence), reason, needed }
    }
}

/// Decides a gate: `==`, and thresholds that only all or no calls can reach, by the counted
/// calls; every other comparison by the interval of the underlying rate.
pub(super) fn decide(gate: &Gate, tally: ScoreTally) -> GateAnswer {
    let scale = scale(&gate.name);
    let Some(value) = scale.rate(tally) else {
        let needed = calls_to_decide(gate, scale, best_rate(gate.op), 1);
        let reason = match (gate.name.as_str(), needed) {
            ("selection.f1" | "selection.precision" | "selection.recall", _) => {
                "nothing to check: --gold has the labels it takes".to_owned()
            }
            (_, Some(calls)) if calls > 1 => {
                format!("nothing to check: it takes {calls} calls at least")
            }
            _ => "nothing to check".to_owned(),
        };
        return GateAnswer::unknown(reason, needed);
    };
    let missing = gate.min_support.saturating_sub(tally.of);
    if is_about_every_call(gate) {
        let holds = holds(gate.op, value, gate.threshold);
        // One fault is enough to know that not all are right.
        let is_proof = !holds && gate.threshold >= 1.0;
        if missing > 0 && !is_proof {
            return too_few(gate, tally);
        }
        return GateAnswer::known(gate, holds);
    }
    if missing > 0 {
        return too_few(gate, tally);
    }
    let interval = scale.interval(tally).unwrap_or((0.0, 1.0));
    if let Some(holds) = side(gate.op, interval, gate.threshold) {
        return GateAnswer::known(gate, holds);
    }
    let rate = tally.rate().unwrap_or_default();
    match calls_to_decide(gate, scale, rate, tally.of) {
        Some(calls) => {
            let needed = calls.saturating_sub(tally.of).max(1);
            let reason = format!("not enough evidence: about {needed} more like these would tell");
            GateAnswer::unknown(reason, Some(needed))
        }
        None => {
            let reason = "not enough evidence: the value is too close to the threshold".to_owned();
            GateAnswer::unknown(reason, None)
        }
    }
}

fn too_few(gate: &Gate, tally: ScoreTally) -> GateAnswer {
    let (n, least) = (tally.of, gate.min_support);
    let reason = format!("not enough evidence: {n} of the {least} calls it takes");
    GateAnswer::unknown(reason, Some(least.saturating_sub(n)))
}

/// Whether the gate applies to the calls themselves, because no interval reaches all or none.
fn is_about_every_call(gate: &Gate) -> bool {
    match gate.op {
        Op::Equal => true,
        Op::AtLeast => gate.threshold >= 1.0,
        Op::AtMost => gate.threshold <= 0.0,
        Op::Above | Op::Below => false,
    }
}

fn holds(op: Op, value: f64, threshold: f64) -> bool {
    match op {
        Op::AtLeast => value + EPSILON >= threshold,
        Op::Above => value > threshold + EPSILON,
        Op::Equal => (value - threshold).abs() <= EPSILON,
        Op::AtMost => value <= threshold + EPSILON,
        Op::Below => value + EPSILON < threshold,
    }
}

/// Whether the comparison is true for the whole interval or for none of it; `None` if the
/// threshold is inside the interval.
fn side(op: Op, (low, high): (f64, f64), threshold: f64) -> Option<bool> {
    let (of_low, of_high) = (holds(op, low, threshold), holds(op, high, threshold));
    (of_low == of_high).then_some(of_low)
}

/// Returns the first rate for which the comparison is true.
fn best_rate(op: Op) -> f64 {
    match op {
        Op::AtMost | Op::Below => 0.0,
        Op::AtLeast | Op::Above | Op::Equal => 1.0,
    }
}

/// Returns the smallest number of calls, from `least` on, whose interval would decide at this
/// rate.
fn calls_to_decide(gate: &Gate, scale: Scale, rate: f64, least: u64) -> Option<u64> {
    let least = least.max(gate.min_support).max(1);
    if is_about_every_call(gate) {
        return Some(least);
    }
    let decides = |calls: u64| {
        let interval = wilson_of_rate(calls, rate);
        interval.is_some_and(|(low, high)| {
            side(gate.op, (scale.value(low), scale.value(high)), gate.threshold).is_some()
        })
    };
    if decides(least) {
        return Some(least);
    }
    // The interval only shrinks: double until it decides, then halve the step.
    let mut open = least;
    let mut decided = least.saturating_mul(2);
    while !decides(decided) {
        if decided > MAX_CALLS {
            return None;
        }
        (open, decided) = (decided, decided.saturating_mul(2));
    }
    while decided - open > 1 {
        let middle = open + (decided - open) / 2;
        if decides(middle) { decided = middle } else { open = middle }
    }
    Some(decided)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(gate: &str, of: u64, right: u64) -> (&'static str, Option<u64>, String) {
        let decided = decide(&gate.parse().unwrap(), ScoreTally::of_right(of, right));
        (decided.verdict.word(), decided.needed, decided.reason)
    }

    #[test]
    fn the_interval_decides() {
        for (gate, of, right, verdict, needed) in [
            // All of n are right: the interval starts at n / (n + 3.84).
            ("recovery >= 0.8", 15, 15, "unknown", Some(1)),
            ("recovery >= 0.8", 16, 16, "pass", None),
            ("recovery >= 0.8", 2, 2, "unknown", Some(14)),
            ("recovery >= 0.8", 0, 0, "unknown", Some(16)),
            ("recovery >= 0.8", 10, 8, "unknown", None),
            ("recovery >= 0.8", 10, 1, "fail", None),
            ("recovery >= 0.8", 3, 0, "fail", None),
            ("recovery >= 0.8", 100, 90, "pass", None),
            ("recovery >= 0.8", 100, 85, "unknown", Some(146)),
            ("recovery.repeat <= 0.2", 16, 0, "pass", None),
            ("recovery.repeat <= 0.2", 5, 0, "unknown", Some(11)),
            ("recovery.repeat < 0.2", 20, 19, "fail", None),
            // `min support` is an additional requirement.
            ("recovery >= 0.5 min support 9", 8, 8, "unknown", Some(1)),
            ("recovery >= 0.5 min support 9", 9, 9, "pass", None),
            // Applies to every call, without an interval.
            ("arguments.valid == 1", 1, 1, "pass", None),
            ("arguments.valid == 1", 900, 899, "fail", None),
            ("arguments.valid >= 100%", 2, 2, "pass", None),
            ("arguments.valid == 1 min support 3", 2, 2, "unknown", Some(1)),
            ("arguments.valid == 1", 0, 0, "unknown", Some(1)),
            ("recovery.repeat <= 0", 4, 0, "pass", None),
            ("recovery.repeat <= 0", 4, 1, "fail", None),
        ] {
            let (word, more, reason) = decided(gate, of, right);
            assert_eq!((word, more), (verdict, needed), "{gate} of {right}/{of}: {reason}");
            let says_why = word != "unknown"
                || reason.starts_with("not enough evidence")
                || reason.starts_with("nothing to check");
            assert!(says_why, "{reason}");
        }
    }

    #[test]
    fn as_many_as_it_says_do_decide() {
        for (of, right) in [(5, 5), (20, 18), (40, 38), (30, 12), (7, 4)] {
            let gate: Gate = "edit.minimal >= 0.85".parse().unwrap();
            let Some(needed) = decide(&gate, ScoreTally::of_right(of, right)).needed else {
                continue;
            };
            let all = of + needed;
            let rate = right as f64 / of as f64;
            let (low, high) = wilson_of_rate(all, rate).unwrap();
            assert!(side(gate.op, (low, high), 0.85).is_some(), "{right}/{of} and {needed} more");
            let (low, high) = wilson_of_rate(all - 1, rate).unwrap();
            assert!(side(gate.op, (low, high), 0.85).is_none(), "{right}/{of}: fewer would do");
        }
    }

    #[test]
    fn missing_labels_are_named() {
        let (word, _, reason) = decided("selection.f1 >= 0.92", 0, 0);
        assert_eq!(word, "unknown");
        assert!(reason.contains("--gold"), "{reason}");
    }
}
