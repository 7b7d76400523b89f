//! The search behind [`super::arrange`].
//!
//! While the search walks along the sequence, only undominated paths are kept:
//! a path dominates another if it gained at least as much and is at an earlier
//! call. There are never more paths than distinct gains, and the whole search
//! costs about the square of the length of the sequence, however many calls
//! there are.
//!
//! A first, narrow search that keeps only the best few paths gives a lower bound
//! for the answer; the full search skips paths that can no longer reach it.
//!
//! Calls of one batch have no order. A path within a batch remembers
//! the expectations that hold calls of it (and how these could be exchanged);
//! the next expectation is met in the same batch if all of them still find a call.
//! A required expectation that can be met in the current batch always is:
//! meeting it costs at most one later expectation its call, so nothing is lost.
//! An optional one is met too, and gives its call back when a required one
//! needs it. Both are the exchange property of matchings.

use super::align::TooLarge;
use super::batches::Batches;
use super::column::CallColumn;
use super::room::{Added, Held, Room};
use super::sequence::{Alignment, Element, ExpectationMatch, ExpectedItem, Extras, MatchedCalls};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Maximum number of remembered paths: some 250 MB.
const MAX_STATES: usize = 1 << 22;

/// Maximum number of inspected calls: about a second.
const MAX_WORK: usize = 1 << 26;

/// Number of paths that the narrow search keeps.
const NARROW: usize = 6;

/// Gain of a path, compared in field order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Gain {
    /// Missing calls count against it; if extras are forbidden, every matched call counts for it.
    top: i64,
    required: i32,
    optional: i32,
}

impl Gain {
    const MIN: Self = Self { top: i64::MIN, required: 0, optional: 0 };

    fn plus(self, other: Self) -> Self {
        Self {
            top: self.top.saturating_add(other.top),
            required: self.required.saturating_add(other.required),
            optional: self.optional.saturating_add(other.optional),
        }
    }

    fn minus(self, other: Self) -> Self {
        let negative =
            Self { top: -other.top, required: -other.required, optional: -other.optional };
        self.plus(negative)
    }

    fn missing(count: usize) -> Self {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        Self { top: -count, ..Self::default() }
    }
}

/// Position and gain of a path.
#[derive(Clone, Copy)]
struct FrontierState {
    gain: Gain,
    /// Current batch, from 1; 0 before the first.
    batch: u32,
    /// Expectations that hold calls of this batch: a range of `Frontier::held`.
    held: (u32, u32),
    parent: u32,
    visit: Visit,
    /// Whether the path has left the batch of its parent.
    moved: bool,
}

/// State of a path that leaves a group.
#[derive(Clone, Copy)]
struct Leaving {
    way: u32,
    group: u32,
    batch: u32,
    moved: bool,
    /// Number of expectations in the group for which no call can exist.
    absent: usize,
}

/// The last element on a path.
#[derive(Clone, Copy)]
enum Visit {
    Start,
    /// One of the calls that an item expects, or all calls of it that cannot exist.
    Item(u32),
    /// A group, by number.
    Group(u32),
}

pub(super) struct Frontier<'a> {
    columns: &'a [CallColumn],
    batches: &'a Batches,
    extras: Extras,
    room: Room<'a>,
    states: Vec<FrontierState>,
    held: Vec<Held>,
    items: Vec<ExpectedItem>,
    groups: Vec<Vec<u32>>,
    /// Maximum number of paths kept.
    width: usize,
    /// Lower bound for the gain of the best path.
    floor: i64,
    /// Maximum number of further calls that the rest of the sequence can take.
    left: i64,
}

impl<'a> Frontier<'a> {
    pub(super) fn new(columns: &'a [CallColumn], batches: &'a Batches, extras: Extras) -> Self {
        Self {
            columns,
            batches,
            extras,
            room: Room::new(columns, batches.calls()),
            states: Vec::new(),
            held: Vec::new(),
            items: Vec::new(),
            groups: Vec::new(),
            width: usize::MAX,
            floor: i64::MIN,
            left: 0,
        }
    }

