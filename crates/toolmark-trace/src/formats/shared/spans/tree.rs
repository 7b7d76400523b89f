//! Relations between spans: parents, spans about the same operation, and the spans of one run.

use super::TelemetrySpan;
use super::facts::{SpanFacts, SpanRole};
use std::collections::{BTreeMap, HashMap};

/// The spans of one run with their relations.
#[derive(Debug)]
pub(super) struct SpanTree {
    /// Index of the nearest ancestor that is a response, a tool or an agent.
    pub(super) near: Vec<Option<usize>>,
    /// Number of ancestors of a span in the file.
    pub(super) depth: Vec<u32>,
}

impl SpanTree {
    /// Builds the tree. Parents may be missing and, in a broken file, form a cycle.
    pub(super) fn new(members: &[(TelemetrySpan, SpanFacts)]) -> Self {
        let mut by_id = HashMap::new();
        for (index, (span, _)) in members.iter().enumerate() {
            if !span.id.is_empty() {
                by_id.entry((span.trace.as_str(), span.id.as_str())).or_insert(index);
            }
        }
        let parent = |index: usize| -> Option<usize> {
            let span = &members[index].0;
            let parent = by_id.get(&(span.trace.as_str(), span.parent.as_deref()?)).copied();
            parent.filter(|&p| p != index)
        };
        let mut tree = Self { near: vec![None; members.len()], depth: vec![0; members.len()] };
        let mut done = vec![false; members.len()];
        let mut path = Vec::new();
        let mut on_path = vec![false; members.len()];
        for start in 0..members.len() {
            let mut next = Some(start);
            while let Some(index) = next.filter(|&i| !done[i] && !on_path[i]) {
                on_path[index] = true;
                path.push(index);
                next = parent(index);
            }
            while let Some(index) = path.pop() {
                if let Some(above) = parent(index).filter(|&p| done[p]) {
                    tree.depth[index] = tree.depth[above] + 1;
                    tree.near[index] =
                        if members[above].1.is_node() { Some(above) } else { tree.near[above] };
                }
                done[index] = true;
                on_path[index] = false;
            }
        }
        tree
    }

    /// Returns the indices with every ancestor before its descendants.
    pub(super) fn top_down(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.depth.len()).collect();
        order.sort_by_key(|&i| self.depth[i]);
        order
    }

    /// For a span that repeats one of its ancestors, returns that ancestor.
    ///
    /// A response inside a response is the same one recorded by a second instrumentation, unless
    /// there are several inside: then the outer one is a loop around them, which becomes a
    /// generic part. A tool inside a tool is the same if it has the same name or call ID.
    pub(super) fn repeats(
        &self,
        members: &mut [(TelemetrySpan, SpanFacts)],
        every_response_counts: bool,
    ) -> Vec<Option<usize>> {
        let mut inner = vec![0u32; members.len()];
        for index in 0..members.len() {
            if let Some(above) = self.near[index] {
                let both = [index, above].map(|i| members[i].1.kind);
                inner[above] += u32::from(both == [Some(SpanRole::Llm); 2]);
            }
        }
        let mut same: Vec<Option<usize>> = vec![None; members.len()];
        for index in self.top_down() {
            let Some(above) = self.near[index] else { continue };
            let (own, other) = (&members[index].1, &members[above].1);
            let is_same = match (own.kind, other.kind) {
                (Some(SpanRole::Llm), Some(SpanRole::Llm)) => {
                    !every_response_counts && inner[above] == 1
                }
                (Some(SpanRole::Tool), Some(SpanRole::Tool)) => {
                    own.tool == other.tool || own.call.is_some() && own.call == other.call
                }
                _ => false,
            };
            if is_same {
                same[index] = Some(same[above].unwrap_or(above));
            }
        }
        if !every_response_counts {
            for index in 0..members.len() {
                if members[index].1.kind == Some(SpanRole::Llm) && inner[index] > 1 {
                    members[index].1.kind = Some(SpanRole::Part);
                }
            }
        }
        same
    }
}

/// Groups the spans into runs: those of one conversation, or of one trace if there is no
/// conversation ID. A trace without agent activity (its creation, a health check) is added to
/// the run that starts next.
pub(super) fn groups(spans: &[TelemetrySpan], facts: &[SpanFacts]) -> Vec<Vec<usize>> {
    let mut conversations: HashMap<&str, String> = HashMap::new();
    for of_agent in [true, false] {
        for (span, facts) in spans.iter().zip(facts) {
            // toolmark writes a trace per run, whatever conversation it is of.
            let counts = facts.is_node() == of_agent && facts.own.is_none();
            if let Some(id) = facts.conversation.as_ref().filter(|_| counts) {
                conversations.entry(&span.trace).or_insert_with(|| format!("c/{id}"));
            }
        }
    }
    let mut groups: BTreeMap<String, SpanGroup> = BTreeMap::new();
    for (index, (span, facts)) in spans.iter().zip(facts).enumerate() {
        let key = match conversations.get(span.trace.as_str()) {
            Some(id) => id.clone(),
            None => format!("t/{}", span.trace),
        };
        let group = groups.entry(key).or_default();
        group.members.push(index);
        group.is_run |= facts.is_node();
        group.start = match (group.start, span.start) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
    let mut groups: Vec<SpanGroup> = groups.into_values().collect();
    groups.sort_by_key(|g| (g.start.is_none(), g.start, g.members.first().copied()));
    let mut runs: Vec<Vec<usize>> = Vec::new();
    let mut waiting: Vec<usize> = Vec::new();
    for group in groups {
        waiting.extend(group.members);
        if group.is_run {
            runs.push(std::mem::take(&mut waiting));
        }
    }
    match runs.last_mut() {
        Some(last) => last.extend(waiting),
        None => runs.push(waiting),
    }
    runs
}

#[derive(Default)]
struct SpanGroup {
    members: Vec<usize>,
    is_run: bool,
    start: Option<jiff::Timestamp>,
}
