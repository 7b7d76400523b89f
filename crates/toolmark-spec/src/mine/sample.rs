//! What is looked at of one run: its calls, and what can be said about them.

use crate::mine::atom::{Atom, atoms_of};
use crate::mine::generalize::Places;
use std::collections::BTreeSet;
use toolmark_match::call_match::{Agents, CallTable, Parallel};
use toolmark_outcome::View;
use toolmark_redact::Redactor;
use toolmark_trace::{Payload, Recorded, ToolName, Trajectory};

/// A run.
pub(crate) struct Sample<'t> {
    pub(crate) run: &'t Trajectory,
    /// The calls of the agent itself, in order.
    pub(crate) calls: Vec<SampleCall>,
    pub(crate) recorded: Recorded,
    /// The tools it could have called, where that is recorded.
    pub(crate) offered: BTreeSet<String>,
}

/// One of its calls.
pub(crate) struct SampleCall {
    pub(crate) tool: String,
    /// Calls of one model response have the same number; later ones a higher one.
    pub(crate) batch: usize,
    /// Does it count as done?
    pub(crate) is_done: bool,
    /// What holds for its arguments.
    pub(crate) atoms: BTreeSet<Atom>,
}

impl<'t> Sample<'t> {
    pub(crate) fn new(run: &'t Trajectory, redactor: Redactor) -> Self {
        let view = View::whole(run);
        let table = CallTable::of(&view, Agents::Main, Parallel::Free);
        let cwd = run.cwd.as_ref().map(|cwd| cwd.get());
        let places = Places::new(cwd.as_deref());
        let calls = table.calls().iter().enumerate().map(|(at, made)| {
            let call = made.seen.call;
            let args = call.args.as_ref().and_then(Payload::parsed);
            let atoms = args.map(|args| atoms_of(args, &places, redactor)).unwrap_or_default();
            SampleCall {
                tool: call.name.full().into_owned(),
                batch: table.batches().of(at),
                is_done: !made.is_undone(),
                atoms: atoms.into_iter().collect(),
            }
        });
        let offered = run.tools.iter().flatten().map(|tool| tool.name.get().into_owned());
        Self {
            run,
            calls: calls.collect(),
            recorded: run.calls_recorded(),
            offered: offered.filter(|tool| !tool.trim().is_empty()).collect(),
        }
    }

    /// The calls of a tool that count as done.
    pub(crate) fn done<'s>(&'s self, tool: &'s str) -> impl Iterator<Item = &'s SampleCall> {
        self.calls.iter().filter(move |call| call.is_done && call.tool == tool)
    }

    /// Was the tool called, however that ended?
    pub(crate) fn calls_tool(&self, tool: &str) -> bool {
        self.calls.iter().any(|call| call.tool == tool)
    }

    /// The tools it called.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &str> {
        self.calls.iter().map(|call| call.tool.as_str())
    }

    /// Is every call of it in the trace?
    pub(crate) fn is_complete(&self) -> bool {
        self.recorded == Recorded::Fully
    }
}

/// The name of a tool without what hosts add to it, to tell whether two names may mean
/// the same.
pub(crate) fn bare(tool: &str) -> String {
    ToolName::new(tool).canonical().tool
}

/// The tools that these runs call, each once. A tool without a name is none, and one
/// whose name holds a secret is not written.
pub(crate) fn tools_of(samples: &[&Sample<'_>], redactor: Redactor) -> BTreeSet<String> {
    let all = samples.iter().flat_map(|sample| sample.tools());
    all.filter(|tool| is_writable(tool, redactor)).map(str::to_owned).collect()
}

/// May the name of a tool be written?
pub(crate) fn is_writable(tool: &str, redactor: Redactor) -> bool {
    !tool.trim().is_empty() && tool.len() <= 200 && *redactor.apply(tool) == *tool
}
