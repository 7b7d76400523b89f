//! The graders of Microsoft Vally.

pub(super) mod budget;
pub(super) mod custom_metrics;
pub(super) mod diff;
pub(super) mod file;
pub(super) mod program;
pub(super) mod run_command;
#[cfg(test)]
mod testing;
