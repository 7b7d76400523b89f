//! Builds the trajectory of a run from its spans.
//!
//! Calls are read from tool spans if there are any, and otherwise from the model's messages;
//! never from both. An agent that runs inside a tool is a sub-agent with its own trajectory;
//! an agent inside another agent is not, because frameworks wrap agents in agents.

use super::TelemetrySpan;
use super::facts::{MarkKind, SpanFacts, SpanRole};
use super::run::SpanRun;
use super::tree::SpanTree;
use crate::format::{Format, Out};
use crate::model::{At, EventKind, MAX_DEPTH, Parent, Text, Trajectory};
use jiff::Timestamp;
use std::collections::HashMap;

/// The spans of one run and their relations.
pub(super) struct Assembly {
    members: Vec<(TelemetrySpan, SpanFacts)>,
    /// Index of the nearest response, tool or agent above, with repeated spans resolved.
    near: Vec<Option<usize>>,
    /// Index of the nearest agent above.
    agent: Vec<Option<usize>>,
    /// Index of the run a span belongs to; 0 is the main run.
    run: Vec<usize>,
    /// Whether a span only repeats another one.
    absorbed: Vec<bool>,
    depth: Vec<u32>,
    /// Agent spans that start sub-agents' runs, from run 1 on.
    roots: Vec<usize>,
    has_tool_spans: bool,
}

/// An event of the run, at its time.
struct Action {
    time: Option<Timestamp>,
    /// Order at the same time: ends before starts, but after the start of the same span.
    rank: u8,
    depth: u32,
    member: usize,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    Start,
    End,
    Mark(usize),
}

impl Assembly {
    pub(super) fn new(
        mut members: Vec<(TelemetrySpan, SpanFacts)>,
        every_response_counts: bool,
    ) -> Self {
        let tree = SpanTree::new(&members);
        let same = tree.repeats(&mut members, every_response_counts);
        let order = tree.top_down();
        let mut absorbed = vec![false; members.len()];
        for &index in &order {
            if let Some(target) = same[index] {
                let facts = std::mem::take(&mut members[index].1);
                members[target].1.absorb(facts);
                absorbed[index] = true;
            }
        }
        let resolve = |index: usize| same[index].unwrap_or(index);
        let near = tree.near.iter().map(|near| near.map(resolve)).collect();
        let has_tool_spans = members.iter().any(|(_, f)| f.kind == Some(SpanRole::Tool));
        let count = members.len();
        let mut assembly = Self {
            members,
            near,
            agent: vec![None; count],
            run: vec![0; count],
            absorbed,
            depth: tree.depth,
            roots: Vec::new(),
            has_tool_spans,
        };
        assembly.divide(&order);
        assembly
    }

    fn kind(&self, index: usize) -> Option<SpanRole> {
        self.members[index].1.kind
    }

    /// Determines the agent and the run of every span, ancestors first.
    fn divide(&mut self, order: &[usize]) {
        let mut levels = vec![0];
        for &index in order {
            let Some(above) = self.near[index] else { continue };
            let is_agent = self.kind(above) == Some(SpanRole::Agent);
            self.agent[index] = if is_agent { Some(above) } else { self.agent[above] };
            let outer = self.run[above];
            let is_root = self.kind(index) == Some(SpanRole::Agent)
                && (self.kind(above) == Some(SpanRole::Tool)
                    || self.members[index].1.own.is_some()
                    || self.members[index].1.is_sub_agent)
                && levels[outer] < MAX_DEPTH;
            self.run[index] = outer;
            if is_root {
                self.roots.push(index);
                self.run[index] = self.roots.len();
                levels.push(levels[outer] + 1);
            }
        }
    }