    /// Returns the best alignment.
    pub(super) fn solve(
        sequence: &[Element],
        columns: &[CallColumn],
        batches: &Batches,
        extras: Extras,
    ) -> Result<Alignment, TooLarge> {
        let mut narrow = Frontier::new(columns, batches, extras);
        narrow.width = NARROW;
        let Some(good) = narrow.best(sequence)? else { return Ok(Alignment::default()) };
        let mut full = Frontier::new(columns, batches, extras);
        full.floor = narrow.states[good as usize].gain.top;
        full.room.work = narrow.room.work;
        let best = full.best(sequence)?;
        Ok(best.map(|end| full.trace(end)).unwrap_or_default())
    }

    /// Returns the end of the best path.
    fn best(&mut self, sequence: &[Element]) -> Result<Option<u32>, TooLarge> {
        let start = FrontierState {
            gain: Gain::default(),
            batch: 0,
            held: (0, 0),
            parent: 0,
            visit: Visit::Start,
            moved: false,
        };
        self.states.push(start);
        let mut ways = vec![0];
        let calls = self.batches.calls();
        self.left = takes(sequence, calls);
        for element in sequence {
            let element = std::slice::from_ref(element);
            ways = self.walk(element, ways)?;
            self.left -= takes(element, calls);
        }
        Ok(ways.into_iter().max_by_key(|end| {
            let state = &self.states[*end as usize];
            (state.gain, Reverse(state.batch))
        }))
    }

    /// Whether a path can still become the best. Missing calls stay missing; if matched calls
    /// count, only a limited number of calls remains.
    fn may_win(&self, gain: Gain, batch: u32) -> bool {
        let more = match self.extras {
            Extras::Allowed => 0,
            Extras::Forbidden => {
                let (from, _) = self.window(batch).unwrap_or_default();
                self.left.min((self.batches.calls() - from) as i64)
            }
        };
        gain.top.saturating_add(more) >= self.floor
    }

    /// Returns the gain of meeting an expectation.
    fn worth(&self, optional: bool) -> Gain {
        let top = i64::from(self.extras == Extras::Forbidden);
        Gain { top, required: i32::from(!optional), optional: i32::from(optional) }
    }

    /// Walks a sequence from all paths. Sequences nest no deeper than the configuration they come
    /// from.
    fn walk(&mut self, sequence: &[Element], mut ways: Vec<u32>) -> Result<Vec<u32>, TooLarge> {
        for element in sequence {
            ways = match element {
                Element::Item(item) => self.item(item, ways)?,
                Element::AnyOrder(items) => self.group(items, ways)?,
                Element::OneOf(branches) => {
                    let mut all = Vec::new();
                    for branch in branches {
                        all.extend(self.walk(branch, ways.clone())?);
                    }
                    self.prune(all)?
                }
                Element::Optional(inner) => {
                    let mut all = self.walk(inner, ways.clone())?;
                    all.extend(ways);
                    self.prune(all)?
                }
            };
        }
        Ok(ways)
    }

    fn item(&mut self, item: &ExpectedItem, mut ways: Vec<u32>) -> Result<Vec<u32>, TooLarge> {
        let number = self.number(item);
        let there = item.count.min(self.columns[item.column].count());
        for _ in 0..there {
            let mut next = Vec::with_capacity(ways.len() + 1);
            for way in ways {
                self.meet(way, number, &mut next)?;
            }
            ways = self.prune(next)?;
        }
        let absent = item.count - there;
        if absent > 0 && !item.optional {
            let visit = Visit::Item(number);
            for way in &mut ways {
                let state = self.states[*way as usize];
                let gain = state.gain.plus(Gain::missing(absent));
                *way =
                    self.push(FrontierState { gain, parent: *way, visit, moved: false, ..state })?;
            }
        }
        if item.more && self.extras == Extras::Forbidden {
            ways = self.further(item, ways)?;
        }
        Ok(ways)
    }

