//! Checks whether expectations can all get separate calls: a matching that is
//! extended one expectation at a time.

use super::column::CallColumn;

const NONE: u32 = u32::MAX;

/// An expectation that holds a call, and the calls it could hold instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Held {
    /// The expectation.
    pub(super) item: u32,
    /// Index of the column with the calls that meet it.
    pub(super) column: u32,
    /// First call it may hold.
    pub(super) from: u32,
    /// Call after the last one it may hold.
    pub(super) to: u32,
    /// Call it holds.
    pub(super) call: u32,
    /// Whether it may go without a call.
    pub(super) optional: bool,
}

impl Held {
    /// Whether both are the same expectation with the same candidates, whatever call they hold.
    fn is(&self, other: &Self) -> bool {
        (self.item, self.from, self.to) == (other.item, other.from, other.to)
    }
}

/// Result of adding an expectation.
pub(super) enum Added {
    /// The expectation has a call, and all others keep one.
    Yes,
    /// The expectation has a call, and an optional one lost its own.
    Instead,
    /// No call is available.
    No,
}

/// Finds calls for expectations. Reuses its tables between queries.
pub(super) struct Room<'a> {
    columns: &'a [CallColumn],
    /// Holder of each call, from 1; 0 if free.
    owner: Vec<u32>,
    /// Predecessor from which an expectation was reached, or `NONE`.
    reached_from: Vec<u32>,
    queue: Vec<u32>,
    /// Number of calls inspected.
    pub(super) work: usize,
}

impl<'a> Room<'a> {
    pub(super) fn new(columns: &'a [CallColumn], calls: usize) -> Self {
        let owner = vec![0; calls];
        Self { columns, owner, reached_from: Vec::new(), queue: Vec::new(), work: 0 }
    }

    /// Gives `new` a call; the others may be reassigned.
    pub(super) fn add(&mut self, held: &mut Vec<Held>, new: Held, may_evict: bool) -> Added {
        held.push(Held { call: NONE, ..new });
        let last = held.len() - 1;
        self.settle(held);
        let found = self.search(held, &[last as u32]);
        let could_go = |at: &usize| held[*at].optional && self.reached_from[*at] != NONE;
        let victim = (0..last).find(could_go).filter(|_| may_evict && found.is_none());
        match (found, victim) {
            (Some((end, call)), _) => self.shift(held, end, call),
            (None, Some(at)) => {
                let call = held[at].call;
                self.shift(held, self.reached_from[at], call);
            }
            (None, None) => {}
        }
        self.unsettle(held);
        match (found, victim) {
            (Some(_), _) => Added::Yes,
            (None, Some(at)) => {
                held.remove(at);
                Added::Instead
            }
            (None, None) => {
                held.truncate(last);
                Added::No
            }
        }
    }

    /// Returns the expectations among `held` that could give their call to one of
    /// `without` if they found another.
    pub(super) fn could_help(&mut self, held: &[Held], without: &[Held]) -> Vec<Held> {
        let mut all = held.to_vec();
        let sources: Vec<u32> =
            (held.len()..held.len() + without.len()).map(|n| n as u32).collect();
        all.extend(without.iter().map(|one| Held { call: NONE, ..*one }));
        self.settle(&all);
        // Nothing is found where the matching is as large as can be.
        let _ = self.search(&all, &sources);
        self.unsettle(&all);
        let reached = (0..all.len()).filter(|at| self.reached_from[*at] != NONE);
        reached.map(|at| all[at]).collect()
    }

    /// Whether every one of `few` is among `many` or cannot be added to them.
    pub(super) fn spans(&mut self, many: &[Held], few: impl Iterator<Item = Held>) -> bool {
        let mut left = many.to_vec();
        let mut rest = Vec::new();
        for one in few {
            match left.iter().position(|other| other.is(&one)) {
                Some(at) => {
                    left.swap_remove(at);
                }
                None => rest.push(one),
            }
        }
        let mut held = many.to_vec();
        rest.into_iter().all(|one| matches!(self.add(&mut held, one, false), Added::No))
    }

    fn settle(&mut self, held: &[Held]) {
        for (at, one) in held.iter().enumerate() {
            if one.call != NONE {
                self.owner[one.call as usize] = at as u32 + 1;
            }
        }
    }

    fn unsettle(&mut self, held: &[Held]) {
        for one in held.iter().filter(|one| one.call != NONE) {
            self.owner[one.call as usize] = 0;
        }
    }

    /// Searches breadth first from `sources` to a free call: returns the last
    /// expectation on the path, and the call.
    fn search(&mut self, held: &[Held], sources: &[u32]) -> Option<(u32, u32)> {
        self.reached_from.clear();
        self.reached_from.resize(held.len(), NONE);
        self.queue.clear();
        for &source in sources {
            self.reached_from[source as usize] = source;
            self.queue.push(source);
        }
        let mut next = 0;
        while let Some(&at) = self.queue.get(next) {
            next += 1;
            let one = held[at as usize];
            let column = &self.columns[one.column as usize];
            let mut call = column.next(one.from as usize);
            while let Some(found) = call.filter(|call| *call < one.to as usize) {
                self.work += 1;
                match self.owner[found] {
                    0 => return Some((at, found as u32)),
                    owner => {
                        let owner = owner - 1;
                        if self.reached_from[owner as usize] == NONE {
                            self.reached_from[owner as usize] = at;
                            self.queue.push(owner);
                        }
                    }
                }
                call = column.next(found + 1);
            }
        }
        None
    }

    /// Assigns `call` to `at`; its predecessor gets the call that `at` held, and so on.
    fn shift(&mut self, held: &mut [Held], at: u32, call: u32) {
        let (mut at, mut call) = (at, call);
        loop {
            let freed = std::mem::replace(&mut held[at as usize].call, call);
            self.owner[call as usize] = at + 1;
            let from = self.reached_from[at as usize];
            if from == at {
                return;
            }
            (at, call) = (from, freed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(item: u32, column: u32, calls: usize, optional: bool) -> Held {
        Held { item, column, from: 0, to: calls as u32, call: NONE, optional }
    }

    #[test]
    fn makes_room_and_evicts_only_what_is_optional() {
        let columns = [
            CallColumn::from_fn(3, |_| true),
            CallColumn::from_fn(3, |call| call == 0),
            CallColumn::from_fn(3, |call| call <= 1),
        ];
        let mut room = Room::new(&columns, 3);
        let mut all = Vec::new();
        assert!(matches!(room.add(&mut all, held(0, 0, 3, true), true), Added::Yes));
        assert!(matches!(room.add(&mut all, held(1, 1, 3, false), true), Added::Yes));
        assert!(matches!(room.add(&mut all, held(2, 2, 3, false), true), Added::Yes));
        let mut calls: Vec<(u32, u32)> = all.iter().map(|one| (one.item, one.call)).collect();
        calls.sort_unstable();
        assert_eq!(calls, [(0, 2), (1, 0), (2, 1)]);
        // A second expectation of call 0 has no chance: what holds it is required.
        assert!(matches!(room.add(&mut all, held(3, 1, 3, false), true), Added::No));
        // One that takes any call drives the optional one out.
        assert!(matches!(room.add(&mut all, held(4, 0, 3, false), false), Added::No));
        assert!(matches!(room.add(&mut all, held(4, 0, 3, false), true), Added::Instead));
        let mut left: Vec<u32> = all.iter().map(|one| one.item).collect();
        left.sort_unstable();
        assert_eq!(left, [1, 2, 4]);
        assert!(room.owner.iter().all(|owner| *owner == 0), "the tables are clean again");
    }
}
