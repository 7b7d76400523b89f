//! Lookup of the calls of a trajectory by tool.

use super::reading::is_agentv;
use std::collections::HashMap;
use toolmark_outcome::Profile;
use toolmark_outcome::{IndexedCall, TrajectoryView};
use toolmark_trace::Fact;

/// The calls, indexed by expected tool.
pub(super) struct CallsByTool<'a> {
    /// All calls, as listed.
    pub(super) seen: &'a [IndexedCall<'a>],
    places: HashMap<String, Vec<usize>>,
    /// Profile to follow.
    pub(super) profile: Profile,
    /// Number of failed calls of expected tools.
    pub(super) failed: usize,
}

impl<'a> CallsByTool<'a> {
    /// Returns the displayed number of the call at this index.
    pub(super) fn number(&self, at: usize) -> usize {
        self.seen.get(at).map_or(at + 1, IndexedCall::number)
    }

    /// Indexes the calls of a view by these tools.
    pub(super) fn new<'t>(
        view: &'a TrajectoryView<'a>,
        tools: impl Iterator<Item = &'t str>,
        profile: Profile,
    ) -> Self {
        let mut places: HashMap<String, Vec<usize>> =
            tools.map(|tool| (tool.to_owned(), Vec::new())).collect();
        let mut failed = 0;
        for (at, seen) in view.calls().iter().enumerate() {
            if let Some(places) = places.get_mut(&*seen.call.name.full()) {
                places.push(at);
                failed += usize::from(seen.call.status.is_error());
            }
        }
        Self { seen: view.calls(), places, profile, failed }
    }

    /// Returns the indices of a tool's calls, in order.
    pub(super) fn of(&self, tool: &str) -> &[usize] {
        self.places.get(tool).map_or(&[], Vec::as_slice)
    }

    /// Whether a call counts as made. AgentV ignores its status; in toolmark's reading
    /// a failed call did not do what was expected.
    pub(super) fn counts(&self, at: usize) -> bool {
        is_agentv(self.profile)
            || self.seen.get(at).is_some_and(|seen| !seen.call.status.is_error())
    }

    /// Returns a note about calls that did not count.
    pub(super) fn note(&self) -> Option<String> {
        if is_agentv(self.profile) || self.failed == 0 {
            return None;
        }
        let calls = if self.failed == 1 { "call" } else { "calls" };
        Some(format!("{} {calls} that failed did not count as made", self.failed))
    }
}

/// Whether the trace records calls at all. A row of totals has no calls.
pub(super) fn are_recorded(view: &TrajectoryView<'_>) -> bool {
    let lacks = |fact| view.trajectory().fidelity.lacks(fact);
    !(view.calls().is_empty() && lacks(Fact::Arguments) && lacks(Fact::Messages))
}
