//! Backtracking engine with JavaScript's semantics: for patterns with look-around or
//! backreferences, and wherever an automaton would find different groups.
//!
//! Remaining alternatives are kept on an explicit stack, and every step counts towards a
//! limit. A long search starts to record which choices have failed at which position, if
//! the pattern allows it; it then ends in time proportional to pattern and text.

use super::StepLimit;
use super::ast::Assert;
use super::program::{CharTest, CompiledPattern, Inst};
use super::set::{fold, is_line_end, is_word};

/// Step limit of any search, and the additional steps for each byte of the text.
const STEPS: u64 = 4_000_000;
const STEPS_PER_BYTE: u64 = 32;
/// Cost of comparing two characters without case, in steps.
const FOLD_STEPS: u64 = 16;
/// Maximum number of alternatives on the stack.
const MAX_FRAMES: usize = 2_000_000;
/// Number of steps after which failed choices are recorded, and the maximum number of bits
/// for the record.
const STEP_LIMIT: u64 = 4096;
const STEP_LIMIT_PER_BYTE: u64 = 8;
const MAX_MEMO_BITS: usize = 1 << 27;

/// Value of a slot without a position.
pub(super) const UNSET: usize = usize::MAX;

/// An action to take when the current alternative fails.
enum BacktrackFrame {
    /// Continue from here.
    Resume { pc: usize, at: usize },
    /// Restore the previous value of a slot.
    Restore { slot: usize, at: usize },
    /// Let a greedy run that matched from `least` to `at` give back one character.
    Shrink { pc: usize, at: usize, least: usize },
    /// Let a lazy run match one more character, of at most `left`.
    Grow { pc: usize, at: usize, left: u32 },
    /// Handle the failure of an alternative inside a look-around.
    Look { negate: bool, after: usize, at: usize },
}

/// Positions at which a match may begin.
#[derive(Clone, Copy)]
pub(super) enum Begin {
    Anywhere,
    /// At this position only.
    At(usize),
}

/// Finds the leftmost match and returns the bounds of all groups.
pub(super) fn search(
    program: &CompiledPattern,
    text: &str,
    begin: Begin,
) -> Result<Option<Vec<usize>>, StepLimit> {
    let bytes = text.len() as u64;
    let mut matcher = Matcher {
        program,
        text,
        slots: vec![UNSET; program.slots],
        frames: Vec::new(),
        looks: Vec::new(),
        steps: 0,
        limit: STEPS.saturating_add(bytes.saturating_mul(STEPS_PER_BYTE)),
        patience: STEP_LIMIT.saturating_add(bytes.saturating_mul(STEP_LIMIT_PER_BYTE)),
        memo: Vec::new(),
    };
    let (mut at, once) = match begin {
        Begin::Anywhere => (0, program.anchored),
        Begin::At(at) => (at, true),
    };
    loop {
        if matcher.run(at)? {
            return Ok(Some(matcher.slots));
        }
        match matcher.after(at) {
            Some((_, next)) if !once => at = next,
            _ => return Ok(None),
        }
    }
}

struct Matcher<'a> {
    program: &'a CompiledPattern,
    text: &'a str,
    slots: Vec<usize>,
    frames: Vec<BacktrackFrame>,
    /// Stack positions at which the active look-arounds begin.
    looks: Vec<usize>,
    steps: u64,
    limit: u64,
    /// Number of steps before failures are recorded.
    patience: u64,
    /// One bit for each choice at each position; empty until it is needed.
    memo: Vec<u64>,
}

