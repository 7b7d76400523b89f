//! Compares the engine with a brute-force search.
//!
//! The brute force shares no code with the engine: it enumerates every path
//! through a sequence as a list of slots and tries every call in every slot.

use super::{Alignment, Batches, CallColumn, Element, ExpectedItem, Extras, Grid, Want};
use super::{align, arrange, assign, cover};
use std::collections::BTreeMap;

/// A small deterministic random generator: the same cases in every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// A slot for a call on a path.
#[derive(Clone, Copy)]
struct PathSlot {
    column: usize,
    optional: bool,
    /// Position; slots with the same position are unordered.
    position: usize,
}

/// Returns every path through a sequence.
fn ways(sequence: &[Element], calls: usize, extras: Extras) -> Vec<Vec<PathSlot>> {
    let mut all: Vec<Vec<PathSlot>> = vec![Vec::new()];
    for element in sequence {
        let choices: Vec<Vec<PathSlot>> = match element {
            Element::Item(item) => vec![slots(&[*item], calls, extras)],
            Element::AnyOrder(items) => vec![slots(items, calls, extras)],
            Element::OneOf(branches) => {
                branches.iter().flat_map(|branch| ways(branch, calls, extras)).collect()
            }
            Element::Optional(inner) => {
                let mut choices = ways(inner, calls, extras);
                choices.push(Vec::new());
                choices
            }
        };
        let mut next = Vec::new();
        for way in &all {
            for choice in &choices {
                let base = way.last().map_or(0, |slot| slot.position + 1);
                let mut way = way.clone();
                way.extend(choice.iter().map(|s| PathSlot { position: base + s.position, ..*s }));
                next.push(way);
            }
        }
        all = next;
    }
    all
}

fn slots(items: &[ExpectedItem], calls: usize, extras: Extras) -> Vec<PathSlot> {
    let mut slots = Vec::new();
    for item in items {
        let slot = PathSlot { column: item.column, optional: item.optional, position: 0 };
        slots.extend(std::iter::repeat_n(slot, item.count));
        if item.more && extras == Extras::Forbidden {
            slots.extend(std::iter::repeat_n(PathSlot { optional: true, ..slot }, calls));
        }
    }
    slots
}

/// Value of a result: most important first.
type Worth = (i64, i64, i64);

fn worth(missing: i64, required: i64, optional: i64, extras: Extras) -> Worth {
    match extras {
        Extras::Allowed => (-missing, required, optional),
        Extras::Forbidden => (required + optional - missing, required, optional),
    }
}

struct OracleTrial<'a> {
    slots: &'a [PathSlot],
    columns: &'a [CallColumn],
    batches: &'a Batches,
    extras: Extras,
    best: Worth,
}

impl OracleTrial<'_> {
    /// Tries every allowed call, and none, in slot `at`.
    fn run(&mut self, at: usize, used: u32, floor: usize, high: usize, sum: (i64, i64, i64)) {
        let (missing, required, optional) = sum;
        let Some(slot) = self.slots.get(at).copied() else {
            self.best = self.best.max(worth(missing, required, optional, self.extras));
            return;
        };
        let is_new = at == 0 || self.slots[at - 1].position != slot.position;
        let floor = if is_new { high } else { floor };
        let without = missing + i64::from(!slot.optional);
        self.run(at + 1, used, floor, high, (without, required, optional));
        for call in 0..self.batches.calls() {
            let batch = self.batches.of(call);
            if used & (1 << call) == 0 && batch >= floor && self.columns[slot.column].get(call) {
                let sum = match slot.optional {
                    false => (missing, required + 1, optional),
                    true => (missing, required, optional + 1),
                };
                self.run(at + 1, used | (1 << call), floor, high.max(batch), sum);
            }
        }
    }
}

fn brute(sequence: &[Element], columns: &[CallColumn], batches: &Batches, extras: Extras) -> Worth {
    let mut best = (i64::MIN, 0, 0);
    for slots in ways(sequence, batches.calls(), extras) {
        let mut trial = OracleTrial { slots: &slots, columns, batches, extras, best };
        trial.run(0, 0, 0, 0, (0, 0, 0));
        best = trial.best;
    }
    best
}

