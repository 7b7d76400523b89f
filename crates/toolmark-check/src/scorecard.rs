//! Scorecard: counts and rates by axis and tool, and the named measures behind them.
//!
//! Scorecards of many sessions can be added. All values are whole numbers, so that the sum
//! does not depend on the order.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use toolmark_base::SortedMap;
use toolmark_outcome::statistics::wilson_of_rate;
use toolmark_outcome::{Axis, Printable, Redactor, Untrusted};

/// Unit of scores, which are stored in thousandths.
const POINT: u64 = 1000;

/// Count and total score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScoreTally {
    /// Number of counted items.
    pub of: u64,
    /// Total score, at most [`POINT`] per item.
    pub points: u64,
}

impl ScoreTally {
    /// Adds an item with a score from 0 to 1.
    pub fn add(&mut self, score: f64) {
        self.of += 1;
        self.points += (score.clamp(0.0, 1.0) * POINT as f64).round() as u64;
    }

    /// Creates a tally of `right` items out of `of`.
    #[must_use]
    pub fn of_right(of: u64, right: u64) -> Self {
        Self { of, points: right.min(of) * POINT }
    }

    /// Adds another tally.
    pub fn merge(&mut self, other: Self) {
        self.of = self.of.saturating_add(other.of);
        self.points = self.points.saturating_add(other.points);
    }

    /// Returns the mean; `None` if nothing was counted.
    #[must_use]
    pub fn rate(self) -> Option<f64> {
        (self.of > 0).then(|| self.points as f64 / (self.of * POINT) as f64)
    }

    /// Returns the 95 % interval of the mean (Wilson; for scores between 0 and 1 it is wider
    /// than necessary, never narrower).
    #[must_use]
    pub fn interval(self) -> Option<(f64, f64)> {
        wilson_of_rate(self.of, self.rate()?)
    }
}

impl Serialize for ScoreTally {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Scale::Share.serialize(*self, serializer)
    }
}

/// Conversion of the share of a tally to a displayed value. The ends of its interval are
/// converted in the same way, so a number has the same interval in every output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// The share itself.
    Share,
    /// F1, computed from the share of right choices among all right choices, wrong calls and
    /// missed calls. F1 increases with this share, and F1 of several tools together is that
    /// of their sum.
    F1,
}

impl Scale {
    /// Returns the scale of a measure.
    #[must_use]
    pub fn of(axis: Axis, name: &str) -> Self {
        if axis == Axis::Selection && name == F1_NAME { Self::F1 } else { Self::Share }
    }

    /// Returns the value for a share.
    #[must_use]
    pub fn value(self, share: f64) -> f64 {
        match self {
            Self::Share => share,
            Self::F1 => 2.0 * share / (1.0 + share),
        }
    }

    /// Returns the share for a value.
    fn share(self, value: f64) -> f64 {
        match self {
            Self::Share => value,
            Self::F1 => value / (2.0 - value),
        }
    }

    /// Returns the value of a tally; `None` if nothing was counted.
    #[must_use]
    pub fn rate(self, tally: ScoreTally) -> Option<f64> {
        tally.rate().map(|share| self.value(share))
    }

    /// Returns the 95 % interval of the value.
    #[must_use]
    pub fn interval(self, tally: ScoreTally) -> Option<(f64, f64)> {
        tally.interval().map(|(low, high)| (self.value(low), self.value(high)))
    }

    /// Returns the displayed points: the value times the count.
    pub(crate) fn points(self, tally: ScoreTally) -> f64 {
        match self {
            // Avoids the rounding of a division.
            Self::Share => tally.points as f64 / POINT as f64,
            Self::F1 => self.rate(tally).unwrap_or(0.0) * tally.of as f64,
        }
    }

    /// Returns the tally for a number of displayed points.
    pub(crate) fn tally(self, of: u64, points: f64) -> ScoreTally {
        let all = of as f64;
        let points = match self {
            Self::Share => points,
            Self::F1 if of > 0 => self.share((points / all).clamp(0.0, 1.0)) * all,
            Self::F1 => 0.0,
        };
        ScoreTally { of, points: (points.clamp(0.0, all) * POINT as f64).round() as u64 }
    }

    fn serialize<S: Serializer>(self, tally: ScoreTally, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Tally", 4)?;
        out.serialize_field("of", &tally.of)?;
        out.serialize_field("points", &self.points(tally))?;
        out.serialize_field("rate", &self.rate(tally))?;
        out.serialize_field("interval", &self.interval(tally).map(|(low, high)| [low, high]))?;
        out.end()
    }
}

/// Name of the F1 measure.
pub(crate) const F1_NAME: &str = "f1";

/// Measures that are the column of their axis: they count the calls that concern the axis,
/// instead of the calls about which some rule could decide.
pub(crate) const COLUMNS: &[(Axis, &str)] =
    &[(Axis::Irreversibility, AWARE), (Axis::Recovery, RECOVERY)];

