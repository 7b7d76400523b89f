//! The scorecard: axis × tool, with counts and rates, and the named measures
//! behind them.
//!
//! Cards of many sessions are added up. Everything in them is a whole number,
//! so that the sum is the same in whatever order it is made.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use toolmark_outcome::statistics::wilson_of_rate;
use toolmark_outcome::{Axis, Printable, Redactor, Untrusted};

/// What a full point is counted as: scores are kept in thousandths.
const POINT: u64 = 1000;

/// How many were counted, and how well they did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many were counted.
    pub of: u64,
    /// The points they got, [`POINT`] each at most.
    pub points: u64,
}

impl Tally {
    /// One more that got a share of a point, from 0 to 1.
    pub fn add(&mut self, score: f64) {
        self.of += 1;
        self.points += (score.clamp(0.0, 1.0) * POINT as f64).round() as u64;
    }

    /// A tally of so many with this mean, from 0 to 1.
    #[must_use]
    pub fn of_rate(of: u64, rate: f64) -> Self {
        Self { of, points: (rate.clamp(0.0, 1.0) * (of * POINT) as f64).round() as u64 }
    }

    /// Adds another tally.
    pub fn merge(&mut self, other: Self) {
        self.of = self.of.saturating_add(other.of);
        self.points = self.points.saturating_add(other.points);
    }

    /// The points as people count them.
    #[must_use]
    pub(crate) fn shown_points(self) -> f64 {
        self.points as f64 / POINT as f64
    }

    /// The tally with so many points as people count them.
    #[must_use]
    pub(crate) fn from_points(of: u64, points: f64) -> Self {
        let points = (points.clamp(0.0, of as f64) * POINT as f64).round() as u64;
        Self { of, points }
    }

    /// The mean; `None` where nothing was counted.
    #[must_use]
    pub fn rate(self) -> Option<f64> {
        (self.of > 0).then(|| self.points as f64 / (self.of * POINT) as f64)
    }

    /// The 95 % interval of the mean (Wilson; for scores between 0 and 1 it is
    /// wider than need be, never narrower).
    #[must_use]
    pub fn interval(self) -> Option<(f64, f64)> {
        wilson_of_rate(self.of, self.rate()?)
    }
}

impl Serialize for Tally {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Tally", 4)?;
        out.serialize_field("of", &self.of)?;
        out.serialize_field("points", &self.shown_points())?;
        out.serialize_field("rate", &self.rate())?;
        out.serialize_field("interval", &self.interval().map(|(low, high)| [low, high]))?;
        out.end()
    }
}

/// A named number of a tool, such as `edit.minimal` of `Edit`, and of one
/// bucket of it where it has buckets.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measure<T = Untrusted> {
    /// What was asked.
    pub axis: Axis,
    /// What it is called, in the words a gate would use.
    pub name: &'static str,
    /// The tool.
    pub tool: T,
    /// The bucket, such as the class of the error.
    pub bucket: Option<T>,
}

impl Measure {
    fn redact(self, redactor: Redactor) -> Measure<Printable> {
        Measure {
            axis: self.axis,
            name: self.name,
            tool: redactor.apply(self.tool),
            bucket: self.bucket.map(|bucket| redactor.apply(bucket)),
        }
    }
}

/// What is known of one tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolCard {
    /// How often it was called.
    pub calls: u64,
    /// How many of the calls are known to have failed.
    pub failed: u64,
    /// By axis: the calls a rule could decide about, and those without a finding.
    axes: [Tally; 4],
}

impl ToolCard {
    /// How the calls did on one axis.
    #[must_use]
    pub fn axis(&self, axis: Axis) -> Tally {
        self.axes[axis as usize]
    }

    /// The tally of an axis, to add to.
    pub fn axis_mut(&mut self, axis: Axis) -> &mut Tally {
        &mut self.axes[axis as usize]
    }

    /// Adds another card.
    pub fn merge(&mut self, other: &Self) {
        self.calls += other.calls;
        self.failed += other.failed;
        for (sum, one) in self.axes.iter_mut().zip(other.axes) {
            sum.merge(one);
        }
    }
}

impl Serialize for ToolCard {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("ToolCard", 6)?;
        out.serialize_field("calls", &self.calls)?;
        out.serialize_field("failed", &self.failed)?;
        out.serialize_field("selection", &self.axis(Axis::Selection))?;
        out.serialize_field("arguments", &self.axis(Axis::Arguments))?;
        out.serialize_field("irreversibility", &self.axis(Axis::Irreversibility))?;
        out.serialize_field("recovery", &self.axis(Axis::Recovery))?;
        out.end()
    }
}

/// Axis × tool, over any number of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scorecard<T = Untrusted> {
    /// How many sessions were checked.
    pub sessions: u64,
    /// How many sub-agents of theirs.
    pub sub_agents: u64,
    /// Of how many of both the trace has no calls, though there may have been some.
    pub unrecorded: u64,
    /// Of how many it has some and perhaps not all.
    pub partly_recorded: u64,
    /// By tool.
    pub tools: BTreeMap<T, ToolCard>,
    /// The named numbers.
    pub measures: BTreeMap<Measure<T>, Tally>,
}

