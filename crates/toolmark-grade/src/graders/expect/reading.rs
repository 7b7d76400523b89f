//! Compares the expectations with the calls.

use super::links::Linker;
use super::{Expect, Follows};
use serde_json::Value;
use std::borrow::Cow;
use toolmark_config::CompactString;
use toolmark_match::call_match::{
    CallPattern, CallTable, Fits, NamePattern, Prefixes, Truth, fits,
};
use toolmark_match::engine::{
    Alignment, CallColumn, Covered, Extras, MatchedCalls, TooLarge, Want, arrange, cover,
};

/// Maximum number of compared pairs of allowed tool and called tool.
const MAX_NAMES: usize = 1 << 24;

/// Maximum number of calls that are compared again for the values that calls bind.
const MAX_COMPARED: usize = 1 << 22;

/// Known facts about the calls.
#[derive(Clone)]
pub(super) struct CallFacts<'t, 'a> {
    pub(super) table: &'t CallTable<'a>,
    /// Calls that meet an expectation and, if required, count as done.
    pub(super) fits: Fits,
    /// Failed attempts at expected calls.
    pub(super) attempts: CallColumn,
    /// Calls of allowed tools: certain, and possible.
    allowed: (CallColumn, CallColumn),
    /// Values that expected calls bind, in the best combination.
    pub(super) values: Vec<(CompactString, Vec<Value>)>,
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
pub(super) struct ExpectReading {
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

impl<'t, 'a> CallFacts<'t, 'a> {
    pub(super) fn new(expect: &Expect, table: &'t CallTable<'a>) -> Result<Self, TooLarge> {
        let patterns: Vec<_> = expect.patterns.iter().collect();
        let mut fits = fits(&patterns, table, Prefixes::MayBeLeftOut)?;
        if let Some(uncounted) = table.uncounted() {
            for pattern in expect.expected().flat_map(|pattern| expect.links.parts(pattern)) {
                fits.exclude(pattern, &uncounted);
            }
        }
        if expect.forbids_calls() {
            expect.suspect(&mut fits, table);
        }
        let attempts = match table.undone().is_empty() {
            true => CallColumn::new(table.len()),
            false => expect.attempts(&mut fits, table),
        };
        if !expect.links.is_empty() {
            expect.link(&mut fits, table)?;
        }
        let allowed = expect.allowed(table)?;
        Ok(Self { table, fits, attempts, allowed, values: Vec::new() })
    }

    /// Whether every question about a call is decided.
    pub(super) fn is_certain(&self) -> bool {
        self.fits.is_certain() && self.allowed.0 == self.allowed.1
    }

    /// Returns the calls that count as meeting an expectation.
    pub(super) fn wanted(&self, pattern: usize, mood: Mood) -> &CallColumn {
        match mood {
            Mood::Worst => &self.fits.sure[pattern],
            Mood::Best => self.fits.possible(pattern),
        }
    }

    /// Returns the calls that count as meeting each expectation.
    fn columns(&self, mood: Mood) -> Cow<'_, [CallColumn]> {
        if mood == Mood::Worst || self.fits.is_certain() {
            return Cow::Borrowed(&self.fits.sure);
        }
        let all = 0..self.fits.sure.len();
        Cow::Owned(all.map(|pattern| self.wanted(pattern, mood).clone()).collect())
    }

    /// Returns the calls that count as matching a forbidden pattern.
    fn unwanted(&self, pattern: usize, mood: Mood) -> &CallColumn {
        match mood {
            Mood::Worst => self.fits.possible(pattern),
            Mood::Best => &self.fits.sure[pattern],
        }
    }
}

impl Expect {
    /// Removes calls without effect from those that meet an expectation, and returns them as
    /// attempts.
    fn attempts(&self, fits: &mut Fits, table: &CallTable<'_>) -> CallColumn {
        let mut attempts = CallColumn::new(table.len());
        for pattern in self.expected().flat_map(|pattern| self.links.parts(pattern)) {
            attempts.include(fits.possible(pattern));
            self.count_done(pattern, fits, table);
        }
        for pattern in self.links.others().flat_map(|pattern| self.links.parts(pattern)) {
            self.count_done(pattern, fits, table);
        }
        if self.counts_failed {
            return CallColumn::new(table.len());
        }
        let done = CallColumn::from_fn(table.len(), |call| !table.undone().get(call));
        attempts.exclude(&done);
        attempts
    }

