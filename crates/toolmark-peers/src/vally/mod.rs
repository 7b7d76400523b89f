//! Microsoft Vally: its specs, its graders, its result records.

pub(crate) mod dialect;
pub(crate) mod graders;
pub mod report;
