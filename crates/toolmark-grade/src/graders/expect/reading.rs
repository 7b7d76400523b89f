//! Compares the expectations with the calls.

use super::{Expect, Follows, Never};
use std::borrow::Cow;
use toolmark_match::call_match::{CallTable, Fits, Prefixes, fits};
use toolmark_match::engine::{
    Alignment, Calls, Column, Covered, Extras, TooLarge, Want, arrange, cover,
};

/// Maximum number of compared pairs of allowed tool and called tool.
const MAX_NAMES: usize = 1 << 24;

/// Known facts about the calls.
pub(super) struct Known<'t, 'a> {
    pub(super) table: &'t CallTable<'a>,
    /// Calls that meet an expectation and, if required, count as done.
    pub(super) fits: Fits,
    /// Failed attempts at expected calls.
    pub(super) attempts: Column,
    /// Calls of allowed tools: certain, and possible.
    allowed: (Column, Column),
}

/// Interpretation of open questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    /// Against the agent.
    Worst,
    /// In the agent's favour.
    Best,
}

/// Result of every expectation.
pub(super) struct Reading {
    pub(super) alignment: Alignment,
    pub(super) covered: Option<Covered>,
    /// For every expectation with a `max`: its index in `calls`, and the number of matching calls.
    pub(super) counted: Vec<(usize, usize)>,
    /// Calls that match no expectation.
    pub(super) extras: Vec<usize>,
    /// Calls of tools that are not allowed.
    pub(super) strays: Vec<usize>,
    /// Calls made, per forbidden call.
    pub(super) forbidden: Vec<Vec<usize>>,
    /// Calls that form the sequence, per forbidden sequence.
    pub(super) sequences: Vec<Option<Vec<usize>>>,
    /// Calls that were made too early, per `never` rule.
    pub(super) never: Vec<Vec<usize>>,
    /// All calls, if no call was allowed.
    pub(super) unwanted: Vec<usize>,
}

impl<'t, 'a> Known<'t, 'a> {
    pub(super) fn new(expect: &Expect, table: &'t CallTable<'a>) -> Result<Self, TooLarge> {
        let patterns: Vec<_> = expect.patterns.iter().collect();
        let mut fits = fits(&patterns, table, Prefixes::MayBeLeftOut)?;
        let attempts = match table.undone().is_empty() {
            true => Column::new(table.len()),
            false => expect.attempts(&mut fits, table),
        };
        let allowed = expect.allowed(table)?;
        Ok(Self { table, fits, attempts, allowed })
    }

    /// Whether every question about a call is decided.
    pub(super) fn is_certain(&self) -> bool {
        self.fits.is_certain() && self.allowed.0 == self.allowed.1
    }

    /// Returns the calls that count as meeting an expectation.
    pub(super) fn wanted(&self, pattern: usize, mood: Mood) -> &Column {
        match mood {
            Mood::Worst => &self.fits.sure[pattern],
            Mood::Best => self.fits.possible(pattern),
        }
    }

    /// Returns the calls that count as meeting each expectation.
    fn columns(&self, mood: Mood) -> Cow<'_, [Column]> {
        if mood == Mood::Worst || self.fits.is_certain() {
            return Cow::Borrowed(&self.fits.sure);
        }
        let all = 0..self.fits.sure.len();
        Cow::Owned(all.map(|pattern| self.wanted(pattern, mood).clone()).collect())
    }

    /// Returns the calls that count as matching a forbidden pattern.
    fn unwanted(&self, pattern: usize, mood: Mood) -> &Column {
        match mood {
            Mood::Worst => self.fits.possible(pattern),
            Mood::Best => &self.fits.sure[pattern],
        }
    }
}

impl Expect {
    /// Removes calls without effect from those that meet an expectation, and returns them as
    /// attempts.
    fn attempts(&self, fits: &mut Fits, table: &CallTable<'_>) -> Column {
        let mut attempts = Column::new(table.len());
        let expected = self.leaves.iter().map(|leaf| leaf.item.id);
        let expected = expected.chain(self.calls.iter().map(|want| want.pattern));
        for pattern in expected {
            attempts.include(fits.possible(pattern));
            self.count_done(pattern, fits, table);
        }
        for never in &self.never {
            self.count_done(never.before, fits, table);
        }
        if self.counts_failed {
            return Column::new(table.len());
        }
        let done = Column::from_fn(table.len(), |call| !table.undone().get(call));
        attempts.exclude(&done);
        attempts
    }

