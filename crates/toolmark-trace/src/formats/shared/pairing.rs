//! Open calls, for formats whose results do not refer to the call they answer.

use crate::builder::TrajectoryBuilder;
use std::collections::{HashMap, VecDeque};

/// The unanswered calls of a run in the order they were made. Calls that were answered
/// otherwise are removed when they reach the front, so that every call is visited once.
#[derive(Debug, Default)]
pub(crate) struct OpenCalls {
    all: VecDeque<u32>,
    by_name: HashMap<String, VecDeque<u32>>,
}

impl OpenCalls {
    /// Adds a call.
    pub(crate) fn add(&mut self, b: &TrajectoryBuilder, call: u32) {
        let Some(name) = b.run.calls.get(call as usize).map(|c| &c.name.original) else { return };
        self.all.push_back(call);
        self.by_name.entry(name.get().into_owned()).or_default().push_back(call);
    }

    /// Returns the first call that waits for a result.
    pub(crate) fn first(&mut self, b: &TrajectoryBuilder) -> Option<u32> {
        front(&mut self.all, b)
    }

    /// Returns the first call of a tool that waits for a result.
    pub(crate) fn named(&mut self, b: &TrajectoryBuilder, name: &str) -> Option<u32> {
        front(self.by_name.get_mut(name)?, b)
    }

    /// Removes all calls made so far, which will not get a result.
    pub(crate) fn clear(&mut self) {
        self.all.clear();
        self.by_name.clear();
    }
}

fn front(queue: &mut VecDeque<u32>, b: &TrajectoryBuilder) -> Option<u32> {
    while let Some(&call) = queue.front() {
        if b.run.calls.get(call as usize).is_some_and(|c| c.result.is_none()) {
            return Some(call);
        }
        queue.pop_front();
    }
    None
}
