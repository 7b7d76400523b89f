//! Facts about calls that follow from the tools of their host, and from their results.
//!
//! Only expectations that ask about classes, typed arguments, exit codes or result kinds need
//! them, so they are prepared on first use.

use super::table::TableCall;
use super::{CallTable, Lack, Truth};
use serde_json::Value;
use toolmark_hosts::toolset::{ArgClass, ToolClass};
use toolmark_shell::results::ResultKind;
use toolmark_trace::Trajectory;

/// Answers about the calls of some runs.
pub trait Facts {
    /// Whether the tool of the call is of this class.
    fn class(&self, made: &TableCall<'_>, class: ToolClass) -> Truth;
    /// Things that the call names in such arguments, each with its spellings; `None` if the
    /// arguments are not recorded.
    fn values(&self, made: &TableCall<'_>, class: ArgClass) -> Option<Vec<Vec<Value>>>;
    /// Exit code of the command.
    fn exit_code(&self, made: &TableCall<'_>) -> Option<i64>;
    /// Meaning of the result.
    fn result_kind(&self, made: &TableCall<'_>) -> ResultKind;
}

/// Prepares the facts of runs: of the agent itself, then of its sub-agents.
pub type FactSource = for<'a> fn(&[&'a Trajectory]) -> Box<dyn Facts + 'a>;

impl<'a> CallTable<'a> {
    /// Prepares facts with this function when they are needed.
    #[must_use]
    pub fn with_facts(mut self, source: FactSource) -> Self {
        self.source = Some(source);
        self
    }

    fn facts(&self) -> Option<&(dyn Facts + 'a)> {
        let source = self.source?;
        Some(self.facts.get_or_init(|| source(&self.runs)).as_ref())
    }

    pub(super) fn is_of_class(&self, made: &TableCall<'_>, class: ToolClass) -> Truth {
        self.facts().map_or(Truth::Unknown(Lack::Class), |facts| facts.class(made, class))
    }

    pub(super) fn values_of(
        &self,
        made: &TableCall<'_>,
        class: ArgClass,
    ) -> Option<Vec<Vec<Value>>> {
        self.facts().and_then(|facts| facts.values(made, class))
    }

    pub(super) fn exit_code_of(&self, made: &TableCall<'_>) -> Option<i64> {
        self.facts().and_then(|facts| facts.exit_code(made))
    }

    pub(super) fn result_kind_of(&self, made: &TableCall<'_>) -> ResultKind {
        self.facts().map_or(ResultKind::Unknown, |facts| facts.result_kind(made))
    }

    /// Returns the things that a call names in arguments of a class; none if unrecorded.
    #[must_use]
    pub fn values(&self, call: usize, class: ArgClass) -> Vec<Vec<Value>> {
        let made = self.calls().get(call);
        made.and_then(|made| self.values_of(made, class)).unwrap_or_default()
    }
}