/// Returns the value of the engine's answer; panics if the answer is invalid.
fn judged(
    found: &Alignment,
    sequence: &[Element],
    columns: &[CallColumn],
    batches: &Batches,
    extras: Extras,
) -> Worth {
    let mut items = BTreeMap::new();
    let mut next = 0;
    list(sequence, &mut next, &mut items);
    let (mut missing, mut required, mut optional) = (0, 0, 0);
    let mut used = std::collections::BTreeSet::new();
    let mut last: Option<(usize, usize)> = None;
    let (mut floor, mut high) = (0, 0);
    for place in &found.places {
        let (item, position) = items[&place.id];
        if last.is_some_and(|(at, _)| at != position) {
            floor = high;
        }
        last = Some((position, place.id));
        for &call in &place.calls {
            assert!(columns[item.column].get(call), "call {call} does not fit");
            assert!(used.insert(call), "call {call} is used twice");
            assert!(batches.of(call) >= floor, "call {call} is out of order");
            high = high.max(batches.of(call));
        }
        let needed = if item.optional { 0 } else { item.count };
        let met = place.calls.len().min(needed);
        assert_eq!(place.missing, needed - met);
        missing += place.missing as i64;
        required += met as i64;
        optional += (place.calls.len() - met) as i64;
    }
    worth(missing, required, optional, extras)
}

/// Collects every item by ID, with its position; a group has one position for all items.
fn list(
    sequence: &[Element],
    next: &mut usize,
    items: &mut BTreeMap<usize, (ExpectedItem, usize)>,
) {
    for element in sequence {
        *next += 1;
        match element {
            Element::Item(item) => {
                items.insert(item.id, (*item, *next));
            }
            Element::AnyOrder(group) => {
                items.extend(group.iter().map(|item| (item.id, (*item, *next))));
            }
            Element::OneOf(branches) => {
                branches.iter().for_each(|branch| list(branch, next, items));
            }
            Element::Optional(inner) => list(inner, next, items),
        }
    }
}

struct Maker {
    dice: Dice,
    columns: usize,
    ids: usize,
    room: usize,
}

impl Maker {
    fn item(&mut self) -> ExpectedItem {
        self.ids += 1;
        let count = if self.room > 1 && self.dice.one_in(6) { 2 } else { 1 };
        self.room = self.room.saturating_sub(count);
        ExpectedItem {
            id: self.ids,
            column: self.dice.below(self.columns),
            count,
            more: self.dice.one_in(8),
            optional: self.dice.one_in(4),
        }
    }

    fn sequence(&mut self, depth: usize) -> Vec<Element> {
        let mut sequence = Vec::new();
        let length = self.dice.below(4) + usize::from(depth == 0);
        for _ in 0..length {
            if self.room == 0 {
                break;
            }
            sequence.push(match self.dice.below(if depth < 2 { 8 } else { 5 }) {
                0..4 => Element::Item(self.item()),
                4 => {
                    let size = 1 + self.dice.below(3);
                    Element::AnyOrder((0..size.min(self.room)).map(|_| self.item()).collect())
                }
                5 | 6 => {
                    let branches = 1 + self.dice.below(2);
                    Element::OneOf((0..=branches).map(|_| self.sequence(depth + 1)).collect())
                }
                _ => Element::Optional(self.sequence(depth + 1)),
            });
        }
        sequence
    }
}

fn random_columns(dice: &mut Dice, columns: usize, calls: usize) -> Vec<CallColumn> {
    (0..columns)
        .map(|_| {
            let bits = dice.next() & if dice.one_in(2) { dice.next() } else { u64::MAX };
            CallColumn::from_fn(calls, |call| bits & (1 << (call + 9)) != 0)
        })
        .collect()
}

fn random_batches(dice: &mut Dice, calls: usize) -> Batches {
    if dice.one_in(3) {
        return Batches::singles(calls);
    }
    let mut key = 0;
    Batches::of_keys((0..calls).map(|_| {
        key += usize::from(dice.one_in(2));
        Some(key)
    }))
}

#[test]
fn sequences_agree_with_trying_everything() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut met, mut failed) = (0, 0);
    for case in 0..120_000 {
        let calls = dice.below(6);
        let columns = 1 + dice.below(4);
        let columns = random_columns(&mut dice, columns, calls);
        let batches = random_batches(&mut dice, calls);
        let extras = if dice.one_in(3) { Extras::Forbidden } else { Extras::Allowed };
        let seed = Dice(dice.next() | 1);
        let mut maker = Maker { dice: seed, columns: columns.len(), ids: 0, room: 5 };
        let sequence = maker.sequence(0);
        let want = brute(&sequence, &columns, &batches, extras);
        let found = arrange(&sequence, &columns, &batches, extras).unwrap();
        let got = judged(&found, &sequence, &columns, &batches, extras);
        assert_eq!(
            got, want,
            "case {case}: {sequence:?} {columns:?} {batches:?} {extras:?} {found:?}"
        );
        if found.missing() == 0 { met += 1 } else { failed += 1 }
    }
    assert!(met > 20_000 && failed > 20_000, "{met} met, {failed} failed: a lopsided test");
}

