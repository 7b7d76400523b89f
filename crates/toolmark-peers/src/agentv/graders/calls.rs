//! The calls of a trajectory as expectations look them up.

use super::reading::is_agentv;
use std::collections::HashMap;
use toolmark_outcome::Profile;
use toolmark_outcome::{Seen, View};
use toolmark_trace::Fact;

/// The calls, and where those of the expected tools are among them.
pub(super) struct Calls<'a> {
    /// All of them, as they were listed.
    pub(super) seen: &'a [Seen<'a>],
    places: HashMap<String, Vec<usize>>,
    /// The reading.
    pub(super) profile: Profile,
    /// The calls of expected tools that failed.
    pub(super) failed: usize,
}

impl<'a> Calls<'a> {
    /// The number that texts give the call at this place.
    pub(super) fn number(&self, at: usize) -> usize {
        self.seen.get(at).map_or(at + 1, Seen::number)
    }

    /// The calls of a view, looked up by these tools.
    pub(super) fn new<'t>(
        view: &'a View<'a>,
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

    /// The places of the calls of a tool, in order.
    pub(super) fn of(&self, tool: &str) -> &[usize] {
        self.places.get(tool).map_or(&[], Vec::as_slice)
    }

    /// Does a call count as made? AgentV does not ask how it ended; to toolmark
    /// a call that failed did not do what was expected.
    pub(super) fn counts(&self, at: usize) -> bool {
        is_agentv(self.profile)
            || self.seen.get(at).is_some_and(|seen| !seen.call.status.is_error())
    }

    /// What is to be said about calls that did not count.
    pub(super) fn note(&self) -> Option<String> {
        if is_agentv(self.profile) || self.failed == 0 {
            return None;
        }
        let calls = if self.failed == 1 { "call" } else { "calls" };
        Some(format!("{} {calls} that failed did not count as made", self.failed))
    }
}

/// Does the trace record calls at all? A row of totals has none to show.
pub(super) fn are_recorded(view: &View<'_>) -> bool {
    let lacks = |fact| view.trajectory().fidelity.lacks(fact);
    !(view.calls().is_empty() && lacks(Fact::Arguments) && lacks(Fact::Messages))
}
