//! The graders of Microsoft Vally.

pub(super) mod assistant_echo;
pub(super) mod budget;
pub(super) mod completed;
pub(super) mod custom_metrics;
pub(super) mod diff;
pub(super) mod file;
pub(super) mod judge;
pub(super) mod loop_outcome;
pub(super) mod max_repeat;
mod names;
mod observed;
pub(super) mod program;
mod repeats;
pub(super) mod run_command;
pub(super) mod skill_invocation;
pub(super) mod system_event;
#[cfg(test)]
mod testing;
pub(super) mod text;
pub(super) mod tool_calls;
mod tool_filter;