impl Matcher<'_> {
    /// Tries to match from a position. A failed attempt leaves the slots as they were: all
    /// unset.
    fn run(&mut self, start: usize) -> Result<bool, StepLimit> {
        let program = self.program;
        let (mut pc, mut at) = (0, start);
        loop {
            self.step(1)?;
            let Some(inst) = program.code.get(pc) else { return Ok(false) };
            let next = match inst {
                Inst::Match => {
                    self.frames.clear();
                    return Ok(true);
                }
                Inst::One { test, back } => self.one(test, *back, at).map(|next| (pc + 1, next)),
                Inst::Exactly { test, back, count } => {
                    self.exactly(test, *back, at, *count)?.map(|next| (pc + 1, next))
                }
                Inst::Run { test, back, max, greedy, choice } => {
                    if self.tried(*choice, at) {
                        None
                    } else if *greedy {
                        let end = self.longest(test, *back, at, *max, *choice)?;
                        if end != at {
                            self.push(BacktrackFrame::Shrink { pc, at: end, least: at })?;
                        }
                        Some((pc + 1, end))
                    } else {
                        self.push(BacktrackFrame::Grow { pc, at, left: *max })?;
                        Some((pc + 1, at))
                    }
                }
                Inst::Split { first, second, choice } => {
                    if self.tried(*choice, at) {
                        None
                    } else {
                        self.push(BacktrackFrame::Resume { pc: *second, at })?;
                        Some((*first, at))
                    }
                }
                Inst::Jump(target) => Some((*target, at)),
                Inst::Save(slot) => {
                    self.set(*slot, at)?;
                    Some((pc + 1, at))
                }
                Inst::Clear(slots) => {
                    for slot in slots.clone() {
                        self.step(1)?;
                        self.set(slot, UNSET)?;
                    }
                    Some((pc + 1, at))
                }
                Inst::Advanced(slot) => (self.slot(*slot) != at).then_some((pc + 1, at)),
                Inst::Assert(assert) => self.holds(*assert, at).then_some((pc + 1, at)),
                Inst::Backref { group, fold, back } => {
                    self.backref(*group, *fold, *back, at)?.map(|next| (pc + 1, next))
                }
                Inst::Look { negate, after } => {
                    self.looks.push(self.frames.len());
                    self.push(BacktrackFrame::Look { negate: *negate, after: *after, at })?;
                    Some((pc + 1, at))
                }
                Inst::LookEnd => self.leave_look()?,
            };
            match next {
                Some(next) => (pc, at) = next,
                None => match self.fail()? {
                    Some(next) => (pc, at) = next,
                    None => return Ok(false),
                },
            }
        }
    }

    fn step(&mut self, steps: u64) -> Result<(), StepLimit> {
        self.steps += steps;
        if self.steps > self.limit {
            return Err(StepLimit { steps: self.limit });
        }
        if self.steps > self.patience && self.memo.is_empty() {
            self.patience = u64::MAX;
            let bits = self.program.choices.saturating_mul(self.text.len() + 1);
            if self.program.memoizable && bits <= MAX_MEMO_BITS {
                self.memo = vec![0; bits / 64 + 1];
            }
        }
        Ok(())
    }

    fn push(&mut self, frame: BacktrackFrame) -> Result<(), StepLimit> {
        if self.frames.len() >= MAX_FRAMES {
            return Err(StepLimit { steps: self.steps });
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Backtracks to the most recent alternative; returns where to continue.
    fn fail(&mut self) -> Result<Option<(usize, usize)>, StepLimit> {
        while let Some(frame) = self.frames.pop() {
            self.step(1)?;
            match frame {
                BacktrackFrame::Resume { pc, at } => return Ok(Some((pc, at))),
                BacktrackFrame::Restore { slot, at } => {
                    if let Some(place) = self.slots.get_mut(slot) {
                        *place = at;
                    }
                }
                BacktrackFrame::Shrink { pc, at, least } => {
                    let shorter = if least < at { self.before(at) } else { self.after(at) };
                    let Some((_, at)) = shorter else { continue };
                    if at != least {
                        self.frames.push(BacktrackFrame::Shrink { pc, at, least });
                    }
                    return Ok(Some((pc + 1, at)));
                }
                BacktrackFrame::Grow { pc, at, left } => {
                    let Some(Inst::Run { test, back, choice, max, .. }) = self.program.code.get(pc)
                    else {
                        continue;
                    };
                    let Some(at) = self.one(test, *back, at) else { continue };
                    if *max == u32::MAX && self.tried(*choice, at) {
                        continue;
                    }
                    let left = if *max == u32::MAX { left } else { left - 1 };
                    if left > 0 {
                        self.frames.push(BacktrackFrame::Grow { pc, at, left });
                    }
                    return Ok(Some((pc + 1, at)));
                }
                BacktrackFrame::Look { negate, after, at } => {
                    self.looks.pop();
                    if negate {
                        return Ok(Some((after, at)));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Leaves a look-around whose body has matched. Its remaining alternatives are discarded.
    fn leave_look(&mut self) -> Result<Option<(usize, usize)>, StepLimit> {
        let Some(start) = self.looks.pop() else { return Ok(None) };
        self.step((self.frames.len().saturating_sub(start)) as u64)?;
        let Some(&BacktrackFrame::Look { negate, after, at }) = self.frames.get(start) else {
            return Ok(None);
        };
        if negate {
            // Its captures and remaining alternatives are discarded.
            while self.frames.len() > start {
                if let Some(BacktrackFrame::Restore { slot, at }) = self.frames.pop()
                    && let Some(place) = self.slots.get_mut(slot)
                {
                    *place = at;
                }
            }
            return Ok(None);
        }
        // Its captures stay until the rest of the pattern fails.
        let mut kept = start;
        for index in start..self.frames.len() {
            if matches!(self.frames.get(index), Some(BacktrackFrame::Restore { .. })) {
                self.frames.swap(kept, index);
                kept += 1;
            }
        }
        self.frames.truncate(kept);
        Ok(Some((after, at)))
    }

    /// Marks a choice at a position; returns whether it was marked before and hence has failed.
    /// Nothing is recorded inside a look-around, because an alternative tried there may end
    /// although it matched.
    fn tried(&mut self, choice: usize, at: usize) -> bool {
        if self.memo.is_empty() || !self.looks.is_empty() {
            return false;
        }
        let bit = choice * (self.text.len() + 1) + at;
        let Some(word) = self.memo.get_mut(bit / 64) else { return false };
        let mask = 1 << (bit % 64);
        let tried = *word & mask != 0;
        *word |= mask;
        tried
    }

    fn slot(&self, slot: usize) -> usize {
        self.slots.get(slot).copied().unwrap_or(UNSET)
    }

    fn set(&mut self, slot: usize, at: usize) -> Result<(), StepLimit> {
        let before = self.slot(slot);
        if before != at {
            self.push(BacktrackFrame::Restore { slot, at: before })?;
            if let Some(place) = self.slots.get_mut(slot) {
                *place = at;
            }
        }
        Ok(())
    }

    /// Returns the character after a position, and the position after it.
    fn after(&self, at: usize) -> Option<(char, usize)> {
        match self.text.as_bytes().get(at) {
            Some(byte) if byte.is_ascii() => Some((*byte as char, at + 1)),
            _ => {
                let c = self.text.get(at..)?.chars().next()?;
                Some((c, at + c.len_utf8()))
            }
        }
    }

    /// Returns the character before a position, and the position before it.
    fn before(&self, at: usize) -> Option<(char, usize)> {
        let c = self.text.get(..at)?.chars().next_back()?;
        Some((c, at - c.len_utf8()))
    }

    fn beside(&self, back: bool, at: usize) -> Option<(char, usize)> {
        if back { self.before(at) } else { self.after(at) }
    }

    fn one(&self, test: &CharTest, back: bool, at: usize) -> Option<usize> {
        self.beside(back, at).and_then(|(c, next)| test.accepts(c).then_some(next))
    }

    fn exactly(
        &mut self,
        test: &CharTest,
        back: bool,
        mut at: usize,
        count: u32,
    ) -> Result<Option<usize>, StepLimit> {
        for _ in 0..count {
            self.step(1)?;
            match self.one(test, back, at) {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// Returns how far a greedy run reaches. Characters that an earlier run from a later
    /// position already tried without success are left out.
    fn longest(
        &mut self,
        test: &CharTest,
        back: bool,
        mut at: usize,
        max: u32,
        choice: usize,
    ) -> Result<usize, StepLimit> {
        let mut left = max;
        while left > 0 {
            self.step(1)?;
            let Some(next) = self.one(test, back, at) else { break };
            if max == u32::MAX {
                if self.tried(choice, next) {
                    break;
                }
            } else {
                left -= 1;
            }
            at = next;
        }
        Ok(at)
    }

    fn holds(&self, assert: Assert, at: usize) -> bool {
        let before = || self.before(at).map(|(c, _)| c);
        let after = || self.after(at).map(|(c, _)| c);
        match assert {
            Assert::Start => at == 0,
            Assert::End => at == self.text.len(),
            Assert::LineStart => before().is_none_or(is_line_end),
            Assert::LineEnd => after().is_none_or(is_line_end),
            Assert::Word { negate, fold } => {
                let word = |c: Option<char>| c.is_some_and(|c| is_word(c, fold));
                (word(before()) != word(after())) != negate
            }
        }
    }

    /// Matches the captured text of a group again; a group without a capture matches the empty
    /// text.
    fn backref(
        &mut self,
        group: usize,
        folding: bool,
        back: bool,
        mut at: usize,
    ) -> Result<Option<usize>, StepLimit> {
        let (start, end) = (self.slot(2 * group), self.slot(2 * group + 1));
        if start == UNSET || end == UNSET {
            return Ok(Some(at));
        }
        let text = self.text;
        let mut wanted = text.get(start..end).unwrap_or_default().chars();
        while let Some(c) = if back { wanted.next_back() } else { wanted.next() } {
            self.step(1)?;
            let Some((d, next)) = self.beside(back, at) else { return Ok(None) };
            if c != d {
                if !folding {
                    return Ok(None);
                }
                self.step(FOLD_STEPS)?;
                if fold(c) != fold(d) {
                    return Ok(None);
                }
            }
            at = next;
        }
        Ok(Some(at))
    }
}
