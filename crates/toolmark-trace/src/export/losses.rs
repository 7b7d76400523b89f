//! Parts of a trajectory that a target cannot represent.

use crate::model::{Actor, Convention, EventKind, Status, Trajectory, Usage};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::fmt;

macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident, $words:literal;)*) => {
        /// A part of a trajectory that a target may be unable to represent.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum TrajectoryPart {
            $($(#[$doc])* $name,)*
            /// Calls with this status, which the target cannot represent.
            Status(Status),
        }

        impl TrajectoryPart {
            /// Returns the words used in every output.
            #[must_use]
            pub fn words(self) -> &'static str {
                match self {
                    $(Self::$name => $words,)*
                    Self::Status(_) => "call status",
                }
            }
        }
    };
}

parts! {
    /// Name of the run.
    Name, "run name";
    /// ID of the run.
    RunId, "run id";
    /// Name of the agent.
    AgentName, "agent name";
    /// Version of the agent.
    AgentVersion, "agent version";
    /// Working directory.
    WorkingDirectory, "working directory";
    /// First and last time of the run.
    RunTimes, "start and end of the run";
    /// Outcome of the run according to the source.
    Outcome, "outcome";
    /// Whether the source says that the run succeeded.
    Declared, "declared outcome";
    /// Link to the call that started the run.
    Parent, "parent link";
    /// Token usage of the run.
    Usage, "token usage of the run";
    /// Total stated by the source.
    StatedTotal, "stated token totals";
    /// Counts converted because the target defines them differently.
    Convention, "token counts by the source's convention";
    /// Tokens written to a cache.
    CacheWrites, "cache-write counts";
    /// Tokens spent on reasoning.
    ReasoningTokens, "reasoning-token counts";
    /// Costs.
    Cost, "cost";
    /// Tools offered to the model.
    ToolDefinitions, "tool definitions";
    /// Trajectories of sub-agents.
    SubAgents, "sub-agents";
    /// Facts that the source did not record.
    FidelityGaps, "fidelity gaps";
    /// Format and file from which the trajectory was read.
    Source, "source format and file";
    /// File, line, column and byte of all items.
    Positions, "source positions";
    /// Number of results that repeat an earlier one.
    RepeatedResults, "repeated results";
    /// IDs of model responses.
    StepIds, "step ids";
    /// Models of single responses.
    StepModels, "step models";
    /// Times of model responses.
    StepTimes, "step times";
    /// Token usage of single responses.
    StepUsage, "step token usage";
    /// Reasoning.
    Reasoning, "reasoning";
    /// Reasoning whose text was withheld.
    WithheldReasoning, "reasoning without text";
    /// Skill activations.
    Skills, "skill activations";
    /// Compactions of the context.
    Compactions, "compactions";
    /// Errors that are not the result of a call.
    Errors, "errors";
    /// Results without a call.
    OrphanResults, "orphan results";
    /// Records of an unknown kind.
    UnknownRecords, "unknown records";
    /// Records that contain nothing about the run.
    Notes, "notes";
    /// Times of events other than calls and results.
    EventTimes, "event times";
    /// Times of messages and reasoning inside a step.
    WordTimes, "times of messages and reasoning";
    /// Times of messages given to the model.
    InputTimes, "times of user and context messages";
    /// Namespaces stored separately from tool names.
    Namespaces, "separate tool namespaces";
    /// Evidence for the status.
    Levels, "status levels";
    /// Exit codes.
    ExitCodes, "exit codes";
    /// Times of calls.
    CallTimes, "call times";
    /// Times of results.
    ResultTimes, "result times";
    /// Durations of calls.
    Durations, "call durations";
    /// Durations that are not the time from call to result.
    StatedDurations, "stated call durations";
    /// Calls that were not made by the agent's own model.
    Actors, "actor of the call";
    /// Names of sub-agents that made calls in the same stream.
    CallAgents, "agent of each call";
    /// Links from calls to the runs they started.
    Spawned, "links to spawned runs";
    /// Generated call IDs.
    AbsentCallIds, "missing call ids (generated)";
    /// Calls without arguments in the source, written with empty arguments.
    AbsentArguments, "missing arguments (written as empty)";
    /// Results without content, written as empty text.
    AbsentContent, "missing results (written as empty)";
    /// Token usage missing in the source, written as zero.
    AbsentUsage, "missing token usage (written as zero)";
    /// Status of calls without a result.
    UnansweredStatus, "status of calls without a result";
    /// Arguments written as JSON instead of text, or vice versa.
    ArgumentForms, "argument forms";
    /// JSON written as text.
    JsonAsText, "JSON written as text";
    /// Typed content blocks written as one text.
    Blocks, "content blocks written as one text";
    /// Images and other content without text.
    Wordless, "content without text";
    /// Several messages of one step joined.
    Boundaries, "boundaries between messages of a step";
    /// Events that were moved to the step they belong to.
    Order, "events moved to their step";
    /// Times that the target requires and the source does not have.
    AbsentTimes, "missing times (copied from the previous event)";
}

