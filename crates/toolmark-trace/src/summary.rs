//! The counts of a file: what `toolmark stats` prints a row of.

use crate::format::FormatInfo;
use crate::model::{Fact, Fidelity, Recorded, Tokens, Trajectory, Usage};
use crate::read::Trajectories;
use serde::Serialize;
use std::collections::BTreeMap;

/// Token counts as the format defines them, with their total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TokenCounts {
    /// The counts in the format's own words.
    #[serde(flatten)]
    pub recorded: Tokens,
    /// All tokens.
    pub total: u64,
}

/// The counts of the trajectories of one file; sub-agents in the same file are included,
/// but not those that their parent's records only report on ([`Trajectory::relayed`]).
/// `None` means that the format does not record it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Summary {
    /// Runs.
    pub trajectories: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Runs, sub-agents included, whose calls are not recorded: the others are all
    /// that is counted.
    #[serde(skip)]
    pub unrecorded: u64,
    /// Results, those without a call included.
    pub tool_results: u64,
    /// Calls and orphaned results that failed, were denied or interrupted.
    pub tool_errors: Option<u64>,
    /// Calls without a result.
    pub unanswered: u64,
    /// Results without a call.
    pub orphans: u64,
    /// Complete model responses.
    pub assistant_turns: Option<u64>,
    /// User messages.
    pub user_turns: Option<u64>,
    /// The most calls of one model response.
    pub max_parallel: Option<u64>,
    /// How often each tool was called, by the name the model used.
    #[serde(rename = "tool_names", serialize_with = "names_only")]
    pub tools: BTreeMap<String, u64>,
    /// Token usage.
    pub tokens: Option<TokenCounts>,
    /// Records of a kind this version does not know.
    pub unknown_records: u64,
    /// What the format could not tell.
    #[serde(rename = "fidelity_gaps")]
    pub fidelity: Fidelity,
    /// Runs, sub-agents included.
    #[serde(skip)]
    runs: u64,
}

fn names_only<S: serde::Serializer>(
    tools: &BTreeMap<String, u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(tools.keys())
}

/// The counts of a file without a run: no calls, no messages.
impl Summary {
    /// How many calls there were; nothing where none of the runs records its calls.
    #[must_use]
    pub fn known_calls(&self) -> Option<u64> {
        (self.unrecorded == 0 || self.unrecorded < self.runs).then_some(self.tool_calls)
    }

    /// The counts of a file, reading it to its end.
    #[must_use]
    pub fn of(runs: &mut Trajectories) -> Self {
        let mut summary = Self::default();
        for run in runs.by_ref() {
            summary.add(&run);
        }
        summary.end(runs);
        summary
    }

    /// Ends the counts of a file that was read to its end.
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

    /// Ends the counts of a file. One without runs has none of what its format
    /// records, which is not the same as not knowing.
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
        self.unrecorded += u64::from(run.calls_recorded() == Recorded::Not);
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
        let sum = self.tokens.get_or_insert(TokenCounts { recorded: Tokens::default(), total: 0 });
        sum.recorded.add(usage.recorded);
        sum.total = sum.total.saturating_add(usage.total());
    }
}
