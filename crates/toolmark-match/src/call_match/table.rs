//! The calls that expectations are laid against.

use super::name::Names;
use super::{ArgsMatch, Expected};
use crate::engine::{Batches, Column};
use schemars::JsonSchema;
use serde::Deserialize;
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use toolmark_outcome::{CallRef, Evidence, Role};
use toolmark_outcome::{Seen, View};
use toolmark_scan::Scanner;
use toolmark_trace::{Actor, Call, Fact, Fidelity, Payload, Status, ToolName, Trajectory};

/// Whose calls are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Agents {
    /// The calls of the agent itself.
    #[default]
    Main,
    /// Those of its sub-agents too, behind the call that started them.
    All,
}

/// Whether calls of one model response have an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Parallel {
    /// They have none: the model asked for all of them at once.
    #[default]
    Free,
    /// They have the order they are listed in.
    InOrder,
}

/// A call in the table.
#[derive(Debug, Clone, Copy)]
pub struct Made<'a> {
    /// The call, and its place in its own trajectory.
    pub seen: Seen<'a>,
    /// What its trajectory could not tell.
    pub fidelity: Fidelity,
    /// The text of its arguments, unless it has to be decoded.
    pub args: Option<&'a str>,
    /// The number of its tool's name.
    pub name: u32,
    /// Whose call it is: 0 for the agent itself, then sub-agents.
    pub lane: u32,
    /// May calls of one step be taken as made at once?
    is_batched: bool,
}

impl Made<'_> {
    /// Is it known that the call did nothing: refused, failed, cut off or
    /// never answered? A trace without results does not tell.
    #[must_use]
    pub fn is_undone(&self) -> bool {
        match self.seen.call.status {
            Status::Unanswered => !self.fidelity.lacks(Fact::Results),
            status => status.is_error(),
        }
    }
}

/// The calls that expectations are laid against, in order.
pub struct CallTable<'a> {
    made: Vec<Made<'a>>,
    names: Names,
    batches: Batches,
    undone: Column,
    left_out: usize,
    scanner: RefCell<Scanner>,
}

impl<'a> CallTable<'a> {
    /// The calls of a view.
    #[must_use]
    pub fn of(view: &View<'a>, agents: Agents, parallel: Parallel) -> Self {
        let trajectory = view.trajectory();
        let all = view.calls();
        let made = Vec::with_capacity(all.len());
        let mut filler = Filler { made, names: Names::default(), agents, lanes: 0 };
        filler.fill(trajectory, all, view.turn_index().is_none());
        let Filler { made, names, .. } = filler;
        let left_out = match agents {
            Agents::All => 0,
            Agents::Main if trajectory.children.is_empty() => all.len() - made.len(),
            Agents::Main => {
                let nested = trajectory.flatten().into_iter().skip(1);
                all.len() - made.len() + nested.map(|child| child.calls.len()).sum::<usize>()
            }
        };
        let batches = match parallel {
            Parallel::InOrder => Batches::singles(made.len()),
            Parallel::Free => Batches::of_keys(made.iter().map(|made| {
                let step = made.seen.call.step.filter(|_| made.is_batched)?;
                Some((made.lane, step))
            })),
        };
        let undone = Column::from_fn(made.len(), |call| made[call].is_undone());
        Self { made, names, batches, undone, left_out, scanner: RefCell::default() }
    }

    /// The calls.
    #[must_use]
    pub fn calls(&self) -> &[Made<'a>] {
        &self.made
    }

    /// How many calls there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.made.len()
    }

    /// Is there no call?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.made.is_empty()
    }

    /// The names of their tools.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Which of them were made side by side.
    #[must_use]
    pub fn batches(&self) -> &Batches {
        &self.batches
    }

    /// Those that are known to have done nothing.
    #[must_use]
    pub fn undone(&self) -> &Column {
        &self.undone
    }

    /// How many calls of sub-agents are not in the table.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Are these arguments what is expected? `None` where only a tree of them
    /// can tell.
    pub(super) fn is_met(
        &self,
        expected: &Expected,
        how: ArgsMatch,
        made: &Made<'_>,
    ) -> Option<bool> {
        match (made.args, &made.seen.call.args) {
            (Some(args), _) => expected.is_met(how, args, &self.scanner),
            (None, Some(args)) => expected.is_met(how, &args.raw(), &self.scanner),
            (None, None) => None,
        }
    }

    /// How texts name a call: "call 3 `book`".
    #[must_use]
    pub fn title(&self, call: usize) -> String {
        let Some(made) = self.made.get(call) else { return String::new() };
        let name = self.names.get(made.name);
        match made.lane {
            0 => format!("call {} `{name}`", made.seen.number()),
            lane => format!("call {} `{name}` of sub-agent {lane}", made.seen.number()),
        }
    }

    /// A call as evidence names it.
    #[must_use]
    pub fn call_ref(&self, view: &View<'_>, call: usize) -> Option<CallRef> {
        self.made.get(call).map(|made| view.call_ref(made.seen))
    }

    /// Which call it is, without what it says.
    #[must_use]
    pub fn pointer(&self, call: usize) -> Option<CallRef> {
        let made = self.made.get(call)?;
        Some(CallRef {
            index: made.seen.index,
            step: made.seen.call.step,
            id: None,
            tool: self.names.get(made.name).into(),
            args: None,
            status: made.seen.call.status.word(),
            place: None,
        })
    }

    /// Evidence about a call.
    #[must_use]
    pub fn evidence(
        &self,
        view: &View<'_>,
        role: Role,
        text: impl Into<String>,
        call: usize,
    ) -> Option<Evidence> {
        let made = self.made.get(call)?;
        let text = match made.lane {
            0 => text.into(),
            lane => format!("{} (sub-agent {lane})", text.into()),
        };
        Some(view.evidence(role, text, made.seen))
    }
}