impl fmt::Display for TrajectoryPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "call status {}", status.word()),
            other => f.write_str(other.words()),
        }
    }
}

impl TrajectoryPart {
    /// Counts the occurrences in a trajectory, without sub-agents. Zero for parts that are
    /// found only while writing.
    fn count_in(self, run: &Trajectory) -> usize {
        let events = |test: fn(&EventKind) -> bool| {
            run.events.iter().filter(|event| test(&event.kind)).count()
        };
        let calls = &run.calls;
        let some = usize::from;
        match self {
            Self::Name => some(run.name.is_some()),
            Self::RunId => some(run.id.is_some()),
            Self::AgentName => some(run.agent.name.is_some()),
            Self::AgentVersion => some(run.agent.version.is_some()),
            Self::WorkingDirectory => some(run.cwd.is_some()),
            Self::RunTimes => some(run.started.is_some()) + some(run.ended.is_some()),
            Self::Outcome => some(run.outcome.is_some()),
            Self::Declared => some(run.declared.is_some()),
            Self::Parent => some(run.parent.is_some()),
            Self::Usage => some(run.usage.is_some()),
            Self::StatedTotal => usages(run).filter(|u| u.stated_total.is_some()).count(),
            Self::Convention => {
                usages(run).filter(|u| u.convention != Convention::INCLUSIVE).count()
            }
            Self::CacheWrites => usages(run).filter(|u| u.recorded.cache_write > 0).count(),
            Self::ReasoningTokens => usages(run).filter(|u| u.recorded.reasoning > 0).count(),
            Self::Cost => some(run.cost.is_some()),
            Self::ToolDefinitions => run.tools.as_ref().map_or(0, Vec::len),
            Self::SubAgents => run.flatten().len() - 1,
            Self::FidelityGaps => run.fidelity.missing().count(),
            Self::Source => 1,
            Self::Positions => {
                let results = calls.iter().filter(|c| c.result.is_some()).count();
                run.events.len() + run.steps.len() + calls.len() + results
            }
            Self::RepeatedResults => run.repeated_results as usize,
            Self::StepIds => run.steps.iter().filter(|s| s.id.is_some()).count(),
            Self::StepModels => run.steps.iter().filter(|s| s.model.is_some()).count(),
            Self::StepTimes => run.steps.iter().filter(|s| s.time.is_some()).count(),
            Self::StepUsage => run.steps.iter().filter(|s| s.usage.is_some()).count(),
            Self::Reasoning => events(|k| *k == EventKind::Reasoning),
            Self::WithheldReasoning => {
                let withheld =
                    |e: &&crate::Event| e.kind == EventKind::Reasoning && e.text.is_none();
                run.events.iter().filter(withheld).count()
            }
            Self::Skills => events(|k| *k == EventKind::Skill),
            Self::Compactions => events(|k| *k == EventKind::Compaction),
            Self::Errors => events(|k| *k == EventKind::Error),
            Self::OrphanResults => events(|k| *k == EventKind::OrphanResult),
            Self::UnknownRecords => events(|k| matches!(k, EventKind::Unknown(_))),
            Self::Notes => events(|k| matches!(k, EventKind::Note(_))),
            Self::EventTimes => {
                let timed = |e: &&crate::Event| {
                    e.time.is_some() && !matches!(e.kind, EventKind::Call(_) | EventKind::Result(_))
                };
                run.events.iter().filter(timed).count()
            }
            Self::WordTimes => {
                let timed = |e: &&crate::Event| {
                    e.time.is_some() && matches!(e.kind, EventKind::Message | EventKind::Reasoning)
                };
                run.events.iter().filter(timed).count()
            }
            Self::InputTimes => {
                let timed = |e: &&crate::Event| {
                    e.time.is_some() && matches!(e.kind, EventKind::User | EventKind::Context)
                };
                run.events.iter().filter(timed).count()
            }
            Self::Namespaces => calls.iter().filter(|c| c.name.namespace.is_some()).count(),
            Self::Levels => calls.iter().filter(|c| c.result.is_some()).count(),
            Self::ExitCodes => calls.iter().filter(|c| c.exit_code.is_some()).count(),
            Self::CallTimes => calls.iter().filter(|c| c.started.is_some()).count(),
            Self::ResultTimes => {
                let timed = |c: &&crate::Call| c.result.as_ref().is_some_and(|r| r.time.is_some());
                calls.iter().filter(timed).count()
            }
            Self::Durations => calls.iter().filter(|c| c.duration.is_some()).count(),
            Self::StatedDurations => {
                let stated = |c: &&crate::Call| c.duration.is_some() && c.duration != measured(c);
                calls.iter().filter(stated).count()
            }
            Self::Actors => calls.iter().filter(|c| c.actor != Actor::Agent).count(),
            Self::CallAgents => calls.iter().filter(|c| c.agent.is_some()).count(),
            Self::Spawned => calls.iter().filter(|c| c.spawned.is_some()).count(),
            Self::AbsentCallIds => calls.iter().filter(|c| c.id.is_none()).count(),
            Self::AbsentArguments => calls.iter().filter(|c| c.args.is_none()).count(),
            Self::AbsentContent => {
                let empty =
                    |c: &&crate::Call| c.result.as_ref().is_some_and(|r| r.payload.is_none());
                calls.iter().filter(empty).count()
            }
            Self::AbsentUsage => some(run.usage.is_none()),
            Self::UnansweredStatus => {
                let has_status =
                    |c: &&crate::Call| c.result.is_none() && c.status != Status::Unanswered;
                calls.iter().filter(has_status).count()
            }
            Self::Status(status) => calls.iter().filter(|c| c.status == status).count(),
            Self::ArgumentForms
            | Self::JsonAsText
            | Self::Blocks
            | Self::Wordless
            | Self::Boundaries
            | Self::Order
            | Self::AbsentTimes => 0,
        }
    }
}