    fn number(&mut self, item: &ExpectedItem) -> u32 {
        self.items.push(*item);
        self.items.len() as u32 - 1
    }

    /// Advances past one expectation: with a call of this batch, with a call of a
    /// later batch, or without a call.
    fn meet(&mut self, way: u32, number: u32, next: &mut Vec<u32>) -> Result<(), TooLarge> {
        let item = self.items[number as usize];
        let state = self.states[way as usize];
        let gain = state.gain.plus(self.worth(item.optional));
        let visit = Visit::Item(number);
        let mut is_met = false;
        if let Some((mut held, new)) = self.beside(&state, number) {
            let met = match self.room.add(&mut held, new, !item.optional) {
                Added::Yes => Some((gain, true)),
                Added::Instead => Some((gain.minus(self.worth(true)), false)),
                Added::No => None,
            };
            if let Some((gain, is_best)) = met {
                let held = self.keep(&held);
                let state = FrontierState { gain, held, parent: way, visit, moved: false, ..state };
                next.push(self.push(state)?);
                if is_best {
                    return Ok(());
                }
                is_met = true;
            }
        }
        next.extend(self.move_on(way, number)?);
        if is_met {
            return Ok(());
        }
        let gain = match item.optional {
            true => state.gain,
            false => state.gain.plus(Gain::missing(1)),
        };
        if self.may_win(gain, state.batch) {
            next.push(self.push(FrontierState {
                gain,
                parent: way,
                visit,
                moved: false,
                ..state
            })?);
        }
        Ok(())
    }

    /// Returns what a path holds, and an additional expectation that needs a call in
    /// the same batch; `None` if there can be none.
    fn beside(&self, state: &FrontierState, number: u32) -> Option<(Vec<Held>, Held)> {
        let (from, to) = self.window(state.batch)?;
        if to - from < 2 {
            // The path is here because it holds the only call.
            return None;
        }
        let item = self.items[number as usize];
        self.columns[item.column].next(from).filter(|call| *call < to)?;
        Some((self.holdings(state).to_vec(), self.holder(number, from, to)))
    }

    /// Returns the path that meets an expectation with the next call of a later batch.
    fn move_on(&mut self, way: u32, number: u32) -> Result<Option<u32>, TooLarge> {
        let item = self.items[number as usize];
        let state = self.states[way as usize];
        self.room.work += 1;
        let Some(call) = self.columns[item.column].next(self.end(state.batch)) else {
            return Ok(None);
        };
        let batch = self.batches.of(call) as u32 + 1;
        let (from, to) = self.window(batch).unwrap_or_default();
        let held = self.keep(&[Held { call: call as u32, ..self.holder(number, from, to) }]);
        let gain = state.gain.plus(self.worth(item.optional));
        let visit = Visit::Item(number);
        self.push(FrontierState { gain, batch, held, parent: way, visit, moved: true }).map(Some)
    }

