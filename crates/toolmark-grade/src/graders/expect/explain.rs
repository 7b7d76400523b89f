//! Explains a reading: rows, the first divergence, and suggested changes.

use super::Expect;
use super::links::Order;
use super::reading::{CallFacts, ExpectReading, Mood};
use super::verdict::PatternWords;
use toolmark_base::SortedSet;
use toolmark_match::call_match::{CallPattern, Difference, Prefixes};
use toolmark_match::engine::{CallColumn, Extras, Grid, align, assign};
use toolmark_outcome::TrajectoryView;
use toolmark_outcome::{Evidence, EvidenceRole};
use toolmark_outcome::{Explanation, ExplanationRow, RowState};

/// Maximum number of calls per expectation that get a row.
const CALLS_SHOWN: usize = 5;

/// Maximum length of a run of allowed extra calls that is shown in full; of longer runs only the
/// ends are shown.
const RUN_SHOWN: usize = 4;

/// Maximum number of extra calls that get a row, and of listed changes.
const LISTED: usize = 50;

/// Maximum number of pairs of call and expectation searched for near misses.
const MAX_PAIRS: usize = 1 << 20;

/// Explanation of a reading.
pub(super) struct Explained {
    pub(super) explanation: Explanation,
    pub(super) evidence: Vec<Evidence>,
}

/// Position of a row: at a call, or directly before one.
type RowPlace = (usize, bool);

/// An expectation without a call, and the range of calls in which one was expected.
struct Gap {
    pattern: usize,
    /// First possible call.
    from: usize,
    /// Call after the last possible one.
    to: usize,
    /// Call after which it was expected.
    after: Option<usize>,
    times: usize,
}

struct ExplanationWriter<'w, 't, 'a, 'v> {
    expect: &'w Expect,
    view: &'w TrajectoryView<'v>,
    known: &'w CallFacts<'t, 'a>,
    mood: Mood,
    reading: &'w ExpectReading,
    words: &'w PatternWords<'w>,
    /// Rows in order of creation, and the position of each.
    rows: Vec<ExplanationRow>,
    places: Vec<RowPlace>,
    repair: Vec<String>,
    evidence: Vec<Evidence>,
    /// Calls used by the sequence, and calls used by any expectation.
    in_order: CallColumn,
    used: CallColumn,
    /// Extra calls paired with an expectation that they nearly match.
    paired: SortedSet<usize>,
    elided: usize,
}

impl Explained {
    pub(super) fn new(
        expect: &Expect,
        view: &TrajectoryView<'_>,
        known: &CallFacts<'_, '_>,
        mood: Mood,
        reading: &ExpectReading,
        words: &PatternWords<'_>,
    ) -> Self {
        // Mostly one for each expectation, and a few that were not expected.
        let most_rows = reading.alignment.places.len() + expect.calls.len() + 8;
        let mut in_order = CallColumn::new(known.table.len());
        reading.alignment.calls().for_each(|call| in_order.set(call));
        let mut used = in_order.clone();
        reading.covered.iter().for_each(|covered| used.include(&covered.used));
        let mut writer = ExplanationWriter {
            in_order,
            used,
            expect,
            view,
            known,
            mood,
            reading,
            words,
            rows: Vec::with_capacity(most_rows),
            places: Vec::with_capacity(most_rows),
            repair: Vec::new(),
            evidence: Vec::new(),
            paired: SortedSet::new(),
            elided: 0,
        };
        writer.sequence();
        writer.calls();
        writer.violations();
        writer.extras();
        writer.finish()
    }
}

impl ExplanationWriter<'_, '_, '_, '_> {
    fn row(
        &mut self,
        place: RowPlace,
        expected: Option<String>,
        call: Option<usize>,
        state: RowState,
        why: Option<String>,
    ) {
        let call = call.and_then(|call| self.known.table.call_ref(self.view, call));
        let (expected, why) = (expected.map(Into::into), why.map(Into::into));
        self.places.push(place);
        self.rows.push(ExplanationRow { expected, call, state, why });
    }

    /// Adds the calls of an expectation.
    fn matched(&mut self, pattern: usize, calls: &[usize]) {
        let pattern_of = &self.expect.patterns[pattern];
        for &call in calls.iter().take(CALLS_SHOWN) {
            let is_sure = self.known.fits.sure[pattern].get(call);
            let (state, why) = match is_sure || self.mood == Mood::Worst {
                true => (RowState::Matched, None),
                false => (RowState::Unknown, self.open(pattern, call)),
            };
            // What agrees is only named: its values stand on both sides.
            let words = match state {
                RowState::Matched => pattern_of.title(),
                _ => pattern_of.to_string(),
            };
            if let (RowState::Unknown, Some(why)) = (state, &why) {
                let text = format!("may be {words}: {why}");
                let table = self.known.table;
                self.evidence.extend(table.evidence(self.view, EvidenceRole::Context, text, call));
            }
            self.places.push((call, true));
            self.rows.push(ExplanationRow {
                expected: Some(words.into()),
                call: match state {
                    RowState::Matched => self.known.table.pointer(call),
                    _ => self.known.table.call_ref(self.view, call),
                },
                state,
                why: why.map(Into::into),
            });
        }
        self.elided += calls.len().saturating_sub(CALLS_SHOWN);
    }