    /// Returns the patterns of expected calls.
    fn expected(&self) -> impl Iterator<Item = usize> {
        let leaves = self.leaves.iter().map(|leaf| leaf.item.id);
        leaves.chain(self.calls.iter().map(|want| want.pattern))
    }

    /// Narrows the calls of each pattern to those that are linked with others as it asks.
    fn link(&self, fits: &mut Fits, table: &CallTable<'_>) -> Result<(), TooLarge> {
        for (pattern, parts) in self.links.unions() {
            let (mut sure, mut possible) =
                (CallColumn::new(table.len()), CallColumn::new(table.len()));
            for part in parts {
                sure.include(&fits.sure[*part]);
                possible.include(fits.possible(*part));
            }
            fits.set(pattern, sure, possible);
        }
        let linker = Linker::new(&self.links, &self.patterns, table, fits);
        let others: Vec<usize> = self.links.others().collect();
        let mut narrowed = Vec::new();
        for pattern in self.links.patterns().filter(|pattern| !others.contains(pattern)) {
            narrowed.push((pattern, linker.columns(pattern, &[])?));
        }
        for (pattern, (sure, possible)) in narrowed {
            fits.set(pattern, sure, possible);
        }
        Ok(())
    }

    /// Returns what is known with the values that expected calls bind: the combination with which
    /// the fewest expected calls are missing.
    pub(super) fn bound<'k, 't, 'a>(
        &self,
        known: &'k CallFacts<'t, 'a>,
        mood: Mood,
    ) -> Result<Cow<'k, CallFacts<'t, 'a>>, TooLarge> {
        if !self.binds {
            return Ok(Cow::Borrowed(known));
        }
        let linker = Linker::new(&self.links, &self.patterns, known.table, &known.fits);
        let all = linker.combinations(self.expected())?;
        let linked: Vec<usize> = self
            .expected()
            .filter(|pattern| {
                let parts = self.links.parts(*pattern);
                self.links.of(*pattern).is_some()
                    || parts.iter().any(|part| self.patterns[*part].refers())
            })
            .collect();
        if all.len().saturating_mul(known.table.len()) > MAX_COMPARED {
            return Err(TooLarge);
        }
        let mut best: Option<(usize, CallFacts<'t, 'a>)> = None;
        for values in all {
            let mut with = known.clone();
            for pattern in &linked {
                let (sure, possible) = linker.columns(*pattern, &values)?;
                with.fits.set(*pattern, sure, possible);
            }
            with.values = values;
            let (alignment, covered) = self.align(&with, mood)?;
            let missing = alignment.missing()
                + covered.iter().flat_map(|covered| &covered.missing).sum::<usize>();
            if best.as_ref().is_none_or(|(least, _)| missing < *least) {
                best = Some((missing, with));
            }
            if missing == 0 {
                break;
            }
        }
        Ok(best.map_or(Cow::Borrowed(known), |(_, known)| Cow::Owned(known)))
    }

    /// Returns the calls of allowed tools, certain and possible; both are empty if every tool
    /// is allowed.
    fn allowed(&self, table: &CallTable<'_>) -> Result<(CallColumn, CallColumn), TooLarge> {
        let (mut sure, mut maybe) = (CallColumn::new(table.len()), CallColumn::new(table.len()));
        if self.only.is_empty() {
            return Ok((sure, maybe));
        }
        if self.only.len().saturating_mul(table.names().len()) > MAX_NAMES {
            return Err(TooLarge);
        }
        let mut is_allowed = vec![(false, false); table.names().len()];
        let mut classes = Vec::new();
        for name in &self.only {
            if let NamePattern::Class(_) = name {
                classes.push(CallPattern::named(name.clone()));
                continue;
            }
            let fitting = table.names().fitting(name, Prefixes::AreNeeded);
            for number in fitting.yes {
                is_allowed[number as usize] = (true, true);
            }
            for number in fitting.unknown {
                is_allowed[number as usize].1 = true;
            }
        }
        for (call, made) in table.calls().iter().enumerate() {
            let (mut is_sure, mut may_be) = is_allowed[made.name as usize];
            for class in &classes {
                let truth = class.fits(table, call);
                is_sure |= truth == Truth::Yes;
                may_be |= truth != Truth::No;
            }
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
    pub(super) fn read(
        &self,
        known: &CallFacts<'_, '_>,
        mood: Mood,
    ) -> Result<ExpectReading, TooLarge> {
        let table = known.table;
        let (alignment, covered) = self.align(known, mood)?;
        let mut used = CallColumn::new(table.len());
        alignment.calls().for_each(|call| used.set(call));
        if let Some(covered) = &covered {
            used.include(&covered.used);
        }
        let extras = match self.expects_calls() {
            false => Vec::new(),
            true => (0..table.len())
                .filter(|call| !used.get(*call) && !known.attempts.get(*call))
                .filter(|call| table.counts(*call))
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
        Ok(ExpectReading {
            alignment,
            covered,
            counted,
            extras,
            strays,
            forbidden,
            sequences: self
                .sequences
                .iter()
                .map(|one| self.followed_by(one, known, mood))
                .collect::<Result<_, _>>()?,
            never: self
                .never
                .iter()
                .map(|one| known.unwanted(one.call, mood).iter().collect())
                .collect(),
            unwanted: if self.is_none { (0..table.len()).collect() } else { Vec::new() },
        })
    }

    /// Returns the best alignment of the sequence, and the best cover of the rest.
    fn align(
        &self,
        known: &CallFacts<'_, '_>,
        mood: Mood,
    ) -> Result<(Alignment, Option<Covered>), TooLarge> {
        let columns = known.columns(mood);
        let first = self.align_with(&columns, &columns, known)?;
        let leftover = |(alignment, covered): &(Alignment, Option<Covered>)| {
            let mut used = CallColumn::new(known.table.len());
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
        in_order: &[CallColumn],
        columns: &[CallColumn],
        known: &CallFacts<'_, '_>,
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
        let mut elsewhere = CallColumn::new(known.table.len());
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
    fn take_more(&self, alignment: &mut Alignment, columns: &[CallColumn]) {
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
                let mut all: MatchedCalls = further.chain(own).collect();
                all.sort_unstable();
                all.dedup();
                place.calls = all;
            }
            from = place.calls.last().map_or(from, |last| from.max(last + 1));
        }
    }
}

impl Expect {
    /// Returns the first calls that form a forbidden sequence.
    fn followed_by(
        &self,
        follows: &Follows,
        known: &CallFacts<'_, '_>,
        mood: Mood,
    ) -> Result<Option<Vec<usize>>, TooLarge> {
        let patterns = || follows.patterns.iter().copied();
        if !follows.is_bound {
            let columns: Vec<&CallColumn> = patterns().map(|p| known.unwanted(p, mood)).collect();
            return Ok(follows.found(&columns, known.table));
        }
        let linker = Linker::new(&self.links, &self.patterns, known.table, &known.fits);
        for values in linker.combinations(patterns())? {
            let columns: Result<Vec<CallColumn>, TooLarge> = patterns()
                .map(|pattern| {
                    let (sure, possible) = linker.columns(pattern, &values)?;
                    Ok(if mood == Mood::Worst { possible } else { sure })
                })
                .collect();
            let columns = columns?;
            let found = follows.found(&columns.iter().collect::<Vec<_>>(), known.table);
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

impl Follows {
    /// Returns the first calls of these columns that form the sequence.
    fn found(&self, columns: &[&CallColumn], table: &CallTable<'_>) -> Option<Vec<usize>> {
        if self.is_contiguous {
            let first = columns.first()?;
            let start = first.iter().find(|start| {
                columns.iter().enumerate().all(|(n, column)| column.get(start + n))
            })?;
            return Some((start..start + columns.len()).collect());
        }
        let batches = table.batches();
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
