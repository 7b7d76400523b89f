//! The graders of Microsoft Vally.

pub(crate) mod assistant_echo;
pub(crate) mod budget;
pub(crate) mod completed;
pub(crate) mod custom_metrics;
pub(crate) mod diff;
pub(crate) mod file;
pub(crate) mod judge;
pub(crate) mod loop_outcome;
pub(crate) mod max_repeat;
mod names;
mod observed;
pub(crate) mod program;
mod repeats;
pub(crate) mod run_command;
pub(crate) mod skill_invocation;
pub(crate) mod system_event;
#[cfg(test)]
mod testing;
pub(crate) mod text;
pub(crate) mod tool_calls;
mod tool_filter;
pub(crate) mod workspace;