impl<T> Default for Scorecard<T> {
    fn default() -> Self {
        Self {
            sessions: 0,
            sub_agents: 0,
            unrecorded: 0,
            partly_recorded: 0,
            tools: BTreeMap::new(),
            measures: BTreeMap::new(),
        }
    }
}

impl Scorecard {
    /// It as it may be printed. Tools that look the same then are added up.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> Scorecard<Printable> {
        let Self { sessions, sub_agents, unrecorded, partly_recorded, tools, measures } = self;
        let counts = Scorecard::default();
        let mut card = Scorecard { sessions, sub_agents, unrecorded, partly_recorded, ..counts };
        for (tool, of_tool) in tools {
            card.tools.entry(redactor.apply(tool)).or_default().merge(&of_tool);
        }
        for (measure, tally) in measures {
            card.measures.entry(measure.redact(redactor)).or_default().merge(tally);
        }
        card
    }
}

impl<T: Ord> Scorecard<T> {
    /// Adds another card.
    pub fn merge(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.sub_agents += other.sub_agents;
        self.unrecorded += other.unrecorded;
        self.partly_recorded += other.partly_recorded;
        for (tool, card) in other.tools {
            self.tools.entry(tool).or_default().merge(&card);
        }
        for (measure, tally) in other.measures {
            self.measures.entry(measure).or_default().merge(tally);
        }
    }

    /// All tools together.
    #[must_use]
    pub fn total(&self) -> ToolCard {
        let mut total = ToolCard::default();
        self.tools.values().for_each(|card| total.merge(card));
        total
    }

    /// The tools, the most used first.
    #[must_use]
    pub fn by_use(&self) -> Vec<(&T, &ToolCard)> {
        let mut tools: Vec<_> = self.tools.iter().collect();
        tools.sort_by(|a, b| b.1.calls.cmp(&a.1.calls).then_with(|| a.0.cmp(b.0)));
        tools
    }
}

/// A measure in JSON.
#[derive(Serialize)]
struct Measured<'a, T> {
    axis: Axis,
    name: &'static str,
    tool: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    bucket: Option<&'a T>,
    tally: Tally,
}

impl<T: Serialize + Ord> Serialize for Scorecard<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let measures: Vec<Measured<'_, T>> = self
            .measures
            .iter()
            .map(|(measure, tally)| Measured {
                axis: measure.axis,
                name: measure.name,
                tool: &measure.tool,
                bucket: measure.bucket.as_ref(),
                tally: *tally,
            })
            .collect();
        let mut out = serializer.serialize_struct("Scorecard", 7)?;
        out.serialize_field("sessions", &self.sessions)?;
        out.serialize_field("sub_agents", &self.sub_agents)?;
        out.serialize_field("unrecorded", &self.unrecorded)?;
        out.serialize_field("partly_recorded", &self.partly_recorded)?;
        out.serialize_field("total", &self.total())?;
        out.serialize_field("tools", &self.tools)?;
        out.serialize_field("measures", &measures)?;
        out.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(tool: &str, calls: u64, scores: &[f64]) -> Scorecard {
        let mut card = Scorecard { sessions: 1, ..Scorecard::default() };
        let of_tool = card.tools.entry(tool.into()).or_default();
        of_tool.calls = calls;
        scores.iter().for_each(|score| of_tool.axis_mut(Axis::Arguments).add(*score));
        let measure =
            Measure { axis: Axis::Arguments, name: "valid", tool: tool.into(), bucket: None };
        scores
            .iter()
            .for_each(|score| card.measures.entry(measure.clone()).or_default().add(*score));
        card
    }

    #[test]
    fn the_order_of_merging_does_not_matter() {
        let cards =
            [card("Read", 3, &[1.0, 0.0]), card("Edit", 1, &[0.5]), card("Read", 2, &[1.0])];
        let sum = |order: &[usize]| {
            let mut sum = Scorecard::default();
            order.iter().for_each(|at| sum.merge(cards[*at].clone()));
            sum
        };
        let all = sum(&[0, 1, 2]);
        assert_eq!(all, sum(&[2, 1, 0]));
        assert_eq!(all.sessions, 3);
        let read = all.tools["Read"].axis(Axis::Arguments);
        assert_eq!((read.of, read.rate()), (3, Some(2.0 / 3.0)));
        assert_eq!(all.total().calls, 6);
        assert_eq!(*all.by_use()[0].0, "Read");
    }

    #[test]
    fn what_was_not_counted_has_no_rate() {
        assert_eq!(Tally::default().rate(), None);
        assert_eq!(Tally::default().interval(), None);
        let json = serde_json::to_value(Tally::default()).unwrap();
        assert!(json["rate"].is_null() && json["interval"].is_null());
    }
}