fn usages(run: &Trajectory) -> impl Iterator<Item = &Usage> {
    run.usage.iter().chain(run.steps.iter().filter_map(|s| s.usage.as_ref()))
}

/// Returns the time from call to result.
fn measured(call: &crate::Call) -> Option<jiff::SignedDuration> {
    let end = call.result.as_ref()?.time?;
    Some(end.duration_since(call.started?))
}

/// Parts of one trajectory that a target could not represent, counted from the data.
///
/// Printed as `reasoning: 3, call status: 2 unknown`.
#[derive(Debug, Clone, Default)]
pub struct Losses {
    counts: Vec<(TrajectoryPart, u64)>,
}

impl Losses {
    /// Counts the parts of `run` that a target lacks.
    pub(super) fn of(run: &Trajectory, lacks: &[TrajectoryPart]) -> Self {
        let mut losses = Self::default();
        losses.count_run(run, lacks);
        losses
    }

    /// Adds the counts of [`Losses::of`] to this one.
    pub(super) fn count_run(&mut self, run: &Trajectory, lacks: &[TrajectoryPart]) {
        for part in lacks {
            self.add(*part, part.count_in(run));
        }
    }

    /// Adds to a count.
    pub(super) fn add(&mut self, part: TrajectoryPart, more: usize) {
        if more == 0 {
            return;
        }
        match self.counts.iter_mut().find(|(known, _)| *known == part) {
            Some((_, count)) => *count += more as u64,
            None => self.counts.push((part, more as u64)),
        }
    }

    /// Adds another trajectory's losses.
    pub fn merge(&mut self, other: &Self) {
        for (part, count) in other.iter() {
            self.add(part, count as usize);
        }
    }

    /// Returns whether nothing was lost.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns how often a part was lost.
    #[must_use]
    pub fn count(&self, part: TrajectoryPart) -> u64 {
        self.counts.iter().find(|(known, _)| *known == part).map_or(0, |(_, count)| *count)
    }

    /// Iterates over the lost parts and their counts.
    pub fn iter(&self) -> impl Iterator<Item = (TrajectoryPart, u64)> {
        self.counts.iter().copied()
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (part, count)) in self.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            match part {
                TrajectoryPart::Status(status) => {
                    write!(f, "call status: {count} {}", status.word())?
                }
                other => write!(f, "{}: {count}", other.words())?,
            }
        }
        Ok(())
    }
}

impl Serialize for Losses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.counts.len()))?;
        for (part, count) in self.iter() {
            map.serialize_entry(&part.to_string(), &count)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_read_as_a_list() {
        let mut losses = Losses::default();
        assert!(losses.is_empty());
        losses.add(TrajectoryPart::Reasoning, 2);
        losses.add(TrajectoryPart::Status(Status::Unknown), 2);
        losses.add(TrajectoryPart::Notes, 0);
        let mut more = Losses::default();
        more.add(TrajectoryPart::Reasoning, 1);
        losses.merge(&more);
        assert_eq!(losses.to_string(), "reasoning: 3, call status: 2 unknown");
        let json = serde_json::to_string(&losses).unwrap();
        assert_eq!(json, r#"{"reasoning":3,"call status unknown":2}"#);
    }
}
