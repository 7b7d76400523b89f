//! What is kept of the card of one session.

use crate::gate::Cells;
use crate::scorecard::{Measure, Scorecard, Tally, ToolCard};
use toolmark_outcome::{Axis, Printable, Redactor, Untrusted};

/// The numbers of one session, its sub-agents included. A run has very many sessions, and
/// most of them have few tools: lists take a tenth of the memory that maps take. The counts
/// of rules are left out, because nobody asks for those by session.
#[derive(Debug, Clone)]
pub struct SessionCard<T = Untrusted> {
    /// The session's id.
    pub id: Option<T>,
    /// By tool, in order.
    tools: Vec<(T, ToolCard)>,
    /// The named numbers, in order.
    measures: Vec<(Measure<T>, Tally)>,
}

impl SessionCard {
    pub(crate) fn new(id: Option<Untrusted>, card: &Scorecard) -> Self {
        let tools = card.tools.iter().map(|(tool, of_tool)| (tool.clone(), *of_tool));
        let measures = card.measures.iter().map(|(measure, tally)| (measure.clone(), *tally));
        Self { id, tools: tools.collect(), measures: measures.collect() }
    }

    /// One more score of a measure, from 0 to 1.
    pub(crate) fn add(&mut self, measure: Measure, score: f64) {
        match self.measures.binary_search_by(|(known, _)| known.cmp(&measure)) {
            Ok(at) => self.measures[at].1.add(score),
            Err(at) => {
                let mut tally = Tally::default();
                tally.add(score);
                self.measures.insert(at, (measure, tally));
            }
        }
    }

    /// It as it may be printed. Tools that look the same then are added up.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> SessionCard<Printable> {
        let tools = self.tools.into_iter().map(|(tool, card)| (redactor.apply(tool), card));
        let measures = self.measures.into_iter();
        let measures = measures.map(|(measure, tally)| (measure.redact(redactor), tally));
        SessionCard {
            id: self.id.map(|id| redactor.apply(id)),
            tools: summed(tools.collect(), |sum, card| sum.merge(&card)),
            measures: summed(measures.collect(), Tally::merge),
        }
    }
}

impl<T: Ord + Clone> SessionCard<T> {
    /// Its cells, with the [`shares`](crate::gate::shares) of the card of all sessions.
    #[must_use]
    pub fn cells(&self, shares: &[Axis]) -> Cells<T> {
        let measures = self.measures.iter().map(|(measure, tally)| (measure, tally));
        Cells::new(measures, self.tools.iter().map(|(tool, card)| (tool, card)), shares)
    }
}

impl<T> SessionCard<T> {
    /// All tools together.
    #[must_use]
    pub fn total(&self) -> ToolCard {
        let mut total = ToolCard::default();
        self.tools.iter().for_each(|(_, card)| total.merge(card));
        total
    }
}

/// The entries in order, with those of the same key added up.
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