    /// Returns the calls of allowed tools, certain and possible; both are empty if every tool
    /// is allowed.
    fn allowed(&self, table: &CallTable<'_>) -> Result<(Column, Column), TooLarge> {
        let (mut sure, mut maybe) = (Column::new(table.len()), Column::new(table.len()));
        if self.only.is_empty() {
            return Ok((sure, maybe));
        }
        if self.only.len().saturating_mul(table.names().len()) > MAX_NAMES {
            return Err(TooLarge);
        }
        let mut is_allowed = vec![(false, false); table.names().len()];
        for name in &self.only {
            let fitting = table.names().fitting(name, Prefixes::AreNeeded);
            for number in fitting.yes {
                is_allowed[number as usize] = (true, true);
            }
            for number in fitting.unknown {
                is_allowed[number as usize].1 = true;
            }
        }
        for (call, made) in table.calls().iter().enumerate() {
            let (is_sure, may_be) = is_allowed[made.name as usize];
            if is_sure {
                sure.set(call);
            }
            if may_be {
                maybe.set(call);
            }
        }
        Ok((sure, maybe))
    }

    /// Removes calls without effect, unless the expectation has its own rule for the status.
    fn count_done(&self, pattern: usize, fits: &mut Fits, table: &CallTable<'_>) {
        if !self.counts_failed && !self.patterns[pattern].names_status() {
            fits.exclude(pattern, table.undone());
        }
    }

    /// Compares the expectations with the calls.
    pub(super) fn read(&self, known: &Known<'_, '_>, mood: Mood) -> Result<Reading, TooLarge> {
        let table = known.table;
        let (alignment, covered) = self.align(known, mood)?;
        let mut used = Column::new(table.len());
        alignment.calls().for_each(|call| used.set(call));
        if let Some(covered) = &covered {
            used.include(&covered.used);
        }
        let extras = match self.expects_calls() {
            false => Vec::new(),
            true => (0..table.len())
                .filter(|call| !used.get(*call) && !known.attempts.get(*call))
                .collect(),
        };
        let counted = self
            .calls
            .iter()
            .enumerate()
            .filter(|(_, want)| want.max.is_some())
            .map(|(at, want)| (at, known.unwanted(want.pattern, mood).count()))
            .collect();
        let allowed = if mood == Mood::Worst { &known.allowed.0 } else { &known.allowed.1 };
        let strays = match self.only.is_empty() {
            true => Vec::new(),
            false => (0..table.len()).filter(|call| !allowed.get(*call)).collect(),
        };
        let forbidden =
            self.forbidden.iter().map(|p| known.unwanted(*p, mood).iter().collect()).collect();
        Ok(Reading {
            alignment,
            covered,
            counted,
            extras,
            strays,
            forbidden,
            sequences: self.sequences.iter().map(|one| one.found(known, mood)).collect(),
            never: self.never.iter().map(|one| one.found(known, mood)).collect(),
            unwanted: if self.is_none { (0..table.len()).collect() } else { Vec::new() },
        })
    }

    /// Returns the best alignment of the sequence, and the best cover of the rest.
    fn align(
        &self,
        known: &Known<'_, '_>,
        mood: Mood,
    ) -> Result<(Alignment, Option<Covered>), TooLarge> {
        let columns = known.columns(mood);
        let first = self.align_with(&columns, &columns, known)?;
        let leftover = |(alignment, covered): &(Alignment, Option<Covered>)| {
            let mut used = Column::new(known.table.len());
            alignment.calls().for_each(|call| used.set(call));
            covered.iter().for_each(|covered| used.include(&covered.used));
            known.table.len() - used.count()
        };
        if self.extras == Extras::Allowed || first.1.is_none() || leftover(&first) == 0 {
            return Ok(first);
        }
        // Calls that `calls` can use are left to it, if the sequence is not worse.
        let mut others = columns.to_vec();
        for leaf in &self.leaves {
            for want in &self.calls {
                others[leaf.item.column].exclude(&columns[want.pattern]);
            }
        }
        let second = self.align_with(&others, &columns, known)?;
        let is_better =
            second.0.missing() <= first.0.missing() && leftover(&second) < leftover(&first);
        Ok(if is_better { second } else { first })
    }

