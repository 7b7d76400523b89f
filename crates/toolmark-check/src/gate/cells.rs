//! Cells: every number of a scorecard under its full name, by tool and bucket, as input for
//! gates. They come from a scorecard or from an earlier report.

use super::names;
use crate::scorecard::{Measure, ScoreTally, Scorecard, ToolCard};
use toolmark_base::{SortedMap, SortedSet};
use toolmark_outcome::{Axis, Untrusted};

/// Key of a number: a name, a tool, and optionally a bucket.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GateCell<T = Untrusted> {
    /// Full name.
    pub name: String,
    /// Name of the tool.
    pub tool: T,
    /// Bucket.
    pub bucket: Option<T>,
}

/// Numbers of one or more sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cells<T = Untrusted>(SortedMap<GateCell<T>, ScoreTally>);

impl<T> Default for Cells<T> {
    fn default() -> Self {
        Self(SortedMap::new())
    }
}

/// Selection of the cells of a name to add.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CellSelection<'a> {
    /// Tool; all tools if `None`.
    pub(super) tool: Option<&'a str>,
    /// Bucket; all buckets if `None`.
    pub(super) bucket: Option<&'a str>,
}

/// Returns the axes whose share of calls without a finding has a cell: a measure with the
/// name of an axis is more informative than that share.
#[must_use]
pub fn shares<T>(whole: &Scorecard<T>) -> Vec<Axis> {
    let is_measured = |axis: Axis| {
        let mut measures = whole.measures.keys();
        measures.any(|measure| measure.axis == axis && measure.name == axis.word())
    };
    Axis::ALL.iter().copied().filter(|axis| !is_measured(*axis)).collect()
}

impl<T: Ord + Clone> From<&Scorecard<T>> for Cells<T> {
    fn from(card: &Scorecard<T>) -> Self {
        Self::new(card.measures.iter(), card.tools.iter(), &shares(card))
    }
}

impl<T: Ord + Clone> Cells<T> {
    /// Creates the cells of the total scorecard or of one of several sessions; `shares` are
    /// the [`shares`] of the total scorecard.
    pub(crate) fn new<'c>(
        measures: impl Iterator<Item = (&'c Measure<T>, &'c ScoreTally)>,
        tools: impl Iterator<Item = (&'c T, &'c ToolCard)> + Clone,
        shares: &[Axis],
    ) -> Self
    where
        T: 'c,
    {
        let mut cells = Self::default();
        for (measure, tally) in measures {
            let (tool, bucket) = (measure.tool.clone(), measure.bucket.clone());
            cells.add(GateCell { name: names::full(measure), tool, bucket }, *tally);
        }
        for axis in shares {
            for (tool, of_tool) in tools.clone() {
                let cell = GateCell { name: axis.word().into(), tool: tool.clone(), bucket: None };
                cells.add(cell, of_tool.axis(*axis));
            }
        }
        cells
    }

    /// Adds to a cell; an empty tally does not create one.
    pub fn add(&mut self, cell: GateCell<T>, tally: ScoreTally) {
        if tally.of > 0 {
            self.0.entry(cell).or_default().merge(tally);
        }
    }

    /// Adds all other cells.
    pub fn merge(&mut self, other: &Self) {
        for (cell, tally) in &other.0 {
            self.add(cell.clone(), *tally);
        }
    }

    /// Returns all cells, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&GateCell<T>, ScoreTally)> {
        self.0.iter().map(|(cell, tally)| (cell, *tally))
    }
}

impl Cells {
    /// Whether there is a number with this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.named(name).next().is_some()
    }

    /// Returns the totals over all tools, by name.
    #[must_use]
    pub fn totals(&self) -> SortedMap<&str, ScoreTally> {
        let names: SortedSet<&str> = self.0.keys().map(|cell| cell.name.as_str()).collect();
        let all = CellSelection { tool: None, bucket: None };
        names.into_iter().map(|name| (name, self.sum(name, all))).collect()
    }

    fn named<'c>(&'c self, name: &'c str) -> impl Iterator<Item = (&'c GateCell, ScoreTally)> {
        let first = GateCell { name: name.to_owned(), tool: Untrusted::default(), bucket: None };
        let of_name = self.0.iter_from(&first).take_while(move |(cell, _)| cell.name == name);
        of_name.map(|(cell, tally)| (cell, *tally))
    }

    /// Returns the tools that have this number.
    pub(super) fn tools(&self, name: &str) -> SortedSet<String> {
        self.named(name).map(|(cell, _)| cell.tool.raw().to_owned()).collect()
    }

    /// Returns the buckets of a number, with their tools.
    pub(super) fn buckets(&self, name: &str, tool: Option<&str>) -> SortedSet<(String, String)> {
        let of_tool = self.named(name).filter(|(cell, _)| tool.is_none_or(|t| cell.tool == *t));
        let owned = |text: &Untrusted| text.raw().to_owned();
        of_tool
            .filter_map(|(cell, _)| Some((owned(&cell.tool), owned(cell.bucket.as_ref()?))))
            .collect()
    }

    /// Returns the sum of the selected cells. A tool that has the number as a whole and by
    /// bucket is counted once.
    pub(super) fn sum(&self, name: &str, chosen: CellSelection<'_>) -> ScoreTally {
        let mut whole: SortedMap<&str, ScoreTally> = SortedMap::new();
        let mut parts: SortedMap<&str, ScoreTally> = SortedMap::new();
        for (cell, tally) in self.named(name) {
            if chosen.tool.is_some_and(|tool| cell.tool != *tool) {
                continue;
            }
            match (chosen.bucket, cell.bucket.as_ref().map(Untrusted::raw)) {
                (Some(wanted), has) if has != Some(wanted) => {}
                (None, None) => whole.entry(cell.tool.raw()).or_default().merge(tally),
                _ => parts.entry(cell.tool.raw()).or_default().merge(tally),
            }
        }
        parts.extend(whole);
        parts.values().fold(ScoreTally::default(), |mut sum, tally| {
            sum.merge(*tally);
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(name: &str, tool: &str, bucket: Option<&str>) -> GateCell {
        GateCell { name: name.into(), tool: tool.into(), bucket: bucket.map(Into::into) }
    }

    #[test]
    fn sums_count_every_call_once() {
        let mut cells = Cells::default();
        let tally = |of, points| ScoreTally { of, points };
        cells.add(cell("recovery", "Bash", None), tally(5, 3000));
        cells.add(cell("recovery", "Bash", Some("127")), tally(2, 2000));
        cells.add(cell("recovery", "Bash", Some("timeout")), tally(3, 1000));
        cells.add(cell("recovery", "Edit", Some("ambiguous")), tally(1, 1000));
        cells.add(cell("recovery.x", "Bash", None), tally(9, 9000));
        cells.add(cell("recovery", "Read", None), ScoreTally::default());
        let sum = |tool, bucket| cells.sum("recovery", CellSelection { tool, bucket }).of;
        assert_eq!(sum(None, None), 6);
        assert_eq!(sum(Some("Bash"), None), 5);
        assert_eq!(sum(Some("Bash"), Some("127")), 2);
        assert_eq!(sum(None, Some("127")), 2);
        assert_eq!(sum(Some("Edit"), None), 1);
        assert_eq!(sum(Some("Edit"), Some("127")), 0);
        assert_eq!(cells.tools("recovery").len(), 2, "what was not counted is no cell");
        assert_eq!(cells.buckets("recovery", None).len(), 3);
    }
}
