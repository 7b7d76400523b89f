//! A trajectory as graders see it: the whole, or one turn.

use crate::evidence::{CallRef, Evidence, EvidenceRole};
use crate::excerpt;
use crate::place::TracePlace;
use jiff::SignedDuration;
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use toolmark_redact::Untrusted;
use toolmark_trace::{Actor, At, Call, Event, EventKind, Fact, Status, Trajectory};

/// A call with its index among all calls of the trajectory.
#[derive(Debug, Clone, Copy)]
pub struct IndexedCall<'a> {
    /// Index in [`Trajectory::calls`], from 0.
    pub index: usize,
    /// The call.
    pub call: &'a Call,
}

impl IndexedCall<'_> {
    /// Returns the number used in messages: calls are counted from 1.
    #[must_use]
    pub fn number(&self) -> usize {
        self.index + 1
    }
}

/// Description of evidence that a grader needs and the trace lacks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Missing(pub String);

impl Missing {
    /// Creates the description of missing evidence.
    #[must_use]
    pub fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

/// A trajectory, or one turn of it.
pub struct TrajectoryView<'a> {
    trajectory: &'a Trajectory,
    events: Range<usize>,
    calls: Vec<IndexedCall<'a>>,
    turn: Option<u32>,
    /// Whether it is restricted to one call.
    is_call: bool,
    /// Whether the calls were accessed. Conclusions from calls that are not recorded are
    /// worthless.
    looked: Cell<bool>,
}

impl<'a> TrajectoryView<'a> {
    /// Creates a view of the whole trajectory, without the calls of a (simulated) user.
    #[must_use]
    pub fn whole(trajectory: &'a Trajectory) -> Self {
        Self::of(trajectory, 0..trajectory.events.len(), None)
    }

    /// Creates a view of one turn: from its user message to the next, counted from 0. Events
    /// before the first message belong to the first turn.
    pub fn turn(trajectory: &'a Trajectory, turn: u32) -> Result<Self, Missing> {
        if trajectory.fidelity.lacks(Fact::UserTurns) {
            return Err(Missing::new("the trace does not record user turns"));
        }
        let starts: Vec<usize> = trajectory
            .events
            .iter()
            .enumerate()
            .filter(|(_, event)| event.starts_turn())
            .map(|(at, _)| at)
            .collect();
        let turns = starts.len().max(1);
        let wanted = turn as usize;
        if wanted >= turns {
            let has = format!("the trajectory has {turns} turns, there is no turn {turn}");
            return Err(Missing(has));
        }
        let start = if wanted == 0 { 0 } else { starts[wanted] };
        let end = starts.get(wanted + 1).copied().unwrap_or(trajectory.events.len());
        Ok(Self::of(trajectory, start..end, Some(turn)))
    }

    /// Creates a view of one call, with the texts of its turn up to it; `None` if there is no
    /// such call.
    #[must_use]
    pub fn call(trajectory: &'a Trajectory, index: usize) -> Option<Self> {
        let call = trajectory.calls.get(index)?;
        let is_call =
            |event: &Event| matches!(event.kind, EventKind::Call(at) if at as usize == index);
        let events = &trajectory.events;
        let end = events.iter().position(is_call).map_or(events.len(), |at| at + 1);
        let start = events[..end].iter().rposition(Event::starts_turn).unwrap_or(0);
        let turns = events[..end].iter().filter(|event| event.starts_turn()).count();
        Some(Self {
            trajectory,
            events: start..end,
            calls: vec![IndexedCall { index, call }],
            turn: Some(turns.saturating_sub(1) as u32),
            is_call: true,
            looked: Cell::new(false),
        })
    }

    fn of(trajectory: &'a Trajectory, events: Range<usize>, turn: Option<u32>) -> Self {
        let seen = |index: usize| {
            let call = trajectory.calls.get(index)?;
            (call.actor != Actor::User).then_some(IndexedCall { index, call })
        };
        let calls = match turn {
            None => {
                let mut calls = Vec::with_capacity(trajectory.calls.len());
                calls.extend((0..trajectory.calls.len()).filter_map(seen));
                calls
            }
            Some(_) => trajectory.events[events.clone()]
                .iter()
                .filter_map(|event| match event.kind {
                    EventKind::Call(index) => seen(index as usize),
                    _ => None,
                })
                .collect(),
        };
        Self { trajectory, events, calls, turn, is_call: false, looked: Cell::new(false) }
    }

