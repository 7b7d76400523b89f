//! Statistics of a file: one row of `toolmark stats`.

use crate::format::FormatInfo;
use crate::model::{Fact, Fidelity, RecordedCalls, Trajectory, Usage, UsageTokens};
use crate::read::Trajectories;
use serde::Serialize;
use std::collections::BTreeMap;

/// Token counts as the format defines them, with their total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TokenCounts {
    /// Counts by the format's own definitions.
    #[serde(flatten)]
    pub recorded: UsageTokens,
    /// Total number of tokens.
    pub total: u64,
}

/// Statistics of the trajectories of one file. Sub-agents in the same file are included,
/// except those that are known only from their parent's records ([`Trajectory::relayed`]).
/// `None` means that the format does not record the value.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FileSummary {
    /// Number of runs.
    pub trajectories: u64,
    /// Number of tool calls.
    pub tool_calls: u64,
    /// Number of runs, including sub-agents, whose calls are not recorded; only the other runs
    /// are counted.
    #[serde(skip)]
    pub unrecorded: u64,
    /// Number of results, including those without a call.
    pub tool_results: u64,
    /// Number of calls and orphaned results that failed, were denied or interrupted.
    pub tool_errors: Option<u64>,
    /// Number of calls without a result.
    pub unanswered: u64,
    /// Number of results without a call.
    pub orphans: u64,
    /// Number of complete model responses.
    pub assistant_turns: Option<u64>,
    /// Number of user messages.
    pub user_turns: Option<u64>,
    /// Maximum number of calls of one model response.
    pub max_parallel: Option<u64>,
    /// Number of calls per tool, by the name that the model used.
    #[serde(rename = "tool_names", serialize_with = "names_only")]
    pub tools: BTreeMap<String, u64>,
    /// Token usage.
    pub tokens: Option<TokenCounts>,
    /// Number of records of a kind that this version does not know.
    pub unknown_records: u64,
    /// Facts that the format does not record.
    #[serde(rename = "fidelity_gaps")]
    pub fidelity: Fidelity,
    /// Number of runs, including sub-agents.
    #[serde(skip)]
    runs: u64,
}

fn names_only<S: serde::Serializer>(
    tools: &BTreeMap<String, u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(tools.keys())
}

/// Statistics of a file without runs: no calls, no messages.
impl FileSummary {
    /// Returns the number of calls; `None` if no run records its calls.
    #[must_use]
    pub fn known_calls(&self) -> Option<u64> {
        (self.unrecorded == 0 || self.unrecorded < self.runs).then_some(self.tool_calls)
    }

    /// Reads a file to its end and returns its statistics.
    #[must_use]
    pub fn of(runs: &mut Trajectories) -> Self {
        let mut summary = Self::default();
        for run in runs.by_ref() {
            summary.add(&run);
        }
        summary.end(runs);
        summary
    }

    /// Completes the statistics of a file that was read to its end.
    pub fn end(&mut self, runs: &Trajectories) {
        if let Some(usage) = runs.unattributed() {
            self.add_usage(usage);
        }
        self.close(runs.format().info());
    }

    /// Adds one trajectory and its sub-agents.
    pub fn add(&mut self, trajectory: &Trajectory) {
        self.trajectories += 1;
        for run in trajectory.flatten() {
            if !run.relayed {
                self.add_run(run);
            }
        }
    }

    /// Completes the statistics of a file. In a file without runs, the values that its format
    /// records are zero, not unknown.
    fn close(&mut self, format: &FormatInfo) {
        if self.trajectories > 0 {
            return;
        }
        self.fidelity = format.fidelity;
        let none = |fact| (!format.fidelity.lacks(fact)).then_some(0);
        self.tool_errors = none(Fact::Status);
        self.assistant_turns = none(Fact::Steps);
        self.user_turns = none(Fact::UserTurns);
    }

    fn add_run(&mut self, run: &Trajectory) {
        self.fidelity = self.fidelity.union(run.fidelity);
        self.unknown_records += run.unknown_records() as u64;
        self.runs += 1;
        self.unrecorded += u64::from(run.calls_recorded() == RecordedCalls::Not);
        self.orphans += u64::from(run.orphans);
        self.tool_results += u64::from(run.orphans);
        let mut errors = u64::from(run.failed_orphans);
        let mut per_step: Vec<u64> = vec![0; run.steps.len()];
        for call in &run.calls {
            self.tool_calls += 1;
            if call.result.is_some() {
                self.tool_results += 1;
            } else {
                self.unanswered += 1;
            }
            errors += u64::from(call.status.is_error());
            let name = call.name.original.get();
            if let Some(count) = self.tools.get_mut(&*name) {
                *count += 1;
            } else {
                self.tools.insert(name.into_owned(), 1);
            }
            if let Some(calls) = call.step.and_then(|step| per_step.get_mut(step as usize)) {
                *calls += 1;
            }
        }
        if !run.fidelity.lacks(Fact::Status) {
            *self.tool_errors.get_or_insert_default() += errors;
        }
        if !run.fidelity.lacks(Fact::Steps) {
            let complete = run.steps.iter().filter(|s| s.complete).count();
            *self.assistant_turns.get_or_insert_default() += complete as u64;
        }
        if !run.fidelity.lacks(Fact::UserTurns) {
            *self.user_turns.get_or_insert_default() += u64::from(run.user_turns);
        }
        if !run.fidelity.lacks(Fact::Parallel) {
            let most = per_step.iter().max().copied().filter(|calls| *calls > 0);
            self.max_parallel = self.max_parallel.max(most);
        }
        if let Some(usage) = &run.usage {
            self.add_usage(usage);
        }
    }

    /// Adds usage that belongs to no trajectory of the file.
    fn add_usage(&mut self, usage: &Usage) {
        let sum =
            self.tokens.get_or_insert(TokenCounts { recorded: UsageTokens::default(), total: 0 });
        sum.recorded.add(usage.recorded);
        sum.total = sum.total.saturating_add(usage.total());
    }
}
