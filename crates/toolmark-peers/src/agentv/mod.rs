//! AgentV: its specs of all versions, its graders, its result rows.

pub(crate) mod dialect;
pub mod graders;
pub mod report;
