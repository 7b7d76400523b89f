//! Compact scorecard of one session.

use crate::gate::Cells;
use crate::scorecard::{Measure, ScoreTally, Scorecard, ToolCard};
use toolmark_outcome::{Axis, Printable, Redactor, Untrusted};

/// Numbers of one session, including its sub-agents. A run has many sessions, and most of
/// them use few tools, so lists take a tenth of the memory of maps. The counts of rules are
/// omitted, because they are not used per session.
#[derive(Debug, Clone)]
pub struct SessionCard<T = Untrusted> {
    /// Id of the session.
    pub id: Option<T>,
    /// Numbers by tool, in order.
    tools: Vec<(T, ToolCard)>,
    /// Named measures, in order.
    measures: Vec<(Measure<T>, ScoreTally)>,
}

impl SessionCard {
    pub(crate) fn new(id: Option<Untrusted>, card: &Scorecard) -> Self {
        let tools = card.tools.iter().map(|(tool, of_tool)| (tool.clone(), *of_tool));
        let measures = card.measures.iter().map(|(measure, tally)| (measure.clone(), *tally));
        Self { id, tools: tools.collect(), measures: measures.collect() }
    }

    /// Adds a score from 0 to 1 to a measure.
    pub(crate) fn add(&mut self, measure: Measure, score: f64) {
        match self.measures.binary_search_by(|(known, _)| known.cmp(&measure)) {
            Ok(at) => self.measures[at].1.add(score),
            Err(at) => {
                let mut tally = ScoreTally::default();
                tally.add(score);
                self.measures.insert(at, (measure, tally));
            }
        }
    }

    /// Returns the printable scorecard. Tools whose names become equal are merged.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> SessionCard<Printable> {
        let tools = self.tools.into_iter().map(|(tool, card)| (redactor.apply(tool), card));
        let measures = self.measures.into_iter();
        let measures = measures.map(|(measure, tally)| (measure.redact(redactor), tally));
        SessionCard {
            id: self.id.map(|id| redactor.apply(id)),
            tools: summed(tools.collect(), |sum, card| sum.merge(&card)),
            measures: summed(measures.collect(), ScoreTally::merge),
        }
    }
}

impl<T: Ord + Clone> SessionCard<T> {
    /// Returns the cells, with the [`shares`](crate::gate::shares) of the scorecard of all
    /// sessions.
    #[must_use]
    pub fn cells(&self, shares: &[Axis]) -> Cells<T> {
        let measures = self.measures.iter().map(|(measure, tally)| (measure, tally));
        Cells::new(measures, self.tools.iter().map(|(tool, card)| (tool, card)), shares)
    }
}

impl<T> SessionCard<T> {
    /// Returns the sum over all tools.
    #[must_use]
    pub fn total(&self) -> ToolCard {
        let mut total = ToolCard::default();
        self.tools.iter().for_each(|(_, card)| total.merge(card));
        total
    }
}

/// Sorts the entries and merges those with the same key.
fn summed<K: Ord, V: Copy>(mut entries: Vec<(K, V)>, add: impl Fn(&mut V, V)) -> Vec<(K, V)> {
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    entries.dedup_by(|next, sum| {
        let is_same = next.0 == sum.0;
        if is_same {
            add(&mut sum.1, next.1);
        }
        is_same
    });
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_look_the_same_are_added_up() {
        let key = |letter: char| {
            format!("run ghp_{}", "9a8B7c6D5e4F3g2H1".repeat(2) + &letter.to_string().repeat(2))
        };
        let mut card = Scorecard::default();
        for (tool, calls) in [(key('x'), 1), ("Read".to_owned(), 2), (key('y'), 4)] {
            card.tools.entry(tool.into()).or_default().calls = calls;
        }
        let session = SessionCard::new(None, &card);
        assert_eq!(session.total().calls, 7);
        let printed = session.redact(Redactor::new(true));
        let whole: Vec<_> = card.redact(Redactor::new(true)).tools.into_iter().collect();
        assert_eq!(printed.tools, whole);
        assert_eq!(printed.tools.len(), 2);
    }
}
