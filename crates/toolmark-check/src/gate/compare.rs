//! Comparison of a number with the baseline: whether the difference is more than noise.
//!
//! Trajectories with the same id in both runs are compared in pairs (whether every counted
//! call was right, before and now): exact McNemar test. Otherwise all calls of one run are
//! compared with all of the other: Fisher's exact test. Only a difference with p < 0.05 is
//! significant.

use super::cells::{CellSelection, Cells};
use crate::scorecard::ScoreTally;
use serde::Serialize;
use std::fmt;
use toolmark_base::SortedMap;
use toolmark_outcome::statistics::{self, TrialPairs};
use toolmark_outcome::{Harmless, Untrusted};

/// Maximum p-value of a significant difference.
const SIGNIFICANT: f64 = 0.05;

/// Numbers of the earlier run, and the trajectories of this run.
#[derive(Debug)]
pub struct Earlier<'a> {
    /// Totals of the earlier run.
    pub before: &'a Cells,
    /// Trajectories of the earlier run that have an id.
    pub before_each: &'a SortedMap<Untrusted, Cells>,
    /// Trajectories of this run that have an id.
    pub now_each: &'a SortedMap<Untrusted, Cells>,
}

/// Comparison of a number with the earlier run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateComparison {
    /// Earlier value.
    pub value: f64,
    /// Earlier count.
    pub n: u64,
    /// Number of trajectories compared in pairs; 0 if all calls of one run were compared with
    /// all of the other.
    pub pairs: u64,
    /// Increase of the number; with pairs, of the share of trajectories in which every
    /// counted call is right.
    pub difference: f64,
    /// 95 % interval of the difference.
    pub interval: (f64, f64),
    /// Probability of a difference of this size if nothing has changed.
    pub p: f64,
}

/// Whether a difference with this p-value is significant.
#[must_use]
pub fn is_significant(p: f64) -> bool {
    p < SIGNIFICANT
}

impl GateComparison {
    /// Whether the number is significantly lower now.
    #[must_use]
    pub fn is_lower(&self) -> bool {
        is_significant(self.p) && self.difference < 0.0
    }

    /// Whether the number is significantly higher now.
    #[must_use]
    pub fn is_higher(&self) -> bool {
        is_significant(self.p) && self.difference > 0.0
    }
}

impl Harmless for GateComparison {}

impl fmt::Display for GateComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let points = |share: f64| share * 100.0;
        let (low, high) = self.interval;
        write!(
            f,
            "{:+.0} points ({:+.0} to {:+.0}), p {:.2}, ",
            points(self.difference),
            points(low),
            points(high),
            self.p
        )?;
        match self.pairs {
            0 => write!(f, "from {:.2} of {}", self.value, self.n),
            1 => f.write_str("1 pair"),
            n => write!(f, "{n} pairs"),
        }
    }
}

impl Earlier<'_> {
    /// Compares a number with that of the earlier run; `None` if one of them has no counts.
    pub(super) fn compare(
        &self,
        name: &str,
        chosen: CellSelection<'_>,
        now: ScoreTally,
    ) -> Option<GateComparison> {
        let before = self.before.sum(name, chosen);
        let scale = super::scale(name);
        let (value, rate) = (scale.rate(before)?, scale.rate(now)?);
        let pairs = self.pairs(name, chosen);
        let paired = pairs.difference().zip(pairs.interval());
        let (difference, interval, p) = match paired {
            Some((difference, interval)) => (difference, interval, pairs.p_value()),
            None => {
                let right =
                    |tally: ScoreTally| Some((tally.rate()? * tally.of as f64).round() as u64);
                let p = statistics::fisher((before.of, right(before)?), (now.of, right(now)?))?;
                let interval = statistics::difference_of(
                    (value, scale.interval(before)?),
                    (rate, scale.interval(now)?),
                );
                (rate - value, interval, p)
            }
        };
        let pairs = pairs.count();
        Some(GateComparison { value, n: before.of, pairs, difference, interval, p })
    }

    /// Returns the trajectories that have counts in both runs.
    fn pairs(&self, name: &str, chosen: CellSelection<'_>) -> TrialPairs {
        let mut pairs = TrialPairs::default();
        for (id, now) in self.now_each {
            let Some(before) = self.before_each.get(id) else { continue };
            let is_right = |cells: &Cells| {
                let tally = cells.sum(name, chosen);
                Some(tally.rate()? >= 1.0)
            };
            if let Some((before, now)) = is_right(before).zip(is_right(now)) {
                pairs.add(before, now);
            }
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Gate, GateCell};
    use super::*;

    fn cells(of: u64, right: u64) -> Cells {
        let mut cells = Cells::default();
        let cell = GateCell { name: "recovery".into(), tool: "Bash".into(), bucket: None };
        cells.add(cell, ScoreTally { of, points: right * 1000 });
        cells
    }

    #[test]
    fn only_what_is_beyond_noise_is_a_regression() {
        let gate: Gate = "recovery >= 0.5".parse().unwrap();
        let none = SortedMap::new();
        for (before, now, verdict) in [
            ((100, 95), (100, 70), "fail"),
            ((20, 19), (20, 17), "pass"),
            ((100, 70), (100, 95), "pass"),
            ((0, 0), (100, 95), "pass"),
            ((100, 95), (0, 0), "unknown"),
        ] {
            let (before, now) = (cells(before.0, before.1), cells(now.0, now.1));
            let earlier = Earlier { before: &before, before_each: &none, now_each: &none };
            let rows = gate.rows(&now, Some(&earlier));
            assert_eq!(rows[0].verdict.word(), verdict, "{rows:?}");
        }
    }

    #[test]
    fn the_same_trajectories_are_compared_in_pairs() {
        let each = |faults: &[usize]| -> SortedMap<Untrusted, Cells> {
            let one = |n: usize| (n.to_string().into(), cells(1, u64::from(!faults.contains(&n))));
            (0..40).map(one).collect()
        };
        let sum = |each: &SortedMap<Untrusted, Cells>| {
            each.values().fold(Cells::default(), |mut sum, cells| {
                sum.merge(cells);
                sum
            })
        };
        let gate: Gate = "recovery >= 0.5".parse().unwrap();
        let before_each = each(&[0]);
        for (faults, verdict, p) in [
            (&[0, 1, 2, 3, 4, 5, 6][..], "fail", 0.031_25),
            (&[0, 1, 2, 3], "pass", 0.25),
            (&[], "pass", 1.0),
        ] {
            let now_each = each(faults);
            let (before, now) = (sum(&before_each), sum(&now_each));
            let earlier =
                Earlier { before: &before, before_each: &before_each, now_each: &now_each };
            let row = gate.rows(&now, Some(&earlier)).remove(0);
            let compared = row.baseline.unwrap();
            assert_eq!((row.verdict.word(), compared.pairs), (verdict, 40));
            assert!((compared.p - p).abs() < 1e-9, "{compared:?}");
        }
    }
}
