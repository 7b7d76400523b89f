//! The instructions of the backtracking engine, and the compiler from trees.

use super::ast::{Assert, AstNode, Repeat};
use super::set::Set;
use std::ops::Range;
use std::sync::Arc;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct CompiledPattern {
    pub(super) code: Vec<Inst>,
    /// Number of slots: two per group (its start and end, the whole match first), then one per
    /// loop that must check that its iterations advance.
    pub(super) slots: usize,
    /// Number of instructions that are choices, each with its own number.
    pub(super) choices: usize,
    /// Whether a choice that failed at a position always fails there. This does not hold if it
    /// depends on captured text or on the start of an iteration.
    pub(super) memoizable: bool,
    /// Whether the match can only begin at the start of the text.
    pub(super) anchored: bool,
}

/// Condition on one character.
#[derive(Debug, Clone)]
pub(super) enum CharTest {
    Char(char),
    Set(Arc<Set>),
}

impl CharTest {
    pub(super) fn accepts(&self, c: char) -> bool {
        match self {
            CharTest::Char(char) => *char == c,
            CharTest::Set(set) => set.contains(c),
        }
    }
}

/// One instruction. `back` reads towards the start of the text, as in the body of a
/// lookbehind.
#[derive(Debug)]
pub(super) enum Inst {
    /// Match one character.
    One {
        test: CharTest,
        back: bool,
    },
    /// Match up to `max` characters, as many or as few as possible, then continue.
    Run {
        test: CharTest,
        back: bool,
        max: u32,
        greedy: bool,
        choice: usize,
    },
    /// Match exactly `count` characters.
    Exactly {
        test: CharTest,
        back: bool,
        count: u32,
    },
    /// Try one alternative first, then the other.
    Split {
        first: usize,
        second: usize,
        choice: usize,
    },
    Jump(usize),
    /// Store the position in a slot.
    Save(usize),
    /// Clear the slots.
    Clear(Range<usize>),
    /// Continue only if the position differs from the one in the slot.
    Advanced(usize),
    Assert(Assert),
    Backref {
        group: usize,
        fold: bool,
        back: bool,
    },
    /// Match the instructions up to `LookEnd` at this position; continue at `after`.
    Look {
        negate: bool,
        after: usize,
    },
    LookEnd,
    Match,
}

impl CompiledPattern {
    /// Compiles a tree whose size has been checked.
    pub(super) fn new(node: &AstNode, groups: usize) -> CompiledPattern {
        let slots = 2 * (groups + 1);
        let mut program = CompiledPattern {
            code: Vec::new(),
            slots,
            choices: 0,
            memoizable: true,
            anchored: begins_at_start(node),
        };
        program.code.push(Inst::Save(0));
        program.emit(node, false);
        program.code.push(Inst::Save(1));
        program.code.push(Inst::Match);
        program
    }

    fn choice(&mut self) -> usize {
        self.choices += 1;
        self.choices - 1
    }

    fn emit(&mut self, node: &AstNode, back: bool) {
        match node {
            AstNode::Empty => {}
            AstNode::Char(c) => self.code.push(Inst::One { test: CharTest::Char(*c), back }),
            AstNode::Set(set) => {
                self.code.push(Inst::One { test: CharTest::Set(set.clone()), back })
            }
            AstNode::Concat(items) if back => items.iter().rev().for_each(|n| self.emit(n, back)),
            AstNode::Concat(items) => items.iter().for_each(|n| self.emit(n, back)),
            AstNode::Alt(branches) => self.emit_branches(branches, back),
            AstNode::Group(index, body) => {
                let (open, close) = (2 * index, 2 * index + 1);
                self.code.push(Inst::Save(if back { close } else { open }));
                self.emit(body, back);
                self.code.push(Inst::Save(if back { open } else { close }));
            }
            AstNode::Assert(assert) => self.code.push(Inst::Assert(*assert)),
            AstNode::Look { behind, negate, body } => {
                let at = self.hole();
                self.emit(body, *behind);
                self.code.push(Inst::LookEnd);
                self.fill(at, Inst::Look { negate: *negate, after: self.code.len() });
            }
            AstNode::Backref { group, fold } => {
                self.memoizable = false;
                self.code.push(Inst::Backref { group: *group, fold: *fold, back });
            }
            AstNode::Repeat(repeat) => self.emit_repeat(repeat, back),
        }
    }