/// Returns the maximum number of expectations with separate calls.
fn brute_assign(rows: &[u32], used: u32) -> usize {
    let Some((&fits, rest)) = rows.split_first() else { return 0 };
    let mut best = brute_assign(rest, used);
    for call in (0..32).filter(|call| fits & !used & (1 << call) != 0) {
        best = best.max(1 + brute_assign(rest, used | (1 << call)));
    }
    best
}

/// Returns the maximum number of expectations with separate calls, in order.
fn brute_align(rows: &[u32], from: u32) -> usize {
    let Some((&fits, rest)) = rows.split_first() else { return 0 };
    let mut best = brute_align(rest, from);
    for call in (from..32).filter(|call| fits & (1 << call) != 0) {
        best = best.max(1 + brute_align(rest, call + 1));
    }
    best
}

#[test]
fn assign_and_align_agree_with_trying_everything() {
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    for case in 0..30_000 {
        let (calls, items) = (dice.below(6), dice.below(6));
        let rows: Vec<u32> = (0..items)
            .map(|_| (dice.next() & dice.next()) as u32 & ((1u32 << calls) - 1))
            .collect();
        let grid = Grid::from_fn(calls, items, |call, item| rows[item] & (1 << call) != 0);
        let assigned = assign(&grid);
        let aligned = align(&grid).unwrap();
        for (item, call) in assigned.iter().chain(&aligned).enumerate() {
            assert!(call.is_none_or(|call| rows[item % items] & (1 << call) != 0), "case {case}");
        }
        let order: Vec<usize> = aligned.iter().flatten().copied().collect();
        assert!(order.is_sorted_by(|a, b| a < b), "case {case}");
        let mut own: Vec<usize> = assigned.iter().flatten().copied().collect();
        own.sort_unstable();
        assert!(own.is_sorted_by(|a, b| a < b), "case {case}");
        assert_eq!(own.len(), brute_assign(&rows, 0), "case {case} {rows:?}");
        assert_eq!(order.len(), brute_align(&rows, 0), "case {case} {rows:?}");
    }
}

/// Returns the fewest calls left over among the assignments with the fewest missing calls.
fn brute_cover(
    wants: &[(u32, usize, bool)],
    copy: usize,
    used: u32,
    all: u32,
    missing: usize,
    best: &mut (usize, u32),
) {
    let Some(&(fits, count, _)) = wants.first() else {
        *best = (*best).min((missing, (all & !used).count_ones()));
        return;
    };
    if copy == count {
        return brute_cover(&wants[1..], 0, used, all, missing, best);
    }
    brute_cover(wants, copy + 1, used, all, missing + 1, best);
    for call in (0..8).filter(|call| fits & !used & (1 << call) != 0) {
        brute_cover(wants, copy + 1, used | (1 << call), all, missing, best);
    }
}

#[test]
fn covers_agree_with_trying_everything() {
    let mut dice = Dice(0x0123_4567_89ab_cdef);
    for case in 0..30_000 {
        let calls = dice.below(6);
        let all = (1u32 << calls) - 1;
        let wants: Vec<(u32, usize, bool)> = (0..dice.below(4))
            .map(|_| ((dice.next() as u32) & all, dice.below(3), dice.one_in(4)))
            .collect();
        let elsewhere = (dice.next() & dice.next()) as u32 & all;
        let columns: Vec<CallColumn> = wants
            .iter()
            .map(|(fits, ..)| CallColumn::from_fn(calls, |call| fits & (1 << call) != 0))
            .collect();
        let asked: Vec<Want> = wants
            .iter()
            .enumerate()
            .map(|(column, &(_, count, more))| Want { column, count, more })
            .collect();
        let outside = CallColumn::from_fn(calls, |call| elsewhere & (1 << call) != 0);
        let found = cover(&asked, &columns, &outside).unwrap();
        let left = (0..calls).filter(|call| !found.used.get(*call) && !outside.get(*call)).count();
        let got = (found.missing.iter().sum::<usize>(), left as u32);
        // Calls taken by an open expectation or used elsewhere are never left over.
        let open = wants.iter().filter(|want| want.2).fold(elsewhere, |sum, want| sum | want.0);
        let mut best = (usize::MAX, 0);
        brute_cover(&wants, 0, 0, all & !open, 0, &mut best);
        assert_eq!(got, best, "case {case} {wants:?} {elsewhere:b} {found:?}");
    }
}
