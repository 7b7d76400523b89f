//! The inspected parts of one run: its calls and the conditions that they meet.

use crate::mine::atom::{Atom, atoms_of};
use crate::mine::generalize::RunDirectories;
use toolmark_base::SortedSet;
use toolmark_match::call_match::{Agents, CallTable, Parallel};
use toolmark_outcome::TrajectoryView;
use toolmark_redact::Redactor;
use toolmark_trace::{Payload, RecordedCalls, ToolName, Trajectory};

/// A run.
pub(crate) struct MinedRun<'t> {
    pub(crate) run: &'t Trajectory,
    /// The calls of the agent itself, in order.
    pub(crate) calls: Vec<SampleCall>,
    pub(crate) recorded: RecordedCalls,
    /// Tools that were available to the run, if recorded.
    pub(crate) offered: SortedSet<String>,
}

/// A call of a run.
pub(crate) struct SampleCall {
    pub(crate) tool: String,
    /// Batch number: calls of one model response share it, and later responses have higher numbers.
    pub(crate) batch: usize,
    /// Whether the call counts as done.
    pub(crate) is_done: bool,
    /// Conditions that its arguments meet.
    pub(crate) atoms: SortedSet<Atom>,
}

impl<'t> MinedRun<'t> {
    pub(crate) fn new(run: &'t Trajectory, redactor: Redactor) -> Self {
        let view = TrajectoryView::whole(run);
        let table = CallTable::of(&view, Agents::Main, Parallel::Free);
        let cwd = run.cwd.as_ref().map(|cwd| cwd.get());
        let places = RunDirectories::new(cwd.as_deref());
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
            recorded: recorded(run),
            offered: offered.filter(|tool| !tool.trim().is_empty()).collect(),
        }
    }

    /// Iterates over the calls of a tool that count as done.
    pub(crate) fn done<'s>(&'s self, tool: &'s str) -> impl Iterator<Item = &'s SampleCall> {
        self.calls.iter().filter(move |call| call.is_done && call.tool == tool)
    }

    /// Whether the tool was called, regardless of the result.
    pub(crate) fn calls_tool(&self, tool: &str) -> bool {
        self.calls.iter().any(|call| call.tool == tool)
    }

    /// Returns the names of the called tools.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &str> {
        self.calls.iter().map(|call| call.tool.as_str())
    }

    /// Whether the trace contains every call of the run.
    pub(crate) fn is_complete(&self) -> bool {
        self.recorded == RecordedCalls::Fully
    }
}

/// Returns a tool name without prefixes added by hosts, to detect names that may mean
/// the same tool.
pub(crate) fn bare(tool: &str) -> String {
    ToolName::new(tool).canonical().tool
}

/// Returns the tools that these runs call, each once. Tools without a name are skipped, and
/// so are tools whose name contains a secret.
pub(crate) fn tools_of(samples: &[&MinedRun<'_>], redactor: Redactor) -> SortedSet<String> {
    let all = samples.iter().flat_map(|sample| sample.tools());
    all.filter(|tool| is_writable(tool, redactor)).map(str::to_owned).collect()
}

/// Whether the name of a tool may be written.
pub(crate) fn is_writable(tool: &str, redactor: Redactor) -> bool {
    !tool.trim().is_empty() && tool.len() <= 200 && *redactor.apply(tool) == *tool
}

/// Returns how completely the calls of a run are known. What an unfinished run would have
/// called, and what calls without a name are, is not.
fn recorded(run: &Trajectory) -> RecordedCalls {
    match run.calls_recorded() {
        RecordedCalls::Fully if run.gap().or_else(|| run.gap_of_calls()).is_some() => {
            RecordedCalls::Partly
        }
        recorded => recorded,
    }
}