    /// Returns the underlying trajectory.
    #[must_use]
    pub fn trajectory(&self) -> &'a Trajectory {
        self.trajectory
    }

    /// Returns the turn to which the view is restricted, from 0.
    #[must_use]
    pub fn turn_index(&self) -> Option<u32> {
        self.turn
    }

    /// Whether it is restricted to one call.
    #[must_use]
    pub fn is_call(&self) -> bool {
        self.is_call
    }

    /// Returns the agent's calls, in order.
    #[must_use]
    pub fn calls(&self) -> &[IndexedCall<'a>] {
        self.looked.set(true);
        &self.calls
    }

    /// Runs `look` and also returns whether it accessed the calls.
    pub fn watch<T>(&self, look: impl FnOnce() -> T) -> (T, bool) {
        let before = self.looked.replace(false);
        let found = look();
        (found, self.looked.replace(before))
    }

    /// Returns the events, in order.
    #[must_use]
    pub fn events(&self) -> &'a [Event] {
        &self.trajectory.events[self.events.clone()]
    }

    /// Returns the events of one kind.
    pub fn events_of(&self, kind: EventKind) -> impl Iterator<Item = &'a Event> {
        self.events().iter().filter(move |event| event.kind == kind)
    }

    /// Returns the model's messages, in order.
    pub fn messages(&self) -> impl Iterator<Item = (&'a Event, Cow<'a, str>)> {
        self.events_of(EventKind::Message)
            .filter_map(|event| Some((event, event.text.as_ref()?.plain())))
    }

    /// Returns the indexes of the steps (model responses) in this view.
    #[must_use]
    pub fn steps(&self) -> Vec<u32> {
        let steps = 0..self.trajectory.steps.len() as u32;
        match self.turn {
            None => steps.collect(),
            Some(_) => {
                let mut seen: Vec<u32> = self.events().iter().filter_map(|e| e.step).collect();
                seen.extend(self.calls.iter().filter_map(|c| c.call.step));
                seen.sort_unstable();
                seen.dedup();
                seen
            }
        }
    }

    /// Returns the final answer: the one stated in the source, otherwise the last message of
    /// the model in this view. An empty answer is an answer; a trace that records no messages
    /// has none.
    pub fn output(&self) -> Result<Cow<'a, str>, Missing> {
        if self.turn.is_none()
            && let Some(output) = &self.trajectory.stated.output
        {
            return Ok(output.plain());
        }
        match self.messages().last() {
            Some((_, text)) => Ok(text),
            None if self.trajectory.fidelity.lacks(Fact::Messages) => {
                Err(Missing::new("the trace does not record what the model said"))
            }
            None => Ok(Cow::Borrowed("")),
        }
    }

    /// Returns the duration: the one stated in the source, otherwise the time from the first
    /// to the last recorded timestamp.
    #[must_use]
    pub fn duration(&self) -> Option<SignedDuration> {
        if self.turn.is_none() {
            return duration_of(self.trajectory);
        }
        let times = self.events().iter().filter_map(|event| event.time);
        Some(times.clone().max()?.duration_since(times.min()?))
    }

    /// Returns the first user message.
    #[must_use]
    pub fn prompt(&self) -> Option<Cow<'a, str>> {
        first_asked(self.events())
    }

    /// Returns the names of the activated skills, each with its event.
    pub fn skills(&self) -> impl Iterator<Item = (&'a Event, Cow<'a, str>)> {
        self.events_of(EventKind::Skill)
            .filter_map(|event| Some((event, event.text.as_ref()?.plain())))
    }

    /// Returns the position of an item in the trace.
    #[must_use]
    pub fn place(&self, at: &At) -> TracePlace {
        at.location().into()
    }

    /// Returns the reference to a call for evidence.
    #[must_use]
    pub fn call_ref(&self, seen: IndexedCall<'_>) -> CallRef {
        CallRef::new(seen.index, seen.call, Some(self.place(&seen.call.at)))
    }

    /// Creates evidence about a call.
    #[must_use]
    pub fn evidence(
        &self,
        role: EvidenceRole,
        text: impl Into<Untrusted>,
        seen: IndexedCall<'_>,
    ) -> Evidence {
        Evidence::call(role, text, self.call_ref(seen))
    }

    /// Creates evidence about an event.
    #[must_use]
    pub fn event_evidence(
        &self,
        role: EvidenceRole,
        text: impl Into<Untrusted>,
        event: &Event,
    ) -> Evidence {
        let evidence = Evidence::words(role, text).at(self.place(&event.at));
        match &event.text {
            Some(words) => evidence.with_excerpt(&excerpt(&words.plain())),
            None => evidence,
        }
    }
}

/// Returns the first user message of a run.
#[must_use]
pub fn prompt_of(run: &Trajectory) -> Option<Cow<'_, str>> {
    first_asked(&run.events)
}

fn first_asked(events: &[Event]) -> Option<Cow<'_, str>> {
    let mut asked = events.iter().filter(|event| event.kind == EventKind::User);
    asked.find_map(|event| Some(event.text.as_ref()?.plain()))
}

/// Returns the duration of a run.
#[must_use]
pub fn duration_of(run: &Trajectory) -> Option<SignedDuration> {
    run.stated.duration.or_else(|| Some(run.ended?.duration_since(run.started?)))
}

impl IndexedCall<'_> {
    /// Whether the call has any kind of result.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.call.status != Status::Unanswered
    }

    /// Whether the call is known to have had no effect: refused, failed, cut off or never
    /// answered.
    #[must_use]
    pub fn is_undone(&self) -> bool {
        self.call.status.is_error() || self.call.status == Status::Unanswered
    }
}