    fn align_with(
        &self,
        in_order: &[Column],
        columns: &[Column],
        known: &Known<'_, '_>,
    ) -> Result<(Alignment, Option<Covered>), TooLarge> {
        let batches = known.table.batches();
        let mut alignment = match &self.sequence {
            Some(sequence) => arrange(sequence, in_order, batches, self.extras)?,
            None => Alignment::default(),
        };
        if self.extras == Extras::Allowed {
            self.take_more(&mut alignment, in_order);
        }
        if !self.has_calls {
            return Ok((alignment, None));
        }
        let mut elsewhere = Column::new(known.table.len());
        alignment.calls().for_each(|call| elsewhere.set(call));
        let wants: Vec<Want> = self
            .calls
            .iter()
            .map(|want| Want { column: want.pattern, count: want.min, more: want.more })
            .collect();
        let covered = cover(&wants, columns, &elsewhere)?;
        Ok((alignment, Some(covered)))
    }

    /// Gives expectations with a minimum the additional calls
    /// between their neighbours. (If extra calls are forbidden, this is
    /// part of the alignment.)
    fn take_more(&self, alignment: &mut Alignment, columns: &[Column]) {
        if !self.leaves.iter().any(|leaf| leaf.item.more) {
            return;
        }
        let ends: Vec<Option<(usize, usize)>> = alignment
            .places
            .iter()
            .map(|place| Some((*place.calls.first()?, *place.calls.last()?)))
            .collect();
        let mut next_starts = vec![usize::MAX; ends.len()];
        let mut next = usize::MAX;
        for (at, end) in ends.iter().enumerate().rev() {
            next_starts[at] = next;
            next = end.map_or(next, |(first, _)| first.min(next));
        }
        let mut from = 0;
        for (at, place) in alignment.places.iter_mut().enumerate() {
            let takes_more = self.item(place.id).is_some_and(|item| item.more);
            if takes_more && !place.calls.is_empty() {
                let own = std::mem::take(&mut place.calls);
                let further = columns[place.id]
                    .iter()
                    .skip_while(|call| *call < from)
                    .take_while(|call| *call < next_starts[at]);
                let mut all: Calls = further.chain(own).collect();
                all.sort_unstable();
                all.dedup();
                place.calls = all;
            }
            from = place.calls.last().map_or(from, |last| from.max(last + 1));
        }
    }
}

impl Follows {
    /// Returns the first calls that form the sequence.
    fn found(&self, known: &Known<'_, '_>, mood: Mood) -> Option<Vec<usize>> {
        let columns: Vec<&Column> =
            self.patterns.iter().map(|pattern| known.unwanted(*pattern, mood)).collect();
        if self.is_contiguous {
            let first = columns.first()?;
            let start = first.iter().find(|start| {
                columns.iter().enumerate().all(|(n, column)| column.get(start + n))
            })?;
            return Some((start..start + columns.len()).collect());
        }
        let batches = known.table.batches();
        let mut calls = Vec::with_capacity(columns.len());
        let mut from = 0;
        for column in columns {
            let call = column.next(from)?;
            calls.push(call);
            from = batches.end(batches.of(call));
        }
        Some(calls)
    }
}

impl Never {
    /// Returns the calls that were made too early.
    fn found(&self, known: &Known<'_, '_>, mood: Mood) -> Vec<usize> {
        let batches = known.table.batches();
        let opposite = known.wanted(self.before, mood);
        let end = match opposite.next(0) {
            Some(first) => batches.start(batches.of(first)),
            None => known.table.len(),
        };
        known.unwanted(self.call, mood).iter().take_while(|call| *call < end).collect()
    }
}