struct Filler<'a> {
    made: Vec<Made<'a>>,
    names: Names,
    agents: Agents,
    lanes: u32,
}

impl<'a> Filler<'a> {
    /// Sub-agents are nested no deeper than readers allow.
    fn fill(&mut self, trajectory: &'a Trajectory, calls: &[Seen<'a>], is_whole: bool) {
        let lane = self.lanes;
        let is_batched = has_batches(trajectory);
        for tool in trajectory.tools.iter().flatten() {
            self.names.offer(ToolName::new(tool.name.clone()));
        }
        let mut children = match self.agents {
            Agents::Main => Children::default(),
            Agents::All => Children::of(trajectory),
        };
        let mut started = Vec::new();
        for (at, seen) in calls.iter().enumerate() {
            if self.agents == Agents::Main && seen.call.agent.is_some() {
                continue;
            }
            let name = self.names.add(&seen.call.name);
            let fidelity = trajectory.fidelity;
            let args = match seen.call.args.as_ref().map(Payload::raw) {
                Some(Cow::Borrowed(text)) => Some(text),
                _ => None,
            };
            self.made.push(Made { seen: *seen, fidelity, args, name, lane, is_batched });
            started.extend(children.take(seen.call));
            // What a response started stands behind all calls of the response.
            let next = calls.get(at + 1);
            let goes_on = next.is_some_and(|next| is_batched && next.call.step == seen.call.step);
            if !goes_on {
                started.drain(..).for_each(|child| self.child(child));
            }
        }
        if is_whole {
            children.waiting.into_iter().flatten().for_each(|child| self.child(child));
        }
    }

    fn child(&mut self, child: &'a Trajectory) {
        self.lanes += 1;
        let calls: Vec<Seen<'a>> = child
            .calls
            .iter()
            .enumerate()
            .filter(|(_, call)| call.actor != Actor::User)
            .map(|(index, call)| Seen { index, call })
            .collect();
        self.fill(child, &calls, true);
    }
}

/// The runs of sub-agents until the call that started them comes.
#[derive(Default)]
struct Children<'a> {
    waiting: Vec<Option<&'a Trajectory>>,
    by_call: HashMap<String, Vec<usize>>,
    by_id: HashMap<String, Vec<usize>>,
}

impl<'a> Children<'a> {
    fn of(trajectory: &'a Trajectory) -> Self {
        let mut all = Self::default();
        for (at, child) in trajectory.children.iter().enumerate() {
            all.waiting.push(Some(child));
            if let Some(call) = child.parent.as_ref().and_then(|parent| parent.call.as_ref()) {
                all.by_call.entry(call.get().into_owned()).or_default().push(at);
            }
            if let Some(id) = &child.id {
                all.by_id.entry(id.get().into_owned()).or_default().push(at);
            }
        }
        all
    }

    /// Those that this call started.
    fn take(&mut self, call: &Call) -> Vec<&'a Trajectory> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        let by_call = call.id.as_ref().and_then(|id| self.by_call.get(&*id.get()));
        let by_id = call.spawned.as_ref().and_then(|id| self.by_id.get(&*id.get()));
        let mut places: Vec<usize> = by_call.into_iter().chain(by_id).flatten().copied().collect();
        places.sort_unstable();
        places.into_iter().filter_map(|at| self.waiting[at].take()).collect()
    }
}

/// Are the steps of a trajectory model responses, so that calls of one were
/// asked for at once?
///
/// AgentV keeps the calls of a whole run in one message, each with its result,
/// so there the list is the order.
#[must_use]
pub fn has_batches(trajectory: &Trajectory) -> bool {
    let fidelity = trajectory.fidelity;
    !fidelity.lacks(Fact::Steps)
        && !fidelity.lacks(Fact::Parallel)
        && !trajectory.format.starts_with("agentv-")
}
