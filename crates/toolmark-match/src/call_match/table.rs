//! The calls that expectations are compared with.

use super::facts::{FactSource, Facts};
use super::name::ToolNames;
use super::{ArgsMatch, ExpectedArgs};
use crate::engine::{Batches, CallColumn};
use schemars::JsonSchema;
use serde::Deserialize;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use toolmark_outcome::{CallRef, Evidence, EvidenceRole};
use toolmark_outcome::{IndexedCall, TrajectoryView};
use toolmark_scan::Scanner;
use toolmark_trace::{Actor, Call, Fact, Fidelity, Payload, Status, ToolName, Trajectory};

/// Agents whose calls are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Agents {
    /// The calls of the agent itself.
    #[default]
    Main,
    /// The calls of its sub-agents too, after the call that started them.
    All,
}

/// Whether calls of one model response have an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Parallel {
    /// The calls have no order: the model requested all of them at once.
    #[default]
    Free,
    /// The calls have the order in which they are listed.
    InOrder,
}

/// A call in the table.
#[derive(Debug, Clone, Copy)]
pub struct TableCall<'a> {
    /// The call, and its index in its own trajectory.
    pub seen: IndexedCall<'a>,
    /// Facts that its trajectory does not record.
    pub fidelity: Fidelity,
    /// Text of its arguments, unless it must be decoded.
    pub args: Option<&'a str>,
    /// Number of its tool name.
    pub name: u32,
    /// Agent that made the call: 0 for the main agent, then sub-agents.
    pub lane: u32,
    /// Whether calls of one step may be considered simultaneous.
    is_batched: bool,
}

impl TableCall<'_> {
    /// Whether the call is known to have had no effect: denied, failed, interrupted or
    /// unanswered. A trace without results does not show this.
    #[must_use]
    pub fn is_undone(&self) -> bool {
        match self.seen.call.status {
            Status::Unanswered => !self.fidelity.lacks(Fact::Results),
            status => status.is_error(),
        }
    }
}

/// The calls that expectations are compared with, in order.
pub struct CallTable<'a> {
    made: Vec<TableCall<'a>>,
    names: ToolNames,
    batches: Batches,
    undone: CallColumn,
    left_out: usize,
    scanner: RefCell<Scanner>,
    /// Whether the calls of sub-agents are in the table only for what is forbidden.
    counts_main: bool,
    /// The run of each lane.
    pub(super) runs: SmallVec<[&'a Trajectory; 1]>,
    pub(super) source: Option<FactSource>,
    pub(super) facts: OnceCell<Box<dyn Facts + 'a>>,
}

/// End of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    First,
    Last,
}

impl<'a> CallTable<'a> {
    /// Builds the table of a view.
    #[must_use]
    pub fn of(view: &TrajectoryView<'a>, agents: Agents, parallel: Parallel) -> Self {
        let trajectory = view.trajectory();
        let all = view.calls();
        let made = Vec::with_capacity(all.len());
        let runs = SmallVec::new();
        let mut filler = Filler { made, names: ToolNames::default(), agents, lanes: 0, runs };
        filler.fill(trajectory, all, view.turn_index().is_none());
        let Filler { made, names, runs, .. } = filler;
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
        let undone = CallColumn::from_fn(made.len(), |call| made[call].is_undone());
        Self {
            made,
            names,
            batches,
            undone,
            left_out,
            scanner: RefCell::default(),
            counts_main: false,
            runs,
            source: None,
            facts: OnceCell::new(),
        }
    }

    /// Builds the table for expectations of the agent itself and prohibitions for its sub-agents
    /// too: their calls are in the table, but do not count as expected ones.
    #[must_use]
    pub fn with_prohibited(view: &TrajectoryView<'a>, parallel: Parallel) -> Self {
        Self { counts_main: true, ..Self::of(view, Agents::All, parallel) }
    }

    /// Whether a call may meet an expectation. Calls of sub-agents may be in the table only for
    /// what is forbidden.
    #[must_use]
    pub fn counts(&self, call: usize) -> bool {
        !self.counts_main
            || self.made.get(call).is_some_and(|m| m.lane == 0 && m.seen.call.agent.is_none())
    }

    /// Returns the calls that meet no expectation because of the agent that made them, if any.
    #[must_use]
    pub fn uncounted(&self) -> Option<CallColumn> {
        self.counts_main.then(|| CallColumn::from_fn(self.len(), |call| !self.counts(call)))
    }

    /// Whether a call is made before, or after, all others that count.
    pub(super) fn is_at_end(&self, call: usize, end: End) -> bool {
        let own = self.batches.of(call);
        let others = match end {
            End::First => 0..self.batches.start(own),
            End::Last => self.batches.end(own)..self.len(),
        };
        match self.counts_main {
            false => others.is_empty(),
            true => !others.into_iter().any(|other| self.counts(other)),
        }
    }