    /// Takes additional calls of a kind, as many as are beneficial.
    fn further(&mut self, item: &ExpectedItem, ways: Vec<u32>) -> Result<Vec<u32>, TooLarge> {
        let number = self.number(&ExpectedItem { count: 0, optional: true, ..*item });
        let mut open: BinaryHeap<Reverse<(u32, Reverse<Gain>, u32)>> = BinaryHeap::new();
        let entry = |states: &[FrontierState], way: u32| {
            let state = &states[way as usize];
            Reverse((state.batch, Reverse(state.gain), way))
        };
        open.extend(ways.into_iter().map(|way| entry(&self.states, way)));
        let mut all = Vec::new();
        // The most gained before the batch at hand, and in it.
        let (mut before, mut here, mut at) = (Gain::MIN, Gain::MIN, 0);
        while let Some(Reverse((batch, Reverse(gain), way))) = open.pop() {
            if batch != at {
                (before, at) = (before.max(here), batch);
                here = Gain::MIN;
            }
            if gain <= before {
                continue;
            }
            here = here.max(gain);
            all.push(way);
            let state = self.states[way as usize];
            let mut taken = None;
            if let Some((mut held, new)) = self.beside(&state, number)
                && matches!(self.room.add(&mut held, new, false), Added::Yes)
            {
                let gain = gain.plus(self.worth(true));
                let (held, visit) = (self.keep(&held), Visit::Item(number));
                let state = FrontierState { gain, held, parent: way, visit, moved: false, ..state };
                taken = Some(self.push(state)?);
            }
            let taken = match taken {
                Some(taken) => Some(taken),
                None => self.move_on(way, number)?,
            };
            open.extend(taken.map(|way| entry(&self.states, way)));
        }
        self.prune(all)
    }

    /// Advances past a group. From every path the group spreads over the following
    /// batches; there is a new path from each batch in which one more of it is met.
    fn group(&mut self, items: &[ExpectedItem], ways: Vec<u32>) -> Result<Vec<u32>, TooLarge> {
        let numbers: Vec<u32> = items.iter().map(|item| self.number(item)).collect();
        let group = self.groups.len() as u32;
        self.groups.push(numbers.clone());
        let mut all = Vec::new();
        for way in ways {
            self.spread(way, group, &numbers, &mut all)?;
        }
        self.prune(all)
    }

    fn spread(
        &mut self,
        way: u32,
        group: u32,
        numbers: &[u32],
        exits: &mut Vec<u32>,
    ) -> Result<(), TooLarge> {
        let state = self.states[way as usize];
        let mut batch = state.batch;
        let (first, end) = self.window(batch).unwrap_or_default();
        let (mut without, absent) = self.seekers(numbers, first);
        let mut held = self.holdings(&state).to_vec();
        let (before, mut moved) = (held.len(), false);
        // The items of a group are numbered one after the other.
        let Some((&low, &high)) = numbers.first().zip(numbers.last()) else {
            exits.push(way);
            return Ok(());
        };
        let mine = |one: &Held| (low..=high).contains(&one.item);
        loop {
            let to = self.end(batch) as u32;
            let stretch = |one: &mut Held| one.to = if mine(one) { to } else { one.to };
            held.iter_mut().for_each(stretch);
            without.iter_mut().for_each(stretch);
            let mut still: Vec<Held> = Vec::new();
            for one in without {
                // What failed for one fails for the next of its kind.
                let failed = still.last().is_some_and(|last| last.item == one.item);
                if failed || !matches!(self.room.add(&mut held, one, false), Added::Yes) {
                    still.push(one);
                }
            }
            without = still;
            let leaving = Leaving { way, group, batch, moved, absent };
            exits.push(self.exit(leaving, &held, &without)?);
            if without.is_empty() {
                return Ok(());
            }
            // Where nothing of the group finds a call beside what is held, it
            // never will: the group starts behind this batch, and what is held
            // can be left behind. (What is optional could still be driven out,
            // unless there is a way that never took it.)
            let is_tight = end - first < 2 || held.iter().all(|one| !one.optional);
            if !moved && batch == state.batch && held.len() == before && is_tight {
                moved = true;
                held.clear();
                without.iter_mut().for_each(|one| one.from = end as u32);
            }
            let helpers = self.room.could_help(&held, &without);
            let helpers = helpers.iter().filter(|one| mine(one));
            let columns = helpers.map(|one| &self.columns[one.column as usize]);
            let Some(call) = columns.filter_map(|column| column.next(to as usize)).min() else {
                return Ok(());
            };
            batch = self.batches.of(call) as u32 + 1;
            self.check()?;
        }
    }