/// Name of the measure of recovery from failures.
pub(crate) const RECOVERY: &str = "recovery";

/// Name of the measure of announced destructive calls.
pub(crate) const AWARE: &str = "aware";

/// Counts of the destructive calls of a tool, by announcement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Destructive {
    /// Announced before the call.
    pub named: u64,
    /// Acknowledged only afterwards.
    pub acknowledged: u64,
    /// Not announced.
    pub blind: u64,
}

impl Destructive {
    /// Counts a call by its score: 1 is announced, 0 is blind, and values between are
    /// acknowledged.
    pub(crate) fn add(&mut self, score: f64) {
        *match score {
            score if score >= 1.0 => &mut self.named,
            score if score > 0.0 => &mut self.acknowledged,
            _ => &mut self.blind,
        } += 1;
    }

    /// Adds other counts.
    pub fn merge(&mut self, other: Self) {
        self.named += other.named;
        self.acknowledged += other.acknowledged;
        self.blind += other.blind;
    }

    /// Returns the total.
    #[must_use]
    pub fn count(self) -> u64 {
        self.named + self.acknowledged + self.blind
    }
}

/// Number of opportunities and findings of a rule for a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RuleCount {
    /// Number of calls about which the rule could decide.
    pub of: u64,
    /// Number of these calls with a finding.
    pub found: u64,
}

impl RuleCount {
    /// Adds another count.
    pub fn merge(&mut self, other: Self) {
        self.of += other.of;
        self.found += other.found;
    }
}

/// A named number of a tool, such as `edit.minimal` of `Edit`, and optionally of one of its
/// buckets.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Measure<T = Untrusted> {
    /// Axis of the measure.
    pub axis: Axis,
    /// Name, as used in gates.
    pub name: &'static str,
    /// Name of the tool.
    pub tool: T,
    /// Bucket, such as the class of the error.
    pub bucket: Option<T>,
}

impl Measure {
    pub(crate) fn redact(self, redactor: Redactor) -> Measure<Printable> {
        Measure {
            axis: self.axis,
            name: self.name,
            tool: redactor.apply(self.tool),
            bucket: self.bucket.map(|bucket| redactor.apply(bucket)),
        }
    }
}

/// Numbers of one tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolCard {
    /// Number of calls.
    pub calls: u64,
    /// Number of calls that are known to have failed.
    pub failed: u64,
    /// Counts of destructive calls, by announcement.
    pub destructive: Destructive,
    /// By axis: the counted calls, and those without a fault.
    axes: [ScoreTally; 4],
}

impl ToolCard {
    /// Returns the tally of one axis.
    #[must_use]
    pub fn axis(&self, axis: Axis) -> ScoreTally {
        self.axes[axis as usize]
    }

    /// Returns the mutable tally of one axis.
    pub fn axis_mut(&mut self, axis: Axis) -> &mut ScoreTally {
        &mut self.axes[axis as usize]
    }

    /// Adds another card.
    pub fn merge(&mut self, other: &Self) {
        self.calls += other.calls;
        self.failed += other.failed;
        self.destructive.merge(other.destructive);
        for (sum, one) in self.axes.iter_mut().zip(other.axes) {
            sum.merge(one);
        }
    }
}

impl Serialize for ToolCard {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("ToolCard", 7)?;
        out.serialize_field("calls", &self.calls)?;
        out.serialize_field("failed", &self.failed)?;
        out.serialize_field("selection", &self.axis(Axis::Selection))?;
        out.serialize_field("arguments", &self.axis(Axis::Arguments))?;
        out.serialize_field("irreversibility", &self.axis(Axis::Irreversibility))?;
        out.serialize_field("recovery", &self.axis(Axis::Recovery))?;
        out.serialize_field("destructive", &self.destructive)?;
        out.end()
    }
}

/// Numbers by axis and tool, over any number of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scorecard<T = Untrusted> {
    /// Number of checked sessions.
    pub sessions: u64,
    /// Number of their sub-agents.
    pub sub_agents: u64,
    /// Number of sessions and sub-agents whose calls the trace does not record, though there
    /// may have been some.
    pub unrecorded: u64,
    /// Number of sessions and sub-agents whose calls may be recorded only in part.
    pub partly_recorded: u64,
    /// Numbers by tool.
    pub tools: SortedMap<T, ToolCard>,
    /// Named measures.
    pub measures: SortedMap<Measure<T>, ScoreTally>,
    /// Counts of opportunities and findings, by rule and tool.
    pub rules: SortedMap<(&'static str, T), RuleCount>,
}

impl<T> Default for Scorecard<T> {
    fn default() -> Self {
        Self {
            sessions: 0,
            sub_agents: 0,
            unrecorded: 0,
            partly_recorded: 0,
            tools: SortedMap::new(),
            measures: SortedMap::new(),
            rules: SortedMap::new(),
        }
    }
}