    /// Builds the trajectory.
    pub(super) fn run(
        mut self,
        format: &dyn Format,
        out: &Out,
        notes: Vec<(Text, At)>,
    ) -> Trajectory {
        let mut runs: Vec<SpanRun> = (0..=self.roots.len())
            .map(|n| SpanRun::new(out.builder(format), n > 0, self.has_tool_spans))
            .collect();
        self.prepare(&mut runs);
        let mut calls: HashMap<usize, u32> = HashMap::new();
        let mut steps: HashMap<usize, u32> = HashMap::new();
        for action in self.actions() {
            self.act(&action, &mut runs, &mut calls, &mut steps);
        }
        for (kind, at) in notes {
            runs[0].b.event(EventKind::Note(kind), None, None, None, at);
        }
        self.nest(runs, &calls)
    }

    /// Prepares each run before its events: its ID, and whether its responses contain messages.
    fn prepare(&self, runs: &mut [SpanRun]) {
        for (index, (_, facts)) in self.members.iter().enumerate() {
            let lacks = &mut runs[self.run[index]].lacks;
            *lacks = lacks.union(facts.lacks);
            if facts.kind == Some(SpanRole::Llm) {
                let run = &mut runs[self.run[index]];
                run.has_responses = true;
                run.has_inputs |= !facts.input.is_empty();
                run.has_messages |= !facts.input.is_empty() || !facts.output.is_empty();
            }
        }
        let first = self
            .members
            .iter()
            .min_by_key(|(span, facts)| (!facts.is_node(), span.start.is_none(), span.start));
        let conversation = self.members.iter().find_map(|(_, f)| f.conversation.clone());
        runs[0].b.run.id = conversation.or_else(|| {
            let trace = first?.0.trace.as_str();
            (!trace.is_empty()).then(|| Text::owned(trace))
        });
        for (n, &root) in self.roots.iter().enumerate() {
            let (span, facts) = &self.members[root];
            runs[n + 1].b.run.id = match &facts.own {
                Some(own) => own.id.clone(),
                None => Some(Text::owned(span.id.as_str())),
            };
        }
        let is_main = |(index, (_, facts)): &(usize, &(TelemetrySpan, SpanFacts))| {
            facts.kind == Some(SpanRole::Agent) && self.run[*index] == 0 && facts.own.is_some()
        };
        if let Some((_, (_, facts))) = self.members.iter().enumerate().find(is_main) {
            runs[0].b.run.id = facts.own.as_ref().and_then(|own| own.id.clone());
        }
    }

    fn actions(&self) -> Vec<Action> {
        let mut actions = Vec::with_capacity(self.members.len() * 2);
        let mut clock = None;
        for (member, (span, facts)) in self.members.iter().enumerate() {
            if self.absorbed[member] {
                continue;
            }
            // Spans that are in order stay so, however their times jump.
            let mut start = span.start;
            if facts.own.is_some() && matches!(facts.kind, Some(SpanRole::Llm | SpanRole::Tool)) {
                clock = clock.max(start);
                start = clock;
            }
            let mut push = |time: Option<Timestamp>, rank, what| {
                let depth = self.depth[member];
                actions.push(Action { time, rank, depth, member, what });
            };
            push(start, 1, What::Start);
            for (n, mark) in facts.marks.iter().enumerate() {
                push(mark.time.or(span.start), 1, What::Mark(n));
            }
            let is_over = span.end.is_some() || facts.result.is_some() || facts.own.is_some();
            if is_over && matches!(facts.kind, Some(SpanRole::Tool | SpanRole::Agent)) {
                let end = span.end.max(start);
                push(end, if end > start { 0 } else { 2 }, What::End);
            }
        }
        actions.sort_by_key(|a| (a.time.is_none(), a.time, a.rank, a.depth, a.member));
        actions
    }