    /// Returns the calls.
    #[must_use]
    pub fn calls(&self) -> &[TableCall<'a>] {
        &self.made
    }

    /// Returns the number of calls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.made.len()
    }

    /// Whether there are no calls.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.made.is_empty()
    }

    /// Returns the names of the called tools.
    #[must_use]
    pub fn names(&self) -> &ToolNames {
        &self.names
    }

    /// Returns the batches of simultaneous calls.
    #[must_use]
    pub fn batches(&self) -> &Batches {
        &self.batches
    }

    /// Returns the calls that are known to have had no effect.
    #[must_use]
    pub fn undone(&self) -> &CallColumn {
        &self.undone
    }

    /// Returns the number of sub-agent calls that are not in the table.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Whether the arguments match. `None` if only a parsed tree can
    /// decide.
    pub(super) fn is_met(
        &self,
        expected: &ExpectedArgs,
        how: ArgsMatch,
        made: &TableCall<'_>,
    ) -> Option<bool> {
        match (made.args, &made.seen.call.args) {
            (Some(args), _) => expected.is_met(how, args, &self.scanner),
            (None, Some(args)) => expected.is_met(how, &args.raw(), &self.scanner),
            (None, None) => None,
        }
    }

    /// Returns the display name of a call: "call 3 `book`".
    #[must_use]
    pub fn title(&self, call: usize) -> String {
        let Some(made) = self.made.get(call) else { return String::new() };
        let name = self.names.get(made.name);
        match made.lane {
            0 => format!("call {} `{name}`", made.seen.number()),
            lane => format!("call {} `{name}` of sub-agent {lane}", made.seen.number()),
        }
    }

    /// Returns the text of the result of a call, if it is recorded.
    #[must_use]
    pub fn result_text(&self, call: usize) -> Option<Cow<'a, str>> {
        let result = self.made.get(call)?.seen.call.result.as_ref()?;
        result.payload.as_ref().map(Payload::plain)
    }

    /// Returns the reference to a call for evidence.
    #[must_use]
    pub fn call_ref(&self, view: &TrajectoryView<'_>, call: usize) -> Option<CallRef> {
        self.made.get(call).map(|made| view.call_ref(made.seen))
    }

    /// Returns the reference to a call, without its content.
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

    /// Returns evidence about a call.
    #[must_use]
    pub fn evidence(
        &self,
        view: &TrajectoryView<'_>,
        role: EvidenceRole,
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
    made: Vec<TableCall<'a>>,
    names: ToolNames,
    agents: Agents,
    lanes: u32,
    runs: SmallVec<[&'a Trajectory; 1]>,
}

impl<'a> Filler<'a> {
    /// Adds the calls of a trajectory. Sub-agents are nested no deeper than readers allow.
    fn fill(&mut self, trajectory: &'a Trajectory, calls: &[IndexedCall<'a>], is_whole: bool) {
        let lane = self.lanes;
        self.runs.push(trajectory);
        let is_batched = has_batches(trajectory);
        for tool in trajectory.tools.iter().flatten() {
            self.names.offer(ToolName::new(tool.name.clone()));
        }
        let mut children = match self.agents {
            Agents::Main => PendingChildren::default(),
            Agents::All => PendingChildren::of(trajectory),
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
            self.made.push(TableCall { seen: *seen, fidelity, args, name, lane, is_batched });
            started.extend(children.take(seen.call));
            // Runs started by a response come after all calls of the response.
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
        let calls: Vec<IndexedCall<'a>> = child
            .calls
            .iter()
            .enumerate()
            .filter(|(_, call)| call.actor != Actor::User)
            .map(|(index, call)| IndexedCall { index, call })
            .collect();
        self.fill(child, &calls, true);
    }
}

/// Runs of sub-agents, waiting for the call that started them.
#[derive(Default)]
struct PendingChildren<'a> {
    waiting: Vec<Option<&'a Trajectory>>,
    by_call: HashMap<String, Vec<usize>>,
    by_id: HashMap<String, Vec<usize>>,
}

impl<'a> PendingChildren<'a> {
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

    /// Removes and returns the runs that this call started.
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

/// Whether the steps of a trajectory are model responses, so that calls of one step were
/// requested at once.
///
/// AgentV keeps the calls of a whole run in one message, each with its result,
/// so their order is the list order.
#[must_use]
pub fn has_batches(trajectory: &Trajectory) -> bool {
    let fidelity = trajectory.fidelity;
    !fidelity.lacks(Fact::Steps)
        && !fidelity.lacks(Fact::Parallel)
        && !trajectory.format.starts_with("agentv-")
}