    /// Returns the missing fact that leaves open whether a call meets an expectation.
    fn open(&self, pattern: usize, call: usize) -> Option<String> {
        let open = self.known.fits.open.iter().find(|open| (open.0, open.1) == (pattern, call));
        Some(open.map_or("it cannot be told".to_owned(), |(_, _, lack)| lack.words().to_owned()))
    }

    fn sequence(&mut self) {
        let places = &self.reading.alignment.places;
        let mut next_starts = vec![self.known.table.len(); places.len()];
        let mut next = self.known.table.len();
        for (at, place) in places.iter().enumerate().rev() {
            next_starts[at] = next;
            next = place.calls.first().map_or(next, |first| next.min(*first));
        }
        let mut after: Option<usize> = None;
        let mut gaps = Vec::new();
        for (at, place) in places.iter().enumerate() {
            self.matched(place.id, &place.calls);
            let is_optional = self.expect.item(place.id).is_some_and(|item| item.optional);
            let from = after.map_or(0, |call| call + 1);
            if place.missing > 0 {
                let (pattern, times) = (place.id, place.missing);
                gaps.push(Gap { pattern, from, to: next_starts[at], after, times });
            } else if is_optional && place.calls.is_empty() {
                let words = format!("{} (optional)", self.expect.patterns[place.id]);
                self.row((from, false), Some(words), None, RowState::Skipped, None);
            }
            after = after.max(place.calls.last().copied());
        }
        self.gaps(gaps, true);
    }

    fn calls(&mut self) {
        let Some(covered) = &self.reading.covered else { return };
        let mut gaps = Vec::new();
        for (at, want) in self.expect.calls.iter().enumerate() {
            self.matched(want.pattern, &covered.calls[at]);
            let to = self.known.table.len();
            if covered.missing[at] > 0 {
                let (pattern, times) = (want.pattern, covered.missing[at]);
                gaps.push(Gap { pattern, from: 0, to, after: None, times });
            }
        }
        self.gaps(gaps, false);
    }

    /// Pairs missing expectations with calls that nearly match: the same tool, and
    /// not used otherwise. Then reports missing calls and wrong calls.
    fn gaps(&mut self, gaps: Vec<Gap>, is_ordered: bool) {
        let near = self.near_misses(&gaps, is_ordered);
        for (gap, near) in gaps.iter().zip(near) {
            let words = self.words.of(gap.pattern);
            let mut times = gap.times;
            if let Some(call) = near {
                times -= 1;
                self.paired.insert(call);
                let differences = self.differences(gap.pattern, call);
                let why = differences.iter().map(said).collect::<Vec<_>>().join("; ");
                let title = self.known.table.title(call);
                self.repair.push(change(&title, &differences));
                let evidence =
                    self.known.table.evidence(self.view, EvidenceRole::Mismatch, why.clone(), call);
                self.evidence.extend(evidence);
                self.row(
                    (call, true),
                    Some(words.to_string()),
                    Some(call),
                    RowState::Mismatched,
                    Some(why),
                );
            }
            if times == 0 {
                continue;
            }
            let words = match times {
                1 => words.to_string(),
                times => format!("{times} × {words}"),
            };
            let why = if is_ordered { self.misplaced(gap) } else { None };
            let place = match &gap.after {
                _ if !is_ordered => String::new(),
                Some(call) => format!(" after {}", self.known.table.title(*call)),
                None if gap.to < self.known.table.len() => {
                    format!(" before {}", self.known.table.title(gap.to))
                }
                None => String::new(),
            };
            self.repair.push(format!("call {words}{place}"));
            let said = why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            self.evidence.push(Evidence::absence(format!("{words} was not called{place}{said}")));
            let at = if is_ordered { gap.from } else { usize::MAX };
            self.row((at, false), Some(words), None, RowState::Missing, why);
        }
    }