    fn emit_branches(&mut self, branches: &[AstNode], back: bool) {
        let mut ends = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            if index + 1 == branches.len() {
                self.emit(branch, back);
                break;
            }
            let split = self.hole();
            self.emit(branch, back);
            ends.push(self.hole());
            let choice = self.choice();
            let second = self.code.len();
            self.fill(split, Inst::Split { first: split + 1, second, choice });
        }
        for end in ends {
            self.fill(end, Inst::Jump(self.code.len()));
        }
    }

    fn emit_repeat(&mut self, repeat: &Repeat, back: bool) {
        let Repeat { body, min, max, greedy, .. } = repeat;
        let test = match body {
            AstNode::Char(c) => CharTest::Char(*c),
            AstNode::Set(set) => CharTest::Set(set.clone()),
            _ => return self.emit_loop(repeat, back),
        };
        if *min > 0 {
            self.code.push(Inst::Exactly { test: test.clone(), back, count: *min });
        }
        let max = max.map_or(u32::MAX, |max| max - min);
        if max > 0 {
            let choice = self.choice();
            self.code.push(Inst::Run { test, back, max, greedy: *greedy, choice });
        }
    }

    /// Emits a loop around more than one character: iterations are unrolled, and unbounded ones
    /// are a backward jump.
    fn emit_loop(&mut self, repeat: &Repeat, back: bool) {
        for _ in 0..repeat.min {
            self.emit_iteration(repeat, back, None);
        }
        let varies = repeat.max != Some(repeat.min);
        let slot = (repeat.nullable && varies).then(|| {
            self.memoizable = false;
            self.slots += 1;
            self.slots - 1
        });
        let mut splits = Vec::new();
        match repeat.max {
            None => {
                let split = self.hole();
                self.emit_iteration(repeat, back, slot);
                self.code.push(Inst::Jump(split));
                splits.push(split);
            }
            Some(max) => {
                for _ in repeat.min..max {
                    splits.push(self.hole());
                    self.emit_iteration(repeat, back, slot);
                }
            }
        }
        let end = self.code.len();
        for split in splits {
            let (first, second) = if repeat.greedy { (split + 1, end) } else { (end, split + 1) };
            let choice = self.choice();
            self.fill(split, Inst::Split { first, second, choice });
        }
    }

    /// Emits one iteration; with a slot, the iteration must advance.
    fn emit_iteration(&mut self, repeat: &Repeat, back: bool, slot: Option<usize>) {
        if !repeat.groups.is_empty() {
            let Range { start, end } = repeat.groups;
            self.code.push(Inst::Clear(2 * start..2 * end));
        }
        self.code.extend(slot.map(Inst::Save));
        self.emit(&repeat.body, back);
        self.code.extend(slot.map(Inst::Advanced));
    }

    /// Reserves an instruction whose target is not known yet.
    fn hole(&mut self) -> usize {
        self.code.push(Inst::Jump(0));
        self.code.len() - 1
    }

    fn fill(&mut self, hole: usize, inst: Inst) {
        if let Some(place) = self.code.get_mut(hole) {
            *place = inst;
        }
    }
}

/// Returns whether the node can only match at the start of the text.
fn begins_at_start(node: &AstNode) -> bool {
    match node {
        AstNode::Assert(assert) => *assert == Assert::Start,
        AstNode::Concat(items) => items.first().is_some_and(begins_at_start),
        AstNode::Group(_, body) => begins_at_start(body),
        AstNode::Alt(branches) => branches.iter().all(begins_at_start),
        _ => false,
    }
}