    /// Returns the expectations of a group that need a call, and the number of expectations for
    /// which no call can exist. Required ones come first because they are worth more.
    fn seekers(&self, numbers: &[u32], first: usize) -> (Vec<Held>, usize) {
        let mut required = Vec::new();
        let mut optional = Vec::new();
        let mut absent = 0;
        for &number in numbers {
            let item = self.items[number as usize];
            let fitting = self.columns[item.column].count();
            let there = item.count.min(fitting);
            let one = self.holder(number, first, first);
            let list = if item.optional { &mut optional } else { &mut required };
            list.extend(std::iter::repeat_n(one, there));
            if !item.optional {
                absent += item.count - there;
            }
            if item.more && self.extras == Extras::Forbidden {
                let one = Held { optional: true, ..one };
                optional.extend(std::iter::repeat_n(one, fitting - there));
            }
        }
        required.append(&mut optional);
        (required, absent)
    }

    /// Leaves a group. A required expectation without a call may displace an optional one.
    fn exit(&mut self, leaving: Leaving, held: &[Held], without: &[Held]) -> Result<u32, TooLarge> {
        let Leaving { way, group, batch, moved, absent } = leaving;
        let state = self.states[way as usize];
        let mut held = held.to_vec();
        let mut missing = absent;
        for one in without.iter().filter(|one| !one.optional) {
            if matches!(self.room.add(&mut held, *one, true), Added::No) {
                missing += 1;
            }
        }
        let worth = |held: &[Held]| {
            let worths = held.iter().map(|one| self.worth(one.optional));
            worths.fold(Gain::default(), Gain::plus)
        };
        let before = if moved { Gain::default() } else { worth(self.holdings(&state)) };
        let won = worth(&held).minus(before);
        let gain = state.gain.plus(won).plus(Gain::missing(missing));
        let held = self.keep(&held);
        self.push(FrontierState {
            gain,
            batch,
            held,
            parent: way,
            visit: Visit::Group(group),
            moved,
        })
    }

    /// Removes dominated paths.
    fn prune(&mut self, mut ways: Vec<u32>) -> Result<Vec<u32>, TooLarge> {
        ways.sort_by_key(|way| {
            let state = &self.states[*way as usize];
            (state.batch, Reverse(state.gain), *way)
        });
        let mut kept: Vec<u32> = Vec::with_capacity(ways.len());
        let (mut before, mut here, mut at) = (Gain::MIN, Gain::MIN, u32::MAX);
        let mut first_here = 0;
        for way in ways {
            let state = self.states[way as usize];
            if state.batch != at {
                (before, here, at) = (before.max(here), Gain::MIN, state.batch);
                first_here = kept.len();
            }
            let is_beaten = state.gain <= before
                || !self.may_win(state.gain, state.batch)
                || (first_here..kept.len()).any(|n| self.beats(kept[n], &state));
            if !is_beaten {
                here = here.max(state.gain);
                kept.push(way);
            }
        }
        self.check()?;
        if kept.len() > self.width {
            let mut gains: Vec<Gain> =
                kept.iter().map(|way| self.states[*way as usize].gain).collect();
            gains.sort_unstable();
            let least = gains[gains.len() - self.width];
            kept.retain(|way| self.states[*way as usize].gain >= least);
            kept.truncate(2 * self.width);
        }
        Ok(kept)
    }

    /// Whether a path of the same batch with at least the same gain is at least as good,
    /// that is, whether every expectation that finds a call in addition to those held by `state`
    /// also finds one in addition to those held by `way`.
    fn beats(&mut self, way: u32, state: &FrontierState) -> bool {
        let Some((from, to)) = self.window(state.batch) else { return true };
        if to - from < 2 {
            return true;
        }
        let few = self.holdings(&self.states[way as usize]).to_vec();
        let many = self.holdings(state).to_vec();
        if !self.room.spans(&many, few.iter().copied()) {
            return false;
        }
        if few.iter().all(|one| !one.optional) && many.iter().all(|one| !one.optional) {
            return true;
        }
        let required: Vec<Held> = many.into_iter().filter(|one| !one.optional).collect();
        self.room.spans(&required, few.into_iter().filter(|one| !one.optional))
    }