    /// Returns a nearly matching call for every gap.
    fn near_misses(&self, gaps: &[Gap], is_ordered: bool) -> Vec<Option<usize>> {
        let table = self.known.table;
        let candidates: Vec<usize> =
            (0..table.len()).filter(|call| !self.used.get(*call)).collect();
        let pairs = candidates.len().max(table.names().len()).saturating_mul(gaps.len());
        if pairs > MAX_PAIRS {
            return vec![None; gaps.len()];
        }
        let mut grid = Grid::new(candidates.len(), gaps.len());
        for (at, gap) in gaps.iter().enumerate() {
            let parts = self.expect.links.parts(gap.pattern);
            let parts: Vec<_> = parts.into_iter().map(|part| &self.expect.patterns[part]).collect();
            let fitting = |part: &&CallPattern| {
                table.names().fitting(part.name(), Prefixes::MayBeLeftOut).yes
            };
            let names: SortedSet<u32> = parts.iter().flat_map(fitting).collect();
            let is_named = |call: usize| {
                names.contains(&table.calls()[call].name)
                    && parts.iter().any(|part| part.is_for(table, call))
            };
            for (n, &call) in candidates.iter().enumerate() {
                let is_here = (gap.from..gap.to).contains(&call);
                let is_paired = self.paired.contains(&call);
                if is_here && !is_paired && is_named(call) {
                    grid.set(n, at);
                }
            }
        }
        let found = match is_ordered {
            true => align(&grid).unwrap_or_else(|_| vec![None; gaps.len()]),
            false => assign(&grid),
        };
        found.into_iter().map(|n| n.map(|n| candidates[n])).collect()
    }

    fn differences(&self, pattern: usize, call: usize) -> Vec<Difference> {
        let table = self.known.table;
        let parts = self.expect.links.parts(pattern);
        let own = parts.iter().map(|part| &self.expect.patterns[*part]);
        let own = own.filter(|part| part.is_for(table, call)).map(|part| match part.refers() {
            true => part.with_values(&self.known.values).differences(table, call),
            false => part.differences(table, call),
        });
        let mut all = own.min_by_key(Vec::len).unwrap_or_default();
        let relations = self.expect.patterns[pattern].relations();
        let is_undone = table.undone().get(call);
        if all.is_empty() && !is_undone && !relations.is_empty() {
            all.push(Difference {
                what: "order".into(),
                expected: Some(relations.trim_start_matches(", ").to_owned()),
                found: Some("another place".into()),
            });
        }
        if all.is_empty() {
            let status = table.calls()[call].seen.call.status.word();
            all.push(Difference {
                what: "status".into(),
                expected: Some("one that counts as done".into()),
                found: Some(status.into()),
            });
        }
        all
    }

    /// Describes a call that matches the expectation but is in the wrong position.
    fn misplaced(&self, gap: &Gap) -> Option<String> {
        let column = self.known.wanted(gap.pattern, self.mood);
        let call = column.iter().take(LISTED).find(|call| !self.in_order.get(*call))?;
        let title = self.known.table.title(call);
        Some(match call < gap.from {
            true => format!("{title} comes too early"),
            false => format!("{title} comes too late"),
        })
    }

    fn violations(&mut self) {
        let mut all: Vec<(usize, String)> = Vec::new();
        let reading = self.reading;
        let patterns = &self.expect.patterns;
        all.extend(reading.unwanted.iter().map(|call| (*call, "no call was right".into())));
        for (&pattern, calls) in self.expect.forbidden.iter().zip(&reading.forbidden) {
            let why = format!("{} is forbidden", patterns[pattern]);
            all.extend(calls.iter().map(|call| (*call, why.clone())));
        }
        all.extend(reading.strays.iter().map(|call| (*call, "its tool is not allowed".into())));
        for call in all.iter().map(|(call, _)| *call).collect::<SortedSet<_>>() {
            self.repair.push(format!("remove {}", self.known.table.title(call)));
        }
        for calls in reading.sequences.iter().flatten() {
            if let [before @ .., last] = calls.as_slice() {
                let titles: Vec<String> =
                    before.iter().map(|call| self.known.table.title(*call)).collect();
                let why = match titles.is_empty() {
                    true => "it is forbidden".to_owned(),
                    false => format!("it must not follow {}", titles.join(" and ")),
                };
                all.push((*last, why));
                self.repair.push(format!("remove {}", self.known.table.title(*last)));
            }
        }
        for (never, calls) in self.expect.never.iter().zip(&reading.never) {
            let (word, other) = (never.word(), &patterns[never.other]);
            all.extend(calls.iter().map(|call| (*call, format!("it comes {word} {other}"))));
            if let (Some(first), Order::NotWith) = (calls.first(), never.order) {
                let title = self.known.table.title(*first);
                self.repair.push(format!("call {other} before {title}"));
            }
        }
        for &(at, fitting) in &reading.counted {
            let want = &self.expect.calls[at];
            let over = fitting.saturating_sub(want.max.unwrap_or(usize::MAX));
            if over > 0 {
                let pattern = &patterns[want.pattern];
                self.repair.push(format!("remove {over} of the {fitting} calls of {pattern}"));
            }
        }
        self.elided += all.len().saturating_sub(LISTED);
        for (call, why) in all.into_iter().take(LISTED) {
            self.row((call, true), None, Some(call), RowState::Forbidden, Some(why));
        }
    }