impl Scorecard {
    /// Returns the printable scorecard. Tools whose names become equal are merged.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> Scorecard<Printable> {
        let Self { sessions, sub_agents, unrecorded, partly_recorded, tools, measures, rules } =
            self;
        let counts = Scorecard::default();
        let mut card = Scorecard { sessions, sub_agents, unrecorded, partly_recorded, ..counts };
        for (tool, of_tool) in tools {
            card.tools.entry(redactor.apply(tool)).or_default().merge(&of_tool);
        }
        for (measure, tally) in measures {
            card.measures.entry(measure.redact(redactor)).or_default().merge(tally);
        }
        for ((code, tool), count) in rules {
            card.rules.entry((code, redactor.apply(tool))).or_default().merge(count);
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
        merge_into(&mut self.tools, other.tools, |sum, card| sum.merge(&card));
        merge_into(&mut self.measures, other.measures, ScoreTally::merge);
        merge_into(&mut self.rules, other.rules, RuleCount::merge);
    }

    /// Returns the sum over all tools.
    #[must_use]
    pub fn total(&self) -> ToolCard {
        let mut total = ToolCard::default();
        self.tools.values().for_each(|card| total.merge(card));
        total
    }

    /// Returns the tools, most used first.
    #[must_use]
    pub fn by_use(&self) -> Vec<(&T, &ToolCard)> {
        let mut tools: Vec<_> = self.tools.iter().collect();
        tools.sort_by(|a, b| b.1.calls.cmp(&a.1.calls).then_with(|| a.0.cmp(b.0)));
        tools
    }
}

/// Adds the values of a map to those of another.
fn merge_into<K: Ord, V: Default>(
    sums: &mut SortedMap<K, V>,
    other: SortedMap<K, V>,
    add: impl Fn(&mut V, V),
) {
    if sums.is_empty() {
        *sums = other;
        return;
    }
    for (key, value) in other {
        add(sums.entry(key).or_default(), value);
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
    tally: Scaled,
}

/// A tally with its scale.
struct Scaled(Scale, ScoreTally);

impl Serialize for Scaled {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(self.1, serializer)
    }
}

/// Counts of a rule in JSON.
#[derive(Serialize)]
struct RuleCounted<'a, T> {
    code: &'static str,
    tool: &'a T,
    of: u64,
    found: u64,
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
                tally: Scaled(Scale::of(measure.axis, measure.name), *tally),
            })
            .collect();
        let rules = self.rules.iter();
        let rules: Vec<RuleCounted<'_, T>> = rules
            .map(|((code, tool), count)| RuleCounted {
                code,
                tool,
                of: count.of,
                found: count.found,
            })
            .collect();
        let mut out = serializer.serialize_struct("Scorecard", 8)?;
        out.serialize_field("sessions", &self.sessions)?;
        out.serialize_field("sub_agents", &self.sub_agents)?;
        out.serialize_field("unrecorded", &self.unrecorded)?;
        out.serialize_field("partly_recorded", &self.partly_recorded)?;
        out.serialize_field("total", &self.total())?;
        out.serialize_field("tools", &self.tools)?;
        out.serialize_field("measures", &measures)?;
        out.serialize_field("rules", &rules)?;
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
    fn f1_has_the_interval_of_its_share() {
        let tally = ScoreTally::of_right(10, 8);
        let (low, high) = tally.interval().unwrap();
        let of = |share: f64| 2.0 * share / (1.0 + share);
        assert_eq!(Scale::F1.rate(tally), Some(of(0.8)));
        assert_eq!(Scale::F1.interval(tally), Some((of(low), of(high))));
        // Reports contain the value; reading it back results in the same tally.
        for scale in [Scale::Share, Scale::F1] {
            for right in 0..=10 {
                let tally = ScoreTally::of_right(10, right);
                assert_eq!(scale.tally(10, scale.points(tally)), tally, "{scale:?} {right}");
            }
        }
        let mut card = Scorecard::default();
        let of_f1 = |axis| Measure { axis, name: "f1", tool: "Read".into(), bucket: None };
        card.measures.insert(of_f1(Axis::Selection), tally);
        let card = card.redact(Redactor::new(true));
        let json = serde_json::to_value(&card).unwrap();
        assert_eq!(json["measures"][0]["tally"]["rate"], of(0.8));
        assert_eq!(json["measures"][0]["tally"]["interval"][0], of(low));
    }

    #[test]
    fn what_was_not_counted_has_no_rate() {
        assert_eq!(ScoreTally::default().rate(), None);
        assert_eq!(ScoreTally::default().interval(), None);
        let json = serde_json::to_value(ScoreTally::default()).unwrap();
        assert!(json["rate"].is_null() && json["interval"].is_null());
    }
}
