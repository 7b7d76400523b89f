//! Pairs results with calls if neither has an ID.

use crate::builder::{ReaderResult, TrajectoryBuilder};
use std::collections::VecDeque;
use toolmark_scan::Value;

/// The calls of the latest model response, in the order they were made.
///
/// Results without IDs directly follow the response whose calls they answer, in the order of
/// the calls or with the name of the tool. A call that was not answered in an earlier response
/// must not get the result of a later one.
#[derive(Debug, Default)]
pub(crate) struct Positional {
    step: Option<u32>,
    calls: VecDeque<u32>,
}

impl Positional {
    /// Maximum number of calls searched for a name, so that a response with very many calls stays
    /// cheap.
    const LOOK_AHEAD: usize = 256;

    /// Adds a call.
    pub(crate) fn add(&mut self, step: u32, call: u32) {
        if self.step != Some(step) {
            self.step = Some(step);
            self.calls.clear();
        }
        self.calls.push_back(call);
    }

    /// Adds a result to the call with its ID; without an ID, to the first open call of the tool
    /// `name`, or of any tool.
    pub(crate) fn answer(
        &mut self,
        b: &mut TrajectoryBuilder,
        id: Option<Value<'_>>,
        name: Option<Value<'_>>,
        answer: ReaderResult,
    ) {
        match id.and_then(Value::str).filter(|id| !id.is_empty()) {
            Some(id) => {
                b.answer(&*id, answer);
            }
            None => b.answer_call(self.take(b, name.and_then(Value::str).as_deref()), answer),
        }
    }

    /// Returns the first open call of the tool `name`, or the first of any tool.
    pub(crate) fn take(&mut self, b: &TrajectoryBuilder, name: Option<&str>) -> Option<u32> {
        let is_open = |i: &u32| b.run.calls.get(*i as usize).is_some_and(|c| c.result.is_none());
        while self.calls.front().is_some_and(|i| !is_open(i)) {
            self.calls.pop_front();
        }
        let fits = |i: &u32| {
            is_open(i) && name.is_none_or(|n| b.run.calls[*i as usize].name.original.is(n))
        };
        let at = self.calls.iter().take(Self::LOOK_AHEAD).position(fits)?;
        self.calls.remove(at)
    }
}