    fn extras(&mut self) {
        let is_forbidden = self.expect.extras == Extras::Forbidden;
        let extras: Vec<usize> = self
            .reading
            .extras
            .iter()
            .copied()
            .filter(|call| !self.paired.contains(call))
            .collect();
        let mut shown = 0;
        let mut start = 0;
        while start < extras.len() {
            let run = (start + 1..extras.len())
                .find(|at| extras[*at] != extras[at - 1] + 1)
                .unwrap_or(extras.len());
            let length = run - start;
            for (at, &call) in extras[start..run].iter().enumerate() {
                let is_end = at < RUN_SHOWN / 2 || at + RUN_SHOWN / 2 >= length;
                if shown == LISTED || !(is_forbidden || is_end) {
                    self.elided += 1;
                    continue;
                }
                shown += 1;
                self.row((call, true), None, Some(call), RowState::Extra, None);
            }
            start = run;
        }
        if is_forbidden {
            let titles = extras.iter().map(|call| self.known.table.title(*call));
            self.repair.extend(titles.map(|title| format!("remove {title}")).take(LISTED));
        }
    }

    fn finish(mut self) -> Explained {
        let rows = in_place(self.rows, self.places);
        let is_forbidden = self.expect.extras == Extras::Forbidden;
        let divergence = rows.iter().position(|row| match row.state {
            RowState::Matched | RowState::Skipped => false,
            RowState::Extra => is_forbidden,
            RowState::Mismatched | RowState::Missing | RowState::Forbidden | RowState::Unknown => {
                true
            }
        });
        // A call may be forbidden and extra at once.
        let mut told = SortedSet::new();
        self.repair.retain(|change| told.insert(change.clone()));
        if self.repair.len() > LISTED {
            let more = self.repair.len() - LISTED;
            self.repair.truncate(LISTED);
            self.repair.push(format!("and {more} more changes"));
        }
        let repair = self.repair.into_iter().map(Into::into).collect();
        let explanation = Explanation { rows, elided: self.elided, divergence, repair };
        Explained { explanation, evidence: self.evidence }
    }
}

/// Sorts the rows by position. Rows are large, and mostly only a few are added late: those
/// are inserted, and all rows are sorted only if there are many.
fn in_place(mut rows: Vec<ExplanationRow>, mut places: Vec<RowPlace>) -> Vec<ExplanationRow> {
    const FEW: usize = 8;
    let mut furthest = (0, false);
    let late = places.iter().filter(|place| {
        furthest = furthest.max(**place);
        **place < furthest
    });
    if late.count() > FEW {
        let mut placed: Vec<(RowPlace, ExplanationRow)> = places.into_iter().zip(rows).collect();
        placed.sort_by_key(|(place, _)| *place);
        return placed.into_iter().map(|(_, row)| row).collect();
    }
    for at in 1..places.len() {
        let (before, place) = (&places[..at], places[at]);
        if before.last().is_some_and(|last| place < *last) {
            let to = before.partition_point(|other| *other <= place);
            places[to..=at].rotate_right(1);
            rows[to..=at].rotate_right(1);
        }
    }
    rows
}

/// Formats a difference as a fragment.
fn said(difference: &Difference) -> String {
    let Difference { what, expected, found } = difference;
    match (expected, found) {
        (Some(expected), Some(found)) => format!("{what} is {found}, expected {expected}"),
        (Some(expected), None) => format!("{what} is missing, expected {expected}"),
        (None, Some(found)) => format!("{what} is {found} and was not expected"),
        (None, None) => format!("{what} differs"),
    }
}

/// Describes how to change a call.
fn change(title: &str, differences: &[Difference]) -> String {
    let mut changes: Vec<String> = Vec::new();
    for Difference { what, expected, found } in differences {
        let of = if changes.is_empty() { format!(" of {title}") } else { String::new() };
        changes.push(match (expected, found) {
            (Some(expected), Some(found)) => format!("{what}{of} from {found} to {expected}"),
            (Some(expected), None) => format!("{what}{of} from nothing to {expected}"),
            (None, Some(found)) => format!("{what}{of} from {found} to nothing"),
            (None, None) => format!("{what}{of}"),
        });
    }
    format!("change {}", changes.join(" and "))
}
