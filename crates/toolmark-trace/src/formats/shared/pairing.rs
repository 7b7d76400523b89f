//! Calls that still wait for a result, for formats whose results do not name
//! the call they answer.

use crate::builder::Builder;
use std::collections::{HashMap, VecDeque};

/// The unanswered calls of a run in the order they were made. Calls that were
/// answered in another way fall out when they come to the front, so that every
/// call is looked at once.
#[derive(Debug, Default)]
pub(crate) struct OpenCalls {
    all: VecDeque<u32>,
    by_name: HashMap<String, VecDeque<u32>>,
}

impl OpenCalls {
    /// A call was made.
    pub(crate) fn add(&mut self, b: &Builder, call: u32) {
        let Some(name) = b.run.calls.get(call as usize).map(|c| &c.name.original) else { return };
        self.all.push_back(call);
        self.by_name.entry(name.get().into_owned()).or_default().push_back(call);
    }

    /// The first call that waits for a result.
    pub(crate) fn first(&mut self, b: &Builder) -> Option<u32> {
        front(&mut self.all, b)
    }

    /// The first call of a tool that waits for a result.
    pub(crate) fn named(&mut self, b: &Builder, name: &str) -> Option<u32> {
        front(self.by_name.get_mut(name)?, b)
    }

    /// No result will come any more for the calls made so far.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.by_name.clear();
    }
}

fn front(queue: &mut VecDeque<u32>, b: &Builder) -> Option<u32> {
    while let Some(&call) = queue.front() {
        if b.run.calls.get(call as usize).is_some_and(|c| c.result.is_none()) {
            return Some(call);
        }
        queue.pop_front();
    }
    None
}