    fn act(
        &mut self,
        action: &Action,
        runs: &mut [SpanRun],
        calls: &mut HashMap<usize, u32>,
        steps: &mut HashMap<usize, u32>,
    ) {
        let index = action.member;
        let scope = self.scope(index);
        let is_outermost = self.agent[index].is_none_or(|a| self.run[a] != self.run[index]);
        let run = &mut runs[self.run[index]];
        let near_step = self.near[index].and_then(|n| steps.get(&n)).copied();
        let is_repeated = self.near[index].is_some_and(|n| self.kind(n) == Some(SpanRole::Llm));
        let (span, facts) = &mut self.members[index];
        if facts.is_node() {
            run.of_service(span);
        }
        match (action.what, facts.kind) {
            (What::Start, Some(SpanRole::Llm)) => {
                // A response inside a response, where both count, says the same.
                if is_repeated {
                    facts.input.clear();
                    facts.output.clear();
                }
                steps.insert(index, run.response(span, facts, &scope));
            }
            (What::Start, Some(SpanRole::Tool)) => {
                calls.insert(index, run.call(span, facts, &scope, near_step));
            }
            (What::End, Some(SpanRole::Tool)) => {
                if let Some(&call) = calls.get(&index) {
                    run.answer(call, span, facts);
                }
            }
            (What::Start, Some(SpanRole::Agent)) => run.agent_starts(span, facts, is_outermost),
            (What::End, Some(SpanRole::Agent)) => run.agent_ends(span, facts, is_outermost),
            (What::Start, Some(SpanRole::Unknown)) => {
                run.failure(span, facts);
                let name = span.attributes.text(&["gen_ai.operation.name"]);
                let kind = EventKind::Unknown(name.unwrap_or_else(|| span.name.clone()));
                // It may be a tool's: a part of the response that is not understood.
                let step = near_step.or_else(|| run.b.last_step());
                run.b.event(kind, None, step, None, span.at.clone());
            }
            (What::Start, kind) => {
                if kind == Some(SpanRole::Part) {
                    run.failure(span, facts);
                }
                let note = EventKind::Note(span.name.clone());
                run.b.event(note, None, None, span.start, span.at.clone());
            }
            (What::Mark(n), _) => {
                if let Some(mark) = facts.marks.get(n) {
                    let is_input = matches!(&mark.kind, MarkKind::User | MarkKind::Context);
                    if !(is_input && run.has_messages) {
                        run.mark(mark, span);
                    }
                }
            }
            (What::End, _) => {}
        }
    }

    /// Returns the name of the agent a span belongs to; empty if there is none.
    fn scope(&self, index: usize) -> String {
        let Some(agent) = self.agent[index] else { return String::new() };
        let (span, facts) = &self.members[agent];
        match &facts.agent {
            Some(name) => name.get().into_owned(),
            // The bare operation does not name an agent.
            None if span.name == "invoke_agent" => String::new(),
            None => span.name.get().into_owned(),
        }
    }

    /// Finishes the runs and attaches sub-agents to the calls that started them.
    fn nest(self, mut runs: Vec<SpanRun>, calls: &HashMap<usize, u32>) -> Trajectory {
        let mut finished: Vec<Vec<Trajectory>> = runs.iter().map(|_| Vec::new()).collect();
        // Roots were found ancestors first, so that the last has no children left to come.
        for &root in self.roots.iter().rev() {
            let Some(run) = runs.pop() else { break };
            let tool = self.near[root];
            let outer = tool.map_or(0, |t| self.run[t]);
            let mut child = run.finish(in_order(finished.pop().unwrap_or_default()));
            let above = &mut runs[outer].b.run;
            let call = tool.and_then(|t| above.calls.get_mut(*calls.get(&t)? as usize));
            let call = call.and_then(|call| {
                call.spawned = call.spawned.take().or_else(|| child.id.clone());
                call.id.clone()
            });
            let parent = Parent { trajectory: above.id.clone(), call };
            child.parent.get_or_insert(parent);
            finished[outer].push(child);
        }
        runs.swap_remove(0).finish(in_order(finished.swap_remove(0)))
    }
}

fn in_order(mut children: Vec<Trajectory>) -> Vec<Trajectory> {
    children.sort_by_key(|c| (c.started.is_none(), c.started));
    children
}
