//! A number beside that of the run before: is the difference more than noise?
//!
//! Where trajectories of the same id are in both runs, they are compared one
//! with the other (was every counted call right, before and now): exact McNemar.
//! Otherwise all calls of one run are held against all of the other: Fisher's
//! exact test. Only a difference with p < 0.05 is called one.

use super::cells::{Cells, Chosen};
use crate::scorecard::Tally;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use toolmark_outcome::statistics::{self, Pairs};
use toolmark_outcome::{Harmless, Untrusted};

/// Above this a difference may as well be noise.
const SIGNIFICANT: f64 = 0.05;

/// The run before, and the trajectories of this one.
#[derive(Debug)]
pub struct Earlier<'a> {
    /// All of the run before.
    pub before: &'a Cells,
    /// Its trajectories that have an id.
    pub before_each: &'a BTreeMap<Untrusted, Cells>,
    /// The trajectories of this run that have an id.
    pub now_each: &'a BTreeMap<Untrusted, Cells>,
}

/// A number beside that of the run before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// The number before.
    pub value: f64,
    /// Of how many.
    pub n: u64,
    /// How many trajectories were compared one with the other; 0 where all
    /// calls of one run were held against all of the other.
    pub pairs: u64,
    /// How much higher the number is now; with pairs, the share of trajectories
    /// with every counted call right.
    pub difference: f64,
    /// The 95 % interval of the difference.
    pub interval: (f64, f64),
    /// How likely so large a difference is where nothing has changed.
    pub p: f64,
}

/// Is a difference with this p more than noise?
pub(crate) fn is_significant(p: f64) -> bool {
    p < SIGNIFICANT
}

impl Compared {
    /// Is it lower now, beyond noise?
    #[must_use]
    pub fn is_lower(&self) -> bool {
        is_significant(self.p) && self.difference < 0.0
    }

    /// Is it higher now, beyond noise?
    #[must_use]
    pub fn is_higher(&self) -> bool {
        is_significant(self.p) && self.difference > 0.0
    }
}

impl Harmless for Compared {}

impl fmt::Display for Compared {
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
    /// Compares a number with the same of the run before; `None` where one of
    /// them has nothing to check.
    pub(super) fn compare(&self, name: &str, chosen: Chosen<'_>, now: Tally) -> Option<Compared> {
        let before = self.before.sum(name, chosen);
        let scale = super::scale(name);
        let (value, rate) = (scale.rate(before)?, scale.rate(now)?);
        let pairs = self.pairs(name, chosen);
        let paired = pairs.difference().zip(pairs.interval());
        let (difference, interval, p) = match paired {
            Some((difference, interval)) => (difference, interval, pairs.p_value()),
            None => {
                let right = |tally: Tally| Some((tally.rate()? * tally.of as f64).round() as u64);
                let p = statistics::fisher((before.of, right(before)?), (now.of, right(now)?))?;
                let interval = statistics::difference_of(
                    (value, scale.interval(before)?),
                    (rate, scale.interval(now)?),
                );
                (rate - value, interval, p)
            }
        };
        let pairs = pairs.count();
        Some(Compared { value, n: before.of, pairs, difference, interval, p })
    }

    /// The trajectories that are in both runs and counted in both.
    fn pairs(&self, name: &str, chosen: Chosen<'_>) -> Pairs {
        let mut pairs = Pairs::default();
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
    use super::super::{Cell, Gate};
    use super::*;

    fn cells(of: u64, right: u64) -> Cells {
        let mut cells = Cells::default();
        let cell = Cell { name: "recovery".into(), tool: "Bash".into(), bucket: None };
        cells.add(cell, Tally { of, points: right * 1000 });
        cells
    }

    #[test]
    fn only_what_is_beyond_noise_is_a_regression() {
        let gate: Gate = "recovery >= 0.5".parse().unwrap();
        let none = BTreeMap::new();
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
        let each = |faults: &[usize]| -> BTreeMap<Untrusted, Cells> {
            let one = |n: usize| (n.to_string().into(), cells(1, u64::from(!faults.contains(&n))));
            (0..40).map(one).collect()
        };
        let sum = |each: &BTreeMap<Untrusted, Cells>| {
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
