//! AgentV: its specs of all versions, its graders, and its result rows.

pub(crate) mod dialect;
pub mod graders;
pub mod report;