    fn holder(&self, number: u32, from: usize, to: usize) -> Held {
        let item = self.items[number as usize];
        Held {
            item: number,
            column: item.column as u32,
            from: from as u32,
            to: to as u32,
            call: u32::MAX,
            optional: item.optional,
        }
    }

    fn holdings(&self, state: &FrontierState) -> &[Held] {
        let (start, len) = (state.held.0 as usize, state.held.1 as usize);
        &self.held[start..start + len]
    }

    fn keep(&mut self, held: &[Held]) -> (u32, u32) {
        let start = self.held.len() as u32;
        self.held.extend_from_slice(held);
        (start, held.len() as u32)
    }

    fn push(&mut self, state: FrontierState) -> Result<u32, TooLarge> {
        if self.states.len() >= MAX_STATES || self.held.len() >= 2 * MAX_STATES {
            return Err(TooLarge);
        }
        self.states.push(state);
        Ok(self.states.len() as u32 - 1)
    }

    fn check(&self) -> Result<(), TooLarge> {
        if self.room.work > MAX_WORK { Err(TooLarge) } else { Ok(()) }
    }

    /// Returns the range of calls of a batch, from 1.
    fn window(&self, batch: u32) -> Option<(usize, usize)> {
        let batch = (batch as usize).checked_sub(1)?;
        Some((self.batches.start(batch), self.batches.end(batch)))
    }

    fn end(&self, batch: u32) -> usize {
        self.window(batch).map_or(0, |(_, end)| end)
    }

    /// Returns the expectations of a path with their calls.
    fn trace(&self, end: u32) -> Alignment {
        let mut calls: BTreeMap<u32, MatchedCalls> = BTreeMap::new();
        let mut asked: BTreeSet<u32> = BTreeSet::new();
        let (mut way, mut is_last) = (end, true);
        loop {
            let state = &self.states[way as usize];
            if is_last {
                for one in self.holdings(state) {
                    calls.entry(one.item).or_default().push(one.call as usize);
                }
            }
            match state.visit {
                Visit::Start => break,
                Visit::Item(item) => {
                    asked.insert(item);
                }
                Visit::Group(group) => asked.extend(&self.groups[group as usize]),
            }
            is_last = state.moved;
            way = state.parent;
        }
        // Numbers were given in the order of the sequence; further calls of an
        // item have a number of their own right behind it.
        let mut places: Vec<ExpectationMatch> = Vec::new();
        for number in asked {
            let item = self.items[number as usize];
            let calls = calls.remove(&number).unwrap_or_default();
            let required = if item.optional { 0 } else { item.count };
            let missing = required.saturating_sub(calls.len());
            match places.last_mut().filter(|last| last.id == item.id) {
                Some(last) => last.calls.extend(calls),
                None => places.push(ExpectationMatch { id: item.id, calls, missing }),
            }
        }
        places.iter_mut().for_each(|place| place.calls.sort_unstable());
        Alignment { places }
    }
}

/// Returns the maximum number of `calls` that a sequence can take.
fn takes(sequence: &[Element], calls: usize) -> i64 {
    let of_item =
        |item: &ExpectedItem| if item.more { calls } else { item.count.min(calls) } as i64;
    let of_element = |element: &Element| match element {
        Element::Item(item) => of_item(item),
        Element::AnyOrder(items) => items.iter().map(of_item).sum(),
        Element::OneOf(branches) => {
            branches.iter().map(|branch| takes(branch, calls)).max().unwrap_or(0)
        }
        Element::Optional(inner) => takes(inner, calls),
    };
    sequence.iter().map(of_element).sum()
}
